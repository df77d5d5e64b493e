"""The run that the argument `last` names: the newest run of the kind that a command needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.run import store
from rackcheck.run.index import catching
from rackcheck.run.store import Stored
from rackcheck.session.output import note
from rackcheck.session.stored import stored_job
from rackcheck.signoff import acceptance
from rackcheck.views.summary import several

LAST = store.LAST


@dataclass(frozen=True, slots=True)
class Need:
    """The runs that a command can use: a noun for them, a test, and the command that makes such a run."""

    noun: str
    fits: Callable[[Stored], bool]
    made_by: str


RUN = Need("run", lambda _: True, "rackcheck audit -p PROFILE")
AUDIT = Need("audit", lambda stored: not stored.burned_in, "rackcheck audit -p PROFILE")
CUT_OFF = Need(
    "audit that was interrupted or cut off", lambda stored: not stored.burned_in and not _is_complete(stored),
    "rackcheck audit -p PROFILE",
)  # fmt: skip
BURN_IN = Need("burn-in", lambda stored: stored.burned_in, "rackcheck burnin")


def _is_complete(stored: Stored) -> bool:
    ended = stored.last_done()
    return ended is not None and not ended.interrupted


def kind_of(stored: Stored) -> Need:
    """Return the runs of the same kind as a run: audits or burn-ins."""
    return BURN_IN if stored.burned_in else AUDIT


def kind_of_word(word: str) -> Need:
    """Return the runs of the same kind as a named run; audits for an acceptance, for `last` and for an unknown name."""
    if acceptance.is_one(word):
        return AUDIT
    try:
        return kind_of(store.find(word))
    except UserError:  # the command that reads this run reports it
        return AUDIT


def made_with(profile: str, made_by: str) -> Need:
    """Return the runs that were made with a profile, or with a profile that extends it."""
    return Need(f"run with the profile {profile}", lambda stored: profile in lineage(stored), made_by)


def lineage(stored: Stored) -> Sequence[str]:
    """Return the names of a run's profile and of all its parents, its own name last; empty if they are damaged."""
    own = stored.head.get("profile")
    steps = own.get("lineage") if isinstance(own, dict) else None
    return [str(step).partition("@")[0] for step in steps] if isinstance(steps, list) else []


def with_rule(rule: str) -> Need:
    """Return the runs of the kind that judges a rule.

    These are the burn-ins if the newest audit does not judge the rule, and the newest burn-in does; else the audits.
    Other runs are not searched, because a mistyped rule would be searched in every run.
    """
    try:
        audit, _ = _newest(AUDIT)
        if audit is not None and _judges(audit, rule):
            return AUDIT
        burn_in, _ = _newest(BURN_IN)
    except UserError:  # a damaged run: `named` reports it, if it is newer than the run that is taken
        return AUDIT
    return BURN_IN if burn_in is not None and (audit is None or _judges(burn_in, rule)) else AUDIT


def _judges(stored: Stored, rule: str) -> bool:
    try:
        job = stored_job(stored)
    except UserError:  # the command that reads this run reports it
        return False
    assert job.profile is not None
    return any(each.id == rule and each.phase in job.phases for each in job.profile.rules)


def named(word: str, need: Need = RUN) -> str:
    """Return the id of the run that `last` names, and print which run that is; return any other word unchanged.

    A run that read nodes of an earlier run again is taken only if there is no other run. A run that was interrupted, or
    is not finished, is taken, because an older run may have another verdict; the printed note has its state. Raises
    UserError if no run fits, and if the newest run is damaged.
    """
    if word != LAST:
        return word
    if any((Path(word) / name).is_file() for name in ("run.json", "capture.json")):
        note(f"{LAST}: the folder {Path(word).absolute()}")
        return word
    found, newer = _newest(need)
    shut = catching.closed()
    if found is None:
        if shut:
            raise UserError(catching.barred(shut[-1]))
        raise UserError(_none(need, newer))
    for name in (name for name in shut if name > found.folder.name):
        note(f"rackcheck: {catching.barred(name)}")
    note(f"{LAST}: {description(found, newer)}")
    return found.folder.name


def newest(need: Need) -> Stored | None:
    """Return the run that `last` names, without printing it; None if there is none, UserError if it is damaged."""
    return _newest(need)[0]


def _newest(need: Need) -> tuple[Stored | None, Sequence[Stored]]:
    """Return the newest run that fits, and the newer runs that were passed over, the newest first."""
    again: Stored | None = None
    newer: list[Stored] = []
    for name in reversed(store.ids()):
        stored = store.find(str(store.runs_folder() / name))
        if need.fits(stored):
            if not stored.again_of:
                return stored, newer
            again = again or stored
        newer.append(stored)
    return again, newer if again is None else [each for each in newer if each.folder.name > again.folder.name]


def _none(need: Need, others: Sequence[Stored]) -> str:
    """Return why `last` names no run, and the command that makes one."""
    there = f"; the newest run is the {kind_of(others[0]).noun} {others[0].folder.name}" if others else ""
    return f"no {need.noun} yet{there}: {need.made_by} makes one"


def description(found: Stored, newer: Sequence[Stored] = (), at: datetime | None = None) -> str:
    """Return the id of a run, and its kind, profile, number of nodes, age and state in brackets.

    The description also has the newest of the runs that are newer, and were passed over.
    """
    nodes, profile = found.head.get("nodes"), lineage(found)
    words = [kind_of(found).noun, *(clean(name, 60) for name in profile[-1:])]
    words += [several(len(nodes), "node")] if isinstance(nodes, list) else []
    words.append(age(str(found.head.get("time")), at or datetime.now(UTC)))
    done = found.last_done()
    words += ["not finished"] if done is None else ["interrupted"] if done.interrupted else []
    state = f"; newer: {_passed_over(newer[0])}" if newer else ""
    return f"{found.folder.name} ({', '.join(words)}{state})"


def _passed_over(stored: Stored) -> str:
    again = f", which reads nodes of {stored.again_of} again" if stored.again_of else ""
    return f"{kind_of(stored).noun} {stored.folder.name}{clean(again, 120)}"


def age(time: str, now: datetime) -> str:
    """Return the age of a time such as `2026-11-28T12:03:04Z` in words; the time itself if it is not in the past."""
    try:
        seconds = (now - datetime.fromisoformat(time)).total_seconds()
    except (ValueError, TypeError):
        return f"at {clean(time, 40)}"
    if seconds < 0:
        return f"at {clean(time, 40)}"
    for name, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return f"{several(int(seconds // size), name)} ago"
    return f"{several(int(seconds), 'second')} ago"
