"""What a shell completes of `homeport call`: granted names, and nothing that a shell would run."""

from __future__ import annotations

import json

from tests.servers import scripted as server
from tests.support.homeport import Home, scripted

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


def completed(home: Home, line: str) -> list[str]:
    """The words offered at the end of a line that begins with `homeport`."""
    words = line.split(" ")
    extra = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_HOMEPORT_COMPLETE": "bash_complete"}
    home.extra.update(extra)
    try:
        offered = home.run().stdout.splitlines()
    finally:
        for name in extra:
            del home.extra[name]
    return [word.partition(",")[2] for word in offered if word]


def test_granted_names_flags_and_values_are_offered_and_only_plain_ones(home: Home) -> None:
    (home.root / "tools.json").write_text(json.dumps([*server.TOOLS, ODD]))
    home.write(
        f'[project]\nname = "x"\n[servers.alpha]\n{scripted("--tools", str(home.root / "tools.json"))}'
        f'[servers.beta]\n{scripted()}[profiles.default.grants.alpha]\ncan = ["echo", "env", "set_State;rm"]\n'
    )
    home.run("lock", "--yes")
    assert completed(home, "homeport call ") == ["alpha"], "beta has nothing granted"
    assert completed(home, "homeport call alpha ") == ["echo", "env", "set-state-rm"]
    assert completed(home, "homeport call alpha e") == ["echo", "env"]
    assert completed(home, "homeport call beta ") == []
    assert completed(home, "homeport call alpha delete --") == []
    assert completed(home, "homeport call alpha echo --t") == ["--text", "--timeout"]
    assert completed(home, "homeport call alpha echo --text x --t") == ["--timeout"]
    odd = completed(home, "homeport call alpha set-state-rm --")
    assert odd[:4] == ["--arg-dry-run", "--no-arg-dry-run", "--state", "--tags"]
    assert not any("touch" in word for word in odd)
    assert completed(home, "homeport call alpha set-state-rm --tags a --ta") == ["--tags"]
    assert completed(home, "homeport call alpha set-state-rm --state ") == ["open", "closed"]
    assert completed(home, "homeport call alpha set-state-rm --output j") == ["json"]


def test_a_broken_project_offers_nothing_and_says_nothing(home: Home) -> None:
    home.write("not toml [")
    assert completed(home, "homeport call ") == []
