"""Proposes a profile for nodes: the profiles are matched with what the nodes themselves report about their machine."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model import path as paths
from rackcheck.model.fact import Plane
from rackcheck.model.fit import FACTS, NAMED, Match, fit
from rackcheck.model.fold import fold
from rackcheck.model.profile import Profile
from rackcheck.model.text import natural
from rackcheck.model.tree import Tree
from rackcheck.profile import library
from rackcheck.run.asking import ask_plane
from rackcheck.run.engine import audit
from rackcheck.run.event import FactsRead
from rackcheck.run.job import Job
from rackcheck.session.output import note
from rackcheck.session.registry_loading import known
from rackcheck.session.secrets import secrets_of

ASKED = 3
"""Maximum number of nodes that are asked what machine they are."""

SECONDS = 20.0
"""Maximum duration of this reading in seconds."""

PLANES = frozenset({Plane.OS})


@dataclass(frozen=True, slots=True)
class Proposal:
    """A profile for a node, and the key of `applies-to` and the reading that match: `product DGXH100`."""

    profile: str
    node: str
    reason: str


def listed(folders: Sequence[Path]) -> str:
    """Return the names of all profiles in groups: of machines, of any machine, and the number of fragments."""
    machines: list[str] = []
    others: list[str] = []
    fragments = 0
    for found in sorted(library.profiles(folders).values(), key=lambda each: natural(each.name)):
        if library.seems_fragment(found):
            fragments += 1
        else:
            (machines if _names_machine(found, folders) else others).append(found.name)
    groups = [f"for one kind of machine: {', '.join(machines)}"] if machines else []
    groups += [f"for any machine: {', '.join(others)}"] if others else []
    groups += (
        [f"{fragments} fragments, which give no verdict of their own: rackcheck profile list"] if fragments else []
    )
    return "".join(f"\n  {each}" for each in groups)


def _names_machine(found: library.ProfileFile, folders: Sequence[Path]) -> bool:
    try:
        return bool(NAMED.keys() & library.load(str(found.path), known().catalogue, extra=folders).applies_to.keys())
    except UserError:
        return False


def accepted(nodes: Sequence[Node], folders: Sequence[Path], command: str, *, ask: bool) -> str:
    """Return the profile that the nodes' own identity proposes, and that the user accepts for `command`.

    Raises a usage error with the proposals and all names if the nodes are machines for different profiles, or for none,
    or if nobody can be asked.
    """
    note("rackcheck: no -p NAME: reading what machines the nodes are")
    found = proposed(nodes, folders)
    first: dict[str, Proposal] = {}
    for each in found:
        first.setdefault(each.node, each)
    names = {each.profile for each in first.values()}
    words = "; ".join(_reasons(first.values()))
    if len(names) == 1 and ask and click.confirm(f"{words}. {command} -p {found[0].profile}?", default=True, err=True):
        return found[0].profile
    name = next(iter(names)) if len(names) == 1 and not ask else "NAME"
    raise click.UsageError(f"which profile? -p {name}{words and f': {words}'}{listed(folders)}")


def _reasons(proposals: Iterable[Proposal]) -> Iterator[str]:
    """Yield one sentence for the nodes that have the same proposal for the same reason."""
    nodes: dict[tuple[str, str], list[str]] = {}
    for each in proposals:
        nodes.setdefault((each.profile, each.reason), []).append(each.node)
    for (profile, reason), names in nodes.items():
        are = "is a machine" if len(names) == 1 else "are machines"
        yield f"{fold(names)} {are} for {profile} ({reason})"


def proposed(nodes: Sequence[Node], folders: Sequence[Path]) -> list[Proposal]:
    """Ask the first nodes what machine they are; return the profiles for them, the most specific first.

    The reading changes nothing on the nodes. A node that does not reply within `SECONDS` has no proposal.
    """
    asked = tuple(node for node in nodes if node.host)[:ASKED]
    plan = known().plan(frozenset(paths.parse(path) for path in FACTS))
    job = Job(plan, asked, planes=PLANES, seconds=SECONDS, deadline=SECONDS, secrets=secrets_of(asked, PLANES))
    trees = {event.node: event.tree for event in _facts(job)}
    machines = [profile for profile in _profiles(folders) if NAMED.keys() & profile.applies_to.keys()]
    return [each for node in asked if node.name in trees for each in of_tree(node.name, trees[node.name], machines)]


def _facts(job: Job) -> Iterator[FactsRead]:
    yield from (event for event in audit(job, ask_plane, threading.Event()) if isinstance(event, FactsRead))


def _profiles(folders: Sequence[Path]) -> Iterator[Profile]:
    for found in library.profiles(folders).values():
        if not library.seems_fragment(found):
            try:
                yield library.load(str(found.path), known().catalogue, extra=folders)
            except UserError:
                continue  # a profile that cannot be used is not proposed


def of_tree(node: str, tree: Tree, profiles: Iterable[Profile]) -> list[Proposal]:
    """Return the profiles that are for a machine, the most specific first: by product, board, device, and then CPU."""
    found: list[tuple[int, str, Proposal]] = []
    for profile in profiles:
        for rank, key in enumerate(("product", "board", "device", "cpu")):
            own = {key: profile.applies_to[key]} if key in profile.applies_to else {}
            if own and fit(own, tree, PLANES).match is Match.FITS:
                if fit(profile.applies_to, tree, PLANES).match is Match.FITS:
                    reason = f"{key} {_reading(key, tree)}".rstrip()
                    found.append((rank, profile.name, Proposal(profile.name, node, reason)))
                break
    return [proposal for _, _, proposal in sorted(found, key=lambda each: each[:2])]


def _reading(key: str, tree: Tree) -> str:
    """Return the text of a fact that names the machine or its CPU; a device is named by the profile alone."""
    (_, text), *_ = NAMED[key]
    leaf = tree.leaves.get(text)
    return leaf.reading if leaf is not None and isinstance(leaf.reading, str) else ""
