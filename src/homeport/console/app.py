"""The console as an ASGI application: the page, its files, and a small JSON API over a `Desk`.

    GET  /  /favicon.svg  /assets/…        the front end; open to everyone, it holds nothing
    GET  /open/<code>                      the page, and the operator's cookie in exchange for a one-time code
    GET  /api/state                        {"project": ProjectRow, "servers": [ServerRow]}
    GET  /api/tools?profile=P              {"tools": [ToolRow]}
    GET  /api/calls?limit=N&server=…&…     {"calls": [AuditRow]}, newest first
    GET  /api/events                       server-sent events (`stream`)
    POST /api/servers/<name>/restart       {"restarted": name}

Everything below `/api/` needs the operator's session and comes from our own page: cookies do not tell ports apart, so
a page on another port of this machine brings the cookie along, and `Origin` and `Sec-Fetch-Site` refuse it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import parse_qsl

from homeport.console import answers
from homeport.console.built import INDEX, STATIC, read_built
from homeport.console.desk import Desk
from homeport.console.stream import EventStream
from homeport.gateway import auth
from homeport.gateway.exchange import Receive, Scope, Send
from homeport.gateway.headers import Headers
from homeport.ground.errors import HomeportError, InvalidInput, Refused, Unavailable
from homeport.ground.limits import DEFAULT, Limits
from homeport.ground.names import is_profile, is_server

Handler: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN: Final = "/open/"
CALLS_DEFAULT: Final = 200
CALLS_MOST: Final = 2000
QUERY_MEMBERS: Final = 20
FILTERS: Final = frozenset({"server", "profile", "decision", "kind", "name", "edge", "session", "client"})
"""Fields of an `AuditRow` that `/api/calls` filters by."""


class Console:
    """Serves the console of one gateway. `close` ends its streams; call it before the HTTP server is shut down."""

    def __init__(
        self,
        desk: Desk,
        sessions: auth.OperatorSessions,
        *,
        limits: Limits = DEFAULT,
        hosts: Collection[str] = auth.LOOPBACK,
        static: Path = STATIC,
    ) -> None:
        """Raises `Unavailable` (`console.not_built`) when the front end is not there."""
        self._desk = desk
        self._sessions = sessions
        self._limits = limits
        self._hosts = frozenset(hosts)
        self._files = read_built(static)
        self._streams: set[EventStream] = set()
        self._closed = False

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        for stream in tuple(self._streams):
            stream.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI, for `http` scopes."""
        fields = Headers(scope["headers"])
        try:
            self._check_host(fields)
            await self._route(scope, fields, receive, send)
        except HomeportError as error:
            await answers.send_error(send, error)

    def _check_host(self, fields: Headers) -> None:
        if fields.ambiguous() is not None or not auth.host_allowed(fields.get(b"host"), self._hosts):
            raise Refused("this Host is not one of this gateway's", code="console.host")

    async def _route(self, scope: Scope, fields: Headers, receive: Receive, send: Send) -> None:
        method: str = scope["method"]
        path: str = scope["path"]
        if path.startswith("/api/"):
            self._check_caller(fields)
            await self._api(method, path, scope, fields, receive, send)
        elif method not in {"GET", "HEAD"}:
            raise InvalidInput(f"{method} is not answered here", code="console.method")
        elif path.startswith(OPEN):
            await self._open(method, path.removeprefix(OPEN), scope, fields, send)
        else:
            file = self._files.get(INDEX if path == "/" else path)
            if file is None:
                raise answers.unknown_path(path)
            await answers.send_file(send, file, known=fields.get(b"if-none-match"), head=method == "HEAD")

    async def _open(self, method: str, code: str, scope: Scope, fields: Headers, send: Send) -> None:
        """Exchange a link's code for the cookie. A look ahead (HEAD, a prefetch) must not use it up."""
        page = self._files[INDEX]
        if method == "HEAD" or fields.get(b"sec-purpose") is not None or fields.get(b"purpose") is not None:
            await answers.send_file(send, page, head=method == "HEAD")
            return
        cookie = self._sessions.redeem(code)
        if cookie is not None:
            held = auth.set_cookie(cookie, secure=scope.get("scheme") == "https", name=_cookie_name(fields))
            await answers.send_page(send, page, status=200, fields=[(b"set-cookie", held.encode())])
        else:
            await answers.send_page(send, page, status=200 if self._signed_in(fields) else 403)

    def _check_caller(self, fields: Headers) -> None:
        if not self._signed_in(fields):
            raise answers.signed_out()
        site = fields.get(b"sec-fetch-site")
        origin = fields.get(b"origin")
        host = fields.get(b"host")
        ours = origin is None or (host is not None and origin.split(b"://")[-1].lower() == host.lower())
        if not ours or site not in {None, b"same-origin", b"none"}:
            raise Refused("another page may not use the console's API", code="console.origin")

    def _signed_in(self, fields: Headers) -> bool:
        return self._sessions.valid(_cookie(fields))

    async def _api(self, method: str, path: str, scope: Scope, fields: Headers, receive: Receive, send: Send) -> None:
        reads: Mapping[str, Callable[[Mapping[str, str]], Awaitable[object]]] = {
            "/api/state": self._state,
            "/api/tools": self._tools,
            "/api/calls": self._calls,
        }
        server = _restart_of(path)
        if server is not None:
            _only(method, "POST")
            await self._restart(server, send)
        elif path == "/api/events":
            _only(method, "GET")
            await self._events(_cookie(fields), receive, send)
        elif path in reads:
            _only(method, "GET")
            await answers.send_json(send, await reads[path](_query(scope)))
        else:
            raise answers.unknown_path(path)

    async def _state(self, _query: Mapping[str, str]) -> object:
        return {"project": await self._desk.project(), "servers": await self._desk.servers()}

    async def _tools(self, query: Mapping[str, str]) -> object:
        profile = query.get("profile", "default")
        if not is_profile(profile):
            raise InvalidInput("that is not the name of a profile", code="profile.unknown")
        return {"tools": await self._desk.tools(profile)}

    async def _calls(self, query: Mapping[str, str]) -> object:
        unknown = query.keys() - FILTERS - {"limit"}
        if unknown:
            raise InvalidInput(f"calls cannot be filtered by {min(unknown)[:80]}", code="console.filter")
        filters = {name: value for name, value in query.items() if name in FILTERS}
        return {"calls": await self._desk.calls(limit=_limit(query.get("limit")), filters=filters)}

    async def _restart(self, server: str, send: Send) -> None:
        if not is_server(server):
            raise InvalidInput("that is not the name of a server", code="server.unknown", remedy="homeport ps")
        await self._desk.restart(server)
        await answers.send_json(send, {"restarted": server})

    async def _events(self, cookie: str, receive: Receive, send: Send) -> None:
        if self._closed or len(self._streams) >= self._limits.concurrent_streams:
            raise Unavailable(f"{len(self._streams)} event streams are open", code="console.streams")
        stream = EventStream(receive, send, lambda: self._sessions.valid(cookie))
        self._streams.add(stream)
        stop = self._desk.events(stream.put)
        try:
            await stream.run()
        finally:
            stop()
            self._streams.discard(stream)


def _cookie(fields: Headers) -> str:
    return auth.cookie_of((fields.get(b"cookie") or b"").decode("latin-1"), name=_cookie_name(fields))


def _cookie_name(fields: Headers) -> str:
    """With the port in it: cookies do not tell ports apart, and each project's gateway has its own session."""
    port = (fields.get(b"host") or b"").rpartition(b":")[2].decode("latin-1")
    return f"{auth.COOKIE}_{port}" if port.isdigit() else auth.COOKIE


def _restart_of(path: str) -> str | None:
    """The server's name in `/api/servers/<name>/restart`."""
    parts = path.split("/")
    return parts[3] if len(parts) == 5 and path.startswith("/api/servers/") and parts[4] == "restart" else None


def _only(method: str, wanted: str) -> None:
    if method != wanted:
        raise InvalidInput(f"{method} is not answered here, only {wanted}", code="console.method")


def _query(scope: Scope) -> dict[str, str]:
    raw: bytes = scope.get("query_string", b"")
    try:
        return dict(parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=QUERY_MEMBERS))
    except ValueError:
        raise InvalidInput(f"a query has at most {QUERY_MEMBERS} members", code="console.query") from None


def _limit(text: str | None) -> int:
    if text is None:
        return CALLS_DEFAULT
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= CALLS_MOST):
        raise InvalidInput(f"limit must be a number from 1 to {CALLS_MOST}", code="console.limit")
    return int(text)
