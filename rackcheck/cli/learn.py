"""`rackcheck profile learn`: write a profile from machines that are known to be good, for review by a person."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.consensus import FEWEST
from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.inventory import Node
from rackcheck.inventory.nodeset import unfold
from rackcheck.model import path as paths
from rackcheck.model.fact import Plane, Unknown, clean
from rackcheck.model.fold import fold
from rackcheck.model.regex import regex
from rackcheck.model.text import natural
from rackcheck.model.tree import Tree
from rackcheck.probe.plan import Plan
from rackcheck.profile.layers import did_you_mean
from rackcheck.profile.learn.claim import LONGEST
from rackcheck.profile.learn.file import LearnedHead, text
from rackcheck.profile.learn.rules import Learned, LearnedRun
from rackcheck.profile.learn.rules import learn as learned_from
from rackcheck.run.captured import Captured
from rackcheck.run.event import Answered
from rackcheck.run.judging import tree_of
from rackcheck.session import captures, last_run, subject
from rackcheck.session.output import note
from rackcheck.session.registry_loading import known
from rackcheck.views.census import Census
from rackcheck.views.items import folded
from rackcheck.views.odd import HELD, peers
from rackcheck.views.simulation import SIMULATED, is_simulated
from rackcheck.views.summary import Summary, several

NAME = regex(r"[a-z0-9][a-z0-9_.-]*")

SHOWN = 8
"""Maximum number of rules, or of facts, that one warning lists."""

LONGEST_ROW = 250
"""Maximum number of characters of one of them."""


@dataclass(frozen=True)
class _Read:
    """One machine as read in one run."""

    run: str
    time: str
    node: Node
    tree: Tree


@dataclass(frozen=True)
class _Doubt:
    """A reason why machines may not be good, with the rules or the facts that it is about."""

    reason: str
    about: tuple[str, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """At most `SHOWN` of the rules or facts, and the number of the others."""
        more = len(self.about) - SHOWN
        return (*(clean(row, LONGEST_ROW) for row in self.about[:SHOWN]), *((f"and {more} more",) if more > 0 else ()))

    def lines(self) -> Iterator[str]:
        """Yield the warning for a terminal."""
        yield f"warning: {self.reason}; the learned profile would accept these nodes:"
        yield from (f"    {row}" for row in self.rows)

    @property
    def text(self) -> str:
        """The warning as one sentence."""
        return f"Warning: {self.reason}; this profile accepts these nodes: {'; '.join(self.rows)}."


@dataclass(frozen=True)
class _Source:
    """What `--from RUN` names: its machines, and their verdicts; a capture has no verdicts.

    `incomplete` maps each run that has not read everything to the reason: `interrupted` or `cut off`.
    """

    name: str
    machines: tuple[_Read, ...]
    judged: Summary | None = None
    incomplete: Mapping[str, str] = field(default_factory=dict)


@click.command("learn", epilog="Exit: 0 success, 2 usage error.")
@click.option(
    "--from", "runs", metavar="RUN", multiple=True, required=True,
    help="A stored run, an acceptance or a capture of known-good machines (may be repeated).",
)  # fmt: skip
@click.option("--nodes", metavar="NODES", help="Only these nodes of the runs, as a node set (dgx[01-04]).")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write (default: stdout).")
@click.option("--at-least", is_flag=True, help="Accept later versions too, for facts whose versions can be ordered.")
@click.option("--name", metavar="NAME", help="The profile's name (default: the file's name, else `learned`).")
def command(runs: tuple[str, ...], nodes: str | None, output: Path | None, at_least: bool, name: str | None) -> int:
    """Write a profile from machines that are known to be good.

    A fact with the same value on all machines becomes a rule; a fact with several values becomes a question in a
    comment. Runs judged by this profile cannot be signed until a person adds `reviewed-by: NAME` to the profile.
    Nodes that failed in their run, or that differ from most nodes of their role, are warned about; so is a run that was
    interrupted or cut off.

    \b
    rackcheck capture -i pod7.yaml -o golden           reads every fact
    rackcheck profile learn --from golden -o pod7-nodes.yaml
    rackcheck profile learn --from last --nodes 'dgx[01-04]' -o pod7.yaml
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    called = _name(name, output)
    if output is not None and (output.exists() or output.is_symlink()):
        raise UserError(f"{output} exists already and may have been edited: a profile is never overwritten")
    sources = [_source(last_run.named(run, last_run.AUDIT)) for run in runs]
    found = _chosen([one for source in sources for one in source.machines], runs, nodes)
    roles = {one.node.role for one in found}
    if len(roles) > 1:
        named = "; ".join(f"{role} {fold(o.node.name for o in found if o.node.role == role)}" for role in sorted(roles))
        raise UserError(f"the nodes have several roles ({named}): select those of one role with --nodes")
    _tell_silent(found)
    catalogue = known().catalogue
    learned = learned_from(_samples(found), catalogue, at_least=at_least)
    if not learned.lessons:
        raise UserError(f"no rule can be learned from {_origin(found)}: {_nothing(learned)}")
    doubts = tuple(_doubts(sources, found))
    marks = (f"SIMULATION: {SIMULATED}",) if any(is_simulated(one.tree) for one in found) else ()
    partly = tuple(_partly(sources, found))
    sentences = (*marks, *(f"Warning: {reason}." for reason in partly), *(doubt.text for doubt in doubts))
    head = LearnedHead(called, _version(found), _origin(found), roles.pop(), _product(found), sentences)
    written = text(learned, head)
    if output is None:
        click.echo(written, nl=False)
    else:
        _write(output, written)
    rules, questions = several(len(learned.lessons), "rule"), several(len(learned.questions), "question")
    note(f"{called}: {rules}, {questions}, from {_origin(found)}; not reviewed yet")
    for line in (
        *marks,
        *(f"warning: {reason}" for reason in partly),
        *(line for doubt in doubts for line in doubt.lines()),
    ):
        note(line)
    passing = _passing(sources, found) if doubts else ""
    if passing:
        note(f"Nodes that pass in their run: --nodes '{passing}'")
    if output is not None:
        note(f"Next: review {output}, and replace `reviewed: false` with `reviewed-by: NAME`")
        note(f"      rackcheck profile check {_typed(output)}")
    return 0


def _name(name: str | None, output: Path | None) -> str:
    if name is not None:
        if NAME.fullmatch(name) is None or len(name) > LONGEST:
            form = "use lowercase letters, digits, dots, hyphens and underscores, a letter or a digit first"
            raise click.UsageError(f"not a profile name: {name!r:.80}; {form}")
        return name
    stem = output.stem if output is not None else ""
    return stem if NAME.fullmatch(stem) and len(stem) <= LONGEST else "learned"


def _typed(path: Path) -> str:
    """Return a file's path as the user must type it in place of a profile's name."""
    return str(path) if "/" in str(path) or path.suffix in {".yaml", ".yml"} else f"./{path}"


def _source(run: str) -> _Source:
    """Read every machine of a run, a capture or an acceptance; of an acceptance, each machine's newest reading."""
    kept = captures.find(run)
    if kept is not None:
        return _Source(kept.id, tuple(_captured(kept)), incomplete={kept.id: "interrupted"} if kept.interrupted else {})
    found = subject.find(run)
    newest: dict[str, _Read] = {}
    incomplete: dict[str, str] = {}
    for stored, job, _ in found.jobs:
        done = stored.done()
        if done is None or done.interrupted:
            incomplete[job.id] = "cut off" if done is None else "interrupted"
        every = replace(job, plan=Plan(known().probes, job.plan.wanted, known().joins), kept=None)  # read once
        came: dict[str, list[Answered]] = {}
        for answer in stored.answers():
            came.setdefault(answer.node, []).append(answer)
        for node in job.nodes:
            if node.name in came or node.name not in newest:
                newest[node.name] = _Read(job.id, job.time, node, tree_of(every, node, came.get(node.name, ())))
    return _Source(found.name, tuple(newest.values()), subject.shown(found), incomplete)


def _captured(kept: Captured) -> Iterator[_Read]:
    job = captures.job(kept, captures.everything())
    for node in kept.nodes:
        yield _Read(kept.id, kept.time, node, tree_of(job, node, tuple(kept.answers(node.name))))


def _chosen(found: Sequence[_Read], runs: Sequence[str], nodes: str | None) -> list[_Read]:
    """Return the readings of the selected nodes; raises UserError for a node in no run, and for a run given twice.

    A run that is read twice would count as two machines that agree.
    """
    seen: set[tuple[str, str]] = set()
    for one in found:
        if (one.run, one.node.name) in seen:
            raise UserError(f"run {one.run} is named twice: {', '.join(runs)}")
        seen.add((one.run, one.node.name))
    if nodes is None:
        return list(found)
    names = {one.node.name for one in found}
    wanted = dict.fromkeys(unfold(nodes))
    for name in wanted:
        if name not in names:
            near = did_you_mean(name, sorted(names)) or f"; there are {fold(names)}"
            raise UserError(f"no node {name} in {', '.join(runs)}{near}")
    if not wanted:
        raise UserError(f"no node in the node set {nodes!r:.80}")
    return [one for one in found if one.node.name in wanted]


def _tell_silent(found: Sequence[_Read]) -> None:
    """Print which planes of which machines have no facts; raises UserError for a machine without any facts."""
    for one in found:
        if not one.tree.leaves:
            whys = "; ".join(f"{plane.value} {why}" for plane, why in sorted(one.tree.silent.items()))
            raise UserError(f"{one.node.name} has no facts in run {one.run} ({whys}): exclude it with --nodes")
    rows = [plane for plane in Plane if any(leaf.plane is plane for one in found for leaf in one.tree.leaves.values())]
    for plane in rows:
        silent = [one.node.name for one in found if plane in one.tree.silent]
        if silent:
            note(
                f"rackcheck: no facts of the {plane.value} plane of {fold(silent)}: no rule is learned from this plane"
            )


def _partly(sources: Sequence[_Source], found: Sequence[_Read]) -> Iterator[str]:
    """Yield a sentence for each of these machines' runs that was stopped before it had read everything."""
    read = {one.run for one in found}
    why = {run: why for source in sources for run, why in source.incomplete.items() if run in read}
    for run, word in why.items():
        yield f"run {run} was {word} before it had read everything, and facts that it did not read give no rule"


def _doubts(sources: Sequence[_Source], found: Sequence[_Read]) -> Iterator[_Doubt]:
    """Yield why some of these machines may not be good; all machines that a profile is learned from pass it."""
    for source in sources:
        yield from _failed(source, {one.node.name for one in source.machines if one in found})
    yield from _unlike([one for source in sources for one in source.machines], {one.node.name for one in found})


def _failed(source: _Source, names: set[str]) -> Iterator[_Doubt]:
    """Yield the rules that decide an outcome and failed, or are waived, on these nodes of a run."""
    rules: dict[str, dict[str, None]] = {}
    for finding in source.judged.findings if source.judged is not None else ():
        if finding.rule.severity.decides and Status.FAIL in {finding.status, finding.truth}:
            waived = " (waived)" if finding.status is Status.WAIVED else ""
            nodes = rules.setdefault(f"{finding.rule.id}{waived}", {})
            nodes.update(dict.fromkeys(node for node in finding.nodes if node in names))
    failed = tuple(f"{rule} on {fold(nodes)}" for rule, nodes in rules.items() if nodes)
    if failed:
        whole = fold(dict.fromkeys(node for nodes in rules.values() for node in nodes))
        yield _Doubt(f"rules failed on {whole} in run {source.name}", failed)


def _unlike(found: Sequence[_Read], names: set[str]) -> Iterator[_Doubt]:
    """Yield how the named nodes differ from most nodes of their role, or among themselves if these are too few."""
    census = Census()
    for one in sorted(found, key=lambda one: (one.time, one.run)):
        census.take(one.node.name, one.node.role, one.tree, {})
    for role in peers(census):
        mine = [(fold(node for node in each.nodes if node in names), each) for each in role.deviations]
        rows = tuple(f"{nodes}: {each.text}" for nodes, each in mine if nodes)
        if rows:
            yield _Doubt(f"nodes differ from most nodes of role {role.role}", rows)
        elif 1 < len(role.nodes) < FEWEST:
            apart = tuple(path for path in census.facts() if _differs(census, path))
            if apart:
                yield _Doubt(f"{fold(role.nodes)} differ, and are too few for a majority", folded(apart))


def _differs(census: Census, path: str) -> bool:
    """Whether a version or a setting has several known values."""
    kind = census.kind(path)
    known_values = [value for value in census.values(path) if not isinstance(value, Unknown)]
    return kind is not None and kind.cls in HELD and len(known_values) > 1


def _passing(sources: Sequence[_Source], found: Sequence[_Read]) -> str:
    """Return those of the machines whose outcome is PASS in every run, as a node set; "" if these are all or none."""
    names = {one.node.name for one in found}
    outcomes = [(node.node, node.outcome) for source in sources if source.judged for node in source.judged.judged]
    passed = {node for node, outcome in outcomes if outcome is Outcome.PASS and node in names}
    passed -= {node for node, outcome in outcomes if outcome is not Outcome.PASS}
    return fold(sorted(passed, key=natural)) if passed < names else ""


def _samples(found: Sequence[_Read]) -> list[LearnedRun]:
    """Return the machines with their names; each name contains the run if several runs were read."""
    several_runs = len({one.run for one in found}) > 1
    return [LearnedRun(f"{one.node.name} of {one.run}" if several_runs else one.node.name, one.tree) for one in found]


def _origin(found: Sequence[_Read]) -> str:
    runs = list(dict.fromkeys(one.run for one in found))
    named = ", ".join(runs[:3]) + (f" and {len(runs) - 3} more" if len(runs) > 3 else "")
    return f"{fold(one.node.name for one in found)} in {'run' if len(runs) == 1 else 'runs'} {named}"


def _version(found: Sequence[_Read]) -> str:
    """Return the version of the profile: the day of the newest reading, so that the same runs give the same file."""
    days = [one.time[:10] for one in found if re.fullmatch(r"\d{4}-\d\d-\d\d", one.time[:10])]
    return max(days, default="1")


def _product(found: Sequence[_Read]) -> str:
    """Return the product name that all machines report; "" if names differ, or a machine reports none."""
    fact = paths.parse("node.product")
    names = {one.tree.reading(fact, Plane.OS) for one in found}
    only = names.pop() if len(names) == 1 else ""
    return only if isinstance(only, str) and len(only) <= LONGEST else ""


def _nothing(learned: Learned) -> str:
    left = [f"{count} {why.value}" for why, count in learned.left.items()]
    unknown = [several(len(learned.unknown), "unknown fact")] if learned.unknown else []
    asked = [several(len(learned.questions), "question")] if learned.questions else []
    return ", ".join([*left, *unknown, *asked]) or "no facts were read"


def _write(target: Path, written: str) -> None:
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(written)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
