"""A stored run as the job it was: its profile, its planes, its nodes."""

from collections.abc import Iterable
from pathlib import Path

from rackcheck import library, store
from rackcheck.core.fact import Plane
from rackcheck.core.plan import plan
from rackcheck.core.profile import Phase, Profile
from rackcheck.inventory import Bmc, Node
from rackcheck.mistake import Mistake
from rackcheck.registry import registry
from rackcheck.run import Job


def stored_job(
    stored: store.Stored,
    profile_name: str | None = None,
    values: dict[str, str] | None = None,
    folders: Iterable[Path] = (),
) -> Job:
    """Give the job that a stored run was, with its own profile or another."""
    head = stored.head
    known = registry()
    stored.started()
    try:
        kept = stored.folder / "profile" / f"{head['profile']['name']}.yaml"
        given = {**(head["profile"]["set"] if profile_name is None else {}), **(values or {})}
        profile: Profile = library.load(profile_name or str(kept), known.catalogue, given, tuple(folders))
        return Job(
            plan(profile.facts(), known.probes, known.catalogue), stored_nodes(stored), profile,
            frozenset(map(Plane, head["planes"])), frozenset(map(Phase, head["phases"])),
            head["targets"], id=head["run"], time=head["time"],
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise Mistake(f"{stored.folder / 'run.json'} is damaged: {error!r}") from None


def stored_nodes(stored: store.Stored) -> tuple[Node, ...]:
    """Give the nodes of a stored run as its inventory named them; raises Mistake where they cannot be read."""
    try:
        return tuple(
            Node(
                n["name"],
                n["role"],
                n["host"],
                bmc=Bmc(n["bmc"]) if n["bmc"] else None,
                rack=n["rack"],
                u=n["u"],
                height=n.get("height", 1),
                slot=n.get("slot", ""),
            )
            for n in stored.head["nodes"]
        )
    except (KeyError, TypeError) as error:
        raise Mistake(f"{stored.folder / 'run.json'} is damaged: {error!r}") from None
