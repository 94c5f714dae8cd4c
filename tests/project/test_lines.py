"""Places of keys, for every way in which TOML lets a key be written."""

from __future__ import annotations

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from homeport.project.lines import headers, locate

DOCUMENT = '''\
# a comment with [brackets] and "quotes
top = 1
[servers.time]          # line 3
args = [ "a",
  # not this one ]
  "b#]", { x = 1, "y.z" = [2,
    3] } ]
text = """
[not.a.header]
"""
'quoted key'.inner = 'C:\\no\\escape'
[[rule]]
tool = "x"
[[rule]]
tool = "y"
[rule.limits]
n = 1979-05-27T07:32:00Z
'''


def test_every_way_of_writing_a_key_is_found() -> None:
    lines = locate(DOCUMENT)

    assert lines["top",] == 2
    assert lines["servers", "time"] == 3
    assert lines["servers", "time", "args", 0] == 4
    assert lines["servers", "time", "args", 1] == 6
    assert lines["servers", "time", "args", 2, "y.z"] == 6
    assert lines["servers", "time", "args", 2, "y.z", 1] == 7
    assert lines["servers", "time", "text"] == 8
    assert lines["servers", "time", "quoted key", "inner"] == 11
    assert lines["rule", 0, "tool"] == 13
    assert lines["rule", 1, "tool"] == 15
    assert lines["rule", 1, "limits", "n"] == 17


def test_headers_are_told_in_order_with_their_offsets() -> None:
    found = headers(DOCUMENT)

    assert [path for path, _ in found] == [("servers", "time"), ("rule", 0), ("rule", 1), ("rule", 1, "limits")]
    assert all(DOCUMENT[offset] == "[" for _, offset in found)


keys = st.text(min_size=1, max_size=6)
values = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


def paths(value: object, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: list[tuple[str | int, ...]] = []
    for key, member in items:
        found += [(*above, key), *paths(member, (*above, key))]
    return found


@given(st.dictionaries(keys, values, max_size=4))
def test_whatever_tomlkit_writes_each_key_has_a_line_that_holds_it(document: dict[str, object]) -> None:
    text = tomlkit.dumps(document)
    lines = locate(text)

    assert set(paths(document)) <= set(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())
