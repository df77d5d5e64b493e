"""PDUs, the power of nodes, and power budgets in an inventory; each mistake with its place."""

from pathlib import Path

import pytest
from command import rackcheck

from rackcheck.inventory import load
from rackcheck.inventory.importers import columns
from rackcheck.inventory.importers.writing import written
from rackcheck.profile.document import BadFile

HEAD = """\
rackcheck: 1
defaults: { pdu: a01-left }
racks:
  a01: { power-budget: 40 }
  a02: {}
pdus:
  a01-left: { power-budget: 17.25 }
  a01-right: {}
groups:
  big: { nodes: n3, power: 14.3 }
nodes:
"""


def problems(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "inv.yaml").write_text(text)
    with pytest.raises(BadFile) as caught:
        load(tmp_path / "inv.yaml")
    return [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]


def test_powers_are_kilowatts_and_the_nearest_value_of_a_node_counts(tmp_path: Path) -> None:
    nodes = "  n[1-3]: { host: '{node}', rack: a01, power: 10.2 }\n  n2: { pdu: a01-right, power: 6 }\n"
    (tmp_path / "inv.yaml").write_text(HEAD + nodes)
    found = load(tmp_path / "inv.yaml")
    assert {name: (node.pdu, node.power) for name, node in found.nodes.items()} == {
        "n1": ("a01-left", 10_200), "n2": ("a01-right", 6_000), "n3": ("a01-left", 10_200),
    }  # fmt: skip
    assert {name: rack.budget for name, rack in found.racks.items()} == {"a01": 40_000, "a02": 0}
    assert found.pdus == {"a01-left": 17_250, "a01-right": 0}


def test_without_budgets_and_powers_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "inv.yaml").write_text("rackcheck: 1\nnodes:\n  n1: { host: n1, pdu: anywhere }\n")
    found = load(tmp_path / "inv.yaml")
    assert (found.pdus, found.nodes["n1"].pdu, found.nodes["n1"].power) == ({}, "anywhere", 0)


def test_a_pdu_that_is_not_declared_is_a_mistake_with_the_nearest_name(tmp_path: Path) -> None:
    nodes = "  n[1-2]: { host: '{node}', pdu: a01-rigth }\n  n3: { host: n3 }\n"
    (found,) = problems(tmp_path, HEAD + nodes)
    assert found.startswith("inv.yaml:12:")
    assert "no PDU a01-rigth" in found
    assert "a01-right" in found.partition("no PDU a01-rigth")[2]


@pytest.mark.parametrize("value", ["0", "-3", "10kW", "0.0", "1234567", "1.2345", "nan", "[1]"])
@pytest.mark.parametrize("place", ["node", "rack", "pdu"])
def test_a_power_that_is_no_power_is_a_mistake(tmp_path: Path, value: str, place: str) -> None:
    given = {"node": "10", "rack": "10", "pdu": "10"} | {place: value}
    text = (
        f"rackcheck: 1\nracks:\n  a: {{ power-budget: {given['rack']} }}\npdus:\n  p: {{ power-budget: {given['pdu']} }}\n"
        f"nodes:\n  n1: {{ host: n1, power: {given['node']} }}\n"
    )
    found = problems(tmp_path, text)
    assert len(found) == 1
    assert found[0].startswith(f"inv.yaml:{ {'rack': 3, 'pdu': 5, 'node': 7}[place] }:")


def test_a_sheet_gives_the_pdu_and_the_power_of_a_node(tmp_path: Path) -> None:
    taken = columns.read("name,host,pdu,power\nn1,10.0.0.1,left,14.3\nn2,10.0.0.2,right,14 kW\n", "sheet.csv")
    (tmp_path / "inv.yaml").write_text(written(taken, "sheet.csv"))
    found = load(tmp_path / "inv.yaml").nodes
    assert [(node.pdu, node.power) for node in found.values()] == [("left", 14_300), ("right", 0)]
    assert any("power" in note for note in taken.notes)


def test_show_lists_power_and_pdu_in_json(tmp_path: Path) -> None:
    (tmp_path / "inv.yaml").write_text(HEAD + "  n3: { host: n3, rack: a01 }\n")
    done = rackcheck("inventory", "show", "-i", tmp_path / "inv.yaml", "--json")
    assert done.status == 0, done.err
    assert '"power": 14300' in done.out
    assert '"budget": 40000' in done.out
    assert '"a01-left": 17250' in done.out
