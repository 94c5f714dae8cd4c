"""Who may come in over HTTP: `Host` and `Origin`, profile tokens, and the operator's link and cookie.

Two credentials, never interchangeable (design section 7). A *profile token* opens the MCP endpoints of its profile and
nothing else. An *operator session* opens console and API: it begins with a one-time link that is good for five minutes
and goes on as a cookie.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeGuard

from homeport.ground.errors import InvalidInput, Place, Unavailable
from homeport.ground.files import private_directory, replace_atomically
from homeport.ground.secrets import Secret

TOKEN_PREFIX: Final = "hpt_"  # noqa: S105  # so that scanners and people recognise one
LINK_SECONDS: Final = 300.0
SESSION_SECONDS: Final = 12 * 3600.0
COOKIE: Final = "homeport_operator"
MAX_SESSIONS: Final = 64
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})


class Tokens:
    """The profile tokens of one project, in one file that only this user may read.

    A token is made when it is first asked for. It is kept as it is because `homeport up` and registrations show it
    again; what arrives is compared by its hash.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._tokens: dict[str, str] = {}
        self._profiles: dict[bytes, str] = {}
        self._stamp: tuple[int, int] | None = None
        self._load()

    def token(self, profile: str) -> Secret:
        """The token of a profile, made if there is none. Raises `Unavailable` when the file cannot be written."""
        self._load()
        if profile not in self._tokens:
            self._write({**self._tokens, profile: TOKEN_PREFIX + secrets.token_urlsafe(32)})
        return Secret(self._tokens[profile])

    def rotate(self, profile: str) -> Secret:
        """A new token; the old one opens nothing any more."""
        self._load()
        self._write({**self._tokens, profile: TOKEN_PREFIX + secrets.token_urlsafe(32)})
        return Secret(self._tokens[profile])

    def revoke(self, profile: str) -> bool:
        """Remove a profile's token; whether there was one."""
        self._load()
        if profile not in self._tokens:
            return False
        self._write({name: token for name, token in self._tokens.items() if name != profile})
        return True

    def reload(self) -> None:
        """Take over what another process wrote. A broken file leaves the tokens in force."""
        self._load()

    def profile_of(self, presented: bytes) -> str | None:
        """Whose token this is; None for any other."""
        return self._profiles.get(_hash(presented))

    def _load(self) -> None:
        try:
            state = self._file.stat()
            stamp = (state.st_mtime_ns, state.st_ino)
            if stamp != self._stamp:
                self._take(json.loads(self._file.read_bytes()))
                self._stamp = stamp
        except FileNotFoundError:
            self._take({})
        except OSError as error:
            raise Unavailable(
                f"cannot be read: {error.strerror}", code="tokens.unreadable", place=Place(str(self._file))
            ) from None
        except ValueError:
            raise InvalidInput(
                "this is not a file of tokens",
                code="tokens.corrupt",
                place=Place(str(self._file)),
                remedy=f"remove {self._file}; new tokens are made, and registrations of the HTTP endpoint need them",
            ) from None

    def _take(self, written: Any) -> None:
        if not isinstance(written, dict):
            raise ValueError("not an object")  # noqa: TRY004
        found: dict[str, object] = written  # pyright: ignore[reportUnknownVariableType]
        self._tokens = {name: token for name, token in found.items() if _usable(token)}
        self._profiles = {_hash(token.encode()): name for name, token in self._tokens.items()}

    def _write(self, tokens: Mapping[str, str]) -> None:
        private_directory(self._file.parent)
        replace_atomically(self._file, json.dumps(tokens, indent=1).encode() + b"\n", mode=0o600)
        state = self._file.stat()
        self._stamp = (state.st_mtime_ns, state.st_ino)
        self._take(dict(tokens))


class OperatorSessions:
    """One-time links and the sessions they become. In memory: a restart ends them. `clock` is monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._links: dict[bytes, float] = {}
        self._sessions: dict[bytes, float] = {}

    def new_link(self) -> str:
        """A code for a link that opens the console once, within `LINK_SECONDS`."""
        self._forget()
        code = secrets.token_urlsafe(24)
        self._links[_hash(code.encode())] = self._clock() + LINK_SECONDS
        return code

    def redeem(self, code: str) -> str | None:
        """The cookie value that a link's code is exchanged for; None for a used, old or invented one."""
        self._forget()
        if self._links.pop(_hash(code.encode("utf-8", "surrogatepass")), None) is None:
            return None
        while len(self._sessions) >= MAX_SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        value = secrets.token_urlsafe(32)
        self._sessions[_hash(value.encode())] = self._clock() + SESSION_SECONDS
        return value

    def valid(self, value: str) -> bool:
        """Whether this cookie value belongs to an open session."""
        self._forget()
        return _hash(value.encode("utf-8", "surrogatepass")) in self._sessions

    def end(self, value: str) -> None:
        """Close a session."""
        self._sessions.pop(_hash(value.encode("utf-8", "surrogatepass")), None)

    def _forget(self) -> None:
        now = self._clock()
        for kept in (self._links, self._sessions):
            for key in [key for key, end in kept.items() if end <= now]:
                del kept[key]


def set_cookie(value: str, *, secure: bool, name: str = COOKIE) -> str:
    """The `Set-Cookie` value of an operator session."""
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")


def cookie_of(header: str, *, name: str = COOKIE) -> str:
    """The operator session in a `Cookie` header; empty when there is none."""
    for part in header.split(";"):
        found, _, value = part.strip().partition("=")
        if found == name:
            return value
    return ""


def bearer(header: bytes | None) -> bytes | None:
    """The token in an `Authorization` header (RFC 6750); None for another scheme."""
    if header is None or header[:7].lower() != b"bearer ":
        return None
    return header[7:].strip(b" ") or None


def host_allowed(host: bytes | None, allowed: Iterable[str] = LOOPBACK) -> bool:
    """Whether a `Host` header names this machine: a page that rebinds its name to us is refused here."""
    return host is not None and _name(host.decode("latin-1")) in allowed


def origin_allowed(origin: bytes | None, allowed: Iterable[str] = LOOPBACK) -> bool:
    """Whether a request may come from this origin: none at all (no browser), or a page of this machine."""
    if origin is None:
        return True
    scheme, separator, rest = origin.decode("latin-1").partition("://")
    return bool(separator) and scheme in {"http", "https"} and "/" not in rest and _name(rest) in allowed


def _name(authority: str) -> str:
    if authority.startswith("["):
        name, bracket, port = authority.partition("]")
        name += bracket
        port = port.removeprefix(":") if port.startswith(":") or not port else "x"
    else:
        name, _, port = authority.partition(":")
    return name.lower() if not port or port.isdigit() else ""


def _usable(token: object) -> TypeGuard[str]:
    return isinstance(token, str) and len(token) >= 32 and token.isascii()


def _hash(presented: bytes) -> bytes:
    return hashlib.sha256(presented).digest()
