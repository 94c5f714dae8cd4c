"""The ASGI application: `/mcp`, `/mcp/<profile>`, `/mcp/<profile>/<server>`, both eras at each.

Before a message is looked at: `Host` and `Origin`, the bearer token of the profile, the size of header and body, the
media types. A request goes the modern way when it, or its `MCP-Protocol-Version`, names a modern revision; else it is
a legacy one and belongs to a session, unless it opens one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, Protocol, TypeAlias

from homeport.calls.events import Bus, Event, Topic
from homeport.calls.roster import Roster
from homeport.gateway import auth, headers, messages, modern
from homeport.gateway.answers import Answer
from homeport.gateway.exchange import Exchange, Fields, Receive, Reply, Scope, Send, read_body, send_reply
from homeport.gateway.faults import INTERNAL, Fault, error_members, http_status
from homeport.gateway.headers import Headers
from homeport.gateway.legacy import INITIALIZE, CancelledByClient, Legacy
from homeport.gateway.lists import CHANGED, Gatekeeper, ListKind, Lists
from homeport.gateway.live import Leases, LiveLists
from homeport.gateway.messages import Notification, Request, Response
from homeport.gateway.modern import LISTEN, Modern
from homeport.gateway.outbox import Outbox
from homeport.gateway.relay import Relay, Runs
from homeport.gateway.routing import Target
from homeport.gateway.sessions import LegacySession, Sessions, new_identity
from homeport.gateway.subscriptions import Listeners
from homeport.gateway.translate import code_of
from homeport.ground.errors import HomeportError, Refused
from homeport.ground.limits import DEFAULT, Limits
from homeport.upstreams.pool import Notified, StateChanged
from homeport.upstreams.session import LEGACY_VERSIONS, MODERN_VERSIONS

App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

DEFAULT_PROFILE: Final = "default"
BODY_SECONDS: Final = 30.0
"""A body must be here after this; a slower client holds a connection for nothing."""
ALLOW: Final = (b"allow", b"GET, POST, DELETE")
CHALLENGE: Final = (b"www-authenticate", b'Bearer realm="homeport"')
"""Without OAuth metadata: on loopback there is no authorization server to send anyone to."""
RESOURCES_CHANGED: Final = CHANGED[ListKind.TEMPLATES]

_log = logging.getLogger("homeport.gateway")


class Upstreams(Leases, Protocol):
    """What is needed of `upstreams.pool.Pool`."""

    def listen(self, listener: Callable[[StateChanged | Notified], None]) -> Callable[[], None]:
        """Hear of states and notifications."""
        ...


class Gateway:
    """One project's endpoint. An ASGI application; `watch` must run beside it, and `close` ends its streams."""

    def __init__(
        self,
        pipeline: Runs,
        roster: Callable[[], Roster],
        gate: Gatekeeper,
        pool: Upstreams,
        bus: Bus,
        tokens: auth.Tokens,
        limits: Limits = DEFAULT,
        *,
        version: str = "",
        hosts: Collection[str] = auth.LOOPBACK,
        fallback: App | None = None,
    ) -> None:
        """`hosts`: names this gateway is reached by. `fallback` serves every path that is not below `/mcp`."""
        self._roster = roster
        self._tokens = tokens
        self.limits = limits
        self._hosts = frozenset(hosts)
        self._fallback = fallback
        self.lists = Lists(roster, gate, version)
        self.listeners = Listeners(self.lists, limits.facts_max_age)
        relay = Relay(pipeline, self.lists, LiveLists(roster, pool, limits))
        self.modern = Modern(relay, self.listeners)
        self.legacy = Legacy(relay)
        self.sessions = Sessions(time.monotonic)
        self._streams: dict[Outbox, bytes] = {}
        self._unhear = [bus.listen(self._on_event), pool.listen(self._on_upstream)]
        self.last_used = time.monotonic()
        """Monotonic seconds; with `busy` it tells a detached gateway when to end."""

    @property
    def busy(self) -> int:
        """Open streams; each is a client that is there."""
        return len(self._streams)

    def touch(self) -> None:
        """A client is here now."""
        self.last_used = time.monotonic()

    def local_target(self, profile: str) -> Target:
        """The target of a profile that is named on the socket, without proof.

        Raises `Refused`: `profile.unknown`, `profile.token_required`.
        """
        found = self.target(profile)
        if found is None:
            known = ", ".join(sorted(self._roster().profiles)) or "none"
            raise Refused(
                f"there is no profile {profile} in force here (known: {known})",
                code="profile.unknown",
                remedy="homeport trust agrees to a project's profiles; homeport.toml defines them",
            )
        policy = self._roster().profiles.get(profile)
        if policy is not None and policy.require_token:
            raise Refused(
                f"the profile {profile} asks for its token, and this way carries none",
                code="profile.token_required",
                remedy=f"register the HTTP endpoint /mcp/{profile} with `homeport token {profile}`",
            )
        return found

    async def watch(self) -> None:
        """Tell listeners of changed lists, until cancelled."""
        await self.listeners.watch()

    async def close(self) -> None:
        """End every stream and session from our side."""
        for stop in self._unhear:
            stop()
        self._unhear = []
        for box, last in tuple(self._streams.items()):
            box.close(last)
        for session in self.sessions.all():
            self.sessions.drop(session.id)

    def target(self, profile: str, server: str = "") -> Target | None:
        """A profile in force and, where named, a server it has a grant for; None for anything else."""
        roster = self._roster()
        view = roster.views.get(profile)
        if view is None:
            # The default profile always has an endpoint: untrusted or without grants it says so in its instructions.
            return Target(profile) if profile == DEFAULT_PROFILE and not server else None
        return Target(profile, server) if not server or server in view.servers else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        if path == "/mcp" or path.startswith("/mcp/"):
            await self._mcp(scope, path, receive, send)
        elif self._fallback is not None:
            await self._fallback(scope, receive, send)
        else:
            await send_reply(send, _error_reply(404, "there is nothing here; the MCP endpoint is /mcp"))

    async def _mcp(self, scope: Scope, path: str, receive: Receive, send: Send) -> None:
        self.touch()
        fields = Headers(scope["headers"])
        refused = self._refused(fields)
        if refused is None:
            found = self._admitted(path, fields)
            if isinstance(found, Target):
                await self._serve(scope["method"], found, fields, receive, send)
                self.touch()
                return
            refused = found
        await send_reply(send, refused)

    def _refused(self, fields: Headers) -> Reply | None:
        if fields.size > self.limits.header:
            return _error_reply(431, f"the header fields have more than {self.limits.header} bytes")
        ambiguous = fields.ambiguous()
        if ambiguous is not None:
            fault = Fault(f"the header {ambiguous.decode('latin-1')} stands twice", code="rpc.header_mismatch")
            return _fault_reply(fault)
        if not auth.host_allowed(fields.get(b"host"), self._hosts):
            return _error_reply(403, "this Host is not one of this gateway's")
        if not auth.origin_allowed(fields.get(b"origin"), self._hosts):
            return _error_reply(403, "this Origin may not use this gateway")
        return None

    def _admitted(self, path: str, fields: Headers) -> Target | Reply:
        presented = auth.bearer(fields.get(b"authorization"))
        profile = None if presented is None else self._tokens.profile_of(presented)
        if profile is None:
            return _error_reply(401, "a profile token is needed: homeport token", [CHALLENGE])
        parts = path.split("/")[2:]
        named = parts[0] if parts and parts[0] else DEFAULT_PROFILE
        if named != profile:
            return _error_reply(403, "this token does not open this endpoint")
        target = self.target(named, parts[1] if len(parts) > 1 else "") if len(parts) <= 2 else None
        return target or _error_reply(404, "there is no such endpoint for this profile")

    async def _serve(self, method: str, target: Target, fields: Headers, receive: Receive, send: Send) -> None:
        if method == "POST":
            await self._post(target, fields, receive, send)
        elif method in {"GET", "DELETE"}:
            await self._session_request(method, target, fields, receive, send)
        else:
            await send_reply(send, Reply(405, fields=[ALLOW]))

    async def _post(self, target: Target, fields: Headers, receive: Receive, send: Send) -> None:
        refused = self._unacceptable(fields)
        if refused is not None:
            await send_reply(send, refused)
            return
        try:
            body = await read_body(receive, self.limits.message, BODY_SECONDS)
        except (TimeoutError, ConnectionError):
            await send_reply(send, _error_reply(408, "the body did not arrive in time"))
            return
        if body is None:
            await send_reply(send, _error_reply(413, f"a body may have at most {self.limits.message} bytes"))
            return
        try:
            message = messages.read(body, depth=self.limits.depth)
            await self._route(message, target, fields, receive, send)
        except Fault as fault:
            await send_reply(send, _fault_reply(fault))

    def _unacceptable(self, fields: Headers) -> Reply | None:
        kind = (fields.get(b"content-type") or b"").split(b";")[0].strip().lower()
        if kind != b"application/json":
            return _error_reply(415, "Content-Type must be application/json")
        if not fields.accepts(b"application/json", b"text/event-stream"):
            return _error_reply(406, "Accept must list application/json and text/event-stream")
        length = fields.get(b"content-length")
        if length is not None and (not length.isdigit() or int(length[:20]) > self.limits.message):
            return _error_reply(413, f"a body may have at most {self.limits.message} bytes")
        return None

    async def _route(
        self, message: messages.Message, target: Target, fields: Headers, receive: Receive, send: Send
    ) -> None:
        version = (fields.get(headers.VERSION) or b"").decode("latin-1")
        named_modern = version in MODERN_VERSIONS
        if isinstance(message, Request) and (named_modern or modern.says_modern(message)):
            await self._modern_request(message, target, fields, receive, send)
        elif named_modern:
            await send_reply(send, _modern_other(message))
        elif version and version not in LEGACY_VERSIONS:
            raise modern.unsupported(version)
        elif isinstance(message, Request) and message.method == INITIALIZE:
            await self._initialize(message, target, receive, send)
        else:
            await self._legacy_message(message, self._session(fields, target), receive, send)

    async def _modern_request(
        self, request: Request, target: Target, fields: Headers, receive: Receive, send: Send
    ) -> None:
        exchange = Exchange(receive, send, leaving_cancels=True)
        try:
            meta = self.modern.admit(request, fields)
        except Fault as fault:
            await send_reply(send, _fault_reply(fault, request.id))
            return
        if request.method == LISTEN:
            await self._listen(request, target, exchange, send)
            return
        work = self.modern.serve(request, meta, target, fields, edge="http", push=exchange.push)
        await exchange.answer(_replying(request, work, modern_status=True))

    async def _listen(self, request: Request, target: Target, exchange: Exchange, send: Send) -> None:
        box = Outbox()
        if len(self._streams) >= self.limits.concurrent_streams:
            await send_reply(send, _error_reply(503, f"{len(self._streams)} streams are open"))
            return
        try:
            stop = self.modern.listen(request, target, box.put)
        except Fault as fault:
            await send_reply(send, _fault_reply(fault, request.id))
            return
        await self._stream(exchange, box, stop, messages.result_of(request.id, modern.ended(request)))

    async def _stream(self, exchange: Exchange, box: Outbox, stop: Callable[[], None], last: bytes = b"") -> None:
        """Keep a stream open; `last` is its last message when it ends from our side."""
        self._streams[box] = last
        try:
            await exchange.stream(box)
        finally:
            self._streams.pop(box, None)
            self.touch()
            stop()

    async def _initialize(self, request: Request, target: Target, receive: Receive, send: Send) -> None:
        session = await self.legacy.initialize(request, target, edge="http", session=new_identity())
        self.sessions.add(session)
        body = messages.result_of(request.id, self.legacy.welcome(session).result or b"{}")
        await send_reply(send, Reply(200, body, [(headers.SESSION, session.id.encode())]))

    async def _legacy_message(
        self, message: messages.Message, session: LegacySession | Reply, receive: Receive, send: Send
    ) -> None:
        if isinstance(session, Reply):
            await send_reply(send, session)
        elif isinstance(message, Request):
            # A client that leaves has not cancelled (2025-11-25, transports): what it asked for is carried out.
            exchange = Exchange(receive, send, leaving_cancels=False)
            work = self.legacy.serve(message, session, exchange.push)
            await exchange.answer(_replying(message, work, modern_status=False))
        else:
            if isinstance(message, Response):
                self.legacy.answered(message, session)
            else:
                self.legacy.notified(message, session)
            await send_reply(send, Reply(202))

    def _session(self, fields: Headers, target: Target) -> LegacySession | Reply:
        identity = fields.get(headers.SESSION)
        if identity is None:
            return _error_reply(400, "Mcp-Session-Id is missing; initialize opens a session")
        session = self.sessions.get(identity.decode("latin-1"), target)
        return session or _error_reply(404, "there is no such session, or it has ended")

    async def _session_request(
        self, method: str, target: Target, fields: Headers, receive: Receive, send: Send
    ) -> None:
        version = (fields.get(headers.VERSION) or b"").decode("latin-1")
        if version and version not in LEGACY_VERSIONS:
            status = 405 if version in MODERN_VERSIONS else 400
            await send_reply(send, _error_reply(status, f"{method} belongs to revisions up to {LEGACY_VERSIONS[0]}"))
            return
        session = self._session(fields, target)
        if isinstance(session, Reply):
            await send_reply(send, session)
        elif method == "DELETE":
            self.sessions.drop(session.id)
            await send_reply(send, Reply(204))
        elif not fields.accepts(b"text/event-stream"):
            await send_reply(send, _error_reply(406, "Accept must list text/event-stream"))
        elif len(self._streams) >= self.limits.concurrent_streams:
            await send_reply(send, _error_reply(503, f"{len(self._streams)} streams are open"))
        else:
            await self._listening(session, Exchange(receive, send, leaving_cancels=True))

    async def _listening(self, session: LegacySession, exchange: Exchange) -> None:
        """The stream for what belongs to no request. A message goes to one stream, so a newer one takes over."""
        if session.outbox is not None:
            session.outbox.close()
        box = session.outbox = Outbox()
        stop = self.listeners.add(session.target, list(ListKind), lambda kind: box.put(_changed(kind)))
        try:
            await self._stream(exchange, box, stop)
        finally:
            if session.outbox is box:
                session.outbox = None

    def _on_event(self, event: Event) -> None:
        if event.topic in {Topic.ROSTER, Topic.AVAILABILITY}:
            self.listeners.poke()

    def _on_upstream(self, event: StateChanged | Notified) -> None:
        if isinstance(event, Notified) and event.method == RESOURCES_CHANGED:
            self.listeners.resources_changed(event.key.server)


async def _replying(request: Request, work: Awaitable[Answer], *, modern_status: bool) -> Reply:
    """The HTTP answer to a request."""
    try:
        answer = await work
    except Fault as fault:
        return _fault_reply(fault, request.id) if modern_status else _error_answer(request.id, error_members(fault))
    except CancelledByClient:
        return Reply(202)
    except HomeportError as error:
        return _error_answer(request.id, error_members(error))
    except Exception:  # noqa: BLE001  # the boundary of a request: a bug in one must not end the others
        _log.exception("%s failed", request.method)
        return _error_answer(request.id, {"code": INTERNAL, "message": "internal error"})
    if answer.result is not None:
        return Reply(200, messages.result_of(request.id, answer.result))
    error = answer.error or b"{}"
    return Reply(http_status(code_of(error)) if modern_status else 200, messages.error_of(request.id, error))


def _modern_other(message: Notification | Response | Request) -> Reply:
    if isinstance(message, Notification):
        return Reply(202)  # this revision defines none over HTTP; a client's own is taken and dropped
    return _fault_reply(Fault("a client sends no responses in this revision", code="rpc.invalid"))


def _fault_reply(fault: Fault, request: bytes = b"") -> Reply:
    members = error_members(fault)
    return Reply(http_status(members["code"]), messages.error_of(request or fault.request, messages.encode(members)))


def _error_answer(request: bytes, members: dict[str, Any]) -> Reply:
    return Reply(200, messages.error_of(request, messages.encode(members)))


def _error_reply(status: int, message: str, fields: Fields = ()) -> Reply:
    """A refusal below MCP: an error response that has no id (2025-11-25 and 2026-07-28, transports)."""
    error = {"jsonrpc": "2.0", "error": {"code": -32600, "message": message}}
    return Reply(status, messages.encode(error), fields)


def _changed(kind: ListKind) -> bytes:
    return messages.notification(CHANGED[kind])


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
