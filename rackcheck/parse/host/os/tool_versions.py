"""What container tools print as their version."""

import re
from collections.abc import Iterator, Sequence

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable

TOOLS = {
    "docker": r"Docker version ([^\s,]+).*",
    "containerd": r"containerd \S+ v?(\S+).*",
    "runc": r"runc version (\S+)",
    "crio": r"crio version (\S+)",
    "kubelet": r"Kubernetes v(\S+)",
    "nvidia-ctk": r"NVIDIA Container Toolkit CLI version (\S+)",
    "nvidia-container-cli": r"(?:cli-)?version: (\S+)",
}
"""The first line of each tool's output, by the tool."""


def versions(rows: Sequence[str]) -> Iterator[tuple[str, Reading]]:
    """Read rows `TOOL FIRST-LINE`, `none TOOL` and `fails TOOL`; yields each tool with its version.

    What a builder appends after a plus is left out. Absent is a tool that is not there; Unknown one that failed, or
    that prints something else. Raises Unreadable at a row of none of these tools.
    """
    for row in rows:
        word, _, text = row.partition(" ")
        if word == "none" and text in TOOLS:
            yield text, Absent(f"no {text} in PATH")
        elif word == "fails" and text in TOOLS:
            yield text, Unknown(Reason.NOT_COLLECTED, f"{text} --version failed")
        elif word in TOOLS:
            match = re.fullmatch(TOOLS[word], text[:200])
            odd = Unknown(Reason.UNPARSABLE, f"{word} says {text[:80]!r}")
            yield word, match[1].partition("+")[0] if match else odd
        else:
            raise Unreadable(f"no tool of ours: {row[:80]!r}")
