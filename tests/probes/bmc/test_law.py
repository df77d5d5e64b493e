"""The law on a BMC's resources: a value missing from one may make a verdict unknown, but never reverses it."""

import re
from collections.abc import Mapping
from functools import cache

import depth
import pytest
from less_known import LINKS, less
from noted import Bodies, Noted
from trees import ALL, SUPERMICRO, read

from rackcheck.evaluate.verdict import in_scope, judge
from rackcheck.model.capture import BmcCapture
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Plane, Unknown
from rackcheck.model.profile import Phase, Rule
from rackcheck.model.question import Redfish
from rackcheck.model.resource import Body
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.contract import Probe
from rackcheck.probe.plan import plan
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.sim import machine

TIME = "2026-01-01T00:00:00Z"
SIMULATED = "a simulated DGX H100"
EACH, MANY, LINKED = 25, depth.examples(20, 600), depth.examples(12, 25)
"""Changes of one BMC that are tried, evenly spread over all kinds; many more, and more lost links, in `make full`."""

PLANES = frozenset({Plane.BMC, Plane.DERIVED})
KNOWN = {Status.PASS, Status.FAIL, Status.WARN}


@cache
def judged() -> Mapping[str, Probe[Redfish]]:
    """The probes whose facts the profile judges: the others can reverse no verdict."""
    registered = registry()
    wanted = library.load("h100-dgx", registered.catalogue).facts()
    planned = plan(wanted, registered.probes, registered.catalogue, registered.joins)
    return {probe.name: probe for probe in planned.probes if isinstance(probe.ask, Redfish)}


@cache
def bodies(name: str) -> Bodies:
    """A BMC's resources of this kind, by URI."""
    if name == SIMULATED:
        return dict(machine.load(machine.shipped()["dgx-h100"], "n01", 1).bmc.bodies)
    return read(name, None, *judged()).bodies


DERIVED = {"psu.same_model"}
"""Rules on facts of joins, which are not computed here."""


@cache
def rules(name: str) -> tuple[Rule, ...]:
    """The rules of h100-dgx on a BMC's facts, with params as set by a site that qualified this machine."""
    registered = registry()
    site = {"c_states": "enabled", "secure_boot": "disabled"}
    facts = collect(judged().values(), BmcCapture(bodies(name)))
    for value, fact in (("bios_version", "firmware.bios"), ("bmc_firmware", "firmware.bmc")):
        reading = facts[fact].reading
        site[value] = reading if isinstance(reading, str) else "1"
    found = library.load("h100-dgx", registered.catalogue, site).own
    chosen = (r for r in found if in_scope(r, "compute", PLANES, frozenset({Phase.CONFIG})))
    return tuple(r for r in chosen if r.across is None and r.id not in DERIVED)


@cache
def leaves_and_readers(name: str) -> tuple[Mapping[str, Mapping[str, Leaf]], Mapping[str, frozenset[str]]]:
    """The facts of each probe on a BMC, and which probes read a resource."""
    leaves: dict[str, Mapping[str, Leaf]] = {}
    looked: dict[str, set[str]] = {}
    for probe in judged().values():
        noted = Noted(bodies(name))
        leaves[probe.name] = collect([probe], BmcCapture(noted))
        for uri in noted.seen:
            looked.setdefault(uri, set()).add(probe.name)
    return leaves, {uri: frozenset(names) for uri, names in looked.items()}


def verdicts(name: str, changes: Bodies) -> dict[str, Status]:
    """The verdict of every rule on a BMC with some resources replaced; only probes that read these run again."""
    leaves, looked = leaves_and_readers(name)
    again = frozenset[str]().union(*(looked.get(uri, ()) for uri in changes))
    facts = {
        path: leaf for probe, read_ones in leaves.items() if probe not in again for path, leaf in read_ones.items()
    }
    # All in one call, in which they share the links that they follow.
    now = collect([judged()[probe] for probe in sorted(again)], BmcCapture({**bodies(name), **changes}))
    if now == {path: leaf for probe in sorted(again) for path, leaf in leaves[probe].items()}:
        return dict(as_recorded(name))  # no fact is another one
    return {verdict.rule: verdict.status for verdict in judge(rules(name), Tree(facts | now))}


@cache
def as_recorded(name: str) -> Mapping[str, Status]:
    """The verdicts on a BMC without a change."""
    leaves, _ = leaves_and_readers(name)
    facts = {path: leaf for each in leaves.values() for path, leaf in each.items()}
    return {verdict.rule: verdict.status for verdict in judge(rules(name), Tree(facts))}


def turned(name: str, changes: list[tuple[str, str, Body | Unknown]]) -> list[str]:
    """The verdicts that one of these changes reversed."""
    before = verdicts(name, {})
    found: list[str] = []
    for change, uri, body in changes:
        after = verdicts(name, {uri: body})
        found += [
            f"{name}: {rule} {before[rule].value} -> {status.value}, when {uri}: {change}"
            for rule, status in after.items()
            if status is not before[rule] and {status, before[rule]} <= KNOWN
        ]
    return found


@pytest.mark.parametrize("name", [*ALL, SIMULATED])
def test_an_incomplete_resource_inverts_no_verdict(name: str) -> None:
    changes = list(less(bodies(name)))
    assert not turned(name, changes[:: max(1, len(changes) // EACH)])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ALL, SIMULATED])
def test_many_kinds_of_incomplete_resources_invert_no_verdict(name: str) -> None:
    kinds = {(re.sub(r"\d+", "#", uri), change): (change, uri, body) for change, uri, body in less(bodies(name))}
    assert not turned(name, list(kinds.values())[:: max(1, len(kinds) // MANY)])


@pytest.mark.parametrize("name", [SIMULATED, *ALL])
def test_a_link_that_is_not_there_turns_no_verdict_round(name: str) -> None:
    changes: list[tuple[str, str, Body | Unknown]] = []
    for uri, body in bodies(name).items():
        if not isinstance(body, Unknown):
            gone = LINKS.intersection(body)
            changes += [(f"no {key}", uri, {k: v for k, v in body.items() if k != key}) for key in sorted(gone)]
    found = turned(name, changes[:: max(1, len(changes) // LINKED)])
    assert not [line for line in found if not any(f" {rule} " in line for rule in BY_CHASSIS)]


BY_CHASSIS = {"bmc.thermal_sound", "bmc.sensors_sound", "bmc.nothing_critical", "bmc.nothing_unhealthy"}
"""Rules about resources that each chassis lists by a link of its own: a chassis without the link has none of them."""
BY_CHASSIS |= {"bmc.processors_healthy", "bmc.readings_within_limits"}
"""And of a GB200 tray, the processors of the baseboard count if its host has no Bios; their conditions are critical."""


NOT_LISTED = {
    "bmc.drives_healthy", "bmc.drives_in_service", "bmc.drives_lasting", "bmc.interfaces_sound", "bmc.integrity_sound", "bmc.nic_ports_sound",
    "bmc.nics_sound", "bmc.nvswitches_healthy", "bmc.nvswitches_in_service", "bmc.pcie_sound", "bmc.pcie_switches_sound", "bmc.retimers_sound",
    "bmc.tpms_sound", "bmc.thermal_sound", "leak.detectors_healthy", "leak.none_reported",
}  # fmt: skip
"""Rules about parts that the simulated BMC does not list; its power supplies and firmware report no health."""


def test_the_simulated_machine_passes_what_is_judged_here() -> None:
    found = verdicts(SIMULATED, {})
    assert set(found) >= {"psu.count", "fan.turning", "bmc.systems", "bios.none_pending", "firmware.bmc"}
    assert {i for i, s in found.items() if s is Status.UNKNOWN} - {"bmc.clock"} == NOT_LISTED
    assert {i for i, s in found.items() if s is Status.NA} == {
        "bmc.log_quiet", "firmware.components_sound", "psu.healthy", "psu.in_service", "bmc.cxl_memory_healthy",
        "bmc.cxl_memory_in_service",
    }  # fmt: skip
    assert {s for i, s in found.items() if i != "bmc.clock"} <= {Status.PASS, Status.UNKNOWN, Status.NA}
    assert {i for i in NOT_LISTED if not next(r for r in rules(SIMULATED) if r.id == i).unknown_is_minor} == set()


def test_firmware_whose_health_is_critical_fails_and_firmware_without_a_health_proves_nothing() -> None:
    uri, rule = "/redfish/v1/UpdateService/FirmwareInventory/BMC", "firmware.components_sound"
    body = bodies(SUPERMICRO)[uri]
    assert not isinstance(body, Unknown)
    found = {
        word: verdicts(SUPERMICRO, {uri: {**body, "Status": {"Health": word, "State": "Enabled"}}})[rule]
        for word in ("OK", "Warning", "Critical", "Fine")
    }
    assert found == {
        "OK": Status.PASS, "Warning": Status.PASS, "Critical": Status.FAIL, "Fine": Status.UNKNOWN,
    }  # fmt: skip
    assert verdicts(SIMULATED, {})[rule] is Status.NA
