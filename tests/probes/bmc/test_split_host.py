"""Which system is the host where a BMC describes one machine by several systems, or several machines."""

from collections.abc import Mapping
from typing import Any

import pytest
from one_probe import Found, altered, ask, bodies
from trees import BLUEFIELD, DELL, DGX, GB200, LENOVO, bmc_probes, completed

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.identity import uuid
from rackcheck.model.resource import Body, Resource
from rackcheck.parse.bmc import merge
from rackcheck.probe.collect import collect

SYSTEMS = "/redfish/v1/Systems"
TRAY, BOARD = f"{SYSTEMS}/System_0", f"{SYSTEMS}/HGX_Baseboard_0"
DGX_TRAY, DGX_BOARD = f"{SYSTEMS}/DGX", f"{SYSTEMS}/HGX_Baseboard_0"
GONE = Unknown(Reason.NOT_COLLECTED, "HTTP 404")
LOST = Unknown(Reason.TIMEOUT, "no answer")
PROBES = bmc_probes()


def body(name: str, uri: str, probe: str = "bmc_cpu") -> dict[str, Any]:
    found = bodies(PROBES[probe], name)[uri]
    assert not isinstance(found, Unknown)
    return dict(found)


def changed(name: str, uri: str, probe: str = "bmc_cpu", **properties: object) -> dict[str, Any]:
    return {**body(name, uri, probe), **properties}


def cpu(name: str, changes: Mapping[str, Body | Unknown]) -> Found:
    return ask(PROBES["bmc_cpu"], name, changes)


def memory(name: str, changes: Mapping[str, Body | Unknown]) -> Found:
    return ask(PROBES["bmc_memory"], name, changes)


def boot(name: str, changes: Mapping[str, Body | Unknown]) -> Found:
    return ask(PROBES["bmc_boot"], name, changes)


def links(*uris: str) -> dict[str, Any]:
    return {"Members": [{"@odata.id": uri} for uri in uris], "Members@odata.count": len(uris)}


def unknown(reading: object, part: str = "") -> bool:
    return isinstance(reading, Unknown) and part in reading.detail


# A baseboard is no host


@pytest.mark.parametrize("version", ["", "  ", "N/A", None])
def test_an_empty_bios_version_makes_no_host_of_a_baseboard(version: str | None) -> None:
    board = {BOARD: changed(GB200, BOARD, BiosVersion=version)}
    found = cpu(GB200, board)
    assert found["bmc.cpu.count"] == 2
    assert found["bmc.cpu"] == ("CPU_0", "CPU_1")
    assert memory(GB200, board)["bmc.memory.total"] == 960
    assert boot(GB200, board)["bmc.boot.first"] == "Boot0011"
    assert unknown(ask(PROBES["bmc_host"], GB200, board)["bmc.host.serial"])  # the board's serial is not the host's


def test_a_baseboard_with_a_link_to_a_bios_is_no_host_since_none_of_its_processors_is_a_cpu() -> None:
    place = f"{SYSTEMS}/HGX_Baseboard_0"
    board = {place: changed(DGX, place, Bios={"@odata.id": f"{place}/Bios"}, BiosVersion="1.0")}
    assert boot(DGX, board)["bmc.boot.first"] == "Boot0026"
    assert memory(DGX, board)["bmc.memory.total"] == 2048
    assert ask(PROBES["bmc_running"], DGX, board)["firmware.bios"] == "1.1.3"


def test_a_card_with_a_boot_order_of_its_own_is_no_host() -> None:
    place, chassis = f"{SYSTEMS}/Bluefield", "/redfish/v1/Chassis/Card1"
    card = {**body(BLUEFIELD, place, "bmc_boot"), "Links": {"Chassis": [{"@odata.id": chassis}]}}
    changes: dict[str, Body | Unknown] = {
        SYSTEMS: links(f"{SYSTEMS}/1", place),
        place: card,
        chassis: {"Id": "Card1", "ChassisType": "Card"},
    }
    assert boot(LENOVO, changes)["bmc.boot.first"] == "Boot0003"
    other = {**changes, chassis: {"Id": "Card1", "ChassisType": "Blade"}, place: {**card, "BiosVersion": "2"}}
    assert unknown(cpu(LENOVO, {**other})["bmc.cpu.count"], "manages 2 hosts")
    assert boot(LENOVO, {**changes, place: {**card, "SystemType": "DPU"}})["bmc.boot.first"] == "Boot0003"


def test_the_host_is_found_in_any_order_and_under_any_id() -> None:
    first, second = f"{SYSTEMS}/a", f"{SYSTEMS}/b"
    changes: dict[str, Body | Unknown] = {
        SYSTEMS: links(second, first),
        first: changed(GB200, TRAY, Id="HGX_Baseboard_0"),
        second: changed(GB200, BOARD, Id="System_0", BiosVersion=""),
    }
    assert cpu(GB200, changes)["bmc.cpu.count"] == 2
    assert boot(GB200, changes)["bmc.boot.first"] == "Boot0011"


# Parts of the host that another system lists


def without(uri: str, *names: str) -> dict[str, Any]:
    return {key: value for key, value in body(GB200, uri).items() if key not in names}


def test_cpus_and_modules_that_only_the_baseboard_lists_are_the_hosts() -> None:
    bare: dict[str, Body | Unknown] = {TRAY: without(TRAY, "Processors", "Memory")}
    found = cpu(GB200, bare)
    assert (found["bmc.cpu.count"], found["bmc.cpu"]) == (2, ("CPU_0", "CPU_1"))
    assert found["bmc.cpu/CPU_0.model"] == "Grace A02"
    found = memory(GB200, bare)
    assert found["bmc.dimm"] == ("ProcessorModule_0_Memory_0", "ProcessorModule_1_Memory_0")
    assert found["bmc.memory.total"] == 960


def test_an_empty_collection_of_the_host_is_filled_by_the_baseboard() -> None:
    assert cpu(GB200, {f"{TRAY}/Processors": links()})["bmc.cpu.count"] == 2
    assert len(memory(GB200, {f"{TRAY}/Memory": links()})["bmc.dimm"]) == 2  # type: ignore[arg-type]


def test_a_cpu_in_each_of_two_systems_gives_two() -> None:
    found = cpu(
        GB200,
        {
            f"{TRAY}/Processors": links(f"{TRAY}/Processors/CPU_0"),
            f"{BOARD}/Processors": links(f"{BOARD}/Processors/CPU_1"),
        },
    )
    assert (found["bmc.cpu.count"], found["bmc.cpu"]) == (2, ("CPU_0", "CPU_1"))


def test_parts_that_two_other_systems_of_the_host_list_count_once() -> None:
    split = f"{SYSTEMS}/Split"
    changes: dict[str, Body | Unknown] = {
        SYSTEMS: links(TRAY, BOARD, split),
        TRAY: without(TRAY, "Processors", "Memory"),
        split: {"Id": "Split", **{name: body(GB200, TRAY)[name] for name in ("Processors", "Memory")}},
    }
    found = cpu(GB200, changes)
    assert (found["bmc.cpu.count"], len(found["bmc.cpu"])) == (2, 2)  # type: ignore[arg-type]
    assert len(memory(GB200, changes)["bmc.dimm"]) == 2  # type: ignore[arg-type]
    third = {"SerialNumber": "PF3A99", "Socket": "CPU_9", "Id": "CPU_9"}
    place = f"{TRAY}/Processors/CPU_1"
    assert cpu(GB200, {**changes, place: changed(GB200, place, **third)})["bmc.cpu.count"] == 3


def test_one_cpu_that_two_systems_list_under_two_ids_counts_once_and_takes_what_the_host_leaves_out() -> None:
    renamed = f"{BOARD}/Processors/ProcessorModule_0_CPU_0"
    changes: dict[str, Body | Unknown] = {
        f"{BOARD}/Processors": links(renamed, f"{BOARD}/Processors/CPU_1"),
        renamed: changed(GB200, f"{BOARD}/Processors/CPU_0", Id="ProcessorModule_0_CPU_0"),
    }
    found = cpu(GB200, changes)
    assert (found["bmc.cpu.count"], found["bmc.cpu"]) == (2, ("CPU_0", "CPU_1"))
    assert found["bmc.cpu/CPU_0.model"] == "Grace A02"
    silent: dict[str, Body | Unknown] = {TRAY: changed(GB200, TRAY, ProcessorSummary=None)}
    for n in (0, 1):  # without serial numbers, the socket's label decides
        silent |= {
            f"{s}/Processors/CPU_{n}": changed(GB200, f"{s}/Processors/CPU_{n}", SerialNumber=None)
            for s in (TRAY, BOARD)
        }
    assert cpu(GB200, silent)["bmc.cpu.count"] == 2


def test_two_parts_that_nothing_tells_apart_leave_the_count_unknown_and_the_hosts_parts_known() -> None:
    odd: dict[str, Body | Unknown] = {TRAY: changed(GB200, TRAY, ProcessorSummary=None)}
    for n in (0, 1):
        for system, label in ((TRAY, "CPU"), (BOARD, "Module")):
            place = f"{system}/Processors/CPU_{n}"
            odd[place] = changed(GB200, place, SerialNumber=None, Socket=f"{label} {n}", Location=None)
    found = cpu(GB200, odd)
    assert unknown(found["bmc.cpu.count"], "whether")
    assert found["bmc.cpu/CPU_0.cores"] == 72


def test_the_health_of_a_cpu_that_only_the_baseboard_lists_beside_an_empty_list_is_unknown() -> None:
    place = f"{BOARD}/Processors/CPU_0"
    for status in ({"State": "Enabled", "Health": "OK"}, {"State": "Enabled", "Health": "Critical"}):
        found = cpu(GB200, {f"{TRAY}/Processors": links(), place: changed(GB200, place, Status=status)})
        assert unknown(found["bmc.cpu/CPU_0.health"])
        assert found["bmc.cpu.count"] == 2


@pytest.mark.parametrize(("host", "board"), [("OK", "Critical"), ("Critical", "OK"), ("Critical", "Warning")])
def test_the_health_of_a_cpu_that_two_systems_list_is_the_worse_one(host: str, board: str) -> None:
    changes: dict[str, Body | Unknown] = {}
    for system, health in ((TRAY, host), (BOARD, board)):
        place = f"{system}/Processors/CPU_0"
        changes[place] = changed(GB200, place, Status={"State": "Enabled", "Health": health})
    assert cpu(GB200, changes)["bmc.cpu/CPU_0.health"] == "Critical"
    for n in (0, 1):  # also by a condition, which the recorded board has
        assert cpu(GB200, {})[f"bmc.cpu/CPU_{n}.health"] == "Critical"


def test_a_cpu_that_both_systems_report_as_ok_is_ok_and_one_without_a_word_of_the_other_is_its_own() -> None:
    changes: dict[str, Body | Unknown] = {}
    for system in (TRAY, BOARD):
        place = f"{system}/Processors/CPU_0"
        changes[place] = changed(GB200, place, Status={"State": "Enabled", "Health": "OK"})
    assert cpu(GB200, changes)["bmc.cpu/CPU_0.health"] == "OK"
    place = f"{BOARD}/Processors/CPU_0"
    silent = changes | {place: changed(GB200, place, Status={"State": "Enabled"})}
    assert cpu(GB200, silent)["bmc.cpu/CPU_0.health"] == "OK"


@pytest.mark.parametrize(
    "status",
    [
        {"Health": "Failed"},
        {"Health": None},
        {"Health": None, "HealthRollup": "Critical"},
        {"Health": "OK", "Conditions": [{"Severity": "Fatal"}]},
    ],
)
@pytest.mark.parametrize("own", ["OK", "Warning"])
def test_a_health_is_unknown_if_that_of_the_other_system_is_invalid(status: dict[str, object], own: str) -> None:
    changes: dict[str, Body | Unknown] = {}
    for system, each in ((TRAY, {"Health": own}), (BOARD, status)):
        place = f"{system}/Processors/CPU_0"
        changes[place] = changed(GB200, place, Status={"State": "Enabled", **each})
    assert unknown(cpu(GB200, changes)["bmc.cpu/CPU_0.health"], "may have a worse one")


@pytest.mark.parametrize("lost", [Unknown(Reason.NOT_COLLECTED, "HTTP 404"), Unknown(Reason.TIMEOUT, "no answer")])
def test_cpus_that_are_all_lost_among_the_gpus_of_the_board_leave_their_health_unknown(lost: Unknown) -> None:
    changes: dict[str, Body | Unknown] = dict.fromkeys((f"{BOARD}/Processors/CPU_{n}" for n in (0, 1)), lost)
    found = cpu(GB200, changes)
    for n in (0, 1):
        assert unknown(found[f"bmc.cpu/CPU_{n}.health"], "may have a worse one")


def test_a_system_that_is_listed_and_not_there_may_have_a_worse_health() -> None:
    gone: dict[str, Body | Unknown] = {BOARD: Unknown(Reason.NOT_COLLECTED, "HTTP 404")}
    assert unknown(cpu(GB200, gone)["bmc.cpu/CPU_0.health"], "may have a worse one")
    assert unknown(memory(GB200, gone)["bmc.dimm/Memory_0.health"], "may have a worse one")
    place = f"{TRAY}/Processors/CPU_0"
    ill = gone | {place: changed(GB200, place, Status={"State": "Enabled", "Health": "Critical"})}
    assert cpu(GB200, ill)["bmc.cpu/CPU_0.health"] == "Critical"


@pytest.mark.parametrize("ill", ["A", "B", "C"])
def test_the_worst_health_of_many_systems_counts_in_any_order(ill: str) -> None:
    changes: dict[str, Body | Unknown] = {SYSTEMS: links(TRAY, *(f"{SYSTEMS}/{name}" for name in "ABC"))}
    own = changed(GB200, f"{TRAY}/Processors/CPU_0", Status={"State": "Enabled", "Health": "OK"})
    changes |= {f"{TRAY}/Processors": links(f"{TRAY}/Processors/CPU_0"), f"{TRAY}/Processors/CPU_0": own}
    for name in "ABC":
        board = f"{SYSTEMS}/{name}"
        changes[board] = {**body(GB200, BOARD), "Id": name, "Processors": {"@odata.id": f"{board}/Processors"}}
        changes[f"{board}/Processors"] = links(f"{board}/Processors/CPU_0")
        health = "Critical" if name == ill else "OK"
        changes[f"{board}/Processors/CPU_0"] = {**own, "Status": {"State": "Enabled", "Health": health}}
    assert cpu(GB200, changes)["bmc.cpu/CPU_0.health"] == "Critical"


@pytest.mark.parametrize("lost", [Unknown(Reason.NOT_COLLECTED, "HTTP 404"), Unknown(Reason.TIMEOUT, "no answer")])
def test_a_health_is_unknown_if_the_other_list_was_not_read_unless_it_is_the_worst(lost: Unknown) -> None:
    changes: dict[str, Body | Unknown] = {f"{BOARD}/Processors": lost}
    assert unknown(cpu(GB200, changes)["bmc.cpu/CPU_0.health"], "may have a worse one")
    place = f"{TRAY}/Processors/CPU_0"
    ill = changes | {place: changed(GB200, place, Status={"State": "Enabled", "Health": "Critical"})}
    assert cpu(GB200, ill)["bmc.cpu/CPU_0.health"] == "Critical"


def test_a_lost_gpu_of_a_board_without_cpus_costs_no_health_of_a_cpu() -> None:
    gpu = "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_SXM_1"
    found = cpu(DGX, {gpu: Unknown(Reason.NOT_COLLECTED, "HTTP 404")})
    healths = {path: reading for path, reading in found.items() if path.endswith(".health")}
    assert healths == dict.fromkeys(healths, "OK")
    assert len(healths) == 2


def test_parts_have_the_names_of_the_system_in_the_hosts_chassis_in_any_order() -> None:
    split = f"{SYSTEMS}/Split"
    links_ = {"Links": {"Chassis": body(GB200, TRAY)["Links"]["Chassis"]}}
    changes: dict[str, Body | Unknown] = {
        TRAY: without(TRAY, "Processors", "Memory"),
        split: {"Id": "Split", **links_, **{name: body(GB200, TRAY)[name] for name in ("Processors", "Memory")}},
    }
    for order in ((TRAY, BOARD, split), (split, BOARD, TRAY), (BOARD, split, TRAY)):
        assert memory(GB200, {**changes, SYSTEMS: links(*order)})["bmc.dimm"] == ("Memory_0", "Memory_1")


def labelled(tray: tuple[str, ...], board: tuple[str, ...]) -> dict[str, Body | Unknown]:
    """The GB200 with CPUs that have labels, and no serial numbers, and without a summary."""
    changes: dict[str, Body | Unknown] = {TRAY: changed(GB200, TRAY, ProcessorSummary=None)}
    for system, names in ((TRAY, tray), (BOARD, board)):
        places = [f"{system}/Processors/{n}" for n, _ in enumerate(names)]
        changes[f"{system}/Processors"] = links(*places)
        for place, name in zip(places, names, strict=True):
            own = changed(GB200, f"{TRAY}/Processors/CPU_0", SerialNumber=None, Socket=name, Location=None)
            changes[place] = {**own, "Id": place.rpartition("/")[2]}
    return changes


def test_one_label_in_common_does_not_tell_the_other_parts_apart() -> None:
    assert unknown(cpu(GB200, labelled(("A1", "B1"), ("A1", "CPU_B1")))["bmc.cpu.count"], "whether")
    assert cpu(GB200, labelled(("A1", "B1"), ("B1", "A1")))["bmc.cpu.count"] == 2
    assert cpu(GB200, labelled(("A1",), ("A1", "CPU_B1")))["bmc.cpu.count"] == 2


def test_two_other_parts_that_claim_one_part_leave_the_count_unknown() -> None:
    changes = labelled(("A1",), ("X", "A1"))
    for place in (f"{TRAY}/Processors/0", f"{BOARD}/Processors/0"):
        changes[place] = {**changes[place], "SerialNumber": "PF3A91"}  # type: ignore[dict-item]
    assert unknown(cpu(GB200, changes)["bmc.cpu.count"], "whether")


def test_many_parts_that_two_systems_list_are_matched_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    spelt: list[str] = []

    def spell(text: str) -> str:
        spelt.append(text)
        return text

    monkeypatch.setattr(merge, "IDENTITIES", {"UUID": uuid, "SerialNumber": spell})
    own, other = (
        [Resource(f"/{side}/{n}", {"Id": str(n), "SerialNumber": f"PF3A{n}", "Socket": f"CPU {n}"}) for n in range(300)]
        for side in "ab"
    )
    found, trouble = merge.merged((own, None), (other, None), lambda _: False)
    assert (len(found), trouble) == (300, None)
    assert all(each.beside is not None and each.beside.id == each.id for each in found)
    assert len(spelt) == 600


def test_no_cpu_anywhere_is_said_only_if_no_system_has_one() -> None:
    empty = {f"{system}/Processors": links() for system in (TRAY, BOARD)}
    assert unknown(cpu(GB200, dict(empty))["bmc.cpu"], "lists no CPU")
    assert unknown(cpu(GB200, {f"{TRAY}/Processors": links(), f"{BOARD}/Processors": LOST})["bmc.cpu"], "no answer")


def test_the_gpus_memory_on_a_baseboard_is_no_module_of_a_host_that_lists_none() -> None:
    found = memory(DGX, {f"{SYSTEMS}/DGX/Memory": links()})
    assert unknown(found["bmc.dimm"])
    assert not [path for path in found if path.startswith("bmc.dimm/")]


def test_a_silent_summary_is_replaced_by_the_sum_and_the_worst_health_of_the_modules() -> None:
    place = f"{SYSTEMS}/System.Embedded.1"
    module = f"{place}/Memory/DIMM.Socket.A1"
    silent = {place: changed(DELL, place, MemorySummary=None)}
    assert memory(DELL, dict(silent))["bmc.memory.total"] == 512
    ill = changed(DELL, module, "bmc_memory", Status={"State": "Enabled", "Health": "Warning"})
    assert memory(DELL, {**silent, module: ill})["bmc.memory.health"] == "Warning"
    assert unknown(memory(DELL, {**silent, module: GONE})["bmc.memory.total"])


def test_one_module_without_a_health_leaves_the_health_of_all_unknown_and_an_empty_slot_does_not() -> None:
    place = f"{SYSTEMS}/System.Embedded.1"
    module = f"{place}/Memory/DIMM.Socket.A1"
    silent = {place: changed(DELL, place, MemorySummary=None)}
    assert memory(DELL, dict(silent))["bmc.memory.health"] == "OK"
    mute = changed(DELL, module, "bmc_memory", Status={"State": "Enabled"})
    assert unknown(memory(DELL, {**silent, module: mute})["bmc.memory.health"])
    empty = changed(DELL, module, "bmc_memory", Status={"State": "Absent"})
    changes = {**silent, module: empty}
    assert memory(DELL, changes)["bmc.memory.health"] == "OK"
    held = completed(DELL, PROBES["bmc_memory"].ask.links, bodies(PROBES["bmc_memory"], DELL) | changes)
    leaf = collect([PROBES["bmc_memory"]], BmcCapture(held))["bmc.memory.total"]
    assert leaf.source == "the sum of 15 modules"


# GPUs that two systems list


def gpu(**more: object) -> dict[str, Any]:
    return {"ProcessorType": "GPU", "Status": {"State": "Enabled", "Health": "OK"}, **more}


def with_gpus(*listed: dict[str, Any]) -> dict[str, Body | Unknown]:
    """The DGX H100, of which the host's own system lists GPUs too."""
    place = f"{DGX_TRAY}/Processors"
    cpus = [f"{place}/DevType1_CPU{n}" for n in (0, 1)]
    own: dict[str, Body | Unknown] = {f"{place}/G{n}": {"Id": f"G{n}", **each} for n, each in enumerate(listed)}
    return {place: links(*cpus, *own), **own}


def gpus(changes: Mapping[str, Body | Unknown]) -> Found:
    return ask(PROBES["bmc_gpu"], DGX, changes)


def test_gpus_that_two_systems_list_under_two_ids_count_once() -> None:
    held = [body(DGX, f"{DGX_BOARD}/Processors/GPU_SXM_{n}", "bmc_gpu") for n in range(1, 9)]
    for name in ("UUID", "SerialNumber"):
        found = gpus(with_gpus(*(gpu(**{name: each[name], "Description": f"d{each[name]}"}) for each in held)))
        assert found["bmc.gpu.count"] == 8
        assert found["bmc.gpu"] == tuple(f"GPU_SXM_{n}" for n in range(1, 9))
        assert found["bmc.gpu/GPU_SXM_1.memory"] == gpus({})["bmc.gpu/GPU_SXM_1.memory"]


def test_a_gpu_that_only_the_hosts_system_lists_is_a_further_one() -> None:
    new = "3f2c9a51-6b7e-4d08-9c11-8a7be2f4d650"
    assert gpus(with_gpus(gpu(UUID=new)))["bmc.gpu.count"] == 9
    module = body(DGX, f"{DGX_BOARD}/Processors/GPU_SXM_1", "bmc_gpu")["SerialNumber"]
    assert gpus(with_gpus(gpu(UUID=new, SerialNumber=module)))["bmc.gpu.count"] == 9


def test_gpus_of_more_systems_than_can_be_compared_leave_the_count_unknown() -> None:
    many: dict[str, Body | Unknown] = {}
    for n in range(20):
        place = f"{SYSTEMS}/Board{n}"
        many[place] = {"Id": f"Board{n}", "Processors": {"@odata.id": f"{place}/Processors"}}
        many[f"{place}/Processors"] = links(f"{place}/Processors/G")
        many[f"{place}/Processors/G"] = gpu(Id="G", SerialNumber=f"16529A{n}")
    boards = [f"{SYSTEMS}/Board{n}" for n in range(20)]
    assert unknown(gpus({**many, SYSTEMS: links(DGX_TRAY, DGX_BOARD, *boards)})["bmc.gpu.count"], "21 systems")
    assert gpus({**many, SYSTEMS: links(DGX_TRAY, DGX_BOARD, *boards[:4])})["bmc.gpu.count"] == 12


def test_gpus_of_two_systems_that_nothing_tells_apart_leave_the_count_unknown() -> None:
    found = gpus(with_gpus(gpu(Model="H100")))
    assert unknown(found["bmc.gpu.count"], "whether")
    assert unknown(found["bmc.gpu"], "whether")
    assert found["bmc.gpu/GPU_SXM_1.health"] == "OK"


# Two hosts


def twins(**second: object) -> dict[str, Body | Unknown]:
    place = f"{SYSTEMS}/1"
    other = {**changed(LENOVO, place), "Id": "2", "UUID": "11112222-3333-4444-5555-666677778888"}
    return {SYSTEMS: links(place, f"{SYSTEMS}/2"), f"{SYSTEMS}/2": {**other, "SerialNumber": "J105958C", **second}}


@pytest.mark.parametrize(
    ("probe", "paths"),
    [
        ("bmc_cpu", ("bmc.cpu", "bmc.cpu.count")),
        ("bmc_memory", ("bmc.dimm",)),
        ("bmc_tpm", ("bmc.tpm",)),
        ("bmc_gpu", ("bmc.gpu",)),
    ],
)
def test_parts_of_two_hosts_are_not_counted_together(probe: str, paths: tuple[str, ...]) -> None:
    found = ask(PROBES[probe], LENOVO, twins())
    for path in paths:
        assert unknown(found[path], "manages 2 hosts (1, 2)"), path
    assert not [path for path in found if "/" in path]


def test_what_two_hosts_agree_on_is_known_and_the_rest_is_not() -> None:
    found = boot(LENOVO, twins(Boot={"BootSourceOverrideMode": "Legacy"}))
    assert unknown(found["bmc.boot.mode"], "different values")
    assert memory(LENOVO, twins())["bmc.memory.total"] == 1024
    assert unknown(ask(PROBES["bmc_host"], LENOVO, twins())["bmc.host.serial"], "1: J105958B, 2: J105958C")


@pytest.mark.parametrize(("probe", "path"), [("bmc_drives", "bmc.drive"), ("bmc_interfaces", "bmc.interface")])
def test_drives_and_interfaces_of_two_hosts_are_those_of_none(probe: str, path: str) -> None:
    found = ask(PROBES[probe], LENOVO, twins())
    assert unknown(found[path], "manages 2 hosts (1, 2)")
    assert not [each for each in found if each.startswith(f"{path}/")]
    assert isinstance(ask(PROBES[probe], LENOVO)[path], tuple)


def settings(*second: tuple[str, object], probe: str = "bmc_bios", gone: tuple[str, ...] = ()) -> Found:
    """The BIOS facts of two hosts; the second one has other attributes."""
    own = body(LENOVO, f"{SYSTEMS}/1/Bios", "bmc_bios")
    place = f"{SYSTEMS}/2/Bios"
    other = {**own, "@odata.id": place, "Attributes": {**own["Attributes"], **dict(second)}}
    for name in gone:
        other["Attributes"].pop(name)
    other.pop("@Redfish.Settings", None)
    boot = {f"{SYSTEMS}/2/SecureBoot": body(LENOVO, f"{SYSTEMS}/1/SecureBoot", "bmc_secure_boot")}
    held = {**twins(Bios={"@odata.id": place}, SecureBoot={"@odata.id": f"{SYSTEMS}/2/SecureBoot"}), place: other}
    return ask(PROBES[probe], LENOVO, {**held, **boot})


SMT = "Processors_HyperThreading"


def test_a_bios_attribute_of_two_hosts_is_known_only_if_both_report_the_same() -> None:
    one, same = ask(PROBES["bmc_bios"], LENOVO), settings()
    path = f"bios.attribute/{SMT}"
    assert same[path] == one[path]
    assert same["bios.smt"] == one["bios.smt"]
    assert unknown(settings((SMT, "Other"))[path], "different values")
    less = settings(gone=(SMT,))
    assert unknown(less[path], "different values")
    assert isinstance(less["bios.smt"], Unknown)
    assert unknown(same["bios.pending"], "manages 2 hosts")


def test_a_host_without_attributes_or_secure_boot_leaves_those_of_both_unknown() -> None:
    for second in ({"Bios": None}, {"Bios": {"@odata.id": f"{SYSTEMS}/2/None"}}):
        lost: dict[str, Body | Unknown] = {f"{SYSTEMS}/2/None": Unknown(Reason.NOT_COLLECTED, "HTTP 404")}
        found = ask(PROBES["bmc_bios"], LENOVO, {**twins(**second), **lost})
        assert isinstance(found["bios.smt"], Unknown)
        assert isinstance(found["bios.attribute"], Unknown)
    alone = twins()
    other = alone[f"{SYSTEMS}/2"]
    assert not isinstance(other, Unknown)
    less = {name: value for name, value in other.items() if name not in ("Bios", "SecureBoot")}
    found = ask(PROBES["bmc_bios"], LENOVO, {**alone, f"{SYSTEMS}/2": less})
    assert unknown(found["bios.smt"], "manages 2 hosts")
    boot = ask(PROBES["bmc_secure_boot"], LENOVO, {**alone, f"{SYSTEMS}/2": less})
    assert unknown(boot["bios.secure_boot"], "manages 2 hosts")
    assert settings(probe="bmc_secure_boot")["bios.secure_boot"] == "disabled"


def test_the_bios_of_a_card_is_not_that_of_the_host() -> None:
    card = twins(SystemType="DPU", Bios={"@odata.id": f"{SYSTEMS}/2/Bios"})
    own = body(LENOVO, f"{SYSTEMS}/1/Bios", "bmc_bios")
    card[f"{SYSTEMS}/2/Bios"] = {**own, "Attributes": {SMT: "Other"}}
    found, one = ask(PROBES["bmc_bios"], LENOVO, card), ask(PROBES["bmc_bios"], LENOVO)
    assert found[f"bios.attribute/{SMT}"] == one[f"bios.attribute/{SMT}"]
    assert found["bios.smt"] == one["bios.smt"]


@pytest.mark.parametrize("probe", ["bmc_bios", "bmc_drives", "bmc_interfaces", "bmc_secure_boot"])
def test_the_only_system_with_boot_firmware_is_the_host_at_no_further_request(probe: str) -> None:
    for name in (DGX, GB200):
        assert not [uri for uri in completed(name, PROBES[probe].ask.links, {}) if "/Processors" in uri]


def test_a_twin_that_is_off_is_still_a_host() -> None:
    off = twins(PowerState="Off", Processors=None, Memory=None, ProcessorSummary=None)
    assert unknown(cpu(LENOVO, off)["bmc.cpu.count"], "manages 2 hosts")


def test_one_machine_that_two_systems_describe_is_one_host() -> None:
    same = twins(UUID=body(LENOVO, f"{SYSTEMS}/1")["UUID"], SerialNumber="J105958B")
    assert cpu(LENOVO, same)["bmc.cpu.count"] == 2
    assert ask(PROBES["bmc_tpm"], LENOVO, same)["bmc.tpm"] == ("0",)


def test_a_twin_that_lists_no_processor_is_still_a_host_whatever_its_bios_reports() -> None:
    link = {"@odata.id": f"{SYSTEMS}/2/Bios"}
    for processors in (None, {"@odata.id": f"{SYSTEMS}/2/Processors"}):
        off = twins(PowerState="Off", BiosVersion=None, Bios=link, Processors=processors, ProcessorSummary=None)
        found = cpu(LENOVO, {**off, f"{SYSTEMS}/2/Processors": links()})
        assert unknown(found["bmc.cpu.count"], "manages 2 hosts")


def test_a_board_that_lists_no_processor_is_found_by_its_chassis_inside_the_hosts() -> None:
    chassis, host = "/redfish/v1/Chassis/Board", "/redfish/v1/Chassis/1"
    board: dict[str, Any] = {"Id": "2", "BiosVersion": None, "Links": {"Chassis": [{"@odata.id": chassis}]}}
    inside = {"Id": "Board", "ChassisType": "Component", "Links": {"ContainedBy": {"@odata.id": host}}}
    changes: dict[str, Body | Unknown] = {SYSTEMS: links(f"{SYSTEMS}/1", f"{SYSTEMS}/2"), f"{SYSTEMS}/2": board}
    assert cpu(LENOVO, {**changes, chassis: inside})["bmc.cpu.count"] == 2
    for other in ({**inside, "Links": {}}, {**inside, "ChassisType": "Blade"}, LOST):
        assert unknown(cpu(LENOVO, {**changes, chassis: other})["bmc.cpu.count"], "manages 2 hosts")
    shared = {**board, "Links": {"Chassis": [{"@odata.id": host}]}}
    assert unknown(cpu(LENOVO, {**changes, f"{SYSTEMS}/2": shared})["bmc.cpu.count"], "manages 2 hosts")
    loop = {**inside, "Links": {"ContainedBy": {"@odata.id": chassis}}}
    assert unknown(cpu(LENOVO, {**changes, chassis: loop})["bmc.cpu.count"], "manages 2 hosts")


def with_serials(system: str, *serials: str) -> dict[str, Body | Unknown]:
    places = [f"{system}/Processors/{n}" for n, _ in enumerate(serials, start=1)]
    bodies = [
        {**body(LENOVO, f"{SYSTEMS}/1/Processors/1"), "Id": str(n), "SerialNumber": each, "Socket": f"CPU {n}"}
        for n, each in enumerate(serials, start=1)
    ]
    return {f"{system}/Processors": links(*places), **dict(zip(places, bodies, strict=True))}


def test_two_systems_with_one_uuid_and_unlike_cpus_are_two_hosts() -> None:
    same = twins(
        UUID=body(LENOVO, f"{SYSTEMS}/1")["UUID"],
        SerialNumber=None,
        Processors={"@odata.id": f"{SYSTEMS}/2/Processors"},
    )
    first = with_serials(f"{SYSTEMS}/1", "PF3A91", "PF3A92")
    other = with_serials(f"{SYSTEMS}/2", "PF3A93", "PF3A94")
    assert unknown(cpu(LENOVO, {**same, **first, **other})["bmc.cpu.count"], "manages 2 hosts")
    alike = with_serials(f"{SYSTEMS}/2", "PF3A91", "PF3A92")
    assert cpu(LENOVO, {**same, **first, **alike})["bmc.cpu.count"] == 2


def test_more_systems_than_can_be_compared_leave_every_part_unknown() -> None:
    own = f"{SYSTEMS}/1"
    many: dict[str, Body | Unknown] = {
        f"{SYSTEMS}/{n}": {**changed(LENOVO, own), "Id": str(n), "SerialNumber": f"J1059{n}"} for n in range(2, 100)
    }
    changes = {SYSTEMS: links(own, *many), **many}
    for probe, path in (("bmc_cpu", "bmc.cpu.count"), ("bmc_gpu", "bmc.gpu"), ("bmc_host", "bmc.host.serial")):
        assert unknown(ask(PROBES[probe], LENOVO, changes)[path], "99 systems"), path


# Just after a reset


SILENT = ("Bios", "SecureBoot", "Boot", "TrustedModules")


@pytest.mark.parametrize("linked", [True, False])
def test_a_baseboard_is_no_host_while_the_host_shows_no_boot_firmware(*, linked: bool) -> None:
    tray = {key: value for key, value in changed(DGX, DGX_TRAY, BiosVersion="").items() if key not in SILENT}
    board = changed(DGX, DGX_BOARD, BiosVersion=None)
    if linked:
        board["Bios"] = {"@odata.id": f"{DGX_BOARD}/Bios"}
    reset: dict[str, Body | Unknown] = {DGX_TRAY: tray, DGX_BOARD: board}
    assert cpu(DGX, reset)["bmc.cpu.count"] == 2
    assert memory(DGX, reset)["bmc.memory.total"] == 2048
    assert ask(PROBES["bmc_host"], DGX, reset)["bmc.host.serial"] == "1662923610124"


def test_a_host_without_boot_firmware_and_its_baseboard_that_lists_the_same_cpus_are_one() -> None:
    tray = without(TRAY, *SILENT) | {"BiosVersion": ""}
    for board in (changed(GB200, BOARD, BiosVersion=None), changed(GB200, BOARD, Bios={"@odata.id": f"{BOARD}/Bios"})):
        reset: dict[str, Body | Unknown] = {TRAY: tray, BOARD: board}
        assert cpu(GB200, reset)["bmc.cpu.count"] == 2
        assert unknown(ask(PROBES["bmc_host"], GB200, reset)["bmc.host.serial"])  # the board's serial is not the host's


# Cards in the host


CARD, CARD_CHASSIS = f"{SYSTEMS}/Card", "/redfish/v1/Chassis/Card1"


def with_card(chassis: Body | Unknown, name: str = LENOVO, *, arm: bool = True, **more: object) -> dict[str, Any]:
    """A host beside a system of a card that lists one CPU and one memory module, and shows no boot firmware."""
    place, slot = f"{CARD}/Processors/0", f"{CARD}/Memory/0"
    core = {"Id": "0", "ProcessorType": "CPU", "SerialNumber": "MT24X91", "TotalCores": 16, "Socket": "SoC"}
    core |= {"ProcessorArchitecture": "ARM", "InstructionSet": "ARM-A64"} if arm else {}
    module = {
        "Id": "0",
        "CapacityMiB": 32768,
        "MemoryDeviceType": "DDR5",
        "SerialNumber": "A91B2",
        "DeviceLocator": "S",
    }
    body_ = {"Id": "Card", "Processors": {"@odata.id": f"{CARD}/Processors"}, "Memory": {"@odata.id": f"{CARD}/Memory"}}
    own = f"{SYSTEMS}/1" if name == LENOVO else TRAY
    return {
        SYSTEMS: links(own, CARD),
        own: changed(name, own, ProcessorSummary=None, MemorySummary=None),
        CARD: {**body_, "Links": {"Chassis": [{"@odata.id": CARD_CHASSIS}]}, **more},
        f"{CARD}/Processors": links(place),
        place: {**core, "Status": {"State": "Enabled", "Health": "OK"}},
        f"{CARD}/Memory": links(slot),
        slot: {**module, "Status": {"State": "Enabled", "Health": "OK"}},
        CARD_CHASSIS: chassis,
    }


def test_parts_of_a_card_are_not_the_hosts() -> None:
    card = with_card({"Id": "Card1", "ChassisType": "Card"}, GB200, arm=False)
    assert cpu(GB200, card)["bmc.cpu.count"] == 2
    assert memory(GB200, card)["bmc.memory.total"] == 960
    gap = {**card, f"{TRAY}/Processors": links(), f"{TRAY}/Memory": links()}
    assert unknown(cpu(GB200, gap)["bmc.cpu.count"], "lists no CPU")
    assert unknown(memory(GB200, gap)["bmc.dimm"], "lists no memory")


def test_a_system_with_cpus_of_another_architecture_is_a_card_whatever_its_chassis_is() -> None:
    card = with_card({"Id": "Card1", "ChassisType": "Component"})
    assert cpu(LENOVO, card)["bmc.cpu.count"] == 2
    assert memory(LENOVO, card)["bmc.memory.total"] == 1024
    assert unknown(memory(LENOVO, {**card, f"{SYSTEMS}/1/Memory": links()})["bmc.dimm"], "lists no memory")


def test_a_system_whose_chassis_was_not_read_may_be_a_card() -> None:
    card = with_card(LOST, GB200, arm=False)
    assert cpu(GB200, card)["bmc.cpu.count"] == LOST
    assert memory(GB200, card)["bmc.dimm"] == LOST
    assert cpu(GB200, {**card, TRAY: body(GB200, TRAY)})["bmc.cpu.count"] == 2


# Systems that are not there


def test_a_listed_system_that_does_not_exist_leaves_the_host_known() -> None:
    ghost = {SYSTEMS: links(f"{SYSTEMS}/System.Embedded.1", f"{SYSTEMS}/Ghost")}
    assert cpu(DELL, dict(ghost))["bmc.cpu.count"] == 2
    assert ask(PROBES["bmc_kind"], DELL, dict(ghost))["bmc.kind"] == "server"
    assert cpu(DELL, {**ghost, f"{SYSTEMS}/Ghost": LOST})["bmc.cpu.count"] == LOST


def test_a_count_of_systems_above_the_list_leaves_the_host_known() -> None:
    uri = f"{SYSTEMS}/System.Embedded.1"
    more = {SYSTEMS: {**links(uri), "Members@odata.count": 2}}
    assert cpu(DELL, dict(more))["bmc.cpu.count"] == 2
    assert unknown(ask(PROBES["bmc_identity"], DELL, dict(more))["bmc.system"], "count of 2")
    assert not unknown(altered(PROBES["bmc_host"], DELL, uri, Name="x")["bmc.host.serial"])


@pytest.mark.parametrize("odd", [{}, {"Actions": {}}, {"xyzzy": {"@odata.id": "/redfish/v1"}}])
@pytest.mark.parametrize(("name", "probe"), [("Bios", "bmc_bios"), ("SecureBoot", "bmc_secure_boot")])
def test_an_odd_object_in_a_board_costs_no_setting_of_the_host(name: str, probe: str, odd: dict[str, Any]) -> None:
    board = "/redfish/v1/Systems/HGX_Baseboard_0"
    held = body(DGX, board, "bmc_cpu")
    before, after = (ask(PROBES[probe], DGX, {board: {**held, **more}}) for more in ({}, {name: odd}))
    assert after == before
