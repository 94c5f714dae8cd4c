"""What uv writes, read into pins, and pins written for it to install."""

from __future__ import annotations

import pytest

from homeport.ground.errors import Unavailable
from homeport.packages.pins import Dependency
from homeport.packages.runtimes.requirements_text import dependencies, requirements

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64

COMPILED = f"""\
# a comment
anyio==4.16.0 \\
    --hash={B} \\
    --hash={A}
pyjwt[crypto]==2.15.1 ; python_version < '4' and sys_platform != 'emscripten' \\
    --hash={A}

"""


def test_a_compiled_file_becomes_pins_with_sorted_hashes_and_markers() -> None:
    assert list(dependencies(COMPILED)) == [
        Dependency("anyio", "4.16.0", (A, B)),
        Dependency("pyjwt", "2.15.1", (A,), "python_version < '4' and sys_platform != 'emscripten'"),
    ]


def test_written_pins_read_back_the_same() -> None:
    pins = list(dependencies(COMPILED))

    assert list(dependencies(requirements(pins))) == pins


@pytest.mark.parametrize(
    "line", ["anyio==4.16.0", f"anyio>=4 --hash={A}", "--index-url https://x", "./local", f"a==1 --hash=md5:{'a' * 32}"]
)
def test_a_line_that_is_no_hashed_pin_is_refused(line: str) -> None:
    with pytest.raises(Unavailable):
        list(dependencies(line))
