"""What `rackcheck facts NODE FACT` reads: what tells the facts that are named, and nothing else."""

import pytest
from mockup_server import Mockup
from trees import ALL, ANY_CASE, client, tree

from rackcheck.model.fact import Plane
from rackcheck.probe.named import named_plan
from rackcheck.probe.plan import Plan
from rackcheck.probe.registry import registry
from rackcheck.transport import redfish

KNOWN = registry()


def plan(*words: str) -> Plan:
    return named_plan(words, KNOWN.probes, KNOWN.catalogue, KNOWN.joins)


def names(*words: str) -> set[str]:
    return {probe.name for probe in plan(*words).probes}


@pytest.mark.parametrize("name", ALL)
def test_the_facts_of_the_trusted_modules_take_fewer_than_15_gets(name: str) -> None:
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        _, trouble = redfish.read(client(server), plan("bmc.tpm").links, redfish.Limits(expand=False))
    assert trouble is None
    assert 1 <= sum(server.gets.values()) < 15


@pytest.mark.parametrize("name", ALL)
def test_the_facts_of_the_bios_take_fewer_than_15_gets(name: str) -> None:
    with Mockup(tree(name), ignore_case=name in ANY_CASE) as server:
        _, trouble = redfish.read(client(server), plan("bios").links, redfish.Limits(expand=False))
    assert trouble is None
    assert 1 <= sum(server.gets.values()) < 15


def test_a_word_asks_the_probes_of_its_facts_and_no_other_plane() -> None:
    assert names("bmc.tpm") == names("bmc.tpm/0.version") == {"bmc_tpm"}
    assert {"bmc_bios", "bmc_secure_boot"} <= names("bios") <= {p.name for p in KNOWN.probes if p.plane is Plane.BMC}
    assert plan("bmc.tpm").planes == {Plane.BMC}
    assert plan("sysctl.net.core.rmem_max").planes == plan("sysctl").planes == {Plane.OS}
    assert plan("bmc.tp").planes == {Plane.BMC}


def test_a_word_in_the_middle_of_a_key_and_a_quoted_key_ask_the_probes_of_the_item() -> None:
    assert names('bmc.dimm/"DIMM.Sock') >= {"bmc_memory"}
    assert names('bmc.dimm/"DIMM.Socket.A1".size') == {"bmc_memory"}
    assert "bmc_sensors" in names("bmc.sensor")
    assert "bmc_sensors" not in names("bmc.dimm")


def test_a_derived_fact_asks_its_inputs_of_both_planes() -> None:
    derived = plan("gpu/0.bmc_id")
    assert derived.joins
    assert derived.planes == {Plane.OS, Plane.BMC}
    assert names("bmc.tpm") < names("gpu/0.bmc_id") | {"bmc_tpm"}


def test_no_word_asks_everything_affordable_and_an_unknown_word_nothing() -> None:
    assert len(plan().probes) > 100
    assert plan().joins == KNOWN.joins
    assert plan("xyzzy").probes == ()


def test_each_fact_is_read_by_the_plan_of_its_own_name() -> None:
    entries = [e for e in KNOWN.catalogue.entries.values() if e.plane in {Plane.OS, Plane.BMC}]
    missed = [e.pattern for e in entries[::7] if e.probe not in names(e.pattern.removesuffix(".**"))]
    assert len(entries) > 1000
    assert missed == []
