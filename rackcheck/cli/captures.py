"""A capture as the job that it was, and what is asked for one."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click

from rackcheck import captured, library
from rackcheck.captured import Captured
from rackcheck.core.event import RunDone
from rackcheck.core.fact import Plane
from rackcheck.core.path import Path as FactPath
from rackcheck.core.plan import Plan, plan
from rackcheck.core.probe import Read
from rackcheck.core.verdict import Outcome
from rackcheck.core.waiver import Waiver
from rackcheck.mistake import Mistake
from rackcheck.registry import registry
from rackcheck.run import Job


def everything() -> Plan:
    """Give every question of every probe; of a family without end, the members that some profile of ours names."""
    known = registry()
    return Plan(known.probes, tuple(sorted(_members(), key=str)), known.joins)


def _members() -> set[FactPath]:
    known = registry()
    families = [probe.ask for probe in known.probes if isinstance(probe.ask, Read) and probe.ask.family is not None]
    found: set[FactPath] = set()
    for name in library.profiles():
        try:
            named = library.load(name, known.catalogue).facts()
        except Mistake:  # a site's own profile may be broken, and is told so by `rackcheck profile check`
            continue
        found |= {path for path in named for family in families if family.member(path) is not None}
    return found


def find(run: str) -> Captured | None:
    """Find a capture where a run is named; None where that is no capture's folder."""
    folder = Path(run).expanduser()
    return captured.load(folder) if captured.is_one(folder) else None


def job(found: Captured, asked: Plan) -> Job:
    """Give the job that a capture was, with these questions."""
    return Job(
        asked, found.nodes, planes=frozenset(map(Plane, found.planes)), targets=f"capture {found.id}",
        id=found.id, time=found.time, version=found.version,
    )  # fmt: skip


def judging(
    found: Captured, profile: str | None, values: dict[str, str], folders: tuple[Path, ...], waived: Iterable[Waiver]
) -> Job:
    """Give the job of judging a capture by a profile; raises a usage error without one."""
    known = registry()
    if profile is None:
        names = ", ".join(sorted(library.profiles(folders)))
        raise click.UsageError(f"{found.folder} is a capture, which has no profile: -p NAME; there are: {names}")
    loaded = library.load(profile, known.catalogue, values, folders)
    bare = job(found, plan(loaded.facts(), known.probes, known.catalogue, known.joins))
    return replace(bare, profile=loaded, waivers=tuple(waived))


def done(found: Captured) -> RunDone:
    """Give the end that a capture had; what it comes to is for a profile to say."""
    return RunDone(found.time, Outcome.PASS, found.interrupted)
