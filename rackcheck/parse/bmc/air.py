"""The temperature of the air that enters and leaves a machine, from the chassis that are the machine's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.redfish_value import measured
from rackcheck.model.resource import Resource, inside
from rackcheck.model.text import Sourced
from rackcheck.parse.bmc.chassis import LEVELS, every, foreign, is_blade, items_of, own
from rackcheck.parse.bmc.end import links, spelt
from rackcheck.parse.bmc.excerpt import meaning, reading
from rackcheck.parse.bmc.host import Machine, machine
from rackcheck.parse.bmc.item import gather, not_there
from rackcheck.parse.bmc.sensor import TEMPERATURES, celsius_of

SUMMARY = "TemperatureSummaryCelsius"


def air(docs: Documents, context: str) -> Sourced | Reading:
    """Return the temperature of the intake or exhaust air of a machine; `context` is `Intake` or `Exhaust`.

    The temperature is read from the summary of a chassis, else from the only sensor with this context. The temperature
    is unknown if several summaries or sensors have this context: one recorded BMC returns Intake for all its 120
    sensors, and none of them is then fetched. The air of one machine of an enclosure is not that of the others, nor of
    the enclosure.
    """
    places, trouble = every(docs)
    places = own(places, foreign(docs))  # of those in doubt, `_enclosure` finds what is common to all machines
    held = machine(docs) if len(places) > 1 else Machine()
    if held.trouble is not None and held.trouble.reason is not Reason.NOT_COLLECTED:
        trouble = trouble or held.trouble  # a system that was not read may be another host
    enclosure = _enclosure(held, places)
    found: list[Resource] = []
    summed = False
    for place in places:
        holders, unread = gather(docs.at("ThermalSubsystem/ThermalMetrics", place))
        lost = next((each.unread for each in holders if each.unread is not None and not not_there(each.unread)), None)
        trouble = trouble or unread or lost
        having = [each for each in holders if _has(each, context)]
        summed = summed or bool(having)
        found += having
    if not summed:
        sensors, unread = items_of(docs, (places, None), *TEMPERATURES)
        trouble = trouble or unread
        found = [sensor for sensor in sensors if sensor.read("PhysicalContext").reading == context]
    if trouble is not None:
        return trouble
    doubts = [enclosure.doubt(each) for each in found]
    kept = [each for each, doubt in zip(found, doubts, strict=True) if doubt is None]
    if not kept and found:
        return doubts[0] or Unknown(Reason.NOT_COLLECTED, f"no sensor reports the context {context}")
    if len(kept) != 1:
        many = f"{len(kept)} sensors report" if kept else "no sensor reports"
        return Unknown(Reason.NOT_COLLECTED, f"{many} the context {context}")
    if summed:
        return _summary(docs, kept[0], context)
    return reading(kept[0], meaning(docs, kept[0], context), "temperature", celsius_of(kept[0]))


def air_sources(docs: Documents) -> None:
    """Fetch the sensors that the air temperatures are copied from."""
    for context in ("Intake", "Exhaust"):
        air(docs, context)


def _summary(docs: Documents, metrics: Resource, context: str) -> Sourced:
    """Read one temperature of a chassis' summary, unless the sensor that it is copied from measures something else."""
    sourced = metrics.read(f"{SUMMARY}.{context}.Reading", measured)
    if isinstance(sourced.reading, Unknown):
        return sourced
    excerpt = Resource(inside(metrics.uri, SUMMARY, context), metrics.body[SUMMARY][context], above=metrics)
    return reading(excerpt, meaning(docs, excerpt, context), "temperature", sourced)


def _has(metrics: Resource, context: str) -> bool:
    """Return whether a temperature summary has this context; True if it is null, because the value is then unknown."""
    if SUMMARY not in metrics.body:
        return False
    summary = metrics.body[SUMMARY]
    return not isinstance(summary, Mapping) or context in summary


@dataclass(frozen=True)
class _Enclosure:
    """The chassis of several machines behind one BMC: the chassis that not all of them are in, and why.

    `above` has the chassis that contains a chassis, by URI.
    """

    apart: Mapping[str, Unknown]
    above: Mapping[str, str]

    def doubt(self, holder: Resource) -> Unknown | None:
        """Return why the air of a resource's chassis is not that of the whole machine; None if it is."""
        owner = holder.owner
        at = None if owner is None else spelt(owner.uri)
        for _ in range(LEVELS):
            if at is None or at in self.apart:
                break
            at = self.above.get(at)
        return None if at is None else self.apart.get(at)


def _enclosure(held: Machine, places: Sequence[Resource]) -> _Enclosure:
    """Return which chassis belong to one of several machines.

    If the BMC manages several hosts, these are the chassis that some of the hosts link to, and others do not. If there
    are several blades, these are also the blades that the only host does not link to.
    """
    linked = [links(host, "Chassis") for host in held.hosts]
    apart: dict[str, Unknown] = {}
    if held.several is not None:
        shared = frozenset.intersection(*linked) if linked else frozenset()
        apart |= dict.fromkeys(frozenset().union(*linked) - shared, held.several)
    blades = [each for each in places if is_blade(each)]
    home = frozenset[str]().union(*linked)
    for blade in blades if len(blades) > 1 else ():
        if spelt(blade.uri) not in home:
            why = f"{blade.uri} is one of {len(blades)} blades, and not known to be that of this node"
            apart.setdefault(spelt(blade.uri), held.several or Unknown(Reason.NOT_COLLECTED, why))
    above = {spelt(each.uri): uri for each in places for uri in sorted(links(each, "ContainedBy"))[:1]}
    return _Enclosure(apart, above)
