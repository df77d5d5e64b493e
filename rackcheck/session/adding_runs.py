"""Adds a run to an acceptance, after checking that it is a run of the same nodes, machines and profile."""

import getpass
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import Plane, clean
from rackcheck.model.fold import fold
from rackcheck.report.run_data import machine_serial
from rackcheck.run import store
from rackcheck.run.job import now
from rackcheck.session import last_run, subject
from rackcheck.session.output import note
from rackcheck.signoff import acceptance
from rackcheck.signoff.acceptance import Acceptance


def require_open(found: Acceptance) -> None:
    """Raise UserError if nothing can be added to an acceptance because another one replaces it."""
    if found.state == "superseded":
        raise UserError(f"acceptance {found.name} is superseded by {found.superseded}: nothing can be added to it")


def added(found: Acceptance, stored: store.Stored, kind: str | None = None, text: str = "") -> None:
    """Add a run to an acceptance; `text` is its note.

    `kind` is by default "burn-in" for a burn-in, "audit" for the first other run, and else "re-audit".

    Raises UserError if the run has other nodes, roles, profile or machines than the acceptance, is dated in the future
    or was added before, or if the acceptance is superseded.
    """
    require_open(found)
    nodes, began = subject.held(stored), stored.started()
    if any(member.run == began.run for member in found.runs):
        stated = f"; to describe a rework: rackcheck accept add {found.name} {began.run} --kind rework --note TEXT"
        raise UserError(f"run {began.run} is part of acceptance {found.name} already{stated}")
    _require_scope(found, stored)
    roles = {str(node["name"]): str(node["role"]) for node in found.nodes}
    strangers = [node for node in began.nodes if node not in roles]
    if strangers:
        text = f"run {began.run} has nodes that are not in {found.name}'s inventory: {fold(strangers)}"
        raise UserError(f"{text}{_renamed(found, stored, strangers)}")
    others = [node.name for node in nodes if roles[node.name] != node.role]
    if others:
        raise UserError(f"run {began.run} has {fold(others)} in another role than {found.name}'s inventory")
    if began.time > (latest := _later(now())):
        raise UserError(
            f"run {began.run} began at {clean(began.time, 40)}, in the future; the latest start allowed is {latest}"
        )
    run = subject.judged_by(found, stored)  # before it is added: a run that cannot be judged must not become part of it
    machines = {node: serial for node in began.nodes if (serial := machine_serial(run.trees[node]))}
    if kind != "rework":
        _same_machines(found, began.run, machines)
    newer = [member.run for member in found.runs if acceptance.run_of(found, member).started().time > began.time]
    if newer:
        note(f"rackcheck: run {began.run} is older than {newer[-1]}; the readings of the newer run are still used")
    if stored.done() is None:
        note(
            f"rackcheck: run {began.run} was cut off: facts that it did not read are unknown; "
            f"rackcheck accept remove {found.name} {began.run} --reason TEXT removes it"
        )
    event = {
        "event": "run added", "time": now(), "by": getpass.getuser(), "run": began.run,
        "folder": str(stored.folder.resolve()), "digest": acceptance.digest_of(stored),
        "kind": kind or _kind(found, stored), "note": text, "machines": machines,
    }  # fmt: skip
    acceptance.append(found.folder, event)


def _kind(found: Acceptance, stored: store.Stored) -> str:
    if set(stored.started().planes) == {Plane.BURNIN.value}:
        return "burn-in"
    return "re-audit" if any(member.kind != "burn-in" for member in found.runs) else "audit"


def _renamed(found: Acceptance, stored: store.Stored, strangers: Sequence[str]) -> str:
    """Return which nodes of the acceptance the unknown nodes of a run were, by their serial numbers; empty if none."""
    known = {serial: node for node, serial in found.machines.items()}
    trees = subject.judged_by(found, stored).trees
    pairs = [(known.get(machine_serial(trees[node])), node) for node in strangers if node in trees]
    texts = [f"{node} is the machine that was {was}" for was, node in pairs if was is not None]
    keep = "; use the names of the acceptance, or open a new acceptance with --supersedes" if texts else ""
    return f" ({'; '.join(texts[:MOST])}{'; ...' if len(texts) > MOST else ''}){keep}" if texts else ""


MOST = 4
"""Maximum number of renamed nodes that an error lists."""

SKEW = timedelta(minutes=5)
"""Maximum time by which the start of a run may be later than the local clock."""


def _later(time: str) -> str:
    return (datetime.fromisoformat(time) + SKEW).strftime("%Y-%m-%dT%H:%M:%SZ")


def _require_scope(found: Acceptance, stored: store.Stored) -> None:
    """Raise UserError if a run was made with a profile that is not the acceptance's profile and does not extend it.

    Such a run may lack facts that the rules of the acceptance need, so its nodes would become unknown.
    """
    names = last_run.lineage(stored)
    wanted = found.head["profile"]["name"]
    if wanted not in names:
        made_by = clean(names[-1], 60) if names else "another profile"
        text = f"run {stored.started().run} was made with {made_by} and read only the facts of that profile"
        command = "burnin" if set(stored.started().planes) == {Plane.BURNIN.value} else "audit"
        raise UserError(
            f"{text}; acceptance {found.name} needs runs of {wanted}: rackcheck {command} --accept {found.name}"
        )


def _same_machines(found: Acceptance, run: str, machines: Mapping[str, str]) -> None:
    """Raise UserError if a node of a run has another system serial number than in earlier runs of the acceptance."""
    others = [node for node, serial in machines.items() if found.machines.get(node, serial) != serial]
    if others:
        was, now_ = clean(found.machines[others[0]], 80), clean(machines[others[0]], 80)
        text = f"run {run} has read other machines than before: {fold(others)} ({others[0]}: serial {was}, now {now_})"
        raise UserError(
            f"{text}; if they were replaced: rackcheck accept add {found.name} {run} --kind rework --note TEXT"
        )
