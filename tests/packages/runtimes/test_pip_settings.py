"""What was set up for pip reaches uv, and no more than that."""

from __future__ import annotations

from pathlib import Path

from homeport.packages.runtimes.pip_settings import configuration_files, for_uv, settings

CONFIGURED = "[global]\nindex-url = https://mirror.example/simple\ncert = /etc/mine.pem\n[install]\nno-deps = true\n"


def test_a_mirror_a_proxy_and_certificates_are_passed_on() -> None:
    found = settings(
        [CONFIGURED, "[global]\nproxy = http://proxy.example:3128\ntrusted-host = a.example\n  b.example"], {}
    )

    assert for_uv(found, {}) == {
        "UV_SYSTEM_CERTS": "1",
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "SSL_CERT_FILE": "/etc/mine.pem",
        "ALL_PROXY": "http://proxy.example:3128",
        "UV_INSECURE_HOST": "a.example b.example",
    }


def test_what_was_said_to_uv_itself_stands() -> None:
    environment = {"UV_INDEX_URL": "https://other.example", "SSL_CERT_FILE": "/x.pem", "UV_SYSTEM_CERTS": "0"}

    assert for_uv(settings([CONFIGURED], environment), environment) == {}


def test_a_variable_weighs_more_than_a_file_and_a_later_file_more_than_an_earlier() -> None:
    later = "[global]\nindex-url = https://later.example\n"

    assert settings([CONFIGURED, later], {})["index-url"] == "https://later.example"
    assert settings([CONFIGURED], {"PIP_INDEX_URL": "https://v.example"})["index-url"] == "https://v.example"


def test_a_file_that_pip_cannot_read_is_passed_over() -> None:
    assert settings(["no section = x", CONFIGURED], {})["cert"] == "/etc/mine.pem"


def test_extra_indexes_are_not_passed_on() -> None:
    assert for_uv({"extra-index-url": "https://extra.example"}, {"UV_SYSTEM_CERTS": "1"}) == {}


def test_files_are_looked_for_where_pip_does() -> None:
    home = Path("/home/u")

    assert configuration_files({"PIP_CONFIG_FILE": "/x.conf"}, home, "linux") == (
        Path("/etc/pip.conf"),
        home / ".pip/pip.conf",
        home / ".config/pip/pip.conf",
        Path("/x.conf"),
    )
    assert configuration_files({"APPDATA": "/roaming"}, home, "win32")[-1] == Path("/roaming/pip/pip.ini")
