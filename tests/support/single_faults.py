"""Single faults of a DGX H100, each on one of four nodes, with the first line that a user must read."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from damaged import Answers, clean, loaded
from sim_replies import captures_of, node

from rackcheck.evaluate.verdict import Outcome
from rackcheck.run.event import Event, FactsRead, Judged, RunDone, RunStarted
from rackcheck.sim import faults
from rackcheck.sim.behaviour import Station
from rackcheck.views.summary import Summary, summarize

TIME = "2026-11-21T08:00:00Z"
NODES = ("dgx01", "dgx02", "dgx03", "dgx04")
BAD = "dgx03"
"""The node with the fault."""


def simulated(kind: str, **words: str) -> Answers:
    """The answers of a machine with a fault of the simulator."""
    return Answers(*captures_of(faults.lay(Station("n01", 1, node()), kind, words).machine))


def state(**words: str) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["Status"].update(words) if "Status" in body else None


def inactive(text: str) -> str:
    """The first NVLink of the driver's first GPU is down."""
    return text.replace('"state": {"value": 1}', '"state": {"value": 0}', 1)


def narrow(text: str) -> str:
    return re.sub(r"(?ms)^(0000:9a:00\.0 .*?)MaxPayload 256 bytes", r"\1MaxPayload 128 bytes", text, count=1)


BIOS = "/redfish/v1/Systems/DGX/Bios"
FANS, PSUS = ".*/ThermalSubsystem/Fans/", ".*/PowerSubsystem/PowerSupplies/"
GPU_BOARD = "/redfish/v1/Systems/HGX_Baseboard_0"

FAULTS: dict[str, tuple[Callable[[], Answers], str]] = {
    "a GPU is missing": (
        lambda: simulated("gpu-missing", gpu="5"),
        "dgx03: GPU module-3 (slot SXM6, PCI 0000:c3:00.0, serial 1650001000006) is missing",
    ),
    "a GPU trained half of its lanes": (
        lambda: simulated("gpu-width", gpu="2"),
        "dgx03: GPU module-6 (slot SXM3, PCI 0000:52:00.0, serial 1650001000003)",
    ),
    "a port is down": (
        lambda: simulated("nic-down", nic="mlx5_4"),
        "dgx03: NIC mlx5_4 (PCI 0000:4f:00.0, serial MT2319X10013)",
    ),
    "turbo is off": (
        lambda: simulated("bios-setting", attribute="TurboMode", value="Disable"),
        "bios.turbo Turbo is enabled in the BIOS (major)  1 of 4: dgx03",
    ),
    "a NIC is missing": (
        lambda: simulated("nic-missing", nic="mlx5_0"),
        "dgx03: NIC mlx5_0 (PCI 0000:18:00.0) is missing",
    ),
    "a drive is missing": (
        lambda: simulated("drive-missing", drive="nvme4"),
        "dgx03: drive nvme4 (PCI 0000:2e:00.0) is missing",
    ),
    "a GPU has fallen off the bus": (
        lambda: simulated("xid", gpu="2"),
        "dgx03: GPU module-6 (slot SXM3, PCI 0000:52:00.0, serial 1650001000003)",
    ),
    "a memory module is disabled": (
        lambda: clean().bodies("/redfish/v1/Systems/DGX/Memory/DevType2_DIMM4", state(State="Disabled")),
        "dgx03: DIMM CPU0_DIMM_C1 (serial 4A000104)",
    ),
    "a power supply is critical": (
        lambda: clean().bodies(
            f"{PSUS}PSU3", lambda body: body.update(Status={"Health": "Critical", "State": "Enabled"})
        ),
        "dgx03: power supply PSU3 (serial DTHTCT23070013)",
    ),
    "a fan is offline": (
        lambda: clean().bodies(f"{FANS}SPD_FAN_SYS7_R", state(State="UnavailableOffline")),
        "dgx03: fan SPD_FAN_SYS7_R",
    ),
    "a GPU is critical": (
        lambda: clean().bodies(f"{GPU_BOARD}/Processors/GPU_SXM_4", state(Health="Critical")),
        "dgx03: GPU module-8 (slot SXM4, PCI 0000:61:00.0, serial 1650001000004)",
    ),
    "a row of a GPU's memory could not be remapped": (
        lambda: clean().bodies(
            f"{GPU_BOARD}/Memory/GPU_SXM_3_DRAM_0",
            lambda body: body["Oem"]["Nvidia"].update(RowRemappingFailed=True),
        ),
        "dgx03: GPU module-6 (slot SXM3, PCI 0000:52:00.0, serial 1650001000003)",
    ),
    "a GPU's memory clock is lowered": (
        lambda: clean().command(
            "0x10de0x03", lambda t: t.replace('"clock_memory": {"value": 2619}', '"clock_memory": {"value": 1593}', 1)
        ),
        "dgx03: GPU module-7 (slot SXM1, PCI 0000:1b:00.0, serial 1650001000001)",
    ),
    "an NVLink is down": (
        lambda: clean().command("0x10de0x03", inactive),
        "dgx03: GPU module-7 (slot SXM1, PCI 0000:1b:00.0, serial 1650001000001)",
    ),
    "a NIC has a fatal PCIe error": (
        lambda: clean().log(
            "pcieport 0000:15:01.0: AER: Uncorrectable (Fatal) error message received from 0000:18:00.0",
            "mlx5_core 0000:18:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer, (Receiver ID)",
        ),
        "dgx03: NIC mlx5_0 (PCI 0000:18:00.0, serial MT2319X10011)",
    ),
    "a NIC has smaller packets than its siblings": (
        lambda: clean().command("lspci -D", narrow),
        "dgx03: NIC mlx5_6 (PCI 0000:9a:00.0, serial MT2319X10015)",
    ),
    "a drive has half of its lanes": (
        lambda: clean().files("/sys/bus/pci/devices/0000:2d:00.0/current_link_width", "2\n"),
        "dgx03: drive nvme3 (PCI 0000:2d:00.0, serial S794NC0W00103)",
    ),
    "a drive does not answer": (
        lambda: clean().log("nvme nvme2: I/O 5 QID 7 timeout, aborting"),
        "dgx03: drive nvme2 (PCI 0000:2c:00.0, serial S794NC0W00102)",
    ),
}
"""The faults: the answers of the node, and the first line after the sign and the verdict."""


def events(answers: Answers) -> Iterator[Event]:
    """The events of a run of three clean nodes and one with these answers."""
    yield RunStarted("run", TIME, "0", "h100-dgx", "1", "", NODES, ("bmc", "os"), "all", loaded("h100-dgx").law)
    for name in NODES:
        mine = answers if name == BAD else clean()
        yield FactsRead(name, mine.tree())
        yield Judged(name, "compute", Outcome.FAIL, tuple(mine.verdicts()))
    yield RunDone(TIME, Outcome.FAIL)


def summary(answers: Answers) -> Summary:
    return summarize(events(answers), loaded("h100-dgx"))
