"""The kernel's counters of each network interface."""

from rackcheck import Class, Facts, Files, Read, integer, probe, read, spell_key
from rackcheck.parse.host.network import net_class
from rackcheck_probes.network.interfaces import HARDWARE


@probe(
    Read(f"{HARDWARE}/mtu", *(f"{HARDWARE}/statistics/{name}" for name in net_class.COUNTERS), seconds=30, cap=4 << 20),
    gives={
        f"nic.interface/*.counter.{name}": integer(text, Class.COUNTER) for name, text in net_class.COUNTERS.items()
    },
)
def interface_counters(files: Files) -> Facts:
    """Read each interface's counters."""
    for name in net_class.names(files, f"{HARDWARE}/mtu"):
        for counter in net_class.COUNTERS:
            place = f"/sys/class/net/{name}/device/net/{name}/statistics/{counter}"
            yield f"nic.interface/{spell_key(name)}.counter.{counter}", files.read(place, read.whole)
