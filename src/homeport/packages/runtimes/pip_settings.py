"""What a person set up for pip, said to uv, which does not read it: mirror, proxy, certificates. Pure."""

from __future__ import annotations

import configparser
from collections.abc import Iterable, Mapping
from pathlib import Path


def configuration_files(environment: Mapping[str, str], home: Path, platform: str) -> tuple[Path, ...]:
    """Where pip looks for its configuration, the weakest first."""
    if platform == "win32":
        base = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
        files = (home / "pip" / "pip.ini", base / "pip" / "pip.ini")
    else:
        base = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
        files = (Path("/etc/pip.conf"), home / ".pip" / "pip.conf", base / "pip" / "pip.conf")
    named = environment.get("PIP_CONFIG_FILE", "")
    return (*files, Path(named)) if named else files


def settings(texts: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The `[global]` options of configuration texts, weakest first, then those of `PIP_…` variables."""
    found: dict[str, str] = {}
    for text in texts:
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            continue  # pip itself will tell its owner
        if parser.has_section("global"):
            found |= dict(parser.items("global"))
    for name, value in environment.items():
        if name.startswith("PIP_") and value:
            found[name[4:].lower().replace("_", "-")] = value
    return found


def for_uv(found: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Variables for uv that say the same, wherever uv was not told otherwise.

    `extra-index-url` is left out on purpose: pip merges indexes, uv prefers the extra one, and a set of hashes must
    not depend on which machine resolved it.
    """
    told: dict[str, str] = {"UV_SYSTEM_CERTS": "1"}
    if "index-url" in found and not {"UV_DEFAULT_INDEX", "UV_INDEX_URL"} & environment.keys():
        told["UV_DEFAULT_INDEX"] = found["index-url"]
    if "cert" in found and "SSL_CERT_FILE" not in environment:
        told["SSL_CERT_FILE"] = found["cert"]
    if "proxy" in found and not {"ALL_PROXY", "HTTPS_PROXY", "https_proxy", "all_proxy"} & environment.keys():
        told["ALL_PROXY"] = found["proxy"]
    if "trusted-host" in found:
        told["UV_INSECURE_HOST"] = " ".join(found["trusted-host"].split())
    return {name: value for name, value in told.items() if name not in environment}
