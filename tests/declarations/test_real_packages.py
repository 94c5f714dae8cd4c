"""Two packages of the distribution, unpacked into a folder that is read as if it were the disk."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.declarations.described import declared

from homeport.declarations.availability import availability
from homeport.declarations.explain import explain
from homeport.machine.local import LocalMachine

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`htop` (it has a desktop file) and `tree`, with the records that dpkg keeps of them."""
    assert shutil.which("apt-get"), "this test needs Debian's or Ubuntu's apt-get"
    folder = tmp_path_factory.mktemp("packages")
    # Without root's powers apt cannot become the user it would download as; the package lists must be there.
    words = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "htop", "tree"]
    done = subprocess.run(words, cwd=folder, check=False, timeout=100, capture_output=True, text=True)
    assert not done.returncode, f"apt-get download failed; run `apt-get update` first\n{done.stderr}"
    root = folder / "root"
    info = root / "var" / "lib" / "dpkg" / "info"
    info.mkdir(parents=True)
    stanzas: list[str] = []
    for package in sorted(folder.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        control = subprocess.run(["dpkg-deb", "-f", package], check=True, capture_output=True, text=True).stdout
        listing = subprocess.run(["dpkg-deb", "-c", package], check=True, capture_output=True, text=True).stdout
        paths = [line.split(maxsplit=5)[5].removeprefix(".").rstrip("/") for line in listing.splitlines()]
        (info / f"{package.name.partition('_')[0]}.list").write_text("\n".join(paths) + "\n")
        stanzas.append(control.rstrip() + "\nStatus: install ok installed\n")
    (root / "var" / "lib" / "dpkg" / "status").write_text("\n".join(stanzas))
    return root


def machine(root: Path) -> LocalMachine:
    return LocalMachine(root, {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/me"})


@pytest.mark.parametrize("package", ["htop", "tree"])
@pytest.mark.parametrize("how", ["command", "dpkg", "path"])
def test_a_real_package_is_found_with_its_version(root: Path, package: str, how: str) -> None:
    location = {
        "command": [{"kind": "command", "name": package}],
        "dpkg": [{"kind": "dpkg", "package": package}],
        "path": ["/usr/bin/" + package],
    }[how]
    version = {"kind": "dpkg", "package": package}
    declaration = declared("linux", location, {"app": True, "min_version": "1.5"}, version=version)
    answer = availability(declaration, machine(root))
    assert (answer.state, answer.path) == ("available", f"/usr/bin/{package}")
    assert answer.version
    assert "-" not in answer.version


def test_a_real_desktop_file_names_its_program(root: Path) -> None:
    declaration = declared("linux", [{"kind": "desktop", "id": "htop"}])
    assert availability(declaration, machine(root)).path == "/usr/bin/htop"
    trace = explain(declared("linux", [{"kind": "desktop", "id": "none"}]), machine(root)).as_dict()
    assert trace["places"][0]["reason"] == "no_entry"
