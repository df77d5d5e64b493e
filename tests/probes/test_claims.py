"""What the OS probes promise beyond reading a good answer: secrets, odd words, and unknown values."""

import math
import subprocess
from pathlib import Path

import pytest
from recordings import answering, facts, holding, os_probes

from rackcheck.model import text as read
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.path import parse
from rackcheck.model.question import Read, Shell

PROBES = os_probes()
PCI = "/sys/bus/pci/devices/0000:17:00.0"
DENIED = Unknown(Reason.DENIED, "Permission denied")


def answered(name: str, text: str) -> dict[str, Reading]:
    """The facts of a node whose command prints this."""
    return facts(PROBES[name], answering(PROBES[name], text))


def held(name: str, files: dict[str, str], refused: dict[str, Unknown] | None = None) -> dict[str, Reading]:
    """The facts of a node with these files."""
    return facts(PROBES[name], holding(PROBES[name], files, refused))


def test_secrets_of_the_command_line_never_leave_the_node(tmp_path: Path) -> None:
    place = tmp_path / "cmdline"
    place.write_text(
        'ro "api_token=s3cret one" luks.Password=s3cret foo="a b" rd.key="s3cret two" monkey=s3cret quiet\n'
    )
    ask = PROBES["cmdline"].ask
    assert isinstance(ask, Shell)
    out = subprocess.run(
        ["sh", "-c", ask.command.replace("/proc/cmdline", str(place))], capture_output=True, text=True, check=True
    ).stdout
    assert "s3cret" not in out
    given = answered("cmdline", out)
    assert given["cmdline.argument/api_token.value"] == Unknown(Reason.DENIED, "withheld: the name suggests a secret")
    assert given["cmdline.argument/api_token.present"] is True
    assert given["cmdline.argument/foo.value"] == "a b"
    assert given["cmdline.argument/quiet.present"] is True


def test_a_secret_that_was_not_taken_out_on_the_node_is_withheld_here() -> None:
    given = answered("cmdline", "root=/dev/sda1 db_password=s3cret\n")
    assert "s3cret" not in str(given)
    assert given["cmdline.arguments"] == ("root=/dev/sda1", "db_password=<withheld>")


def test_of_a_repeated_argument_the_last_value_counts_and_inits_own_are_left_out() -> None:
    given = answered("cmdline", "console=tty0 console=ttyS0,115200 iommu=pt -- single\n")
    assert given["cmdline.argument/console.value"] == "ttyS0,115200"
    assert given["cmdline.arguments"] == ("console=tty0", "console=ttyS0,115200", "iommu=pt")
    assert given["cmdline.argument"] == ("console", "iommu")


@pytest.mark.parametrize(
    "path",
    [
        "sysctl.net.ipv4.tcp_fastopen_key",
        "sysctl.net.ipv6.conf.eth0.stable_secret",
        'sysctl.net.ipv6.conf/"eth0.100".stable_secret',
        "sysctl.kernel.random.boot_id",
        'sysctl.kernel/"../../../etc/shadow"',
        'sysctl.net.ipv4/"tcp_*"',
        "sysctl.net.ipv4/*",
    ],
)
def test_a_profile_cannot_name_a_secret_a_pattern_or_a_file_outside_the_family(path: str) -> None:
    ask = PROBES["sysctl"].ask
    assert isinstance(ask, Read)
    assert ask.asking([parse(path)]).globs == ask.globs


def test_a_named_tunable_is_read_from_its_file() -> None:
    ask = PROBES["sysctl"].ask.asking([parse("sysctl.dev.hpet/max-user-freq")])
    assert isinstance(ask, Read)
    assert "/proc/sys/dev/hpet/max-user-freq" in ask.globs


def test_a_tunable_that_only_root_may_read_is_denied_not_absent() -> None:
    place = "/proc/sys/vm/swappiness"
    assert held("sysctl", {}, {place: DENIED})["sysctl.vm.swappiness"] == DENIED


def test_what_the_maker_left_blank_is_unknown_not_a_name() -> None:
    folder = "/sys/class/dmi/id"
    given = held(
        "dmi",
        {
            f"{folder}/sys_vendor": "To Be Filled By O.E.M.\n",
            f"{folder}/board_name": "\n",
            f"{folder}/bios_version": "2.0\n",
        },
        {f"{folder}/bios_date": DENIED},
    )
    assert isinstance(given["node.vendor"], Unknown)
    assert isinstance(given["node.board"], Unknown)
    assert given["os.bios.date"] == DENIED
    assert given["os.bios.version"] == "2.0"
    assert isinstance(given["node.product"], Absent)


def test_without_an_edac_driver_memory_errors_are_unknown_not_none() -> None:
    given = held("edac", {})["memory.controller"]
    assert isinstance(given, Unknown)
    assert given.reason is Reason.TOOL_MISSING


def test_the_last_of_two_mounts_on_one_point_counts_and_blanks_come_back() -> None:
    mounts = "/dev/sda1 /data ext4 rw 0 0\n/dev/sdb1 /data xfs ro,noatime 0 0\n/dev/sdc1 /my\\040disk ext4 rw 0 0\n"
    given = held("mounts", {"/proc/mounts": mounts + "tmpfs /run/user/1000 tmpfs rw 0 0\n"})
    assert given['mount/"/data".type'] == "xfs"
    assert given['mount/"/data".read_only'] is True
    assert given["mount"] == ("/data", "/my disk")


def test_a_filesystem_that_does_not_count_is_absent_not_empty() -> None:
    header = "Filesystem     1024-blocks      Used Available Capacity Mounted on\n"
    given = answered("space", f"{header}/dev/sda 1 2097152 1048576 1048576 50% /a b\nnone - - - - /x\n")
    assert given['mount/"/a b".size'] == 2.0
    assert given['mount/"/a b".free'] == 1.0
    assert given['mount/"/a b".used_share'] == 50.0
    assert isinstance(given['mount/"/x".size'], Absent)
    given = answered("inodes", f"{header}/dev/sdb 0 0 0 - /btrfs\n")
    assert isinstance(given['mount/"/btrfs".inodes.total'], Absent)


def test_df_without_a_table_is_unreadable() -> None:
    given = answered("space", "df: /secret: Permission denied\n")
    # No mount was read: the probe `mounts` lists the mounts; the reason for their missing size is reported once.
    assert set(given) == {"mount/*.size", "mount/*.free", "mount/*.used_share"}
    assert all(isinstance(reading, Unknown) and reading.reason is Reason.UNPARSABLE for reading in given.values())


def test_unlimited_is_above_all_numbers_and_bytes_are_kib() -> None:
    table = (
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max stack size            8388608              unlimited            bytes     \n"
        "Max locked memory         unlimited            unlimited            bytes     \n"
        "Max open files            1024                 1048576              files     \n"
        "Max nice priority         0                    0                    \n"
    )
    given = held("limits", {"/proc/self/limits": table})
    assert given["limits.stack.soft"] == 8192.0
    assert given["limits.stack.hard"] == given["limits.memlock.soft"] == math.inf
    assert (given["limits.nofile.soft"], given["limits.nofile.hard"]) == (1024, 1048576)
    assert given["limits.nproc.soft"] == Unknown(Reason.NOT_COLLECTED, "the answer does not contain it")


@pytest.mark.parametrize(
    ("row", "expected"),
    [("NTP service: active", True), ("NTP service: inactive", False), ("NTP service: n/a", Absent)],
)
def test_timedatectl_since_systemd_239_reports_its_time_service(row: str, expected: bool | type[Absent]) -> None:
    given = answered("timesync", f"  Time zone: UTC (UTC, +0000)\nSystem clock synchronized: no\n{row}\n")
    assert given["time.synchronized"] is False
    reading = given["time.ntp_enabled"]
    assert isinstance(reading, Absent) if expected is Absent else reading is expected


def test_a_third_word_of_timedatectl_is_not_a_no() -> None:
    given = answered("timesync", "Time zone: UTC\nSystem clock synchronized: maybe\n")
    assert isinstance(given["time.synchronized"], Unknown)


def test_a_device_that_fell_off_the_bus_has_an_unknown_link_not_a_narrow_one() -> None:
    files = {
        "class": "0x030200\n",
        "vendor": "0x10de\n",
        "current_link_speed": "Unknown\n",
        "current_link_width": "63\n",
        "max_link_speed": "32.0 GT/s PCIe\n",
        "max_link_width": "16\n",
    }
    given = held("pcie", {f"{PCI}/{name}": text for name, text in files.items()})
    assert isinstance(given['pcie/"0000:17:00.0".link.width'], Unknown)
    assert isinstance(given['pcie/"0000:17:00.0".link.speed'], Unknown)
    assert given['pcie/"0000:17:00.0".link.max_speed'] == 32.0
    assert given['pcie/"0000:17:00.0".link.max_width'] == 16


def test_a_link_speed_of_an_older_kernel_is_the_same_number() -> None:
    given = held("pcie", {f"{PCI}/class": "0x020700\n", f"{PCI}/current_link_speed": "8 GT/s\n"})
    assert given['pcie/"0000:17:00.0".link.speed'] == 8.0


def test_a_port_without_signal_is_down_and_still_there() -> None:
    folder = "/sys/class/infiniband/mlx5_3/ports/1"
    given = held(
        "infiniband",
        {f"{folder}/state": "1: DOWN\n", f"{folder}/phys_state": "3: Disabled\n", f"{folder}/rate": "10 Gb/sec (4X)\n"},
    )
    assert given["nic/mlx5_3.port/1.state"] == "DOWN"
    assert given["nic/mlx5_3.port/1.physical"] == "Disabled"
    assert given["nic/mlx5_3.port/1.rate"] == 10.0
    assert given["nic"] == ("mlx5_3",)


def test_a_failed_service_is_failed_and_one_of_our_own_login_is_left_out() -> None:
    def unit(name: str, active: str, sub: str) -> str:
        return f"Id={name}\nNames={name}\nLoadState=loaded\nActiveState={active}\nSubState={sub}\nUnitFileState=\n"

    shown = "\n".join([unit("a.service", "failed", "failed"), unit("sshd@3-10.0.0.1:22.service", "active", "running")])
    given = answered("services", f"{shown}\n-- unit files --\ngetty@.service enabled enabled\n")
    assert given["service/a.active"] == "failed"
    assert isinstance(given["service/a.enabled"], Absent)
    assert given["service"] == ("a",)


def test_without_systemd_the_services_are_unknown_with_its_own_words() -> None:
    output = "System has not been booted with systemd as init system (PID 1). Can't operate.\n"
    given = facts(PROBES["services"], answering(PROBES["services"], "", status=1, err=output))
    assert given["service"] == Unknown(Reason.NOT_COLLECTED, output.strip())


def test_a_kernel_without_modules_has_none_and_one_that_hides_them_is_unknown() -> None:
    linux = {"/proc/sys/kernel/osrelease": "6.18.44\n"}
    assert held("modules", linux)["module"] == ()
    for hidden in ({}, {**linux, "/proc/sys/kernel/modprobe": "/sbin/modprobe\n"}):
        module = held("modules", {**hidden, "/sys/module/nvme/version": "1.0\n"})["module"]
        assert isinstance(module, Unknown), hidden
        assert module.reason is Reason.NOT_COLLECTED
    assert held("modules", {}, {"/proc/modules": DENIED})["module"] == Unknown(
        Reason.DENIED, "/proc/modules: Permission denied"
    )


def test_a_loading_module_is_not_loaded_and_reports_its_version() -> None:
    given = held(
        "modules",
        {
            "/proc/modules": "nvidia 56713216 0 - Loading 0x0000000000000000 (POE)\n",
            "/sys/module/nvidia/version": "580.105.08\n",
        },
    )
    assert given["module/nvidia.loaded"] is False
    assert given["module/nvidia.version"] == "580.105.08"


def test_intels_turbo_switch_is_upside_down() -> None:
    assert held("turbo", {"/sys/devices/system/cpu/intel_pstate/no_turbo": "1\n"})["cpu.turbo"] is False
    assert held("turbo", {"/sys/devices/system/cpu/cpufreq/boost": "1\n"})["cpu.turbo"] is True


def test_two_microcodes_on_one_machine_are_both_named() -> None:
    text = "".join(f"      1 microcode\t: 0x2b00057{n}\n" for n in (0, 1))
    given = answered("microcode", f"{text}      1 processor\t: 0\n      1 processor\t: 1\nend\n")
    assert given["cpu.microcode"] == "0x2b000570, 0x2b000571"


def test_a_cpu_that_is_there_but_offline_is_counted_and_an_empty_socket_is_not() -> None:
    folder = "/sys/devices/system/cpu"
    given = held(
        "cpu_online", {f"{folder}/present": "0-7\n", f"{folder}/online": "0-5,7\n", f"{folder}/offline": "6,8-127\n"}
    )
    assert given["cpu.offline"] == 1


@pytest.mark.parametrize(("present", "online"), [("0-7\n", "\n"), ("0-7\n", ""), ("\n", "0-7\n"), ("0\n", "0-7\n")])
def test_cpus_of_which_none_is_online_or_that_are_not_there_are_no_answer(present: str, online: str) -> None:
    folder = "/sys/devices/system/cpu"
    offline = held("cpu_online", {f"{folder}/present": present, f"{folder}/online": online})["cpu.offline"]
    assert isinstance(offline, Unknown)
    assert offline.reason is Reason.UNPARSABLE


def test_what_lscpu_could_not_find_out_is_unknown_not_a_dash() -> None:
    given = answered("cpu", "CPU(s): 4\nModel name: -\nCore(s) per cluster: 4\nSocket(s): -\nNUMA node0 CPU(s): 0-3\n")
    assert given["cpu.threads"] == 4
    assert all(isinstance(given[f"cpu.{leaf}"], Unknown) for leaf in ("model", "sockets", "cores", "cores_per_socket"))


def test_a_cut_lscpu_is_unreadable_not_guessed() -> None:
    given = answered("cpu", "Architecture: x86_64\nCPU(s): 128\nModel name: AMD EPYC")
    assert {type(reading) for reading in given.values()} == {Unknown}


def test_a_mask_of_taint_is_a_number() -> None:
    assert held("tainted", {"/proc/sys/kernel/tainted": "12289\n"})["kernel.tainted"] == 12289


def test_a_system_in_a_container_reports_it() -> None:
    assert held("init", {"/proc/1/comm": "systemd\n"})["os.container"] == Absent(
        "no /run/systemd/container or /run/.containerenv or /.dockerenv"
    )
    assert held("init", {"/run/systemd/container": "systemd-nspawn\n"})["os.container"] == "systemd-nspawn"


@pytest.mark.parametrize("option", ["hidepid=2", "hidepid=invisible", "gid=27,hidepid=ptraceable"])
def test_a_hidden_process_1_is_unknown_and_hidepid_is_named(option: str) -> None:
    init = held("init", {"/proc/mounts": f"proc /proc proc rw,nosuid,{option} 0 0\n"})["os.init"]
    assert isinstance(init, Unknown)
    assert init.reason is Reason.DENIED
    assert option.rpartition(",")[2] in init.detail


def test_a_system_without_a_process_1_is_unknown_not_one_without_init() -> None:
    init = held("init", {"/proc/mounts": "proc /proc proc rw,nosuid 0 0\n"})["os.init"]
    assert isinstance(init, Unknown)
    assert init.reason is Reason.NOT_COLLECTED


def test_a_mark_of_a_container_that_may_not_be_read_names_no_container() -> None:
    assert held("init", {}, {"/.dockerenv": DENIED})["os.container"] == DENIED


def test_a_quote_that_never_closes_is_unreadable() -> None:
    given = held("os_release", {"/etc/os-release": 'ID=ubuntu\nPRETTY_NAME="Ubuntu 22.\n'})
    assert isinstance(given["os.release.id"], Unknown)


def test_a_distribution_without_a_version_has_none() -> None:
    given = held("os_release", {"/usr/lib/os-release": "ID=arch\nPRETTY_NAME='Arch Linux'\n# VERSION_ID=1\n"})
    assert given["os.release.id"] == "arch"
    assert given["os.release.name"] == "Arch Linux"
    assert isinstance(given["os.release.version_id"], Absent)


def test_a_list_that_names_its_cpus_again_and_again_is_unreadable_not_slow() -> None:
    with pytest.raises(Unreadable):
        read.numbers("0-65535," * 100_000)
    assert read.numbers("0-3,8") == {0, 1, 2, 3, 8}
