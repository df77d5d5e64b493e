"""The distribution and its version."""

from rackcheck import Absent, Class, Facts, Files, Read, Unreadable, probe, read, text, version

PLACES = ("/etc/os-release", "/usr/lib/os-release")


def unquoted(value: str) -> str:
    """Remove the quotes of a value; raises Unreadable on a value that has no closing quote."""
    if value[:1] in ("'", '"') and (len(value) < 2 or value[-1] != value[0]):
        raise Unreadable(f"a quote that is not closed: {value[:80]!r}")
    return read.unquoted(value)


@probe(
    Read(*PLACES),
    gives={
        "os.release.id": text("The distribution, as its os-release spells it: ubuntu, rhel, debian.", Class.IDENTITY),
        "os.release.version_id": version("dotted", "The distribution's version: 22.04, 9.4, 12."),
        "os.release.name": text(
            "The distribution and its version in words, with the point release if included.", Class.VERSION
        ),
    },
)
def os_release(files: Files) -> Facts:
    """Read os-release from the first of its two locations where the file exists."""
    place = next(filter(files.has, PLACES), None)
    rows = read.rows(files.text(place)) if place else []
    pairs = (row.strip().partition("=") for row in rows if row.strip() and not row.lstrip().startswith("#"))
    table = {key: unquoted(value.strip()) for key, mark, value in pairs if mark}
    if place and not table:
        raise Unreadable(f"no KEY=value in {place}")
    for path, key in (("id", "ID"), ("version_id", "VERSION_ID"), ("name", "PRETTY_NAME")):
        yield f"os.release.{path}", table.get(key) or Absent(f"no {key} in {place}" if place else "no os-release")
