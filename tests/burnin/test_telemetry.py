"""What a node reports about its GPUs and itself under load, read from a scripted library with NVML's names."""

import ast
import ctypes
import re
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from burn_nvml import numbered, travelling, uuid
from fake_driver import library
from joined import NODE, TELEMETRY, joined, source
from recordings import shared, shared_text
from waiting import until

from rackcheck.burnin.pack import SOURCES

SOURCE = source(*TELEMETRY)
telemetry = joined(*TELEMETRY)
Gpus, KernelLog, NodeReader, Sampler = telemetry.Gpus, telemetry.KernelLog, telemetry.NodeReader, telemetry.Sampler


class Node:
    """A node with a driver: its tree, a clock that the test sets, and the records."""

    def __init__(self, nvml: ModuleType, place: Path, hand: "ctypes.c_double") -> None:
        self.nvml, self.place, self.hand = nvml, place, hand
        self.records: list[dict[str, Any]] = []
        self.put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module")
        self.put("dev/nvidiactl", "")

    @property
    def root(self) -> str:
        return str(self.place / "root")

    def put(self, path: str, text: str) -> None:
        file = self.place / "root" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def on_bus(self, count: int) -> None:
        for number in range(count):
            self.put(f"sys/bus/pci/devices/0000:{number:02x}:00.0/vendor", "0x10de\n")
            self.put(f"sys/bus/pci/devices/0000:{number:02x}:00.0/class", "0x030200\n")
        self.put("sys/bus/pci/devices/0000:ff:00.0/vendor", "0x8086\n")
        self.put("sys/bus/pci/devices/0000:ff:00.0/class", "0x060000\n")

    def clock(self) -> float:
        return self.hand.value

    def emit(self, kind: str, **fields: object) -> None:
        self.records.append({"k": kind, **fields})

    def gpus(self, state: str) -> Any:
        (self.place / "state").write_text(state)
        return Gpus(self.nvml, self.emit, self.clock, self.root)

    def sampler(self, state: str, **more: Any) -> Any:
        gpus = self.gpus(state)
        gpus.hello()
        gpus.begin()
        return Sampler(gpus, self.emit, self.clock, threading.Event(), **more)

    def play(self, sampler: Any, rounds: int, *, last: bool = False) -> None:
        """Take this many samples, one for each tenth of a second of the test's clock."""
        begun = self.hand.value
        for number in range(rounds):
            self.hand.value = max(self.hand.value, begun + number / 10)
            sampler.round(number, last and number == rounds - 1)

    def samples(self, of: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["k"] == "sample" and record["of"] == of]

    def errors(self, *names: str) -> list[dict[str, Any]]:
        every = (record for record in self.records if record["k"] == "error")
        return [{k: v for k, v in e.items() if k not in ("k", "stage")} for e in every if e["name"] in names]


def _played(folder: Path, place: Path, patch: pytest.MonkeyPatch) -> Iterator[Node]:
    """Bind pynvml, reduced as it is sent, to the library of a folder, and its clock to the test's."""
    nvml = travelling()
    fake, hand = ctypes.CDLL(str(folder / "libnvidia-ml.so.1")), ctypes.c_double(0.0)
    vars(nvml)["nvmlLib"] = fake
    fake.fake_clock(ctypes.byref(hand))
    patch.setenv("FAKE_NVML_STATE", str(place / "state"))
    yield Node(nvml, place, hand)
    fake.fake_clock(None)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvml")
    library(folder)
    return folder


@pytest.fixture(scope="module")
def built_old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    library(folder, "-DOLD")
    return folder


@pytest.fixture
def node(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    yield from _played(built, tmp_path, monkeypatch)


@pytest.fixture
def old_node(built_old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    yield from _played(built_old, tmp_path, monkeypatch)


# -- what is sent ------------------------------------------------------------------------------------------------------


def top(source: str) -> ast.Module:
    return ast.parse(source, feature_version=(3, 6))


def test_the_source_is_python_3_6() -> None:
    body = top(SOURCE).body
    imported = {name.name for each in body if isinstance(each, ast.Import) for name in each.names}
    imported |= {str(each.module) for each in body if isinstance(each, ast.ImportFrom)}
    assert imported == {"os", "re", "threading", "pathlib", "typing"}


def test_every_file_that_travels_is_there_and_no_two_of_them_define_one_name() -> None:
    assert [name for name in SOURCES if not (NODE / f"{name}.py").is_file()] == []
    of: dict[str, list[str]] = {}
    for name in SOURCES:
        for each in top(source(name)).body:
            targets = [*getattr(each, "targets", ()), *([each.target] if isinstance(each, ast.AnnAssign) else ())]
            found = [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            if isinstance(each, ast.FunctionDef | ast.ClassDef):
                found = [each.name]
            for one in found:
                of.setdefault(one, []).append(name)
    assert {one: names for one, names in of.items() if len(names) > 1} == {}


def test_the_shipped_part_of_pynvml_has_every_name_used(node: Node) -> None:
    names = set(re.findall(r"\bnvml\.(\w+)", SOURCE))
    assert len(names) > 40
    assert [name for name in names if not hasattr(node.nvml, name)] == []


# -- before the load ---------------------------------------------------------------------------------------------------


def test_hello_reports_each_gpu_in_si_units(node: Node) -> None:
    node.on_bus(2)
    gpus = node.gpus(numbered(2) + "1.link.3.state=0\n")
    assert gpus.hello()["0"] == {
        "uuid": uuid(0), "serial": "1650000000000", "module": 1, "pci": "0000:17:00.0", "model": "NVIDIA H200",
        "memory": 150754820096, "memory_used": 0, "cc": "9.0", "limit": 700.0, "limit_default": 700.0, "limit_max": 700.0,
        "clock_max": 1.98e9, "memory_clock_max": 3.201e9, "memory_width": 6144, "link_gen_max": 5,
        "link_width_max": 16, "nvlinks": 18, "nvlink_rate": 18 * 26562e6, "driver": "580.95.05", "mig": False,
        "mode": "default", "persistence": True, "slowdown": 89, "memory_limit": False, "ecc": True,
    }  # fmt: skip
    assert gpus.troubles == []
    assert node.records == []


def test_a_link_that_is_down_is_not_counted(node: Node) -> None:
    value = node.gpus(numbered(1).replace("*.links=18", "*.links=18\n0.link.3.state=0")).hello()["0"]
    assert (value["nvlinks"], value["nvlink_rate"]) == (17, 17 * 26562e6)


def test_a_gpu_without_nvlink_in_nvml_has_none_and_an_error_leaves_it_unreported(node: Node) -> None:
    """The answers of an H100 in a guest whose driver keeps NVLink off."""
    named = "count=1\n0.name=NVIDIA X\n0.temperature_slowdown=!4\n"
    assert node.gpus(named + "0.link.0.state=!3\n").hello()["0"]["nvlinks"] == 0
    assert "nvlinks" not in node.gpus(named + "0.link.0.state=!999\n").hello()["0"]


def test_values_that_a_gpu_does_not_report_are_left_out(node: Node) -> None:
    value = node.gpus("count=1\n0.name=NVIDIA X\n0.temperature_slowdown=!4\n0.links=0\n").hello()["0"]
    assert value == {"model": "NVIDIA X", "nvlinks": 0, "memory_limit": False}


def test_an_old_driver_loses_only_values_it_cannot_report(old_node: Node) -> None:
    sampler = old_node.sampler(numbered(1))
    old_node.play(sampler, 2)
    first, second = old_node.samples("gpu/0")
    assert second == {
        "k": "sample", "of": "gpu/0", "clock": 1.98e9, "memory_clock": 3.201e9, "power": 110.0,
        "temp": 40, "memory_temp": 45, "reasons": 1, "busy": 0.0, "below": 49,
    }  # fmt: skip
    assert "remap_pending" not in first
    assert first["energy"] == 5000.0
    assert first["replays"] == 0
    assert old_node.errors("nvml", "lost") == []
    assert sampler.gpus.foreign(set()) == {}
    assert "does not report whether other processes use the GPU" in sampler.gpus.troubles[0]["why"]


def test_an_unloaded_driver_is_not_queried_and_no_trouble_without_a_gpu(node: Node) -> None:
    (node.place / "root/proc/driver/nvidia/version").unlink()
    node.on_bus(0)
    gpus = node.gpus(numbered(2))
    assert (gpus.hello(), gpus.foreign(set()), gpus.troubles) == ({}, {}, [])


@pytest.mark.parametrize(
    ("gone", "why"),
    [
        ("proc/driver/nvidia/version", "no driver: NVIDIA's driver is not loaded, and a query could load it"),
        ("dev/nvidiactl", "no driver: NVIDIA's driver is loaded without /dev/nvidiactl, and a query could create it"),
    ],
)
def test_gpus_without_a_driver_to_ask_are_a_trouble(gone: str, why: str, node: Node) -> None:
    node.on_bus(8)
    (node.place / "root" / gone).unlink()
    gpus = node.gpus(numbered(8))
    assert (gpus.hello(), gpus.troubles) == ({}, [{"of": "node", "why": why}])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("init=9", "no driver: NVML: Driver Not Loaded"),
        ("init=4", "denied: NVML: Insufficient Permissions"),
        ("init=12", "tool missing: NVML: NVML Shared Library Not Found"),
        ("count=!18", "no driver: NVML: RM has detected an NVML/RM version mismatch."),
    ],
)
def test_a_driver_that_does_not_start_reports_why(line: str, why: str, node: Node) -> None:
    gpus = node.gpus(f"{line}\n{numbered(8)}")
    assert gpus.hello() == {}
    assert [trouble["why"] for trouble in gpus.troubles] == [why]


def test_a_gpu_that_the_driver_does_not_know_is_a_trouble(node: Node) -> None:
    node.on_bus(8)
    gpus = node.gpus(numbered(7))
    assert gpus.troubles == [
        {"of": "node", "why": "no driver: 8 NVIDIA GPUs on the PCI bus, NVML reports 7"},
    ]


def test_without_pynvml_nothing_is_queried(node: Node) -> None:
    node.on_bus(1)
    gpus = Gpus(None, node.emit, node.clock, node.root)
    assert gpus.hello() == {}
    assert gpus.troubles[0]["why"].startswith("tool missing")


def test_who_else_computes_is_named_and_who_is_ours_is_not(node: Node) -> None:
    node.put("proc/1001/comm", "python3\n")
    gpus = node.gpus("0.processes=2\n2.processes=1\n3.processes=7\n" + numbered(4))
    found = gpus.foreign({1000})
    assert found[0] == "pid 1001 (python3)"
    assert set(found) == {0, 3}
    assert found[3] == "pid 1001 (python3), pid 1002, pid 1003, pid 1004 and 2 more"


def test_a_gpu_lost_from_the_start_is_reported_after_the_greeting(node: Node) -> None:
    gpus = node.gpus("1.lost=15\n" + numbered(2))
    assert list(gpus.hello()) == ["0"]
    assert gpus.troubles == [{"of": "gpu/1", "why": "lost: NVML: GPU is lost"}]
    assert node.records == []
    gpus.begin()
    assert node.errors("lost") == [{"of": "gpu/1", "name": "lost", "said": "NVML: GPU is lost"}]


# -- under load --------------------------------------------------------------------------------------------------------


def test_a_sample_follows_the_gpu_in_si_units(node: Node) -> None:
    load = "@0\n0.temperature=40~80/4\n0.power_average=100000~700000/1\n0.utilization=100\n0.energy=5000000~5700000/1\n"
    sampler = node.sampler(numbered(1) + load + "@1\n0.reasons=4\n0.clock_sm=1500\n0.power_usage=712345\n")
    node.play(sampler, 41)
    rows = node.samples("gpu/0")
    assert len(rows) == 41
    assert [rows[0][name] for name in ("power", "temp", "reasons", "clock")] == [100.0, 40, 1, 1.98e9]
    assert [rows[20][name] for name in ("temp", "reasons", "clock", "busy")] == [60, 4, 1.5e9, 1.0]
    assert (rows[40]["temp"], rows[40]["power"], rows[40]["power_instant"]) == (80, 700.0, 712.345)
    assert rows[10]["energy"] - rows[0]["energy"] == pytest.approx(700)
    assert node.errors("hot", "throttle") == []


def test_counters_are_sent_first_last_and_each_second_but_not_for_all_gpus_at_once(node: Node) -> None:
    sampler = node.sampler(numbered(8) + "@0.25\n3.ecc_corrected=7\n3.remap_pending=1\n@2.35\n5.pcie_replay=2\n")
    node.play(sampler, 25, last=True)
    having = {n: [i for i, row in enumerate(node.samples(f"gpu/{n}")) if "replays" in row] for n in range(8)}
    assert having[0] == [0, 10, 20, 24]
    assert having[7] == [0, 17, 24]
    assert [row["ecc_corrected"] for row in node.samples("gpu/3") if "replays" in row] == [0, 7, 7, 7]
    assert node.samples("gpu/3")[-1]["remap_pending"] == 1
    assert node.samples("gpu/5")[-1]["replays"] == 2
    assert max(sum(at in rounds for rounds in having.values()) for at in range(1, 24)) == 1


def test_each_throttle_is_reported_once_and_the_power_cap_is_none(node: Node) -> None:
    calls: list[tuple[int, int]] = []
    script = "@0.2\n0.reasons=4\n@0.4\n0.reasons=36\n@0.6\n0.reasons=204\n@0.8\n0.reasons=4\n@1\n0.reasons=204\n"
    sampler = node.sampler(numbered(2) + script, on_reasons=lambda index, bits: calls.append((index, bits)))
    node.play(sampler, 12)
    assert [(error["of"], error["reasons"]) for error in node.errors("throttle")] == [
        ("gpu/0", 0x20), ("gpu/0", 0x8), ("gpu/0", 0x40), ("gpu/0", 0x80),
    ]  # fmt: skip
    assert calls == [(0, 0xC8)]


def test_a_gpu_is_hot_once_and_two_degrees_below_its_slowdown(node: Node) -> None:
    calls: list[tuple[int, float, float]] = []
    sampler = node.sampler(
        numbered(2) + "@0.2\n1.temperature=86\n@0.4\n1.temperature=87\n@0.6\n1.temperature=90\n",
        on_hot=lambda *hot: calls.append(hot),
    )
    node.play(sampler, 10)
    assert calls == [(1, 87, 87)]
    assert node.errors("hot") == [{"of": "gpu/1", "name": "hot", "temp": 87, "limit": 87}]


def test_a_gpu_whose_memory_is_hot_ends_its_load_although_the_chip_is_cool(node: Node) -> None:
    calls: list[tuple[int, float, float]] = []
    state = numbered(1) + "*.temperature_memory_max=95\n0.temperature_memory=92\n@0.2\n0.temperature_memory=93\n"
    node.play(node.sampler(state, on_hot=lambda *hot: calls.append(hot)), 4)
    assert calls == [(0, 93, 93)]
    said = "the temperature of the memory"
    assert node.errors("hot") == [{"of": "gpu/0", "name": "hot", "temp": 93, "limit": 93, "said": said}]


ONLY_MARGIN = numbered(1).replace("*.temperature_slowdown=89\n", "*.margin_slowdown=-2\n")


@pytest.mark.parametrize(
    ("limit", "hot", "what"),
    [("0", 2, "the limit of the memory"), ("4", 6, "the limit of the memory"), ("-9", 0, None), ("", 0, None)],
)
def test_a_limit_of_the_memory_that_is_a_margin_ends_the_load_two_degrees_below_it(
    limit: str, hot: int, what: str | None, node: Node
) -> None:
    """The slowdown lies at a margin of -2 C, so without a limit of the memory the load ends at 0 C."""
    state = ONLY_MARGIN + (f"*.margin_memory_max={limit}\n" if limit else "")
    sampler = node.sampler(
        f"{state}0.temperature_margin={hot + 1}\n@0.2\n0.temperature_margin={hot}\n0.temperature=85\n"
    )
    node.play(sampler, 2)
    assert node.errors("hot") == []
    node.play(sampler, 4)
    said = {"said": what} if what else {}
    assert node.errors("hot") == [{"of": "gpu/0", "name": "hot", "temp": 85, "limit": 85, **said}]
    assert sampler.gpus.hello()["0"]["memory_limit"] is bool(limit)
    margins = {row["below"] for row in node.samples("gpu/0")}
    assert margins == {hot + 3, hot + 2}, "the margin to the slowdown is not that to the limit of the memory"


def test_a_limit_of_the_memory_that_is_a_margin_which_cannot_be_read_guards_nothing(node: Node) -> None:
    state = ONLY_MARGIN + "*.temperature_memory=60\n*.margin_memory_max=0\n"
    assert node.sampler(state).gpus.hello()["0"]["memory_limit"] is False
    assert node.sampler(state + "*.temperature_margin=50\n").gpus.hello()["0"]["memory_limit"] is True


def test_a_highest_temperature_of_the_memory_without_a_sensor_guards_only_by_the_margin(node: Node) -> None:
    unread = re.sub(r"(?m)^\*\.temperature_memory=.*\n", "", numbered(1)) + "*.temperature_memory_max=95\n"
    assert node.sampler(unread).gpus.hello()["0"]["memory_limit"] is False
    by_margin = unread + "*.margin_memory_max=0\n*.temperature_margin=50\n"
    assert node.sampler(by_margin).gpus.hello()["0"]["memory_limit"] is True


UNREAD = "stopped: how far the GPU is below the %s cannot be read any more"


@pytest.mark.parametrize(
    ("gone", "what"),
    [
        ("0.temperature_margin=!6", ["slowdown temperature", "highest temperature of its memory"]),
        ("0.temperature_margin=!3", ["slowdown temperature", "highest temperature of its memory"]),
        ("0.temperature=!6", ["slowdown temperature"]),
    ],
)
def test_a_margin_that_can_no_longer_be_read_ends_the_load_of_this_gpu_once(
    gone: str, what: list[str], node: Node
) -> None:
    calls: list[tuple[int, str]] = []
    state = ONLY_MARGIN + "*.margin_memory_max=0\n*.temperature_margin=50\n"
    sampler = node.sampler(state + f"@0.95\n{gone}\n", on_unguarded=lambda *call: calls.append(call))
    node.play(sampler, 19)
    assert calls == [], "nine samples without a margin"
    node.play(sampler, 20)
    assert calls == [(0, UNREAD % each) for each in what]
    assert node.errors("hot") == []


def test_a_lost_margin_to_the_slowdown_ends_the_load_although_the_slowdown_temperature_is_known(node: Node) -> None:
    """The chip was 3 C below its slowdown by the margin, and 10 C below it by the temperature: the guard was the margin."""
    calls: list[tuple[int, str]] = []
    state = numbered(1) + "*.margin_slowdown=0\n*.temperature_margin=3\n*.temperature=79\n"
    kept = node.sampler(state, on_unguarded=lambda *call: calls.append(call))
    node.play(kept, 30)
    assert calls == []
    lost = node.sampler(state + "@0.95\n0.temperature_margin=!6\n", on_unguarded=lambda *call: calls.append(call))
    node.play(lost, 30)
    assert calls == [(0, UNREAD % "slowdown temperature")]


@pytest.mark.parametrize("gone", ["@1\n0.temperature_margin=!6\n@1.85\n0.temperature_margin=50\n", ""])
def test_a_margin_that_is_read_again_within_a_second_or_was_never_read_ends_no_load(gone: str, node: Node) -> None:
    calls: list[tuple[int, str]] = []
    limits = "*.margin_memory_max=0\n*.temperature_margin=50\n" if gone else ""
    node.play(node.sampler(ONLY_MARGIN + limits + gone, on_unguarded=lambda *call: calls.append(call)), 60)
    assert calls == []


def test_a_memory_with_its_own_limit_is_not_also_stopped_by_the_margin_of_the_chip(node: Node) -> None:
    """An H100 reports both: the margin of 0 C is the highest operating temperature of the chip, 2 C below its slowdown."""
    state = ONLY_MARGIN + "*.margin_memory_max=0\n*.temperature_memory_max=95\n*.temperature_memory=80\n"
    node.play(node.sampler(state + "*.temperature_margin=1\n"), 3)
    assert node.errors("hot") == []


def test_a_margin_of_0_to_the_slowdown_is_read_and_one_that_is_not_reported_is_not(node: Node) -> None:
    state = numbered(1) + "0.temperature_margin=2\n"  # the chip is far below its slowdown temperature
    node.play(node.sampler(state), 2)
    assert node.errors("hot") == []
    node.play(node.sampler(state + "*.margin_slowdown=0\n"), 2)
    assert [one["of"] for one in node.errors("hot")] == ["gpu/0"]


@pytest.mark.parametrize(("beyond", "hot"), [("", 2), ("*.margin_slowdown=-2\n", 0)])
def test_a_gpu_that_reports_only_a_margin_is_hot_by_it(beyond: str, hot: int, node: Node) -> None:
    state = numbered(1).replace("*.temperature_slowdown=89\n", beyond)
    sampler = node.sampler(
        state + f"0.temperature_margin={hot + 1}\n@0.2\n0.temperature_margin={hot}\n0.temperature=85\n"
    )
    node.play(sampler, 2)
    assert node.errors("hot") == []
    node.play(sampler, 4)
    assert node.errors("hot") == [{"of": "gpu/0", "name": "hot", "temp": 85, "limit": 85}]


def test_the_smaller_of_slowdown_temperature_and_margin_counts(node: Node) -> None:
    """The margin is that of the hottest place of the chip, which the core's temperature does not show."""
    state = numbered(1) + "*.margin_slowdown=-2\n0.temperature_margin=5\n@0.2\n0.temperature_margin=0\n"
    sampler = node.sampler(state)
    node.play(sampler, 2)
    assert node.errors("hot") == []
    node.play(sampler, 4)
    assert [error["of"] for error in node.errors("hot")] == ["gpu/0"]


def test_the_root_port_above_a_gpu_is_its_uplink(node: Node, tmp_path: Path) -> None:
    gpus = node.gpus(numbered(1))
    real = tmp_path / "sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0"
    real.mkdir(parents=True)
    link = tmp_path / "sys/bus/pci/devices/0000:17:00.0"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    assert "uplink" not in gpus.hello()["0"]
    gpus.root = str(tmp_path)
    assert gpus.hello()["0"]["uplink"] == "0000:15:01.0"


@pytest.mark.parametrize("code", [15, 999])
def test_a_gpu_lost_midway_is_reported_once_and_not_read_again(code: int, node: Node) -> None:
    sampler = node.sampler(numbered(2) + f"@0.45\n0.lost={code}\n0.late.utilization=3\n")
    node.play(sampler, 12)
    assert [error["of"] for error in node.errors("lost")] == ["gpu/0"]
    assert (len(node.samples("gpu/0")), len(node.samples("gpu/1"))) == (5, 12)
    assert node.errors("late") == []


def test_one_query_with_an_unknown_error_loses_no_gpu_and_is_reported_once(node: Node) -> None:
    sampler = node.sampler(numbered(1) + "@0.25\n0.utilization=!999\n")
    node.play(sampler, 12)
    assert node.errors("lost") == []
    assert node.errors("nvml") == [
        {"of": "gpu/0", "name": "nvml", "code": 999, "said": "nvmlDeviceGetUtilizationRates: Unknown Error"}
    ]
    assert ["busy" in row for row in node.samples("gpu/0")] == [True] * 3 + [False] * 9


def test_a_query_refused_by_a_gpu_is_not_repeated(node: Node) -> None:
    state = numbered(1).replace("*.utilization=0\n", "").replace("*.power_average=100000\n", "")
    sampler = node.sampler(state + "@0.25\n0.utilization=50\n0.power_average=100000\n")
    node.play(sampler, 6)
    assert [("busy" in row, row["power"]) for row in node.samples("gpu/0")] == [(False, 110.0)] * 6


def test_a_late_answer_is_reported_and_again_only_if_twice_as_late(node: Node) -> None:
    script = "@0.35\n1.late.temperature=1.7\n@3.6\n1.late.temperature=2\n@8\n1.late.temperature=4\n"
    sampler = node.sampler(numbered(2) + script)
    node.play(sampler, 100)
    took = [error["said"] for error in node.errors("late")]
    assert took == ["nvmlDeviceGetTemperature took 1.7 s", "nvmlDeviceGetTemperature took 4.0 s"]
    assert {error["of"] for error in node.errors("late")} == {"gpu/1"}
    assert node.errors("nvml") == []  # a slow answer is no fault of the part


def test_a_missing_answer_is_reported_as_a_hang_by_the_other_thread(node: Node) -> None:
    sampler = node.sampler(numbered(2))
    sampler.gpus.asking = (1, "nvmlDeviceGetTemperature", 0.0)
    node.hand.value = 4.9
    sampler.node_round()
    assert node.errors("hang") == []
    for node.hand.value in (5.1, 6.1):
        sampler.node_round()
    assert node.errors("hang") == [
        {"of": "gpu/1", "name": "hang", "said": "nvmlDeviceGetTemperature: no answer for 5 s"}
    ]


def test_errors_of_nvlinks_are_added_up(node: Node) -> None:
    sampler = node.sampler(numbered(1) + "@0.5\n0.replay_total=3\n0.crc_flit_total=2\n@1.5\n0.recovery_total=!10\n")
    node.play(sampler, 31)
    assert [row.get("nvlink_errors") for row in node.samples("gpu/0") if "replays" in row] == [0, 5, None, None]


def test_links_of_the_fifth_generation_are_added_up_one_by_one(node: Node) -> None:
    totals = ("crc_flit_total", "crc_data_total", "replay_total", "recovery_total", "ecc_data_total")
    state = "".join(f"{row}\n" for row in numbered(1).splitlines() if not any(total in row for total in totals))
    counters = ("malformed", "rx_errors", "integrity", "link_recovery_total")
    each = "".join(f"0.link.{link}.{name}=0\n" for link in range(18) for name in counters)
    sampler = node.sampler(state + each + "@0.5\n0.link.17.rx_errors=4\n0.link.2.integrity=1\n")
    node.play(sampler, 11)
    assert [row["nvlink_errors"] for row in node.samples("gpu/0") if "replays" in row] == [0, 5]


# -- the kernel's log --------------------------------------------------------------------------------------------------

XID = "4,900,123456,-;NVRM: Xid (PCI:0000:{}:00): {}, pid=4242, name=python3, Ch 00000008\n"


def test_xids_since_the_start_are_reported_and_counted_without_process_names(node: Node) -> None:
    node.put("dev/kmsg", XID.format("17", 13))
    sampler = node.sampler(numbered(2))
    with (node.place / "root/dev/kmsg").open("a") as log:
        log.write("6,901,123457,-;usb 1-1: new device\n" + XID.format("27", 79) + XID.format("27", 48) + XID[:30])
    sampler.node_round()
    sampler.round(0)
    assert node.errors("xid") == [
        {"of": "gpu/1", "name": "xid", "xid": 79, "line": "NVRM: Xid (PCI:0000:27:00): 79, pid=4242, Ch 00000008"},
        {"of": "gpu/1", "name": "xid", "xid": 48, "line": "NVRM: Xid (PCI:0000:27:00): 48, pid=4242, Ch 00000008"},
    ]
    assert [node.samples(f"gpu/{n}")[0]["xids"] for n in (0, 1)] == [0, 2]
    with (node.place / "root/dev/kmsg").open("a") as log:
        log.write(XID.format("99", 95)[30:])
    sampler.node_round()
    assert [(error["of"], error["xid"]) for error in node.errors("xid")[2:]] == [("node", 95)]


def test_a_log_that_only_root_reads_counts_no_xids(node: Node) -> None:
    sampler = node.sampler(numbered(1))
    sampler.round(0)
    assert not KernelLog(node.root + "/dev/kmsg").readable
    assert "xids" not in node.samples("gpu/0")[0]


def test_a_storm_of_xids_is_counted_and_not_reported_line_by_line(node: Node) -> None:
    node.put("dev/kmsg", "")
    sampler = node.sampler(numbered(1))
    with (node.place / "root/dev/kmsg").open("a") as log:
        log.write(XID.format("17", 31) * 500)
    sampler.node_round()
    sampler.round(0)
    assert len(node.errors("xid")) == 64
    assert node.samples("gpu/0")[0]["xids"] == 500


# -- the node itself ---------------------------------------------------------------------------------------------------


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A machine made of recorded folders, and of sensors in the form that the kernel documents."""
    for folder, place in (
        ("cpu/sysfs-cpu-node-exporter", "sys/devices/system/cpu"),
        ("memory/sysfs-edac-node-exporter", "sys/devices/system/edac"),
        ("infiniband/sysfs-infiniband-procfs", "sys/class/infiniband"),
    ):
        shutil.copytree(shared(folder), tmp_path / place)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/interrupts").write_text(shared_text("os/proc-interrupts.txt"))
    (tmp_path / "proc/loadavg").write_text("17.25 9.50 4.10 18/1200 99\n")
    for sensor, temps in {
        "hwmon0/k10temp": (61500, 70250),
        "hwmon1/nvme": (99000,),
        "hwmon2/coretemp": (64000,),
    }.items():
        folder, name = sensor.split("/")
        (tmp_path / "sys/class/hwmon" / folder).mkdir(parents=True)
        (tmp_path / "sys/class/hwmon" / folder / "name").write_text(f"{name}\n")
        for number, temp in enumerate(temps, 1):
            (tmp_path / "sys/class/hwmon" / folder / f"temp{number}_input").write_text(f"{temp}\n")
    return tmp_path


def number(file: Path) -> int:
    return int(file.read_text())


def test_a_node_reports_its_own_columns(host: Path) -> None:
    cpus = host / "sys/devices/system/cpu"
    clocks = [number(file) for file in cpus.glob("cpu*/cpufreq/scaling_cur_freq")]
    values = dict(NodeReader(time.monotonic, str(host)).read())
    assert values["node"] == {
        "temp": 70.25,
        "clock": round(sum(clocks) * 1000 / len(clocks)),
        "load": 17.25,
        "mce": 0,
        "edac_corrected": number(host / "sys/devices/system/edac/mc/mc0/ce_count"),
        "edac_uncorrected": number(host / "sys/devices/system/edac/mc/mc0/ue_count"),
        "throttles": sum(map(number, cpus.glob("cpu*/thermal_throttle/core_throttle_count"))),
    }
    assert values["node"]["throttles"] > 0


def test_machine_checks_of_all_cpus_are_added_up(host: Path) -> None:
    text = (host / "proc/interrupts").read_text()
    (host / "proc/interrupts").write_text(re.sub(r"MCE: +0 +0 ", "MCE:          3          4 ", text))
    assert dict(NodeReader(time.monotonic, str(host)).read())["node"]["mce"] == 7


def test_each_rdma_port_is_reported_with_a_number_if_several(host: Path) -> None:
    folder = host / "sys/class/infiniband"
    (folder / "mlx5_0/ports/1/state").write_text("1: DOWN\n")
    values = dict(NodeReader(time.monotonic, str(host)).read())
    assert {of for of in values if of.startswith("nic/")} == {
        "nic/hfi1_0",
        "nic/mlx4_0/1",
        "nic/mlx4_0/2",
        "nic/mlx5_0",
    }
    counters = folder / "mlx4_0/ports/2/counters"
    assert values["nic/mlx4_0/2"] == {
        "up": 1,
        "rate": 5e9,
        "symbol_error": number(counters / "symbol_error"),
        "link_downed": number(counters / "link_downed"),
        "xmit_wait": number(counters / "port_xmit_wait"),
    }
    assert values["nic/mlx5_0"]["up"] == 0


def test_a_counter_that_cannot_be_read_is_left_out(host: Path) -> None:
    (host / "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error").write_text("N/A (no PMA)\n")
    next(iter(host.glob("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"))).write_text("\n")
    (host / "proc/interrupts").unlink()
    values = dict(NodeReader(time.monotonic, str(host)).read())
    assert "symbol_error" not in values["nic/mlx5_0"]
    assert not {"throttles", "mce"} & set(values["node"])


def test_without_sensors_the_packages_thermal_zone_is_read_and_no_others(host: Path) -> None:
    shutil.rmtree(host / "sys/class/hwmon")
    for zone, (kind, temp) in enumerate({"acpitz": 27800, "x86_pkg_temp": 63000}.items()):
        (host / f"sys/class/thermal/thermal_zone{zone}").mkdir(parents=True)
        (host / f"sys/class/thermal/thermal_zone{zone}/type").write_text(f"{kind}\n")
        (host / f"sys/class/thermal/thermal_zone{zone}/temp").write_text(f"{temp}\n")
    assert dict(NodeReader(time.monotonic, str(host)).read())["node"]["temp"] == 63.0


def test_a_machine_without_any_readings_causes_no_error(tmp_path: Path) -> None:
    assert NodeReader(time.monotonic, str(tmp_path)).read() == [("node", {})]


def test_of_many_cpus_the_clock_of_sixteen_is_read(tmp_path: Path) -> None:
    for cpu in range(250):
        (tmp_path / f"sys/devices/system/cpu/cpu{cpu}/cpufreq").mkdir(parents=True)
        (tmp_path / f"sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq").write_text("2000000\n")
    reader = NodeReader(time.monotonic, str(tmp_path))
    assert 8 < len(reader._clocks) <= 16
    assert dict(reader.read())["node"]["clock"] == 2_000_000_000


def test_what_is_slow_to_read_is_read_less_often_but_counters_always_at_the_end(host: Path) -> None:
    at = [0.0]

    def clock() -> float:
        at[0] += 0.05
        return at[0]

    reader = NodeReader(clock, str(host))
    assert {"mce", "clock"} <= set(dict(reader.read())["node"])
    assert dict(reader.read())["node"] == {}
    assert {"mce", "throttles"} <= set(dict(reader.read(last=True))["node"])
    at[0] += 10
    assert {"mce", "clock"} <= set(dict(reader.read())["node"])


# -- the thread --------------------------------------------------------------------------------------------------------


def test_eight_gpus_are_sampled_by_a_schedule_that_neither_drifts_nor_bunches(node: Node) -> None:
    ctypes.CDLL(str(node.nvml.nvmlLib._name)).fake_clock(None)
    node.put("proc/loadavg", "1.0 1 1 1/1 1\n")
    gpus, stop, times = node.gpus(numbered(8)), threading.Event(), []

    def emit(kind: str, **fields: object) -> None:
        node.emit(kind, **fields)
        if fields["of"] == "gpu/0":
            times.append(time.monotonic())

    gpus.hello()
    sampler = Sampler(gpus, emit, time.monotonic, stop)
    sampler.start()
    until(lambda: len(times) >= 15, "too few samples")
    stop.set()
    sampler.join(5)
    assert not sampler.is_alive()
    slots = [int((at - sampler.begun) / telemetry.SAMPLE_PERIOD) for at in times[:-1]]
    assert len(set(slots)) >= len(slots) - 1
    assert slots[-1] <= len(slots) - 1 + sampler.skipped + 1
    assert {len(node.samples(f"gpu/{n}")) for n in range(8)} == {len(times)}
    for n in range(8):
        rows = node.samples(f"gpu/{n}")
        assert "replays" in rows[0]
        assert "replays" in rows[-1]
    assert len(node.samples("node")) >= 2


def test_a_node_without_gpus_is_sampled_until_the_end(node: Node) -> None:
    (node.place / "root/proc/driver/nvidia/version").unlink()
    node.put("proc/loadavg", "1.0 1 1 1/1 1\n")
    stop = threading.Event()
    sampler = Sampler(Gpus(None, node.emit, time.monotonic, node.root), node.emit, time.monotonic, stop)
    sampler.start()
    until(lambda: node.samples("node"), "no sample of the node")
    assert sampler.is_alive()
    stop.set()
    sampler.join(5)
    assert not sampler.is_alive()
    assert {record["of"] for record in node.records} == {"node"}
