"""Imports the output of `scontrol show nodes`: one record per node, on several lines, or on one line with `-o`."""

from collections.abc import Iterator, Mapping

from rackcheck.base.user_error import UserError
from rackcheck.inventory.importers.taken import ImportedNodes, Taken
from rackcheck.model.fact import clean
from rackcheck.model.regex import regex

_FIELD = regex(r"(?:^|(?<=\s))([A-Z][A-Za-z_]{1,40})=")
_NOTHING = frozenset({"", "(null)", "N/A", "none"})
_ABSENT = ("CLOUD", "POWERED_DOWN", "POWER_DOWN")


def read(text: str, source: str) -> Taken:
    """Read the output of `scontrol show nodes`; raises UserError on anything else."""
    found = ImportedNodes(source)
    for record in _records(text):
        name = record["NodeName"]
        state = record.get("State", "")
        if "FUTURE" in state.split("+"):
            found.note("left out: the node does not exist yet (Slurm state FUTURE)", name)
            continue
        if name in found.nodes or not found.node(name):
            continue
        address = record.get("NodeAddr", "")
        found.set(name, "host", name if address in _NOTHING else address)
        if record.get("NodeHostName", name) not in {name, *_NOTHING}:
            found.note("NodeHostName differs from NodeName", name)
        absent = next((word for word in _ABSENT if word in state), None)
        if absent is not None:
            found.note(f"may be switched off: its state in Slurm is {absent}", name)
        gres = record.get("Gres", "")
        if gres not in _NOTHING:
            found.note(f"Gres left out ({clean(gres, 80)}): GPUs are read from the node", name)
        for partition in record.get("Partitions", "").split(","):
            if partition.strip() not in _NOTHING:
                found.group(partition.strip(), [name])
    if not found.nodes and not found.odd:
        raise UserError(f"{source} has no NodeName=: expected the output of scontrol show nodes (as text, not as JSON)")
    return found.finish()


def _records(text: str) -> Iterator[Mapping[str, str]]:
    """Yield the fields of each record.

    Values contain blanks (`OS=Linux 6.8.0 #1 SMP`), and a reason may contain any text, even `NodeAddr=`. If a field
    name occurs twice, the first value is used: Slurm prints reasons and comments after all fields that rackcheck
    imports.
    """
    record: dict[str, str] = {}
    for line in text.splitlines():
        if line.lstrip().startswith("NodeName="):
            if record:
                yield record
            record = {}
        elif not record:
            continue
        fields = list(_FIELD.finditer(line))
        ends = [*(field.start() for field in fields[1:]), len(line)]
        for field, end in zip(fields, ends, strict=False):  # `ends` also has an entry for a line without fields
            record.setdefault(field[1], line[field.end() : end].strip())
    if record:
        yield record
