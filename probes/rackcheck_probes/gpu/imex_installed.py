"""The version of the installed IMEX, which must be equal to the driver's version."""

from rackcheck import Absent, Facts, Shell, Unreadable, probe, version
from rackcheck.model.regex import regex

VERSION = regex(r"\s{0,20}IMEX version is\s{0,4}:\s{0,4}([0-9]{1,5}(?:\.[0-9]{1,5}){1,3})\s{0,20}\n\s{0,20}")


# Unverified on hardware: the format that other projects' scripts parse.
@probe(
    Shell("if command -v nvidia-imex >/dev/null; then nvidia-imex --version; else echo none; fi"),
    gives={
        "driver.imex.installed": version("dotted", "The version of the installed IMEX; absent if none is installed.")
    },
)
def imex_installed(answer: str) -> Facts:
    """Read the version from output such as `IMEX version is: 580.105.08`."""
    if answer == "none\n":
        yield "driver.imex.installed", Absent("nvidia-imex is not installed")
        return
    match = VERSION.fullmatch(answer)
    if match is None:
        raise Unreadable(f"not a version of IMEX: {answer.strip()[:80]!r}")
    yield "driver.imex.installed", match[1]
