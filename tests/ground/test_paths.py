"""Where things are kept, per platform and environment."""

from __future__ import annotations

from pathlib import Path

from homeport.ground.paths import find_project, project_key, user_paths

HOME = Path("/home/ada")


def test_linux_follows_xdg() -> None:
    paths = user_paths({"XDG_STATE_HOME": "/var/state"}, "linux", HOME)
    assert paths.state == Path("/var/state/homeport")
    assert paths.config == HOME / ".config/homeport"


def test_relative_xdg_values_are_ignored() -> None:
    assert user_paths({"XDG_CACHE_HOME": "cache"}, "linux", HOME).cache == HOME / ".cache/homeport"


def test_macos_and_windows_have_their_own_places() -> None:
    assert user_paths({}, "darwin", HOME).config == HOME / "Library/Application Support/homeport"
    windows = user_paths({"APPDATA": "/r", "LOCALAPPDATA": "/l"}, "win32", HOME)
    assert (windows.config, windows.state) == (Path("/r/homeport"), Path("/l/homeport/state"))


def test_one_variable_moves_everything() -> None:
    paths = user_paths({"HOMEPORT_HOME": "/elsewhere"}, "darwin", HOME)
    assert {path.parts[1] for path in (paths.config, paths.state, paths.cache)} == {"elsewhere"}


def test_the_nearest_project_upwards_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_project(inner) is None
    (tmp_path / "homeport.toml").touch()
    assert find_project(inner) == tmp_path
    (tmp_path / "a" / "homeport.toml").touch()
    assert find_project(inner) == tmp_path / "a"


def test_a_project_has_one_key_by_whatever_path_it_is_reached(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    assert project_key(link) == project_key(real)
    assert len(project_key(real)) == 16
