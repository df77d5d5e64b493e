"""The acceptance that a new run belongs to (`--accept NAME`): it gives the profile, the site values and the waivers."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.model.fact import visible
from rackcheck.model.fold import fold
from rackcheck.run import store
from rackcheck.session import cli_choices
from rackcheck.session.audit_setup import Prepared
from rackcheck.session.output import note
from rackcheck.signoff import acceptance
from rackcheck.signoff.waivers import File


@dataclass(frozen=True, slots=True)
class JoinedAcceptance:
    """What an acceptance gives to a new run; `tier` is the longest agreed tier of a burn-in, or None."""

    name: str
    profile: str
    values: tuple[str, ...]
    files: tuple[File, ...]
    nodes: frozenset[str]
    tier: str | None


def joining(
    name: str | None, profile: str | None, values: tuple[str, ...], waiver_files: tuple[Path, ...]
) -> JoinedAcceptance | None:
    """Return the acceptance that the options name; None without a name.

    Raises a usage error if the options also give what the acceptance gives, and UserError if it is superseded.
    """
    if name is None:
        return None
    found = acceptance.find(name)
    if found.state == "superseded":
        raise UserError(f"acceptance {name} is superseded by {found.superseded}")
    if profile is not None or values:
        raise click.UsageError(f"acceptance {name} has its own profile and site values: omit -p and --set")
    if waiver_files:
        raise click.UsageError(f"an acceptance has its own waivers: rackcheck accept add {name} --waivers FILE")
    given = tuple(f"{param}={value}" for param, value in found.head["profile"]["set"].items())
    nodes = frozenset(str(node["name"]) for node in found.nodes)
    tier = found.steps.longest
    return JoinedAcceptance(
        name, str(found.profile), given, found.files(), nodes, tier.value if tier is not None else None
    )


def chosen(
    joined: JoinedAcceptance | None, targets: Sequence[str], file: Path | None, rack: str | None
) -> cli_choices.Chosen:
    """Resolve the nodes of a run; raises UserError if a node is not in the inventory of the acceptance."""
    found = cli_choices.chosen(tuple(targets), file, rack)
    strangers = {node.name for node in found.nodes} - joined.nodes if joined is not None else frozenset()
    if joined is not None and strangers:
        raise UserError(f"not in the inventory of acceptance {joined.name}: {fold(strangers)}")
    return found


def add(joined: JoinedAcceptance | None, ready: Prepared) -> bool:
    """Add a stored run to its acceptance, and print a note about it; False if this failed, and the note has the error.

    The nodes have been asked, and the run is stored, so an error of the acceptance must not hide where the run is.
    """
    if joined is None:
        return True
    from rackcheck.session.adding_runs import added  # noqa: PLC0415  imports the reports

    try:
        added(acceptance.find(joined.name), store.find(str(ready.folder)))
    except (UserError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else visible(str(error))  # may quote what a file contains
        note(f"rackcheck: the run was not added to acceptance {joined.name}: {why}")
        here = ready.folder.parent == store.runs_folder()
        run = shlex.quote(ready.folder.name if here else str(ready.folder))
        note(f"To add it: rackcheck accept add {joined.name} {run}")
        return False
    note(f"added to acceptance {joined.name}: rackcheck accept show {joined.name}")
    return True


def not_added(joined: JoinedAcceptance | None) -> str:
    """Return the rest of a note about a run that was not stored completely, and so is not part of its acceptance."""
    return f"; not added to acceptance {joined.name}" if joined is not None else ""
