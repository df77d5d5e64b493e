"""Which container tools are installed, and in which version."""

import re

from rackcheck import Absent, Facts, Reason, Shell, Unknown, Unreadable, probe, version
from rackcheck.core import read

END = "-- end --"
TOOLS = {
    "docker": (r"Docker version ([^\s,]+).*", "Docker's command"),
    "containerd": (r"containerd \S+ v?(\S+).*", "containerd"),
    "runc": (r"runc version (\S+)", "runc, which starts the containers"),
    "crio": (r"crio version (\S+)", "CRI-O"),
    "kubelet": (r"Kubernetes v(\S+)", "Kubernetes' agent on the node"),
    "nvidia-ctk": (r"NVIDIA Container Toolkit CLI version (\S+)", "NVIDIA's container toolkit"),
    "nvidia-container-cli": (r"(?:cli-)?version: (\S+)", "libnvidia-container's command"),
}


def path(tool: str) -> str:
    """Name the fact of a tool."""
    return f"container.{tool.replace('-', '_')}.version"


# Each prints its version and ends; none of them talks to a daemon for that.
@probe(
    Shell(
        f"for t in {' '.join(TOOLS)}; do\n"
        'command -v $t >/dev/null || { echo "none $t"; continue; }\n'
        'v=$(timeout 3 $t --version 2>/dev/null) && v=$(echo "$v" | head -n 1) && echo "$t $v" || echo "fails $t"\n'
        f"done; echo '{END}'",
        seconds=25,
    ),
    gives={
        path(tool): version("dotted", f"The version of {what}; absent where no PATH has it.")
        for tool, (_, what) in TOOLS.items()
    },
)
def container_tools(answer: str) -> Facts:
    """Read the first line that each tool prints of itself; what a builder appends after a plus is left out."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the answer was cut")
    for row in rows[:-1]:
        word, _, told = row.partition(" ")
        if word == "none" and told in TOOLS:
            yield path(told), Absent(f"no {told} in PATH")
        elif word == "fails" and told in TOOLS:
            yield path(told), Unknown(Reason.NOT_COLLECTED, f"{told} --version failed")
        elif word in TOOLS:
            match = re.fullmatch(TOOLS[word][0], told[:200])
            yield (
                path(word),
                match[1].partition("+")[0] if match else Unknown(Reason.UNPARSABLE, f"{word} says {told[:80]!r}"),
            )
        else:
            raise Unreadable(f"no tool of ours: {row[:80]!r}")
