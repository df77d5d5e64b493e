"""Reads the parts that a burn-in puts under load from a machine's capture: processors, memory, GPUs, RDMA ports."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.model.capture import NodeCapture, Output
from rackcheck.sim import edit
from rackcheck.sim.behaviour import Station

PORTS = "/sys/class/infiniband/"
_PORT = re.compile(rf"{PORTS}([^/]+)/ports/([^/]+)/state")
_RATE = re.compile(r"([0-9]{1,5}(?:\.[0-9])?) Gb/sec")
DESIGN: Mapping[str, Mapping[str, Any]] = {
    "NVIDIA H100 80GB HBM3": {"cc": "9.0", "sms": 132, "memory_width": 5120},
}
"""Values by GPU model that only a burn-in reads from the driver; captures do not contain them."""

AMX = ("bf16", "int8")
"""The types of operands that a matrix unit (AMX) may have."""

MEMORY_LIMITS = (("temperature_memory_max", "temperature_memory"), ("margin_memory_max", "temperature_margin"))
"""The limits of a GPU's memory, each with the value that is compared with it."""

_FLAGS = (("avx512f", "avx512"), ("avx2", "avx2"), ("asimd", "neon"))


@dataclass(frozen=True)
class GpuParts:
    """One GPU; `about` has the GPU's values that a burn-in reports in its record `about`.

    `idle` is the idle power in W, `idle_clock` the idle clock in Hz, and temperatures are in degrees C. `lanes` is the
    current width of the PCIe link, which does not change with the load. `slowdown` is the temperature at which the
    hardware reduces the clock. `slowdown` is None if the driver reports neither the slowdown temperature nor the margin
    to it.
    """

    index: str
    about: Mapping[str, Any]
    idle: float
    idle_clock: float
    temperature: float
    slowdown: float | None
    lanes: int | None = None


@dataclass(frozen=True)
class SimPort:
    """One RDMA port: its name in a burn-in, whether it is up, and its rate in B/s."""

    name: str
    up: bool
    rate: float | None


@dataclass(frozen=True)
class LoadableParts:
    """The parts of a node that can be put under load. `memory` is in bytes, and `clock` in Hz."""

    python: bool = True
    machine: str = ""
    cpu: str = ""
    variant: str = "stdlib"
    amx: tuple[str, ...] = ()
    clock: float | None = None
    cpus: tuple[int, ...] = ()
    numa: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    memory: int = 0
    load: float = 0.0
    gpus: tuple[GpuParts, ...] = ()
    ports: tuple[SimPort, ...] = ()


def of_station(station: Station) -> LoadableParts:
    """Read the parts of a simulated node from the capture of its machine."""
    host = station.machine.host
    lscpu = next((a.out for c, a in host.commands.items() if c.startswith("lscpu") and isinstance(a, Output)), "")
    values = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lscpu.splitlines())}
    flags = set(values.get("Flags", "").split())
    cpus = tuple(_listed(host.files.get("/sys/devices/system/cpu/online", "")))
    khz = host.files.get("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "").strip()
    load = host.files.get("/proc/loadavg", "").partition(" ")[0]
    return LoadableParts(
        python=not any(isinstance(a, Output) and a.out.endswith("no python3\n") for a in host.commands.values()),
        machine=values.get("Architecture", ""),
        cpu=values.get("Model name", ""),
        variant=next((variant for flag, variant in _FLAGS if flag in flags), "stdlib"),
        amx=tuple(kind for kind in AMX if f"amx_{kind}" in flags and "amx_tile" in flags),
        clock=float(khz) * 1e3 if khz.isdigit() else None,
        cpus=cpus,
        numa=_numa(host, cpus),
        memory=_memory(host.files.get("/proc/meminfo", "")),
        load=float(load) if re.fullmatch(r"[0-9]+\.[0-9]+", load) else 0.0,
        gpus=tuple(_gpus(station)),
        ports=tuple(_ports(host.files)),
    )


def _listed(text: str) -> Iterator[int]:
    """Yield the numbers in a list in the kernel's format, such as `0-3,8`."""
    for part in re.findall(r"[0-9]+(?:-[0-9]+)?", text):
        first, _, last = part.partition("-")
        yield from range(int(first), min(int(last or first), int(first) + 4096) + 1)


def _numa(host: NodeCapture, cpus: tuple[int, ...]) -> Mapping[str, tuple[int, ...]]:
    lists = {path: text for path, text in host.files.items() if re.fullmatch(r".*/node/node[0-9]+/cpulist", path)}
    found = {path.split("/node")[-1].partition("/")[0]: tuple(_listed(text)) for path, text in sorted(lists.items())}
    return {node: mine for node, mine in found.items() if mine} or ({"0": cpus} if cpus else {})


def _memory(text: str) -> int:
    found = re.search(r"^MemTotal:\s*([0-9]{1,15}) kB$", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _ports(files: Mapping[str, str]) -> Iterator[SimPort]:
    found = {match.group(1, 2): path for path in sorted(files) if (match := _PORT.fullmatch(path))}
    devices = [device for device, _ in found]
    for (device, port), path in found.items():
        rate = _RATE.match(files.get(f"{path.removesuffix('/state')}/rate", ""))
        name = device if devices.count(device) == 1 else f"{device}/{port}"
        yield SimPort(name, files[path].startswith("4:"), float(rate[1]) * 1e9 / 8 if rate else None)


def _gpus(station: Station) -> Iterable[GpuParts]:
    try:
        _, _, values = edit.gpus(station)
    except UserError:
        return []
    driver = _value(values, "driver")
    return [_gpu(str(index), one, driver) for index, one in enumerate(values["gpus"])]


def _value(values: Mapping[str, Any], name: str) -> Any:
    found = values.get(name)
    return found.get("value") if isinstance(found, dict) else None


def _gpu(index: str, one: Mapping[str, Any], driver: object) -> GpuParts:
    def scaled(name: str, factor: float) -> float | None:
        value = _value(one, name)
        return value * factor if isinstance(value, int | float) else None

    links = [link for link in _value(one, "nvlinks") or () if _value(link, "state") == 1]
    speeds = [speed for link in links if isinstance(speed := _value(link, "speed"), int | float)]
    about = {
        "uuid": _value(one, "uuid"), "serial": _value(one, "serial"), "model": _value(one, "name"),
        "pci": edit.address(one) if _value(one, "pci") else None, "memory": _value(one, "memory"),
        "limit": scaled("power_enforced", 1e-3), "limit_default": scaled("power_default", 1e-3),
        "limit_max": scaled("power_max", 1e-3), "clock_max": scaled("sm_max", 1e6),
        "memory_clock_max": scaled("memory_max", 1e6), "link_gen_max": _value(one, "link_max_generation"),
        "link_width_max": _value(one, "link_max_width"), "nvlinks": len(links),
        "memory_limit": any(
            None not in (scaled(limit, 1.0), scaled(measured, 1.0)) for limit, measured in MEMORY_LIMITS
        ),
        "nvlink_rate": sum(speeds) * 1e6 if speeds else None, "driver": driver, **DESIGN.get(_value(one, "name"), {}),
    }  # fmt: skip
    temperature = scaled("temperature", 1.0) or 30.0
    margin, beyond = scaled("temperature_margin", 1.0), scaled("margin_slowdown", 1.0) or 0.0
    slowdown = scaled("temperature_slowdown", 1.0) or (None if margin is None else temperature + margin - beyond)
    return GpuParts(
        index, {name: value for name, value in about.items() if value is not None}, scaled("power_usage", 1e-3) or 70.0,
        scaled("clock_sm", 1e6) or 3e8, temperature, slowdown, _value(one, "link_width"),
    )  # fmt: skip
