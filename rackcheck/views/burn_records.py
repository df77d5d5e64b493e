"""Finds the burn-in records that a fact was read from, and formats each record as one line. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rackcheck.model import path as paths
from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Plane, visible
from rackcheck.model.path import EVERY, Path
from rackcheck.model.secret import scrub_text
from rackcheck.model.tree import Leaf
from rackcheck.views.evidence import INPUTS, NodeReplies, Proof, ProofFact, bare
from rackcheck.views.matching_lines import WIDTH
from rackcheck.views.reply import NumberedLine, RawText

KINDS = {"gpu": "gpu", "core": "cpu", "cpu": "cpu", "memory": "numa", "nic": "nic", "disk": "disk"}
"""The name of a part's kind in burn-in records, by the name of the part's collection in fact paths."""

STAGES = {"memory": "memory", "tensor": "tensor", "scalar": "scalar", "link": "links", "peer": "links"}
"""The burn-in stage that a fact of a GPU is about, by a word in the fact's path."""

COLUMNS = {
    "temperature": "temp", "memory_temperature": "memory_temp", "throttled": "reasons", "generation": "gen",
    "constant": "temp", "give": "temp", "resistance": "temp", "ahead": "temp", "rise": "temp", "capped": "reasons",
    "of_limit": "power", "energy": "energy", "power": "power", "inlet": "inlet", "was_up": "up", "stayed": "up",
    "symbol_errors": "symbol_error",
}  # fmt: skip
"""The column of samples that a fact is derived from, by the last word of the fact's path.

If the table does not contain the last word of a fact's path, this word is itself the name of the column.
"""

MEMBERS = 4
"""Number of members that are shown of a list with more than twice as many members; shorter lists are shown in full."""

BurnRecordDict = Mapping[str, Any]


class BurntNode(NodeReplies):
    """All replies of a node, with its burn-in records."""

    def replies(self, path: str, leaf: Leaf) -> tuple[RawText, ...]:
        """Find the raw replies of a fact."""
        capture = self.captures.get(leaf.plane)
        if leaf.plane is Plane.BURNIN and isinstance(capture, BurnCapture):
            return (records(paths.parse(path), capture.records, self.lines),)
        return super().replies(path, leaf)


def followed(found: Proof, replies: NodeReplies) -> Proof:
    """Complete the facts that compare several nodes with the values of this node that they are derived from."""
    return replace(found, pieces=tuple(_followed(piece, replies) for piece in found.pieces))


def _followed(piece: ProofFact, replies: NodeReplies) -> ProofFact:
    source = piece.evidence.source if piece.evidence is not None else ""
    if piece.leaf is not None or not source.startswith("from "):
        return piece
    keys = [segment.key or "" for segment in paths.parse(piece.path).segments if segment.key is not None]
    needs = source.removeprefix("from ").rpartition(" of ")[0] or source.removeprefix("from ")
    names = [name for need in needs.split(", ") if "/*" in need for name in replies.named(paths.parse(need).fill(keys))]
    rows = tuple(bare(name, replies) for name in names[:INPUTS])
    return replace(piece, inputs=rows, cut=len(names) - len(rows))


def records(fact: Path, found: Sequence[BurnRecordDict], most: int) -> RawText:
    """Return at most `most` records that a fact was read from; faults are preferred, then work records, then samples.

    If no record belongs to the fact, return the first records about the part that the fact is about.
    """
    thing = _thing(fact)
    about = [(at, record) for at, record in enumerate(found) if _is_about(record, thing)]
    hits = dict.fromkeys(at for at, record in about if record.get("k") == "error")
    hits |= dict.fromkeys(_work(fact, about))
    hits |= dict.fromkeys(_samples(fact, about))
    hits |= dict.fromkeys(_words(fact, found))
    shown = sorted(list(hits)[:most] or [at for at, _ in about[:most]])
    rows = tuple(NumberedLine(at + 1, _text(found[at], thing), at in hits) for at in shown)
    name = f"burn-in, records of {thing}" if thing else "burn-in"
    trouble = "" if rows else "no record of this fact"
    return RawText(name, Plane.BURNIN, rows, len(about) if thing else len(found), trouble=trouble)


def _thing(fact: Path) -> str:
    """Return the name that burn-in records use for the part that a fact is about.

    The result is, for example, `gpu/3` for one GPU and `gpu` for all GPUs; it is `bmc` for values of the BMC, and empty
    for the whole node.
    """
    segment = next((s for s in fact.segments[1:] if s.word in KINDS), None)
    if segment is None:
        return "bmc" if fact.segments[-1].word in {"inlet", "power"} else ""
    kind = KINDS[segment.word]
    return kind if segment.key in {None, EVERY} else f"{kind}/{segment.key}"


def _is_about(record: BurnRecordDict, thing: str) -> bool:
    of = str(record.get("of", ""))
    if thing.startswith("gpu/") and of.startswith("peer/"):
        return of.removeprefix("peer/").partition("-")[0] == thing.removeprefix("gpu/")
    if thing == "cpu" and of == "node":
        return True
    return of == thing or (bool(thing) and "/" not in thing and of.startswith(f"{thing}/"))


def _work(fact: Path, about: Sequence[tuple[int, BurnRecordDict]]) -> list[int]:
    """Find the work records of the fact's stage and test, or all work records of the stage if none has this test."""
    words = [segment.word for segment in fact.segments]
    stages = {STAGES[word] for word in words[2:] if word in STAGES}
    mine = [(at, r) for at, r in about if r.get("k") == "stage" and (not stages or r.get("stage") in stages)]
    tested = [at for at, record in mine if record.get("test") == words[-1]]
    wrong = [at for at, record in mine if record.get("mismatches") or record.get("status") != "done"]
    return tested or [*wrong, *(at for at, _ in mine if at not in wrong)] if stages or words[-1] in WORK else tested


WORK = frozenset({
    "mismatches", "results", "rate", "share", "coverage", "tested", "odd", "triad", "odd_sms", "result", "reserved",
    "in_use", "left",
})  # fmt: skip
"""Facts whose path ends in one of these words are read from work records."""


def _samples(fact: Path, about: Sequence[tuple[int, BurnRecordDict]]) -> list[int]:
    """Find the samples that a measurement or a counter is derived from: the first, the highest and the last sample.

    For facts that are derived from the column `up`, the sample with the lowest value of `up` is also returned.
    """
    word = fact.segments[-1].word
    column = COLUMNS.get(word, word)
    rows = [(at, r[column]) for at, r in about if r.get("k") == "sample" and isinstance(r.get(column), int | float)]
    if not rows:
        return []
    lowest = [min(rows, key=lambda each: each[1])[0]] if column == "up" else []
    return list(dict.fromkeys([*lowest, max(rows, key=lambda each: each[1])[0], rows[0][0], rows[-1][0]]))


def _words(fact: Path, found: Sequence[BurnRecordDict]) -> list[int]:
    """Find the records of a fact about a part's description, a fault, or the start or end of the burn-in."""
    word = fact.segments[-1].word
    kinds = {
        "model": ("about",), "uuid": ("about",), "serial": ("about",), "variant": ("about",), "gpu": ("about",),
        "end": ("verdict",), "seed": ("hello",), "tier": ("hello",), "faults": ("error",), "fault": ("error",),
    }.get(word, ())  # fmt: skip
    thing = _thing(fact)
    return [
        at for at, record in enumerate(found)
        if record.get("k") in kinds and ("of" not in record or not thing or record["of"] == thing)
        and (record.get("k") != "about" or thing.partition("/")[0] in {word.rstrip("s") for word in record})
    ]  # fmt: skip


def _text(record: BurnRecordDict, thing: str) -> str:
    """Format a record as one line; if a record lists several GPUs, only the GPU `thing` is included."""
    gpus, index = record.get("gpus"), thing.partition("/")[2]
    if isinstance(gpus, dict) and index in gpus:
        record = {"k": record.get("k"), "t": record.get("t"), "gpus": {index: gpus[index]}}
    record = {key: _cut(value) for key, value in record.items()}
    first = {key: record[key] for key in ("k", "t", "of", "stage", "test", "name") if key in record}
    text = visible(scrub_text(json.dumps({**first, **record}, ensure_ascii=False)))
    return text if len(text) <= 2 * WIDTH else f"{text[: 2 * WIDTH]}…"


def _cut(value: Any) -> Any:
    """Return the first members of a long list, and the number of further members."""
    if not isinstance(value, list) or len(value) <= 2 * MEMBERS:
        return value
    return [*value[:MEMBERS], f"and {len(value) - MEMBERS} more"]
