"""An edit changes the bytes of our entry and no other byte; its inverse restores the file."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homeport.agents import editing
from homeport.agents.catalog import Agent, catalog
from homeport.agents.documents import decode
from homeport.agents.editing import mark, marked, origin, put, restore, take_out
from homeport.agents.editors.json_text import equal
from homeport.agents.editors.source import source
from homeport.agents.shapes import Launch, entry_for
from homeport.ground.errors import InvalidInput

CATALOG = catalog()
CLAUDE, CODEX, GOOSE, OPENCLAW = (CATALOG.get(name) for name in ("claude-code", "codex", "goose", "openclaw"))
VSCODE, CONTINUE, VIBE, AMP = (CATALOG.get(name) for name in ("vscode", "continue", "mistral-vibe", "amp"))
LAUNCH = Launch("homeport", "/usr/bin/homeport", ("connect", "--profile", 'a b"c\\'), {"K": "vé\n"})


def there_and_back(data: bytes | None, agent: Agent, name: str = "homeport") -> bytes:
    """Put our entry in, check it, take it out, compare with what was. Gives the edited bytes."""
    entry = entry_for(agent, LAUNCH)
    was = origin(data, agent)
    edited = put(data, agent, name, entry)
    assert equal(editing.entries(edited, agent)[name], entry)
    assert put(edited, agent, name, entry) == edited
    back = restore(take_out(edited, agent, name), agent, was)
    assert back == data
    return edited


JSON_FILES = {
    "empty-object": "{}",
    "blank": " \n",
    "nothing": "",
    "line-in-it": "{\n}",
    "blank-in-it": "{  }\n",
    "empty-map": '{"mcpServers": {}}',
    "empty-map-pretty": '{\n  "mcpServers": {},\n  "x": 1\n}\n',
    "empty-map-line": '{\n  "mcpServers": {\n  }\n}',
    "comment-in-map": '{\n  "mcpServers": {\n    // none yet\n  }\n}\n',
    "map-absent": '{\n    "theme": "dark"\n}',
    "other-servers": '{\n  "mcpServers": {\n    "a": {"command": "x"}\n  },\n  "z": 1.0\n}\n',
    "tabs": '{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}\n',
    "minified": '{"mcpServers":{"a":{"command":"x"}},"z":1}',
    "minified-spaced": '{"mcpServers": {"a": {"command": "x"}}, "z": 1}',
    "minified-empty": '{"z":[1,2],"mcpServers":{}}',
    "minified-absent": '{"z":1}',
    "numbers": '{"n": 1234567890123456789012345, "f": 1.10, "e": 1E5, "mcpServers": {"a": {}}}',
    "escapes": '{\n  "u": "\\u00e9\\/é",\n  "mcpServers": {"a": {"command": "x"}}\n}\n',
    "crlf": '{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n',
    "name-like-text": '{"x": "mcpServers", "mcpServers": {"a": {"s": "}{"}}}',
}
JSONC_FILES = {
    "line-comment-after-last": '{\n  "mcpServers": {\n    "a": {} // the first\n    // the end\n  }\n}\n',
    "block-comment-after-last": '{\n  "mcpServers": {\n    "a": {} /* one */\n  }\n}\n',
    "trailing-comma": '{\n  "mcpServers": {\n    "a": {}, // note\n  },\n}\n',
    "comments-everywhere": (
        '// top\n{ // open\n  /* k */ "mcpServers" /* c */ : /* v */ {\n'
        '    // before\n    "a": {} // after\n  } // end\n}\n// tail\n'
    ),
    "trailing-inline": '{"mcpServers": {"a": {},}, }',
    "url-in-text": '{\n  "x": "https://h/*not*/", // real\n  "mcpServers": {}\n}\n',
    "bom": '\ufeff{\n  "mcpServers": {}\n}\n',
}


@pytest.mark.parametrize("text", JSON_FILES.values(), ids=JSON_FILES.keys())
def test_json_goes_there_and_back(text: str) -> None:
    there_and_back(text.encode(), CLAUDE)


@pytest.mark.parametrize("text", [*JSON_FILES.values(), *JSONC_FILES.values()], ids=[*JSON_FILES, *JSONC_FILES])
def test_json_with_comments_goes_there_and_back(text: str) -> None:
    there_and_back(text.encode(), VSCODE)
    there_and_back(text.replace("mcpServers", "servers").encode(), VSCODE)


@pytest.mark.parametrize("key", ["amp.mcpServers"])
def test_a_key_with_a_dot_is_one_key(key: str) -> None:
    edited = there_and_back(b'{\n  "amp.url": "x",\n  "amp": {"mcpServers": {}}\n}\n', AMP)
    assert json.loads(edited)[key]["homeport"]


@pytest.mark.parametrize(
    "text",
    [
        "{mcp: {servers: {a: {command: 'x'}}}}",
        "{\n  // note\n  mcp: {\n    servers: {\n      'a': {command: 'it\\'s',},\n    },\n  },\n}\n",
        "{gateway: {port: 0x1F, ratio: +.5}}",
        "{}",
    ],
)
def test_json5_goes_there_and_back(text: str) -> None:
    there_and_back(text.encode(), OPENCLAW)


def test_the_entry_looks_like_the_file() -> None:
    edited = put(b'{\n\t"mcpServers": {\n\t\t"a": {} // x\n\t}\n}\n', VSCODE, "b", {"command": "y"})
    assert b'"a": {} // x\n\t}' in edited
    data = b'{\n    "mcpServers": {\n        "a": {}\n    }\n}\n'
    assert put(data, CLAUDE, "b", {"command": "y", "args": ["1"]}) == (
        b'{\n    "mcpServers": {\n        "a": {},\n        "b": {\n            "command": "y",\n'
        b'            "args": [\n                "1"\n            ]\n        }\n    }\n}\n'
    )


TOML_FILES = {
    "nothing": "",
    "blank": "\n",
    "spaces": "  ",
    "one-key": 'model = "x"\n',
    "no-final-newline": 'model = "x"',
    "two-blank-lines": 'model = "x"\n\n\n',
    "comment-at-end": "a = 1\n# the end",
    "other-servers": (
        '[mcp_servers.a]\ncommand = "x" # note\n\n[mcp_servers.a.env]\nK = "v"\n\n[tui]\nd = 1979-05-27T07:32:00Z\n'
    ),
    "quoted": '[mcp_servers."a.b"]\ncommand = "x"\n',
    "T43": '[mcp_servers."homeport.env"]\ncommand = "x"\n',
    "inline": 'mcp_servers = { a = { command = "x" } }\n',
    "inline-empty": "mcp_servers = {}\nz = 1\n",
    "inline-blank": "mcp_servers = { }\n",
    "dotted": 'mcp_servers.a.command = "x"\n',
    "explicit-parent": '[mcp_servers]\n\n[mcp_servers.a]\ncommand = "x"\n',
    "strings": 'a = """\n[mcp_servers.homeport]\n"""\nb = \'\'\'\n# no\n\'\'\'\nc = "\\"#"\n',
    "arrays": "a = [\n  1, # one\n  [2, 3],\n]\n[[x]]\ny = 1\n[[x]]\ny = 2\n",
    "crlf": "a = 1\r\n\r\n[b]\r\nc = 2\r\n",
    "crlf-no-final": "a = 1\r\n[b]\r\nc = 2",
    "numbers": "a = 1_000\nb = 0xDEAD\nc = 1e6\nd = inf\n",
}


@pytest.mark.parametrize("text", TOML_FILES.values(), ids=TOML_FILES.keys())
def test_toml_goes_there_and_back(text: str) -> None:
    there_and_back(text.encode(), CODEX)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mcp_servers = []\n",
        'mcp_servers = [ { name = "a", transport = "stdio", command = "x" } ]\n',
        'mcp_servers = [\n  { name = "a" },\n]\nz = 1\n',
        '[[mcp_servers]]\nname = "a"\n[mcp_servers.auth]\ntype = "static"\n\n[tools]\nx = 1\n',
        "[tools]\nx = 1",
    ],
)
def test_toml_arrays_go_there_and_back(text: str) -> None:
    there_and_back(text.encode(), VIBE)


def test_a_new_table_follows_one_blank_line() -> None:
    assert put(b"a = 1\n", CODEX, "x", {"command": "c", "env": {"A B": "v"}}) == (
        b'a = 1\n\n[mcp_servers.x]\ncommand = "c"\nenv = { "A B" = "v" }\n'
    )


def test_subtables_of_an_entry_go_with_it() -> None:
    text = b'[mcp_servers.a]\ncommand = "x"\n\n[other]\ny = 1\n\n[mcp_servers.a.env]\nK = "v"\n\n[z]\n'
    assert take_out(text, CODEX, "a") == b"[other]\ny = 1\n\n[z]\n"


YAML_FILES = {
    "nothing": "",
    "only-a-comment": "# goose\n",
    "one-key": "GOOSE_MODEL: x\n",
    "no-final-newline": "GOOSE_MODEL: x",
    "null": "extensions:\nz: 1\n",
    "null-comment": "extensions: # none\nz: 1\n",
    "null-tilde-free": "z: 1\nextensions:",
    "flow-empty": "extensions: {}\nz: 1.10\n",
    "flow-blank": "extensions: { }\n",
    "flow": 'extensions: {a: {cmd: x, args: ["1"]}} # note\nz: on\n',
    "block": "extensions:\n  a: # first\n    cmd: x\n    args: []\n\n# about z\nz: 'q'\n",
    "four": "extensions:\n    a:\n        cmd: x\n",
    "literal": "extensions:\n  a:\n    cmd: x\n    description: |\n      text\n      more\n\nz: 1\n",
    "literal-last": "z: 1\nextensions:\n  a:\n    description: |+\n      text\n\n",
    "folded-no-newline": "extensions:\n  a:\n    d: >-\n      text",
    "anchors": "base: &b {timeout: 1}\nextensions:\n  a:\n    <<: *b\n    cmd: x\n",
    "end-marker": "---\nextensions:\n  a:\n    cmd: x\n...\n",
    "crlf": "a: 1\r\nextensions:\r\n  b:\r\n    cmd: x\r\n",
    "json": '{"extensions": {"a": {"cmd": "x"}}}',
    "multiline-plain": "extensions:\n  a:\n    description: one\n      two\nz: 1\n",
    "block-list-inside": "extensions:\n  a:\n    args:\n    - x\n    - y\n    envs: {}\n",
}


@pytest.mark.parametrize("text", YAML_FILES.values(), ids=YAML_FILES.keys())
def test_yaml_goes_there_and_back(text: str) -> None:
    there_and_back(text.encode(), GOOSE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name: x\n",
        "mcpServers:\n  - name: a\n    command: x # note\nz: 1\n",
        "mcpServers:\n- name: a\n  command: x\n",
        "mcpServers: []\n",
        "mcpServers:\n",
        "mcpServers: [{name: a}]\n",
    ],
)
def test_yaml_lists_go_there_and_back(text: str) -> None:
    there_and_back(text.encode(), CONTINUE)


@pytest.mark.parametrize(
    ("agent", "data", "code"),
    [
        pytest.param(CLAUDE, b"[]", "config.shape", id="A-21"),
        pytest.param(CLAUDE, b'{"mcpServers": []}', "config.shape", id="A-22"),
        pytest.param(CLAUDE, b'{"a": 1, "a": 2}', "config.duplicate_key", id="A-30"),
        pytest.param(CLAUDE, b'{"a": {"mcpServers": {}', "config.syntax", id="A-31"),
        pytest.param(CLAUDE, b"{\n<<<<<<< a\n}", "config.merge_markers", id="merge"),
        pytest.param(CODEX, "[a]\nx = “y”\n".encode(), "config.syntax", id="T44"),
        pytest.param(
            CODEX, b'[mcp_servers.x]\ncommand="a"\n[mcp_servers."x"]\ncommand="b"\n', "config.syntax", id="T41"
        ),
        pytest.param(CODEX, b"mcp_servers = 1\n", "config.shape", id="toml-shape"),
        pytest.param(GOOSE, b"extensions: [1]\n", "config.shape", id="yaml-shape"),
        pytest.param(GOOSE, b"a: {\n", "config.syntax", id="yaml-syntax"),
        pytest.param(GOOSE, b"a: 1\na: 2\n", "config.duplicate_key", id="yaml-duplicate"),
        pytest.param(GOOSE, b"x: &e {a: {}}\nextensions: *e\n", "config.alias", id="yaml-alias"),
        pytest.param(GOOSE, b"a: 1\n---\nb: 2\n", "config.syntax", id="yaml-two-documents"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_a_place(agent: Agent, data: bytes, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        put(data, agent, "homeport", {"command": "x"}, file="/c")
    assert refused.value.code == code
    assert refused.value.place.file == "/c"
    assert refused.value.remedy


def test_an_update_keeps_what_others_added() -> None:
    text = b'{\n  "mcpServers": {\n    "a": {\n      "command": "old", // mine\n      "timeout": 9.50\n    }\n  }\n}\n'
    entry = {"command": "new", "timeout": decode(source(b"9.50"), "json")}
    assert put(text, replace(VSCODE, key_path=("mcpServers",)), "a", entry) == text.replace(b"old", b"new")


@pytest.mark.parametrize(
    ("agent", "before", "after"),
    [
        (
            CODEX,
            b'[mcp_servers.a]\ncommand = "old" # mine\ncwd = "/x"\n\n[z]\n',
            b'[mcp_servers.a]\ncommand = "new" # mine\ncwd = "/x"\n\n[z]\n',
        ),
        (
            GOOSE,
            b"extensions:\n  a:\n    command: old # mine\n    cwd: /x\nz: 1\n",
            b'extensions:\n  a:\n    command: "new" # mine\n    cwd: /x\nz: 1\n',
        ),
    ],
)
def test_an_update_changes_one_value_in_place(agent: Agent, before: bytes, after: bytes) -> None:
    assert put(before, agent, "a", {"command": "new", "cwd": "/x"}) == after


SIDECAR_FILES = [
    pytest.param(CLAUDE, b'{\n  "mcpServers": {}\n}\n', id="json"),
    pytest.param(CODEX, b'model = "x"\n', id="toml"),
    pytest.param(GOOSE, b"extensions: {}\n", id="yaml"),
]


@pytest.mark.parametrize(("agent", "data"), SIDECAR_FILES)
def test_a_sidecar_comes_and_goes(agent: Agent, data: bytes) -> None:
    once = mark(data, agent, ["b", "a", "b"])
    assert marked(once, agent) == ("a", "b")
    assert mark(once, agent, ["a", "b"]) == once
    assert marked(mark(once, agent, ["c"]), agent) == ("c",)
    assert mark(once, agent, []) == data


def test_other_members_of_a_sidecar_are_kept() -> None:
    data = b'{"homeport": {"managed": ["a", 7], "note": "x"}}'
    assert marked(data, CLAUDE) == ("a",)
    assert json.loads(mark(data, CLAUDE, [])) == {"homeport": {"note": "x"}}


@pytest.mark.parametrize("data", [b'{"homeport": "x"}', b'{"homeport": []}'])
def test_a_sidecar_of_another_shape_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="holds no object"):
        mark(data, CLAUDE, ["a"])


# --- properties --------------------------------------------------------------------------------------------------

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,12}", fullmatch=True)
TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
ENTRIES = st.fixed_dictionaries(
    {"command": TEXTS, "args": st.lists(TEXTS, max_size=3), "env": st.dictionaries(TEXTS, TEXTS, max_size=2)}
)
LAYOUTS = st.sampled_from(
    [(None, (",", ":")), (None, (", ", ": ")), ("  ", (",", ": ")), ("\t", (",", ": ")), ("    ", (",", ": "))]
)


@st.composite
def json_documents(draw: st.DrawFn, key: str = "servers", *, comments: bool) -> bytes:
    """A document in some layout, with comments, trailing commas, line ends and a byte order mark sprinkled in."""
    root = draw(st.dictionaries(TEXTS, VALUES, max_size=3))
    if draw(st.booleans()):
        root[key] = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    indent, separators = draw(LAYOUTS)
    text = json.dumps(root, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    if comments and indent:
        lines = text.split("\n")
        for at in range(len(lines)):
            kind = draw(st.integers(0, 5))
            if kind == 1:
                lines[at] += ' // it\'s {a} "note",'
            elif kind == 2:
                lines[at] += " /* ] */"
            elif kind == 3:
                lines[at] = f"// before\n{lines[at]}"
        text = "\n".join(lines)
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()


def check(data: bytes, agent: Agent, name: str, entry: dict[str, object]) -> None:
    was = origin(data, agent)
    if name in editing.entries(data, agent):
        return
    edited = put(data, agent, name, entry)
    assert equal(editing.entries(edited, agent)[name], entry)
    assert len(edited) > len(data)
    assert restore(take_out(edited, agent, name), agent, was) == data
    second = put(edited, agent, name + "-2", entry)
    assert restore(take_out(take_out(second, agent, name), agent, name + "-2"), agent, was) == data
    assert take_out(second, agent, name + "-2") == edited


@settings(max_examples=150, deadline=None)
@given(json_documents(comments=True), NAMES, ENTRIES)
def test_any_json_document_goes_there_and_back(data: bytes, name: str, entry: dict[str, object]) -> None:
    check(data, VSCODE, name, entry)


TOML_LINES = st.sampled_from(
    [
        "a = 1",
        'b = "x" # [t]',
        "",
        "# [mcp_servers.q]",
        "c = [1, # one\n 2]",
        "d = '''\n[x]\n'''",
        "e = {f = 1}",
        "g.h = 1_0",
    ]
)
TOML_TABLES = st.sampled_from(
    [
        '[mcp_servers.one]\ncommand = "x"',
        '[mcp_servers."t.o"]\ncommand = "x"\n[mcp_servers."t.o".env]\nK = "v"',
        "[tui]\nx = 1",
        "[[r]]\ny = 1",
        "[mcp_servers]",
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(TOML_LINES, max_size=4, unique=True),
    st.lists(TOML_TABLES, max_size=3, unique=True),
    st.sampled_from(["", "\n", "\n\n"]),
    st.booleans(),
    NAMES,
    ENTRIES,
)
def test_any_toml_document_goes_there_and_back(
    lines: list[str], tables: list[str], end: str, crlf: bool, name: str, entry: dict[str, object]
) -> None:
    text = "\n".join([*lines, *tables]) + end
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    check((text.replace("\n", "\r\n") if crlf else text).encode(), CODEX, name, entry)


YAML_PARTS = st.sampled_from(
    [
        "a: 1.10",
        "b: on # it's",
        "# note",
        "",
        "c:\n  - x\n  - y",
        "d: |\n  text\n\n  more",
        "e: {f: [1, 2]}",
        "g: 'q''s'",
        "h: >-\n  folded\n  text",
        "i:",
    ]
)
YAML_SERVERS = st.sampled_from(
    [
        "",
        "extensions: {}",
        "extensions:",
        "extensions:\n  x:\n    cmd: y",
        "extensions:\n    x: {cmd: y}\n    # z\n    z:\n        cmd: q # q",
        "extensions: {x: {cmd: y}}",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(YAML_PARTS, max_size=4, unique=True),
    YAML_SERVERS,
    st.lists(YAML_PARTS, max_size=1),
    st.sampled_from(["", "\n", "\n\n"]),
    st.booleans(),
    NAMES,
    ENTRIES,
)
def test_any_yaml_document_goes_there_and_back(
    head: list[str], servers: str, tail: list[str], end: str, crlf: bool, name: str, entry: dict[str, object]
) -> None:
    parts = [*head, servers, *[part for part in tail if part not in head]]
    text = "\n".join(parts) + end
    check((text.replace("\n", "\r\n") if crlf else text).encode(), GOOSE, name, entry)
