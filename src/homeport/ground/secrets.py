"""Secrets that cannot be printed, references to them, and the scrubber that removes them from text.

A `Secret` hides itself from `repr`, `str`, formatting, copying into messages and pickling; the only way to its text is
`reveal()`, which is called in two places: at the spawn of a child and at the sending of a header.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias
from urllib.parse import quote, quote_plus

MIN_SCRUBBED: Final = 6
"""Shorter values are not scrubbed: replacing every `1234` in a log would destroy it."""

HIDDEN: Final = "[hidden]"


class Secret:
    """A text that does not show itself."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text. Call it only where it leaves for the program or host it is meant for."""
        return self._text

    def __repr__(self) -> str:
        return "Secret([hidden])"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(("Secret", self._text))

    def __bool__(self) -> bool:
        return bool(self._text)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be pickled")


@dataclass(frozen=True, slots=True)
class Reference:
    """One `{secret:name}` or `{env:NAME}` in a value that a person wrote."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{{{self.kind}:{self.name}}}"


_REFERENCE: Final = re.compile(r"\{(secret|env):([A-Za-z0-9_.\-/]+)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A configured value: literal text with references in it, e.g. `Bearer {secret:tracker}`."""

    text: str

    def references(self) -> tuple[Reference, ...]:
        """The references in it, in order."""
        return tuple(Reference(match[1], match[2]) for match in _REFERENCE.finditer(self.text))

    def fill(self, values: dict[Reference, Secret]) -> Secret:
        """The value with every reference replaced. Raises `KeyError` with the reference that has no value."""
        return Secret(_REFERENCE.sub(lambda match: values[Reference(match[1], match[2])].reveal(), self.text))


Chain: TypeAlias = tuple[Template, ...]
"""A configured value: the first of these that can be filled and is not empty wins."""


SENSITIVE_NAME: Final = re.compile(
    r"authorization|token|secret|passw(or)?d|passphrase|api[-_]?key|access[-_]?key|cookie|private[-_]?key|credential",
    re.IGNORECASE,
)
"""Names whose values are treated as secrets: in imports, in the audit trail, in findings."""


class Scrubber:
    """Replaces known secrets in text, in every form they travel in: raw, percent-encoded, JSON-escaped, base64."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._forms: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: Secret) -> None:
        """Scrub this one too from now on."""
        text = secret.reveal()
        if len(text) < MIN_SCRUBBED:
            return
        self._forms |= _forms(text)
        self._pattern = None

    def __call__(self, text: str) -> str:
        """The text without the secrets, longest first so that no half of one is left."""
        if not self._forms:
            return text
        if self._pattern is None:
            ordered = sorted(self._forms, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, ordered)))
        return self._pattern.sub(HIDDEN, text)


def _escaped(text: str) -> set[str]:
    """As a JSON string holds it; some encoders escape the slash too."""
    forms = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    return forms | {form.replace("/", "\\/") for form in forms}


def _forms(text: str) -> set[str]:
    raw = text.encode("utf-8", "surrogatepass")
    forms = {text, quote(text, safe="", errors="replace"), quote_plus(text, errors="replace")}
    escaped = _escaped(text)
    # JSON within JSON: a tool's text that is itself JSON, a log line that quotes one.
    forms |= {quote(text, errors="replace"), *escaped, *(twice for form in escaped for twice in _escaped(form))}
    # Inside a longer base64 text the secret may start at any of three offsets; the middle characters are the same.
    for offset in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * offset + raw).decode("ascii").rstrip("=")
            head = (offset * 8 + 5) // 6
            tail = len(encoded) - (1 if (len(raw) + offset) % 3 else 0)
            forms.add(encoded[head:tail])
            # At the end of the text the last characters are known too, with padding or without.
            forms |= {encoded[head:], encoded[head:] + "=" * (-len(encoded) % 4)}
    return {form for form in forms if len(form) >= MIN_SCRUBBED}
