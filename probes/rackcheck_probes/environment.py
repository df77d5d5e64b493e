"""What the node tells GPU and network libraries by its environment and by NCCL's own file."""

import re

from rackcheck import Facts, Shell, Unreadable, collection, probe, setting, spell_key
from rackcheck.core import read
from rackcheck_probes.hidden import THERE

WORDS = ("NCCL", "RCCL", "HIP", "HSA", "ROCR", "CUDA", "NVSHMEM", "UCX", "FI", "OMPI", "PMIX", "GLOO", "MLX5", "SHARP")
PLACES = {"/etc/environment": "os.environment", "/etc/nccl.conf": "os.nccl_conf"}
END = "-- end --"


# Only these words: what else stands in the environment may be anybody's secret.
@probe(
    Shell(
        f"{THERE}for f in {' '.join(PLACES)}; do\n"
        'echo "== $f"; there "$f" || continue\n'
        f"grep -E '^[[:space:]]*(export[[:space:]]+)?({'|'.join(WORDS)})_[A-Z0-9_]+[[:space:]]*=' \"$f\" "
        f"|| [ $? = 1 ] || exit 1\ndone; echo '{END}'",
        quick=True,
    ),
    gives={
        "os.environment": collection("Variables of NCCL, ROCm, CUDA, UCX and their like in /etc/environment."),
        "os.environment/*.value": setting("The variable's value in every session."),
        "os.nccl_conf": collection("Variables in /etc/nccl.conf, which NCCL itself reads."),
        "os.nccl_conf/*.value": setting("The variable's value for NCCL."),
    },
)
def environment(answer: str) -> Facts:
    """Read the assignments of each file; of a repeated name the last counts."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    found: dict[str, str] = {}
    owner = ""
    for row in rows[:-1]:
        head = PLACES.get(row.removeprefix("== ")) if row.startswith("== ") else None
        match = re.fullmatch(r"\s{0,80}(?:export\s{1,80})?([A-Z][A-Z0-9_]{1,100})\s{0,80}=(.{0,4000})", row)
        if head is not None:
            owner = head
        elif match is None or not owner:
            raise Unreadable(f"not an assignment: {row[:80]!r}")
        else:
            found[f"{owner}/{spell_key(match[1])}.value"] = read.unquoted(match[2])
    yield from found.items()
