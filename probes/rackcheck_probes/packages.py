"""Every package that is installed, and those that are held back or broken."""

import re
from collections import defaultdict
from collections.abc import Iterable

from rackcheck import Absent, Facts, Shell, Unreadable, collection, listing, probe, spell_key, text, version
from rackcheck.core import read
from rackcheck_probes.hidden import THERE

END = "-- end --"
DPKG = "${db:Status-Abbrev}|${Package}|${Architecture}|${Version}\\n"
RPM = "ii |%{NAME}|%{ARCH}|%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\\n"
KEYS = "gpg-pubkey"
"""What rpm lists beside packages: the keys that sign them."""
ROW = re.compile(r"([uihrp])([ncHUFWti])([ R])\|([^|\s]{1,200})\|([^|\s]{1,40})\|([^|\s]{0,200})")


def named(found: Iterable[tuple[str, str, str]], native: str) -> dict[str, list[str]]:
    """Gather the versions by name; a package of another architecture is `NAME:ARCH`, as dpkg spells it."""
    versions: dict[str, list[str]] = defaultdict(list)
    for name, arch, told in found:
        versions[name if arch in {native, "all", "noarch", "(none)"} else f"{name}:{arch}"].append(told)
    return versions


# A distribution may have the other's tool: what counts is whose records there are.
@probe(
    Shell(
        f"{THERE}there /var/lib/dpkg/status\n"
        'if [ -s /var/lib/dpkg/status ]; then echo "dpkg $(dpkg --print-architecture)" && '
        f"dpkg-query -W -f '{DPKG}'\n"
        'elif command -v rpm >/dev/null; then echo "rpm $(uname -m)" && '
        f"rpm -qa --qf '{RPM}'\n"
        f"else echo 'neither dpkg nor rpm has records: not found' >&2; exit 127; fi && echo '{END}'",
        seconds=30,
        cap=2 << 20,
    ),
    gives={
        "package": collection("Installed packages by name; one of another architecture as name:arch."),
        "package/*.version": version(
            "opaque", "The installed version with epoch and release; several, as of kernels, in a row parted by blanks."
        ),
        "os.packages.manager": text("Whose records were read: dpkg, rpm.", words=("dpkg", "rpm")),
        "os.packages.held": listing(
            "Packages that an upgrade leaves alone; absent under rpm, which holds none itself."
        ),
        "os.packages.broken": listing("Packages that dpkg has begun and not ended to install; absent under rpm."),
    },
)
def packages(answer: str) -> Facts:
    """Read one package a line; what is removed but for its settings is not installed."""
    rows = read.rows(answer)
    manager, _, native = rows[0].partition(" ") if rows else ("", "", "")
    if len(rows) < 3 or rows[-1] != END or manager not in {"dpkg", "rpm"}:
        raise Unreadable("the answer was cut, or there is no package at all")
    held, broken, found = set(), set(), []
    for row in rows[1:-1]:
        match = ROW.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a package: {row[:80]!r}")
        want, state, error, name, arch, told = match.groups()
        if state in "nc" or name == KEYS:
            continue
        if not told:
            raise Unreadable(f"{name} has no version")
        if want == "h":
            held.add(name)
        if state != "i" or error == "R":
            broken.add(name)
        found.append((name, arch, told))
    yield "os.packages.manager", manager
    by_dpkg = manager == "dpkg"
    yield "os.packages.held", tuple(sorted(held)) if by_dpkg else Absent("rpm holds no package")
    yield "os.packages.broken", tuple(sorted(broken)) if by_dpkg else Absent("rpm keeps no such state")
    for key, versions in named(found, native).items():
        yield f"package/{spell_key(key)}.version", " ".join(sorted(set(versions)))
