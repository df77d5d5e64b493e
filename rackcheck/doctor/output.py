"""Doctor's results, as text and as a JSON document, both with the same findings; pure."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any

from rackcheck.doctor.advice import advice, together
from rackcheck.doctor.finding import Controller, PlaneVisit, System
from rackcheck.doctor.summary import Blind, SharedTrouble, Ward
from rackcheck.doctor.unknown_rules import of_plane
from rackcheck.model.fact import Plane
from rackcheck.model.fold import fold
from rackcheck.views.simulation import of_targets
from rackcheck.views.terminal import Line

FORMAT = 1

MARGIN = 2

NOT_THERE = {Plane.OS: "no host in the inventory", Plane.BMC: "no BMC in the inventory"}
"""Messages for nodes whose plane is not visited, because the inventory lacks it and no profile requires it."""

STATES = 8
"""Maximum number of groups of nodes with the same system that are shown for one plane; the JSON document has all."""

ROWS = 20
"""Maximum number of rows in the closing table of troubles, so that the table fits on a screen."""

RULES = 30
"""Maximum number of rules that are listed one by one."""

EXAMPLES = 3
"""Maximum number of nodes whose own message is shown, if the messages differ."""


def lines(ward: Ward, width: int) -> Iterator[Line]:
    """Yield all results as lines; only a single word that cannot be broken may be wider than `width`."""
    for shared in ward.shared:
        yield from _trouble(shared, ward, width)
    for gap in ward.blind:
        yield from _blind(gap, ward, width)
    for plane in (Plane.OS, Plane.BMC):
        yield from _who(plane, ward, width)
    total = len(ward.roles)
    if total > 1:
        yield from _table(ward, width)
    for plane, nodes in ward.without.items():
        yield from _block(f"{NOT_THERE[plane]}, so this plane is not read: ", fold(nodes), width, "")
    if any(visit.who is not None for visit in ward.visits):
        yield Line()
    if ward.interrupted and ward.unasked:
        yield from _block(
            f"Interrupted: {len(ward.unasked)} of {total} not read completely: ", fold(ward.unasked), width, "yellow"
        )
    style = "bold green" if len(ward.ready) == total else "bold magenta"
    yield from _block(
        f"{len(ward.ready)} of {total} ready" + (": " if ward.ready else ""), fold(ward.ready), width, style
    )


def _trouble(shared: SharedTrouble, ward: Ward, width: int) -> Iterator[Line]:
    count = f"{len(shared.nodes)} of {len(ward.roles)}"
    yield from _block(f"{shared.plane.value}: {shared.trouble.value}  {count}: ", fold(shared.nodes), width, "bold red")
    seen: dict[str, list[str]] = {}
    for node, text in shared.seen.items():
        if text:
            seen.setdefault(text, []).append(node)
    for text, nodes in list(seen.items())[:EXAMPLES]:
        yield from _wrapped("saw ", text if len(seen) == 1 else f"{fold(nodes)}: {text}", width)
    if len(seen) > EXAMPLES:
        yield from _wrapped("", f"and {len(seen) - EXAMPLES} more like these (--json has all)", width)
    if shared.finding.things:
        yield from _wrapped("for ", ", ".join(shared.finding.things), width)
    value = advice(shared.finding, together(shared.places))
    yield from _wrapped("do  ", value.words, width)
    yield from (Line(((" " * (MARGIN + 6) + line, "bold"),)) for line in value.write)
    for line in value.lines:
        yield from (Line(((" " * (MARGIN + 6) + row, "bold"),)) for row in _broken(line, width - MARGIN - 6))
    yield Line()


def _table(ward: Ward, width: int) -> Iterator[Line]:
    """Yield the table of nodes that are not ready, with one row for all nodes that have the same troubles."""
    rows = [(fold(nodes), "; ".join(f"{plane.value}: {t.value}" for plane, t in kind)) for kind, nodes in ward.sick]
    if not rows:
        return
    yield Line()
    broad = min(max(len(names) for names, _ in rows), width // 2)
    for names, words in rows[:ROWS]:
        if len(names) > broad:
            yield from _block("", names, width, "")
        for number, row in enumerate(textwrap.wrap(words, max(width - broad - 2, 30))):
            head = names if number == 0 and len(names) <= broad else ""
            yield Line(((f"{head:<{broad}}  ", "bold cyan"), (row, "")))
    if len(rows) > ROWS:
        yield from _wrapped("", f"and {_more(len(rows) - ROWS)} (--json has all)", width)


def _blind(gap: Blind, ward: Ward, width: int) -> Iterator[Line]:
    # Whether a rule applies may depend on data that doctor does not collect.
    kind = f"rules of {ward.profile.name}, if they apply," if ward.profile is not None else "probes"
    if gap.total == 1:
        kind = kind.replace("rules", "rule").replace("they apply", "it applies").replace("probes", "probe")
    every = "the one" if gap.total == 1 else f"all {gap.total}"
    if len(gap.what) < gap.total:
        every = f"{len(gap.what)} of {gap.total}"
    yield from _block(f"unknown: {every} {kind} on ", fold(gap.nodes), width, "bold magenta")
    if len(gap.what) < gap.total:
        more = " (--json has each)" if ward.profile is not None and len(gap.what) > RULES else ""
        yield from _wrapped("", ", ".join(_gaps(gap.what, ward)) + more, width, "dim")
    yield Line()


def _gaps(what: tuple[str, ...], ward: Ward) -> Iterator[str]:
    """Yield the rules that will be unknown; without a profile, the probes that will have no data.

    To fit on a screen, many rules are listed by the first part of their ids, and all probes of a plane as one item.
    """
    if ward.profile is not None:
        yield from what if len(what) <= RULES else _families(what)
        return
    whole: set[str] = set()
    for plane in sorted(ward.plan.planes):
        probes = of_plane(ward.plan, plane)
        if set(probes) <= set(what):
            whole |= set(probes)
            yield f"all of the {plane.value} plane"
    yield from (name for name in what if name not in whole)


def _families(rules: tuple[str, ...]) -> Iterator[str]:
    counted = Counter(rule.partition(".")[0] for rule in rules)
    alone = {rule.partition(".")[0]: rule for rule in rules}
    yield from (f"{word}.* ({count})" if count > 1 else alone[word] for word, count in counted.items())


def _who(plane: Plane, ward: Ward, width: int) -> Iterator[Line]:
    states = ward.who(plane)
    for words, visits in states[:STATES]:
        message = "; ".join(word for word in (*words, _speed(visits)) if word)
        answer = "answers" if len(visits) == 1 else "answer"
        yield from _block(f"{plane.value}  {len(visits)} {answer}: ", fold(v.node for v in visits), width, "bold")
        yield from _wrapped("", message, width)
    if len(states) > STATES:
        yield from _wrapped("", f"{plane.value}: and {_more(len(states) - STATES)} (--json has all)", width)


def _more(count: int) -> str:
    return f"{count} more group{'' if count == 1 else 's'} of nodes"


def _speed(visits: Iterable[PlaneVisit]) -> str:
    """Format how fast these planes are: the median, and the slowest plane if it is much slower."""
    people = [visit.who for visit in visits]
    logins = [who.login for who in people if isinstance(who, System) and who.login is not None]
    scripts = [who.script for who in people if isinstance(who, System) and who.script is not None]
    gets = [who.get for who in people if isinstance(who, Controller) and who.get is not None]
    rows = [f"{word} {_seconds(found)}" for word, found in (("login", logins), ("script", scripts)) if found]
    if gets:
        hundred = median(gets) * 100
        many = f", so 100 resources one by one take {hundred:.0f} s" if hundred >= 1 else ""
        rows.append(f"a GET {_seconds(gets)}{many}")
    return ", ".join(rows)


def _seconds(found: list[float]) -> str:
    middle, most = median(found), max(found)
    return f"{middle:.2f} s" + (f" (up to {most:.2f})" if most > 2 * middle and most - middle > 0.1 else "")


def _block(head: str, rest: str, width: int, style: str) -> Iterator[Line]:
    """Yield a heading with its nodes; a long list of nodes continues on the next lines."""
    rows = textwrap.wrap(rest, max(width - len(head), 30), break_long_words=False, break_on_hyphens=False) or [""]
    if len(rows) == 1 and len(head) + len(rows[0]) <= width:
        yield Line(((head, style), (rows[0], "bold cyan")))
        return
    yield Line(((head.rstrip(), style),))
    pieces = re.findall(r"[^,]+,?", rest)
    row = ""
    for piece in pieces:
        if row and len(row) + len(piece) > width - MARGIN:
            yield Line(((" " * MARGIN + row, "bold cyan"),))
            row = ""
        row += piece
    yield Line(((" " * MARGIN + row, "bold cyan"),))


def _wrapped(label: str, text: str, width: int, style: str = "") -> Iterator[Line]:
    room = max(width - MARGIN - len(label), 30)
    for number, row in enumerate(textwrap.wrap(text, room, break_long_words=True, break_on_hyphens=False)):
        yield Line(((" " * MARGIN, ""), (label if number == 0 else " " * len(label), "dim"), (row, style)))


def _broken(line: str, width: int) -> Iterator[str]:
    """Break a command between words, so that it can still be pasted as a whole."""
    words = re.findall(r"""(?:[^\s'"]|'[^']*'|"[^"]*")+""", line)
    row = ""
    for word in words:
        if row and len(row) + 1 + len(word) > width - 2:
            yield f"{row} \\"
            row = f"  {word}"
        else:
            row = f"{row} {word}" if row else word
    yield row


def document(ward: Ward, targets: str) -> dict[str, Any]:
    """Return the JSON document: every node with all its findings and advice, without grouping."""
    return {
        "rackcheck": FORMAT,
        "targets": targets,
        **({"simulated": True} if ward.simulated or of_targets(targets) else {}),
        "profile": ward.profile.name if ward.profile is not None else "",
        "interrupted": ward.interrupted,
        "ready": list(ward.ready),
        "troubles": [
            {"trouble": s.trouble.value, "plane": s.plane.value, "nodes": list(s.nodes), "folded": fold(s.nodes)}
            for s in ward.shared
        ],
        "nodes": {
            name: {
                "ready": name in set(ward.ready),
                "role": ward.roles[name],
                "planes": {visit.plane.value: _visit(visit) for visit in visits},
                "without": [plane.value for plane, nodes in ward.without.items() if name in nodes],
                "unknown": list(ward.gap(name)),
            }
            for name, visits in ward.by_node.items()
        },
    }


def _visit(visit: PlaneVisit) -> dict[str, Any]:
    who = visit.who
    names = () if who is None else (name for name in who.__dataclass_fields__ if name != "simulator" or who.simulator)
    values = {name: getattr(who, name) for name in names}
    return {
        "who": {name: round(value, 3) if isinstance(value, float) else value for name, value in values.items()} or None,
        "troubles": [
            {
                "trouble": finding.trouble.value,
                "seen": finding.seen,
                "for": list(finding.things),
                "do": advice(finding, visit.place).words,
                "type": list(advice(finding, visit.place).lines),
                "write": list(advice(finding, visit.place).write),
            }
            for finding in visit.findings
        ],
    }
