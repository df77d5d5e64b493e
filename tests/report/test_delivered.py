"""The delivered parts: each part once, with its numbers or the reason why not, and compared with a bill of materials."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import single_faults
from damaged import Answers, clean
from dossiers import sample
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_replies import captures_of, node
from trees import ALL, tree_leaves

from rackcheck.model.fact import Plane, Reading, Reason, Unknown
from rackcheck.model.part_kinds import KINDS, TRANSCEIVER
from rackcheck.model.tree import Leaf, Tree
from rackcheck.report import annex, record
from rackcheck.report.delivered import parts, unlisted
from rackcheck.report.hardware import compared
from rackcheck.report.html import page
from rackcheck.report.report_model import Billed, Hardware
from rackcheck.signoff import bom
from rackcheck.signoff.bom import Bom, BomLine

COUNTS = {"CPU": 2, "DIMM": 32, "drive": 10, "GPU": 8, "NVSwitch": 4, "NIC": 10, "power supply": 6, TRANSCEIVER: 12}
"""The parts of the simulated DGX H100."""

LOST = Unknown(Reason.DENIED, "HTTP 401")


def muted(tree: Tree, *planes: Plane) -> Tree:
    """A tree of which some planes were not read."""
    kept = {p: leaf for p, leaf in tree.leaves.items() if leaf.plane not in {*planes, Plane.DERIVED}}
    return Tree(kept, dict.fromkeys(planes, LOST))


def poisoned(tree: Tree, serial: str, *items: str) -> Tree:
    """A tree with another serial number of these items."""
    facts = [f"{item}.serial" for item in items]
    return Tree({**tree.leaves, **{fact: replace(tree.leaves[fact], reading=serial) for fact in facts}})


DRIVE = ("nvme/nvme0", "storage.device/nvme0n1")


def delivered(tree: Tree) -> list[Hardware]:
    return [part for part in parts({"n1": tree}) if part.kind in COUNTS]


def part_at(tree: Tree, item: str) -> Hardware:
    return next(part for part in parts({"n1": tree}) if item in part.places)


def bill_of(*found: Hardware) -> Bom:
    """The bill of these parts, with their positions."""
    lines = (
        BomLine(row, part.node, part.item, part.kind, part.model, part.part_number, part.serial)
        for row, part in enumerate((part for part in found if part.serial), start=2)
    )
    return Bom("bill.csv", "0" * 64, tuple(lines))


def billed(bill: Bom, trees: Mapping[str, Tree]) -> Sequence[Billed]:
    return compared(bill, parts(trees), trees).differences


# ---- the list --------------------------------------------------------------------------------------------------------


def test_each_part_of_both_planes_is_one_entry() -> None:
    found = delivered(clean().tree())
    assert Counter(part.kind for part in found) == COUNTS
    assert not any(part.repeat or part.notes for part in found)
    gpu = part_at(clean().tree(), "gpu/module-1")
    assert gpu.places == ("gpu/module-1", "bmc.gpu/GPU_SXM_5", "bmc.chassis/HGX_GPU_SXM_5")
    assert gpu.part_numbers == ("692-2G520-0200-000", "2330-885-A1")
    card = part_at(clean().tree(), "nic/mlx5_1")
    assert {"nic/mlx5_1", "nic/mlx5_2"} <= set(card.places), "two functions of one card"
    assert card.serial == "MT2319X20010"


def test_a_part_that_one_plane_lacks_has_a_note_and_no_other_part_has_one() -> None:
    lost = single_faults.simulated("gpu-missing", gpu="2").tree()
    gpus = [part for part in delivered(lost) if part.kind == "GPU"]
    assert [part.notes for part in gpus if part.notes] == [("only the BMC lists it; the OS lists 7 others",)]
    assert next(part for part in gpus if part.notes).serial == "1650001000003"
    assert [part for part in delivered(muted(clean().tree(), Plane.OS)) if any("only" in n for n in part.notes)] == []


def loaded_too(tree: Tree, *serials: str) -> Tree:
    """The facts of an audit, and those of a burn-in that loaded GPUs with these serial numbers and the CPU."""
    kind = tree.leaves["gpu/module-1.serial"].kind
    facts = {f"burnin.gpu/{number}.serial": serial for number, serial in enumerate(serials)}
    made = {fact: Leaf(text, kind, Plane.BURNIN, "a test") for fact, text in facts.items()}
    return Tree({**tree.leaves, **made, "burnin.cpu/0.model": Leaf("Xeon", kind, Plane.BURNIN, "a test")})


def test_a_gpu_that_a_burn_in_loaded_is_listed_once() -> None:
    audited = clean().tree()
    serials = [part.serial for part in delivered(audited) if part.kind == "GPU"]
    assert list(parts({"n1": loaded_too(audited, *serials)})) == list(parts({"n1": audited}))


def test_a_gpu_that_no_audit_lists_stays_in_the_list_and_so_do_those_of_a_burn_in_alone() -> None:
    audited = clean().tree()
    before = parts({"n1": audited})
    more = [part for part in parts({"n1": loaded_too(audited, "1650001000001", "1999")}) if part not in before]
    assert [(part.item, part.serial) for part in more] == [("burnin.gpu/1", "1999")]
    alone = parts(
        {"n1": loaded_too(Tree({"gpu/module-1.serial": audited.leaves["gpu/module-1.serial"]}), "1777", "1888")}
    )
    assert {"1777", "1888"} <= {part.serial for part in alone}


@pytest.mark.parametrize("mute", [(), (Plane.OS,), (Plane.BMC,)], ids=["both planes", "no OS", "no BMC"])
def test_each_part_has_its_numbers_or_a_reason(mute: tuple[Plane, ...]) -> None:
    found = delivered(muted(clean().tree(), *mute) if mute else clean().tree())
    assert found
    for part in found:
        assert bool(part.serial) != bool(part.no_serial), part
        assert bool(part.part_number) != bool(part.no_part_number), part
        for plane, name in ((Plane.OS, "the OS"), (Plane.BMC, "the BMC")):
            if plane in mute and part.no_serial:
                assert f"{name} was not read (denied: HTTP 401)" in part.no_serial


@pytest.mark.parametrize("name", ALL)
def test_each_part_of_a_recorded_bmc_has_its_numbers_or_a_reason(name: str) -> None:
    tree = Tree(tree_leaves(name))
    found = delivered(tree)
    for part in found:
        assert bool(part.serial) != bool(part.no_serial), part
        assert bool(part.part_number) != bool(part.no_part_number), part
    listed = {part.kind for part in found} | {gap.kind for gap in unlisted({"n1": tree})}
    none = {
        kind for kind, planes in KINDS.items() if any(tree.leaves[each].reading == () for each in planes[Plane.BMC])
    }
    assert set(KINDS) - listed <= none, "a kind disappears without a word"


def test_a_mute_plane_is_the_reason_why_a_kind_is_not_listed() -> None:
    assert list(unlisted({"n1": clean().tree()})) == []
    gaps = {gap.kind: gap.why for gap in unlisted({"n1": muted(clean().tree(), Plane.OS)})}
    assert gaps["drive"] == "the OS was not read (denied: HTTP 401); the BMC lists none"
    assert TRANSCEIVER in gaps
    assert "DIMM" not in gaps, "the BMC lists them"


@pytest.mark.parametrize("text", ["To be filled by O.E.M.", "0", "N/A", "0000000000", "Default string", "unknown"])
def test_a_placeholder_is_no_serial_number(text: str) -> None:
    part = part_at(poisoned(clean().tree(), text, *DRIVE), "nvme/nvme0")
    assert part.serial == ""
    assert part.no_serial == f"the OS returns the placeholder {text!r}; the BMC lists none"


def test_a_number_of_the_other_plane_stands_in_for_a_placeholder() -> None:
    part = part_at(poisoned(clean().tree(), "N/A", "gpu/module-1"), "gpu/module-1")
    assert part.serial == part_at(clean().tree(), "gpu/module-1").serial
    assert part.serials == ()


def test_two_serial_numbers_of_one_part_are_both_shown() -> None:
    part = part_at(poisoned(clean().tree(), "1650001999999", "gpu/module-1"), "gpu/module-1")
    assert part.serials == ("1650001999999", "1650001000005")
    (note,) = part.notes
    assert note.startswith("the serial numbers differ: gpu/module-1 returns 1650001999999, bmc.gpu/GPU_SXM_5 returns")


def test_two_parts_with_one_serial_number_name_each_other() -> None:
    twice = poisoned(clean().tree(), "S666NE0W00100", "nvme/nvme1", "storage.device/nvme1n1")
    assert part_at(twice, "nvme/nvme0").notes == ("the same serial number as n1 nvme/nvme1",)
    fleet = {"n1": clean().tree(), "n2": clean().tree()}
    drives = [part for part in parts(fleet) if part.kind == "drive"]
    assert all("the same serial number as" in part.notes[0] for part in drives)


def test_parts_that_cannot_be_joined_are_marked_and_counted_once() -> None:
    other = poisoned(clean().tree(), "N/A", *(f"psu/PSU{n}" for n in range(6)))
    leaves = {
        f"node.psu/PSU{n}.serial": replace(other.leaves["node.psu/PSU0.serial"], reading=f"P{n}K") for n in range(6)
    }
    found = [part for part in delivered(Tree({**other.leaves, **leaves})) if part.kind == "power supply"]
    assert Counter(part.repeat for part in found) == {False: 6, True: 6}
    assert {part.notes for part in found if part.repeat} == {
        ("may be one of 6 that only the OS lists: they have no identity in common",)
    }


# ---- the bill of materials -------------------------------------------------------------------------------------------


def test_a_node_with_all_parts_of_its_bill_has_no_difference() -> None:
    tree = clean().tree()
    assert list(billed(bill_of(*delivered(tree)), {"n1": tree})) == []


def without_dimm(answers: Answers) -> Answers:
    def empty(text: str) -> str:
        blocks = re.split(r"(?=^Handle )", text, flags=re.MULTILINE)
        return "".join(b for b in blocks if "Locator: CPU0_DIMM_A1" not in b)

    def absent(body: dict[str, object]) -> None:
        if body["SerialNumber"] == "4A000100":
            body["Status"] = {"State": "Absent"}

    return answers.command("dmidecode -t 0", empty).bodies(r"/redfish/v1/Systems/DGX/Memory/.*", absent)


def without_drive(answers: Answers) -> Answers:
    def cut(text: str) -> str:
        return re.sub(r"==> nvme9 <==.*?<== [0-9]+\n", "", text, flags=re.DOTALL)

    gone = answers.without(r"nvme9").command("lsblk", lambda text: re.sub(r".*nvme9n1.*\n", "", text))
    return gone.command("nvme smart-log", cut).command("nvme fw-log", cut).command("smartctl", cut)


def without_supply(answers: Answers) -> Answers:
    def gone(text: str) -> str:
        first, slot, rest = text.partition("Location: PSU3")
        return first + slot + rest.replace("Status: Present, OK", "Status: Not Present", 1)

    def absent(body: dict[str, object]) -> None:
        body["Status"] = {"State": "Absent"}

    return answers.bodies(r"/redfish/v1/Chassis/DGX/PowerSubsystem/PowerSupplies/PSU3", absent).command(
        "dmidecode -t 39", gone
    )


def without_transceiver(answers: Answers) -> Answers:
    def cut(text: str) -> str:
        return re.sub(
            r"(==> ibp24s0 <==\n).*?(?=\n<== 0)", r"\1Cannot get Module EEPROM data: No such device", text, flags=re.S
        )

    def none(text: str) -> str:
        first, rest = text.split("==> 0000:29:00.0 <==", 1)
        first = re.sub(
            r"^(Identifier|Cable Type|Vendor \w+(?: \w+)?|FW Version) +: .*$", r"\1 : N/A", first, flags=re.M
        )
        return f"{first}==> 0000:29:00.0 <=={rest}"

    return answers.command("ethtool -m", cut).command("mlxlink", none)


TAKEN = {
    "DIMM": (without_dimm, "4A000100"),
    "drive": (without_drive, "S794NC0W00109"),
    "power supply": (without_supply, "DTHTCT23070013"),
    TRANSCEIVER: (without_transceiver, "MT2333VS00100"),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_a_part_that_was_taken_away_is_missing_from_the_bill(kind: str) -> None:
    take, serial = TAKEN[kind]
    bill = bill_of(*delivered(clean().tree()))
    (found,) = billed(bill, {"n1": take(clean()).tree()})
    assert (found.kind, found.serial, found.said) == ("missing", serial, "in the bill but not on n1")


def fleet() -> dict[str, Tree]:
    second = Answers(*captures_of(node("n02", 2)))
    return {"n1": clean().tree(), "n2": second.tree()}


@pytest.mark.parametrize("kind", ["DIMM", "drive", "GPU", "NIC", "power supply", TRANSCEIVER])
def test_two_parts_swapped_between_nodes_have_moved(kind: str) -> None:
    trees = fleet()
    found = [part for part in parts(trees) if part.kind in COUNTS]
    one, other = (next(part for part in found if part.kind == kind and part.node == name) for name in trees)
    lines = [replace(part, serial=other.serial) if part is one else part for part in found]
    lines = [replace(line, serial=one.serial) if line is other else line for line in lines]
    differences = billed(bill_of(*lines), trees)
    assert [(each.kind, each.node, each.serial) for each in differences] == [
        ("moved", "n1", other.serial), ("moved", "n2", one.serial),
    ]  # fmt: skip
    assert f"found at n2 {other.item}" in differences[0].said


def test_a_part_in_another_slot_has_moved() -> None:
    tree = clean().tree()
    dimm = part_at(tree, "dimm/CPU0_DIMM_A1")
    (found,) = billed(bill_of(replace(dimm, item="dimm/CPU0_DIMM_B1")), {"n1": tree})[:1]
    assert (found.kind, found.said) == ("moved", "in the bill at n1 dimm/CPU0_DIMM_B1, found at n1 dimm/CPU0_DIMM_A1")


def test_a_position_on_a_mute_plane_is_unread_and_not_moved() -> None:
    tree = clean().tree()
    dimm = part_at(tree, "dimm/CPU0_DIMM_A1")
    bill = bill_of(replace(dimm, item=dimm.places[1]))
    found = [each for each in billed(bill, {"n1": muted(tree, Plane.BMC)}) if each.line]
    assert [each.kind for each in found] == ["unread"]
    assert "the BMC was not read" in found[0].said


def test_another_part_number_with_the_same_serial_number_is_swapped() -> None:
    tree = clean().tree()
    gpu = part_at(tree, "gpu/module-1")
    assert not [d for d in billed(bill_of(replace(gpu, part_number="2330-885-A1")), {"n1": tree}) if d.line]
    (found,) = (d for d in billed(bill_of(replace(gpu, part_number="2330-885-B2")), {"n1": tree}) if d.line)
    assert found.kind == "swapped"
    assert found.said == "the bill has part number 2330-885-B2, the part reports 692-2G520-0200-000 and 2330-885-A1"


def test_a_part_number_that_a_mute_plane_may_return_is_unread_and_not_swapped() -> None:
    tree = clean().tree()
    gpu = replace(part_at(tree, "gpu/module-1"), part_number="2330-885-A1")
    (found,) = (d for d in billed(bill_of(gpu), {"n1": muted(tree, Plane.BMC)}) if d.line)
    assert (found.kind, found.said.partition("; ")[2]) == ("unread", "the BMC was not read (denied: HTTP 401)")


def test_a_serial_number_of_either_plane_matches_the_bill_but_not_two_rows() -> None:
    tree = poisoned(clean().tree(), "1650001999999", "gpu/module-1")
    gpu = part_at(tree, "gpu/module-1")
    for serial in gpu.serials:
        assert not [d for d in billed(bill_of(replace(gpu, serial=serial)), {"n1": tree}) if d.line]
    both = bill_of(*(replace(gpu, serial=serial) for serial in gpu.serials))
    (found,) = (d for d in billed(both, {"n1": tree}) if d.line)
    assert (found.kind, found.said) == ("unread", "n1 gpu/module-1 returns this serial number and that of row 2")


# ---- inventory.csv as a bill of materials ----------------------------------------------------------------------------

Rows = list[dict[str, str]]


def inventory_of(trees: Mapping[str, Tree]) -> Rows:
    """The rows of inventory.csv of a report on these nodes."""
    dossier = replace(sample(2, 5), parts=parts(trees), unlisted=tuple(unlisted(trees)))
    return list(csv.DictReader(io.StringIO(annex.files(dossier)["inventory.csv"].removeprefix("\ufeff"))))


def shipped(rows: Rows, folder: Path, *columns: str) -> Bom:
    """These rows as a bill of materials, with some columns or with all."""
    with (folder / "inventory.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return bom.load(folder / "inventory.csv")


def row_of(rows: Rows, kind: str, node: str = "n1") -> dict[str, str]:
    return next(row for row in rows if (row["kind"], row["node"]) == (kind, node))


@pytest.mark.parametrize("columns", [(), ("node", "item", "kind", "part number", "serial")], ids=["whole", "some"])
@pytest.mark.parametrize("mute", [(), (Plane.OS,), (Plane.BMC,)], ids=str)
def test_an_inventory_table_is_a_bill_of_its_own_nodes(
    mute: tuple[Plane, ...], columns: tuple[str, ...], tmp_path: Path
) -> None:
    trees = fleet()
    trees["n1"] = muted(trees["n1"], *mute) if mute else trees["n1"]
    rows = inventory_of(trees)
    bill = shipped(rows, tmp_path, *columns)
    assert list(billed(bill, trees)) == []
    assert compared(bill, parts(trees), trees).matched == len(parts(trees)) == len(rows) - len(bill.gaps)


@settings(max_examples=40)
@given(st.data())
def test_an_inventory_table_with_any_gaps_is_a_bill_of_its_own_nodes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    tree = clean().tree()
    numbers = sorted(path for path in tree.leaves if path.rpartition(".")[2] in {"serial", "part_number", "part"})
    lists = [
        each for planes in KINDS.values() for several in planes.values() for each in several if each in tree.leaves
    ]
    texts: st.SearchStrategy[Reading] = st.sampled_from([LOST, "N/A", "-A1", "S9", Unknown(Reason.TIMEOUT, "")])
    changed = data.draw(st.dictionaries(st.sampled_from(numbers), texts, max_size=30))
    changed |= dict.fromkeys(data.draw(st.sets(st.sampled_from(lists), max_size=8)), LOST)
    leaves = {p: replace(leaf, reading=changed.get(p, leaf.reading)) for p, leaf in tree.leaves.items()}
    trees = {"n1": Tree(leaves)}
    bill = shipped(inventory_of(trees), tmp_path_factory.mktemp("bill"))
    assert list(billed(bill, trees)) == []


def test_one_other_serial_number_in_an_inventory_table_is_one_part_missing_and_one_extra(tmp_path: Path) -> None:
    trees = fleet()
    rows = inventory_of(trees)
    row = row_of(rows, "drive")
    serial, row["serial"] = row["serial"], "S666NE0W99999"
    found = billed(shipped(rows, tmp_path), trees)
    assert [(each.kind, each.node, each.serial) for each in found] == [
        ("missing", "n1", "S666NE0W99999"), ("extra", "n1", serial),
    ]  # fmt: skip


def test_one_row_less_in_an_inventory_table_is_one_part_extra(tmp_path: Path) -> None:
    trees = fleet()
    rows = inventory_of(trees)
    row = row_of(rows, "power supply")
    rows.remove(row)
    (found,) = billed(shipped(rows, tmp_path), trees)
    assert (found.kind, found.node, found.item) == ("extra", "n1", row["item"])


def test_two_gpus_swapped_in_an_inventory_table_have_moved(tmp_path: Path) -> None:
    trees = fleet()
    rows = inventory_of(trees)
    one, other = row_of(rows, "GPU"), row_of(rows, "GPU", "n2")
    one["serial"], other["serial"] = other["serial"], one["serial"]
    found = billed(shipped(rows, tmp_path), trees)
    assert [(each.kind, each.node, each.serial) for each in found] == [
        ("moved", "n1", one["serial"]), ("moved", "n2", other["serial"]),
    ]  # fmt: skip


def test_one_of_several_part_numbers_in_a_cell_matches_and_another_one_does_not(tmp_path: Path) -> None:
    trees = {"n1": clean().tree()}
    rows = inventory_of(trees)
    row = row_of(rows, "GPU")
    assert row["part number"] == "692-2G520-0200-000 and 2330-885-A1"
    row["part number"] = "2330-885-A1 and 2330-885-B2"
    assert list(billed(shipped(rows, tmp_path), trees)) == []
    row["part number"] = "2330-885-B1 and 2330-885-B2"
    (found,) = billed(shipped(rows, tmp_path), trees)
    assert found.kind == "swapped"


def test_a_serial_number_that_only_the_machine_has_is_unread(tmp_path: Path) -> None:
    tree = clean().tree()
    blank = Tree({
        **tree.leaves, **{f"{item}.serial": replace(tree.leaves[f"{item}.serial"], reading=LOST) for item in DRIVE}
    })  # fmt: skip
    (found,) = billed(shipped(inventory_of({"n1": blank}), tmp_path), {"n1": tree})
    assert (found.kind, found.item) == ("unread", "nvme/nvme0")
    assert "serial number not read from the OS" in found.said
    assert "n1 nvme/nvme0 reports S666NE0W00100" in found.said


def test_parts_of_a_kind_that_the_inventory_table_could_not_list_are_one_unread_row(tmp_path: Path) -> None:
    tree = clean().tree()
    bill = shipped(inventory_of({"n1": muted(tree, Plane.OS)}), tmp_path)
    assert "transceiver" in {line.kind for line in bill.gaps}
    found = [each for each in billed(bill, {"n1": tree}) if "MT2333VS00100" in each.said]
    assert [(each.kind, each.item) for each in found] == [("unread", "")]
    assert found[0].said.startswith("transceiver not listed: the OS was not read (denied: HTTP 401); found: nic")


@pytest.mark.parametrize("text", ["N/A", "To be filled by O.E.M.", "0"])
def test_a_placeholder_in_the_bill_or_on_the_machine_is_unread(text: str) -> None:
    tree = clean().tree()
    drive = part_at(tree, "nvme/nvme0")
    (found,) = (d for d in billed(bill_of(replace(drive, serial=text)), {"n1": tree}) if d.line)
    assert (found.kind, found.said) == (
        "unread", f"the bill has the placeholder {text!r} instead of a serial number to compare",
    )  # fmt: skip
    blank = poisoned(tree, text, *DRIVE)
    (found,) = (d for d in billed(bill_of(drive), {"n1": blank}) if d.line)
    assert found.kind == "unread"
    assert f"nvme/nvme0: the OS returns the placeholder {text!r}" in found.said


@pytest.mark.parametrize("mute", [(Plane.OS,), (Plane.BMC,), (Plane.OS, Plane.BMC)], ids=str)
def test_a_mute_plane_makes_no_part_missing(mute: tuple[Plane, ...]) -> None:
    tree = clean().tree()
    found = billed(bill_of(*delivered(tree)), {"n1": muted(tree, *mute)})
    assert found
    assert {each.kind for each in found} <= {"unread", "extra"}
    assert not [each for each in found if each.kind == "extra"]


@settings(max_examples=60)
@given(st.data())
def test_knowing_less_of_a_whole_machine_never_makes_a_part_missing(data: st.DataObject) -> None:
    tree = clean().tree()
    numbers = sorted(path for path in tree.leaves if path.rpartition(".")[2] in {"serial", "part_number", "part"})
    lists = [
        each for planes in KINDS.values() for several in planes.values() for each in several if each in tree.leaves
    ]
    gone = data.draw(st.sets(st.sampled_from([*numbers, *lists]), max_size=40))
    leaves = {p: Leaf(LOST, leaf.kind, leaf.plane, "") if p in gone else leaf for p, leaf in tree.leaves.items()}
    found = billed(bill_of(*delivered(tree)), {"n1": Tree(leaves)})
    assert not [each for each in found if each.kind in {"missing", "moved", "swapped"}]


def test_a_report_of_an_earlier_release_is_read_and_shown() -> None:
    known = {"node", "item", "kind", "model", "part_number", "serial", "other"}
    doc = json.loads(record.text(sample(2, 5)))
    del doc["report"]["unlisted"]
    old = {"serial": "not read (denied)"}
    doc["report"]["parts"] = [
        {word: each for word, each in part.items() if word in known} | {"serial": "", "other": old}
        for part in doc["report"]["parts"]
    ]
    found = record.read(json.dumps(doc))
    assert {part.why_no_serial for part in found.parts} == {"not read (denied)"}
    assert "not read (denied)" in page(found, "")
    assert "not read (denied)" in annex.files(found)["inventory.csv"]


def test_the_list_depends_on_the_facts_alone() -> None:
    tree = clean().tree()
    turned = Tree(dict(list(tree.leaves.items())[::-1]))
    assert parts({"n1": tree}) == parts({"n1": turned})
    assert list(unlisted({"n1": tree})) == list(unlisted({"n1": turned}))
