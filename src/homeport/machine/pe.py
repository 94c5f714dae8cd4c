"""The version that a Windows program states in itself, read on any system.

Microsoft, PE Format, section ".rsrc"; VS_FIXEDFILEINFO holds the binary file version in four 16-bit words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from homeport.machine.protocol import CannotRead

if TYPE_CHECKING:
    from mmap import mmap

_SIGNATURE = 0xFEEF04BD


def file_version(data: bytes | mmap) -> str | None:
    """`a.b.c.d` of a program's fixed version block, or None when it has none. Raises `CannotRead` for no program."""
    import pefile  # pyright: ignore[reportMissingTypeStubs]

    try:
        # An mmap serves pefile as bytes do, and a program of a gigabyte is not read into memory for four numbers.
        program = cast("Any", pefile.PE(data=cast("Any", data), fast_load=True))
    except pefile.PEFormatError as error:
        raise CannotRead("unreadable", f"it is no Windows program: {error.value}") from None
    try:
        resources = pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_RESOURCE"]
        program.parse_data_directories(directories=[resources])
        blocks = cast("list[Any]", getattr(program, "VS_FIXEDFILEINFO", []))
        block = next((block for block in blocks if block.Signature == _SIGNATURE), None)
    finally:
        program.close()
    if block is None:
        return None
    high, low = int(block.FileVersionMS), int(block.FileVersionLS)
    return f"{high >> 16}.{high & 0xFFFF}.{low >> 16}.{low & 0xFFFF}"
