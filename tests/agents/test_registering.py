"""Registering into agents' files, and taking everything back."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from homeport.agents import ledger
from homeport.agents.catalog import Where, catalog
from homeport.agents.plan import FilePlan, Target, difference
from homeport.agents.registering import Applied, Registrar, apply, plan_all, undo
from homeport.agents.rendering import ServerLaunch
from homeport.agents.replace import Disk
from homeport.agents.targets import Selection, Wish, select
from homeport.ground.errors import Conflict, HomeportError, InvalidInput
from homeport.ground.secrets import Template

CATALOG = catalog()


class Bench:
    """A home, a project and a state directory of one test."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.registrar = Registrar(root / "state", now=lambda: 1_790_000_000.0)

    def select(
        self, *agents: str, scope: Literal["user", "project"] = "user", wish: Wish | None = None, **options: Any
    ) -> Selection:
        where = Where({}, "linux", self.home)
        wanted = wish or Wish(executable=Path("/opt/homeport"), **options)
        chosen = [CATALOG.get(agent) for agent in agents]
        return select(
            chosen,
            scope,
            where,
            self.project,
            wanted,
            exists=lambda path: path.exists(),
            real=lambda path: path.resolve(),
        )

    def plans(self, *agents: str, **options: Any) -> tuple[FilePlan, ...]:
        return plan_all(self.select(*agents, **options).targets, self.registrar)

    def register(self, *agents: str, **options: Any) -> tuple[Applied, ...]:
        done = apply(self.plans(*agents, **options), self.registrar)
        assert not [one.error for one in done if one.error]
        return done

    def unregister(self, *agents: str, **options: Any) -> tuple[Applied, ...]:
        return self.register(*agents, remove=True, **options)

    def write(self, path: Path, content: object) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=2).encode())
        return path

    @property
    def claude(self) -> Path:
        return self.home / ".claude.json"

    @property
    def shared(self) -> Path:
        return self.project / ".mcp.json"


def case(numbers: str) -> pytest.MarkDecorator:
    """The numbers of the cases that a test shows, in its id."""
    return pytest.mark.parametrize((), [pytest.param(id=numbers)])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def states(plans: tuple[FilePlan, ...]) -> list[tuple[str, str, str]]:
    return [(row.name, row.action, row.state) for plan in plans for row in plan.rows]


DIRECT = Wish(
    via="direct",
    servers=(
        ServerLaunch("echo", ("/opt/echo", "--root", "/p"), {"K": (Template("{env:K}"),)}, cwd="/p"),
        ServerLaunch("web", url="https://h/mcp", headers={"Authorization": (Template("Bearer {env:T}"),)}),
    ),
)


def test_one_entry_goes_into_the_user_file_and_comes_out_again(bench: Bench) -> None:
    original = b'{\n  "numStartups": 3,\n  "mcpServers": {}\n}\n'
    bench.write(bench.claude, original)
    bench.claude.chmod(0o600)
    bench.register("claude-code")
    assert json.loads(bench.claude.read_bytes())["mcpServers"] == {
        "homeport": {
            "type": "stdio",
            "command": "/opt/homeport",
            "args": ["connect", "--profile", "default", "--project", str(bench.project)],
        }
    }
    bench.unregister("claude-code")
    assert bench.claude.read_bytes() == original
    assert ledger.load(bench.registrar.ledger_file) == ledger.Ledger()


def test_a_project_file_names_no_machine(bench: Bench) -> None:
    bench.register("claude-code", scope="project")
    text = bench.shared.read_text()
    assert str(bench.project) not in text
    assert json.loads(text)["mcpServers"]["homeport"]["command"] == "homeport"
    assert bench.shared.stat().st_mode & 0o777 == 0o644


def test_a_file_that_was_not_there_goes_again(bench: Bench) -> None:
    bench.register("claude-code", scope="project")
    bench.unregister("claude-code", scope="project")
    assert not bench.shared.exists()


@case("A-12")
def test_a_second_run_writes_nothing(bench: Bench) -> None:
    bench.register("claude-code", "codex")
    stamp = bench.claude.stat().st_mtime_ns
    assert bench.register("claude-code", "codex") == ()
    assert bench.claude.stat().st_mtime_ns == stamp
    assert states(bench.plans("claude-code")) == [("homeport", "none", "registered")]


@case("A-45")
def test_planning_touches_nothing(bench: Bench, tmp_path: Path) -> None:
    bench.write(bench.claude, b"{}")
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in tmp_path.rglob("*"))
    assert states(bench.plans("claude-code", "codex", scope="user"))
    assert sorted((str(path), path.lstat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


@case("A-31")
def test_an_unreadable_file_of_one_agent_stops_all(bench: Bench) -> None:
    bench.write(bench.home / ".codex/config.toml", b"[mcp_servers.x\n")
    bench.write(bench.claude, b'{"mcpServers": {')
    with pytest.raises(InvalidInput) as refused:
        bench.plans("claude-code", "codex", "gemini-cli")
    assert {problem.place.file for problem in refused.value.problems()} == {
        str(bench.claude),
        str(bench.home / ".codex/config.toml"),
    }
    assert not (bench.home / ".gemini").exists()


@case("A-09")
def test_an_operator_s_entry_of_the_same_name_is_a_conflict(bench: Bench) -> None:
    original = bench.write(bench.claude, {"mcpServers": {"homeport": {"command": "mine"}}}).read_bytes()
    (plan,) = bench.plans("claude-code")
    assert [(row.state, bool(row.remedy)) for row in plan.conflicts] == [("conflict", True)]
    assert apply((plan,), bench.registrar) == ()
    assert bench.claude.read_bytes() == original


def test_adopting_takes_it_over_and_unregistering_then_removes_it(bench: Bench) -> None:
    bench.write(bench.claude, {"mcpServers": {"homeport": {"command": "mine"}, "other": {"command": "x"}}})
    bench.register("claude-code", adopt=True)
    bench.unregister("claude-code")
    assert json.loads(bench.claude.read_bytes()) == {"mcpServers": {"other": {"command": "x"}}}


@case("A-10")
def test_an_identical_entry_is_left_and_not_claimed(bench: Bench) -> None:
    bench.register("claude-code")
    bench.registrar.ledger_file.unlink()
    assert states(bench.plans("claude-code")) == [("homeport", "none", "operator-owned")]
    bench.unregister("claude-code")
    assert "homeport" in json.loads(bench.claude.read_bytes())["mcpServers"]


@case("A-11")
def test_what_the_user_adds_to_our_entry_stays(bench: Bench) -> None:
    bench.register("claude-code")
    document = json.loads(bench.claude.read_bytes())
    document["mcpServers"]["homeport"]["timeout"] = 9000
    bench.write(bench.claude, document)
    bench.register("claude-code", profile="work")
    entry = json.loads(bench.claude.read_bytes())["mcpServers"]["homeport"]
    assert entry["timeout"] == 9000
    assert "work" in entry["args"]


@case("T19")
def test_what_the_user_changed_in_our_entry_is_reported_and_kept(bench: Bench) -> None:
    bench.register("claude-code")
    bench.write(bench.claude, bench.claude.read_bytes().replace(b"/opt/homeport", b"/mine/homeport"))
    (plan,) = bench.plans("claude-code")
    assert [row.state for row in plan.conflicts] == ["drifted"]
    (removal,) = bench.plans("claude-code", remove=True)
    assert not removal.changes


def test_servers_are_registered_directly_in_each_agent_s_form(bench: Bench) -> None:
    for path in (bench.claude, bench.home / ".codex/config.toml", bench.home / ".config/opencode/opencode.json"):
        bench.write(path, b"")
    bench.register("claude-code", "codex", "opencode", wish=DIRECT)
    claude = json.loads(bench.claude.read_bytes())["mcpServers"]
    assert claude["echo"] == {"type": "stdio", "command": "/opt/echo", "args": ["--root", "/p"], "env": {"K": "${K}"}}
    assert claude["web"] == {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer ${T}"}}
    codex = tomllib.loads((bench.home / ".codex/config.toml").read_text())["mcp_servers"]
    assert codex == {"echo": {"command": "/opt/echo", "args": ["--root", "/p"], "cwd": "/p", "env_vars": ["K"]}}
    opencode = json.loads((bench.home / ".config/opencode/opencode.json").read_bytes())["mcp"]
    assert opencode["echo"]["command"] == ["/opt/echo", "--root", "/p"]
    assert opencode["echo"]["environment"] == {"K": "{env:K}"}


def test_what_an_agent_has_no_form_for_is_told_with_a_remedy(bench: Bench) -> None:
    bench.write(bench.home / ".codex/config.toml", b"")
    unwritten = bench.select("codex", wish=DIRECT).unwritten
    assert [(one.server, one.state) for one in unwritten] == [("web", "unsupported")]
    assert unwritten[0].remedy


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        pytest.param(ServerLaunch("s", ("x",), {"K": (Template("{secret:k}"),)}), "secret", id="T61"),
        pytest.param(ServerLaunch("s", ("x", "${HOME}")), "replace", id="A-39"),
        pytest.param(ServerLaunch("s", ("x",), {"K": (Template("a"), Template("b"))}), "alternatives", id="chain"),
    ],
)
def test_no_secret_and_no_text_that_is_expanded_is_written(bench: Bench, server: ServerLaunch, reason: str) -> None:
    selection = bench.select("claude-code", wish=replace(DIRECT, servers=(server,)))
    assert selection.targets == ()
    assert reason in selection.unwritten[0].reason


@case("A-15")
def test_a_server_that_is_declared_no_more_is_pruned(bench: Bench) -> None:
    bench.register("claude-code", wish=DIRECT)
    bench.register("claude-code", wish=replace(DIRECT, servers=DIRECT.servers[1:]))
    assert list(json.loads(bench.claude.read_bytes())["mcpServers"]) == ["web"]


def test_a_server_that_lost_its_trust_is_taken_out(bench: Bench) -> None:
    bench.register("claude-code", wish=DIRECT)
    blocked = replace(DIRECT, blocked={"echo": "its launch is not trusted"})
    (plan,) = bench.plans("claude-code", wish=blocked)
    assert ("echo", "remove", "blocked") in states((plan,))
    apply((plan,), bench.registrar)
    assert list(json.loads(bench.claude.read_bytes())["mcpServers"]) == ["web"]


def test_another_project_s_entries_are_not_ours_to_prune(bench: Bench, tmp_path: Path) -> None:
    bench.register("claude-code", wish=DIRECT)
    other = tmp_path / "other"
    other.mkdir()
    bench.project = other
    bench.register("claude-code", wish=replace(DIRECT, servers=()), remove=False)
    assert list(json.loads(bench.claude.read_bytes())["mcpServers"]) == ["echo", "web"]


@case("T59")
def test_one_file_read_by_several_agents_is_written_once_and_counted(bench: Bench) -> None:
    (target,) = bench.select("claude-code", "copilot-cli", "qoder-cli", scope="project").targets
    assert target.names == ("claude-code", "copilot-cli", "qoder-cli")
    bench.register("claude-code", "copilot-cli", scope="project")
    bench.unregister("copilot-cli", scope="project")
    assert "homeport" in json.loads(bench.shared.read_bytes())["mcpServers"]
    bench.unregister("claude-code", scope="project")
    assert not bench.shared.exists()


@case("T51")
def test_two_keys_in_one_file_live_side_by_side(bench: Bench) -> None:
    original = bench.write(bench.shared, {"servers": {"vs": {"command": "x"}}}).read_bytes()
    bench.register("claude-code", scope="project")
    document = json.loads(bench.shared.read_bytes())
    assert document["servers"] == {"vs": {"command": "x"}}
    assert list(document["mcpServers"]) == ["homeport"]
    bench.unregister("claude-code", scope="project")
    assert bench.shared.read_bytes() == original


@case("A-01")
def test_a_committed_file_says_what_is_managed_where_all_its_readers_tolerate_it(bench: Bench) -> None:
    bench.register("claude-code", scope="project")
    assert json.loads(bench.shared.read_bytes())["homeport"] == {"managed": ["homeport"]}
    bench.unregister("claude-code", scope="project")
    bench.write(bench.project / ".vscode/mcp.json", b"{}")
    bench.register("vscode", scope="project")
    assert "homeport" not in json.loads((bench.project / ".vscode/mcp.json").read_bytes())


def test_a_user_file_carries_no_sidecar(bench: Bench) -> None:
    bench.register("claude-code")
    assert set(json.loads(bench.claude.read_bytes())) == {"mcpServers"}


@case("U-10")
def test_a_sidecar_with_names_of_a_colleague_is_kept(bench: Bench) -> None:
    entry = {"command": "operator's"}
    original = {"mcpServers": {"theirs": entry}, "homeport": {"managed": ["theirs"], "note": 1}}
    path = bench.write(bench.shared, original)
    bench.register("claude-code", scope="project")
    assert json.loads(path.read_bytes())["homeport"] == {"managed": ["homeport", "theirs"], "note": 1}
    bench.unregister("claude-code", scope="project")
    assert json.loads(path.read_bytes()) == original


@case("A-19")
def test_our_key_with_another_shape_is_refused_before_any_write(bench: Bench) -> None:
    path = bench.write(bench.shared, b'{"homeport": "mine"}')
    with pytest.raises(InvalidInput):
        bench.plans("claude-code", scope="project")
    assert path.read_bytes() == b'{"homeport": "mine"}'


@case("A-43, T28")
@pytest.mark.parametrize("form", ["jsonc", "json"])
def test_the_spelling_that_exists_is_edited(bench: Bench, form: str) -> None:
    path = bench.write(bench.project / f"opencode.{form}", b"{} // mine\n")
    (target,) = bench.select("opencode", scope="project").targets
    assert target.path == path


def test_two_spellings_of_one_file_are_a_conflict(bench: Bench) -> None:
    for form in ("json", "jsonc"):
        bench.write(bench.project / f"opencode.{form}", b"{}")
    with pytest.raises(Conflict) as refused:
        bench.select("opencode", scope="project")
    assert refused.value.code == "agents.two_files"


def test_agents_little_is_known_of_are_printed_not_written(bench: Bench) -> None:
    selection = bench.select("cursor", "jan", "reasonix", "zcode")
    assert selection.targets == ()
    assert [one.state for one in selection.unwritten] == ["by-hand"] * 4
    assert json.loads(selection.unwritten[0].paste)["mcpServers"]["homeport"]["command"] == "/opt/homeport"
    assert tomllib.loads(selection.unwritten[2].paste)["plugins"][0]["name"] == "homeport"
    bench.write(bench.home / ".cursor/mcp.json", b"{}")
    assert len(bench.select("cursor").targets) == 1


@case("T57")
def test_no_directory_is_made_for_an_agent_that_is_not_written(bench: Bench) -> None:
    bench.select("cursor", "windsurf", "kiro")
    assert list(bench.home.iterdir()) == []


@case("T21")
def test_a_byte_order_mark_that_the_agent_cannot_read_is_refused(bench: Bench) -> None:
    path = bench.write(bench.home / ".gemini/settings.json", b"\xef\xbb\xbf{}")
    with pytest.raises(InvalidInput) as refused:
        bench.plans("gemini-cli")
    assert refused.value.code == "config.bom"
    assert path.read_bytes() == b"\xef\xbb\xbf{}"


def test_undo_restores_the_bytes(bench: Bench) -> None:
    original = bench.write(bench.claude, b'{ "mcpServers" : { "a":{} } , "n":1.0 }').read_bytes()
    bench.register("claude-code", "codex")
    done = undo(CATALOG, bench.registrar)
    assert {one.how for one in done} == {"restored"}
    assert bench.claude.read_bytes() == original
    assert not (bench.home / ".codex/config.toml").exists()
    assert states(bench.plans("claude-code")) == [("homeport", "create", "absent")]
    with pytest.raises(InvalidInput, match="nothing to undo"):
        undo(CATALOG, bench.registrar)


def test_undo_of_a_changed_file_takes_back_only_ours(bench: Bench) -> None:
    bench.write(bench.shared, b'{"x": 1}')
    bench.register("claude-code", scope="project")
    document = json.loads(bench.shared.read_bytes())
    document["y"] = 2
    bench.write(bench.shared, document)
    (done,) = undo(CATALOG, bench.registrar)
    assert done.how == "edited"
    assert json.loads(bench.shared.read_bytes()) == {"x": 1, "y": 2}


def test_undo_keeps_an_entry_that_was_changed_since(bench: Bench) -> None:
    bench.register("claude-code")
    changed = bench.write(bench.claude, bench.claude.read_bytes().replace(b"/opt/homeport", b"/mine"))
    (done,) = undo(CATALOG, bench.registrar)
    assert (done.how, done.kept_names) == ("kept", ("homeport",))
    assert b"/mine" in changed.read_bytes()


def test_undo_of_an_unregister_brings_the_entry_back_as_ours(bench: Bench) -> None:
    bench.write(bench.claude, b"{}")
    bench.register("claude-code")
    registered = bench.claude.read_bytes()
    bench.unregister("claude-code")
    undo(CATALOG, bench.registrar)
    assert bench.claude.read_bytes() == registered
    assert states(bench.plans("claude-code")) == [("homeport", "none", "registered")]


@case("T25")
def test_a_file_rewritten_while_we_register_keeps_both_changes(bench: Bench) -> None:

    class Rewritten(Disk):
        def __init__(self) -> None:
            self.left = 3

        def step(self, name: str) -> None:
            if name == "exchange" and self.left:
                self.left -= 1
                document = json.loads(bench.claude.read_bytes())
                document["count"] = document.get("count", 0) + 1
                bench.write(bench.claude, document)

    bench.write(bench.claude, {"mcpServers": {"a": {"command": "x"}}})
    bench.registrar = replace(bench.registrar, disk=Rewritten())
    bench.register("claude-code")
    document = json.loads(bench.claude.read_bytes())
    assert document["count"] == 3
    assert list(document["mcpServers"]) == ["a", "homeport"]


def test_a_file_that_never_rests_is_told_and_left(bench: Bench) -> None:
    class Restless(Disk):
        def step(self, name: str) -> None:
            if name == "exchange":
                bench.claude.write_bytes(bench.claude.read_bytes() + b" ")

    bench.write(bench.claude, b"{}")
    registrar = replace(bench.registrar, disk=Restless())
    (done,) = apply(plan_all(bench.select("claude-code").targets, registrar), registrar)
    assert done.error
    assert done.error.code == "config.busy"
    assert json.loads(bench.claude.read_bytes()) == {}
    assert ledger.load(registrar.ledger_file) == ledger.Ledger()


@case("A-32")
def test_a_read_only_file_is_told_and_the_others_are_done(bench: Bench) -> None:
    bench.write(bench.claude, b"{}").chmod(0o444)
    done = apply(bench.plans("claude-code", "codex"), bench.registrar)
    assert [(one.plan.target.agent.id, one.done) for one in done] == [("claude-code", False), ("codex", True)]
    assert isinstance(done[0].error, HomeportError)


@case("T62")
def test_the_diff_shows_the_change_and_hides_every_secret(bench: Bench) -> None:
    entry = {"command": "x", "args": ["--token", "sk-abcdefghijklmnop1234"], "env": {"PASS": "hunter2hunter2"}}
    bench.write(bench.claude, {"mcpServers": {"a": entry}, "oauthToken": "topsecretvalue"})
    (plan,) = bench.plans("claude-code")
    shown = difference(plan)
    assert '+      "command": "/opt/homeport",' in shown
    for secret in ("hunter2", "sk-abc", "topsecret"):
        assert secret not in shown


def test_a_damaged_or_newer_ledger_is_refused(bench: Bench) -> None:
    bench.registrar.state.mkdir()
    for text, code in (("{", "ledger.corrupt"), ('{"format": 9}', "ledger.newer"), ("[]", "ledger.corrupt")):
        bench.registrar.ledger_file.write_text(text)
        with pytest.raises(InvalidInput) as refused:
            bench.plans("claude-code")
        assert refused.value.code == code


def test_the_ledger_and_the_kept_versions_are_for_this_user_only(bench: Bench) -> None:
    bench.write(bench.claude, b"{}")
    bench.register("claude-code")
    for path in bench.registrar.state.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0 or path.parent.stat().st_mode & 0o077 == 0


@case("A-36, T54")
@pytest.mark.parametrize("text", ["a b\"c'", "é 漢", "back\\slash", "line\nbreak", "-x", "", "#", "a: b", "[x]"])
@pytest.mark.parametrize("agent", ["claude-code", "codex", "goose", "opencode", "openclaw"])
def test_arguments_of_every_kind_survive(bench: Bench, agent: str, text: str) -> None:
    target: Target = bench.select(agent, wish=replace(DIRECT, servers=(ServerLaunch("s", ("/x", text)),))).targets[0]
    (plan,) = plan_all([target], bench.registrar)
    assert [(row.action) for row in plan.rows] == ["create"]
    apply((plan,), bench.registrar)
    (again,) = plan_all([target], bench.registrar)
    assert states((again,)) == [("s", "none", "registered")]
