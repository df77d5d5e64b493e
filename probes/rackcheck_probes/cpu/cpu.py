"""The CPUs of the node."""

from rackcheck import Absent, Class, Facts, Shell, integer, probe, text
from rackcheck.parse.host.cpu import lscpu

TEXTS = {"cpu.model": "Model name", "cpu.vendor": "Vendor ID"}
COUNTS = {
    "cpu.threads": "CPU(s)",
    "cpu.sockets": "Socket(s)",
    "cpu.cores_per_socket": "Core(s) per socket",
    "cpu.threads_per_core": "Thread(s) per core",
    "numa.nodes": "NUMA node(s)",
}


@probe(
    Shell("lscpu", quick=True),
    gives={
        "cpu.model": text("The CPU's model name.", Class.IDENTITY),
        "cpu.vendor": text("The CPU's vendor: GenuineIntel, AuthenticAMD, ARM.", Class.IDENTITY),
        "cpu.threads": integer("Logical CPUs, including offline ones."),
        "cpu.sockets": integer("CPU sockets in use."),
        "cpu.cores_per_socket": integer("Cores of one socket."),
        "cpu.threads_per_core": integer("Threads of one core: 1 with SMT off."),
        "cpu.cores": integer("Cores of all sockets."),
        "cpu.hypervisor": text("The hypervisor's vendor; absent on bare metal.", Class.IDENTITY),
        "numa.nodes": integer("NUMA nodes that the OS sees."),
    },
)
def cpu(answer: str) -> Facts:
    """Read lscpu's table in its old (flat) or new (indented) form; a truncated table is unreadable."""
    values = lscpu.table(answer)
    for path, key in TEXTS.items():
        if values.get(key, "-") != "-":
            yield path, values[key]
    for path, key in COUNTS.items():
        if (number := lscpu.count(values, key)) is not None:
            yield path, number
    if (cores := lscpu.cores(values)) is not None:
        yield "cpu.cores", cores
    yield "cpu.hypervisor", values.get("Hypervisor vendor") or Absent("lscpu reports no hypervisor")
