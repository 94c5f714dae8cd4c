"""The word that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word nearest to `word`, or an empty text when none is near."""
    from difflib import get_close_matches  # its import costs as much as all of a parse, which seldom needs it

    return next(iter(get_close_matches(word, list(known), n=1, cutoff=0.6)), "")
