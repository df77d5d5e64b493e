"""Reads one node's burn-in for a document: curves, stages, findings, what was not tested, and facts. Pure.

Only records that the document shows are kept, and curves have fewer points, so that 1,000 nodes fit into memory.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rackcheck.evaluate.verdict import Status
from rackcheck.model.burn_record import Burn, Fault
from rackcheck.model.fact import clean
from rackcheck.model.tree import Leaf
from rackcheck.parse.burnin.series import Band, Series, bands, series
from rackcheck.report.burn_figures import BURNIN, Meaning, Thing, meanings, things
from rackcheck.run.event import Judged

FAULTS = 64
"""Maximum number of listed findings of one node; a finding combines all records with the same part, name and stage."""

REASONS = 64
"""One node's list of untested stages has at most 64 times this number of entries."""

POINTS, MANY, FEW = 300, 200, 60
"""Maximum number of points of a curve: POINTS in runs of up to MANY nodes, FEW in larger runs."""

ITEMS = {"gpu": "gpu", "core": "cpu", "memory": "numa", "nic": "nic"}
"""For each collection in the facts of a burn-in, the word that the burn-in's records use for its items."""


@dataclass(frozen=True, slots=True)
class About:
    """A burn-in's metadata; values that were not reported are None or empty."""

    tier: str = ""
    seed: int | None = None
    version: str = ""
    simulated: bool = False
    ended: str = ""
    why: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BurnFinding:
    """One finding: part, name of the fault, stage, a text with location and values, and number of reports."""

    item: str
    name: str
    stage: str
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class BurnPart:
    """A GPU as reported by the driver."""

    model: str = ""
    serial: str = ""
    slot: str = ""


@dataclass(frozen=True)
class Burnt:
    """A burn-in of one node.

    `untested` contains pairs: a part and a stage as one text, and the reason why the stage was not done. `odd` are the
    parts on which a rule failed or warned; `failed` are the ids of the rules that failed or warned. `things` are the
    parts with their figures; `meanings` contains the unit and the help text of each figure.
    """

    node: str
    about: About
    parts: Mapping[str, BurnPart]
    curves: tuple[Series, ...] = field(repr=False)
    bands: tuple[Band, ...] = field(repr=False)
    wrong: tuple[BurnFinding, ...]
    more_wrong: int
    untested: tuple[tuple[str, str], ...]
    things: tuple[Thing, ...] = field(default=(), repr=False)
    meanings: Mapping[str, Meaning] = field(default_factory=dict, repr=False)
    odd: frozenset[str] = frozenset()
    failed: tuple[str, ...] = ()


def read(node: str, burn: Burn, leaves: Mapping[str, Leaf], nodes: int) -> Burnt:
    """Read one node's burn-in records and the facts derived from them; `nodes` is the number of nodes in the run."""
    hello = burn.hello
    seed, version, tier = hello.get("seed"), hello.get("version"), hello.get("tier")
    times = [stage.t for stage in burn.stages] + [rows[-1].t for rows in burn.samples.values()]
    about = About(
        tier=clean(tier, 40) if isinstance(tier, str) else "",
        seed=seed if isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < 1 << 64 else None,
        version=clean(version, 40) if isinstance(version, str) else "",
        simulated=hello.get("simulated") is True,
        ended=burn.ended or "no verdict was written",
        why=burn.why,
        seconds=max(times, default=None),
    )
    wrong = _wrong(burn.faults)
    return Burnt(
        node, about, {f"gpu/{key}": _part(values) for key, values in burn.gpus.items()},
        tuple(series(burn, POINTS if nodes <= MANY else FEW)), bands(burn), tuple(wrong[:FAULTS]),
        max(0, len(wrong) - FAULTS), tuple(_untested(burn)), tuple(things(leaves)), meanings(leaves),
    )  # fmt: skip


def with_verdicts(burnt: Burnt, judged: Judged) -> Burnt:
    """Return a copy that also contains the failing and warning burn-in rules, and the parts in their evidence."""
    bad = {Status.FAIL, Status.WARN}
    failed = [v for v in judged.verdicts if v.status in bad and any(e.item.startswith(BURNIN) for e in v.evidence)]
    items = (e.item for v in failed for e in v.evidence if e.status in bad)
    things = {thing for item in items if (thing := _thing(item))}
    return replace(burnt, odd=burnt.odd | things, failed=tuple(verdict.rule for verdict in failed))


def _thing(item: str) -> str:
    """Return the part that a fact is about, as named in records: `gpu/3` for `burnin.gpu/3.among.work`."""
    kind, _, rest = item.removeprefix(BURNIN).partition("/")
    if not item.startswith(BURNIN) or kind not in ITEMS:
        return ""
    key = rest[1:].partition('"')[0] if rest.startswith('"') else rest.partition(".")[0]
    return f"{ITEMS[kind]}/{key}"


def _part(values: Mapping[str, object]) -> BurnPart:
    model, serial, slot = (
        clean(v, 120) if isinstance(v := values.get(n), str) else "" for n in ("model", "serial", "pci")
    )
    return BurnPart(model, serial, slot)


def _wrong(faults: Iterable[Fault]) -> list[BurnFinding]:
    """Combine fault records with the same part, name and stage into one finding with their total count."""
    found: dict[tuple[str, str, str], list[Fault]] = {}
    for fault in faults:
        found.setdefault((fault.of, fault.name, fault.word("stage")), []).append(fault)
    return [
        BurnFinding(of, name, stage, ", ".join(_details(rows)), sum(_count(fault) for fault in rows))
        for (of, name, stage), rows in found.items()
    ]


def _count(fault: Fault) -> int:
    return int(min(fault.number("count") or fault.number("more") or 1, 1e15))


def _details(rows: list[Fault]) -> Iterator[str]:
    """Yield details of a fault: the SMs or CPUs from all of its records, and everything else from a single record."""
    first = rows[0]
    for name, word in (("sm", "SM"), ("cpu", "CPU")):
        units = sorted({int(value) for fault in rows if (value := fault.number(name)) is not None})
        if units:
            yield f"{word} {', '.join(map(str, units[:8]))}{f' and {len(units) - 8} more' if len(units) > 8 else ''}"
    for name, word in (("tile", "tile"), ("address", "address"), ("other", "as address"), ("pattern", "pattern")):
        if first.word(name):
            yield f"{word} {first.word(name)}"
    if first.word("want") or first.word("got"):
        yield f"{first.word('got') or 'an unreported value'} instead of {first.word('want') or 'an unreported value'}"
    if first.word("hash") or first.word("theirs"):
        yield f"result {first.word('hash') or 'not reported'}, its peers' {first.word('theirs') or 'not reported'}"
    bits = first.number("bits")
    if bits is not None:
        yield f"{bits:.0f} {'bit differs' if bits == 1 else 'bits differ'}"
    for name, word in (("xid", "Xid"), ("code", "code")):
        value = first.number(name)
        if value is not None:
            yield f"{word} {value:.0f}"
    for name, unit in (("temp", "C"), ("limit", "C allowed")):
        value = first.number(name)
        if value is not None:
            yield f"{value:.1f} {unit}"
    message = next((text for fault in rows if (text := fault.word("said") or fault.word("line"))), "")
    if message:
        yield message


def _untested(burn: Burn) -> Iterator[tuple[str, str]]:
    """Yield pairs of untested work and the reason, such as (`gpu/3 links`, `contended: 0.2 of a core`)."""
    rows = [(f"{stage.of} {stage.stage}", stage.why) for stage in burn.stages if not stage.done]
    rows += list(burn.troubles)
    yield from list(dict.fromkeys(rows))[: REASONS * 64]
