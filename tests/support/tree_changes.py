"""Random changes of a recorded BMC, as other firmware may return the same machine, or less of it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from changed_tree import GONE, V1, last
from changed_trees import Base, Change

from rackcheck.model.fact import Unknown, Value
from rackcheck.model.resource import Body

Kind = Callable[[Base, Random], Change | None]
Picked = tuple[str, Body]


def _pick(base: Base, rng: Random, fits: Callable[[str, Body], bool]) -> Picked | None:
    """One of the bodies that a probe reads, or None if none fits."""
    found = [(uri, body) for uri, body in base.bodies.items() if fits(uri, body)]
    return rng.choice(found) if found else None


def _collections(least: int = 1) -> Callable[[str, Body], bool]:
    return lambda _, body: isinstance(body.get("Members"), list) and len(body["Members"]) >= least


def _a_part(uri: str, body: Body) -> bool:
    """Whether this is a resource with a Status: a member of a collection or an array, not a service."""
    return isinstance(body.get("Status"), Mapping) and uri.count("/") >= 4


def _scalars(value: object) -> Iterator[Value]:
    """All texts and numbers in a body."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for each in inner:
        if isinstance(each, str | int | float):
            yield each
        yield from _scalars(each)


def doubled_member(base: Base, rng: Random) -> Change | None:
    """A collection that lists one member twice; its count includes it, or does not."""
    picked = _pick(base, rng, _collections())
    if picked is None:
        return None
    uri, body = picked
    again = rng.choice(body["Members"])
    members = [*body["Members"], again]
    count = len(members) - rng.randrange(2)
    return Change(f"{uri}: {again} twice", {uri: {**body, "Members": members, "Members@odata.count": count}})


def reordered(base: Base, rng: Random) -> Change | None:
    """A collection that lists its members in another order; not of a log, whose order has a meaning."""
    picked = _pick(base, rng, lambda uri, body: _collections(2)(uri, body) and "/LogServices/" not in uri)
    if picked is None:
        return None
    uri, body = picked
    members = rng.sample(body["Members"], len(body["Members"]))
    return Change(f"{uri}: in another order", {uri: {**body, "Members": members}})


def wrong_count(base: Base, rng: Random) -> Change | None:
    """A collection whose count is larger than its list; the count of a log is a fact itself."""
    picked = _pick(base, rng, lambda uri, body: _collections()(uri, body) and "/LogServices/" not in uri)
    if picked is None:
        return None
    uri, body = picked
    count = len(body["Members"]) + rng.randint(1, 9)
    bodies = {uri: {**body, "Members@odata.count": count}}
    return Change(f"{uri}: count of {count}", bodies, totals=True, collection=uri)


def lost_member(base: Base, rng: Random) -> Change | None:
    """A member that is listed and does not exist."""
    picked = _pick(base, rng, _collections())
    links = [each.get("@odata.id") for each in picked[1]["Members"] if isinstance(each, Mapping)] if picked else []
    if not links:
        return None
    uri = str(rng.choice(links)).rstrip("/")
    holds = uri.rpartition("/")[0]
    return without_storage(
        base, Change(f"{uri}: 404", {uri: GONE}, (uri,), totals=True, may_hide=True, collection=holds)
    )


def without_storage(base: Base, change: Change) -> Change:
    """A change that may leave no drive of Storage to read: devices of SimpleStorage then serve, under their names."""
    system, storage, _ = change.parts[0].partition("/Storage")
    instead = f"{system}/SimpleStorage"
    listed = base.capture.bodies[instead] if storage else GONE
    held = [] if isinstance(listed, Unknown) else listed["Members"]
    shown = {value for each in held for value in _scalars(base.capture.bodies[each["@odata.id"]])}
    sizes = {value / 1e9 for value in shown if isinstance(value, int | float)}
    return replace(change, instead=(instead,), values=frozenset(shown | sizes)) if held else change


def lost_collection(base: Base, rng: Random) -> Change | None:
    """A collection that is linked and does not exist."""
    picked = _pick(base, rng, _collections(0))
    if picked is None:
        return None
    uri = picked[0]
    older = tuple(
        f"{above}/{old}"
        for old, new, name in NEWER.values()
        for above in [uri.removesuffix(f"/{new}/{name}")]
        if above != uri
    )
    change = without_storage(base, Change(f"{uri}: 404", {uri: GONE}, (uri, *older), totals=True, collection=uri))
    values = frozenset(value for each in older for value in _scalars(base.capture.bodies[each]))
    return replace(change, may_move=bool(older), may_hide=True, values=values | change.values)


def null_status(base: Base, rng: Random) -> Change | None:
    """A part whose Status, or one property of it, is null; an empty slot has nothing that could be unknown."""
    picked = _pick(base, rng, lambda uri, body: _a_part(uri, body) and body["Status"].get("State") != "Absent")
    if picked is None:
        return None
    uri, body = picked
    name = rng.choice([None, *sorted(set(body["Status"]) & {"State", "Health", "HealthRollup"})])
    status = None if name is None else {**body["Status"], name: None}
    return Change(f"{uri}: Status {name} null", {uri: {**body, "Status": status}}, (uri,), totals=True)


TEXTS = (
    "Model",
    "Manufacturer",
    "SerialNumber",
    "PartNumber",
    "Version",
    "FirmwareVersion",
    "SKU",
    "UUID",
    "BiosVersion",
)
"""Properties whose text may be missing; a part without its name is another claim."""


def empty_text(base: Base, rng: Random) -> Change | None:
    """A part with an empty text in place of a value."""
    picked = _pick(base, rng, lambda _, body: any(isinstance(body.get(name), str) and body[name] for name in TEXTS))
    if picked is None:
        return None
    uri, body = picked
    name = rng.choice([each for each in TEXTS if isinstance(body.get(each), str) and body[each]])
    return Change(f"{uri}: empty {name}", {uri: {**body, name: ""}}, (uri,), totals=True)


def reading_basis(base: Base, rng: Random) -> Change | None:
    """A sensor that states what its reading counts from."""
    picked = _pick(base, rng, lambda uri, body: "/Sensors/" in uri and "Reading" in body)
    if picked is None:
        return None
    uri, body = picked
    basis = rng.choice(("Zero", "Headroom", "Delta"))
    change = {uri: {**body, "ReadingBasis": basis}}
    return Change(f"{uri}: ReadingBasis {basis}", change, (uri,), totals=True, may_move=True, distance=basis != "Zero")


def split_host(base: Base, rng: Random) -> Change | None:
    """A second system of the same machine that lists the host's processors, memory, or both."""
    names = rng.choice((("Processors",), ("Memory",), ("Processors", "Memory")))
    systems = f"{V1}/Systems"

    def fits(uri: str, body: Body) -> bool:
        boots = any(name in body for name in ("Bios", "BiosVersion", "TrustedModules"))
        return uri.rpartition("/")[0] == systems and boots and all(name in body for name in names)

    picked = _pick(base, rng, fits)
    listed = base.capture.bodies[systems]
    if picked is None or isinstance(listed, Unknown):
        return None
    uri, body = picked
    other = f"{systems}/Split_q7"
    own = {"@odata.id": other, "Id": "Split_q7", "Name": "Board", **{name: body[name] for name in names}}
    if "Links" in body and "Chassis" in body["Links"]:
        own["Links"] = {"Chassis": body["Links"]["Chassis"]}
    members = [*listed["Members"], {"@odata.id": other}]
    rng.shuffle(members)
    bodies: dict[str, Body | Unknown] = {
        systems: {**listed, "Members": members, "Members@odata.count": len(members)},
        uri: {name: value for name, value in body.items() if name not in names},
        other: own,
    }
    parts = tuple(body[name]["@odata.id"] for name in names)
    what = f"{uri}: {' and '.join(names)} in {other}"
    return Change(what, bodies, parts, totals=True, may_move=True, grows=("bmc.system",))


def renamed(base: Base, rng: Random) -> Change | None:
    """A member with another id: its URI, and all that refers to it."""
    picked = _pick(base, rng, lambda uri, body: _collections()(uri, body) and "/LogServices/" not in uri)
    links = [each.get("@odata.id") for each in picked[1]["Members"] if isinstance(each, Mapping)] if picked else []
    if not links:
        return None
    old = str(rng.choice(links)).rstrip("/")
    known = base.capture.bodies[old]
    kind = old.rsplit("/", 2)[1]
    alike = [uri for uri in base.bodies if uri.rsplit("/", 2)[1:] == [kind, last(old)]]
    # A part that shares its id with another one is named after its chassis too, and no longer if it has its own id.
    if not isinstance(known, Mapping) or known.get("Id") != last(old) or len(alike) > 1:
        return None
    pairs = tuple((each, f"{each}q7") for each in (old, *twins(base, old)))
    bodies: dict[str, Body | Unknown] = {}
    for uri, body in base.capture.bodies.items():
        if not isinstance(body, Mapping):
            continue
        text, place = json.dumps(body), uri
        for before, after in pairs:
            for end in ('"', "/", "#"):
                text = text.replace(f'"{before}{end}', f'"{after}{end}')
            place = after + place[len(before) :] if place == before or place.startswith(f"{before}/") else place
        fresh = json.loads(text)
        if place != uri:
            bodies[uri] = GONE
        if place != uri or fresh != body:
            bodies[place] = {**fresh, "Id": last(place)} if any(place == after for _, after in pairs) else fresh
    name = re.compile(rf"(?<![A-Za-z0-9]){re.escape(last(old))}(?![A-Za-z0-9])")
    by_name = any(last(uri) != last(old) and name.search(last(uri)) for uri in base.bodies)
    return Change(f"{old}: renamed to {last(old)}q7", bodies, renamed=pairs, by_name=by_name)


def twins(base: Base, uri: str) -> list[str]:
    """The other entries of a firmware that a Dell lists as `Installed-` and `Current-` with one text behind.

    Such an Id has a meaning, which it keeps if the text changes in all of them.
    """
    holds, _, name = uri.rpartition("/")
    word, _, rest = name.partition("-")
    others = (f"{holds}/{each}-{rest}" for each in ("Installed", "Current", "Previous") if each != word)
    return [each for each in others if word in ("Installed", "Current", "Previous") and each in base.bodies]


NEWER: Mapping[str, tuple[str, str, str]] = {
    "PowerSupplies": ("Power", "PowerSubsystem", "PowerSupplies"),
    "Fans": ("Thermal", "ThermalSubsystem", "Fans"),
}
"""Lists of an older resource: that resource, the newer one, and its collection."""

SHARED = ("Manufacturer", "Model", "SerialNumber", "PartNumber", "SparePartNumber", "FirmwareVersion", "Status")


def beside(base: Base, rng: Random) -> Change | None:
    """A newer collection beside the older list of the same power supplies or fans."""
    name = rng.choice(sorted(NEWER))
    older, newer, collection = NEWER[name]

    def fits(uri: str, body: Body) -> bool:
        old = body.get(older)
        held = base.capture.bodies[old["@odata.id"]] if isinstance(old, Mapping) else None
        return (
            uri.startswith(f"{V1}/Chassis/")
            and newer not in body
            and isinstance(held, Mapping)
            and bool(held.get(name))
        )

    picked = _pick(base, rng, fits)
    if picked is None:
        return None
    uri, body = picked
    held = base.capture.bodies[body[older]["@odata.id"]]
    assert isinstance(held, Mapping)
    place = f"{uri}/{newer}"
    bodies: dict[str, Any] = {
        uri: {**body, newer: {"@odata.id": place}},
        place: {"@odata.id": place, "Id": newer, collection: {"@odata.id": f"{place}/{collection}"}},
    }
    members = []
    for number, part in enumerate(held[name]):
        key = str(part.get("MemberId") or number)
        member = f"{place}/{collection}/{key}"
        shown = {each: part[each] for each in SHARED if each in part}
        bodies[member] = {"@odata.id": member, "Id": key, "Name": part.get("Name") or part.get("FanName"), **shown}
        members.append({"@odata.id": member})
    listed = {"Members": members, "Members@odata.count": len(members)}
    bodies[f"{place}/{collection}"] = {"@odata.id": f"{place}/{collection}", **listed}
    parts = (f"{place}/{collection}", body[older]["@odata.id"])
    return Change(f"{uri}: {newer} beside {older}", bodies, parts, totals=True, grows=("bmc.unhealthy",))


KINDS: Mapping[str, Kind] = {
    "a member listed twice": doubled_member,
    "a collection in another order": reordered,
    "a count above the list": wrong_count,
    "a member that is 404": lost_member,
    "a collection that is 404": lost_collection,
    "a Status, State or Health of null": null_status,
    "an empty text": empty_text,
    "a sensor with a ReadingBasis": reading_basis,
    "a host in two systems": split_host,
    "a renamed member": renamed,
    "a newer schema beside the older": beside,
}
"""All kinds of change, by name."""


def changes(base: Base, seed: int, count: int) -> list[tuple[str, Change]]:
    """Random changes of a BMC, of each kind in turn that its tree permits."""
    rng = Random(f"{seed} {base.name}")
    found: list[tuple[str, Change]] = []
    kinds = list(KINDS.items())
    while len(found) < count:
        round_ = [(name, change) for name, kind in kinds if (change := kind(base, rng)) is not None]
        found += round_[: count - len(found)]
    return found
