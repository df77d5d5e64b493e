"""Cost of reading a kernel's log: every probe of dmesg over four logs, compared with one plain pass over their lines.

    python benchmarks/kernel_log.py

The logs are a quiet log of 10,000 lines, a quiet log of 8 MiB, a log of 8 MiB in which every line is an Xid, and a log
of 8 MiB in which every line contains what many probes search for, but matches none of their patterns.
"""

import time
from collections.abc import Callable
from importlib import import_module

import rackcheck_probes
from rackcheck.model.fact import Unreadable
from rackcheck.model.question import Shell
from rackcheck.probe.contract import Probe
from rackcheck.probe.registry import modules
from rackcheck_probes.kernel_log.kernel_log import DMESG

SIZE = 8 << 20
BOOT = "[    0.000000] Linux version 5.15.0-1053-nvidia (buildd@lcy02) (gcc 11.4.0) #54-Ubuntu SMP\n"
QUIET = "[ 1370.857992] IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready on port {n}\n"
XID = "[ 1370.857992] NVRM: Xid (PCI:0000:{n:02x}:00): 31, pid=7, name=job, Ch 00000008, MMU Fault: ENGINE GRAPHICS\n"
HOSTILE = (
    "[ 1370.857992] usb 1-{n}: Product: NVRM: Xid ( : SXid ( error, dev segfault at in libnccl in libc Link Down ink "
    "fallen off the bus GSP Port module event[error] ACCESS_REG( mlx5_core CE UE BUG: WARNING: timeout, stall\n"
)


def filled(row: str, size: int) -> str:
    """Return a log of this many bytes."""
    rows = [row.format(n=n % 256) for n in range(256)]
    block = "".join(rows)
    return BOOT + block * (size // len(block))


def seconds(work: Callable[[], object]) -> float:
    """Return the best time of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def read_all(probes: list[Probe[Shell]], log: str) -> None:
    """Run every parser."""
    for probe in probes:
        try:
            for _ in probe.parse(log):  # type: ignore[arg-type]  a probe of dmesg
                pass
        except Unreadable:
            pass


def main() -> None:
    """Print the cost of each log, in seconds and in plain passes."""
    loaded = map(import_module, modules(rackcheck_probes.__name__, rackcheck_probes.__path__))
    found = {p.name: p for m in loaded for p in vars(m).values() if isinstance(p, Probe) and p.ask == DMESG}
    probes = list(found.values())
    print(f"{len(probes)} probes")
    for name, log in {
        "quiet, 10,000 lines": filled(QUIET, 10_000 * len(QUIET)),
        "quiet, 8 MiB": filled(QUIET, SIZE),
        "only Xids, 8 MiB": filled(XID, SIZE),
        "hostile, 8 MiB": filled(HOSTILE, SIZE),
    }.items():
        plain = seconds(lambda log=log: [row for row in log.split("\n") if "NVRM: Xid" in row])  # type: ignore[misc]
        ours = seconds(lambda log=log: read_all(probes, log))  # type: ignore[misc]
        print(f"{name:22} {log.count(chr(10)):7} lines  {ours:6.3f} s  = {ours / plain:5.1f} passes of {plain:.3f} s")


if __name__ == "__main__":
    main()
