"""Secrets hide, templates fill, the scrubber leaves no half of one behind."""

from __future__ import annotations

import base64
import json
import pickle
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homeport.ground.secrets import HIDDEN, Reference, Scrubber, Secret, Template

PLAIN = "s3cr3t/value+with=signs"


def test_a_secret_shows_itself_in_no_text() -> None:
    secret = Secret(PLAIN)
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r}",
        f"{secret}",
        repr([secret]),
        str({"a": secret}),
    ]
    assert not any(PLAIN in text for text in shown)


def test_a_secret_cannot_be_pickled() -> None:
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(Secret(PLAIN))


def test_a_template_names_its_references_and_fills_them() -> None:
    template = Template("Bearer {secret:tracker} for {env:USER}")
    assert template.references() == (Reference("secret", "tracker"), Reference("env", "USER"))
    values = {Reference("secret", "tracker"): Secret("abc"), Reference("env", "USER"): Secret("me")}
    assert template.fill(values).reveal() == "Bearer abc for me"


def test_filling_does_not_read_references_inside_a_value() -> None:
    values = {Reference("secret", "a"): Secret("{secret:b}"), Reference("secret", "b"): Secret("deeper")}
    assert Template("{secret:a}").fill(values).reveal() == "{secret:b}"


def test_a_reference_without_a_value_is_named() -> None:
    with pytest.raises(KeyError) as caught:
        Template("{secret:gone}").fill({})
    assert caught.value.args == (Reference("secret", "gone"),)


@pytest.mark.parametrize(
    "travelling",
    [
        PLAIN,
        quote(PLAIN, safe=""),
        json.dumps({"token": PLAIN}),
        json.dumps({"text": json.dumps({"token": PLAIN})}),
        json.dumps({"text": json.dumps({"token": PLAIN}, ensure_ascii=False)}),
        json.dumps({"token": PLAIN}).replace("/", "\\/"),
        base64.b64encode(PLAIN.encode()).decode(),
        base64.b64encode(PLAIN.encode() + b"=").decode(),
        base64.b64encode(PLAIN.encode() + b"==").decode(),
        base64.b64encode(b"user:" + PLAIN.encode()).decode(),
        base64.urlsafe_b64encode(b"xx" + PLAIN.encode() + b"yy").decode(),
    ],
)
def test_a_secret_is_scrubbed_in_every_form_it_travels_in(travelling: str) -> None:
    scrubbed = Scrubber([Secret(PLAIN)])(f"before {travelling} after")
    assert HIDDEN in scrubbed
    assert PLAIN not in scrubbed
    assert base64.b64encode(PLAIN.encode()).decode()[2:-3] not in scrubbed


def test_the_longest_secret_goes_first() -> None:
    scrub = Scrubber([Secret("password"), Secret("password-and-more")])
    assert scrub("password-and-more") == HIDDEN


def test_short_values_are_left_alone() -> None:
    assert Scrubber([Secret("12345")])("12345") == "12345"


@given(st.text(min_size=6), st.text(alphabet="xyz "), st.text(alphabet="xyz "))
def test_no_text_around_a_secret_keeps_it(value: str, before: str, after: str) -> None:
    scrubbed = Scrubber([Secret(value)])(before + value + after)
    assert scrubbed.replace(HIDDEN, "").strip("xyz ") == ""


@pytest.mark.parametrize("more", ["", "=", "=="])
def test_no_tail_of_a_base64_form_is_left(more: str) -> None:
    value = PLAIN + more
    assert Scrubber([Secret(value)])(base64.b64encode(value.encode()).decode()) == HIDDEN
