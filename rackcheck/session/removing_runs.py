"""Removes a run from an acceptance: only a run that has no complete, unchanged result, and only before a signature."""

import getpass
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import clean
from rackcheck.profile.layers import did_you_mean
from rackcheck.run.job import now
from rackcheck.session import subject
from rackcheck.session.adding_runs import require_open
from rackcheck.signoff import acceptance
from rackcheck.signoff.acceptance import Acceptance, AcceptedRun
from rackcheck.signoff.removed_run import CHANGED, CUT_OFF, MISSING, RemovedRun


def removed(found: Acceptance, run: str, reason: str) -> RemovedRun:
    """Remove a run, given by its id or its folder, from an acceptance; the log keeps the entry of the run.

    Raises UserError if the run is not part of the acceptance, if the acceptance is superseded or was signed, or if the
    run is complete and unchanged: its findings cannot be removed.
    """
    require_open(found)
    member = _member(found, run)
    if found.signed:
        party, time = (clean(str(found.signed[-1].get(name, "")), 40) for name in ("party", "time"))
        raise UserError(
            f"run {member.run} cannot be removed: {found.name} was signed by {party} at {time}; "
            f"rackcheck accept new NAME --supersedes {found.name} begins another"
        )
    wrong = _wrong(found, member)
    if not wrong:
        raise UserError(
            f"run {member.run} cannot be removed: it is complete and unchanged, so its findings count; "
            f"a newer run replaces its readings: rackcheck audit --accept {found.name}"
        )
    gone = RemovedRun(member.run, now(), getpass.getuser(), wrong, reason)
    values = {"run": gone.run, "time": gone.time, "by": gone.by, "found": gone.found, "reason": gone.reason}
    acceptance.append(found.folder, {"event": "run removed", **values})
    return gone


def _member(found: Acceptance, run: str) -> AcceptedRun:
    place = str(Path(run).absolute())
    for member in found.runs:
        if run == member.run or place == member.folder:
            return member
    known = [member.run for member in found.runs]
    hint = did_you_mean(run, known) or f"; it has {', '.join(known) if known else 'no run'}"
    raise UserError(f"run {clean(run, 80)} is not part of acceptance {found.name}{hint}")


def _wrong(found: Acceptance, member: AcceptedRun) -> str:
    """Return what is wrong with a run of an acceptance; empty if it is complete and unchanged."""
    if not acceptance.places_of(member):
        return MISSING
    try:
        run = acceptance.run_of(found, member)
        subject.held(run)
        subject.judged_by(found, run)
    except UserError:
        return CHANGED
    done = run.done()
    return CUT_OFF if done is None or done.interrupted else ""
