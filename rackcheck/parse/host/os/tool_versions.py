"""Versions that container tools print."""

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
"""Pattern of the first line that each tool prints; its group is the version."""


def versions(rows: Sequence[str]) -> Iterator[tuple[str, Reading]]:
    """Yield each tool with its version, from rows `TOOL FIRST-LINE`, `none TOOL` and `fails TOOL`.

    A builder's suffix after a plus is left out. A tool that is not installed is absent; a tool that failed, or prints
    something else, is Unknown. Raises Unreadable at a row of any other tool.
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
