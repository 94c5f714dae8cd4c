"""What the rules see of a result: its structured form, its texts, and on errors every text as a whole. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from homeport.surface import selectors
from homeport.surface.rules import Guard, refusal
from homeport.surface.schemas import Value, decode
from homeport.surface.verdict import Objection


def objection(guards: Sequence[Guard], result: bytes, message: str) -> Objection | None:
    """Why a `CallToolResult` (raw) is withheld, or None. One that cannot be read is withheld."""
    if not guards:
        return None
    try:
        value = decode(result)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return _withheld(guards[0], "the result cannot be read", message)
    texts = list(_texts(value))
    documents: list[Value] = [{"text": text} for text in texts]
    documents += _structured(value, texts)
    whole = texts if value.get("isError") is True else []
    for guard in guards:
        found = [text for document in documents for text in selectors.scalars(guard.selector, document)]
        for text in (*found, *whole):
            index = guard.patterns.first(text)
            if index is not None:
                return _withheld(guard, f"{guard.selector.text} matches what the policy withholds", message, index)
    return None


def _withheld(guard: Guard, what: str, message: str, index: int | None = None) -> Objection:
    text = f"the tool ran, but its result is withheld: {what} (post_call rule)"
    return refusal("post_call", f"{text}. {message}" if message else text, guard.place, guard.selector.text, index)


def _texts(result: dict[str, Value]) -> Iterator[str]:
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        resource = block.get("resource")
        for holder in (block, resource):
            text = holder.get("text") if isinstance(holder, dict) else None
            if isinstance(text, str):
                yield text


def _structured(result: dict[str, Value], texts: Sequence[str]) -> list[Value]:
    """`structuredContent`, and every text that is itself a JSON object or list."""
    documents: list[Value] = [result["structuredContent"]] if "structuredContent" in result else []
    for text in texts:
        if text.lstrip()[:1] in {"{", "["}:
            try:
                documents.append(decode(text.encode("utf-8", "surrogatepass")))
            except ValueError:
                continue
    return documents
