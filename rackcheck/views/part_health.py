"""Computes the state of each part in a burn-in: faults so far, or verdicts. Healthy parts may share one row. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from statistics import median

from rackcheck.evaluate.verdict import Evidence, Status, Verdict
from rackcheck.model import path as paths
from rackcheck.model.fact import clean
from rackcheck.model.path import BadPath
from rackcheck.model.profile import Rule
from rackcheck.model.text import natural
from rackcheck.views.burning import Burns, LoadedNode
from rackcheck.views.part import HOST, LoadedPart

PEERS = 4
"""Minimum number of GPUs of a node in the same stage to detect an outlier."""

FAR = 6.0
"""Maximum distance of a GPU from the median of the node's GPUs, in median absolute deviations."""

FLOORS = {"clock": 0.01, "temp": 0.03}
"""Minimum of the median absolute deviation, as a fraction of the median; needed because sensors round their values."""

OWN = "burnin."
"""Prefix of burn-in rules; the prefix is left out on the burn-in screen."""


class Rank(IntEnum):
    """The ranks of parts, in the order in which the parts are shown."""

    WRONG = 0
    UNKNOWN = 1
    ODD = 2
    FINE = 3


RANKS = {Status.FAIL: Rank.WRONG, Status.UNKNOWN: Rank.UNKNOWN, Status.WARN: Rank.ODD, Status.WAIVED: Rank.ODD}
"""Verdicts that need attention, with their ranks; the worst is first."""


@dataclass(frozen=True, slots=True)
class Bearing:
    """The state of a part: its rank and a text; `status` and `rule` of the verdict are set when the part is judged."""

    rank: Rank
    words: str
    status: Status | None = None
    rule: str = ""


@dataclass(frozen=True, slots=True)
class PartsRow:
    """Parts that are shown in one line: a single part, or all healthy parts of a node."""

    parts: tuple[LoadedPart, ...]
    bearing: Bearing

    @property
    def name(self) -> str:
        """The name of the row, which stays the same when other rows change."""
        first = self.parts[0]
        return f"{first.node} {first.of}" if len(self.parts) == 1 else f"{first.node} rest"


def rows(
    burns: Burns, rules: Mapping[str, Rule], nodes: Collection[str], *, most: int, whole: bool = False
) -> tuple[PartsRow, ...]:
    """Return the rows with the parts of the nodes in `nodes`, faults first.

    If there are more than `most` parts, the healthy parts of a node share a row. If `whole` is true, every part has its
    own row.
    """
    found = [PartsRow((part,), bears) for name in nodes for part, bears in bearings(burns, burns.benches[name], rules)]
    if not whole and len(found) > most:
        found = list(_folded(found))
    return tuple(sorted(found, key=_order))


def _order(row: PartsRow) -> tuple[object, ...]:
    first = row.parts[0]
    return (
        row.bearing.rank,
        row.bearing.status is Status.UNKNOWN,
        natural(first.node),
        len(row.parts) > 1,
        first.of == HOST,
        natural(first.of),
    )


def _folded(found: Sequence[PartsRow]) -> Iterator[PartsRow]:
    fine: dict[tuple[str, str], list[PartsRow]] = {}
    for row in found:
        if row.bearing.rank is Rank.FINE:
            fine.setdefault((row.parts[0].node, row.bearing.words), []).append(row)
        else:
            yield row
    for alike in fine.values():
        yield PartsRow(tuple(part for row in alike for part in row.parts), alike[0].bearing)


def bearings(burns: Burns, bench: LoadedNode, rules: Mapping[str, Rule]) -> Iterator[tuple[LoadedPart, Bearing]]:
    """Yield each part of a node with its state."""
    judged = _judged(bench, rules) if bench.judged is not None and bench.over else None
    passed = _passed(bench, rules)
    odd = _odd(burns, bench) if judged is None else {}
    for part in bench.parts:
        if judged is not None:
            yield part, _with_faults(part, judged[part.of]) if part.of in judged else _passes(part, passed)
        else:
            yield part, _so_far(bench, part, odd.get(part.of, ""))


def _passed(bench: LoadedNode, rules: Mapping[str, Rule]) -> frozenset[bool]:
    """Return for which kinds of parts any rule passed: True stands for GPUs, False for hosts."""
    verdicts = bench.judged.verdicts if bench.judged is not None else ()
    return frozenset(_of_gpus(rules.get(v.rule)) for v in verdicts if v.status is Status.PASS)


def _of_gpus(rule: Rule | None) -> bool:
    return rule is not None and any(segment.word == "gpu" for fact in rule.facts() for segment in fact.segments)


def _passes(part: LoadedPart, passed: Collection[bool]) -> Bearing:
    if (part.of != HOST) not in passed:  # without any verdict, a part does not pass
        return Bearing(Rank.FINE, "not judged", Status.NA)
    if part.faults:
        return Bearing(Rank.ODD, f"pass; {_names(part)}", Status.PASS)
    return Bearing(Rank.FINE, "pass", Status.PASS)


def _with_faults(part: LoadedPart, bears: Bearing) -> Bearing:
    """Add a part's faults to the text of its state if the verdict on the part is unknown."""
    if bears.status is not Status.UNKNOWN or not part.faults:
        return bears
    return replace(bears, rank=Rank.WRONG, words=f"{_names(part)}; {bears.words}")


def _so_far(bench: LoadedNode, part: LoadedPart, odd: str) -> Bearing:
    """Return the state of a part that is not judged yet; this is not a verdict, even if there is no fault so far."""
    if part.faults:
        return Bearing(Rank.WRONG, _names(part))
    if part.untested is not None:
        return Bearing(Rank.UNKNOWN, f"not tested: {part.untested.why}")
    if bench.trouble is not None:
        return Bearing(Rank.UNKNOWN, str(bench.trouble))
    if bench.over:
        return Bearing(Rank.FINE, "not judged yet")
    if odd:
        return Bearing(Rank.ODD, odd)
    return Bearing(Rank.FINE, "no fault yet" if part.works else "starting")


def _names(part: LoadedPart) -> str:
    """Format the distinct names of a part's faults: `mismatch, xid`.

    If a part has more faults than distinct names, the number of faults follows.
    """
    names = list(dict.fromkeys(clean(fault.name, 40) for fault in part.faults))
    return ", ".join(names) + (f" ({part.wrong})" if part.wrong > len(names) else "")


def _judged(bench: LoadedNode, rules: Mapping[str, Rule]) -> Mapping[str, Bearing]:
    """Assign each verdict that needs attention to the GPUs in its evidence, else to the host.

    If the evidence contains no GPU and the rule reads facts of GPUs, the verdict is assigned to all GPUs.
    """
    assert bench.judged is not None
    values: dict[str, list[tuple[Verdict, str]]] = {}
    for verdict in bench.judged.verdicts:
        if verdict.status in RANKS:
            for of in _about(bench, verdict, rules.get(verdict.rule)):
                values.setdefault(of, []).append((verdict, seen(verdict, of, bench.numbers)))
    return {of: _worst(found) for of, found in values.items()}


def _worst(found: Sequence[tuple[Verdict, str]]) -> Bearing:
    status = next(status for status in RANKS if any(verdict.status is status for verdict, _ in found))
    alike = [(verdict.rule, why) for verdict, why in found if verdict.status is status]
    rule, why = alike[0]
    words = why if status is Status.UNKNOWN and why else rule.removeprefix(OWN)
    more = f" and {len(alike) - 1} more" if len(alike) > 1 and words != why else ""
    waived = "waived: " if status is Status.WAIVED else ""
    return Bearing(RANKS[status], waived + words + more, status, rule)


def seen(verdict: Verdict, of: str, numbers: Mapping[str, str]) -> str:
    """Format a verdict on one part: the reason if the verdict is unknown, else the actual and the expected value.

    `numbers` maps the name of a GPU in facts to its name in burn-in records, as in `LoadedNode.numbers`.
    """
    mine = _telling(verdict)
    first = next((e for e in mine if part_of(e.item, numbers) == of), mine[0] if mine else None)
    if first is None:
        return verdict.reason
    if first.unknown is not None:
        return str(first.unknown)
    return f"{first.item} is {first.observed}, {first.expected}"


def _about(bench: LoadedNode, verdict: Verdict, rule: Rule | None) -> set[str]:
    items = (part_of(evidence.item, bench.numbers) for evidence in _telling(verdict))
    named = {of for of in items if of.partition("/")[2] in bench.gpus}
    if named:
        return named
    return {part.of for part in bench.gpus.values()} if _of_gpus(rule) and bench.gpus else {HOST}


def _telling(verdict: Verdict) -> list[Evidence]:
    """Return the evidence whose status is the verdict's status, or the verdict's status without waivers."""
    return [each for each in verdict.evidence if each.status in {verdict.status, verdict.truth}]


def part_of(fact: str, numbers: Mapping[str, str]) -> str:
    """Return the GPU in the path of a fact, by its index; empty if the path contains no GPU.

    The result is `gpu/3` for `burnin.gpu/3.tensor.rate`, and for `gpu/module-8.link.width` if `numbers` maps
    `gpu/module-8` to `gpu/3`.
    """
    try:
        segments = paths.parse(fact).segments
    except BadPath:
        return ""
    name = next((str(s) for s in segments if s.word == "gpu" and s.key not in {None, paths.EVERY}), "")
    return numbers.get(name, name)


def _odd(burns: Burns, bench: LoadedNode) -> Mapping[str, str]:
    """Return the GPUs with a much lower clock or a much higher temperature than the node's other GPUs in a stage."""
    stages: dict[str, list[LoadedPart]] = {}
    for part in bench.gpus.values():
        if stage := part.under_way(burns.plan):
            stages.setdefault(stage, []).append(part)
    found: dict[str, str] = {}
    for alike in stages.values():
        for column, sign, words in (("clock", -1, "its clock is low"), ("temp", 1, "it is warm")):
            items = [part for part in alike if column in part.now]
            if len(items) < PEERS:
                continue
            middle = median(part.now[column] for part in items)
            spread = median(abs(part.now[column] - middle) for part in items)
            least = FAR * max(spread, FLOORS[column] * abs(middle))
            found |= {part.of: words for part in items if sign * (part.now[column] - middle) > least}
    return found
