"""What the probes of limits, services, containers, the scheduler and processes read in public recordings."""

import math
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from recordings import answering, facts, holding, os_probes, shared, shared_text
from waiting import until

from rackcheck.model.fact import Absent, Class, Reading, Reason, Unknown, Unreadable
from rackcheck.model.question import Shell
from rackcheck.parse.host.cpu.irq_vectors import ranges, within

PROBES = os_probes()
OURS = (
    "boot",
    "boots",
    "cdi",
    "cgroup",
    "cloud_init",
    "conntrack",
    "container_tools",
    "containerd_config",
    "crash_dumps",
    "crash_kernel",
    "dkms",
    "docker_config",
    "docker_info",
    "environment",
    "interface_arp",
    "irq",
    "kernel_faults",
    "kernels",
    "limits_configured",
    "lsm",
    "module_files",
    "nvidia_container",
    "open_files",
    "packages",
    "processes",
    "pstore",
    "reboot_required",
    "resolver",
    "secure_boot",
    "service_limits",
    "slurm",
    "slurm_node",
    "slurm_ping",
    "stuck",
    "systemd",
    "systemd_conf",
    "threads",
    "timers",
    "tuned",
    "unattended",
)
SHELLS = [name for name in OURS if isinstance(PROBES[name].ask, Shell)]
END = "-- end --\n"


def command(name: str) -> str:
    ask = PROBES[name].ask
    assert isinstance(ask, Shell)
    return ask.command


def readings_of(name: str, text: str) -> dict[str, Reading]:
    """The facts of a probe whose command printed this text."""
    return facts(PROBES[name], answering(PROBES[name], text))


def held(name: str, **files: str) -> dict[str, Reading]:
    """The facts of a probe on a node with these files, and no others."""
    return facts(PROBES[name], holding(PROBES[name], files))


def ran(script: str, shell: str = "sh") -> str:
    done = subprocess.run([*shell.split(), "-c", script], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


def shell_or_skip(shell: str) -> str:
    if shutil.which(shell.partition(" ")[0]) is None:
        pytest.skip(f"no {shell} here")
    return shell


# Every command


@pytest.mark.parametrize("name", SHELLS)
@pytest.mark.parametrize("shell", ["dash", "bash --posix", "busybox sh"])
def test_a_command_is_one_that_every_shell_can_read(name: str, shell: str) -> None:
    subprocess.run([*shell_or_skip(shell).split(), "-n", "-c", command(name)], check=True)


@pytest.mark.parametrize("name", SHELLS)
def test_a_command_that_is_missing_leaves_every_fact_unknown(name: str) -> None:
    given = facts(PROBES[name], answering(PROBES[name], "", 127, "sh: 1: it: not found\n"))
    assert given
    assert {r.reason for r in given.values() if isinstance(r, Unknown)} == {Reason.TOOL_MISSING}
    assert all(isinstance(reading, Unknown) for reading in given.values())


@pytest.mark.parametrize("name", SHELLS)
def test_a_command_without_output_gives_no_facts(name: str) -> None:
    assert all(isinstance(reading, Unknown) for reading in readings_of(name, "").values())


def test_what_moves_by_itself_is_called_a_counter_or_a_measurement() -> None:
    moving = [
        (name, pattern)
        for name in ("boot", "boots", "processes", "stuck", "threads", "open_files", "conntrack", "kernel_faults")
        for pattern, kind in PROBES[name].gives.items()
        if kind.cls not in {Class.COUNTER, Class.MEASUREMENT}
    ]
    assert moving == [("boot", "os.nologin")]


# Tunables and limits


def test_sysctls_of_a_recorded_machine_are_read_value_for_value() -> None:
    lines = dict(row.split(" = ", 1) for row in shared_text("os/sysctl-a-ubuntu1804.txt").splitlines() if " = " in row)
    names = {"vm.extfrag_threshold": 500, "vm.compact_unevictable_allowed": 1, "kernel.panic_on_oops": 0,
             "net.ipv4.conf.all.rp_filter": 1, "net.ipv4.conf.default.rp_filter": 1,
             "net.ipv4.tcp_mem": "22113 29485 44226"}  # fmt: skip
    files = {f"/proc/sys/{name.replace('.', '/')}": f"{lines[name]}\n" for name in names}
    given = facts(PROBES["sysctl"], holding(PROBES["sysctl"], files))
    assert {name: given[f"sysctl.{name}"] for name in names} == names
    # Its kernel, 4.15, had no background compaction.
    assert isinstance(given["sysctl.vm.compaction_proactiveness"], Absent)


def test_the_limits_of_a_recorded_limits_conf_are_those_of_everybody() -> None:
    given = held("limits_configured", **{"/etc/security/limits.conf": shared_text("os/limits-good.conf")})
    for side in ("soft", "hard"):
        assert given[f"limits.configured.memlock.{side}"] == math.inf
        assert given[f"limits.configured.nofile.{side}"] == 65535
        assert given[f"limits.configured.stack.{side}"] == math.inf
        # Its lines for @student are comments, and for a group anyway.
        assert isinstance(given[f"limits.configured.nproc.{side}"], Absent)


def test_a_limit_that_is_none_leaves_its_own_fact_unknown_and_no_other() -> None:
    given = held("limits_configured", **{"/etc/security/limits.conf": "* soft nofile 64k\n* - memlock unlimited\n"})
    bad = given["limits.configured.nofile.soft"]
    assert isinstance(bad, Unknown)
    assert (bad.reason, bad.detail) == (Reason.UNPARSABLE, "not a limit: '64k'")
    assert given["limits.configured.memlock.soft"] == given["limits.configured.memlock.hard"] == math.inf
    assert isinstance(given["limits.configured.nofile.hard"], Absent)


def test_a_later_file_of_limits_wins_and_one_that_may_not_be_read_leaves_all_unknown() -> None:
    later = "/etc/security/limits.d/99-site.conf"
    files = {"/etc/security/limits.conf": "* hard memlock unlimited\n* - nofile 1024\n", later: "* soft nofile 4096\n"}
    given = held("limits_configured", **files)
    assert given["limits.configured.memlock.hard"] == math.inf
    assert (given["limits.configured.nofile.soft"], given["limits.configured.nofile.hard"]) == (4096, 1024)
    probe = PROBES["limits_configured"]
    refused = {later: Unknown(Reason.DENIED, "Permission denied")}
    denied = facts(probe, holding(probe, {"/etc/security/limits.conf": "* - memlock unlimited\n"}, refused))
    assert all(isinstance(r, Unknown) and r.reason is Reason.DENIED for r in denied.values())


def test_open_files_are_counted_as_on_the_recorded_machine() -> None:
    given = held("open_files", **{"/proc/sys/fs/file-nr": shared_text("os/file-nr-gpud.txt")})
    assert given == {"os.files.open": 1002592, "os.files.use": pytest.approx(100.2592)}


def test_threads_are_a_share_of_the_smaller_limit() -> None:
    files = {"/proc/loadavg": "0.1 0.2 0.3 1/500 77\n", "/proc/sys/kernel/pid_max": "32768\n"}
    given = held("threads", **files, **{"/proc/sys/kernel/threads-max": "1000\n"})
    assert given == {"os.threads.use": 50.0}
    assert isinstance(held("threads", **files)["os.threads.use"], Unknown)


def test_an_interface_is_held_to_the_larger_of_its_own_and_of_alls_setting() -> None:
    conf = "/proc/sys/net/ipv4/conf"
    files = {f"{conf}/{where}/{leaf}": f"{value}\n" for where, leaf, value in (
        ("all", "rp_filter", 2), ("eth0", "rp_filter", 0), ("all", "arp_ignore", 0), ("eth0", "arp_ignore", 1),
        ("all", "arp_announce", 0), ("docker0", "rp_filter", 1))}  # fmt: skip
    given = held("interface_arp", **files, **{"/sys/class/net/eth0/device/net/eth0/mtu": "9000\n"})
    assert given["nic.interface/eth0.rp_filter"] == 2
    assert given["nic.interface/eth0.arp_ignore"] == 1
    assert isinstance(given["nic.interface/eth0.arp_announce"], Absent)
    assert not [path for path in given if "docker0" in path]


def test_a_drop_in_of_etc_hides_its_namesake_and_the_last_word_counts() -> None:
    given = held(
        "systemd_conf",
        **{
            "/etc/systemd/system.conf": "[Manager]\n#NUMAPolicy=default\nNUMAMask=0-7\n",
            "/usr/lib/systemd/system.conf.d/10-a.conf": "[Manager]\nNUMAPolicy=interleave\n",
            "/etc/systemd/system.conf.d/10-a.conf": "[Manager]\nNUMAPolicy=bind\n",
            "/run/systemd/system.conf.d/20-b.conf": "[Manager]\nNUMAMask=0-1\n",
        },
    )
    assert (given["os.systemd.numa_policy"], given["os.systemd.numa_mask"]) == ("bind", "0-1")
    assert isinstance(given["os.systemd.cpu_affinity"], Absent)


@pytest.mark.parametrize("content", ["", "\n"])
def test_a_tuned_set_to_do_nothing_has_no_profile(content: str) -> None:
    assert isinstance(held("tuned", **{"/etc/tuned/active_profile": content})["os.tuned.profile"], Absent)


# Services


def test_a_unit_of_a_real_systemctl_show_lacks_what_that_systemd_does_not_print() -> None:
    tuned = shared_text("services/systemctl-show.txt").partition("\nId=tuned.service")[2]
    given = readings_of("service_limits", f"Id=tuned.service{tuned.partition('ABC=')[0].rstrip()}\n\n{END}")
    assert {path: type(reading) for path, reading in given.items()} == {
        "service/tuned.restarts": Absent,
        "service/tuned.limits.memlock": Absent,
        "service/tuned.limits.nofile": Absent,
    }


def test_a_services_limit_is_in_kib_and_infinity_has_two_spellings() -> None:
    units = "".join(
        f"Id={name}.service\nLoadState=loaded\nActiveState=active\nNRestarts=7\nLimitNOFILE=1024\nLimitMEMLOCK={limit}\n\n"
        for name, limit in (("a", "65536"), ("b", "infinity"), ("c", "18446744073709551615"))
    )
    given = readings_of("service_limits", f"{units}\n{END}")
    assert [given[f"service/{name}.limits.memlock"] for name in "abc"] == [64, math.inf, math.inf]
    assert given["service/a.restarts"] == 7


def centos(pattern: str) -> list[str]:
    return re.findall(pattern, shared_text("services/systemctl-centos77.txt"), re.MULTILINE)


def test_timers_of_a_recorded_machine_are_read_from_both_lists() -> None:
    files = re.findall(r"^\S+\.timer +\S+ *$", shared_text("services/systemctl-list-unit-files-centos77.txt"), re.M)
    rows = centos(r"^..(\S+\.timer +.*)$")
    given = readings_of("timers", "".join(f"{row}\n" for row in (*rows, "-- unit files --", *files)) + END)
    names = ("docker-cleanup", "fstrim", "systemd-readahead-done", "systemd-tmpfiles-clean")
    assert given["os.timer"] == names
    assert [given[f"os.timer/{name}.active"] for name in names] == ["active", "inactive", "inactive", "active"]
    assert [given[f"os.timer/{name}.enabled"] for name in names] == ["disabled", "disabled", "indirect", "static"]


@pytest.mark.parametrize("mark", ["", "* ", "● "])
def test_a_failed_unit_is_named_whatever_mark_stands_before_it(mark: str) -> None:
    row = f"{mark}xrdp.service loaded failed failed xrdp daemon\n"
    text = f"Version=219\nSystemState=degraded\n-- target --\nmulti-user.target\n-- failed --\n{row}{END}"
    given = readings_of("systemd", text)
    assert given["os.systemd.failed"] == ("xrdp.service",)
    assert given["os.systemd.state"] == "degraded"
    assert isinstance(given["os.systemd.limits.memlock"], Absent)


def test_every_state_of_a_process_counts_and_the_hanging_are_named() -> None:
    given = readings_of(
        "processes",
        f"hangs nvidia-smi\nhangs nvidia-smi\nhangs a (b) state D 9\nstate S 5 24\nstate D 3 70000\nstate Z 2 80001\n"
        f"up 1000\n{END}",
    )
    assert given == {
        "os.processes.count": 10,
        "os.processes.zombies": 2,
        "os.processes.uninterruptible": 3,
        "os.processes.uninterruptible_names": ("a (b) state D 9", "nvidia-smi"),
        "os.processes.uninterruptible_oldest": 300.0,
        "os.processes.zombies_oldest": 199.99,
    }


def test_a_process_that_began_within_this_second_is_not_older_than_the_node() -> None:
    given = readings_of("processes", f"state R 1 100050\nstate D 1 100050\nup 1000\n{END}")
    assert given["os.processes.uninterruptible_oldest"] == 0


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_a_name_with_brackets_hides_neither_its_process_state_nor_its_start(shell: str, tmp_path: Path) -> None:
    # As the kernel prints them; the names are hostile.
    numbers = " ".join(["-1"] * 18)
    rows = [f"7 (x) D 1 (y) D {numbers} 500 0", f"8 (a) S {numbers} 400 0", f"9 (z) Z 1 2) Z {numbers} 300 0"]
    for number, row in enumerate(rows):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "stat").write_text(f"{row}\n")
    here = command("processes").replace("/proc/[0-9]*/stat", f"{tmp_path}/[0-9]*/stat")
    items = ran(here, shell_or_skip(shell)).splitlines()
    assert sorted(items[:-2]) == ["hangs x) D 1 (y", "state D 1 500", "state S 1 400", "state Z 1 300"]


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_this_machines_processes_are_counted_by_every_shell(shell: str) -> None:
    count = readings_of("processes", ran(command("processes"), shell_or_skip(shell)))["os.processes.count"]
    assert isinstance(count, int)
    assert count > 1


WAITS = """
import ctypes, os
os.setpgid(0, 0)
print(os.getpid(), flush=True)
libc = ctypes.CDLL(None)
libc.syscall(58) or libc.sleep(60)
libc._exit(0)
"""
"""A process that waits in state D for its child (vfork(2), x86-64), as one waits for a device."""


def stuck_command() -> str:
    """The probe's command with a second in place of its longest pause."""
    return command("stuck").replace("for t in 1 20", "for t in 1 1")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of vfork is that of x86-64")
@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
def test_a_process_that_waits_and_does_not_run_is_named(shell: str) -> None:
    with subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert int(process.stdout.readline()) == process.pid
            state = Path(f"/proc/{process.pid}/stat")
            until(lambda: state.read_text().rpartition(") ")[2].startswith("D"), "the process waits for its child")
            answer = ran(stuck_command(), shell_or_skip(shell))
            name = state.with_name("comm").read_text().strip()
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    assert len(re.findall(rf"(?m)^{process.pid} D [0-9]+ [0-9]+ {re.escape(name)}$", answer)) == 1
    own = "".join(row for row in answer.splitlines(keepends=True) if row.startswith(f"{process.pid} "))
    assert readings_of("stuck", own + END) == {"os.processes.stuck": 1, "os.processes.stuck_names": (name,)}


HELD = "Name:\t{}\nState:\tD (disk sleep)\nPid:\t{}\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t10\n"


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh"])
@pytest.mark.parametrize(
    ("after", "left"),
    [
        (HELD.format("a\\nb c", 8, 21), ["8 D 21 10 a\\nb c"]),
        (HELD.format("a\\nb c", 8, 22), []),  # it ran
        (HELD.format("a\\nb c", 8, 21).replace("D (disk", "S ("), []),
        ("", []),  # it ended
    ],
)
def test_what_all_readings_have_in_common_is_left(after: str, left: list[str], shell: str, tmp_path: Path) -> None:
    """A simulated /proc: 30 threads that run on, and one whose status changes during the pause."""
    for number in range(30):
        for folder in (f"1{number:02}", f"1{number:02}/task/1{number:02}"):
            (tmp_path / folder).mkdir(parents=True)
            (tmp_path / folder / "status").write_text(HELD.format("jbd2", f"1{number:02}", 5).replace("D (", "S ("))
    for folder in ("8", "8/task/8"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "status").write_text(HELD.format("a\\nb c", 8, 21))
    later = tmp_path / "later"
    later.write_text(after)
    here = re.sub(r"/proc/(?=\[0-9\]|%s)", f"{tmp_path}/", stuck_command())
    answer = ran(here.replace("sleep $t", f"cp {later} {tmp_path}/8/status"), shell_or_skip(shell))
    assert answer.splitlines() == [*left, END.strip()]


@pytest.mark.parametrize("gone", ["awk", "xargs", "cat", "sleep"])
def test_a_node_without_a_basic_tool_is_no_node_without_a_stuck_process(gone: str, tmp_path: Path) -> None:
    for tool in {"awk", "xargs", "cat", "sleep"} - {gone}:
        (tmp_path / tool).symlink_to(shutil.which(tool) or pytest.skip(f"no {tool}"))
    proc = tmp_path / "8" / "task" / "8"
    proc.mkdir(parents=True)
    for folder in (proc, tmp_path / "8"):
        (folder / "status").write_text(HELD.format("nvidia-smi", 8, 21))
    here = re.sub(r"/proc/(?=\[0-9\]|%s)", f"{tmp_path}/", stuck_command())
    done = subprocess.run(["/bin/sh", "-c", here], env={"PATH": str(tmp_path)}, capture_output=True, check=False)
    assert done.returncode == 1


@pytest.mark.parametrize("row", ["8 S 1 2 x\n", "8 D 1 x\n", "x D 1 2 x\n", "8 D 1 2\n"])
def test_a_row_that_is_no_stuck_thread_is_unreadable(row: str) -> None:
    assert all(isinstance(reading, Unknown) for reading in readings_of("stuck", row + END).values())


def test_a_thread_with_an_empty_name_counts() -> None:
    assert readings_of("stuck", f"8 D 1 2 \n{END}") == {"os.processes.stuck": 1, "os.processes.stuck_names": ("",)}


def test_interrupts_of_thousands_of_vectors_are_held_against_the_cpus_near_the_device() -> None:
    vectors = "".join(f"{n} {n % 384}\n" for n in range(3840))
    given = readings_of("irq", f"device 0000:18:00.0 0-191\n{vectors}default ff\n{END}")
    assert given['pcie/"0000:18:00.0".irq.vectors'] == 3840
    assert given['pcie/"0000:18:00.0".irq.remote'] == 1920


def test_a_vector_on_all_cpus_is_remote_and_one_that_is_not_started_is_not() -> None:
    given = readings_of(
        "irq", f"device 0000:18:00.0 0-3\n10 0-7\n11 \n12 2\ndevice 0000:19:00.0 \n13 1\ndefault \n{END}"
    )
    assert given['pcie/"0000:18:00.0".irq.vectors'] == 3
    assert given['pcie/"0000:18:00.0".irq.remote'] == 1
    assert isinstance(given['pcie/"0000:19:00.0".irq.remote'], Absent)
    assert isinstance(given["os.irq.default_affinity"], Absent)


@pytest.mark.parametrize(
    ("inner", "outer", "held"),
    [("0", "0-3", True), ("3-4", "0-3,4-7", True), ("3-4", "0-3,5-7", False), ("8", "0-7", False), ("", "0", True),
     ("0,2", "0,2", True), ("0-1", "", False)],
)  # fmt: skip
def test_a_list_of_cpus_is_within_another_only_if_every_one_is(inner: str, outer: str, held: bool) -> None:
    assert within(ranges(inner), ranges(outer)) is held


@pytest.mark.parametrize("text", ["a", "3-1", "0,0", "5,1", "0-", ",", "0-9999999"])
def test_what_is_no_list_of_cpus_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        ranges(text)


# Boots and crashes


def test_a_start_without_a_shutdown_before_it_is_unclean() -> None:
    # Lines as `last` prints them (unix.stackexchange.com/q/7760 quotes some); the oldest start may have had one.
    up, down = "reboot   system boot  2.6.32-28-generi Mon Feb 21 17:02 - 18:09  (01:07)\n", "shutdown system down  x\n"
    given = readings_of("boots", f"{up}{up}{down}{up}{up}\nwtmp begins Sat Feb 12 08:31:00 2011\n{NOW}{END}")
    assert given["os.boot.count"] == 4
    assert given["os.boot.unclean"] == 2
    assert isinstance(readings_of("boots", f"usage: last\n{NOW}{END}")["os.boot.count"], Unknown)


NOW = "now 1795162269 3600\n"
"""20 November 2026, 08:11:09 UTC, an hour after a start."""
UP = "reboot   system boot  5.15.0-1053-nvid "
LATE = f"{UP}Fri Nov 20 07:11:09 2026   still running\n{UP}Fri Nov 20 06:30:00 2026 - crash\n{UP}Thu Nov 19 09:00:00 2026\n"


def lately(text: str) -> list[object]:
    """The starts of two hours, a day and a week, or that they are unknown."""
    given = readings_of("boots", text)
    readings = [given[f"os.boot.within.{leaf}"] for leaf in ("two_hours", "day", "week")]
    return [Unknown if isinstance(reading, Unknown) else reading for reading in readings]


def test_starts_are_counted_within_windows_by_the_nodes_own_clock() -> None:
    assert lately(f"{LATE}{UP}Fri Nov  6 01:00:00 2026\n\nwtmp begins Mon Nov  2 09:31:20 2026\n{NOW}{END}") == [
        2,
        3,
        3,
    ]


def test_a_record_that_begins_within_a_window_does_not_give_its_starts() -> None:
    assert lately(f"{LATE}\nwtmp begins Thu Nov 19 08:00:00 2026\n{NOW}{END}") == [2, 3, Unknown]
    assert lately(f"{LATE}\nwtmp begins Fri Nov 20 00:00:00 2026\n{NOW}{END}") == [2, Unknown, Unknown]
    # As many lines as are read: the last of them is how far the record was read.
    assert lately(f"{LATE}{NOW}{END}") == [2, Unknown, Unknown]


def test_a_node_that_has_been_up_for_longer_has_not_started_whatever_its_record() -> None:
    up = NOW.replace(" 3600", " 90000")
    assert lately(f"\nwtmp begins Fri Nov 20 08:00:00 2026\n{up}{END}") == [0, 0, Unknown]


@pytest.mark.parametrize("start", ["Fri Nov 20 09:11:09 2026", "Fri Nov 31 09:11:09 2026", "Fri Nov 20 07:11"])
def test_a_start_in_the_future_or_at_no_time_is_not_counted_as_none(start: str) -> None:
    assert lately(f"{UP}{start}\n\nwtmp begins Mon Nov  2 09:31:20 2026\n{NOW}{END}") == [Unknown] * 3


def test_a_started_node_without_a_record_of_it_reports_that() -> None:
    empty = f"\nwtmp begins Tue May 20 00:00:00 2025\n{NOW}{END}"
    assert lately(empty) == [Unknown] * 3
    given = readings_of("boots", empty)
    none = Unknown(Reason.NOT_COLLECTED, "wtmp records no start")
    assert given["os.boot.count"] == given["os.boot.unclean"] == none


def test_only_the_kernels_crashes_are_dumps() -> None:
    names = ["/var/crash/202411211030", "/var/crash/127.0.0.1-2024-11-21-10:30:00", "/var/lib/systemd/pstore/7440"]
    others = ["/var/crash/_usr_bin_python3.10.0.crash", "/var/crash/kexec_cmd"]
    given = readings_of("crash_dumps", "".join(f"{name}\n" for name in (*names, *others)) + END)
    assert given["os.crash.dumps"] == tuple(sorted(names))


def test_a_pstore_that_would_not_be_listed_is_not_an_empty_one() -> None:
    refused = answering(PROBES["pstore"], "sysfs/sys/fs\n", 1, "find: '/sys/fs/pstore': Permission denied\n")
    reading = facts(PROBES["pstore"], refused)["os.crash.pstore"]
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.DENIED
    assert isinstance(
        readings_of("pstore", "sysfs/sys/fs\nsysfs/sys/fs/bpf\nproc/proc/version\n")["os.crash.pstore"], Absent
    )
    full = readings_of(
        "pstore", "sysfs/sys/fs\npstore/sys/fs/pstore\npstore/sys/fs/pstore/dmesg-efi-1\nproc/proc/version\n"
    )
    assert full["os.crash.pstore"] == ("dmesg-efi-1",)


def test_an_unmounted_pstore_is_not_an_empty_one() -> None:
    reading = readings_of("pstore", "sysfs/sys/fs\nsysfs/sys/fs/pstore\nproc/proc/version\n")["os.crash.pstore"]
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_COLLECTED
    assert readings_of("pstore", "sysfs/sys/fs\npstore/sys/fs/pstore\nproc/proc/version\n")["os.crash.pstore"] == ()


def test_a_sudo_that_refuses_leaves_pstore_denied() -> None:
    denied = "sudo: a password is required\n"
    given = facts(PROBES["pstore"], answering(PROBES["pstore"], "", 1, denied))
    assert isinstance(given["os.crash.pstore"], Unknown)
    assert given["os.crash.pstore"].reason is Reason.DENIED


# Packages and kernels


def test_packages_of_rpm_are_named_with_epoch_and_release() -> None:
    rows = ["ii |kernel|x86_64|5.14.0-427.13.1.el9_4", "ii |kernel|x86_64|5.14.0-362.8.1.el9_3",
            "ii |docker-ce|x86_64|3:26.1.4-1.el9", "ii |gpg-pubkey|(none)|8d8b756f-59e9f1a9",
            "ii |glibc|x86_64|2.34-100.el9", "ii |glibc|i686|2.34-100.el9"]  # fmt: skip
    given = readings_of("packages", "rpm x86_64\n" + "".join(f"{row}\n" for row in rows) + END)
    assert given["package"] == ("docker-ce", "glibc", "glibc:i686", "kernel")
    assert given["package/docker-ce.version"] == "3:26.1.4-1.el9"
    assert given["package/kernel.version"] == "5.14.0-362.8.1.el9_3 5.14.0-427.13.1.el9_4"
    assert isinstance(given["os.packages.held"], Absent)


def test_what_dpkg_has_not_ended_is_broken_and_what_it_removed_is_gone() -> None:
    rows = ["hi |a|amd64|1", "iF |b|amd64|2", "rc |c|amd64|3", "iiR|d|all|4", "un |e|amd64|"]
    given = readings_of("packages", "dpkg amd64\n" + "".join(f"{row}\n" for row in rows) + END)
    assert given["package"] == ("a", "b", "d")
    assert (given["os.packages.held"], given["os.packages.broken"]) == (("a",), ("b", "d"))


def test_no_package_at_all_is_no_list_of_packages() -> None:
    assert isinstance(readings_of("packages", f"dpkg amd64\n{END}")["package"], Unknown)


def test_the_newest_kernel_is_the_newest_by_its_numbers() -> None:
    given = readings_of("kernels", f"5.15.0-1053-nvidia\n5.15.0-999-nvidia\n{END}")
    assert given["kernel.newest"] == "5.15.0-1053-nvidia"
    assert isinstance(readings_of("kernels", f"5.15.0-1053-nvidia\nmine\n{END}")["kernel.newest"], Unknown)


def test_both_spellings_of_dkms_and_its_warning_are_read() -> None:
    # Lines quoted in strongtz/i915-sriov-dkms#274 and negativo17/nvidia-driver#56.
    given = readings_of(
        "dkms",
        "i915-sriov-dkms/2025.03.26, 6.11.11-2-pve, x86_64: installed "
        "(WARNING! Diff between built and installed module!)\n"
        "nvidia, 396.45, 4.17.14-202.fc28.x86_64, x86_64: installed (original_module exists)\n"
        f"gdrdrv/2.4: added\n{END}",
    )
    first, second, third = (f'kernel.dkms/"{key}"' for key in (
        "i915-sriov-dkms/2025.03.26/6.11.11-2-pve", "nvidia/396.45/4.17.14-202.fc28.x86_64", "gdrdrv/2.4"))  # fmt: skip
    assert [given[f"{item}.state"] for item in (first, second, third)] == ["installed", "installed", "added"]
    assert [given[f"{item}.differs"] for item in (first, second, third)] == [True, False, False]


@pytest.mark.parametrize(
    ("row", "on"), [('::Unattended-Upgrade "1"', True), ('::Unattended-Upgrade "0"', False), (' ""', False)]
)
def test_an_unattended_upgrade_is_on_only_where_apt_enables_it(row: str, on: bool) -> None:
    assert readings_of("unattended", f"APT::Periodic{row};\n{END}")["os.unattended_upgrade"] is on


@pytest.mark.parametrize(("octets", "on"), [("6 0 0 0 1", True), ("22 0 0 0 0", False)])
def test_secure_boot_is_the_byte_after_the_attributes(octets: str, on: bool) -> None:
    given = readings_of("secure_boot", f"SecureBoot {octets}\n{END}")
    assert given["os.secure_boot.enabled"] is on
    assert isinstance(given["os.secure_boot.setup_mode"], Absent)


# Containers


def test_docker_info_of_a_recorded_machine_is_read_after_the_nodes_own_choice_of_lines() -> None:
    kept = command("docker_info").partition("t=$(docker info) || exit 1\n")[2]
    answer = ran(f"t=$(cat '{shared('services/docker-info-1.txt')}')\n{kept}")
    assert "dhcp.example.com" not in answer
    given = readings_of("docker_info", answer)
    assert given["container.docker.daemon"] == "1.9.1"
    assert given["container.docker.storage_driver"] == "devicemapper"
    assert given["container.docker.logging_driver"] == "json-file"
    # Docker 1.9 reported neither.
    assert isinstance(given["container.docker.cgroup_driver"], Absent)
    assert isinstance(given["container.docker.runtimes"], Absent)


SECRETS: dict[str, tuple[str, str, dict[str, Reading]]] = {
    "docker_config": (
        "/etc/docker/daemon.json",
        (
            '{"default-runtime":\n "nvidia", "proxies": {"http-proxy": "http://u:s3cret@p"}, "log-opts": {"splunk-token": '
            '"s3cret"}, "exec-opts": ["native.cgroupdriver=systemd"], "live-restore": true,\n "runtimes": {"nvidia": {\n'
            ' "args": ["s3cret"], "path": "nvidia-container-runtime"}}}'
        ),
        {
            "container.docker.configured.default_runtime": "nvidia",
            "container.docker.configured.cgroup_driver": "systemd",
            "container.docker.configured.nvidia_runtime": True,
            "container.docker.configured.live_restore": True,
        },
    ),
    "containerd_config": (
        "/etc/containerd/config.toml",
        (
            'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd]\n  default_runtime_name = "nvidia"\n'
            '[plugins."io.containerd.grpc.v1.cri".registry.configs."r".auth]\n  password = "s3cret"\n'
            "  SystemdCgroup = true\n  SystemdCgroup = false\n"
        ),
        {"container.containerd.default_runtime": "nvidia", "container.containerd.systemd_cgroup": False},
    ),
    "environment": (
        "/etc/environment",
        'PATH="/usr/bin"\nAWS_SECRET=s3cret\nexport NCCL_DEBUG="INFO"\nAPI_TOKEN=NCCL_s3cret\n',
        {"os.environment": ("NCCL_DEBUG",), "os.environment/NCCL_DEBUG.value": "INFO"},
    ),
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("shell", ["dash", "busybox sh"])
def test_only_named_settings_of_a_file_are_read_and_no_secret_leaves_the_node(
    name: str, shell: str, tmp_path: Path
) -> None:
    place, content, expected = SECRETS[name]
    (tmp_path / "file").write_text(content)
    script = command(name).replace(place, str(tmp_path / "file"))
    assert script != command(name)
    answer = ran(script, shell_or_skip(shell))
    assert "s3cret" not in answer
    given = readings_of(name, answer.replace(str(tmp_path / "file"), place))
    assert {path: given[path] for path in expected} == expected


def test_only_named_settings_of_slurm_conf_are_read_and_no_secret_leaves_the_node(tmp_path: Path) -> None:
    folder = tmp_path / "slurm"
    folder.mkdir()
    (folder / "slurm.conf").write_text("AccountingStoragePass=s3cret\nproctracktype = proctrack/cgroup # s\n")
    (folder / "cgroup.conf").write_text("ConstrainDevices=yes\n")
    script = command("slurm").replace(" /etc/slurm ", f" {folder} ")
    assert script != command("slurm")
    answer = ran(script)
    assert "s3cret" not in answer
    given = readings_of("slurm", answer)
    assert given["scheduler.slurm.proctrack_type"] == "proctrack/cgroup"
    assert given["scheduler.slurm.constrain_devices"] == "yes"
    assert [given[f"scheduler.slurm.file.{name}"] for name in ("slurm", "cgroup", "gres")] == [True, True, False]
    assert isinstance(given["scheduler.slurm.auto_detect"], Absent)


@pytest.mark.parametrize(
    ("row", "tool", "version"),
    [
        ("docker Docker version 20.10.24+dfsg1, build 297e128", "docker", "20.10.24"),
        ("containerd containerd github.com/containerd/containerd v1.7.2 0cae528", "containerd", "1.7.2"),
        (
            "containerd containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+b1",
            "containerd",
            "1.6.20~ds1",
        ),
        ("runc runc version 1.1.0-rc1", "runc", "1.1.0-rc1"),
        # Quoted in NVIDIA/nvidia-container-toolkit#50.
        ("nvidia-ctk NVIDIA Container Toolkit CLI version 1.12.0", "nvidia_ctk", "1.12.0"),
        ("kubelet Kubernetes v1.29.4", "kubelet", "1.29.4"),
    ],
)
def test_a_tool_reports_its_version_in_its_own_words(row: str, tool: str, version: str) -> None:
    assert readings_of("container_tools", f"{row}\n{END}")[f"container.{tool}.version"] == version


def test_a_tool_that_fails_or_prints_anything_else_has_no_known_version() -> None:
    given = readings_of("container_tools", f"fails docker\nrunc something else\nnone crio\n{END}")
    kinds = [type(given[f"container.{tool}.version"]) for tool in ("docker", "runc", "crio")]
    assert kinds == [Unknown, Unknown, Absent]


def test_a_cdi_file_in_json_is_read_as_one_in_yaml() -> None:
    # The shape that ROCm/legacy-rocm-build#3029 and NVIDIA/k8s-device-plugin#632 quote.
    content = (
        '{\n  "cdiVersion": "0.5.0",\n  "kind": "nvidia.com/gpu",\n  "devices": [\n    {\n      "name": "0",\n'
        '      "containerEdits": {}\n    }\n  ],\n  "containerEdits": {\n    "hooks": [\n      {\n'
        '        "hookName": "createContainer"\n      }\n    ],\n    "mounts": [\n'
        '      {\n        "hostPath": "/usr/lib64/libcuda.so.520.61.05"\n      }\n    ]\n  }\n}\n'
    )
    given = held("cdi", **{"/var/run/cdi/nvidia.json": content, "/etc/cdi/other.yaml": "nothing\n"})
    item = 'container.cdi/"/var/run/cdi/nvidia.json"'
    assert [given[f"{item}.{leaf}"] for leaf in ("kind", "devices", "driver")] == ["nvidia.com/gpu", 1, "520.61.05"]
    assert isinstance(given['container.cdi/"/etc/cdi/other.yaml".driver'], Absent)


def test_a_key_counts_in_its_own_table_only() -> None:
    content = 'mode = "other"\n[nvidia-container-runtime]\n#mode = "cdi"\nmode = "cdi" # set\n[x]\nno-cgroups = true\n'
    given = held("nvidia_container", **{"/etc/nvidia-container-runtime/config.toml": content})
    assert given["container.nvidia.mode"] == "cdi"
    assert isinstance(given["container.nvidia.no_cgroups"], Absent)


# Scheduler

NODE = """NodeName=gpu-102 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUEfctv=8 CPUTot=8 CPULoad=0.99
   AvailableFeatures=(null)
   ActiveFeatures=(null)
   Gres=gpu:nvidia-rtx-3090:1
   NodeAddr=gpu-102 NodeHostName=gpu-102 Version=24.05.0-0rc1
   RealMemory=1 AllocMem=0 FreeMem=340 Sockets=8 Boards=1
   State={} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=compute100
   BootTime=2024-11-18T20:46:45 SlurmdStartTime=2024-12-19T11:41:49

   Reason=gres/gpu count reported lower than configured (0 < 1) State=IDLE [slurm@2024-12-19T11:03:34]
"""
"""In the form, and with the figures, that awslabs/awsome-distributed-ai#195 quotes."""


@pytest.mark.parametrize(
    ("shown", "state", "marks"),
    [
        ("IDLE+DRAIN", "IDLE", ("DRAIN",)),
        ("MIXED", "MIXED", ()),
        ("DOWN*+DRAIN", "DOWN", ("DRAIN", "NOT_RESPONDING")),
        ("DOWN+DRAIN+INVALID_REG", "DOWN", ("DRAIN", "INVALID_REG")),
    ],
)
def test_a_nodes_state_in_slurm_is_a_word_and_its_marks(shown: str, state: str, marks: tuple[str, ...]) -> None:
    given = readings_of("slurm_node", NODE.format(shown) + END)
    at = "scheduler.slurm.node"
    assert (given[f"{at}.state"], given[f"{at}.marks"]) == (state, marks)
    assert (given[f"{at}.cpus"], given[f"{at}.memory"], given[f"{at}.gres"]) == (8, 1, "gpu:nvidia-rtx-3090:1")
    assert isinstance(given[f"{at}.features"], Absent)
    assert str(given[f"{at}.reason"]).startswith("gres/gpu count reported lower than configured (0 < 1)")


def test_a_controller_that_is_down_is_counted_as_one_that_there_is() -> None:
    given = readings_of("slurm_ping", f"Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is UP\n{END}")
    assert given == {"scheduler.slurm.controllers.up": 1, "scheduler.slurm.controllers.count": 2}


# Small files


def test_forbidden_modules_are_distinguished_from_ones_only_not_loaded() -> None:
    given = held(
        "module_files",
        **{
            "/etc/modprobe.d/a.conf": "blacklist nouveau\ninstall usb-storage /bin/false\ninstall x /sbin/modprobe y\n",
            "/usr/lib/modprobe.d/b.conf": "blacklist hidden\n",
            "/etc/modprobe.d/b.conf": "# empty on purpose\n",
            "/etc/modules": "# comment\nmsr\n",
        },
    )
    assert given["kernel.modules.blacklisted"] == ("nouveau",)
    assert given["kernel.modules.forbidden"] == ("usb_storage",)
    assert given["kernel.modules.autoload"] == ("msr",)


def test_a_cloud_init_that_has_begun_is_not_finished() -> None:
    given = held("cloud_init", **{"/run/cloud-init/status.json": "{}"})
    assert given["os.cloud_init.finished"] is False
    broken = held("cloud_init", **{"/run/cloud-init/result.json": '{"v1": {"errors": "none"}}'})
    assert isinstance(broken["os.cloud_init.errors"], Unknown)


def test_a_node_without_conntrack_has_no_share_of_it() -> None:
    assert all(isinstance(reading, Absent) for reading in held("conntrack").values())


@pytest.mark.parametrize(
    ("mounts", "version"), [("cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\n", 1), ("proc /proc proc rw 0 0\n", None)]
)
def test_cgroups_of_version_1_are_recognised_by_their_mounts(mounts: str, version: int | None) -> None:
    reading = held("cgroup", **{"/proc/mounts": mounts})["os.cgroup.version"]
    assert reading == version if version else isinstance(reading, Absent)


def test_a_boots_id_must_be_one_and_a_mark_keeps_users_out() -> None:
    given = held(
        "boot", **{"/proc/uptime": "12.50 40.1\n", "/proc/sys/kernel/random/boot_id": "x\n", "/run/nologin": ""}
    )
    assert given["os.boot.uptime"] == 12.5
    assert isinstance(given["os.boot.id"], Unknown)
    assert given["os.nologin"] is True


def test_an_selinux_that_only_logs_is_not_one_that_is_off() -> None:
    assert held("lsm", **{"/sys/fs/selinux/enforce": "0"})["os.selinux.enforcing"] is False
    assert isinstance(held("lsm")["os.selinux.enforcing"], Absent)
    lockdown = held("lsm", **{"/sys/kernel/security/lockdown": "none [integrity] confidentiality\n"})
    assert lockdown["kernel.lockdown"] == "integrity"


def test_where_securityfs_is_not_mounted_the_modules_are_unknown() -> None:
    sysfs = "sysfs /sys sysfs rw 0 0\n"
    for mounts in (sysfs, f"{sysfs}tmpfs /sys/kernel/security tmpfs rw 0 0\n"):
        given = held("lsm", **{"/proc/mounts": mounts})
        for path in ("kernel.lsm", "kernel.lockdown"):
            assert given[path] == Unknown(Reason.NOT_COLLECTED, "no securityfs is mounted on /sys/kernel/security")
    assert isinstance(held("lsm")["kernel.lsm"], Unknown)
    mounted = f"{sysfs}securityfs /sys/kernel/security securityfs rw,nosuid 0 0\n"
    given = held("lsm", **{"/proc/mounts": mounted, "/sys/kernel/security/lsm": "capability,yama"})
    assert given["kernel.lsm"] == ("capability", "yama")
    assert given["kernel.lockdown"] == Absent("no /sys/kernel/security/lockdown")


# Slurm, where it is installed and what its files include


def test_a_setting_that_may_stand_in_an_included_file_is_not_absent() -> None:
    given = readings_of(
        "slurm",
        "slurm 23.11.7\n== slurm.conf\nTaskPlugin=task/cgroup\n  Include slurm_parallelcluster.conf\n== cgroup.conf\n"
        + END,
    )
    assert given["scheduler.slurm.task_plugin"] == "task/cgroup"
    for path in ("proctrack_type", "slurmd_timeout"):
        reading = given[f"scheduler.slurm.{path}"]
        assert isinstance(reading, Unknown)
        assert reading.reason is Reason.NOT_READ_FURTHER
    assert isinstance(given["scheduler.slurm.constrain_devices"], Absent)


def test_a_slurmd_that_fails_is_not_a_missing_one() -> None:
    for row, kind in (("fails slurmd", Unknown), ("hidden slurmd", Unknown), ("no slurmd", Absent)):
        assert isinstance(readings_of("slurm", f"{row}\n{END}")["scheduler.slurm.version"], kind)


def test_a_slurmd_of_parallelcluster_is_found_below_opt(tmp_path: Path) -> None:
    tool, conf = tmp_path / "sbin" / "slurmd", tmp_path / "etc" / "slurm.conf"
    for place in (tool, conf):
        place.parent.mkdir()
    tool.write_text("#!/bin/sh\necho slurm 23.11.7\n")
    tool.chmod(0o755)
    conf.write_text("ProctrackType=proctrack/cgroup\n")
    script = command("slurm").replace("/etc/slurm /etc/slurm-llnl /run/slurm/conf ", "")
    script = script.replace("PATH=$PATH:", "PATH=/usr/bin:/bin:")  # this machine may have one in /usr/sbin
    given = readings_of("slurm", ran(script.replace("/opt/slurm", str(tmp_path))))
    assert given["scheduler.slurm.version"] == "23.11.7"
    assert given["scheduler.slurm.file.slurm"] is True
    assert given["scheduler.slurm.proctrack_type"] == "proctrack/cgroup"


def test_where_firmwares_folder_is_hidden_the_boot_mode_is_unknown(tmp_path: Path) -> None:
    script = command("secure_boot").replace("/sys/firmware", str(tmp_path))
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    given = facts(PROBES["secure_boot"], answering(PROBES["secure_boot"], done.stdout, done.returncode, done.stderr))
    assert all(isinstance(reading, Unknown) for reading in given.values())
    (tmp_path / "acpi").mkdir()
    assert isinstance(readings_of("secure_boot", ran(script))["os.secure_boot.enabled"], Absent)
