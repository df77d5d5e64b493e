"""What the files of pam_limits give every user's session."""

import math
from collections.abc import Iterator

from rackcheck import Absent, Facts, Files, Read, Unreadable, probe
from rackcheck.core import read
from rackcheck.core.catalogue import Kind, integer, quantity

MAIN, MORE = "/etc/security/limits.conf", "/etc/security/limits.d/*.conf"
HELP = {
    "nofile": "Files that a process may have open",
    "nproc": "Processes that the user may have",
    "memlock": "Memory that a process may pin, which RDMA needs",
    "stack": "A process's stack",
}
SIDES = ("soft", "hard")
UNLIMITED = frozenset({"unlimited", "infinity", "-1"})


def kind(name: str, side: str) -> Kind:
    """Give the meaning of one limit that the files set for everybody."""
    help_ = f"{HELP[name]}: {side} limit that pam_limits gives every user but root; services have their own."
    return integer(help_, unlimited=True) if name in {"nofile", "nproc"} else quantity("KiB", help_, unlimited=True)


def places(files: Files) -> Iterator[str]:
    """Give the files in the order in which pam_limits reads them: a later line wins."""
    if files.has(MAIN):
        yield MAIN
    yield from sorted(MORE.replace("*", name) for (name,) in files.found(MORE))


@probe(
    Read(MAIN, MORE),
    gives={f"limits.configured.{name}.{side}": kind(name, side) for name in HELP for side in SIDES},
)
def limits_configured(files: Files) -> Facts:
    """Read the lines for `*`, which are everybody but root; those for single users and groups are left out."""
    given: dict[tuple[str, str], str] = {}
    for place in places(files):
        for row in files.text(place).splitlines():
            words = row.partition("#")[0].split()
            if len(words) == 4 and words[0] == "*" and words[2] in HELP:
                given |= {(words[2], side): words[3] for side in (SIDES if words[1] == "-" else (words[1],))}
    for name in HELP:
        for side in SIDES:
            value = given.get((name, side))
            path = f"limits.configured.{name}.{side}"
            if value is None:
                yield path, Absent(f"no line for * in {MAIN} and {MORE}")
            elif value in UNLIMITED:
                yield path, math.inf
            elif not value.isdecimal():
                raise Unreadable(f"a limit of {value[:40]!r}")
            else:
                yield path, read.whole(value)
