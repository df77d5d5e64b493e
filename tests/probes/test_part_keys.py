"""The names of GPUs stay the same when another GPU is gone, whatever its place in the driver's order was."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import depth
import pytest
from damaged import Answers, clean
from gpu_driver import SMI, driver_leaves
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text
from sim_replies import captures_of, node

from rackcheck.evaluate.verdict import Status
from rackcheck.model.change import STEADY, Change, ChangeKind, compare, gathered
from rackcheck.model.fact import Class
from rackcheck.sim.behaviour import Station
from rackcheck.sim.faults import KINDS
from rackcheck.views.against import facts_of
from rackcheck.views.census import Census
from rackcheck.views.odd import odd
from rackcheck_probes.gpu.nvml import part_keys

BUS_QUESTION = "/sys/bus/pci/devices"
PLACES = depth.first(3, (0, 5, 7, 1, 2, 3, 4, 6))
"""Places in the driver's order of which a GPU is removed: the first, one between, and the last; `make full` tries all."""

LOST = {"unknown": "not collected", "detail": "NVML: GPU is lost"}


def gpu(module: object, pci: object) -> dict[str, Any]:
    answers = {"module_id": module, "pci": pci}
    return {key: {"value": value} for key, value in answers.items() if value is not None}


def board(*modules: int) -> list[dict[str, Any]]:
    """GPUs of one baseboard, in the driver's order."""
    return [gpu(module, f"00000000:{n + 16:02X}:00.0") for n, module in enumerate(modules)]


def bus(count: int) -> list[str]:
    return [f"0000:{n + 16:02x}:00.0" for n in range(count)]


def leaves(file: str) -> Mapping[str, object]:
    xml = shared_text(f"nvidia/{file}")
    return {
        path: leaf.reading
        for path, leaf in driver_leaves("bus read\nbus 0000:01:00.0\n", f"{SMI}\n{xml}ended 0").items()
    }


def without(place: int, *, on_bus: bool) -> Answers:
    """The clean machine, whose driver does not list one GPU; with `on_bus`, the GPU is still on the PCI bus."""

    def edit(text: str) -> str:
        rows = text.splitlines()
        if '"gpus"' not in text:
            return text
        reply = json.loads(rows[-1])
        gone = reply["gpus"].pop(place)["pci"]["value"][4:].lower()
        return "\n".join([row for row in rows[:-1] if on_bus or row != f"bus {gone}"] + [json.dumps(reply)]) + "\n"

    return clean().command(BUS_QUESTION, edit)


def differing(answers: Answers) -> tuple[Change, ...]:
    classes = (*STEADY, Class.IDENTITY)
    return gathered(compare(facts_of(clean().tree()), facts_of(answers.tree()), classes))


@pytest.mark.parametrize("on_bus", [True, False], ids=["on the bus", "off the bus"])
@pytest.mark.parametrize("place", PLACES)
def test_one_missing_gpu_of_eight_is_named_with_at_most_two_findings_beside_it(place: int, on_bus: bool) -> None:
    key = re.escape(f"gpu/module-{(7, 5, 6, 8, 1, 3, 4, 2)[place]}")
    changes = differing(without(place, on_bus=on_bus))
    named = [change for change in changes if change.path.startswith("gpu/")]
    assert [change.kind for change in named] == [ChangeKind.GONE]
    assert re.fullmatch(key, named[0].path)
    assert len(changes) <= 3, [change.path for change in changes]


def without_resources(pattern: str) -> Answers:
    """The clean machine, whose BMC neither lists nor returns the resources whose URI matches."""
    bodies: dict[str, Any] = {}
    for uri, body in clean().bmc.bodies.items():
        if isinstance(body, Mapping) and re.search(pattern, uri) is None:
            lists = {name: value for name, value in body.items() if isinstance(value, list | tuple)}
            kept = {name: [one for one in value if not _names(one, pattern)] for name, value in lists.items()}
            bodies[uri] = {**body, **kept}
            if "Members" in kept and "Members@odata.count" in body:
                bodies[uri]["Members@odata.count"] = len(kept["Members"])
    return replace(clean(), bmc=replace(clean().bmc, bodies=bodies))


def _names(one: object, pattern: str) -> bool:
    return isinstance(one, Mapping) and re.search(pattern, str(one.get("@odata.id", ""))) is not None


def faulty(fault: str, **words: str) -> Answers:
    """The clean machine with a fault of the simulator."""
    return Answers(*captures_of(KINDS[fault].lay(Station("n01", 1, node()), words).machine))


MISSING: Mapping[str, tuple[str, Callable[[], Answers]]] = {
    "GPU": ("gpu/module-3", lambda: faulty("gpu-missing", gpu="5")),
    "GPU, still on the bus": ("gpu/module-3", lambda: without(5, on_bus=True)),
    "NIC": ("nic/mlx5_3", lambda: faulty("nic-missing", nic="mlx5_3")),
    "DIMM": ("bmc.dimm/DevType2_DIMM5", lambda: without_resources(r"/Memory/DevType2_DIMM5$")),
    "supply": ("psu/PSU2", lambda: without_resources(r"/PSU2$")),
    "drive": ("nvme/nvme3", lambda: faulty("drive-missing", drive="nvme3")),
}
"""A part missing on one node: its name, and the answers of the node."""


@pytest.mark.parametrize(("part", "answers"), MISSING.values(), ids=MISSING)
def test_one_missing_part_is_named_with_at_most_two_findings_beside_it(
    part: str, answers: Callable[[], Answers]
) -> None:
    changes = differing(answers())
    assert (ChangeKind.GONE, part) in {(change.kind, change.path) for change in changes}
    assert len(changes) <= 3, [change.path for change in changes]


@pytest.mark.parametrize(("part", "answers"), MISSING.values(), ids=MISSING)
def test_one_node_of_eight_that_lacks_a_part_is_odd_for_it_and_at_most_two_facts_more(
    part: str, answers: Callable[[], Answers]
) -> None:
    trees = [clean().tree()] * 7 + [answers().tree()]
    fleet = Census()
    for number, tree in enumerate(trees):
        fleet.take(f"n{number}", "compute", tree, {})
    (one,) = odd(fleet)
    collection, _, key = part.partition("/")
    assert one.node == "n7"
    assert [each.text for each in one.deviations if each.text.startswith(f"{collection} lacks {key}, 7 of 8 have ")]
    assert len(one.deviations) <= 3, [each.text for each in one.deviations]
    assert all(len(each.text) < 200 for each in one.deviations)


def test_all_items_of_a_missing_function_are_named_with_the_part() -> None:
    (nic,) = (each for each in differing(faulty("nic-missing", nic="mlx5_3")) if each.path == "nic/mlx5_3")
    assert nic.also == ('nic.adapter/"0000:40:00.0"', "nic.interface/ibp64s0", 'pcie/"0000:40:00.0"')


def test_two_missing_functions_are_two_parts() -> None:
    station = KINDS["nic-missing"].lay(Station("n01", 1, node()), {"nic": "mlx5_3"})
    both = Answers(*captures_of(KINDS["nic-missing"].lay(station, {"nic": "mlx5_9"}).machine))
    gone = [each.path for each in differing(both) if each.kind is ChangeKind.GONE]
    assert gone == ["nic/mlx5_3", "nic/mlx5_9"]


@pytest.mark.parametrize("place", [0, 7])
def test_a_missing_gpu_fails_the_machine(place: int) -> None:
    verdicts = {v.rule: v.status for v in without(place, on_bus=False).verdicts()}
    assert verdicts["gpu.count"] is Status.FAIL


def test_eight_recorded_h100_are_named_by_their_modules() -> None:
    found = leaves("nvidia-smi-qx-h100.xml")
    assert found["gpu"] == tuple(f"module-{n}" for n in range(1, 9))
    assert [found[f"gpu/module-{n}.index"] for n in range(1, 9)] == [4, 7, 5, 6, 1, 2, 0, 3]


def test_four_recorded_gb200_are_named_by_their_modules() -> None:
    found = leaves("nvidia-smi-qx-gb200.xml")
    assert found["gpu"] == tuple(f"module-{n}" for n in range(1, 5))


def test_cards_that_all_report_the_same_module_are_named_by_address() -> None:
    assert part_keys(board(1, 1, 1), bus(3)) == tuple(bus(3))


def test_a_single_card_is_named_by_address() -> None:
    assert part_keys(board(1), bus(1)) == ("0000:10:00.0",)


def test_the_last_gpu_of_a_board_keeps_its_module() -> None:
    assert part_keys(board(5), bus(8)) == ("module-5",)


def test_a_lost_gpu_is_named_by_the_address_that_is_left_on_the_bus() -> None:
    seven = board(7, 5, 6)
    assert part_keys([seven[0], LOST, seven[2]], bus(3)) == ("module-7", "0000:11:00.0", "module-6")
    assert part_keys([seven[0], LOST, LOST], bus(3)) == ("module-7", "index-1", "index-2")


def test_a_gpu_of_a_board_that_does_not_report_its_module_is_named_by_address_and_no_other_is_renamed() -> None:
    board_of_three = [*board(7, 5), gpu(None, "00000000:12:00.0")]
    assert part_keys(board_of_three, bus(3)) == ("module-7", "module-5", "0000:12:00.0")


def test_two_cards_of_which_one_reports_a_module_are_named_by_address() -> None:
    two = [gpu(1, "00000000:10:00.0"), gpu(None, "00000000:11:00.0")]
    assert part_keys(two, bus(2)) == tuple(bus(2))


def test_two_gpus_that_report_one_address_are_named_by_their_index() -> None:
    same = [gpu(1, "00000000:10:00.0"), gpu(1, "00000000:10:00.0")]
    assert part_keys(same, bus(2)) == ("index-0", "index-1")


ANY = st.one_of(st.none(), st.integers(-1, 1 << 70), st.text(max_size=8), st.just("00000000:10:00.0"), st.booleans())
GPUS = st.lists(st.one_of(st.just(LOST), st.builds(gpu, ANY, ANY), st.none(), st.integers()), max_size=12)


@given(GPUS, st.lists(st.sampled_from(bus(12)), max_size=12, unique=True))
def test_every_gpu_has_a_name_of_its_own_whatever_the_driver_returns(gpus: list[Any], listed: list[str]) -> None:
    keys = part_keys(gpus, listed)
    assert len(set(keys)) == len(keys) == len(gpus)


@given(st.permutations(range(1, 9)), st.sets(st.integers(0, 7), max_size=6))
def test_the_others_keep_their_names_whichever_gpus_are_gone(modules: list[int], gone: set[int]) -> None:
    whole = board(*modules)
    kept = [one for place, one in enumerate(whole) if place not in gone]
    names = [key for place, key in enumerate(part_keys(whole, bus(8))) if place not in gone]
    assert list(part_keys(kept, bus(8))) == names


def test_a_drive_on_the_bus_that_its_driver_dropped_fails_the_machine() -> None:
    """As after "nvme3: Device not ready; aborting initialisation": the function stays, without a driver."""
    dropped = clean().without(r"nvme/nvme3(/|$)|nvme3n1").files(r".*/0000:2d:00\.0/uevent", _without_driver)
    assert "nvme.driven" in dropped.failing()


def _without_driver(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("DRIVER="))


def roles(answers: Answers) -> Mapping[str, object]:
    """The role of each RDMA device."""
    return {path: leaf.reading for path, leaf in answers.tree().leaves.items() if re.fullmatch(r"nic/\w+\.role", path)}


@pytest.mark.parametrize("place", PLACES)
def test_a_nic_keeps_its_role_if_the_gpu_next_to_it_is_gone(place: int) -> None:
    assert Counter(roles(clean()).values()) == {"compute": 8, "network": 4}
    assert roles(faulty("gpu-missing", gpu=str(place))) == roles(clean())


def test_an_empty_port_is_the_place_of_a_gpu_only_if_another_gpu_is_at_such_a_place() -> None:
    station = Station("n01", 1, node())
    for _ in range(8):
        station = KINDS["gpu-missing"].lay(station, {"gpu": "0"})
    assert set(roles(Answers(*captures_of(station.machine))).values()) == {"network"}
