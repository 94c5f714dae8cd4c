"""Where a project's running gateway is found. The rules are those of `ground.paths`; a test holds the two together.

Written again without pathlib and hashlib: they would double this program's start and add four megabytes, and one of it
runs in every agent session.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT_FILE = "homeport.toml"


def user_directories(environment: Mapping[str, str], platform: str, home: str) -> tuple[str, str]:
    """The configuration and the state directory of this user."""
    override = environment.get("HOMEPORT_HOME", "")
    if override:
        return os.path.join(override, "config"), os.path.join(override, "state")
    if platform == "win32":
        roaming = environment.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
        local = environment.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(roaming, "homeport"), os.path.join(local, "homeport", "state")
    if platform == "darwin":
        support = os.path.join(home, "Library", "Application Support", "homeport")
        return support, os.path.join(support, "state")
    config = _xdg(environment, "XDG_CONFIG_HOME", os.path.join(home, ".config"))
    state = _xdg(environment, "XDG_STATE_HOME", os.path.join(home, ".local", "state"))
    return os.path.join(config, "homeport"), os.path.join(state, "homeport")


def project_root(start: str, config: str) -> str:
    """The nearest directory upwards from `start` with a `homeport.toml`; with none, the user's configuration."""
    directory = os.path.abspath(start)
    while True:
        if os.path.isfile(os.path.join(directory, PROJECT_FILE)):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return config
        directory = parent


def missing_project(named: str, root: str) -> str:
    """Why there is no project to serve, in a sentence; empty when there is one. `named`: the value of `--project`."""
    if named and not os.path.isdir(named):
        return f"--project {named} is no directory"
    if not os.path.isfile(os.path.join(root, PROJECT_FILE)):
        where = named or os.getcwd()
        return f"there is no {PROJECT_FILE} in {where} or above; `homeport init` makes one, --project names one"
    return ""


def project_key(root: str) -> str:
    """16 hex digits of sha256 over the real path."""
    return _sha256(os.fsencode(os.path.realpath(root)))[:16]


def run_directory(state: str) -> str:
    """Where run files and their locks lie."""
    return os.path.join(state, "run")


def _xdg(environment: Mapping[str, str], variable: str, default: str) -> str:
    value = environment.get(variable, "")
    return value if value.startswith("/") else default


def _sha256(data: bytes) -> str:
    # The built-in digests come without OpenSSL, whose library is 4 MB of memory; they moved between Python versions.
    for module in ("_sha2", "_sha256", "hashlib"):
        try:
            return str(__import__(module).sha256(data).hexdigest())
        except ImportError:
            continue
    raise ImportError("this Python has no sha256")
