"""What a person agreed to, as digests: the launch of each server, and the profiles of the project. Pure.

A digest covers what decides which code runs and what it is given; what it does not cover may change without asking
anew. It is bound to content (locked hashes), never to a name that a stranger can claim for himself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from homeport.ground import digests
from homeport.ground.exact import Json
from homeport.ground.secrets import Chain

STEERING: Final = re.compile(
    r"(?:LD|DYLD|PYTHON|NODE|NPM|UV|PIP|GIT|BUN|DENO|JAVA|JDK|PERL5|RUBY|BASH|LUA|GEM|BUNDLE|DOTNET|OPENSSL|SSL)_?.*"
    r"|PATH|ENV|IFS|SHELL|HOME|CLASSPATH|RUSTC_WRAPPER|.*_(?:PROXY|OPTIONS|OPTS|PRELOAD|PATH)"
    r"|(?:.*_)?(?:URL|URI|HOST|HOSTNAME|ENDPOINT|SERVER|ADDRESS|ADDR|DOMAIN|ORIGIN|BASE|REGISTRY|INDEX|DSN)",
    re.IGNORECASE,
)
"""Variables that can change which code runs or where it connects: for these the value is part of the launch."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything about a server's launch that a person agrees to."""

    server: str
    source: str
    """In one line, as in the lock."""
    argv: tuple[str, ...] = ()
    cwd: str = ""
    url: str = ""
    env: Mapping[str, Chain] = field(default_factory=dict[str, Chain])
    headers: Mapping[str, Chain] = field(default_factory=dict[str, Chain])
    runtime: str = ""
    """Digest of the locked runtime: over every hash of every file."""


def launch_digest(launch: Launch) -> str:
    """`sha256:…` over source, argv, directory, address, locked hashes and the names in the environment.

    Of the environment's values only the secrets they refer to count, and the whole text of `STEERING` variables; of
    headers the same, since a header goes to the address that is covered too.
    """
    return digests.of_json(
        {
            "server": launch.server,
            "source": launch.source,
            "argv": list(launch.argv),
            "cwd": launch.cwd,
            "url": launch.url,
            "env": {name: _given(name, chain) for name, chain in launch.env.items()},
            "headers": {name.lower(): _given("", chain) for name, chain in launch.headers.items()},
            "runtime": launch.runtime,
        }
    )


def _given(name: str, chain: Chain) -> Json:
    if name and STEERING.fullmatch(name):
        return [template.text for template in chain]
    references: list[Json] = [str(reference) for template in chain for reference in template.references()]
    return references


def profiles_digest(profiles: Json) -> str:
    """`sha256:…` over the profiles as JSON; `project.agreement.profiles_json` makes it of their values."""
    return digests.of_json(profiles)


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """What this user agreed to in one project."""

    launches: Mapping[str, str] = field(default_factory=dict[str, str])
    """A server's name to the digest of its launch."""
    profiles: str = ""
    """Digest of the project's profiles; empty: never agreed."""

    def trusts(self, server: str, digest: str) -> bool:
        """Whether exactly this launch was agreed to."""
        return bool(digest) and self.launches.get(server) == digest

    def trusts_profiles(self, digest: str) -> bool:
        """Whether exactly these profiles were agreed to."""
        return bool(digest) and self.profiles == digest

    def agreed(self, launches: Mapping[str, str], profiles: str = "") -> TrustRecord:
        """The record with these added; empty `profiles` leaves theirs as it was."""
        return TrustRecord({**self.launches, **launches}, profiles or self.profiles)

    def kept(self, servers: Iterable[str]) -> TrustRecord:
        """The record without servers that the project no longer has."""
        names = frozenset(servers)
        return replace(self, launches={name: digest for name, digest in self.launches.items() if name in names})
