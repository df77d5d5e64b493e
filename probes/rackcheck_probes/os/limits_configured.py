"""Limits that the files of pam_limits set for every user's session."""

from rackcheck import Facts, Files, Read, probe
from rackcheck.model.catalogue import Kind, integer, quantity
from rackcheck.parse.host.os import pam_limits
from rackcheck.parse.host.os.pam_limits import MAIN, MORE, SIDES

HELP = {
    "nofile": "Files that a process may have open",
    "nproc": "Processes that the user may have",
    "memlock": "Memory that a process may pin, which RDMA needs",
    "stack": "A process's stack",
}


def kind(name: str, side: str) -> Kind:
    """Return the kind of the fact for a soft or hard limit that pam_limits sets for every user but root."""
    help_ = (
        f"{HELP[name]}: {side} limit that pam_limits sets for every user but root; services have limits of their own."
    )
    return integer(help_, unlimited=True) if name in {"nofile", "nproc"} else quantity("KiB", help_, unlimited=True)


@probe(
    Read(MAIN, MORE),
    gives={f"limits.configured.{name}.{side}": kind(name, side) for name in HELP for side in SIDES},
)
def limits_configured(files: Files) -> Facts:
    """Read the lines for `*`, which is every user but root; lines for single users and groups are left out."""
    given = pam_limits.for_everybody(files.text(place) for place in pam_limits.places(files))
    for name in HELP:
        for side in SIDES:
            reading = pam_limits.reading(given.get((name, side)), f"no line for * in {MAIN} and {MORE}")
            yield f"limits.configured.{name}.{side}", reading
