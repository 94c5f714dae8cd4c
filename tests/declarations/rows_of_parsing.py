"""Section 12 P as data: shared by the parser's tests and the JSON Schema's."""

from __future__ import annotations

from typing import Any

REFUSED = "refused"
ACCEPTED = "accepted"

OK = {"linux": {"presence": "executable", "location": "/x"}}


def linux(location: Any = "/x", **rest: Any) -> dict[str, Any]:
    return {"linux": {"presence": "executable", "location": location, **rest}}


def win32(location: Any = "C:/x/y.exe", **rest: Any) -> dict[str, Any]:
    return {"win32": {"presence": "executable", "location": location, **rest}}


def darwin(location: Any = "/Applications/X.app", presence: str = "bundle", **rest: Any) -> dict[str, Any]:
    return {"darwin": {"presence": presence, "location": location, **rest}}


def uninstall(**rest: Any) -> dict[str, Any]:
    return win32([{"kind": "uninstall_registry", "display_name_prefix": "Vendor App", "file": "a.exe", **rest}])


def server_json(**rest: Any) -> dict[str, Any]:
    return linux(liveness={"kind": "server_json", "path": "/run/x.json", **rest})


# id, app, requires, verdict, a text in the message or a check of the declaration
ROWS: list[tuple[str, Any, Any, str, str]] = [
    ("P-01", None, None, ACCEPTED, ""),
    ("P-02", {}, None, REFUSED, "app needs a block"),
    ("P-03", [], None, REFUSED, "app is an empty list; it must be a mapping"),
    ("P-04", {"freebsd": OK["linux"]}, None, REFUSED, "app.freebsd is an unknown key"),
    ("P-04-near", {"linus": OK["linux"]}, None, REFUSED, "did you mean 'linux'?"),
    ("P-05", {"freebsd": {}, 5: {}}, None, REFUSED, "app.5 is an unknown key"),
    ("P-06", {"linux": None}, None, REFUSED, "app.linux is null; it must be a mapping"),
    ("P-07", {"linux": {"location": "/x"}}, None, REFUSED, "app.linux.presence is required"),
    ("P-08", linux() | {"linux": {"presence": "Executable", "location": "/x"}}, None, REFUSED, "executable, bundle"),
    ("P-09", {"linux": {"presence": [], "location": "/x"}}, None, REFUSED, "app.linux.presence is an empty list"),
    ("P-10", {"linux": {"presence": "bundle", "location": "/x"}}, None, REFUSED, "bundles exist only on darwin"),
    ("P-11", darwin("/usr/local/bin/x", "executable"), None, ACCEPTED, ""),
    ("P-12-null", linux(None), None, REFUSED, "app.linux.location is required"),
    ("P-12-number", linux(3), None, REFUSED, "app.linux.location is 3"),
    ("P-12-tuple", linux(("/x",)), None, REFUSED, "app.linux.location is a list; it must be a path or a list"),
    ("P-13", linux({"kind": "command", "name": "v"}), None, ACCEPTED, ""),
    ("P-14", linux("   "), None, REFUSED, "must not be empty"),
    ("P-15", linux("  /x  "), None, ACCEPTED, "/x"),
    ("P-16", linux([]), None, REFUSED, "app.linux.location is an empty list"),
    ("P-17", linux(["/x", ""]), None, REFUSED, "app.linux.location[1]"),
    ("P-18-null", linux([None]), None, REFUSED, "app.linux.location[0] is null"),
    ("P-18-list", linux([["/x"]]), None, REFUSED, "app.linux.location[0] is a list"),
    ("P-19-unc", win32("\\\\srv\\s\\a.exe"), None, REFUSED, "network and device paths are refused"),
    ("P-19-slashes", win32("//srv/s/a.exe"), None, REFUSED, "network and device paths are refused"),
    ("P-20", win32("\\\\?\\C:\\a.exe"), None, REFUSED, "network and device paths are refused"),
    ("P-21-root", win32("\\a.exe"), None, REFUSED, "a drive and a slash"),
    ("P-21-drive", win32("C:a.exe"), None, REFUSED, "a drive and a slash"),
    ("P-21-posix", win32("/usr/a"), None, REFUSED, "a drive and a slash"),
    ("P-22", win32("c:\\a.exe"), None, ACCEPTED, "c:\\a.exe"),
    ("P-23", linux("C:/a"), None, REFUSED, "must start with '/'"),
    ("P-24", linux("//srv/a"), None, REFUSED, "must start with one slash"),
    ("P-25-middle", linux("/a/../b"), None, REFUSED, "'..'"),
    ("P-25-back", win32("C:\\a\\..\\b.exe"), None, REFUSED, "'..'"),
    ("P-25-variable", win32("%P%/../x.exe"), None, REFUSED, "'..'"),
    ("P-26-name", linux("/a/..b/c"), None, ACCEPTED, "/a/..b/c"),
    ("P-26-dots", linux("/a/.../c"), None, ACCEPTED, "/a/.../c"),
    ("P-27-folder", linux("/a/**/b"), None, REFUSED, "'**'"),
    ("P-27-name", linux("/a/b**"), None, REFUSED, "'**'"),
    ("P-28-url", linux("file:///a"), None, REFUSED, "not an address"),
    ("P-28-tail", linux("$H/x://y"), None, REFUSED, "not an address"),
    ("P-29-home", linux("~/x"), None, ACCEPTED, "~/x"),
    ("P-29-user", linux("~bob/x"), None, REFUSED, "other accounts"),
    ("P-29-variable", win32("%X%"), None, ACCEPTED, "%X%"),
    ("P-29-dollar", linux("$"), None, REFUSED, "a whole variable"),
    ("P-29-percent", win32("%"), None, REFUSED, "a whole variable"),
    ("P-30-variable", win32("%X%\\\\srv\\a"), None, REFUSED, "one slash after its start"),
    ("P-30-home", win32("~\\\\srv\\a"), None, REFUSED, "one slash after its start"),
    ("P-31", linux("/a/v?[1]/b"), None, ACCEPTED, "/a/v?[1]/b"),
    ("P-32-two", linux("/a */b */c"), None, ACCEPTED, "/a */b */c"),
    ("P-32-root", linux("/*"), None, ACCEPTED, "/*"),
    ("P-33", darwin([{"kind": "command", "name": "v"}]), None, REFUSED, "needs presence 'executable'"),
    ("P-34-path", linux([{"kind": "command", "name": "/bin/v"}]), None, REFUSED, "bare name"),
    ("P-34-drive", linux([{"kind": "command", "name": "C:v"}]), None, REFUSED, "bare name"),
    ("P-34-number", linux([{"kind": "command", "name": 5}]), None, REFUSED, "location[0].name is 5"),
    ("P-35", linux([{"kind": "command", "name": "."}]), None, REFUSED, "must name something"),
    ("P-36", linux([{"kind": "command", "name": "v x"}]), None, ACCEPTED, "v x"),
    ("P-37", linux([{"kind": "command", "name": " v "}]), None, ACCEPTED, "v"),
    ("P-38", linux([{"kind": "command", "name": "v", "file": "../../x"}]), None, REFUSED, "location[0].file is an unk"),
    ("P-39-list", linux([{"kind": ["command"]}]), None, REFUSED, "allowed are command, uninstall_registry"),
    ("P-39-path", linux([{"kind": "path"}]), None, REFUSED, "allowed are command, uninstall_registry"),
    ("P-39-other", linux([{"kind": "registry"}]), None, REFUSED, "allowed are command, uninstall_registry"),
    ("P-40", win32([{"kind": "uninstall_registry", "display_name_prefix": "V"}]), None, REFUSED, "file is required"),
    ("P-41-root", uninstall(file="/a.exe"), None, REFUSED, "location[0].file"),
    ("P-41-drive", uninstall(file="D:a.exe"), None, REFUSED, "must not name a drive"),
    ("P-41-climb", uninstall(file="bin\\..\\a.exe"), None, REFUSED, "'..'"),
    ("P-41-end", uninstall(file="bin/"), None, REFUSED, "slash"),
    ("P-42", uninstall(file="bin\\a.exe"), None, ACCEPTED, ""),
    ("P-43", uninstall(file=" /a.exe"), None, REFUSED, "location[0].file"),
    ("P-44", uninstall(file="v */a.exe"), None, ACCEPTED, ""),
    ("P-45-slash", uninstall(display_name_prefix="A/B"), None, ACCEPTED, "A/B"),
    ("P-45-colon", uninstall(display_name_prefix="A: B"), None, ACCEPTED, "A: B"),
    (
        "P-46",
        linux([{"kind": "uninstall_registry", "display_name_prefix": "V", "file": "a"}]),
        None,
        REFUSED,
        "only valid under win32",
    ),
    ("P-47", darwin([{"kind": "app_bundle", "name": "V.app"}], "executable"), None, REFUSED, "needs presence 'bundle'"),
    ("P-48", darwin([{"kind": "app_bundle", "name": "Vendor"}]), None, ACCEPTED, "Vendor.app"),
    ("P-49-os", win32([{"kind": "flatpak", "app_id": "a.b"}]), None, REFUSED, "only valid under linux"),
    ("P-49-key", linux([{"kind": "flatpak", "name": "a.b"}]), None, REFUSED, "location[0].app_id is required"),
    ("P-50", {"linux": {"presence": "bundle", "location": [{"kind": "snap", "name": "v"}]}}, None, REFUSED, "presence"),
    ("P-51", linux(version="none"), None, REFUSED, "app.linux.version is 'none'; it must be a mapping"),
    ("P-52-null", linux(version=None), None, ACCEPTED, ""),
    ("P-52-text", linux(version=""), None, REFUSED, "app.linux.version"),
    ("P-52-zero", linux(version=0), None, REFUSED, "app.linux.version"),
    ("P-52-empty", linux(version={}), None, REFUSED, "app.linux.version.kind"),
    ("P-53", linux(version={"kind": None}), None, REFUSED, "app.linux.version.kind is null"),
    ("P-54", linux(version={"kind": []}), None, REFUSED, "app.linux.version.kind is an empty list"),
    ("P-55-plist", linux(version={"kind": "plist"}), None, REFUSED, "only valid under darwin"),
    ("P-55-pe", darwin(version={"kind": "pe_resource"}), None, REFUSED, "only valid under win32"),
    ("P-56", win32(version={"kind": "uninstall_registry"}), None, REFUSED, "display_name_prefix is required"),
    (
        "P-57-blank",
        win32(version={"kind": "uninstall_registry", "display_name_prefix": " "}),
        None,
        REFUSED,
        "must not be empty",
    ),
    (
        "P-57-number",
        win32(version={"kind": "uninstall_registry", "display_name_prefix": 7}),
        None,
        REFUSED,
        "must be a text",
    ),
    ("P-58", darwin("/A.app/Contents/MacOS/a", "executable", version={"kind": "plist"}), None, ACCEPTED, ""),
    ("P-59", linux([{"kind": "command", "name": " /etc"}]), None, REFUSED, "bare name"),
    ("P-60-null", linux(liveness=None), None, ACCEPTED, ""),
    ("P-60-empty", linux(liveness={}), None, ACCEPTED, ""),
    ("P-61", linux(liveness="server_json"), None, REFUSED, "app.linux.liveness is 'server_json'; it must be a mapping"),
    ("P-62-null", linux(liveness={"kind": None}), None, REFUSED, "liveness.kind is null"),
    ("P-62-list", linux(liveness={"kind": []}), None, REFUSED, "liveness.kind is an empty list"),
    ("P-63", linux(liveness={"kind": "server_json"}), None, REFUSED, "liveness.path is required"),
    ("P-64", server_json(path="rel/s.json"), None, REFUSED, "liveness.path"),
    ("P-65-host", server_json(endpoint_path="@evil/"), None, REFUSED, "plain path"),
    ("P-65-query", server_json(endpoint_path="/a?b"), None, REFUSED, "plain path"),
    ("P-65-relative", server_json(endpoint_path="mcp"), None, REFUSED, "plain path"),
    ("P-65-blank", server_json(endpoint_path="/a b"), None, REFUSED, "plain path"),
    ("P-66-blank", server_json(pid_key="a b"), None, REFUSED, "pid_key"),
    ("P-66-empty", server_json(pid_key=""), None, ACCEPTED, ""),
    ("P-67", linux(versoin={"kind": "dpkg"}), None, REFUSED, "did you mean 'version'?"),
    ("P-68", None, [], REFUSED, "requires is an empty list; it must be a mapping"),
    ("P-69", None, {}, ACCEPTED, ""),
    ("P-70", None, {"ap": True}, REFUSED, "requires.ap is an unknown key (did you mean 'app'?)"),
    ("P-71-number", OK, {"app": 1}, REFUSED, "requires.app is 1; it must be a boolean"),
    ("P-71-text", OK, {"app": "true"}, REFUSED, "must be a boolean"),
    ("P-71-null", OK, {"app": None}, REFUSED, "must be a boolean"),
    ("P-72", None, {"app": True}, REFUSED, "there is no app block"),
    ("P-73-absent", OK, {"min_version": "1"}, REFUSED, "needs requires.app = true"),
    ("P-73-false", OK, {"app": False, "min_version": "1"}, REFUSED, "needs requires.app = true"),
    *[
        (f"P-74-{index}", darwin(version={"kind": "plist"}), {"app": True, "min_version": text}, REFUSED, "dotted num")
        for index, text in enumerate([2.3, "", "v1", "latest", "1.0\n", "1."])
    ],
    ("P-75", OK, {"min_version": None}, ACCEPTED, ""),
    ("P-76-digit", darwin(version={"kind": "plist"}), {"app": True, "min_version": "٣"}, REFUSED, "ASCII digits"),
    ("P-76-long", darwin(version={"kind": "plist"}), {"app": True, "min_version": "12345678901"}, REFUSED, "at most 9"),
    ("P-77", OK, {"app": True, "min_version": "1"}, REFUSED, "app.linux.version needs a version source"),
    (
        "P-77-source",
        linux([{"kind": "dpkg", "package": "v"}], version={"kind": "dpkg"}),
        {"app": True, "min_version": "1"},
        ACCEPTED,
        "",
    ),
    ("P-78", OK | darwin(version={"kind": "plist"}), {"app": True, "min_version": "1"}, ACCEPTED, ""),
    ("P-79", OK | win32(), {"app": True, "min_version": "1"}, REFUSED, "app.win32.version needs a version source"),
    ("P-80", None, {"gpu": "nvidia"}, ACCEPTED, ""),
    ("P-81-case", None, {"gpu": "NVIDIA"}, ACCEPTED, "nvidia"),
    ("P-81-amd", None, {"gpu": "amd"}, ACCEPTED, "amd"),
    ("P-81-list", None, {"gpu": ["nvidia", "Intel"]}, ACCEPTED, "nvidia"),
    ("P-81-true", None, {"gpu": True}, REFUSED, "requires.gpu is true; allowed are nvidia, amd, intel"),
    ("P-81-near", None, {"gpu": "nvidai"}, REFUSED, "requires.gpu is 'nvidai'"),
    ("P-82", None, {"gpu": "voodoo", "app": True}, REFUSED, "requires.gpu"),
]
