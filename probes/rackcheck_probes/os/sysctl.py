"""The kernel's tunables."""

import re

from rackcheck import Facts, Files, Read, integer, probe, read, setting, spell_key
from rackcheck.model.catalogue import Kind, Type

FOLDER = "/proc/sys"
NEVER = (
    f"{FOLDER}/net/ipv4/tcp_fastopen_key",
    f"{FOLDER}/net/ipv6/conf/*/stable_secret",
    f"{FOLDER}/net/core/netdev_rss_key",
    f"{FOLDER}/kernel/random/*",
)
"""Files with secret keys and random seeds, which are never read, even if a profile names them."""

KNOWN: dict[str, Kind] = {
    "sysctl.vm.swappiness": integer("How readily the kernel swaps: 0 to 200."),
    "sysctl.vm.overcommit_memory": integer("Memory overcommit: 0 by guess, 1 always, 2 never beyond the limit."),
    "sysctl.vm.zone_reclaim_mode": integer(
        "Whether memory is reclaimed on the local NUMA node before another node is used; 0 means no."
    ),
    "sysctl.vm.min_free_kbytes": integer("Memory that the kernel keeps free, in KiB."),
    "sysctl.vm.max_map_count": integer("The maximum number of memory mappings of one process."),
    "sysctl.vm.dirty_ratio": integer("Share of memory, in percent, that may be dirty before writers must wait."),
    "sysctl.vm.dirty_background_ratio": integer(
        "Share of memory, in percent, that may be dirty before the kernel begins to write it back."
    ),
    "sysctl.vm.dirty_writeback_centisecs": integer("How often dirty pages are written, in hundredths of a second."),
    "sysctl.vm.stat_interval": integer("How often per-CPU memory statistics are merged, in seconds."),
    "sysctl.vm.nr_hugepages": integer("Huge pages of the default size that are reserved."),
    "sysctl.kernel.numa_balancing": integer("Automatic NUMA page migration: 0 off, 1 on, 2 memory tiering."),
    "sysctl.kernel.randomize_va_space": integer("Address space randomisation: 2 full, 0 off."),
    "sysctl.kernel.watchdog": integer("Soft and hard lockup detectors; 1 means on."),
    "sysctl.kernel.nmi_watchdog": integer("The hard lockup detector, which holds one performance counter; 1 means on."),
    "sysctl.kernel.hung_task_timeout_secs": integer("Seconds that a task may hang before the kernel logs it; 0 never."),
    "sysctl.kernel.timer_migration": integer("Whether timers move to busy CPUs, so that idle CPUs sleep; 1 means on."),
    "sysctl.kernel.panic": integer("Seconds from a panic to the reboot: 0 never, below 0 immediately."),
    "sysctl.kernel.panic_on_oops": integer("Whether an oops causes a panic; 1 means yes."),
    "sysctl.kernel.pid_max": integer("The largest process id."),
    "sysctl.kernel/threads-max": integer("Threads that the whole system may have."),
    "sysctl.kernel.perf_event_paranoid": integer("Who may use performance counters: -1 all, 4 only root."),
    "sysctl.kernel.sched_rt_runtime_us": integer(
        "Microseconds per period that realtime tasks may run; -1 means no limit."
    ),
    "sysctl.fs/file-max": integer("Open files that the whole system may have."),
    "sysctl.fs.nr_open": integer("The highest limit of open files that a process may be given."),
    "sysctl.fs.inotify.max_user_watches": integer("Watches on files that one user may have."),
    "sysctl.net.core.somaxconn": integer("The longest queue of connections waiting to be accepted."),
    "sysctl.net.core.rmem_max": integer("The largest receive buffer a program may request, in bytes."),
    "sysctl.net.core.wmem_max": integer("The largest send buffer a program may request, in bytes."),
    "sysctl.net.core.netdev_max_backlog": integer("Packets that one CPU may queue before it drops them."),
    "sysctl.net.core.busy_poll": integer("How long poll and select busy-wait on a device, in microseconds; 0 off."),
    "sysctl.net.core.busy_read": integer("How long reads busy-wait on a device, in microseconds; 0 off."),
    "sysctl.net.core.default_qdisc": setting("The packet scheduler that new interfaces get."),
    "sysctl.net.ipv4.tcp_congestion_control": setting("The congestion control that new connections get."),
    "sysctl.net.ipv4.tcp_rmem": setting("Receive buffer of a TCP socket: minimum, initial and maximum bytes."),
    "sysctl.net.ipv4.tcp_wmem": setting("Send buffer of a TCP socket: minimum, initial and maximum bytes."),
    "sysctl.net.ipv4.ip_local_port_range": setting("First and last port for outgoing connections."),
    "sysctl.net.ipv4.tcp_mtu_probing": integer("Probing for the path's MTU: 0 off, 1 after a black hole, 2 always."),
    "sysctl.net.ipv4.tcp_timestamps": integer("TCP timestamps: 0 off, 1 on with a random offset, 2 without."),
    "sysctl.net.ipv4.tcp_sack": integer("Selective acknowledgements; 1 means on."),
    "sysctl.net.ipv4.tcp_fastopen": integer("TCP fast open: 0 off, 1 as a client, 2 as a server, 3 as both."),
    "sysctl.net.ipv4.neigh.default.gc_thresh1": integer("Number of ARP entries up to which none are removed."),
    "sysctl.net.ipv4.neigh.default.gc_thresh2": integer(
        "Number of ARP entries above which old ones are removed after 5 seconds."
    ),
    "sysctl.net.ipv4.neigh.default.gc_thresh3": integer(
        "Maximum number of ARP entries; neighbours beyond this number are lost."
    ),
    "sysctl.vm.oom_kill_allocating_task": integer(
        "When memory runs out, whether the allocating task is killed instead of the largest; 1 means yes."
    ),
    "sysctl.vm.panic_on_oom": integer(
        "Whether running out of memory causes a panic; 0 means no, 1 yes, 2 in a cgroup too."
    ),
    "sysctl.vm.compaction_proactiveness": integer(
        "How eagerly memory is compacted in the background: 0 never, 100 always."
    ),
    "sysctl.vm.compact_unevictable_allowed": integer(
        "Whether compaction may move locked pages, which stalls their owner; 1 means yes."
    ),
    "sysctl.vm.extfrag_threshold": integer("How fragmented memory must be before it is compacted: 0 to 1000."),
    "sysctl.vm.watermark_scale_factor": integer("How early kswapd reclaims, in ten-thousandths of a node's memory."),
    "sysctl.vm.vfs_cache_pressure": integer(
        "How readily cached names and inodes are reclaimed, compared with pages; 100 means equally readily."
    ),
    "sysctl.vm.dirty_expire_centisecs": integer(
        "Age from which dirty pages must be written, in hundredths of a second."
    ),
    "sysctl.vm.overcommit_ratio": integer(
        "Share of memory, in percent, that programs may allocate when overcommit_memory is 2."
    ),
    "sysctl.vm.nr_overcommit_hugepages": integer("Huge pages that may be allocated beyond the reserved ones."),
    "sysctl.vm.memory_failure_recovery": integer(
        "Whether the kernel continues after a memory error that it can contain; 1 means yes."
    ),
    "sysctl.vm.memory_failure_early_kill": integer(
        "When processes that map a bad page are killed: 1 immediately, 0 when they access the page."
    ),
    "sysctl.kernel.hung_task_panic": integer("Whether a hung task causes a panic; 1 means yes."),
    "sysctl.kernel.softlockup_panic": integer("Whether a soft lockup causes a panic; 1 means yes."),
    "sysctl.kernel.hardlockup_panic": integer("Whether a hard lockup causes a panic; 1 means yes."),
    "sysctl.kernel.panic_on_warn": integer("Whether a kernel warning causes a panic; 1 means yes."),
    "sysctl.kernel.unknown_nmi_panic": integer("Whether an NMI of unknown cause causes a panic; 1 means yes."),
    "sysctl.kernel.panic_on_unrecovered_nmi": integer(
        "Whether an NMI for a memory or I/O error causes a panic; 1 means yes."
    ),
    "sysctl.kernel.watchdog_thresh": integer("Seconds after which the kernel detects a locked-up CPU; 0 never."),
    "sysctl.kernel.sysrq": integer("Which magic SysRq keys are enabled: 0 none, 1 all, else a mask."),
    "sysctl.kernel.sched_autogroup_enabled": integer(
        "Whether each session is one group to the scheduler; 1 means yes."
    ),
    "sysctl.kernel.shmmax": integer("The largest System V shared memory segment, in bytes."),
    "sysctl.kernel.shmall": integer("System V shared memory of the whole system, in pages."),
    "sysctl.kernel.dmesg_restrict": integer("Whether only root may read the kernel's log; 1 means yes."),
    "sysctl.kernel.kptr_restrict": integer("Who sees kernel addresses: 0 all, 1 the privileged, 2 none."),
    "sysctl.kernel.unprivileged_bpf_disabled": integer(
        "Whether only root may load BPF programs; 0 means no, 1 yes until reboot, 2 yes."
    ),
    "sysctl.kernel.kexec_load_disabled": integer("Whether another kernel can no longer be loaded; 1 means yes."),
    "sysctl.kernel.modules_disabled": integer("Whether modules can no longer be loaded; 1 means yes."),
    "sysctl.kernel.io_uring_disabled": integer("Who may use io_uring: 0 all, 1 a group, 2 none."),
    "sysctl.kernel.yama.ptrace_scope": integer(
        "Who may trace or read a process of the same user (MPI copies this way): 0 all, 1 only its parents."
    ),
    "sysctl.kernel.unprivileged_userns_clone": integer(
        "Whether users may make namespaces, as rootless containers do; 1 means yes."
    ),
    "sysctl.kernel.apparmor_restrict_unprivileged_userns": integer(
        "Whether AppArmor denies user namespaces to ordinary users; 1 means yes."
    ),
    "sysctl.user.max_user_namespaces": integer("User namespaces that a user may have; 0 forbids rootless containers."),
    "sysctl.crypto.fips_enabled": integer("Whether the kernel runs in FIPS mode; 1 means yes."),
    "sysctl.fs/aio-max-nr": integer("Asynchronous requests that the whole system may have."),
    "sysctl.fs.inotify.max_user_instances": integer("Inotify instances that one user may have."),
    "sysctl.fs.suid_dumpable": integer("Whether privileged programs dump core: 0 no, 2 for root only."),
    "sysctl.net.core.rmem_default": integer("The receive buffer, in bytes, of a socket that requests no size."),
    "sysctl.net.core.wmem_default": integer("The send buffer, in bytes, of a socket that requests no size."),
    "sysctl.net.core.optmem_max": integer("The largest ancillary buffer of a socket, in bytes."),
    "sysctl.net.core.netdev_budget": integer("Maximum number of packets in one round of polling."),
    "sysctl.net.core.netdev_budget_usecs": integer("Maximum duration of one round of polling, in microseconds."),
    "sysctl.net.core.rps_sock_flow_entries": integer("Flows that receive flow steering remembers; 0 off."),
    "sysctl.net.ipv4.tcp_mem": setting(
        "Pages for all TCP sockets: the lower and the upper threshold of memory pressure, and the maximum."
    ),
    "sysctl.net.ipv4.tcp_tw_reuse": integer(
        "Whether ports in TIME-WAIT are used again; 0 means no, 1 yes, 2 on loopback."
    ),
    "sysctl.net.ipv4.tcp_slow_start_after_idle": integer(
        "Whether a connection returns to slow start after a pause; 1 means yes."
    ),
    "sysctl.net.ipv4.tcp_window_scaling": integer("Windows beyond 64 KiB; 1 means on."),
    "sysctl.net.ipv4.tcp_moderate_rcvbuf": integer("Whether receive buffers grow by themselves; 1 means yes."),
    "sysctl.net.ipv4.tcp_no_metrics_save": integer(
        "Whether a route's metrics are discarded when a connection ends; 1 means yes."
    ),
    "sysctl.net.ipv4.tcp_ecn": integer(
        "Explicit congestion notification: 0 off, 1 on, 2 if the other end requests it."
    ),
    "sysctl.net.ipv4.tcp_syncookies": integer("SYN cookies: 0 off, 1 when the queue is full, 2 always."),
    "sysctl.net.ipv4.tcp_max_syn_backlog": integer("Connections that may be half open."),
    "sysctl.net.ipv4.tcp_fin_timeout": integer("Seconds that an orphaned connection stays in FIN-WAIT-2."),
    "sysctl.net.ipv4.tcp_keepalive_time": integer("Seconds of silence after which a connection is probed."),
    "sysctl.net.ipv4.tcp_retries2": integer("Retries before an established connection is dropped."),
    "sysctl.net.ipv4.ip_forward": integer("Whether packets are forwarded between interfaces; 1 means yes."),
    "sysctl.net.ipv4.conf.all.rp_filter": integer(
        "Minimum check of a packet's source on every interface: 0 none, 1 strict, 2 loose."
    ),
    "sysctl.net.ipv4.conf.all.arp_ignore": integer(
        "Minimum restriction of ARP replies on every interface: 0 for any address."
    ),
    "sysctl.net.ipv4.conf.all.arp_announce": integer(
        "Minimum restriction of ARP source addresses on every interface: 0 for any address."
    ),
    "sysctl.net.ipv4.conf.default.rp_filter": integer(
        "Check of a packet's source on new interfaces: 0 none, 1 strict, 2 loose."
    ),
    "sysctl.net.ipv4.conf.default.arp_ignore": integer(
        "Restriction of ARP replies on new interfaces: 1 own addresses only."
    ),
    "sysctl.net.ipv4.conf.default.arp_announce": integer(
        "Restriction of ARP source addresses on new interfaces: 2 for the best local address."
    ),
    "sysctl.net.ipv6.conf.all.disable_ipv6": integer("Whether IPv6 is off on every interface; 1 means yes."),
    "sysctl.net.bridge/bridge-nf-call-iptables": integer(
        "Whether bridged packets pass iptables, as Kubernetes needs; 1 means yes."
    ),
    "sysctl.net.netfilter.nf_conntrack_max": integer(
        "Connections that the firewall may track; further connections are dropped."
    ),
    "sysctl.sunrpc.tcp_slot_table_entries": integer("NFS requests that may be in flight on a new connection."),
    "sysctl.sunrpc.tcp_max_slot_table_entries": integer("Maximum number of NFS requests in flight on a connection."),
    "sysctl.kernel.core_pattern": setting("Where core dumps go; a leading bar pipes them to a program."),
}


def place(path: str) -> str:
    """Return the file of a tunable below /proc/sys."""
    return path.replace("sysctl.", f"{FOLDER}/").replace(".", "/")


def path_of(file: str) -> str:
    """Return the fact path of a file; a segment with other characters than `a-z`, `0-9`, `_` becomes an item's key."""
    spelt = "sysctl"
    for part in file.removeprefix(f"{FOLDER}/").split("/"):
        spelt += f".{part}" if re.fullmatch(r"[a-z][a-z0-9_]*", part) else f"/{spell_key(part)}"
    return spelt


def several(content: str) -> str:
    """Return the only line of a file, with single blanks between its words; an empty text if the file is empty."""
    return " ".join(read.line(content).split()) if content.strip() else ""


@probe(
    Read(*map(place, KNOWN), family=("sysctl", FOLDER), never=NEVER),
    gives={
        **KNOWN,
        "sysctl.**": setting("Any tunable by its dotted name; several numbers are separated by single blanks."),
    },
)
def sysctl(files: Files) -> Facts:
    """Read the tunables below /proc/sys; a tunable that this kernel lacks is absent."""
    for path, kind in KNOWN.items():
        yield path, files.read(place(path), read.whole if kind.type is Type.INTEGER else several)
    named = {file for file in (*files.contents, *files.refused) if file.startswith(f"{FOLDER}/")}
    for file in sorted(named - set(map(place, KNOWN))):
        if not any(read.covers(glob, file) for glob in NEVER):
            yield path_of(file), files.read(file, several)
