"""Where an entry holds a secret in plain text. Pure; gives places, never values."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from homeport.agents.shapes import Seen
from homeport.ground.secrets import SENSITIVE_NAME

REFERENCE: Final = re.compile(
    r"\$\{[^}]*\}|\$env:\w+|\$[A-Za-z_]\w*|\{(?:env|file|secret):[^}]*\}|\{\{[^}]*\}\}|%[A-Za-z_]\w*%|\$\([^)]*\)"
)
"""Every spelling by which an agent fills a value in from elsewhere."""

_KNOWN: Final = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)
_PLACEHOLDER: Final = re.compile(
    r"^(?:<.*>|\[.*\]|x{3,}|\*{3,}|\.{3,}|(?:your|my|insert|replace|change|todo|example|dummy|fake|test)\b.*"
    r"|your[-_ ].*|.*[-_ ]here|none|null|true|false|\d{1,5}|)$",
    re.IGNORECASE,
)
_FLAG: Final = re.compile(r"--?([A-Za-z][\w-]*)(?:=(.*))?", re.DOTALL)
_PUBLIC_NAME: Final = re.compile(
    r"(?:_|^)(?:FILE|PATH|DIR|URL|URI|HOST|PORT|ID|NAME|TYPE|ENV|TTL|LIMIT|MAX\w*)$", re.IGNORECASE
)


def plain_secrets(seen: Seen) -> tuple[str, ...]:
    """The places, as paths below the entry: `env.API_KEY`, `headers.Authorization`, `args[2]`, `url`."""
    return tuple(dict.fromkeys(_places(seen)))


def is_secret(name: str, value: str) -> bool:
    """Whether the value of something called `name` is a secret in plain text."""
    if REFERENCE.fullmatch(value.strip()) or _PLACEHOLDER.match(value.strip()):
        return False
    if _KNOWN.search(value):
        return True
    bare = REFERENCE.sub("", value)
    bare = re.sub(r"^(?:Bearer|Basic|Token|ApiKey)\s*", "", bare, flags=re.IGNORECASE).strip()
    if _PLACEHOLDER.match(bare):
        return False
    return bool(SENSITIVE_NAME.search(name)) and not _PUBLIC_NAME.search(name) and len(bare) >= 4


def looks_random(value: str) -> bool:
    """Whether a text without a telling name is dense enough to be a key: long, one word, high entropy."""
    if not re.fullmatch(r"[A-Za-z0-9+/=_-]{24,}", value) or not re.search(r"\d", value):
        return False
    counts = Counter(value)
    entropy = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    return entropy > 4.0


def _places(seen: Seen) -> Iterator[str]:
    for name, value in seen.env.items():
        if is_secret(name, value) or _has_password(value):
            yield f"env.{name}"
    for name, value in seen.headers.items():
        if is_secret(name, value) or (name.lower().startswith("x-") and looks_random(value)):
            yield f"headers.{name}"
    for index in secret_args(seen.args):
        yield f"args[{index}]"
    if seen.url and (_has_password(seen.url) or secret_queries(seen.url)):
        yield "url"


def secret_args(args: tuple[str, ...]) -> tuple[int, ...]:
    """The indexes of arguments that hold a secret: after a telling flag, in `--flag=value`, or of a known form."""
    found: list[int] = []
    for index, arg in enumerate(args):
        before = _FLAG.fullmatch(args[index - 1]) if index else None
        flag = _FLAG.fullmatch(arg)
        after_flag = before is not None and before[2] is None and not arg.startswith("-") and is_secret(before[1], arg)
        inline = flag is not None and flag[2] is not None and is_secret(flag[1], flag[2])
        if after_flag or inline or _KNOWN.search(arg) or _has_password(arg) or _header_argument(arg):
            found.append(index)
    return tuple(found)


def _header_argument(arg: str) -> bool:
    name, colon, value = arg.partition(":")
    return bool(colon) and re.fullmatch(r"[A-Za-z-]+", name) is not None and is_secret(name, value.strip())


def secret_queries(url: str) -> tuple[str, ...]:
    """Names of query parameters whose values are secrets."""
    try:
        pairs = parse_qsl(urlsplit(url).query)
    except ValueError:
        return ()
    return tuple(name for name, value in pairs if is_secret(name, value))


def _has_password(text: str) -> bool:
    """Whether it is a URL with a password in it, as database addresses are written."""
    if "://" not in text or "@" not in text:
        return False
    try:
        password = urlsplit(text.strip()).password
    except ValueError:
        return False
    return bool(password) and not REFERENCE.fullmatch(password or "") and not _PLACEHOLDER.match(password or "")
