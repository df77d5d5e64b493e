"""The versions that container tools print, read from the first line of each tool's output."""

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
"""Regular expression for the first line that each tool prints; its group matches the version."""


def versions(rows: Sequence[str]) -> Iterator[tuple[str, Reading]]:
    """Yield each container tool with its version, from rows `TOOL FIRST-LINE`, `none TOOL` and `fails TOOL`.

    Leaves out a builder's suffix after a plus sign in a version. The version is absent if the tool is not installed,
    and Unknown if the tool failed or its first line has another form. Raises Unreadable at a row that names no tool in
    TOOLS.
    """
    for row in rows:
        word, _, text = row.partition(" ")
        if word == "none" and text in TOOLS:
            yield text, Absent(f"no {text} in PATH")
        elif word == "fails" and text in TOOLS:
            yield text, Unknown(Reason.NOT_COLLECTED, f"{text} --version failed")
        elif word in TOOLS:
            match = re.fullmatch(TOOLS[word], text[:200])
            odd = Unknown(Reason.UNPARSABLE, f"{word} printed {text[:80]!r}")
            yield word, match[1].partition("+")[0] if match else odd
        else:
            raise Unreadable(f"unknown tool: {row[:80]!r}")
