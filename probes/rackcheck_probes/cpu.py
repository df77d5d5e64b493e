"""Which CPUs there are."""

from rackcheck import Absent, Class, Facts, Reason, Shell, Unknown, Unreadable, integer, probe, text
from rackcheck.core import read

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
        "cpu.vendor": text("Who made the CPU: GenuineIntel, AuthenticAMD, ARM.", Class.IDENTITY),
        "cpu.threads": integer("Logical CPUs, those that are offline too."),
        "cpu.sockets": integer("CPU sockets in use."),
        "cpu.cores_per_socket": integer("Cores of one socket."),
        "cpu.threads_per_core": integer("Threads of one core: 1 with SMT off."),
        "cpu.cores": integer("Cores of all sockets."),
        "cpu.hypervisor": text("Whose virtual machine this is; absent on bare metal.", Class.IDENTITY),
        "numa.nodes": integer("NUMA nodes that the OS sees."),
    },
)
def cpu(answer: str) -> Facts:
    """Read lscpu's table of either age, flat or indented; a cut one is unreadable."""
    table = read.key_values("\n".join(read.rows(answer)))
    if "CPU(s)" not in table or not any(key.startswith(("NUMA node0", "L1d")) for key in table):
        raise Unreadable("not the whole of lscpu: no CPU(s), or the answer ends before the caches")
    for path, key in TEXTS.items():
        if table.get(key, "-") != "-":
            yield path, table[key]
    for path, key in COUNTS.items():
        if key in table:
            told = table[key]
            yield path, Unknown(Reason.NOT_COLLECTED, f"lscpu: {key}: -") if told == "-" else read.whole(told)
    if "-" not in (sockets := table.get("Socket(s)", "-"), cores := table.get("Core(s) per socket", "-")):
        yield "cpu.cores", read.whole(sockets) * read.whole(cores)
    yield "cpu.hypervisor", table.get("Hypervisor vendor") or Absent("lscpu names no hypervisor")
