"""What a shell completes of `homeport call`: granted names, and nothing that a shell would run."""

from __future__ import annotations

import json

import pytest
from click.shell_completion import ShellComplete
from tests.servers import scripted as server
from tests.support.homeport import Home, scripted

from homeport.cli.root import homeport_command

ODD = {
    "name": "set_State;rm",
    "description": "Sets\nthe state.",
    "inputSchema": server.schema(
        (),
        **{
            "state": {"enum": ["open", "closed", "$(touch here)", 3]},
            "dry_run": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "`touch`": {"type": "string"},
            "$(touch)": {"type": "string"},
        },
    ),
}


@pytest.fixture
def here(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """This process works in the project of a `home`, as a shell's completion does."""
    monkeypatch.chdir(home.project)
    monkeypatch.setenv("HOMEPORT_HOME", home.environment["HOMEPORT_HOME"])
    return home


def completed(line: str) -> list[str]:
    """The words offered at the end of a line that begins with `homeport`."""
    *words, incomplete = line.split(" ")[1:]
    shell = ShellComplete(homeport_command, {}, "homeport", "_HOMEPORT_COMPLETE")
    return [item.value for item in shell.get_completions(words, incomplete)]


def test_granted_names_flags_and_values_are_offered_and_only_plain_ones(here: Home) -> None:
    (here.root / "tools.json").write_text(json.dumps([*server.TOOLS, ODD]))
    here.write(
        f'[project]\nname = "x"\n[servers.alpha]\n{scripted("--tools", str(here.root / "tools.json"))}'
        f'[servers.beta]\n{scripted()}[profiles.default.grants.alpha]\ncan = ["echo", "env", "set_State;rm"]\n'
    )
    here.run("lock", "--yes")
    assert completed("homeport call ") == ["alpha"], "beta has nothing granted"
    assert completed("homeport call alpha ") == ["echo", "env", "set-state-rm"]
    assert completed("homeport call alpha e") == ["echo", "env"]
    assert completed("homeport call beta ") == []
    assert completed("homeport call alpha delete --") == []
    assert completed("homeport call alpha echo --t") == ["--text", "--timeout"]
    assert completed("homeport call alpha echo --text x --t") == ["--timeout"]
    odd = completed("homeport call alpha set-state-rm --")
    assert odd[:4] == ["--arg-dry-run", "--no-arg-dry-run", "--state", "--tags"]
    assert not any("touch" in word for word in odd)
    assert completed("homeport call alpha set-state-rm --tags a --ta") == ["--tags"]
    assert completed("homeport call alpha set-state-rm --state ") == ["open", "closed"]
    assert completed("homeport call alpha set-state-rm --output j") == ["json"]


def test_a_broken_project_offers_nothing_and_says_nothing(here: Home) -> None:
    here.write("not toml [")
    assert completed("homeport call ") == []


def test_the_command_speaks_the_protocol_of_shells(here: Home) -> None:
    here.write(f'[project]\nname = "x"\n[servers.alpha]\n{scripted()}[profiles.default.grants.alpha]\ncan = ["*"]\n')
    here.run("lock", "--yes")
    here.extra |= {"COMP_WORDS": "homeport call alpha ec", "COMP_CWORD": "3", "_HOMEPORT_COMPLETE": "bash_complete"}
    assert here.run().stdout.split() == ["plain,echo"]
