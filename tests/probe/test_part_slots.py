"""The board's labels of slots are read with the parts of a node, without a further question to it."""

from dataclasses import replace

import pytest

from rackcheck.model.part_kinds import is_part_fact
from rackcheck.probe.registry import registry
from rackcheck.profile import library


@pytest.mark.parametrize("name", ["linux-server", "linux-gpu-node", "h100-dgx", "rdma-nic"])
def test_an_audit_reads_the_slots_of_cards_with_no_further_question(name: str) -> None:
    plan = registry().planned(library.load(name, registry().catalogue), ())
    assert "slots" in {probe.name for probe in plan.probes}
    without = replace(plan, probes=tuple(probe for probe in plan.probes if probe.name != "slots"))
    assert plan.questions == without.questions


@pytest.mark.parametrize("name", ["bmc-health", "xeon-performance"])
def test_an_audit_of_bmcs_alone_reads_no_slots_of_the_operating_system(name: str) -> None:
    plan = registry().planned(library.load(name, registry().catalogue), ())
    assert "slots" not in {probe.name for probe in plan.probes}


@pytest.mark.parametrize(
    ("fact", "wanted"),
    [
        ("node.slot/PCIE_SLOT1.pci", True), ('node.slot/"PCIe 1.x".pci', True),
        ("node.slot/PCIE_SLOT1.usage", False), ("node.slots", False), ("sysctl.**", False),
    ],
)  # fmt: skip
def test_the_address_of_a_slot_is_a_fact_about_parts(fact: str, wanted: bool) -> None:
    assert is_part_fact(fact) is wanted
