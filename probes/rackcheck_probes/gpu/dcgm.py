"""Which DCGM is installed."""

from rackcheck import Absent, Facts, Shell, Unreadable, probe, version
from rackcheck.model.regex import regex

VERSION = regex(r"\s{0,20}dcgmi {1,4}version: ([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})\s{0,20}\n\s{0,20}")


@probe(
    Shell("if command -v dcgmi >/dev/null; then dcgmi --version; else echo none; fi"),
    gives={"os.dcgm.version": version("dotted", "The version of DCGM's own tool; absent if it is not installed.")},
)
def dcgm(answer: str) -> Facts:
    """Read the version from output such as `dcgmi  version: 3.3.9`."""
    if answer == "none\n":
        yield "os.dcgm.version", Absent("dcgmi is not installed")
        return
    match = VERSION.fullmatch(answer)
    if match is None:
        raise Unreadable(f"not a version of DCGM: {answer.strip()[:80]!r}")
    yield "os.dcgm.version", match[1]
