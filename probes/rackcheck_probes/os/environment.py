"""What the node tells GPU and network libraries by its environment and by NCCL's own file."""

from rackcheck import Facts, Shell, collection, probe, setting, spell_key
from rackcheck.parse.host.os.environment import END, assignments
from rackcheck_probes.os.hidden import THERE

WORDS = ("NCCL", "RCCL", "HIP", "HSA", "ROCR", "CUDA", "NVSHMEM", "UCX", "FI", "OMPI", "PMIX", "GLOO", "MLX5", "SHARP")
PLACES = {"/etc/environment": "os.environment", "/etc/nccl.conf": "os.nccl_conf"}


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
    for (place, name), value in assignments(answer, PLACES).items():
        yield f"{PLACES[place]}/{spell_key(name)}.value", value
