"""From what is locked to what is started, and to what a person is shown before agreeing. Pure."""

from __future__ import annotations

import shlex
from pathlib import Path

from homeport.packages import consent
from homeport.packages.launch import absolute_argv
from homeport.packages.pins import Pin
from homeport.packages.runtimes import place
from homeport.project import agreement
from homeport.project.model import Remote, Server
from homeport.upstreams.launch import HttpLaunch, Launch, StdioLaunch


def upstream_launch(server: Server, pin: Pin, *, root: Path, platform: str) -> Launch:
    """How the server is reached, absolute; with the digest that trust is kept under."""
    digest = agreement.launch_digest(server, pin)
    if isinstance(server.source, Remote):
        return HttpLaunch(server.source.url, server.source.headers, digest)
    runtime = place.directory(root, pin.runtime) if pin.runtime else None
    argv = absolute_argv(pin, root=root, runtime=runtime, platform=platform)
    return StdioLaunch(argv, root / server.cwd if server.cwd else root, server.env, digest)


def told(launch: consent.Launch, packages: int = 0) -> tuple[str, ...]:
    """A launch as it is shown before somebody agrees to it: whole, a line each."""
    lines = [f"{launch.server}: {launch.source}"]
    if launch.argv:
        lines.append("  runs         " + shlex.join(launch.argv))
    if launch.url:
        lines.append("  connects to  " + launch.url)
    if packages:
        lines.append(f"  made of      {packages} packages, every file checked against its hash in the lock")
    if launch.cwd:
        lines.append("  in           " + launch.cwd)
    for title, chains in (("environment", launch.env), ("header", launch.headers)):
        lines += [
            f"  {title:<11}  {name} = " + " or ".join(template.text for template in chain)
            for name, chain in chains.items()
        ]
    return tuple(lines)
