"""Faults that appear only under load: a burn-in detects these faults, and an audit does not."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from rackcheck.base.user_error import UserError
from rackcheck.profile.layers import did_you_mean
from rackcheck.sim import edit
from rackcheck.sim.behaviour import Ill, Station
from rackcheck.sim.burn_parts import of_station
from rackcheck.sim.fault_words import FaultWords, lanes, number
from rackcheck.sim.load_rates import UNITS
from rackcheck.sim.load_wrong import SMS

Lay = Callable[[Station, FaultWords], Station]

LATEST = 600
"""The latest second of the load at which a fault may begin."""

KINDS: dict[str, tuple[str, Lay, Mapping[str, str | None]]] = {}
"""Each fault by its name: its description, the function that adds it to a simulated node, and its parameters.

The decorator `_fault` adds the faults.
"""

FaultReader = Callable[[Station, FaultWords], None]
"""A function that checks a fault's parameters; raises UserError if this machine cannot have the fault."""


def _fault(name: str, about: str, /, **takes: str | None) -> Callable[[FaultReader], FaultReader]:
    """Register a fault of a GPU, NIC, processor or NUMA node that a parameter names, or else of the whole node."""
    what = next((word for word in takes if word in {"gpu", "nic", "cpu", "numa"}), "")

    def kept(look: FaultReader) -> FaultReader:
        def lay(station: Station, given: FaultWords) -> Station:
            if what == "gpu":
                _, _, values = edit.gpus(station)
                edit.gpu(values, number(given, "gpu"))
            look(station, given)
            for ill in station.ills:
                if ill.kind == name and ill.of == (f"{what}/{given[what]}" if what else "node"):
                    raise UserError(f"{station.name} {ill.of} already has fault {name}")
            ill = Ill(name, f"{what}/{given[what]}" if what else "node", dict(given))
            return replace(station, ills=(*station.ills, ill))

        KINDS[name] = (about, lay, takes)
        return look

    return kept


def _second(given: FaultWords) -> None:
    number(given, "second", 0, LATEST)


def _address(given: FaultWords) -> None:
    if not re.fullmatch(r"0x[0-9a-f]{1,12}", given["address"]):
        raise UserError(f"`address` must be hexadecimal, such as 0x3f2a41c00, not {given['address']!r}")


@_fault("gpu-slow", "under load a GPU does less work per clock than its peers", gpu=None, percent="4")
def _gpu_slow(_: Station, given: FaultWords) -> None:
    number(given, "percent", 1, 99)


@_fault(
    "gpu-bitflip", "under load a bit of a GPU's memory flips: always (how=stuck), or once (how=transient)",
    gpu=None, address="0x3f2a41c00", bit="21", how="stuck",
)  # fmt: skip
def _gpu_bitflip(_: Station, given: FaultWords) -> None:
    _address(given)
    number(given, "bit", 0, 127)
    if given["how"] not in {"stuck", "transient"}:
        raise UserError(f"`how` must be stuck or transient, not {given['how']!r}")


@_fault(
    "gpu-multibit", "under load several bits of eight neighbouring lines of a GPU's memory are wrong",
    gpu=None, address="0x3f2a41c00", bits="3",
)  # fmt: skip
def _gpu_multibit(_: Station, given: FaultWords) -> None:
    _address(given)
    number(given, "bits", 2, 128)


@_fault(
    "gpu-alias", "under load two GPU memory addresses that differ in one bit refer to the same memory",
    gpu=None, address="0x3f2a41c00", bit="30",
)  # fmt: skip
def _gpu_alias(_: Station, given: FaultWords) -> None:
    _address(given)
    number(given, "bit", 4, 47)


@_fault("sm-wrong", "under load one SM of a GPU computes wrong results", gpu=None, sm=None)
def _sm_wrong(_: Station, given: FaultWords) -> None:
    number(given, "sm", 0, SMS - 1)


@_fault("gpu-nan", "under load one SM of a GPU returns NaN in matrix products", gpu=None, sm="17")
def _gpu_nan(_: Station, given: FaultWords) -> None:
    number(given, "sm", 0, SMS - 1)


@_fault("gpu-wrong", "under load one kind of unit is wrong in the same way in all SMs of a GPU", gpu=None, unit="sfu")
def _gpu_wrong(_: Station, given: FaultWords) -> None:
    if given["unit"] not in UNITS:
        near = did_you_mean(given["unit"], list(UNITS))
        raise UserError(f"`unit` must be one of {', '.join(UNITS)}, not {given['unit']!r}{near}")


@_fault("sm-slow", "under load one SM of a GPU is slower, and all others wait for it", gpu=None, sm=None, percent="20")
def _sm_slow(_: Station, given: FaultWords) -> None:
    number(given, "sm", 0, SMS - 1)
    number(given, "percent", 1, 99)


@_fault("clock-stuck", "under load a GPU's clock does not change", gpu=None, mhz="1200")
def _clock_stuck(_: Station, given: FaultWords) -> None:
    number(given, "mhz", 100, 10_000)


def _share(_: Station, given: FaultWords) -> None:
    """Check the percentage by which a fault lowers a GPU's rate or power."""
    number(given, "percent", 1, 99)


for _name, _about, _percent in (
    ("chip-poor", "under load a GPU at its power cap has a much lower clock than its peers", "40"),
    ("power-low", "under load a GPU draws much less power than its peers at the same clock", "60"),
    ("hbm-slow", "under load the memory of a GPU is slower than that of its peers", "50"),
    ("pcie-slow", "under load copies between a GPU and the host are slower, with all lanes", "50"),
):
    _fault(_name, _about, gpu=None, percent=_percent)(_share)


@_fault(
    "nvlink-slow", "under load copies between a GPU and the others are slower, or use host memory (direct=no)",
    gpu=None, percent="50", direct="yes",
)  # fmt: skip
def _nvlink_slow(_: Station, given: FaultWords) -> None:
    number(given, "percent", 0, 99)
    if given["direct"] not in {"yes", "no"}:
        raise UserError(f"`direct` must be yes or no, not {given['direct']!r}")


@_fault("cap-low", "under load a GPU's power limit is below its default", gpu=None, watts="500")
def _cap_low(_: Station, given: FaultWords) -> None:
    number(given, "watts", 50, 10_000)


@_fault("gpu-hot", "under load a GPU gets warmer per watt than its peers, as in a hot slot", gpu=None, percent="60")
def _gpu_hot(_: Station, given: FaultWords) -> None:
    number(given, "percent", 1, 1000)


@_fault("fan-stopped", "under load a fan stops, and all GPUs of the node get warmer", percent="150", second="0")
def _fan_stopped(_: Station, given: FaultWords) -> None:
    number(given, "percent", 1, 1000)
    _second(given)


@_fault("gpu-lost-under-load", "a GPU falls off the bus `second` seconds into the load", gpu=None, second="4")
def _gpu_lost(_: Station, given: FaultWords) -> None:
    _second(given)


@_fault("gpu-hang", "a GPU hangs and does not finish its work", gpu=None, second="4")
def _gpu_hang(_: Station, given: FaultWords) -> None:
    _second(given)


@_fault("cuda-sticky", "a GPU's context breaks: every further call fails", gpu=None, second="4")
def _cuda_sticky(_: Station, given: FaultWords) -> None:
    _second(given)


@_fault("fabric-manager-down", "CUDA is not ready, as without a running fabric manager (code 802)")
def _fabric_manager_down(station: Station, _: FaultWords) -> None:
    edit.gpus(station)


@_fault("xid-only", "the kernel log has an Xid under load, without any other fault", gpu=None, number="63", second="4")
def _xid_only(_: Station, given: FaultWords) -> None:
    number(given, "number", 1, 9999)
    _second(given)


@_fault("replay-storm", "under load the PCIe link of a GPU has `rate` replays per second", gpu=None, rate="50")
def _replay_storm(_: Station, given: FaultWords) -> None:
    number(given, "rate", 1, 1_000_000)


@_fault("link-narrow-under-load", "under load the PCIe link of a GPU falls back to fewer lanes", gpu=None, lanes="8")
def _link_narrow(station: Station, given: FaultWords) -> None:
    _, _, values = edit.gpus(station)
    most = edit.gpu(values, number(given, "gpu")).get("link_max_width")
    lanes(given, "lanes", most.get("value") if isinstance(most, dict) else None)


@_fault("nic-down-under-load", "an RDMA port that was up goes down under load and stays down", nic=None, second="4")
def _nic_down(station: Station, given: FaultWords) -> None:
    _second(given)
    ports = [port.name for port in of_station(station).ports]
    if given["nic"] not in ports:
        raise UserError(f"{station.name} has no RDMA port {given['nic']}{edit.near_or_all(given['nic'], ports)}")


@_fault("cpu-wrong", "under load a logical processor computes wrong results", cpu=None)
def _cpu_wrong(station: Station, given: FaultWords) -> None:
    cpus = of_station(station).cpus
    if number(given, "cpu") not in cpus:
        raise UserError(f"{station.name} has no processor {given['cpu']}: it has {_ends(cpus)}")


@_fault("ram-bitflip", "under load a bit of a NUMA node's memory flips", numa="0", address="0x7f3c12345678", bit="5")
def _ram_bitflip(station: Station, given: FaultWords) -> None:
    _address(given)
    number(given, "bit", 0, 63)
    nodes = of_station(station).numa
    if given["numa"] not in nodes:
        raise UserError(f"{station.name} has no NUMA node {given['numa']}: it has {', '.join(nodes) or 'none'}")


def _ends(cpus: tuple[int, ...]) -> str:
    return f"{cpus[0]} to {cpus[-1]}" if cpus else "none"
