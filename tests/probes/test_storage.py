"""Storage and time: recorded drives, arrays, mounts and clocks, value for value, and implausible values."""

import itertools
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from recordings import answering, facts, holding, os_probes, shared_text, tree
from shared_cases import Case, command, file, folder

from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.parse.host.storage import nvme
from rackcheck_probes.storage import fstab, network_mounts

PROBES = os_probes()
NVME, SUBSYSTEMS, BLOCK = "/sys/class/nvme", "/sys/class/nvme-subsystem", "/sys/block"
HEALTH: Mapping[str, Reading | type[Absent]] = {
    "nvme/nvme0.health.critical_warning": 0,
    "nvme/nvme0.health.temperature": 37.0,
    "nvme/nvme0.health.spare": 100.0,
    "nvme/nvme0.health.spare_threshold": 5.0,
    "nvme/nvme0.health.used": 2.0,
    "nvme/nvme0.health.media_errors": 0,
    "nvme/nvme0.health.error_log_entries": 110,
    "nvme/nvme0.health.unsafe_shutdowns": 39,
    "nvme/nvme0.health.power_cycles": 64,
    "nvme/nvme0.health.power_on": 4974.0,
    "nvme/nvme0.health.written": 136157684 * 512_000 / 1e12,
    "nvme/nvme0.health.time_too_hot": 0.0,
    "nvme/nvme0.health.time_critical": 0.0,
}


def of_each(text: str, status: int = 0, name: str = "nvme0") -> str:
    """An answer as the frame prints it for one device."""
    return f"==> {name} <==\n{text}\n<== {status}\n"


def drive(probe: str, recording: str, expected: Mapping[str, Reading | type[Absent]]) -> Case:
    """A recording of a tool as its answer for one drive."""
    return Case(probe, recording, lambda: answering(PROBES[probe], of_each(shared_text(recording))), expected)


CASES = [
    folder(
        "nvme",
        "storage/sysfs-nvme-procfs",
        NVME,
        {
            "nvme": ("nvme0",),
            "nvme/nvme0.model": "Samsung SSD 970 PRO 512GB",
            "nvme/nvme0.serial": "S680HF8N190894I",
            "nvme/nvme0.firmware": "1B2QEXP7",
            "nvme/nvme0.state": "live",
            "nvme/nvme0.transport": Absent,
            "nvme/nvme0.pci": Absent,
        },
    ),
    folder(
        "nvme_namespaces",
        "storage/sysfs-nvme-procfs",
        NVME,
        {
            "nvme/nvme0.size": 3906250000 * 512 / 2**30,
            "nvme/nvme0.namespace": ("nvme0n0",),
            "nvme/nvme0.namespace/nvme0n0.size": 3906250000 * 512 / 2**30,
            "nvme/nvme0.namespace/nvme0n0.block_size": 4096.0,
        },
    ),
    # Two arrays behind fabrics: of three Fibre Channel paths one is dead, of two others one connects.
    folder(
        "nvme_subsystems",
        "storage/sysfs-nvme-procfs/-subsystem",
        SUBSYSTEMS,
        {
            "storage.nvme_subsystem": ("nvme-subsys0", "nvme-subsys1"),
            "storage.nvme_subsystem/nvme-subsys0.nqn": (
                "nqn.2014-08.org.nvmexpress:uuid:a34c4f3a-0d6f-5cec-dead-beefcafebabe"
            ),
            "storage.nvme_subsystem/nvme-subsys0.policy": "round-robin",
            "storage.nvme_subsystem/nvme-subsys0.paths": 3,
            "storage.nvme_subsystem/nvme-subsys0.live": 2,
            "storage.nvme_subsystem/nvme-subsys1.policy": "numa",
            "storage.nvme_subsystem/nvme-subsys1.paths": 2,
            "storage.nvme_subsystem/nvme-subsys1.live": 1,
        },
    ),
    drive("nvme_health", "storage/nvme-smart-log-v2.3.json", HEALTH),
    drive("nvme_health", "storage/nvme-smart-log-v2.3-string.json", HEALTH),
    drive(
        "nvme_smart",
        "storage/smartctl-nvme-x11dph.json",
        {
            "nvme/nvme0.smart.passed": True,
            "nvme/nvme0.smart.spare": 100.0,
            "nvme/nvme0.smart.used": 2.0,
            "nvme/nvme0.smart.media_errors": 0,
        },
    ),
    drive(
        "nvme_smart",
        "storage/smartctl-INTEL_SSDPE2KX080T8_1.json",
        {"nvme/nvme0.smart.passed": True, "nvme/nvme0.smart.used": 0.0},
    ),
    drive(
        "nvme_smart",
        "storage/smartctl-SAMSUNG_MZQLB1T9HAJR-00007_19.json",
        {"nvme/nvme0.smart.passed": True, "nvme/nvme0.smart.spare": 100.0, "nvme/nvme0.smart.media_errors": 0},
    ),
    folder(
        "block",
        "storage/sysfs-md-node-exporter",
        BLOCK,
        {
            "storage.device/sda.scheduler": "bfq",
            "storage.device/sda.read_ahead": 128.0,
            "storage.device/sda.rotational": True,
            "storage.device/sda.requests": 64,
            "storage.device/sda.request_size": 1280.0,
            "storage.device/sda.write_throttle": 75000.0,
            "storage.device/sda.write_cache": "write back",
            "storage.device/sda.timeout": 30000.0,
            "storage.device/sdl.state": "offline",
            "storage.device/sdm.state": "running",
            "storage.device/dm-5.size": 50.0,
        },
    ),
    folder(
        "device_mapper",
        "storage/sysfs-md-node-exporter",
        BLOCK,
        {
            "storage.device/dm-5.mapping.name": "mpathA",
            "storage.device/dm-5.mapping.kind": "mpath",
            "storage.device/dm-5.mapping.suspended": False,
            "storage.device/dm-7.mapping.name": "vg0-root",
            "storage.device/dm-7.mapping.kind": "LVM",
        },
    ),
    folder(
        "md",
        "storage/sysfs-md-node-exporter",
        BLOCK,
        {
            "storage.md": ("md0", "md1", "md4", "md5", "md6", "md10"),
            "storage.md/md0.level": "raid0",
            "storage.md/md0.works": True,
            "storage.md/md0.devices": 2,
            "storage.md/md0.active": 2,
            "storage.md/md0.degraded": Absent,
            "storage.md/md0.sync": Absent,
            "storage.md/md1.level": "raid1",
            "storage.md/md1.degraded": 0,
            "storage.md/md1.sync": "idle",
            "storage.md/md5.level": "raid5",
            "storage.md/md5.state": "clean",
            "storage.md/md5.devices": 3,
            "storage.md/md5.active": 2,
            "storage.md/md5.failed": 1,
            "storage.md/md5.spare": 1,
            "storage.md/md5.degraded": 1,
            "storage.md/md6.state": "active",
            "storage.md/md6.sync": "recover",
            "storage.md/md6.active": 3,
            "storage.md/md6.failed": 0,
            "storage.md/md6.spare": 1,
            "storage.md/md10.devices": 4,
            "storage.md/md10.active": 4,
        },
    ),
    file(
        "nfs",
        "os/proc-mounts-rhel.txt",
        "/proc/mounts",
        {
            'mount/"/users".nfs.version': "3",
            'mount/"/users".nfs.protocol': "tcp",
            'mount/"/users".nfs.connections': 1,
            'mount/"/users".nfs.read_size': 8.0,
            'mount/"/users".nfs.write_size': 8.0,
            'mount/"/users".nfs.hard': False,
            'mount/"/users".nfs.timeout': 1.4,
            'mount/"/users".nfs.server': "10.xx.xx.xx",
        },
    ),
    # The last row is empty where the source left out a line's end; the kernel writes none.
    Case(
        "nfs_timeouts",
        "storage/proc-mountstats-nfs-procfs.txt",
        lambda: holding(
            PROBES["nfs_timeouts"],
            {"/proc/self/mountstats": shared_text("storage/proc-mountstats-nfs-procfs.txt")},
        ),
        {'mount/"/mnt/nfs/test".nfs.timeouts': 0, 'mount/"/mnt/nfs/test".nfs.age': 13968.0},
    ),
    command("gpfs", "storage/mmgetstate-Y.txt", {"storage.gpfs.state": "active", "storage.gpfs.quorum": 4}),
    command(
        "chrony",
        "services/chronyc-tracking-aws.txt",
        {
            "time.chrony.reference": "169.254.169.123",
            "time.chrony.stratum": 4,
            "time.chrony.leap": "Normal",
            "time.chrony.offset": -0.000000626,
            "time.chrony.last_offset": 0.002852759,
            "time.chrony.rms_offset": 0.002852759,
            "time.chrony.root_delay": 0.000504752,
            "time.chrony.root_dispersion": 0.001112565,
        },
    ),
    command(
        "chrony",
        "services/chronyc-tracking-pps.txt",
        {
            "time.chrony.reference": "PPS",
            "time.chrony.stratum": 1,
            "time.chrony.offset": 0.000000008,
            "time.chrony.last_offset": -0.000406383,
        },
    ),
    command(
        "timesyncd",
        "services/timedatectl-timesync-status.txt",
        {
            "time.timesyncd.server": "216.239.35.8",
            "time.timesyncd.stratum": 1,
            "time.timesyncd.leap": "normal",
            "time.timesyncd.offset": -0.005224,
            "time.timesyncd.delay": 0.065884,
            "time.timesyncd.jitter": 0.005386,
            "time.timesyncd.root_distance": 0.000091,
        },
    ),
    command("timesync", "services/timedatectl-centos77.txt", {"time.rtc_local": False}),
    command("timesync", "services/timedatectl-ubuntu1804.txt", {"time.rtc_local": False}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.probe}-{Path(case.machine).name}")
def test_a_recorded_machine_reads_as_its_raw_text_states(case: Case) -> None:
    found = facts(PROBES[case.probe], case.capture())
    values = {path: found.get(path, "not reported") for path in case.expected}
    assert {p: Absent if isinstance(r, Absent) else r for p, r in values.items()} == dict(case.expected)


@pytest.mark.parametrize(
    ("probe", "recording"),
    [
        ("chrony", "services/chronyc-tracking-aws.txt"),
        ("timesyncd", "services/timedatectl-timesync-status.txt"),
        ("gpfs", "storage/mmgetstate-Y.txt"),
    ],
)
def test_a_recording_that_is_cut_anywhere_gives_its_own_values_or_none(probe: str, recording: str) -> None:
    text = shared_text(recording)
    whole = facts(PROBES[probe], answering(PROBES[probe], text))
    for end in range(len(text)):
        cut = facts(PROBES[probe], answering(PROBES[probe], text[:end]))
        values = {path: reading for path, reading in cut.items() if not isinstance(reading, Unknown | Absent)}
        assert values.items() <= whole.items(), text[:end][-60:]


def test_a_smart_log_cut_anywhere_gives_nothing_about_the_drive() -> None:
    text = shared_text("storage/nvme-smart-log-v2.3.json")
    for end in range(len(text.rstrip()) - 1):
        found = facts(PROBES["nvme_health"], answering(PROBES["nvme_health"], of_each(text[:end])))
        assert all(isinstance(reading, Unknown) for reading in found.values()), text[:end][-60:]


def test_the_health_of_a_drive_is_unknown_where_its_tool_is_missing_or_root_is_refused() -> None:
    answer = of_each("sh: 1: nvme: not found\n", 127) + of_each("sudo: a password is required\n", 1, "nvme1")
    found = facts(PROBES["nvme_health"], answering(PROBES["nvme_health"], answer))
    reasons = {path: reading.reason for path, reading in found.items() if isinstance(reading, Unknown)}
    assert len(reasons) == len(found) == 2 * len(HEALTH)
    assert reasons["nvme/nvme0.health.used"] is Reason.TOOL_MISSING
    assert reasons["nvme/nvme1.health.used"] is Reason.DENIED


def test_no_drive_gives_no_health_and_no_guess() -> None:
    assert facts(PROBES["nvme_health"], answering(PROBES["nvme_health"], "")) == {}


@pytest.mark.parametrize("value", ["-1", "1.5", "true", "null", '"1e3"', '"0x5"', "[]", "{}", "NaN", str(1 << 128)])
def test_what_is_no_count_is_not_read_as_one(value: str) -> None:
    readings = nvme.counts(f'{{"used": {value}, "spare": 5}}', {"used": (("used",), int)})
    assert isinstance(readings["used"], Unknown)


@pytest.mark.parametrize(("value", "count"), [("0", 0), ('"0"', 0), ("3e2", 300), ('{"value": 4, "ro": 0}', 4)])
def test_every_way_that_nvme_cli_writes_a_count_is_read(value: str, count: int) -> None:
    assert nvme.counted(nvme.document(f'{{"n": {value}}}'), "n") == count


def test_json_that_nests_without_end_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        nvme.document('{"a":' * 100_000)


def test_complaints_around_an_answer_do_not_hide_it() -> None:
    assert nvme.document('warning: old log\n{"a": 1}\nSegmentation fault\n') == {"a": 1}


@pytest.mark.parametrize("kelvin", [0, 38, 199, 501, 65535])
def test_a_temperature_that_no_drive_has_in_kelvins_is_not_turned_into_degrees(kelvin: int) -> None:
    with pytest.raises(Unreadable):
        nvme.celsius(kelvin)


def test_a_failing_drive_makes_smartctl_exit_with_a_bit_and_is_still_read() -> None:
    text = shared_text("storage/smartctl-nvme-x11dph.json").replace('"passed": true', '"passed": false')
    for status, known in ((8, True), (24, True), (1, False), (2, False), (127, False)):
        found = facts(PROBES["nvme_smart"], answering(PROBES["nvme_smart"], of_each(text, status)))
        assert (found["nvme/nvme0.smart.passed"] is False) is known, status


POOL = (
    "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME STATE     READ WRITE CKSUM\n{}\nerrors: No known data errors\n{}\n"
)
END = "-- end --"


@pytest.mark.parametrize(
    "text",
    [
        END,
        f"{END}\n",
        POOL.format("\ttank  ONLINE  0 0 0\n\t  sda  ONLINE  0 0 0\n", ""),
        POOL.format("\ttank  ONLINE  0 0 0\n\t  sda  ONLINE  0 0 1.2K\n", END),
        POOL.format("\ttank  ONLINE  0 0 0\n\t  sda  online\n", END),
        POOL.format("", END).replace("NAME", "NAMES"),
        f"  pool: tank\n{END}\n",
    ],
)
def test_a_table_of_a_pool_is_read_whole_or_not_at_all(text: str) -> None:
    given = facts(PROBES["zfs_members"], answering(PROBES["zfs_members"], text))
    assert all(isinstance(reading, Unknown) for reading in given.values())


@pytest.mark.parametrize("text", ["none", "no pools available"])
def test_a_node_without_pools_has_no_members(text: str) -> None:
    assert facts(PROBES["zfs_members"], answering(PROBES["zfs_members"], f"{text}\n{END}\n")) == {}


def test_a_disk_of_a_pool_stands_by_itself_or_in_a_group_and_a_group_is_none() -> None:
    table = "\ttank  ONLINE  0 0 0\n\t  sda  ONLINE  1 2 3\n\t  mirror-0  ONLINE  0 0 9\n\t    sdb  OFFLINE  0 0 0\n"
    given = facts(PROBES["zfs_members"], answering(PROBES["zfs_members"], POOL.format(table, END)))
    assert given == {
        "storage.zpool/tank.member": ("sda", "sdb"),
        "storage.zpool/tank.member/sda.state": "ONLINE",
        "storage.zpool/tank.member/sda.errors.read": 1,
        "storage.zpool/tank.member/sda.errors.write": 2,
        "storage.zpool/tank.member/sda.errors.checksum": 3,
        "storage.zpool/tank.member/sdb.state": "OFFLINE",
        "storage.zpool/tank.member/sdb.errors.read": 0,
        "storage.zpool/tank.member/sdb.errors.write": 0,
        "storage.zpool/tank.member/sdb.errors.checksum": 0,
    }


@pytest.mark.parametrize(
    ("log", "parsed"),
    [
        ({"table": []}, (0, 0)),
        ({}, (0, 0)),
        ({"table": [{"self_test_result": {"value": value}} for value in range(10)]}, (10, 3)),
        (None, Unknown),
        ([], Unknown),
        ({"table": {}}, Unknown),
        ({"table": [{"self_test_result": 0}]}, Unknown),
        ({"table": [{"self_test_result": {"value": -1}}]}, Unknown),
    ],
)
def test_self_tests_that_found_a_failure_are_distinguished_from_aborted_ones(log: object, parsed: object) -> None:
    answer = {"smart_status": {"passed": True}} | ({} if log is None else {"nvme_self_test_log": log})
    found = facts(PROBES["nvme_smart"], answering(PROBES["nvme_smart"], of_each(json.dumps(answer), 0)))
    readings = tuple(found[f"nvme/nvme0.smart.{leaf}"] for leaf in ("self_tests", "self_tests_failed"))
    assert readings == parsed if isinstance(parsed, tuple) else {type(reading) for reading in readings} == {parsed}


def test_a_member_whose_state_is_refused_leaves_its_array_s_counts_unknown() -> None:
    files = tree("storage/sysfs-md-node-exporter", BLOCK)
    place = f"{BLOCK}/md5/md/dev-sdp/state"
    refused = {place: Unknown(Reason.DENIED, "Permission denied")}
    kept = {path: text for path, text in files.items() if path != place}
    found = facts(PROBES["md"], holding(PROBES["md"], kept, refused))
    assert all(isinstance(found[f"storage.md/md5.{leaf}"], Unknown) for leaf in ("active", "failed", "spare"))
    assert found["storage.md/md6.failed"] == 0


@pytest.mark.parametrize(
    ("probe", "collection"),
    [
        ("nvme", "nvme"),
        ("md", "storage.md"),
        ("block", "storage.device"),
        ("nvme_subsystems", "storage.nvme_subsystem"),
    ],
)
def test_a_node_without_any_is_known_to_have_none_and_one_that_was_not_read_is_not(probe: str, collection: str) -> None:
    assert facts(PROBES[probe], holding(PROBES[probe], {}))[collection] == ()
    refused = {glob: Unknown(Reason.DENIED, "Permission denied") for glob in PROBES[probe].ask.globs}  # type: ignore[union-attr]  # it reads
    assert isinstance(facts(PROBES[probe], holding(PROBES[probe], {}, refused))[collection], Unknown)


def test_files_memory_and_doors_are_no_storage_devices() -> None:
    names = ("loop0", "ram1", "zram0", "sr0", "nbd3", "fd0", "nvme0n1", "nvme1c1n1", "sda", "vda", "md0", "dm-0")
    files = {f"{BLOCK}/{name}/size": "8\n" for name in names}
    found = facts(PROBES["block"], holding(PROBES["block"], files))
    assert found["storage.device"] == ("dm-0", "md0", "nvme0n1", "nvme1c1n1", "sda", "vda")


@pytest.mark.parametrize(
    ("content", "word"), [("none\n", "none"), ("[none] mq-deadline \n", "none"), ("noop [cfq]\n", "cfq")]
)
def test_the_scheduler_is_the_word_in_brackets_or_the_only_one(content: str, word: str) -> None:
    found = facts(PROBES["block"], holding(PROBES["block"], {f"{BLOCK}/sda/queue/scheduler": content}))
    assert found["storage.device/sda.scheduler"] == word


def test_a_network_filesystem_without_an_answer_does_not_respond() -> None:
    answer = "mount /a\nmount /b\nok /b 4096 100 50 50 0 0\nend\n"
    found = facts(PROBES["network_mounts"], answering(PROBES["network_mounts"], answer))
    assert found['mount/"/a".responds'] is False
    assert found['mount/"/b".responds'] is True
    assert found['mount/"/b".remote.used_share'] == 50.0
    assert isinstance(found['mount/"/b".remote.inodes_used_share'], Unknown)


SHELLS = [["sh"], ["bash"], ["busybox", "sh"]]


def at_home(text: str, tmp_path: Path, mounts: str, table: str = "") -> str:
    """A question to a node whose mounts and fstab are these files."""
    for name, content in (("mounts", mounts), ("fstab", table)):
        (tmp_path / name).write_text(content)
    return text.replace("/proc/mounts", f"{tmp_path}/mounts").replace("/etc/fstab", f"{tmp_path}/fstab")


def shell_output(shell: list[str], text: str, path: str = "") -> str:
    """The answer of a shell, as on a node."""
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "LC_ALL": "C"}
    try:
        return subprocess.run(
            [*shell, "-c", text], capture_output=True, stdin=subprocess.DEVNULL, text=True, env=environment, check=False
        ).stdout
    except FileNotFoundError:
        pytest.skip(f"no {shell[0]} here")


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_checks_each_network_mount_by_its_true_name_and_no_other(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    mounts = f"srv:/a {tmp_path}/a\\040b lustre rw 0 0\nsrv:/b {tmp_path}/gone nfs4 rw 0 0\n/dev/md0 {tmp_path} ext4 rw 0 0\n"
    probe = PROBES["network_mounts"]
    found = facts(probe, answering(probe, shell_output(shell, at_home(network_mounts.COMMAND, tmp_path, mounts))))
    values = {path: reading for path, reading in found.items() if path.endswith(".responds")}
    assert values == {f'mount/"{tmp_path}/a b".responds': True, f'mount/"{tmp_path}/gone".responds': False}
    assert found[f'mount/"{tmp_path}/gone".remote.size'] == Unknown(Reason.NOT_COLLECTED, "No such file or directory")


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_dead_servers_mount_times_out_and_blocks_nothing(shell: list[str], tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("#!/bin/sh\nexec sleep 600\n")
    stat.chmod(0o755)
    text = at_home(network_mounts.COMMAND, tmp_path, f"srv:/a {tmp_path} nfs rw 0 0\n")
    probe = PROBES["network_mounts"]
    found = facts(probe, answering(probe, shell_output(shell, text.replace("KILL 4", "KILL 1"), str(tmp_path))))
    if shell[0] == "busybox" and found.get(f'mount/"{tmp_path}".responds') is True:
        pytest.skip("this busybox runs a stat of its own")
    assert found[f'mount/"{tmp_path}".responds'] is False


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_no_shell_sends_the_options_of_fstab_home(shell: list[str], tmp_path: Path) -> None:
    table = (
        "# a comment\n\nUUID=1 / ext4 defaults 0 1\n"
        "//srv/share /mnt/share cifs username=bob,password=hushhush 0 0\n"
        "/dev/sdb1 /usb vfat user,noauto 0 0\n/swapfile none swap sw 0 0\n/dev/sdc1 /data\\040set/ xfs defaults"
    )
    mounts = "/dev/md0 / ext4 rw 0 0\n/dev/sdc1 /data\\040set xfs rw 0 0\n"
    answer = shell_output(shell, at_home(fstab.COMMAND, tmp_path, mounts, table))
    assert "hush" not in answer
    assert "bob" not in answer
    assert facts(PROBES["fstab"], answering(PROBES["fstab"], answer)) == {
        "storage.fstab.unmounted": ("/mnt/share",),
        "storage.fstab.unmounted_optional": (),
    }


def test_a_fuse_mount_finds_its_connection_by_its_device() -> None:
    files = {
        "/proc/self/mountinfo": "61 30 0:52 / /jfs rw - fuse.juicefs JuiceFS:data rw\n"
        "62 30 0:53 / /other rw shared:3 - fuse.sshfs srv: rw\n",
        "/sys/fs/fuse/connections/52/waiting": "7\n",
    }
    refused = {"/sys/fs/fuse/connections/53/waiting": Unknown(Reason.DENIED, "Permission denied")}
    found = facts(PROBES["fuse"], holding(PROBES["fuse"], files, refused))
    assert found['mount/"/jfs".fuse.waiting'] == 7
    assert found['mount/"/other".fuse.waiting'] == Unknown(Reason.DENIED, "Permission denied")


@pytest.mark.parametrize("message", ["0000000 ()", "00000000 ()", "203.0.113.15 (203.0.113.15)", "50505300 (PPS)"])
def test_every_way_that_chrony_names_its_reference_is_read(message: str) -> None:
    text = shared_text("services/chronyc-tracking-pps.txt").replace("50505300 (PPS)", message)
    name = message.partition("(")[2].rstrip(")")
    reading = facts(PROBES["chrony"], answering(PROBES["chrony"], text))["time.chrony.reference"]
    assert reading == name if name else isinstance(reading, Absent)


MINE = ("nvme", "nvme_namespaces", "nvme_health", "nvme_smart", "nvme_firmware", "nvme_subsystems", "block", "md",
        "device_mapper", "nfs", "nfs_timeouts", "network_mounts", "fstab", "fuse", "lustre", "gpfs", "zfs", "zfs_members", "gpudirect",
        "chrony", "ntpd", "timesyncd", "time_daemons", "timesync", "mounts")  # fmt: skip


def test_no_fact_of_storage_or_time_has_two_probes() -> None:
    given = [pattern for name in MINE for pattern in PROBES[name].gives]
    assert [pattern for pattern, group in itertools.groupby(sorted(given)) if len(list(group)) > 1] == []


def test_root_runs_only_three_commands_that_only_read() -> None:
    roots = {str(PROBES[name].ask) for name in MINE if getattr(PROBES[name].ask, "root", False)}
    assert roots == {"nvme smart-log -o json /dev/{}", "nvme fw-log -o json /dev/{}", "smartctl -a -j /dev/{}"}


def test_every_list_of_things_is_a_collection_of_its_own_word() -> None:
    lists = {p for name in MINE for p, kind in PROBES[name].gives.items() if kind.type is Type.COLLECTION}
    assert lists == {
        "mount",
        "nvme",
        "nvme/*.namespace",
        "storage.device",
        "storage.md",
        "storage.nvme_subsystem",
        "storage.zpool",
        "storage.zpool/*.member",
    }


# What is absent, and what is unknown


@pytest.mark.parametrize(
    ("files", "values"),
    [
        ({"/proc/sys/kernel/osrelease": "6.18.44\n"}, Absent),
        ({"/proc/sys/kernel/osrelease": "6.8.0\n", "/proc/sys/kernel/modprobe": "/sbin/modprobe\n"}, Unknown),
        ({}, Unknown),
        ({"/proc/modules": "nvme 1 0 - Live 0x0\n"}, Absent),
    ],
)
def test_a_kernel_that_can_load_no_module_has_no_gpudirect(files: dict[str, str], values: type) -> None:
    given = facts(PROBES["gpudirect"], holding(PROBES["gpudirect"], files))
    assert isinstance(given["storage.gpudirect.version"], values)


def test_no_clock_is_off_by_minus_nothing() -> None:
    slow = (
        "Reference ID    : 0A000A0A (10.0.10.10)\nStratum         : 3\n"
        "System time     : 0.000000000 seconds slow of NTP time\nLast offset     : -0.000009172 seconds\n"
        "RMS offset      : 0.000021604 seconds\nRoot delay      : 0.000913210 seconds\n"
        "Root dispersion : 0.000427718 seconds\nLeap status     : Normal\n"
    )
    offsets = [
        facts(PROBES["chrony"], answering(PROBES["chrony"], slow))["time.chrony.offset"],
        facts(PROBES["clock"], answering(PROBES["clock"], "1795245121.443 1795245121.440\n"))["time.offset"],
    ]
    assert [str(offset) for offset in offsets] == ["0.0", "0.0"]
