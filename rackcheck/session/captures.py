"""Prepares captures: the requests that a capture sends, and the evaluation of a stored capture."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.evaluate.waiver import Waiver
from rackcheck.inventory import Node
from rackcheck.model.fact import Plane
from rackcheck.model.fold import fold
from rackcheck.model.path import Path as FactPath
from rackcheck.model.question import Read
from rackcheck.probe.plan import Plan, affordable
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run import captured
from rackcheck.run.captured import Captured
from rackcheck.run.event import RunDone
from rackcheck.run.job import Job


def everything() -> Plan:
    """Return the requests of every probe.

    Of a family with any number of facts, such as sysctls, only the facts that a profile uses are requested.
    """
    known = registry()
    return Plan(affordable(known.probes), tuple(sorted(_members(), key=str)), known.joins)


def _members() -> set[FactPath]:
    known = registry()
    families = [probe.ask for probe in known.probes if isinstance(probe.ask, Read) and probe.ask.family is not None]
    found: set[FactPath] = set()
    for name in library.profiles():
        try:
            named = library.load(name, known.catalogue).facts()
        except UserError:  # a site's own profile may be invalid; `rackcheck profile check` reports it
            continue
        found |= {path for path in named for family in families if family.member(path) is not None}
    return found


def asking(nodes: Sequence[Node], asked: Plan, planes: frozenset[Plane], *, named: bool) -> frozenset[Plane]:
    """Return the planes that will be read; `named` is true if the user chose the planes.

    Raises UserError if no plane can be read, or if a plane that the user chose cannot be read.
    """
    having = {Plane.OS: [n for n in nodes if n.host], Plane.BMC: [n for n in nodes if n.bmc is not None]}
    for plane in sorted(planes):
        if having[plane] and plane not in asked.planes:
            raise UserError(f"no probe reads the {plane.value} plane: it cannot be captured")
    found = frozenset(plane for plane in planes if having[plane])
    none = sorted(planes - found)
    if none and (named or not found):
        words = " and no ".join(_WANTED[plane] for plane in none)
        has = "has" if len(nodes) == 1 else "have"
        raise UserError(f"{fold(n.name for n in nodes)} {has} no {words}: nothing would be captured")
    return found


_WANTED = {Plane.OS: "host in the inventory", Plane.BMC: "BMC in an inventory (-i FILE)"}


def unasked(nodes: Sequence[Node], planes: frozenset[Plane]) -> tuple[str, ...]:
    """Return the names of nodes without any of these planes."""
    return tuple(
        n.name for n in nodes if not (n.host and Plane.OS in planes) and (n.bmc is None or Plane.BMC not in planes)
    )


def find(run: str) -> Captured | None:
    """Return the capture in a folder; None if the folder contains no capture."""
    folder = Path(run).expanduser()
    return captured.load(folder) if captured.is_one(folder) else None


def job(found: Captured, asked: Plan) -> Job:
    """Return the job for a stored capture, with these requests."""
    return Job(
        asked, found.nodes, planes=frozenset(map(Plane, found.planes)), targets=f"capture {found.id}",
        id=found.id, time=found.time, version=found.version,
    )  # fmt: skip


def judging(
    found: Captured, profile: str | None, values: dict[str, str], folders: tuple[Path, ...], waived: Iterable[Waiver]
) -> Job:
    """Return the job that evaluates a capture with a profile; raises a usage error if no profile is given."""
    known = registry()
    if profile is None:
        from rackcheck.session.proposal import listed  # noqa: PLC0415  needed only for this error

        raise click.UsageError(f"{found.folder} is a capture, which has no profile: set -p NAME{listed(folders)}")
    loaded = library.load(profile, known.catalogue, values, folders)
    bare = job(found, known.plan(loaded.facts()))
    return replace(bare, profile=loaded, waivers=tuple(waived))


def done(found: Captured) -> RunDone:
    """Return the event `run done` of a capture; its outcome is a placeholder, because a capture is not judged."""
    return RunDone(found.time, Outcome.PASS, found.interrupted)
