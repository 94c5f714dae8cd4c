"""Small wheels and source archives made on the spot, so that the real uv can be used without a network."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def wheel(
    directory: Path,
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    scripts: Mapping[str, str] | None = None,
    source: str = "",
    python: str = ">=3.8",
    tag: str = "py3-none-any",
) -> Path:
    """`NAME-VERSION-TAG.whl` holding one module of the same name."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: {python}\n"
    metadata += "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{module}.py": source,
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    if scripts:
        points = "".join(f"{script} = {target}\n" for script, target in scripts.items())
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{points}"
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    path = directory / f"{module}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in files.items():
            archive.writestr(zipfile.ZipInfo(inner, (2020, 1, 1, 0, 0, 0)), text)
    return path


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def source_archive(directory: Path, name: str, version: str) -> Path:
    """`NAME-VERSION.tar.gz` whose build would leave a mark beside it."""
    path = directory / f"{name}-{version}.tar.gz"
    mark = directory / "built"
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "setup.py": f"open({str(mark)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name={name!r})\n",
    }
    with tarfile.open(path, "w:gz") as archive:
        for inner, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{inner}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path
