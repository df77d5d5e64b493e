"""The parsers of all tools, and the combined facts of all tools that ran on a node.

If the record of a tool cannot be read, only the facts of this tool are unknown. Two records may report the same fact,
such as two levels of DCGM's diagnostic: a failure then takes precedence over an unknown, and an unknown over a pass.
Lists that two records report for the same fact, such as collections and warnings, are merged. If two records report
different values of a fact that is neither a verdict nor a list, the fact is unknown.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from rackcheck.model.catalogue import Kind, collection, integer, quantity, version
from rackcheck.model.fact import Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.parse.burnin.tools import (
    amd_counters,
    cublas,
    dcgm,
    fio,
    hl_qual,
    nccl,
    nvbandwidth,
    perftest,
    rocblas,
    rvs,
    stress_ng,
    transferbench,
)
from rackcheck.parse.burnin.tools.answer import RESULTS, ToolFacts, ToolRecord, answer, nothing, worst

_MEASURED = Class.MEASUREMENT

OF_EACH: Mapping[str, Kind] = {
    "burnin.tool": collection("The tools that were to run on the node; fio:vda is fio's run on vda."),
    "burnin.tool/*.status": integer("The tool's exit status; unknown if the tool did not run to its end.", _MEASURED),
    "burnin.tool/*.seconds": quantity("s", "How long the tool ran.", _MEASURED),
    "burnin.tool/*.version": version("dotted", "The version that the tool printed."),
}

READERS: Mapping[str, tuple[Callable[[Mapping[str, Any]], ToolFacts], Mapping[str, Kind]]] = MappingProxyType(
    {
        **dict.fromkeys(("dcgm-1", "dcgm-2", "dcgm-3"), (dcgm.read, dcgm.GIVES)),
        "cublas": (cublas.read, cublas.GIVES),
        "nvbandwidth": (nvbandwidth.read, nvbandwidth.GIVES),
        "all_reduce": (nccl.read, nccl.GIVES),
        "ib_write_bw": (perftest.read, perftest.GIVES),
        "fio": (fio.read, fio.GIVES),
        "stress-ng": (stress_ng.read, stress_ng.GIVES),
        "rvs": (rvs.read, rvs.GIVES),
        "transferbench": (transferbench.read, transferbench.GIVES),
        "rocblas-bench": (rocblas.read, rocblas.GIVES),
        "amd-smi": (amd_counters.read, amd_counters.GIVES),
        "hl_qual": (hl_qual.read, hl_qual.GIVES),
    }
)
"""The reader function of each tool and the facts that it returns, by the tool's name in a plan."""

GIVES: Mapping[str, Kind] = {
    **OF_EACH, **cublas.GIVES, **dcgm.GIVES, **nvbandwidth.GIVES, **nccl.GIVES, **perftest.GIVES, **fio.GIVES,
    **stress_ng.GIVES, **rvs.GIVES, **transferbench.GIVES, **rocblas.GIVES, **amd_counters.GIVES, **hl_qual.GIVES,
}  # fmt: skip
"""The facts that tools can report, as path patterns, with the kind of each fact."""


def facts(records: Iterable[Mapping[str, Any]]) -> ToolFacts:
    """Return the facts of all `tool` records of a node, each path once; never raises."""
    found: dict[str, Reading] = {}
    for record in records:
        for path, reading in _one(record):
            found[path] = _together(found[path], reading) if path in found else reading
    yield from found.items()


def _one(record: Mapping[str, Any]) -> ToolFacts:
    try:
        tool_record = answer(record)
    except Unreadable:
        return  # the tool's name cannot be read
    yield from _of_each(tool_record, record.get("seconds"))
    reader, gives = READERS.get(tool_record.name, (None, {}))
    if reader is None:
        return
    try:
        yield from list(reader(record))
    except Unreadable as error:
        yield from nothing(gives, Unknown(error.reason, clean(str(error))))


def _of_each(record: ToolRecord, seconds: object) -> ToolFacts:
    key = f"{record.name}:{record.item}" if record.item else record.name
    if not clean(key):
        return
    at = f"burnin.tool/{spell_key(clean(key, 80))}"
    ended = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 1e9
    yield "burnin.tool", (clean(key, 80),)
    yield f"{at}.status", record.untested or record.status or 0
    yield f"{at}.seconds", record.untested or (float(str(seconds)) if ended else Unknown(Reason.UNPARSABLE, "seconds"))
    yield f"{at}.version", record.dotted()


def _together(one: Reading, other: Reading) -> Reading:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return tuple(dict.fromkeys((*one, *other)))
    if one in RESULTS or other in RESULTS:
        return worst([one, other])
    for each in (one, other):
        if isinstance(each, Unknown):
            return each
    return (
        one
        if one == other
        else Unknown(Reason.UNPARSABLE, f"the tool's records have different values: {one} and {other}")
    )
