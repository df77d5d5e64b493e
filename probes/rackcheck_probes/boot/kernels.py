"""Which kernels are installed, and which of them is the newest."""

from collections.abc import Sequence
from functools import cmp_to_key, partial

from rackcheck import Class, Facts, Shell, Unreadable, listing, probe, read, version
from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.version import Unordered, order
from rackcheck_probes.os.hidden import THERE

FOLDER, END = "/lib/modules", "-- end --"


@probe(
    Shell(
        f"{THERE}if there {FOLDER}/.; then\n"
        f"[ -r {FOLDER} ] || {{ echo '{FOLDER}: permission denied' >&2; exit 1; }}\n"
        f'for d in {FOLDER}/*; do ! there "$d/modules.dep" || echo "${{d##*/}}"; done; fi; echo "{END}"',
        cap=1 << 16,
        quick=True,
    ),
    gives={
        "kernel.installed": listing("Releases of the kernels whose modules are installed.", Class.VERSION),
        "kernel.newest": version(
            "kernel", "The newest installed kernel; if it is not `kernel.release`, the node has not rebooted into it."
        ),
    },
)
def kernels(answer: str) -> Facts:
    """Read the names of the module folders that depmod has processed."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the output was truncated")
    found = sorted(rows[:-1])
    yield "kernel.installed", tuple(found)
    yield "kernel.newest", newest(found)


# Releases of kernels, as `uname -r` and the folders of modules spell them: `5.15.0-1053-nvidia`.


def newest(releases: Sequence[str]) -> str | Absent | Unknown:
    """Return the newest release; absent without any release, unknown (unparsable) if the releases cannot be ordered."""
    try:
        ordered = sorted(releases, key=cmp_to_key(partial(order, "kernel")))
    except Unordered as error:
        return Unknown(Reason.UNPARSABLE, str(error))
    return ordered[-1] if ordered else Absent("no modules are installed")
