"""The OFED installed in place of the distribution's InfiniBand drivers."""

from dataclasses import dataclass

from rackcheck import Absent, Facts, Shell, Unreadable, probe, read, text, version
from rackcheck.model.regex import regex

NONE = "none"


# OFED always includes this tool: without it, the drivers are the distribution's.
@probe(
    Shell(f"if command -v ofed_info >/dev/null; then ofed_info -s; else echo {NONE}; fi"),
    gives={
        "os.ofed.name": text("The OFED package: MLNX_OFED_LINUX, OFED-internal (part of DOCA); absent without OFED."),
        "os.ofed.version": version(
            "dotted", "The version of OFED, written with dots: 23.10.1.1.9.0; absent without OFED."
        ),
    },
)
def ofed(answer: str) -> Facts:
    """Read the package and its version from output such as `MLNX_OFED_LINUX-23.10-1.1.9.0:`."""
    message = read.line(answer)
    if not answer.endswith("\n"):
        raise Unreadable("the output was truncated")
    if message == NONE:
        yield from ((f"os.ofed.{leaf}", Absent("no ofed_info")) for leaf in ("name", "version"))
        return
    found = package(message)
    yield "os.ofed.name", found.name
    yield "os.ofed.version", found.version


# Output of `ofed_info -s`: NVIDIA's own driver package by name and version, `MLNX_OFED_LINUX-23.10-1.1.9.0:`.


_VERSION = regex(r"(?P<name>[A-Za-z][A-Za-z_-]{0,60})-(?P<version>[0-9]{1,4}(?:[.-][0-9]{1,6}){1,8}):")


@dataclass(frozen=True)
class Package:
    """The installed OFED package: its name, and its version written with dots: 23.10.1.1.9.0."""

    name: str
    version: str


def package(line: str) -> Package:
    """Parse the line that `ofed_info -s` prints; raises Unreadable on any other text."""
    match = _VERSION.fullmatch(line)
    if match is None:
        raise Unreadable(f"not a version of OFED: {line[:80]!r}")
    return Package(match["name"], match["version"].replace("-", "."))
