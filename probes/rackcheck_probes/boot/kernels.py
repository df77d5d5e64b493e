"""Which kernels are installed, and which of them is the newest."""

from rackcheck import Class, Facts, Shell, Unreadable, listing, probe, version
from rackcheck.model import text as read
from rackcheck.parse.host.os.kernel_releases import newest
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
            "kernel", "The newest of these: if it is not `kernel.release`, the node has not rebooted since it came."
        ),
    },
)
def kernels(answer: str) -> Facts:
    """Read the folders of modules that depmod has seen."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    found = sorted(rows[:-1])
    yield "kernel.installed", tuple(found)
    yield "kernel.newest", newest(found)
