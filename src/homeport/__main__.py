"""`homeport` and `python -m homeport`."""

from __future__ import annotations

import sys

import homeport


def main() -> None:
    """Run the command line and leave with its exit status."""
    if sys.argv[1:2] == ["connect"]:
        # Every agent session starts one: it must not pay for anything but its own few standard modules.
        from homeport.connect.__main__ import main as connect

        sys.exit(connect(sys.argv[2:]))
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"homeport {homeport.__version__}\n")
        return
    from homeport.cli.root import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
