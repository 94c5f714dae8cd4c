"""Where Homeport keeps things. Pure: the environment and the platform come in as values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROJECT_FILE = "homeport.toml"
LOCK_FILE = "homeport.lock"
SURFACE_DIR = "homeport.surface"
LOCAL_DIR = ".homeport"


@dataclass(frozen=True, slots=True)
class UserPaths:
    """The directories of one user. `homeport paths` lists them."""

    config: Path
    state: Path
    cache: Path

    @property
    def user_project(self) -> Path:
        """The user-level `homeport.toml`, used where no project is."""
        return self.config / PROJECT_FILE

    @property
    def run(self) -> Path:
        """One file a running gateway, and its socket."""
        return self.state / "run"

    @property
    def journal(self) -> Path:
        """The audit journal: one file a process."""
        return self.state / "journal"

    @property
    def database(self) -> Path:
        """The SQLite store."""
        return self.state / "homeport.db"

    @property
    def trust(self) -> Path:
        """What this user agreed to, by digest."""
        return self.state / "trust.json"

    @property
    def logs(self) -> Path:
        """Logs of detached gateways."""
        return self.state / "log"

    def run_file(self, project_root: Path) -> Path:
        """The run file of the gateway of a project (the directory that holds its `homeport.toml`)."""
        return self.run / f"{project_key(project_root)}.json"


def project_key(project_root: Path) -> str:
    """16 hex digits of sha256 over the real path of the project's directory."""
    return hashlib.sha256(str(project_root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def user_paths(environment: Mapping[str, str], platform: str, home: Path) -> UserPaths:
    """The directories for a platform (`sys.platform` value) and an environment.

    `HOMEPORT_HOME` puts all three below one directory. Otherwise XDG on Linux, `~/Library` on macOS, `%APPDATA%` and
    `%LOCALAPPDATA%` on Windows. Relative values of XDG variables are ignored, as the XDG specification says.
    """
    override = environment.get("HOMEPORT_HOME", "")
    if override:
        root = Path(override)
        return UserPaths(root / "config", root / "state", root / "cache")
    if platform == "win32":
        roaming = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
        local = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
        return UserPaths(roaming / "homeport", local / "homeport" / "state", local / "homeport" / "cache")
    if platform == "darwin":
        support = home / "Library" / "Application Support" / "homeport"
        return UserPaths(support, support / "state", home / "Library" / "Caches" / "homeport")

    def xdg(variable: str, default: str) -> Path:
        value = environment.get(variable, "")
        return (Path(value) if value.startswith("/") else home / default) / "homeport"

    return UserPaths(
        xdg("XDG_CONFIG_HOME", ".config"), xdg("XDG_STATE_HOME", ".local/state"), xdg("XDG_CACHE_HOME", ".cache")
    )


def find_project(start: Path) -> Path | None:
    """The nearest directory upwards from `start` that holds a `homeport.toml`, or None."""
    for directory in (start, *start.parents):
        if (directory / PROJECT_FILE).is_file():
            return directory
    return None
