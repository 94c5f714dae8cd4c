"""`connect` finds what `ground.paths` says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.connect import places
from homeport.ground import paths

VARIABLES = ["HOMEPORT_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA"]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@given(environment=st.dictionaries(st.sampled_from(VARIABLES), st.sampled_from(["", "relative", "/somewhere", "/a b"])))
def test_both_name_the_same_directories(platform: str, environment: dict[str, str]) -> None:
    ours = paths.user_paths(environment, platform, Path("/home/u"))
    config, state = places.user_directories(environment, platform, "/home/u")
    assert (Path(config), Path(state)) == (ours.config, ours.state)
    assert Path(places.run_directory(state)) == ours.run


def test_both_find_the_nearest_project(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "project" / "homeport.toml").write_text("[project]\n")
    assert Path(places.project_root(str(inner), "/config")) == paths.find_project(inner)


def test_without_a_project_the_user_level_one_is_meant(tmp_path: Path) -> None:
    assert places.project_root(str(tmp_path), "/config") == "/config"


def test_both_give_a_project_the_same_key_through_a_link(tmp_path: Path) -> None:
    real = tmp_path / "réel project"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    assert places.project_key(str(link)) == paths.project_key(real) == paths.project_key(link)
