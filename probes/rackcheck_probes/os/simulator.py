"""Whether the node is part of a simulator."""

from rackcheck import Class, Facts, Files, Read, probe, read, text

PLACE = "/run/rackcheck/simulator"
"""The file by which a simulated node marks itself; no other machine has it."""


@probe(
    Read(PLACE),
    gives={
        "node.simulator": text("The simulator that this node is part of; absent on a real machine.", Class.IDENTITY),
    },
)
def simulator(files: Files) -> Facts:
    """Read the file by which a simulated node marks itself."""
    yield "node.simulator", files.read(PLACE, read.line)
