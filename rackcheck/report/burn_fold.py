"""Summarizes burn-ins of many nodes: the work, what was not tested and why, findings, ranges of figures. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median

from rackcheck.model.regex import regex
from rackcheck.model.text import natural
from rackcheck.report.burn_charts import charts
from rackcheck.report.burn_figures import KINDS, LIGHT, NAMES, Light, Meaning, Thing
from rackcheck.report.burn_model import (
    Burned,
    BurnFault,
    BurnFigure,
    BurnGap,
    BurnLimit,
    BurnRow,
    BurnRun,
    BurnTable,
    BurnUntested,
    figure,
    unit,
)
from rackcheck.report.burn_read import About, BurnPart, Burnt

MOST = 400
"""Maximum number of findings that a document lists; findings above this number are only counted."""

UNVERIFIED = "unverified on hardware"

SCALES = {"C", "%", ""}
"""Units for which a relative spread is meaningless: 0 °C is not a true zero, and shares are already relative."""

BurntThing = tuple[Burnt, Thing]

_NUMBER = regex(r"(?<![\w.])\d++(?:\.\d++)?+(?!\w|\.\d)")


def fold(runs: Sequence[tuple[str, Mapping[str, Burnt]]]) -> Burned | None:
    """Summarize burn-ins; `runs` has each run's name and its burn-ins by node, from the oldest run to the newest.

    The summary has findings, figures and charts only of each node's newest burn-in. Returns None if there was no
    burn-in.
    """
    if not any(burnt for _, burnt in runs):
        return None
    newest = {node: burnt for _, values in runs for node, burnt in values.items()}
    latest = [newest[node] for node in sorted(newest, key=natural)]
    faults = [fault for burnt in latest for fault in _faults(burnt)]
    return Burned(
        runs=tuple(_run(run, values) for run, by_node in runs for values in _alike(by_node)),
        untested=tuple(_untested(latest)),
        faults=tuple(faults[:MOST]),
        more_faults=max(0, len(faults) - MOST) + sum(burnt.more_wrong for burnt in latest),
        tables=tuple(_tables(latest)),
        limits=tuple(_limits(latest)),
        charts=charts(latest),
    )


def folded(rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Combine sentences that differ only in numbers; numbers that differ become a range.

    Each of `rows` is a pair of a sentence and a node. Yields tuples of a combined sentence, the number of rows that it
    combines, and the nodes of these rows; the most frequent sentence is first.
    """
    found: dict[str, list[tuple[list[str], str]]] = defaultdict(list)
    for sentence, node in rows:
        found[_NUMBER.sub("\0", sentence)].append((_NUMBER.findall(sentence), node))
    for shape, items in sorted(found.items(), key=lambda each: (-len(each[1]), each[0])):
        ranges = iter(_range([numbers[at] for numbers, _ in items]) for at in range(len(items[0][0])))
        nodes = tuple(sorted({node for _, node in items}, key=natural))
        yield "".join(part + next(ranges, "") for part in shape.split("\0")), len(items), nodes


def _range(numbers: Sequence[str]) -> str:
    low, high = min(numbers, key=float), max(numbers, key=float)
    return low if float(low) == float(high) else f"{low} to {high}"


def _alike(by_node: Mapping[str, Burnt]) -> Iterator[list[Burnt]]:
    """Group the nodes of one run whose burn-ins have the same settings and end; in a group, durations may differ."""
    found: dict[tuple[object, ...], list[Burnt]] = defaultdict(list)
    for node in sorted(by_node, key=natural):
        about = by_node[node].about
        found[about.tier, about.seed, about.version, about.ended, about.why, about.simulated].append(by_node[node])
    yield from found.values()


def _run(run: str, rows: Sequence[Burnt]) -> BurnRun:
    about: About = rows[0].about
    seconds = max((burnt.about.seconds for burnt in rows if burnt.about.seconds is not None), default=None)
    return BurnRun(
        run, about.tier, about.seed, "" if seconds is None else figure(seconds), about.version, about.ended, about.why,
        tuple(burnt.node for burnt in rows), about.simulated,
    )  # fmt: skip


def _untested(latest: Sequence[Burnt]) -> Iterator[BurnUntested]:
    """Group what was not tested by kind of part, stage and reason."""
    kinds = {"gpu": "GPU", "peer": "GPU", "cpu": "CPU", "numa": "memory", "nic": "network port", "disk": "disk"}
    gathered: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for burnt in latest:
        for what, why in burnt.untested:
            of, _, stage = what.partition(" ")
            kind = kinds.get(of.partition("/")[0], of.partition("/")[0])
            gathered[f"{kind} {stage}".strip() if kind != "node" or not stage else stage].append((why, burnt.node))
    for what in sorted(gathered, key=natural):
        for why, count, nodes in folded(gathered[what]):
            yield BurnUntested(what, why, count, nodes)


def _faults(burnt: Burnt) -> Iterator[BurnFault]:
    for wrong in sorted(burnt.wrong, key=lambda each: (natural(each.item), each.name, each.stage)):
        part = burnt.parts.get(wrong.item, BurnPart())
        yield BurnFault(
            burnt.node, wrong.item, wrong.name, wrong.stage, part.model, part.serial, part.slot, wrong.text,
            wrong.count, burnt.about.seed, burnt.about.tier,
        )  # fmt: skip


def _tables(latest: Sequence[Burnt]) -> Iterator[BurnTable]:
    """Yield a table for each kind and model of part; figures for which no part has a value are left out."""
    meanings = {name: meaning for burnt in latest for name, meaning in burnt.meanings.items()}
    for number, kind in enumerate(KINDS):
        models: dict[str, list[BurntThing]] = defaultdict(list)
        for burnt in latest:
            for thing in burnt.things:
                if thing.kind == number:
                    models[thing.model].append((burnt, thing))
        for model in sorted(models, key=natural):
            rows = models[model]
            kept = [n for n in range(len(kind.figures)) if any(thing.values[n] is not None for _, thing in rows)]
            figures = tuple(
                _figure(kind.figures[n][1], meanings.get(f"{kind.name} {kind.figures[n][0]}", Meaning("", "")), rows, n)
                for n in kept
            )
            if figures:
                yield BurnTable(kind.name, model, figures, tuple(_row(*each, kept) for each in rows))


def _row(burnt: Burnt, thing: Thing, kept: Sequence[int]) -> BurnRow:
    part = burnt.parts.get(thing.item, BurnPart())
    values = tuple("" if (value := thing.values[n]) is None else figure(value) for n in kept)
    odd = thing.item in burnt.odd or any(wrong.item == thing.item for wrong in burnt.wrong)
    return BurnRow(burnt.node, thing.item, part.serial, part.slot, odd, values)


def _figure(name: str, meaning: Meaning, rows: Sequence[BurntThing], n: int) -> BurnFigure:
    known = [(value, (burnt.node, thing.item)) for burnt, thing in rows if (value := thing.values[n]) is not None]
    low, high = min(known, key=lambda each: each[0]), max(known, key=lambda each: each[0])
    share = meaning.unit not in SCALES and high[0] > 0
    spread = (high[0] - low[0]) / high[0] * 100 if share else high[0] - low[0]
    note = UNVERIFIED if UNVERIFIED in meaning.help.casefold() else ""
    return BurnFigure(
        name, unit(meaning.unit), meaning.help, len(known), len(rows), figure(low[0]),
        figure(median(value for value, _ in known)), figure(high[0]), f"{spread:.1f}" if spread < 1e9 else "",
        "%" if share else unit(meaning.unit), low[1], high[1], note,
    )  # fmt: skip


def _limits(latest: Sequence[Burnt]) -> Iterator[BurnLimit]:
    """Yield, for each figure and GPU model, the comparison of the measured rates with their physical limits."""
    meanings = {name: meaning for burnt in latest for name, meaning in burnt.meanings.items()}
    for name in LIGHT:
        models: dict[str, list[tuple[str, str, Light]]] = defaultdict(list)
        for burnt in latest:
            for thing in burnt.things:
                for light in thing.lights:
                    if light.name == name:
                        models[thing.model].append((burnt.node, thing.item, light))
        for model in sorted(models, key=natural):
            yield _limit(name, model, unit(meanings.get(f"light {name}", Meaning("", "")).unit), models[model])


def _limit(name: str, model: str, message: str, rows: Sequence[tuple[str, str, Light]]) -> BurnLimit:
    rates = [light.rate for _, _, light in rows if light.rate is not None]
    limits = [light.limit for _, _, light in rows if light.limit is not None]
    reached = [(light.reached, (node, item)) for node, item, light in rows if light.reached is not None]
    gaps = tuple(BurnGap(*each) for each in folded((gap, node) for node, _, light in rows for gap in light.gaps))
    whys = [why for why, _, _ in folded((light.why, node) for node, _, light in rows if light.why)]
    least, where = min(reached, key=lambda each: each[0]) if reached else (0.0, ("", ""))
    values = [value for value, _ in reached]
    return BurnLimit(
        NAMES[name], model, message, len(reached), len(rows), _shown(rates, median), _shown(limits, min),
        _shown(limits, max), figure(least) if reached else "", _shown(values, median), _shown(values, max), where, gaps,
        "; ".join(whys[:3]),
    )  # fmt: skip


def _shown(values: Sequence[float], pick: Callable[[Sequence[float]], float]) -> str:
    return figure(pick(values)) if values else ""
