"""Reading `homeport.toml`: what is meant is understood, what cannot be meant is told with its place, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.ground.errors import InvalidInput, Problem, Unavailable
from homeport.ground.secrets import Template
from homeport.project.model import Command, NodeRuntime, PackageSource, PythonRuntime, Remote
from homeport.project.parse import load, parse

ROOT = Path("/projects/studio")

WHOLE = """\
[project]
name = "studio"

[servers.time]
runtime = { python = "mcp-server-time==2026.10.19" }
args = ["--local-timezone", "Europe/Madrid"]

[servers.files]
runtime = { node = "@scope/files@1.2.3", command = "files-server" }
isolation = "caller"

[servers.local]
command = "./bin/server"
args = ["--fast"]
cwd = "sub"
env.KEY = ["{env:KEY}", "{secret:key}"]
env.PLAIN = "x"
enabled = false

[servers.blender]
package = "org.blender/blender-mcp@=1.4.0"
[servers.blender.app.linux]
presence = "executable"
location = [{ kind = "command", name = "blender" }]
[servers.blender.requires]
app = true

[servers.tracker]
url = "https://mcp.example.com/mcp"
headers = { Authorization = "Bearer {secret:tracker}" }

[profiles.default.grants.time]
can = ["*"]

[registries]
house = "https://packages.example.com/index"
"""


def problems(text: str) -> list[Problem]:
    with pytest.raises(InvalidInput) as caught:
        parse(text.encode(), root=ROOT)
    return list(caught.value.problems())


def test_a_whole_project_is_understood() -> None:
    project = parse(WHOLE.encode(), root=ROOT)
    servers = project.servers

    assert project.name == "studio"
    assert servers["time"].source == PythonRuntime(
        "mcp-server-time==2026.10.19", args=("--local-timezone", "Europe/Madrid")
    )
    assert servers["files"].source == NodeRuntime("@scope/files@1.2.3", "files-server")
    assert servers["files"].isolation == "caller"
    assert servers["local"].source == Command(("./bin/server", "--fast"))
    assert servers["local"].env["KEY"] == (Template("{env:KEY}"), Template("{secret:key}"))
    assert not servers["local"].enabled
    assert servers["blender"].source == PackageSource("org.blender/blender-mcp@=1.4.0")
    assert servers["blender"].declaration is not None
    assert servers["tracker"].source == Remote(
        "https://mcp.example.com/mcp", {"Authorization": (Template("Bearer {secret:tracker}"),)}
    )
    assert project.profiles["default"].grants["time"].can == ("*",)
    assert project.registries == {"house": "https://packages.example.com/index"}
    assert servers["local"].place.line == 12


def test_every_problem_of_a_file_is_told_at_once_in_the_order_of_its_lines() -> None:
    found = problems(
        """\
[project]
name = "x"
[servers.a]
comand = "x"
[servers.b]
command = "b"
enabled = "yes"
env = { K = 3 }
[profiles.default]
aproval = "full"
"""
    )

    assert [(each.place.line, each.place.path) for each in found] == [
        (3, "servers.a"),
        (4, "servers.a.comand"),
        (7, "servers.b.enabled"),
        (8, "servers.b.env.K"),
        (10, "profiles.default.aproval"),
    ]
    assert "'command'" in found[1].message
    assert all(each.place.file == str(ROOT / "homeport.toml") for each in found)


SERVER = '[project]\nname = "x"\n[servers.s]\n'


@pytest.mark.parametrize(
    ("text", "line", "path", "code"),
    [
        ("", 0, "project", "project.missing"),
        ("[project]\n", 1, "project.name", "project.missing"),
        ("[project]\nname = 3\n", 2, "project.name", "project.type"),
        ("[project]\nname = ''\n", 2, "project.name", "project.value"),
        ("[project]\nname = 'x'\n[package]\n", 3, "package", "project.role"),
        ("[package]\n", 1, "package", "project.role"),
        ("[project]\nname = 'x'\nservers = 3\n", 3, "project.servers", "project.unknown_key"),
        ("servers = 3\n[project]\nname = 'x'\n", 1, "servers", "project.type"),
        ("[project]\nname = 'x'\n[servers]\nmcp = { command = 'x' }\n", 4, "servers.mcp", "project.name"),
        ("[project]\nname = 'x'\n[servers.homeport]\ncommand = 'x'\n", 3, "servers.homeport", "project.name"),
        ("[project]\nname = 'x'\n[servers.A]\ncommand = 'x'\n", 3, "servers.A", "project.name"),
        ('[project]\nname = "x"\n[servers."a.b"]\ncommand = "x"\n', 3, 'servers."a.b"', "project.name"),
        (SERVER, 3, "servers.s", "project.source"),
        (SERVER + "command = 'x'\nurl = 'https://x'\n", 5, "servers.s.url", "project.source"),
        (SERVER + "command = ''\n", 4, "servers.s.command", "project.value"),
        (SERVER + "command = 'npx -y thing'\n", 4, "servers.s.command", "project.value"),
        (SERVER + "command = ['npx']\n", 4, "servers.s.command", "project.type"),
        (SERVER + 'command = "a\\u0000b"\n', 4, "servers.s.command", "project.value"),
        (SERVER + "command = 'x'\nargs = 'y'\n", 5, "servers.s.args", "project.type"),
        (SERVER + "command = 'x'\nargs = ['y', 1]\n", 5, "servers.s.args[1]", "project.type"),
        (SERVER + "command = 'x'\nheaders = { a = 'b' }\n", 5, "servers.s.headers", "project.source"),
        (SERVER + "command = 'x'\nisolation = 'none'\n", 5, "servers.s.isolation", "project.value"),
        (SERVER + "command = 'x'\nenv = { K = '{secrt:x}' }\n", 5, "servers.s.env.K", "project.value"),
        (SERVER + "command = 'x'\nenv = { K = '{secret:a b}' }\n", 5, "servers.s.env.K", "project.value"),
        (SERVER + "command = 'x'\nenv = { K = [] }\n", 5, "servers.s.env.K", "project.value"),
        (SERVER + "command = 'x'\nenv = { 'K=' = 'x' }\n", 5, 'servers.s.env."K="', "project.name"),
        (SERVER + "runtime = {}\n", 4, "servers.s.runtime", "project.source"),
        (SERVER + "runtime = { python = 'a==1', node = 'a@1.0.0' }\n", 4, "servers.s.runtime", "project.source"),
        (SERVER + "runtime = { python = 'thing' }\n", 4, "servers.s.runtime.python", "package.not_exact"),
        (SERVER + "runtime = { python = 'thing>=1' }\n", 4, "servers.s.runtime.python", "package.not_exact"),
        (SERVER + "runtime = { node = 'thing' }\n", 4, "servers.s.runtime.node", "package.not_exact"),
        (SERVER + "runtime = { node = 'thing@^1.0.0' }\n", 4, "servers.s.runtime.node", "package.not_exact"),
        (SERVER + "package = 'org.x/y'\n", 4, "servers.s.package", "package.not_exact"),
        (SERVER + "url = 'mcp.example.com'\n", 4, "servers.s.url", "project.value"),
        (SERVER + "url = 'https://'\n", 4, "servers.s.url", "project.value"),
        (SERVER + "url = 'https://x:99999/mcp'\n", 4, "servers.s.url", "project.value"),
        (SERVER + "url = 'https://u:p@x/mcp'\n", 4, "servers.s.url", "project.value"),
        (SERVER + "url = 'https://x/mcp'\ncwd = 'y'\n", 5, "servers.s.cwd", "project.source"),
        (SERVER + "url = 'https://x/mcp'\nheaders = { Host = 'y' }\n", 5, "servers.s.headers.Host", "project.value"),
        (SERVER + "command = 'x'\n[servers.s.app.linux]\nlocation = '/x'\n", 5, "servers.s.app.linux.presence", None),
        (SERVER + "command = 'x'\n[profiles.p.grants.t]\ncan = ['*']\n", 5, "profiles.p.grants.t", None),
    ],
)
def test_what_cannot_be_meant_is_told_with_line_and_key_path(text: str, line: int, path: str, code: str | None) -> None:
    found = problems(text)

    assert [(each.place.line, each.place.path) for each in found] == [(line, path)]
    assert code in {None, found[0].code}


def test_a_password_in_a_url_is_not_repeated() -> None:
    assert "hunter2" not in str(problems(SERVER + "url = 'https://u:hunter2@x/mcp'\n"))


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"[project]\nname = \n", 2),
        (b"[project]\nname = 'x'\nname = 'y'\n", 3),
        (b"a = 1\n\xff\n", 2),
        (b"[" * 3000, 1),
    ],
)
def test_text_that_is_not_toml_is_told_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(data, root=ROOT)

    assert caught.value.place.line == line
    assert caught.value.code in {"project.syntax", "project.encoding"}


def test_json_in_a_value_is_no_reference() -> None:
    text = SERVER + """command = 'x'\nenv = { K = '{"a":1, "secrets":{"b":2}} {x:1}' }\n"""

    assert parse(text.encode(), root=ROOT).servers["s"].env["K"][0].references() == ()


def test_windows_line_ends_are_read() -> None:
    assert parse(WHOLE.replace("\n", "\r\n").encode(), root=ROOT) == parse(WHOLE.encode(), root=ROOT)


def test_a_missing_file_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        load(tmp_path)

    assert (caught.value.code, caught.value.remedy) == ("project.absent", "homeport init")


def test_a_file_is_read_from_its_directory(tmp_path: Path) -> None:
    (tmp_path / "homeport.toml").write_text(WHOLE)

    assert load(tmp_path).root == tmp_path


WORDS = """project name servers s command args url runtime python env app requires linux profiles default grants can
rule registries headers x limits location presence"""
keys = st.sampled_from(WORDS.split())
values = st.recursive(
    st.booleans() | st.integers(-2, 9) | st.sampled_from(["", "x", "a==1", "*", "https://x", "{secret:a}", "\0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=25,
)


@given(st.dictionaries(keys, values, max_size=5))
def test_whatever_is_written_ends_in_a_project_or_in_problems_with_places(document: dict[str, object]) -> None:
    import tomlkit

    text = tomlkit.dumps(document)
    found: list[Problem] = []
    try:
        parse(text.encode(), root=ROOT)
    except InvalidInput as error:
        found += error.problems()
    assert all(each.message and each.code and each.place.file for each in found)
