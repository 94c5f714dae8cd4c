"""Where runtimes lie: `.homeport/runtimes/<digest>/`, complete or absent, marked by a file written last."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from homeport.ground.errors import Place, Unavailable
from homeport.ground.paths import LOCAL_DIR
from homeport.packages.pins import Runtime

MARK: Final = "homeport-runtime.json"


def directory(root: Path, runtime: Runtime) -> Path:
    """The directory of a runtime in a project. The digest's first 32 digits: enough, and short for Windows."""
    return root / LOCAL_DIR / "runtimes" / runtime.digest.removeprefix("sha256:")[:32]


def installed(root: Path, runtime: Runtime) -> bool:
    """Whether it is there, complete, and the interpreter it was installed for still is."""
    target = directory(root, runtime)
    mark = _mark(target)
    program = str(mark.get("program", ""))
    return mark.get("digest") == runtime.digest and bool(program) and (target / program).exists()


def _mark(target: Path) -> Mapping[str, Any]:
    try:
        read = json.loads((target / MARK).read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {}


def local_directory(root: Path) -> Path:
    """`.homeport/` of a project, made if need be, ignoring itself in git. Raises `Unavailable`."""
    local = root / LOCAL_DIR
    try:
        local.mkdir(exist_ok=True)
        ignore = local / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", "utf-8")
    except OSError as error:
        raise _unwritable(local, error) from None
    return local


@dataclass(slots=True)
class Fresh:
    """A directory being installed into."""

    directory: Path
    program: str = ""
    """What runs it: below the directory, or absolute; its absence later means that the runtime is broken."""


@contextlib.contextmanager
def new(target: Path, runtime: Runtime) -> Generator[Fresh]:
    """An empty directory to install into; it becomes `target` when the block ends well and vanishes when not.

    Two that install the same at once both work alone, and the second finds the first one's: they are the same.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name[:8]}-", dir=target.parent))
    except OSError as error:
        raise _unwritable(target.parent, error) from None
    try:
        made = Fresh(fresh)
        yield made
        mark = {"digest": runtime.digest, "requirement": runtime.requirement, "program": made.program}
        (fresh / MARK).write_text(json.dumps(mark, indent=1) + "\n", "utf-8")
        fresh.chmod(0o755)
        _put(fresh, target, runtime)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _put(fresh: Path, target: Path, runtime: Runtime) -> None:
    if target.exists():
        aside = Path(tempfile.mkdtemp(prefix=".old-", dir=target.parent))
        target.rename(aside / "runtime")
        shutil.rmtree(aside, ignore_errors=True)
    try:
        fresh.rename(target)
    except OSError:
        if _mark(target).get("digest") != runtime.digest:
            raise


def _unwritable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        f"cannot be written: {error.strerror or type(error).__name__}",
        code="file.unwritable",
        place=Place(str(path)),
        remedy=f"make {path.parent} writable for this user, or free space on its disk",
    )
