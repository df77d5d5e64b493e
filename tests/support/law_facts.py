"""The machines of the law: a catalogue of every type on two planes, and derived facts of nodes, racks and fleets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

from rackcheck.model.catalogue import Catalogue, Entry, Kind, Type
from rackcheck.model.fact import Absent, Class, Facts, Plane, Reading, Unknown, Value
from rackcheck.model.inputs import Inputs
from rackcheck.model.path import parse
from rackcheck.model.profile import Scope
from rackcheck.model.sibling_silence import Ground, Siblings
from rackcheck.probe.group import Aggregate, Member, gathering
from rackcheck.probe.join import join
from rackcheck.probe.registry import registry

KINDS: Mapping[str, Kind] = {
    "flag": Kind(Type.FLAG, ""),
    "number": Kind(Type.INTEGER, ""),
    "events": Kind(Type.INTEGER, "", cls=Class.COUNTER),
    "limit": Kind(Type.INTEGER, "", unlimited=True),
    "power": Kind(Type.QUANTITY, "", unit="W", unlimited=True),
    "text": Kind(Type.TEXT, ""),
    "word": Kind(Type.TEXT, "", words=("a", "b")),
    "version": Kind(Type.VERSION, "", scheme="dotted"),
    "build": Kind(Type.VERSION, "", scheme="opaque"),
    "list": Kind(Type.LIST, ""),
    "setting": Kind(Type.SETTING, ""),
}
VALUES: Mapping[str, tuple[Value, ...]] = {
    "flag": (True, False),
    "number": (0, 1, 2, 3),
    "events": (0, 1, 2, 60, 61),
    "limit": (0, 1, 2, inf),
    "power": (0.0, 1.0, 1.5, 2.0, -1.0, inf, 1.0 + 8e-10, 1.0 - 8e-10),
    "text": ("a", "b", "ab"),
    "word": ("a", "b"),
    "version": ("1.2", "1.10", "1.2.0", "n/a"),
    "build": ("1", "2"),
    "list": ((), ("a",), ("a", "b")),
    "setting": ("1", "01", "2", "x", "1 2", "1\t2"),
    # The node facts that the shipped gatherings read.
    "cluster": ("00000000-0000", "00000001-0000"),
    "clique": (0, 1),
    "vbios": ("97.00.01", "97.00.02"),
    "state": ("OK", "OK", "Warning"),
    "fitted": ("Enabled", "Absent"),
    "bmc": ("1", "2"),
    "bios": ("1", "2"),
    "serial": ("one", "two", "three", "four", "five"),
    "place": ("Enabled", "Enabled", "Absent"),
}
"""Values of a fact, by its last word."""

COLLECTIONS = {"box": Plane.OS, "far": Plane.BMC, "shelf/*.slot": Plane.OS, "shelf": Plane.OS}
KEYS = {"box": ("0", "1", "2"), "far": ("0", "1"), "shelf": ("a", "b"), "slot": ("1", "2"), "gpu": ("0", "1"), "leak": ("a", "b")}  # fmt: skip
ALIKE: Mapping[str, Siblings] = {
    "shelf/*.slot": Siblings(
        parse("shelf/*.slot"),
        Plane.OS,
        (Ground(parse("shelf/*.flag"), Plane.OS), Ground(parse("shelf/*.slot/*.word"), Plane.OS)),
    ),
    "shelf": Siblings(parse("shelf"), Plane.OS),
    "box": Siblings(parse("box"), Plane.OS, (Ground(parse("box/*.word"), Plane.OS),)),
    "far": Siblings(parse("far"), Plane.BMC, (), Ground(parse("far/*.place"), Plane.BMC)),
}
"""Collections of siblings, the inner ones first."""


def kin(path: str) -> Siblings | None:
    """The sibling collections that contain a fact or a collection."""
    pattern = str(parse(path).pattern)
    return next((each for name, each in ALIKE.items() if pattern.startswith(f"{name}/*.")), None)


def _listing(collection: str) -> Kind:
    siblings = ALIKE[collection]
    alike = tuple(str(ground.fact) for ground in siblings.by)
    return Kind(Type.COLLECTION, "", alike=alike, vacant=str(siblings.vacant.fact) if siblings.vacant else "")


def _entries() -> Iterable[Entry]:
    for name, kind in KINDS.items():
        yield Entry(f"here.{name}", kind, Plane.OS, "node")
        yield Entry(f"there.{name}", kind, Plane.BMC, "bmc")
        for collection, plane in COLLECTIONS.items():
            yield Entry(f"{collection}/*.{name}", kind, plane, collection)
        yield Entry(f"box/*.more.{name}", kind, Plane.BMC, "of the boxes, seen by the BMC")
    for collection, plane in COLLECTIONS.items():
        yield Entry(collection, _listing(collection), plane, collection)
    yield Entry("far/*.place", Kind(Type.TEXT, ""), Plane.BMC, "far")


def _shipped() -> Iterable[Entry]:
    """The node facts that the shipped gatherings read."""
    known = registry().catalogue
    for need in dict.fromkeys(need for each in registry().gatherings for need in each.reads):
        entry = known.find(parse(need))
        assert entry is not None
        yield entry


def some(rows: Iterable[Reading]) -> Reading:
    """Whether one of several is true: one true value decides, even if others are unknown."""
    lost: Unknown | None = None
    for reading in rows:
        if reading is True:
            return True
        lost = lost or (reading if isinstance(reading, Unknown) else None)
    return lost if lost is not None else False


@join(needs=("here.flag", "there.flag"), gives={"own.flag": KINDS["flag"]})
def own_flag(inputs: Inputs) -> Facts:
    """Join two planes."""
    yield "own.flag", some(inputs.reading(f"{place}.flag") for place in ("here", "there"))


@join(needs=("here.events",), gives={"own.events": KINDS["events"]})
def own_events(inputs: Inputs) -> Facts:
    """Pass a counter on."""
    yield "own.events", inputs.reading("here.events")


def _made(scope: Scope) -> Iterable[Aggregate]:
    """Facts of a group that no shipped gathering has: of a list, of a quantity, of items."""

    @gathering(
        scope,
        needs=("here.flag", "there.number", "there.text"),
        gives={f"{scope}.made.{name}": KINDS[name] for name in ("flag", "number", "list")},
    )
    def made(members: Sequence[Member]) -> Facts:
        yield f"{scope}.made.flag", some(member.reading("here.flag") for member in members)
        numbers = [member.reading("there.number") for member in members]
        lost = next((each for each in numbers if isinstance(each, Unknown)), None)
        yield f"{scope}.made.number", lost or sum(each for each in numbers if isinstance(each, int))
        texts = [member.reading("there.text") for member in members]
        lost = next((each for each in texts if isinstance(each, Unknown)), None)
        yield f"{scope}.made.list", lost or tuple(sorted({str(t) for t in texts if not isinstance(t, Absent)}))

    @gathering(
        scope,
        needs=("here.number", "there.flag"),
        gives={f"{scope}.seat": Kind(Type.COLLECTION, ""), f"{scope}.seat/*.number": KINDS["number"], f"{scope}.seat/*.flag": KINDS["flag"]},
    )  # fmt: skip
    def seats(members: Sequence[Member]) -> Facts:
        yield f"{scope}.seat", tuple(member.seat.name for member in members)
        for member in members:
            yield f"{scope}.seat/{member.seat.name}.number", member.reading("here.number")
            yield f"{scope}.seat/{member.seat.name}.flag", member.reading("there.flag")

    return made, seats


def _named(made: Aggregate, scope: Scope) -> Aggregate:
    return replace(made, name=f"{scope}_{made.name}")


_READ = Catalogue.of([*_entries(), *_shipped()])
JOINS = tuple(each.bound(_READ) for each in (own_flag, own_events))
GATHERINGS = tuple(
    each.bound(_READ)
    for each in (
        *registry().gatherings,
        *(_named(made, scope) for scope in (Scope.RACK, Scope.FLEET) for made in _made(scope)),
    )
)
_FOLLOWING = [*(e for each in JOINS for e in each.entries()), *(e for each in GATHERINGS for e in each.entries())]
CATALOGUE = Catalogue.of([*_READ.entries.values(), *_FOLLOWING])

GROUP_FACTS: Mapping[Scope, Mapping[str, tuple[str, ...]]] = {
    Scope.RACK: {
        "flag": ("rack.alike.bmc", "rack.alike.bios", "rack.alike.vbios", "rack.made.flag"),
        "number": ("rack.gpu_count", "rack.nvlink_domains", "rack.leaks", "rack.made.number"),
        "list": ("rack.made.list",),
    },
    Scope.FLEET: {
        "flag": ("fleet.distinct_serials", "fleet.made.flag"),
        "number": ("fleet.gpu_count", "fleet.made.number"),
        "list": ("fleet.made.list",),
    },
}
"""Facts of a group, by their type's name."""

OF_A_SEAT = ("number", "flag")
"""The facts that a group reports for each of its nodes."""
