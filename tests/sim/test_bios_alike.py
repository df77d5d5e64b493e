"""The BIOS attributes of one node of four are changed: the rules that compare nodes name them."""

from collections.abc import Mapping
from typing import Any

from damaged import Answers, clean, loaded

from rackcheck.evaluate.consensus import agreed, poll
from rackcheck.evaluate.verdict import Status, Verdict
from rackcheck.evaluate.waiver import NOTHING
from rackcheck.model.tree import Tree

BIOS = "/redfish/v1/Systems/DGX/Bios"
RULES = ("alike.bios_settings", "alike.bios_settings_other")


def changed(**attributes: object) -> Tree:
    def edit(body: dict[str, Any]) -> None:
        body["Attributes"].update(attributes)

    return clean().bodies(BIOS, edit).tree()


def without_bios() -> Tree:
    answers: Answers = clean()
    leaves = answers.tree().leaves
    return Tree({path: leaf for path, leaf in leaves.items() if not path.startswith("bios.")})


def judged(other: Tree) -> Mapping[str, Verdict]:
    """What is judged of a node beside three clean ones."""
    trees = {"n1": other, **dict.fromkeys(("n2", "n3", "n4"), clean().tree())}
    found = {}
    for rule in loaded("h100-dgx").own:
        if rule.id in RULES:
            assert rule.across is not None
            found[rule.id] = agreed(rule, other, poll(rule.across, trees, len(trees)), NOTHING)
    return found


def test_nodes_with_the_same_attributes_pass() -> None:
    assert {verdict.status for verdict in judged(clean().tree()).values()} == {Status.PASS}


def test_a_setting_about_speed_fails_and_names_what_the_other_nodes_have() -> None:
    found = judged(changed(NumaEn="Disable", PcieRelaxedOrdering="No", UmaBasedClustering="Disable (All2All)"))
    assert found["alike.bios_settings"].reason == (
        "bios.shared/NumaEn is Disable, must be Enable as on 3 of 4; "
        "bios.shared/PcieRelaxedOrdering is No, must be Yes as on 3 of 4; "
        "bios.shared/UmaBasedClustering is Disable (All2All), must be Quadrant   (4-clusters) as on 3 of 4"
    )
    assert found["alike.bios_settings_other"].status is Status.PASS


def test_another_setting_is_a_minor_finding() -> None:
    found = judged(changed(PagePolicy="Open"))
    assert {rule: verdict.status for rule, verdict in found.items()} == dict(
        zip(RULES, (Status.PASS, Status.FAIL), strict=True)
    )


def test_what_each_node_has_of_its_own_is_no_finding() -> None:
    found = judged(changed(BootOption1="Hard Disk", AdminPassword="x", Subnet1="255.0.0.0", BootOption900="NIC"))
    assert {verdict.status for verdict in found.values()} == {Status.PASS}


def test_a_node_whose_bios_is_not_read_is_unknown() -> None:
    assert {verdict.status for verdict in judged(without_bios()).values()} == {Status.UNKNOWN}
