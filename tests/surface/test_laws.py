"""The laws of surface.md section 14 as properties (8, 9, 11 and 12 stand in test_lock and test_policy_parse)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.surface.fixtures import ALL, granted, properties, rule, surface, tool, view
from tests.surface.generators import NAMES, SAMPLES, Sample, roots, scalars

from homeport.ground import exact
from homeport.surface.binding import Sources, bind
from homeport.surface.flags import Flag, form
from homeport.surface.lock import dump, parse
from homeport.surface.naming import Named, commands
from homeport.surface.schemas import decode, encode

NOTHING = Sources(lambda path: path, str)


def flag_text(flag: Flag, value: Any) -> str | None:
    """What follows `--flag=` for a scalar; None where only JSON can say it."""
    if value is None or isinstance(value, (list, dict)):
        return None
    if isinstance(value, str):
        if value == "-" or flag.shape.json == "any" or flag.shape.choices or len(flag.shape.types) > 1:
            return None
        return "@" + value if value.startswith("@") else value
    return exact.dumps(value)


def rendered(schema: Any, arguments: Mapping[str, Any]) -> list[str]:
    """A command line for arguments: plain flags where they can say it, `--flag:json` where not."""
    found = {flag.name: flag for flag in form(schema).flags}
    tokens: list[str] = []
    for name, value in arguments.items():
        flag = found[name]
        text = flag_text(flag, value)
        forced = flag.shape.listed or text is None or (flag.switch and text not in {"true", "false"})
        tokens.append(f"{flag.spelling}:json={exact.dumps(value)}" if forced else f"{flag.spelling}={text}")
    return tokens


@given(roots())
def test_law_1_what_is_served_is_what_was_locked(sample: Sample) -> None:
    locked = tool("t", sample.schema)
    found = parse(dump(surface(locked)))
    assume("t" in found.tools)
    served = granted(view(ALL, tracker=found), "t")
    assert served.definition_bytes == exact.dumps(locked).encode()


@given(roots())
def test_law_2_flags_say_what_the_arguments_are(sample: Sample) -> None:
    assume(all(name in {flag.name for flag in form(sample.schema).flags} for name in sample.value))
    bound = bind(form(sample.schema), rendered(sample.schema, sample.value), NOTHING)
    constants = {
        flag.name for flag in form(sample.schema).flags if flag.shape.constant and flag.required
    }  # filled in, and valid
    assert {k: v for k, v in _dict(bound.arguments).items() if k in sample.value or k not in constants} == _dict(
        exact.dumps(sample.value).encode()
    )


@given(roots())
def test_law_3_all_valid_arguments_are_reached_as_json_and_go_through(sample: Sample) -> None:
    text = exact.dumps(sample.value)
    bound = bind(form(sample.schema), ["--args", text], NOTHING)
    given_names = set(sample.value)
    assert {k: v for k, v in _dict(bound.arguments).items() if k in given_names} == _dict(text.encode())
    found = surface(tool("t", sample.schema))
    assume("t" in found.tools)
    sent, refused = granted(view(ALL, tracker=found), "t").check(text.encode())
    assert refused is None
    assert decode(sent) == _dict(text.encode())


@given(roots(), st.sampled_from(["missing", "unknown", "type"]))
def test_law_4_what_the_schema_rejects_is_refused_on_both_paths(sample: Sample, how: str) -> None:
    schema, arguments = {**sample.schema}, dict(sample.value)
    schema.pop("patternProperties", None)
    if how == "missing":
        schema["required"] = [*schema.get("required", []), "never given"]
    elif how == "unknown":
        arguments["never known"] = 1
    else:
        schema["properties"] = {**schema["properties"], "typed": {"type": "integer"}}
        arguments["typed"] = "text"
    found = surface(tool("t", schema))
    assume("t" in found.tools)
    entry = granted(view(ALL, tracker=found), "t")
    text = exact.dumps(arguments)
    _, served = entry.check(text.encode())
    _, typed = entry.check(bind(form(schema), ["--args", text], NOTHING).arguments)
    assert served is not None
    assert typed is not None
    # Law 5: a required constant is filled in on a command line, so more may be missing on the other path.
    assert (served.reason.rule, served.details.get("keyword")) == (typed.reason.rule, typed.details.get("keyword"))


PATTERNS = st.sampled_from(["^a", "b$", "^ab$", ".", "c"])
VALUES = st.text("abc", max_size=3)


@given(st.lists(PATTERNS, min_size=1, max_size=3), st.lists(PATTERNS, max_size=2), PATTERNS, VALUES | st.none())
def test_law_6_a_further_deny_or_a_missing_allow_never_permits(
    allow: list[str], deny: list[str], more: str, value: str | None
) -> None:
    def permitted(allowed: list[str], denied: list[str]) -> bool:
        lines = f"allow = {{ v = {allowed!r} }}\n" + (f"deny = {{ v = {denied!r} }}\n" if denied else "")
        found = view(rule(lines.replace("'", '"'), "t"), tool("t", properties(v={"type": "string"})))
        arguments = b"{}" if value is None else encode({"v": value})
        return granted(found, "t").check(arguments)[1] is None

    before = permitted(allow, deny)
    assert not (permitted(allow, [*deny, more]) and not before)
    assert len(allow) == 1 or not (permitted(allow[1:], deny) and not before)


@given(st.sets(st.sampled_from(["alpha", "beta", "gamma", "delta"]), min_size=1))
def test_law_7_nothing_says_the_name_of_what_is_not_granted(can: set[str]) -> None:
    every = [tool(name, properties()) for name in ("alpha", "beta", "gamma", "delta")]
    names = ", ".join(f'"{name}"' for name in sorted(can))
    found = view(f"[default.grants.tracker]\ncan = [{names}]", *every)
    told = b"".join(entry.definition_bytes for entry in found.tools()) + repr(found.tools()).encode()
    for name in {"alpha", "beta", "gamma", "delta"} - can:
        assert name.encode() not in told


@given(st.sets(NAMES | st.text(max_size=5), max_size=8))
def test_law_13_every_property_has_its_own_flag_and_keeps_its_key(names: set[str]) -> None:
    found = form(properties(**{name: {"type": "string"} for name in names}))
    spellings = [flag.spelling for flag in found.flags]
    assert len(set(spellings)) == len(spellings)
    assert {flag.name for flag in found.flags} | set(found.json_only) == names
    for flag in found.flags:
        bound = bind(found, [f"{flag.spelling}=v"], NOTHING)
        assert _dict(bound.arguments) == {flag.name: "v"}


@given(st.lists(st.builds(Named, NAMES, explicit=st.booleans()), unique_by=lambda named: named.name, max_size=8))
def test_law_13_every_tool_has_its_own_command(tools: list[Named]) -> None:
    found = commands(tools)
    clashing = {name for _, names in found.clashes for name in names}
    own = [command for name, command in found.commands.items() if name not in clashing]
    assert len(set(own)) == len(own)
    assert set(found.commands) == {named.name for named in tools}


@given(SAMPLES | scalars())
def test_a_value_survives_decoding_and_encoding(sample: Sample) -> None:
    data = exact.dumps(sample.value).encode()
    assert exact.canonical(exact.loads(encode(decode(data)))) == exact.canonical(sample.value)


def _dict(data: bytes) -> dict[str, Any]:
    value = decode(data)
    assert isinstance(value, dict)
    return dict(value)
