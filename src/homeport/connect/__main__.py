"""`homeport connect`: the stdio side of the gateway, for an agent's config."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from homeport.connect.link import Link

USAGE = "usage: homeport connect [--profile NAME] [--project DIR]"


def main(
    arguments: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
) -> int:
    """Run until the agent closes standard input. Exit status: 0 done, 1 refused, 2 usage, 3 no gateway.

    `command` replaces the argv that starts a gateway; the project's directory is appended to it.
    """
    given = _parse(sys.argv[1:] if arguments is None else arguments)
    if given is None:
        sys.stderr.write(USAGE + "\n")
        return 2
    if sys.platform == "win32":
        sys.stderr.write(
            "Homeport: `connect` needs Unix sockets; register the HTTP endpoint that `homeport up` prints.\n"
        )
        return 3
    from homeport.connect import bridge, places, start

    # An agent ends its servers by signal; a traceback in its log would look like a fault of ours.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    values = os.environ if environment is None else environment
    profile, project = given
    config, state = places.user_directories(values, sys.platform, os.path.expanduser("~"))
    root = places.project_root(project or os.getcwd(), config)
    key = places.project_key(root)
    run = places.run_directory(state)
    gateway = start.Gateway(
        run_file=os.path.join(run, f"{key}.json"),
        lock_file=os.path.join(run, f"{key}.starting"),
        log_file=os.path.join(state, "log", f"{key}.log"),
        command=[*(command or _start_command()), root],
        environment=values,
    )
    missing = places.missing_project(project, root)
    if missing:

        def refuse(_: object) -> Link:
            raise start.StartFailed(missing, "")

        return bridge.Bridge(profile, refuse).run()
    return bridge.Bridge(profile, gateway.reach).run()


def _start_command() -> list[str]:
    # -P: an agent's working directory must not be a place to import from.
    return [sys.executable, "-P", "-m", "homeport", "up", "--detached", "--project"]


def _parse(arguments: Sequence[str]) -> tuple[str, str] | None:
    values = {"--profile": "default", "--project": ""}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name not in values or (not equals and not rest):
            return None
        values[name] = value if equals else rest.pop(0)
    return values["--profile"], values["--project"]


if __name__ == "__main__":
    sys.exit(main())
