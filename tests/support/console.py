"""A served console as a client sees it: over plain HTTP, and in a browser."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page
from tests.support.desk import MemoryDesk
from tests.support.serving import Served

from homeport.console.app import Console
from homeport.gateway.auth import OperatorSessions


@dataclass
class Answer:
    """A whole HTTP answer."""

    status: int
    fields: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Site:
    """A served console, and a client that may be signed in."""

    desk: MemoryDesk
    console: Console
    sessions: OperatorSessions
    at: Served
    cookie: str = ""
    sent: dict[str, str] = field(default_factory=dict[str, str])

    def ask(self, method: str, path: str, **fields: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.at.port, timeout=10)
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        if self.cookie:
            headers.setdefault("Cookie", self.cookie)
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **fields: str) -> Answer:
        return self.ask("GET", path, **fields)

    def link(self) -> str:
        return f"/open/{self.at.do(self.sessions.new_link)}"

    def sign_in(self) -> Site:
        answer = self.get(self.link())
        self.cookie = answer.fields["set-cookie"].split(";")[0]
        return self

    def events(self) -> Generator[tuple[str, Any]]:
        """The events of the stream as `(name, data)`, once it is open."""
        connection = http.client.HTTPConnection("127.0.0.1", self.at.port, timeout=10)
        connection.request("GET", "/api/events", headers={"Cookie": self.cookie})
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("content-type")) == (200, "text/event-stream")
        assert answer.readline() == b"retry: 1000\n"
        answer.readline()
        name = ""
        try:
            yield ("open", None)
            while line := answer.readline():
                key, _, value = line.decode().rstrip("\r\n").partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    yield (name, json.loads(value))
        finally:
            answer.close()
            connection.close()


@dataclass
class Clock:
    """Monotonic seconds that a test moves."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Visit:
    """A page of the console in a browser. `problems` are script errors and refusals of the content policy."""

    page: Page
    site: Site
    problems: list[str]
    foreign: list[str]
    """Requests to anywhere but this console."""


def eventually(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for something that another thread brings about."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)
