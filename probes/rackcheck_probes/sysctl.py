"""The kernel's tunables."""

import re

from rackcheck import Facts, Files, Read, integer, probe, setting, spell_key
from rackcheck.core import read
from rackcheck.core.catalogue import Kind, Type

FOLDER = "/proc/sys"
NEVER = (
    f"{FOLDER}/net/ipv4/tcp_fastopen_key",
    f"{FOLDER}/net/ipv6/conf/*/stable_secret",
    f"{FOLDER}/net/core/netdev_rss_key",
    f"{FOLDER}/kernel/random/*",
)
"""Keys and seeds: never read, whoever names them."""

KNOWN: dict[str, Kind] = {
    "sysctl.vm.swappiness": integer("How readily the kernel swaps: 0 to 200."),
    "sysctl.vm.overcommit_memory": integer("Memory overcommit: 0 by guess, 1 always, 2 never beyond the limit."),
    "sysctl.vm.zone_reclaim_mode": integer("Reclaim on the local NUMA node before going to another: 0 off."),
    "sysctl.vm.min_free_kbytes": integer("Memory that the kernel keeps free, in KiB."),
    "sysctl.vm.max_map_count": integer("Mappings that one process may have."),
    "sysctl.vm.dirty_ratio": integer("Share of memory, in percent, that may be dirty before writers must wait."),
    "sysctl.vm.dirty_background_ratio": integer("Share of memory, in percent, from which writing back begins."),
    "sysctl.vm.dirty_writeback_centisecs": integer("How often dirty pages are written, in hundredths of a second."),
    "sysctl.vm.stat_interval": integer("How often per-CPU memory statistics are folded, in seconds."),
    "sysctl.vm.nr_hugepages": integer("Huge pages of the default size that are set aside."),
    "sysctl.kernel.numa_balancing": integer("Automatic NUMA page migration: 0 off, 1 on, 2 memory tiering."),
    "sysctl.kernel.randomize_va_space": integer("Address space randomisation: 2 full, 0 off."),
    "sysctl.kernel.watchdog": integer("Soft and hard lockup detectors: 1 on."),
    "sysctl.kernel.nmi_watchdog": integer("The hard lockup detector, which holds one performance counter: 1 on."),
    "sysctl.kernel.hung_task_timeout_secs": integer("Seconds that a task may hang before the kernel says so; 0 never."),
    "sysctl.kernel.timer_migration": integer("Timers move to busy CPUs, so that idle ones sleep: 1 on."),
    "sysctl.kernel.panic": integer("Seconds from a panic to the reboot: 0 never, below 0 at once."),
    "sysctl.kernel.panic_on_oops": integer("Whether an oops is a panic: 1 yes."),
    "sysctl.kernel.pid_max": integer("The largest process id."),
    "sysctl.kernel/threads-max": integer("Threads that the whole system may have."),
    "sysctl.kernel.perf_event_paranoid": integer("Who may use performance counters: -1 all, 4 nobody but root."),
    "sysctl.kernel.sched_rt_runtime_us": integer("Microseconds a period that realtime tasks may run; -1 all."),
    "sysctl.fs/file-max": integer("Open files that the whole system may have."),
    "sysctl.fs.nr_open": integer("Open files that one process may be allowed."),
    "sysctl.fs.inotify.max_user_watches": integer("Watches on files that one user may have."),
    "sysctl.net.core.somaxconn": integer("The longest queue of connections waiting to be accepted."),
    "sysctl.net.core.rmem_max": integer("The largest receive buffer a program may ask for, in bytes."),
    "sysctl.net.core.wmem_max": integer("The largest send buffer a program may ask for, in bytes."),
    "sysctl.net.core.netdev_max_backlog": integer("Packets that one CPU may queue before it drops them."),
    "sysctl.net.core.busy_poll": integer("How long poll and select spin on a device, in microseconds; 0 not."),
    "sysctl.net.core.busy_read": integer("How long reads spin on a device, in microseconds; 0 not."),
    "sysctl.net.core.default_qdisc": setting("The packet scheduler that new interfaces get."),
    "sysctl.net.ipv4.tcp_congestion_control": setting("The congestion control that new connections get."),
    "sysctl.net.ipv4.tcp_rmem": setting("Receive buffer of a TCP socket: least, first and most bytes."),
    "sysctl.net.ipv4.tcp_wmem": setting("Send buffer of a TCP socket: least, first and most bytes."),
    "sysctl.net.ipv4.ip_local_port_range": setting("First and last port for outgoing connections."),
    "sysctl.net.ipv4.tcp_mtu_probing": integer("Search for the path's MTU: 0 off, 1 after a black hole, 2 always."),
    "sysctl.net.ipv4.tcp_timestamps": integer("TCP timestamps: 0 off, 1 on with a random offset, 2 without."),
    "sysctl.net.ipv4.tcp_sack": integer("Selective acknowledgements: 1 on."),
    "sysctl.net.ipv4.tcp_fastopen": integer("TCP fast open: bit 1 as a client, bit 2 as a server."),
    "sysctl.net.ipv4.neigh.default.gc_thresh1": integer("ARP entries that are never collected."),
    "sysctl.net.ipv4.neigh.default.gc_thresh2": integer("ARP entries above which old ones go after 5 seconds."),
    "sysctl.net.ipv4.neigh.default.gc_thresh3": integer("ARP entries that there may be; more lose neighbours."),
}  # fmt: skip


def place(path: str) -> str:
    """Give the file of one of the paths above."""
    return path.replace("sysctl.", f"{FOLDER}/").replace(".", "/")


def path_of(file: str) -> str:
    """Spell the fact of a file: what is no word is the key of the word before it."""
    spelt = "sysctl"
    for part in file.removeprefix(f"{FOLDER}/").split("/"):
        spelt += f".{part}" if re.fullmatch(r"[a-z][a-z0-9_]*", part) else f"/{spell_key(part)}"
    return spelt


def several(content: str) -> str:
    """Give one line with single blanks; an empty file is an empty setting."""
    return " ".join(read.line(content).split()) if content.strip() else ""


@probe(
    Read(*map(place, KNOWN), family=("sysctl", FOLDER), never=NEVER),
    gives={
        **KNOWN,
        "sysctl.**": setting("Any tunable by its dotted name; numbers in a row are parted by single blanks."),
    },
)
def sysctl(files: Files) -> Facts:
    """Read the tunables below /proc/sys; one that this kernel lacks is absent."""
    for path, kind in KNOWN.items():
        yield path, files.read(place(path), read.whole if kind.type is Type.INTEGER else several)
    named = {file for file in (*files.contents, *files.refused) if file.startswith(f"{FOLDER}/")}
    for file in sorted(named - set(map(place, KNOWN))):
        if not any(read.covers(glob, file) for glob in NEVER):
            yield path_of(file), files.read(file, several)
