"""Results of AMD's TransferBench (`TransferBench p2p`): the rate of each copy between CPUs and GPUs.

This parser is based on the source (ROCm/TransferBench client/include/Presets/PeerToPeer.hpp), on an output of eight
MI350X in a public acceptance report (TransferBench v1.62), and on the FAQ of TransferBench for its error. It is not
verified on hardware. TransferBench prints a table of copies in one direction, and one of copies in both directions at
the same time, each followed by the averages for the four kinds of pairs; the averages are compared with the table.

TransferBench checks every copy it makes, and ends at the first wrong value. The copy of a memory to itself is left out.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rackcheck.model.catalogue import Kind, collection, quantity, text
from rackcheck.model.fact import Absent, Class, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.regex import regex
from rackcheck.parse.burnin.tools.answer import ToolFacts, ToolRecord, answer, decimal, nothing

_MEASURED = Class.MEASUREMENT

GIVES: Mapping[str, Kind] = {
    "burnin.transferbench.verified": text("Whether every copy arrived intact.", _MEASURED, ("pass", "fail")),
    "burnin.transferbench.to_gpu": quantity("B/s", "The slowest copy from a CPU's memory to a GPU.", _MEASURED),
    "burnin.transferbench.from_gpu": quantity("B/s", "The slowest copy from a GPU to a CPU's memory.", _MEASURED),
    "burnin.transferbench.peer": quantity("B/s", "The slowest copy from a GPU to another.", _MEASURED),
    "burnin.transferbench.peer_mean": quantity("B/s", "The mean rate of copies from a GPU to another.", _MEASURED),
    "burnin.transferbench.both_mean": quantity(
        "B/s", "The mean rate of copies from a GPU to another while both copy to each other.", _MEASURED
    ),
    "burnin.transferbench.pair": collection("The pairs that were measured, as cpu0:gpu3."),
    "burnin.transferbench.pair/*.rate": quantity("B/s", "The rate of copies of the pair.", _MEASURED),
}

WRONG = regex(r"Unexpected (?:output )?mismatch (?:at index|for destination)")
"""TransferBench's message for a copy that did not arrive intact."""

NO_PEER = Absent("the node has only one GPU")
"""The reading of rates between two GPUs on a node with one GPU."""

_HEAD = {"Uni": regex(r"Unidirectional copy peak bandwidth GB/s \[Local read / Remote write\] .{1,60}"),
         "Bi": regex(r"Bidirectional copy peak bandwidth GB/s \[Local read / Remote write\] .{1,60}")}  # fmt: skip
_ROW = regex(r"(CPU|GPU) ([0-9]{2,3}) {1,2}(->|<-)((?: {1,12}(?:[0-9]{1,7}\.[0-9]{2}|N/A)){1,128})")
_MEANS = regex(r"Averages \(During {1,2}(?:Uni|Bi)Dir\):((?: {1,12}(?:[0-9]{1,7}\.[0-9]{2}|N/A)){4})")
_KINDS = ("cpu:cpu", "cpu:gpu", "gpu:cpu", "gpu:gpu")

TransferRates = dict[tuple[str, str], float]
"""The rate of each measured copy in B/s, by source and destination."""


def read(record: Mapping[str, Any]) -> ToolFacts:
    """Yield the facts of a `tool` record of TransferBench; raises Unreadable if its output cannot be parsed."""
    tool_record = answer(record)
    if WRONG.search(tool_record.out) or WRONG.search(tool_record.err):
        why = tool_record.failed or Unknown(Reason.NOT_TESTED, "a copy arrived corrupted")
        yield from ((path, "fail" if path.endswith(".verified") else reading) for path, reading in nothing(GIVES, why))
        return
    if tool_record.failed is not None:
        yield from nothing(GIVES, tool_record.failed)
        return
    if tool_record.cut:
        raise Unreadable(f"TransferBench's output was cut off by {tool_record.cut} bytes", Reason.TOO_LARGE)
    one, both = (_table(tool_record, word) for word in ("Uni", "Bi"))
    gpus = {source for source, _ in one if source.startswith("gpu")}
    if not gpus:
        raise Unreadable("TransferBench measured no GPU", Reason.NOT_TESTED)
    yield "burnin.transferbench.verified", "pass"
    for leaf, kind in (("to_gpu", "cpu:gpu"), ("from_gpu", "gpu:cpu"), ("peer", "gpu:gpu")):
        rates = _of_kind(one, kind)
        none: Reading = (
            NO_PEER if leaf == "peer" and len(gpus) == 1 else Unknown(Reason.NOT_TESTED, "no pair was measured")
        )
        yield f"burnin.transferbench.{leaf}", min(rates) if rates else none
    for leaf, table in (("peer_mean", one), ("both_mean", both)):
        rates = _of_kind(table, "gpu:gpu")
        none = NO_PEER if len(gpus) == 1 else Unknown(Reason.NOT_TESTED, "no pair was measured")
        yield f"burnin.transferbench.{leaf}", float(f"{sum(rates) / len(rates):.12g}") if rates else none
    pairs = {f"{source}:{target}": rate for (source, target), rate in one.items()}
    yield "burnin.transferbench.pair", tuple(pairs)
    yield from ((f"burnin.transferbench.pair/{spell_key(pair)}.rate", rate) for pair, rate in pairs.items())


def _of_kind(rates: TransferRates, kind: str) -> list[float]:
    source, _, target = kind.partition(":")
    return [rate for (one, other), rate in rates.items() if one.startswith(source) and other.startswith(target)]


def _table(record: ToolRecord, word: str) -> TransferRates:
    """Return the rates in one table; raises Unreadable if it is incomplete or contradicts its averages.

    In the table of both directions, each memory has a row `->` with copies from it, and a row `<-` with copies to it.
    """
    lines = [line.strip() for line in record.out.splitlines()]
    starts = [at for at, line in enumerate(lines) if _HEAD[word].fullmatch(line)]
    if len(starts) != 1:
        raise Unreadable(f"TransferBench prints {len(starts)} {word}directional tables, expected 1", Reason.NOT_TESTED)
    rest = lines[starts[0] + 1 :]
    end = next((at for at, line in enumerate(rest) if line.startswith("Averages")), None)
    means = _MEANS.fullmatch(rest[end]) if end is not None else None
    names = (
        [f"{kind.lower()}{int(number)}" for kind, number in re.findall(r"(CPU|GPU) ([0-9]{2,3})", rest[0])]
        if rest
        else []
    )
    if end is None or means is None or not names or len(set(names)) != len(names):
        raise Unreadable(f"TransferBench's {word}directional table is incomplete", Reason.NOT_TESTED)
    found: TransferRates = {}
    seen: list[tuple[str, str]] = []
    for line in rest[1:end]:
        row = _ROW.fullmatch(line)
        if row is None:
            continue
        name, cells = f"{row[1].lower()}{int(row[2])}", row[4].split()
        seen.append((name, row[3]))
        if len(cells) != len(names):
            raise Unreadable(f"a row of TransferBench has {len(cells)} rates, expected {len(names)}")
        for other, cell in zip(names, cells, strict=True):
            rate = decimal(cell) if cell != "N/A" else None
            if rate and other != name:
                pair = (name, other) if row[3] == "->" else (other, name)
                found[pair if word == "Uni" else (f"{name}{row[3]}", other)] = rate
    wanted = [(name, arrow) for name in names for arrow in (("->",) if word == "Uni" else ("->", "<-"))]
    if seen != wanted:
        raise Unreadable(f"TransferBench's {word}directional table lacks rows", Reason.NOT_TESTED)
    _agree(found, means[1].split(), word)
    return {pair: float(f"{rate * 1e9:.12g}") for pair, rate in found.items()}


def _agree(found: TransferRates, means: Sequence[str], word: str) -> None:
    """Compare the rates between GPUs with the average of TransferBench; raises Unreadable if they differ."""
    rates, mean = _of_kind(found, "gpu:gpu"), decimal(means[3])
    if (not rates and means[3] != "N/A") or (rates and (mean is None or abs(mean - sum(rates) / len(rates)) > 0.011)):
        shown = clean(means[3], 20)
        raise Unreadable(f"TransferBench's {word}directional rates between GPUs do not have the average {shown}")
