"""Hand-made runs and documents of nodes that are INCOMPLETE for a reason, to test every output."""

from dataclasses import replace
from pathlib import Path

from dossiers import sample

from rackcheck.evaluate.verdict import Outcome, Status, Verdict, worst
from rackcheck.model.evidence import Evidence
from rackcheck.model.fit import Match, ProfileFit
from rackcheck.model.profile import Profile
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.report.report_model import Dossier
from rackcheck.run.event import Judged, RunDone, RunStarted
from rackcheck.views.summary import Summary, findings

OTHER = "not a DGX H100 (product ThinkPad X1, board 20XW, no 10de device); did you mean -i FILE or --rack NAME?"
UNKNOWN = "1 of 2 deciding rules is unknown: gpu.some: unreachable; rackcheck doctor shows why"

TEXT = """
rackcheck: 1
profile: made-up
version: 1
rules:
  gpu.some:
    title: There is a GPU
    severity: blocker
    count: gpu
    at-least: 1
    why: Work needs one.
    fix: power the node off and on
    refs: [dgx-gb200.guide]
  gpu.four: { title: Four GPUs, severity: major, count: gpu, is: 4 }
"""


def profile(folder: Path) -> Profile:
    """A profile of two deciding rules."""
    place = folder / "made-up.yaml"
    place.write_text(TEXT)
    return library.load(str(place), registry().catalogue)


def node(name: str, outcome: Outcome, reason: str = "", match: Match = Match.NOT_STATED) -> Judged:
    """A node with two verdicts: both pass, or the first fails and the second is unknown."""
    if outcome is Outcome.PASS:
        return Judged(name, "compute", outcome, (Verdict("gpu.some", Status.PASS), Verdict("gpu.four", Status.PASS)))
    seen = Evidence(Status.FAIL, "count(gpu)", "0", "must be at least 1", "lspci")
    verdicts = (
        Verdict("gpu.some", Status.FAIL, "count(gpu) is 0, must be at least 1", (seen,)),
        Verdict("gpu.four", Status.UNKNOWN, "count(gpu) is unknown: unreachable"),
    )
    fit = ProfileFit(match, "ThinkPad X1, board 20XW") if match is Match.OTHER else ProfileFit(match)
    return Judged(name, "compute", outcome, verdicts, 0, "", reason, fit)


def other(name: str, reason: str = OTHER) -> Judged:
    """A node that is not a machine of the profile."""
    return node(name, Outcome.INCOMPLETE, reason, Match.OTHER)


def summary(of: Profile, *judged: Judged, asked: tuple[str, ...] = (), groups: tuple[Judged, ...] = ()) -> Summary:
    """A run over these nodes; `asked` are further nodes without a verdict."""
    names = (*(each.node for each in judged), *asked)
    started = RunStarted(
        "run-1", "2026-11-20T10:00:00Z", "0.1.0", of.name, of.version, of.digest, names, ("bmc", "os"), "nodes"
    )
    outcome = worst([*(each.outcome for each in (*judged, *groups)), *[Outcome.INCOMPLETE] * bool(asked)])
    done = RunDone("2026-11-20T10:01:00Z", outcome)
    found = tuple(findings((*judged, *groups), of.own))
    return Summary(started, judged, done, found, (), groups=groups)


def document(reason: str = OTHER, nodes: int = 3, *, alone: bool = False) -> Dossier:
    """A document whose nodes except the first are other machines, for this reason; `alone`: all are."""
    made = sample(nodes, 40)
    first, *rest = made.nodes
    rows = tuple(
        replace(row, outcome=Outcome.INCOMPLETE, reason=reason, fit=ProfileFit(Match.OTHER, "ThinkPad X1, board 20XW"))
        for row in ((first, *rest) if alone else rest)
    )
    kept = () if alone else (replace(first, outcome=Outcome.PASS, vector=first.vector.translate(_WELL)),)
    mine = frozenset(row.name for row in rows)
    found = tuple(
        replace(each, nodes=tuple(name for name in each.nodes if name in mine))
        for each in made.findings if mine & set(each.nodes)
    )  # fmt: skip
    outcomes = {
        Outcome.PASS: tuple(row.name for row in kept), Outcome.FAIL: (), Outcome.INCOMPLETE: tuple(row.name for row in rows),
    }  # fmt: skip
    return replace(
        made,
        nodes=(*kept, *rows),
        findings=found,
        tally=replace(made.tally, outcome=Outcome.INCOMPLETE, nodes=outcomes),
    )


_WELL = str.maketrans("wFvu", "pppp")
