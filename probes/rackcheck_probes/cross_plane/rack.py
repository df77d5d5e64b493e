"""Facts of a whole rack or fleet: GPUs, NVLink domains, leaks, and whether firmware is uniform."""

from collections.abc import Callable, Iterable, Sequence

from rackcheck import Absent, Class, Facts, Member, Scope, Unknown, flag, gathering, integer, spell_key
from rackcheck.model.fact import Reading

COMPUTE, SWITCH, SHELF = "compute", "nvswitch-tray", "power-shelf"
"""Roles in an inventory: GPUs are counted on compute nodes, leaks on compute nodes and switch trays."""


def of(members: Sequence[Member], *roles: str) -> list[Member]:
    """Return the nodes whose role in the inventory is one of `roles`."""
    return [member for member in members if member.seat.role in roles]


def total(members: Iterable[Member], collection: str, wanted: Callable[[Member, str], Reading]) -> Reading:
    """Count the items that meet a condition; unknown if the result for any item is unknown or items may be missing."""
    count = 0
    for member in members:
        names, hidden = member.items(collection)
        for name in names:
            held = wanted(member, f"{collection}/{spell_key(name)}")
            if isinstance(held, Unknown):
                return member.named(held) or held
            count += held is True
        if hidden is not None:
            return hidden
    return count


def _any(_: Member, __: str) -> Reading:
    return True


def alike(rows: Iterable[tuple[str, Reading]]) -> Reading:
    """Whether the values of each group are equal; false if two of them differ, even if other values are unknown."""
    first: dict[str, Reading] = {}
    lost: Unknown | None = None
    for sort, reading in rows:
        if isinstance(reading, Unknown):
            lost = lost or reading
        elif first.setdefault(sort, reading) != reading and not _absent(first[sort], reading):
            return False
    return lost if lost is not None else True


def _absent(left: Reading, right: Reading) -> bool:
    return isinstance(left, Absent) and isinstance(right, Absent)


def each(members: Iterable[Member], path: str) -> Iterable[tuple[str, Reading]]:
    """Yield each node's role and its value of one fact; the reason of an unknown value names the node."""
    for member in members:
        yield member.seat.role, _named(member, member.reading(path))


def items(members: Iterable[Member], collection: str, leaf: str) -> Iterable[tuple[str, Reading]]:
    """For each item of every node, yield `leaf`, the name of a fact, and the value of this fact.

    A node whose list of items may be incomplete yields one more pair, whose value is unknown.
    """
    for member in members:
        names, hidden = member.items(collection)
        for name in names:
            yield leaf, _named(member, member.reading(f"{collection}/{spell_key(name)}.{leaf}"))
        if hidden is not None:
            yield leaf, hidden


def _named(member: Member, reading: Reading) -> Reading:
    return (member.named(reading) or reading) if isinstance(reading, Unknown) else reading


@gathering(
    Scope.RACK,
    needs=("gpu", "gpu/*.fabric.cluster", "gpu/*.fabric.clique"),
    gives={
        "rack.gpu_count": integer("GPUs that the drivers of the rack's compute nodes list."),
        "rack.nvlink_domains": integer("NVLink domains that the rack's GPUs are in: clusters and their cliques."),
    },
)
def rack_gpus(members: Sequence[Member]) -> Facts:
    """Count a rack's GPUs, and the NVLink domains that they form."""
    nodes = of(members, COMPUTE)
    yield "rack.gpu_count", total(nodes, "gpu", _any)
    domains: set[object] = set()
    for member in nodes:
        names, hidden = member.items("gpu")
        for name in names:
            cluster, clique = (member.reading(f"gpu/{spell_key(name)}.fabric.{leaf}") for leaf in ("cluster", "clique"))
            lost = next((each for each in (cluster, clique) if isinstance(each, Unknown)), None)
            hidden = hidden or (member.named(lost) if lost is not None else None)
            if not isinstance(cluster, Absent):
                # Zeros mean that the node is a domain by itself.
                alone = not str(cluster).strip("0-")
                domains.add((member.seat.name if alone else cluster, clique))
        if hidden is not None:
            yield "rack.nvlink_domains", hidden
            return
    yield "rack.nvlink_domains", len(domains)


@gathering(
    Scope.RACK,
    needs=("leak", "leak/*.state", "leak/*.fitted"),
    gives={"rack.leaks": integer("Leak detectors of the rack's trays with a state other than OK.", Class.MEASUREMENT)},
)
def rack_leaks(members: Sequence[Member]) -> Facts:
    """Count the leak detectors on compute nodes and switch trays whose state is not OK."""
    yield "rack.leaks", total(of(members, COMPUTE, SWITCH), "leak", _leaks)


def _leaks(member: Member, item: str) -> Reading:
    fitted, state = member.reading(f"{item}.fitted"), member.reading(f"{item}.state")
    if fitted == "Absent" or state == "OK":
        return False
    if isinstance(state, Unknown | Absent):
        return state if isinstance(state, Unknown) else False
    return fitted if isinstance(fitted, Unknown) else True


# A power shelf reports firmware per supply, and most have no system that a BMC would manage.
@gathering(
    Scope.RACK,
    needs=("firmware.bmc", "firmware.bios"),
    gives={
        "rack.alike.bmc": flag(
            "Whether all nodes of a role have the same firmware on their BMC, except power shelves.", Class.VERSION
        ),
        "rack.alike.bios": flag("Whether all compute nodes have the same BIOS.", Class.VERSION),
    },
)
def rack_alike(members: Sequence[Member]) -> Facts:
    """Compare the firmware of a rack's nodes, role by role."""
    yield "rack.alike.bmc", alike(each([m for m in members if m.seat.role != SHELF], "firmware.bmc"))
    yield "rack.alike.bios", alike(each(of(members, COMPUTE), "firmware.bios"))


@gathering(
    Scope.RACK,
    needs=("gpu", "gpu/*.vbios"),
    gives={"rack.alike.vbios": flag("Whether all GPUs of the rack have the same VBIOS.", Class.VERSION)},
)
def rack_alike_gpus(members: Sequence[Member]) -> Facts:
    """Compare the VBIOS of a rack's GPUs."""
    yield "rack.alike.vbios", alike(items(of(members, COMPUTE), "gpu", "vbios"))


@gathering(
    Scope.FLEET,
    needs=("node.serial", "gpu"),
    gives={
        "fleet.gpu_count": integer("GPUs that the drivers of all compute nodes list."),
        "fleet.distinct_serials": flag("Whether no two compute nodes have the same serial number.", Class.IDENTITY),
    },
)
def fleet(members: Sequence[Member]) -> Facts:
    """Count the fleet's GPUs, and check for compute nodes with the same serial number."""
    nodes = of(members, COMPUTE)
    yield "fleet.gpu_count", total(nodes, "gpu", _any)
    serials = [(m, m.reading("node.serial")) for m in nodes]
    known = [reading for _, reading in serials if not isinstance(reading, Unknown | Absent)]
    lost = next((m.named(reading) for m, reading in serials if isinstance(reading, Unknown)), None)
    yield "fleet.distinct_serials", False if len(set(known)) < len(known) else lost or True
