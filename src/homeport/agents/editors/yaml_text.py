"""YAML as text: read through ruamel's composer, which gives every node its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from homeport.agents.editors.source import Source
from homeport.ground.errors import InvalidInput, Place


def decode(src: Source) -> Any:
    """The value of a document; a blank one is an empty mapping. Raises `InvalidInput` (`config.syntax`, …)."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader: Any = YAML(typ="safe", pure=True)
    try:
        value = reader.load(src.text)
    except DuplicateKeyError as error:
        raise _error(src, error, "config.duplicate_key", "a key stands twice in one mapping") from None
    except MarkedYAMLError as error:
        raise _error(src, error, "config.syntax", "is not valid YAML") from None
    except (YAMLError, RecursionError, ValueError) as error:
        message = f"is not valid YAML: {type(error).__name__}"
        raise InvalidInput(message, code="config.syntax", place=Place(src.file), remedy=_BY_HAND) from None
    return {} if value is None else value


_BY_HAND = "mend the file in an editor; Homeport changes nothing in a file that it cannot read"


def _error(src: Source, error: Any, code: str, message: str) -> InvalidInput:
    mark = error.problem_mark or error.context_mark
    place = Place(src.file, mark.line + 1 if mark else 0)
    told = error.problem or error.context or ""
    return InvalidInput(f"{message}: {told}" if told else message, code=code, place=place, remedy=_BY_HAND)


def line_of(src: Source, path: Sequence[str]) -> int:
    """The line of a path's last key that exists; 0 for a blank document."""
    from ruamel.yaml import YAML

    reader: Any = YAML(typ="safe", pure=True)
    node: Any = reader.compose(src.text)
    line = 0
    for key in path:
        pairs: Any = node.value if node is not None and node.id == "mapping" else ()
        found: Any = next((pair for pair in pairs if pair[0].value == key), None)
        if found is None:
            break
        line, node = int(found[0].start_mark.line) + 1, found[1]
    return line
