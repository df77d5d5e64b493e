"""`rackcheck odd`: nodes that differ from most nodes of their role."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import filters, options
from rackcheck.filter.where import NODE_KEYS, TEXT, FilterRow, Where, left_out
from rackcheck.model.fold import fold, groups
from rackcheck.profile.layers import did_you_mean
from rackcheck.session import last_run, rejudge
from rackcheck.session.output import is_plain, note, print_lines, width
from rackcheck.session.subject import RunSubject as Run
from rackcheck.session.subject import find
from rackcheck.views import machine
from rackcheck.views.census import Census
from rackcheck.views.odd import Deviation, Odd, RoleMajority, peers
from rackcheck.views.signs import Signs
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line, simulation, within

FACT_KEYS = frozenset({"fact", "class", TEXT})
"""The filter keys of `rackcheck odd --where` that select facts."""

MOST = 20
"""Maximum number of nodes, and of deviations, that are shown without `--all`."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown of a run: its roles, limited by the filter, and the nodes for which the filter is undecided."""

    roles: tuple[RoleMajority, ...]
    unsure: tuple[str, ...]

    @property
    def status(self) -> int:
        """The exit status: 1 if a node is odd, else 3 if that is unknown for some nodes, else 0."""
        if any(role.odd for role in self.roles):
            return 1
        dark = self.unsure or not self.roles or any(role.silent or role.unknown for role in self.roles)
        return 3 if dark or all(role.why for role in self.roles) else 0


@click.command(
    name="odd",
    epilog="Exit: 0 no odd node, 1 an odd node, 2 usage error, 3 some of the facts needed are unknown.",
)
@options.newest_run_argument
@filters.where_option("Only these nodes and facts: 'rack:r03 fact:bios'.", NODE_KEYS | FACT_KEYS)
@click.option("--role", metavar="ROLE", help="Only nodes of this role.")
@click.option("--all", "every", is_flag=True, help=f"Show all lines, not only the first {MOST} of each kind.")
@options.json_option
def odd_(run: str, where: Where, role: str | None, every: bool, as_json: bool) -> int:
    """Show nodes that differ from most nodes of their role, in version and configuration facts.

    A value is usual if more than half of the nodes have it. A filter limits the output, not the nodes compared.

    \b
    rackcheck odd                              the newest audit
    rackcheck odd --role nvswitch-tray         the switch trays
    rackcheck odd --where 'fact:bios class:config'
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    subject = find(last_run.named(run, last_run.AUDIT))
    summary, census = rejudge.read(subject)
    shown = _shown(subject, census, where, role)
    filters.note_unmatched(where, {**rejudge.names(subject), "fact": tuple(census.facts())})
    if as_json:
        roles = [_role(each) for each in shown.roles]
        click.echo(machine.text({"rackcheck": machine.FORMAT, "run": subject.name, "simulated": summary.simulated,
                                 "roles": roles, "not_told": list(shown.unsure)}))  # fmt: skip
    else:
        print_lines([*simulation(width(), simulated=summary.simulated), *_lines(shown, None if every else MOST)])
        if shown.unsure:
            note(left_out(where, several(len(shown.unsure), "node")))
    return shown.status


def _shown(subject: Run, census: Census, where: Where, role: str | None) -> _Shown:
    known = peers(census)
    roles = [each.role for each in known]
    if role is not None and role not in roles:
        raise UserError(f"no node of {subject.name} has the role {role}{did_you_mean(role, roles)}")
    mine = [each for each in known if role in {None, each.role}]
    answers = rejudge.chosen(subject, where, tuple(node for each in mine for node in each.nodes))
    left = frozenset(node for node, answer in answers.items() if answer)
    unsure = tuple(node for node, answer in answers.items() if answer is None)
    kept = (_narrowed(each, left, where.about(FACT_KEYS)) for each in mine if left.intersection(each.nodes))
    return _Shown(tuple(kept), unsure)


def _narrowed(each: RoleMajority, left: frozenset[str], about: Where) -> RoleMajority:
    """Keep only these nodes and facts in the result of one role; counts of nodes with the usual value do not change."""
    deviations = {d: replace(d, nodes=tuple(n for n in d.nodes if n in left)) for d in each.deviations if _is(d, about)}
    odd = []
    for one in each.odd:
        mine = tuple(deviations[d] for d in one.deviations if d in deviations)
        if one.node in left and mine:
            odd.append(replace(one, deviations=mine, score=sum(d.weight for d in mine)))
    odd.sort(key=lambda one: -one.score)
    silent = tuple((node, count) for node, count in each.silent if node in left)
    return replace(each, odd=tuple(odd), deviations=tuple(d for d in deviations.values() if d.nodes), silent=silent)


def _is(each: Deviation, about: Where) -> bool:
    words = {"fact": each.paths, "class": (each.cls.value,), "node": each.nodes}
    return about.holds(FilterRow(words, f"{each.text} {' '.join(each.nodes)}")) is True


def _lines(shown: _Shown, most: int | None) -> Iterator[Line]:
    signs = Signs(plain=is_plain())
    if not shown.roles:
        yield Line((("no node matches", ""),))
    for number, each in enumerate(shown.roles):
        if number:
            yield Line()
        for line in _role_lines(each, most):
            for piece in within(line, width(), 6):
                yield Line(tuple((signs.piece(text), style) for text, style in piece.pieces))


def _role_lines(each: RoleMajority, most: int | None) -> Iterator[Line]:
    head = f"{each.role or 'no role'}: {several(len(each.nodes), 'node')}"
    if each.why:
        yield Line(((head, "bold"), (f"; no comparison: {each.why}", "bold magenta")))
        return
    split = f", {each.split:,} more without a majority" if each.split else ""
    dark = f"; {several(each.unknown, 'fact')} known on too few nodes" if each.unknown else ""
    message = f" compared on {several(each.agreed, 'fact')}{split}"
    yield Line(((head, "bold"), (message, ""), (dark, "magenta")))
    if not each.odd:
        unsure = each.silent or each.unknown
        message = "  no odd node by the known facts" if unsure else "  no odd node"
        yield Line(((message, "magenta" if unsure else "green"),))
    nodes = {one.node: one for one in each.odd}
    folded = groups(nodes, lambda node: (nodes[node].deviations, nodes[node].unknown))
    folded.sort(key=lambda group: -nodes[group[1][0]].score)
    for _, names in folded[:most]:
        yield _ranked(nodes[names[0]], names)
    yield from _rest(len(folded), most, "node")
    if each.deviations:
        yield Line()
    for deviation in each.deviations[:most]:
        yield Line(((f"  {fold(deviation.nodes)}: ", "bold cyan"), (deviation.text, "")))
    yield from _rest(len(each.deviations), most, "fact")
    yield from _silent({node: count for node, count in each.silent if node not in nodes})


def _ranked(one: Odd, names: Sequence[str]) -> Line:
    alone = sum(len(each.nodes) == 1 and each.weight == 1 for each in one.deviations)
    message = f"  differ{'s' if len(names) == 1 else ''} on {several(len(one.deviations), 'fact')}"
    message += f", {alone:,} of them on this node only" if alone else ""
    dark = f"; {_dark(one.unknown)}" if one.unknown else ""
    return Line(
        ((f"  {fold(names)}", "bold cyan"), (message, ""), (f"  score {one.score:.2f}", "dim"), (dark, "magenta"))
    )


def _dark(count: int) -> str:
    return f"{several(count, 'unknown fact')} that most peers report identically"


def _silent(dark: dict[str, int]) -> Iterator[Line]:
    """Yield lines with the number of unknown facts, for nodes that are not odd by their known facts."""
    for count, names in groups(dark, dark.__getitem__):
        yield Line(((f"  {fold(names)}: ", "bold cyan"), (f"? {_dark(count)}", "magenta")))


def _rest(count: int, most: int | None, what: str) -> Iterator[Line]:
    if most is not None and count > most:
        yield Line(((f"  and {several(count - most, f'more {what}')}: --all", "dim"),))


def _role(each: RoleMajority) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "role": each.role, "nodes": list(each.nodes), "agreed": each.agreed, "split": each.split,
        "untold": each.unknown, "odd": [_odd(one) for one in each.odd], "unknown": dict(each.silent),
    }  # fmt: skip
    return doc | ({"why": each.why} if each.why else {})


def _odd(one: Odd) -> dict[str, Any]:
    facts = [
        {"facts": list(d.paths), "folded": d.label, "class": d.cls.value, "value": d.value, "usual": d.usual,
         "count": d.count, "of": d.of, "nodes": list(d.nodes), "weight": d.weight}
        for d in one.deviations
    ]  # fmt: skip
    return {"node": one.node, "score": one.score, "unknown": one.unknown, "deviations": facts}
