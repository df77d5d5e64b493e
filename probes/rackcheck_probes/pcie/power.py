"""Runtime power management of PCI functions: whether they may sleep, and their power state now."""

from rackcheck import Class, Facts, Files, Read, flag, probe, read, spell_key, text

DEVICES = "/sys/bus/pci/devices"
NAMES = ("power/control", "power/runtime_status", "power_state", "d3cold_allowed")


@probe(
    Read(*(f"{DEVICES}/*/{name}" for name in (*NAMES, "class")), seconds=30, cap=8 << 20),
    gives={
        "pcie/*.power.control": text(
            "on: the kernel keeps the function awake; auto: the function may sleep.", words=("on", "auto")
        ),
        "pcie/*.power.runtime": text("The runtime power state: active, suspended, unsupported.", Class.MEASUREMENT),
        "pcie/*.power.state": text("The power state now: D0 awake, D3hot or D3cold asleep.", Class.MEASUREMENT),
        "pcie/*.power.d3cold_allowed": flag("Whether the kernel may switch the function's power off completely."),
    },
)
def pcie_power(files: Files) -> Facts:
    """Read each PCI function's power settings and power state."""
    for (address,) in files.found(f"{DEVICES}/*/class"):
        item, folder = f"pcie/{spell_key(address)}.power", f"{DEVICES}/{address}"
        yield f"{item}.control", files.read(f"{folder}/power/control")
        yield f"{item}.runtime", files.read(f"{folder}/power/runtime_status")
        yield f"{item}.state", files.read(f"{folder}/power_state")
        yield f"{item}.d3cold_allowed", files.read(f"{folder}/d3cold_allowed", read.bit)
