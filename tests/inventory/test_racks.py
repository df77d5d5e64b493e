"""Racks with geometry: types, units, slots; each mistake with its place."""

import re
import textwrap
from pathlib import Path

import pytest
from places import ROOT

from rackcheck.inventory import Inventory, load
from rackcheck.inventory.rack import rack_type
from rackcheck.inventory.view import elevation, racks, rows, units
from rackcheck.profile.document import BadFile
from rackcheck.profile.library import shipped

TYPE = """\
rackcheck: 1
rack-type: pod
title: our own
height: 6
slots:
  top: { u: 5, height: 2, role: storage }
  low: { u: 1 }
"""


def read(tmp_path: Path, nodes: str, racks: str = "  a: { row: A, type: rack-42u }\n  p: { type: pod }\n") -> Inventory:
    (tmp_path / "rack-types").mkdir(exist_ok=True)
    (tmp_path / "rack-types" / "pod.yaml").write_text(TYPE)
    (tmp_path / "inv.yaml").write_text(f"rackcheck: 1\nracks:\n{racks}nodes:\n{nodes}")
    return load(tmp_path / "inv.yaml")


def problems(tmp_path: Path, *more: str, **named: str) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read(tmp_path, *more, **named)
    return [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]


@pytest.mark.parametrize("path", sorted(shipped("racks").glob("rack-*.yaml")), ids=lambda p: p.stem)
def test_a_shipped_rack_type_has_the_height_it_is_named_for(path: Path) -> None:
    shape = rack_type(path)
    assert shape.height == int(path.stem.removeprefix("rack-").removesuffix("u"))
    assert shape.title


def test_there_are_shipped_rack_types() -> None:
    assert {p.stem for p in shipped("racks").glob("*.yaml")} == {"gb200-nvl72", "gb300-nvl72", "rack-42u", "rack-48u"}


@pytest.mark.parametrize(("name", "shelves"), [("gb200-nvl72", 8), ("gb300-nvl72", 6)])
def test_a_shipped_nvl72_has_a_slot_for_each_tray_and_the_power_shelves_of_its_source(name: str, shelves: int) -> None:
    slots = rack_type(shipped("racks") / f"{name}.yaml").slots.values()
    counts = {role: sum(slot.role == role for slot in slots) for role in {slot.role for slot in slots}}
    assert counts == {"compute": 18, "nvswitch-tray": 9, "power-shelf": shelves}
    assert {slot.u for slot in slots if slot.role == "nvswitch-tray"} == set(range(19, 28))


def test_a_rack_has_its_type_and_nodes_stand_by_unit_or_by_slot(tmp_path: Path) -> None:
    inventory = read(
        tmp_path,
        "  n1: { host: h, rack: a, u: 3, height: 4 }\n  n2: { host: h, rack: p, role: storage, slot: top }\n"
        "  n3: { host: h, rack: p, slot: low }\n  n4: { host: h, rack: a }\n",
    )
    values = {n.name: (n.u, n.height, n.slot, list(n.units)) for n in inventory.nodes.values()}
    assert values == {
        "n1": (3, 4, "", [3, 4, 5, 6]),
        "n2": (5, 2, "top", [5, 6]),
        "n3": (1, 1, "low", [1]),
        "n4": (0, 1, "", []),
    }
    a, p = inventory.racks["a"], inventory.racks["p"]
    assert (a.name, a.row, a.title, a.height, a.slots) == ("a", "A", "rack of 42 units", 42, {})
    assert (p.title, p.height, p.slots["top"].u, p.slots["top"].role) == ("our own", 6, 5, "storage")


@pytest.mark.parametrize(
    ("nodes", "at", "text"),
    [
        ("  n1: { host: h, rack: a, u: 43 }", "43", "n1 reaches U 43, but the rack has only 42 units"),
        ("  n1: { host: h, rack: a, u: 42, height: 2 }", "42", "n1 reaches U 43, but the rack has only 42 units"),
        ("  n1: { host: h, rack: a, u: 0 }", "0", "n1: rack units are counted from 1"),
        ("  n1: { host: h, rack: a, u: 1, height: 0 }", "0", "n1: a height must be 1 or more"),
        ("  n1: { host: h, u: 4 }", "4", "n1 has a `u` but no `rack`"),
        ("  n1: { host: h, rack: q }", "q", "n1: no rack q"),
        ("  n1: { host: h, rack: p, slot: to }", "to", "n1: rack p has no slot to; did you mean top?"),
        ("  n1: { host: h, rack: a, slot: top }", "top", "n1: rack a has no slot top"),
        ("  n1: { host: h, slot: top }", "top", "n1 has a `slot` but no `rack`"),
        ("  n1: { host: h, rack: p, slot: top }", "top", "n1 has role compute, but slot top of p is for role storage"),
        (
            "  n1: { host: h, rack: p, slot: low, u: 1 }",
            "low",
            "n1 has a `slot` and a `u` at inv.yaml:6:41: set only one",
        ),
        (
            "  n1: { host: h, rack: a, u: 3, height: 4 }\n  n2: { host: h, rack: a, u: 6 }",
            "6",
            "n2 is on U 6 of a, which n1 occupies",
        ),
        (
            "  n1: { host: h, rack: p, u: 1 }\n  n2: { host: h, rack: p, slot: low }",
            "low",
            "n2 is on U 1 of p, which n1 occupies",
        ),
        ("  n[1-2]: { host: h, rack: a, u: 6 }", "6", "n2 is on U 6 of a, which n1 occupies"),
    ],
)
def test_an_invalid_or_occupied_place_is_reported_where_it_is_written(
    tmp_path: Path, nodes: str, at: str, text: str
) -> None:
    with pytest.raises(BadFile) as caught:
        read(tmp_path, f"{nodes}\n")
    (problem,) = caught.value.problems
    line = (tmp_path / "inv.yaml").read_text().splitlines()[problem.place.line - 1]
    assert (line[problem.place.column - 1 :].split()[0].rstrip(","), problem.text.replace(f"{tmp_path}/", "")) == (
        at,
        text,
    )


def test_the_same_unit_of_two_racks_is_two_places(tmp_path: Path) -> None:
    assert len(read(tmp_path, "  n1: { host: h, rack: a, u: 3 }\n  n2: { host: h, rack: p, u: 3 }\n").nodes) == 2


def test_a_rack_that_no_file_declares_has_no_height_and_its_units_are_still_taken_once(tmp_path: Path) -> None:
    (tmp_path / "inv.yaml").write_text("rackcheck: 1\nnodes:\n  n1: { host: h, rack: z, u: 60 }\n")
    inventory = load(tmp_path / "inv.yaml")
    assert (inventory.nodes["n1"].u, inventory.racks) == (60, {})
    (tmp_path / "inv.yaml").write_text("rackcheck: 1\nnodes:\n  n[1-2]: { host: h, rack: z, u: 60 }\n")
    with pytest.raises(BadFile, match="n2 is on U 60 of z, which n1 occupies"):
        load(tmp_path / "inv.yaml")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("height: 6", "height: 5"), "top reaches U 6, but the rack has only 5 units"),
        (("u: 1 }", "u: 6 }"), "slot low is on U 6, which slot top occupies"),
        (("u: 1 }", "u: 0 }"), "low: rack units are counted from 1"),
        (("rack-type: pod", "rack-type: pad"), "the file name pod.yaml and the rack type pad must match"),
        (("height: 6", "heigth: 6"), "no such key: `heigth`; did you mean `height`?"),
        (("role: storage", "role: Storage"), "`role` cannot be 'Storage'"),
    ],
)
def test_a_wrong_rack_type_is_reported_with_its_own_file(tmp_path: Path, change: tuple[str, str], text: str) -> None:
    (tmp_path / "rack-types").mkdir()
    (tmp_path / "rack-types" / "pod.yaml").write_text(TYPE.replace(*change))
    (tmp_path / "inv.yaml").write_text("rackcheck: 1\nracks:\n  p: { type: pod }\nnodes:\n  n1: { host: h }\n")
    with pytest.raises(BadFile) as caught:
        load(tmp_path / "inv.yaml")
    assert text in str(caught.value)
    assert "rack-types/pod.yaml:" in str(caught.value)


def test_an_unknown_rack_type_suggests_the_nearest_and_is_never_read_as_a_path(tmp_path: Path) -> None:
    (wrong,) = problems(tmp_path, "  n1: { host: h }\n", racks="  a: { type: rack-48 }\n")
    assert (
        "no rack type rack-48; did you mean rack-48u?; there are: gb200-nvl72, gb300-nvl72, pod, rack-42u, rack-48u"
        in wrong
    )
    (path,) = problems(tmp_path, "  n1: { host: h }\n", racks="  a: { type: ../inv }\n")
    assert "`type` cannot be '../inv'" in path


def test_an_elevation_shows_every_unit_once_from_the_top(tmp_path: Path) -> None:
    inventory = read(
        tmp_path,
        "  n1: { host: h, rack: p, u: 2, height: 2 }\n  n3: { host: h, rack: p, slot: low }\n  n4: { host: h, rack: p }\n",
    )
    ((rack, inside),) = racks(inventory, tuple(inventory.nodes.values()))
    assert list(elevation(rack, inside)) == [
        "p: our own, 3 nodes",
        "    6  (top: storage)",
        "    5  (top: storage)",
        "    4",
        "    3  n1  compute",
        "    2  |",
        "    1  n3  compute  low",
        "       without a position: n4",
    ]


def test_nodes_of_equal_shape_are_one_row(tmp_path: Path) -> None:
    nodes = read(
        tmp_path,
        "  n[1-3]: { host: '{node}.m', rack: a, bmc: { url: 'https://{node}-b' } }\n  n2: { u: 5, height: 3 }\n"
        "  s1: { host: elsewhere, role: storage }\n",
    ).nodes
    assert rows(nodes.values()) == [
        ("n[1-3]", "3", "compute", "{node}.m", "https://{node}-b", "a", "5-7"),
        ("s1", "1", "storage", "elsewhere", "", "", ""),
    ]
    assert units(nodes.values()) == "5-7"


def test_the_rack_type_of_the_documents_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "inventory.md").read_text()
    ((name, block),) = re.findall(r"^    # rack-types/([\w-]+)\.yaml\n((?:    .*\n)+)", page, re.MULTILINE)
    (tmp_path / f"{name}.yaml").write_text(textwrap.dedent(block))
    assert set(rack_type(tmp_path / f"{name}.yaml").slots) == {"upper", "lower", "drawer"}
