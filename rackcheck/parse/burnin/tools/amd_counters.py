"""Error counters of AMD GPUs that rose while tools ran: `amd-smi metric --ecc --pcie --json` before and after them.

This parser is based on outputs in the documentation and changelog of amd-smi (ROCm/amdsmi) and on samples in public
programs that read its output. It is not verified on hardware. Older versions print a list of GPUs, newer ones an object
with the list `gpu_data`. A counter that the driver does not have is `N/A`.
"""

from collections.abc import Mapping
from typing import Any

from rackcheck.model.catalogue import Kind, collection, integer
from rackcheck.model.fact import Absent, Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.parse.burnin.tools.answer import MOST, ToolFacts, ToolRecord, answer, document, nothing

GIVES: Mapping[str, Kind] = {
    "burnin.amd_counters.gpu": collection("The AMD GPUs whose error counters were read, by the index of amd-smi."),
    "burnin.amd_counters.gpu/*.corrected": integer("Corrected memory errors while tools ran.", Class.COUNTER),
    "burnin.amd_counters.gpu/*.uncorrected": integer("Uncorrected memory errors while tools ran.", Class.COUNTER),
    "burnin.amd_counters.gpu/*.deferred": integer("Uncorrected errors in data not yet used.", Class.COUNTER),
    "burnin.amd_counters.gpu/*.replays": integer("PCIe replays while tools ran.", Class.COUNTER),
}

_PLACES = {
    "corrected": ("ecc", "total_correctable_count"), "uncorrected": ("ecc", "total_uncorrectable_count"),
    "deferred": ("ecc", "total_deferred_count"), "replays": ("pcie", "replay_count"),
}  # fmt: skip
"""The group and the name of each counter in the output of amd-smi."""

OPTIONAL = {"deferred", "replays"}
"""Counters that not every version of amd-smi and not every GPU has: absent if both outputs lack them or have `N/A`."""


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of amd-smi; raises Unreadable if an output cannot be parsed."""
    after = answer(record)
    if after.failed is not None:
        yield from nothing(GIVES, after.failed)
        return
    if not isinstance(record.get("before"), str):
        raise Unreadable("the counters before the tools are missing", Reason.NOT_TESTED)
    first, last = _gpus(answer({**record, "out": record["before"], "cut": 0})), _gpus(after)
    if set(first) != set(last):
        raise Unreadable(f"amd-smi lists the GPUs {sorted(first)} before the tools and {sorted(last)} after them")
    yield "burnin.amd_counters.gpu", tuple(last)
    for gpu in last:
        for leaf in _PLACES:
            yield f"burnin.amd_counters.gpu/{gpu}.{leaf}", _rise(leaf, first[gpu], last[gpu])


def _gpus(record: ToolRecord) -> dict[str, Mapping[str, Any]]:
    """Return the values of each GPU by its index; raises Unreadable if there is no GPU or an index is not unique."""
    text = record.out.strip()
    listed = f'{{"gpu_data": {text}}}' if text.startswith("[") else text
    rows = document(ToolRecord("amd-smi", "", (), None, 0, listed, "", record.cut, "")).get("gpu_data")
    if not isinstance(rows, list) or not rows or len(rows) > MOST:
        raise Unreadable(f"amd-smi lists no GPUs: {clean(text, 80)!r}")
    found: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        index = row.get("gpu") if isinstance(row, dict) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < MOST or str(index) in found:
            raise Unreadable(f"a GPU of amd-smi without a unique index: {clean(repr(row), 80)}")
        found[str(index)] = row
    return found


def _rise(leaf: str, first: Mapping[str, Any], last: Mapping[str, Any]) -> Reading:
    """Return by how much a counter rose; unknown if it is not a number, or is smaller than before."""
    group, name = _PLACES[leaf]
    values = [_member(each, group, name) for each in (first, last)]
    if leaf in OPTIONAL and all(value in (None, "N/A") for value in values):
        return Absent(f"amd-smi reports no {name}")
    counts = [
        value for value in values if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    ]
    if len(counts) < 2:
        shown = f"{values[0]!r} before the tools and {values[1]!r} after them"
        return Unknown(Reason.NOT_TESTED, clean(f"amd-smi reports {name} as {shown}", 160))
    if counts[1] < counts[0]:
        return Unknown(Reason.NOT_TESTED, f"{name} fell from {counts[0]} to {counts[1]}: the GPU was reset")
    return counts[1] - counts[0]


def _member(gpu: Mapping[str, Any], group: str, name: str) -> object:
    values = gpu.get(group)
    return values.get(name) if isinstance(values, Mapping) else None
