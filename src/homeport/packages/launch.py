"""From a pin to the arguments of a process: `{runtime}` made absolute, for this platform. Pure."""

from __future__ import annotations

from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Final

from homeport.packages.pins import Kind, Pin

RUNTIME: Final = "{runtime}"


def absolute_argv(pin: Pin, *, root: Path, runtime: Path | None, platform: str) -> tuple[str, ...]:
    """The argv to start, with absolute paths wherever the lock has relative ones.

    `root` is the project's directory, `runtime` the directory the runtime is installed in (None: the pin has none),
    `platform` a `sys.platform` value. A program without a slash stays as it is: PATH says where it is.
    """
    if runtime is None or pin.runtime is None:
        return (_program(pin.argv[0], root, platform), *pin.argv[1:]) if pin.argv else ()
    return tuple(_in_runtime(argument, runtime, pin.runtime.kind, platform) for argument in pin.argv)


def _in_runtime(argument: str, runtime: Path, kind: Kind, platform: str) -> str:
    if argument == RUNTIME:
        return str(runtime)
    if not argument.startswith(f"{RUNTIME}/"):
        return argument
    below = argument.removeprefix(f"{RUNTIME}/")
    if platform != "win32":
        return str(PurePosixPath(runtime.as_posix(), below))
    head, _, name = below.partition("/")
    if head == "bin" and name:
        # Windows keeps programs elsewhere and under another name.
        below = f"Scripts/{name}.exe" if kind == "python" else f"bin/{name}.cmd"
    return str(PureWindowsPath(runtime, *below.split("/")))


def _program(program: str, root: Path, platform: str) -> str:
    flavour: type[PurePath] = PureWindowsPath if platform == "win32" else PurePosixPath
    if "/" not in program and not (platform == "win32" and "\\" in program):
        return program
    return program if flavour(program).is_absolute() else str(flavour(root, program))
