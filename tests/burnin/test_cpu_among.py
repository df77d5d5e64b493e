"""Slow cores and NUMA nodes are found beside those of their kind; unusual but sound machines raise no alarm."""

import platform
import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from burn_racks import capture, job, tree
from joined import CPU, NODE, joined

from rackcheck.evaluate.verdict import judge
from rackcheck.model.capture import BurnCapture
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Absent, Plane, Reading, Unknown
from rackcheck.model.path import parse

cpu = joined(*CPU)
LIBRARY = NODE.parent / "kernels" / f"cpu-{platform.machine()}.so"
Record = Mapping[str, Any]
CLEAN = tuple(capture(1, 7).records)
RULES = ("burnin.core_rate", "burnin.memory_rate")


def edited(of: str, stage: str, factor: float = 1.0, **fields: object) -> list[Record]:
    """The records of a clean node, with another rate, or without one, of a part whose name begins with `of`."""

    def edit(record: Record) -> Record:
        if record["k"] != "stage" or record["stage"] != stage or not str(record["of"]).startswith(of):
            return record
        scaled = {"rate": record["rate"] * factor, "work": max(1, round(record["work"] * factor))}
        return {name: value for name, value in {**record, **scaled, **fields}.items() if value is not None}

    return [edit(record) for record in CLEAN]


def verdicts(records: Iterable[Record]) -> dict[str, Status]:
    profile = job(1).profile
    assert profile is not None
    rules = [rule for rule in profile.own if rule.id in RULES]
    return {one.rule: one.status for one in judge(rules, tree(1, 1, BurnCapture(tuple(records))))}


def reading(records: Iterable[Record], path: str) -> Reading:
    return tree(1, 1, BurnCapture(tuple(records))).reading(parse(path), Plane.BURNIN)


def about(**fields: object) -> list[Record]:
    return [{**record, **fields} if "cpus" in record else record for record in CLEAN]


def contended(of: str, stage: str) -> list[Record]:
    return edited(of, stage, status="not tested", why="contended: the work got 0.60 of a core", rate=None)


def test_on_a_sound_machine_no_core_and_no_numa_node_is_slow() -> None:
    assert verdicts(CLEAN) == dict.fromkeys(RULES, Status.PASS)
    assert isinstance(reading(CLEAN, "burnin.memory/0.rate"), float)


@pytest.mark.parametrize(("factor", "status"), [(0.5, Status.FAIL), (0.58, Status.FAIL), (0.65, Status.PASS)])
def test_a_core_at_half_of_its_kind_is_named_and_one_that_is_a_third_slower_is_not(
    factor: float, status: Status
) -> None:
    records = edited("cpu/1", "fma", factor)
    assert verdicts(records)["burnin.core_rate"] is status
    slow = {key for key in "0123" if reading(records, f"burnin.core/{key}.among.rate") == "slow"}
    assert slow == ({"1"} if status is Status.FAIL else set())


@pytest.mark.parametrize(("factor", "status"), [(0.5, Status.WARN), (0.87, Status.WARN), (0.93, Status.PASS)])
def test_a_numa_node_without_one_of_eight_channels_is_a_warning(factor: float, status: Status) -> None:
    records = edited("numa/1", "triad", factor)
    assert verdicts(records)["burnin.memory_rate"] is status
    assert reading(records, "burnin.memory/0.among.rate") == "fine"
    assert reading(records, "burnin.memory/1.among.rate") == ("slow" if status is Status.WARN else "fine")


def test_two_kinds_of_cores_are_compared_each_with_its_own() -> None:
    """The slow kind has a third of the rate, and is half of the cores; one of them at half of its kind is found."""
    slow = {"cpu/2": 0.3, "cpu/3": 0.3}
    records: list[Record] = [
        {**r, "rate": r["rate"] * slow[r["of"]], "core": "atom 1 threads"}
        if r.get("stage") == "fma" and r.get("of") in slow
        else r
        for r in CLEAN
    ]
    assert verdicts(records)["burnin.core_rate"] is Status.PASS
    worse = [{**r, "rate": r["rate"] / 2} if r.get("stage") == "fma" and r.get("of") == "cpu/3" else r for r in records]
    assert verdicts(worse)["burnin.core_rate"] is Status.FAIL


def test_a_core_that_shares_with_unseen_work_and_one_without_peers_are_not_judged() -> None:
    for kind in ("", "lowpower 1 threads"):
        records = edited("cpu/1", "fma", 0.4, core=kind)
        assert isinstance(reading(records, "burnin.core/1.among.rate"), Absent)
        assert verdicts(records)["burnin.core_rate"] is Status.PASS


def test_a_core_that_other_work_uses_is_unknown_and_no_finding_and_hides_no_slow_core() -> None:
    busy = contended("cpu/0", "fma")
    assert verdicts(busy)["burnin.core_rate"] is Status.UNKNOWN
    assert isinstance(reading(busy, "burnin.core/0.among.rate"), Unknown)
    assert reading(busy, "burnin.core/1.among.rate") == "fine"
    slow = [{**r, "rate": r["rate"] / 2} if r.get("stage") == "fma" and r.get("of") == "cpu/1" else r for r in busy]
    assert reading(slow, "burnin.core/1.among.rate") == "slow"


def test_the_message_states_rates_with_their_unit_and_the_bound() -> None:
    for path, records, unit, share in (
        ("burnin.core/1.among.rate", edited("cpu/1", "fma", 0.5), "GFLOP/s", "60%"),
        ("burnin.memory/1.among.rate", edited("numa/1", "triad", 0.5), "GB/s", "90%"),
    ):
        source = tree(1, 1, BurnCapture(tuple(records))).leaves[path].source
        numbers = rf"burn-in: [\d.]+ {unit}, the median of \d other .* is [\d.]+ {unit}; "
        assert re.fullmatch(numbers + rf"at least {share} of it, [\d.]+ {unit}, is required", source), source


def test_a_numa_node_that_shares_its_cpus_with_unseen_work_is_neither_judged_nor_a_peer() -> None:
    """Its memory is slow because of work on the CPUs that the burn-in may not use, such as those of another cpuset."""
    records = edited("numa/1", "triad", 0.5, unlisted=16)
    for node in "01":
        assert isinstance(reading(records, f"burnin.memory/{node}.among.rate"), Absent)
    assert "16 CPUs" in getattr(reading(records, "burnin.memory/1.among.rate"), "detail", "")
    assert isinstance(reading(records, "burnin.memory/1.rate"), float)
    assert verdicts(records)["burnin.memory_rate"] is Status.NA
    assert verdicts(edited("numa/1", "triad", 0.5, unlisted=0))["burnin.memory_rate"] is Status.WARN


@pytest.mark.parametrize(("share", "rated"), [(0.95, True), (0.5, True), (0.31, True), (0.29, False)])
def test_a_core_that_feeds_gpus_has_a_rate_per_second_of_its_own_time(share: float, rated: bool) -> None:
    """Work on registers does not depend on other work: the rate is the same, and is unknown if too little was left."""
    rows: list[dict[str, Any]] = []
    worker = cpu.Cpu(lambda kind, **fields: rows.append({"k": kind, **fields}), lambda: 0.0, threading.Event(), None, 7)
    times = {"from": 0.0, "wall": 3.0, "cpu": 3.0 * share, "work": 3.0 * share * 1e11, "found": 0.0, "rounds": 1.0}
    worker.done({"stage": "fma"}, "cpu/0", "fma", times, True, cpu.CPU_SHARED, unit="FLOP", core="2 threads")
    worker.done({"stage": "triad"}, "node", "triad", times, True, unit="B")
    fma, triad = rows
    assert fma.get("rate") == (pytest.approx(1e11) if rated else None)
    assert fma["status"] == ("done" if rated else "not tested")
    assert ("rate" in triad) is (share > 0.9), "the bandwidth of memory depends on other work"


def test_where_most_cores_are_contended_the_others_cannot_be_judged() -> None:
    lost = contended("cpu/", "fma")
    records = [old if old.get("of") == "cpu/1" else new for old, new in zip(CLEAN, lost, strict=True)]
    assert isinstance(reading(records, "burnin.core/1.among.rate"), Unknown)
    assert verdicts(records)["burnin.core_rate"] is Status.UNKNOWN


@pytest.mark.parametrize("virtual", [True, None])
def test_a_virtual_machine_is_not_judged_and_an_unknown_machine_is_unknown(virtual: bool | None) -> None:
    records = [
        {**r, "rate": r["rate"] / 3} if r.get("stage") == "fma" and r.get("of") == "cpu/1" else r
        for r in about(virtual=virtual)
    ]
    assert verdicts(records) == dict.fromkeys(RULES, Status.NA if virtual else Status.UNKNOWN)


def test_numa_nodes_of_different_size_or_without_a_rate_are_not_compared() -> None:
    small = edited("numa/1", "triad", 0.4, threads=1)
    assert isinstance(reading(small, "burnin.memory/1.among.rate"), Absent)
    assert verdicts(small)["burnin.memory_rate"] is Status.NA
    none = [r for r in CLEAN if not (r.get("stage") == "triad" and r.get("of") == "numa/1")]
    assert isinstance(reading(none, "burnin.memory/1.among.rate"), Absent)
    assert verdicts(none)["burnin.memory_rate"] is Status.NA


def test_a_triad_that_was_not_measured_leaves_the_bandwidth_of_each_node_unknown() -> None:
    without = [r for r in contended("node", "triad") if not (r.get("stage") == "triad" and r["of"] != "node")]
    assert isinstance(reading(without, "burnin.memory/1.rate"), Unknown)
    assert verdicts(without)["burnin.memory_rate"] is Status.UNKNOWN


# -- what the node reports ---------------------------------------------------------------------------------------------


def machine(root: Path, threads: Mapping[int, str], **files: str) -> str:
    for number, siblings in threads.items():
        folder = root / f"sys/devices/system/cpu/cpu{number}"
        (folder / "topology").mkdir(parents=True)
        (folder / "topology/thread_siblings_list").write_text(f"{siblings}\n")
        (folder / "cache/index3").mkdir(parents=True)
        (folder / "cache/index3/size").write_text("32768K\n")
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


def test_the_kind_has_the_type_of_core_and_its_threads(tmp_path: Path) -> None:
    types = {"sys/devices/cpu_core/cpus": "0-1\n", "sys/devices/cpu_atom/cpus": "2-3\n"}
    root = machine(tmp_path, {0: "0-1", 1: "0-1", 2: "2", 3: "3"}, **types)
    assert cpu.cpu_kinds([0, 1, 2, 3], root) == {
        0: "core 32768K 2 threads", 1: "core 32768K 2 threads", 2: "atom 32768K 1 threads", 3: "atom 32768K 1 threads",
    }  # fmt: skip
    assert cpu.cpu_kinds([0, 2], root)[0] == "", "its sibling belongs to others"


def test_arms_capacity_is_part_of_the_kind(tmp_path: Path) -> None:
    paths = {f"sys/devices/system/cpu/cpu{n}/cpu_capacity": text for n, text in ((0, "1024\n"), (1, "512\n"))}
    assert len(set(cpu.cpu_kinds([0, 1], machine(tmp_path, {0: "0", 1: "1"}, **paths)).values())) == 2


@pytest.mark.parametrize(
    ("files", "virtual"),
    [
        ({"proc/cpuinfo": "flags\t\t: fpu hypervisor amx_tile\n"}, True),
        ({"proc/cpuinfo": "flags\t\t: fpu amx_tile\n"}, False),
        ({"proc/cpuinfo": "Features\t: asimd\n", "sys/class/dmi/id/sys_vendor": "QEMU\n"}, True),
        ({"proc/cpuinfo": "Features\t: asimd\n", "sys/class/dmi/id/sys_vendor": "Supermicro\n"}, False),
        ({"proc/cpuinfo": "Features\t: asimd\n", "sys/class/dmi/id/product_name": "Virtual Machine\n"}, True),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "c7g.16xlarge\n"}, True),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "c7g.metal\n"}, False),
        ({"proc/cpuinfo": "flags\t: fpu\n", "sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, False),
    ],
)
def test_a_virtual_machine_is_recognised(tmp_path: Path, files: Mapping[str, str], virtual: bool) -> None:
    assert cpu.cpu_virtual(machine(tmp_path, {}, **files)) is virtual


def smbios(second: int, length: int = 0x18) -> bytes:
    """A table of the firmware, with an OEM structure before that of the BIOS, by DMTF DSP0134."""
    bios = bytes([0, length, 0, 0]) + bytes(14) + bytes([3, second, 1, 2, 3, 4])
    return bytes([200, 5, 1, 0, 9]) + b"text\0\0" + bios[:length] + b"Maker\0v1\0\0" + bytes([127, 4, 2, 0, 0, 0])


@pytest.mark.parametrize(
    ("table", "virtual"),
    [
        (smbios(0x14), True), (smbios(0x1C), True), (smbios(0x0D), False), (smbios(0xEF), False), (b"", False),
        (smbios(0x14, 0x12), False), (smbios(0x14)[:25], False), (smbios(0x14)[11:], True), (bytes(64), False),
        (bytes([200, 5, 1, 0, 9]) + b"endless", False),
    ],
)  # fmt: skip
def test_the_firmwares_bit_shows_a_virtual_machine_that_no_name_and_no_flag_shows(
    tmp_path: Path, table: bytes, virtual: bool
) -> None:
    for number, info in enumerate(("flags\t: fpu\n", "Features\t: asimd\n")):
        root = machine(tmp_path / str(number), {}, **{"proc/cpuinfo": info, "sys/class/dmi/id/sys_vendor": "Acme\n"})
        assert cpu.cpu_virtual(root) is False, "the table is read by root only"
        tables = Path(root) / "sys/firmware/dmi/tables"
        tables.mkdir(parents=True)
        (tables / "DMI").write_bytes(table)
        assert cpu.cpu_virtual(root) is virtual


def test_a_bit_that_is_0_does_not_make_a_virtual_machine_a_physical_one(tmp_path: Path) -> None:
    root = machine(tmp_path, {}, **{"proc/cpuinfo": "flags\t: fpu hypervisor\n"})
    (tmp_path / "sys/firmware/dmi/tables").mkdir(parents=True)
    (tmp_path / "sys/firmware/dmi/tables/DMI").write_bytes(smbios(0))
    assert cpu.cpu_virtual(root) is True
