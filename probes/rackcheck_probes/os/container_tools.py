"""Installed container tools and their versions."""

from rackcheck import Facts, Shell, Unreadable, probe, read, version
from rackcheck.parse.host.os.tool_versions import versions

END = "-- end --"
TOOLS = {
    "docker": "Docker's command",
    "containerd": "containerd",
    "runc": "runc, which starts the containers",
    "crio": "CRI-O",
    "kubelet": "Kubernetes' agent on the node",
    "nvidia-ctk": "NVIDIA's container toolkit",
    "nvidia-container-cli": "libnvidia-container's command",
}


def path(tool: str) -> str:
    """Return the path of the fact that contains a tool's version."""
    return f"container.{tool.replace('-', '_')}.version"


# Each prints its version and exits, without contacting a daemon.
@probe(
    Shell(
        f"for t in {' '.join(TOOLS)}; do\n"
        'command -v $t >/dev/null || { echo "none $t"; continue; }\n'
        'v=$(timeout 3 $t --version 2>/dev/null) && v=$(echo "$v" | head -n 1) && echo "$t $v" || echo "fails $t"\n'
        f"done; echo '{END}'",
        seconds=25,
    ),
    gives={
        path(tool): version("dotted", f"The version of {what}; absent if not in PATH.") for tool, what in TOOLS.items()
    },
)
def container_tools(answer: str) -> Facts:
    """Read each tool's version from the first line that it prints, without build metadata after a plus."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END:
        raise Unreadable("the output was truncated")
    for tool, reading in versions(rows[:-1]):
        yield path(tool), reading
