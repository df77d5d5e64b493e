"""Settings of GPU and network libraries in the node's environment and in NCCL's own file."""

from collections.abc import Collection

from rackcheck import Facts, Shell, collection, probe, setting, spell_key
from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import rows, unquoted
from rackcheck_probes.os.hidden import THERE

WORDS = ("NCCL", "RCCL", "HIP", "HSA", "ROCR", "CUDA", "NVSHMEM", "UCX", "FI", "OMPI", "PMIX", "GLOO", "MLX5", "SHARP")
PLACES = {"/etc/environment": "os.environment", "/etc/nccl.conf": "os.nccl_conf"}
END = "-- end --"
"""Last line of the output; without this line, the output was truncated."""


# Only these names: other variables of the environment may be secrets.
@probe(
    Shell(
        f"{THERE}for f in {' '.join(PLACES)}; do\n"
        'echo "== $f"; there "$f" || continue\n'
        f"grep -E '^[[:space:]]*(export[[:space:]]+)?({'|'.join(WORDS)})_[A-Z0-9_]+[[:space:]]*=' \"$f\" "
        f"|| [ $? = 1 ] || exit 1\ndone; echo '{END}'",
        quick=True,
    ),
    gives={
        "os.environment": collection("Variables of NCCL, ROCm, CUDA, UCX and similar in /etc/environment."),
        "os.environment/*.value": setting("The variable's value in every session."),
        "os.nccl_conf": collection("Variables in /etc/nccl.conf, which NCCL itself reads."),
        "os.nccl_conf/*.value": setting("The variable's value for NCCL."),
    },
)
def environment(answer: str) -> Facts:
    """Read the assignments of each file; the last value of a repeated name counts."""
    for (place, name), value in assignments(answer, PLACES).items():
        yield f"{PLACES[place]}/{spell_key(name)}.value", value


# Assignments of several files, as `grep` prints them: `== FILE`, then `NAME=VALUE` or `export NAME=VALUE`.

_ASSIGNMENT = regex(r"\s{0,80}(?:export\s{1,80})?([A-Z][A-Z0-9_]{1,100})\s{0,80}=(.{0,4000})")


def assignments(answer: str, places: Collection[str]) -> dict[tuple[str, str], str]:
    """Return the value of each variable by file and name, without quotes; the last value of a repeated name counts.

    Raises Unreadable on truncated output, and on a row that is neither the name of a file (`== FILE`) nor an
    assignment.
    """
    items = rows(answer)
    if not items or items[-1] != END:
        raise Unreadable("the output was truncated")
    found: dict[tuple[str, str], str] = {}
    place = ""
    for row in items[:-1]:
        match = _ASSIGNMENT.fullmatch(row)
        if row.startswith("== ") and row.removeprefix("== ") in places:
            place = row.removeprefix("== ")
        elif match is None or not place:
            raise Unreadable(f"not an assignment: {row[:80]!r}")
        else:
            found[place, match[1]] = unquoted(match[2])
    return found
