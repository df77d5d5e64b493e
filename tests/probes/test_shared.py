"""Public recordings of machines: what the probes read in them, value for value."""

import re

import pytest
from recordings import answering, facts, holding, ours, shared_text
from shared_cases import PROBES, Case, command, file, folder

from rackcheck.model.capture import NodeCapture, Output
from rackcheck.model.fact import Absent, Unknown
from rackcheck.model.path import parse

CPUS = "/sys/devices/system/cpu"
PCI = "/sys/bus/pci/devices"


def dmi(recording: str) -> NodeCapture:
    """The DMI strings of a dmidecode recording, in the files where the kernel shows the same strings."""
    table = shared_text(recording)
    shown = {}
    for section, files in {
        "BIOS Information": {"Vendor": "bios_vendor", "Version": "bios_version", "Release Date": "bios_date"},
        "System Information": {
            "Manufacturer": "sys_vendor",
            "Product Name": "product_name",
        },
        "Base Board Information": {"Product Name": "board_name"},
    }.items():
        body = table.partition(f"\n{section}\n")[2].partition("\n\n")[0]
        for field, name in files.items():
            match = re.search(rf"^\t{field}: (.*)$", body, re.MULTILINE)
            if match:
                shown[f"/sys/class/dmi/id/{name}"] = f"{match[1]}\n"
    return holding(PROBES["dmi"], shown)


def starts(recording: str) -> str:
    """The lines of a Fabric Manager's log that the node would return: those of its starts."""
    found = [
        row for row in shared_text(recording).splitlines() if re.search("Fabric Manager version .* is running", row)
    ]
    return "".join(f"{row}\n" for row in found)


def proc_sys(recording: str, *names: str) -> NodeCapture:
    """Lines of a `sysctl -a` recording, in the files that it prints."""
    lines = dict(row.split(" = ", 1) for row in shared_text(recording).splitlines() if " = " in row)
    files = {f"/proc/sys/{name.replace('.', '/')}": f"{lines[name]}\n" for name in names}
    ask = PROBES["sysctl"].ask.asking(WANTED)
    return NodeCapture(globs=dict.fromkeys(str(ask).split()), files=files)


WANTED = [parse("sysctl.dev.hpet/max-user-freq"), parse("sysctl.net.ipv4.tcp_adv_win_scale"), parse("sysctl.vm.gone")]


def centos_services() -> NodeCapture:
    """The services of one CentOS 7 machine: `systemctl -a` and `list-unit-files`, in the form of `show`."""
    units = re.findall(
        r"^[● ] (\S+\.service) +(\S+) +(\S+) +(\S+) ", shared_text("services/systemctl-centos77.txt"), re.MULTILINE
    )
    listed = re.findall(
        r"^(\S+\.service) +(\S+) *$", shared_text("services/systemctl-list-unit-files-centos77.txt"), re.MULTILINE
    )
    enabled = dict(listed)
    shown = [
        f"Id={name}\nNames={name}\nLoadState={load}\nActiveState={active}\nSubState={sub}\n"
        f"UnitFileState={enabled.get(name, '')}\n"
        for name, load, active, sub in units
    ]
    rows = "".join(f"{name} {state}\n" for name, state in listed)
    return answering(PROBES["services"], "\n".join(shown) + f"\n-- unit files --\n{rows}")


CASES = [
    command(
        "cpu",
        "cpu/lscpu-epyc-7302p.txt",
        {
            "cpu.model": "AMD EPYC 7302P 16-Core Processor",
            "cpu.vendor": "AuthenticAMD",
            "cpu.threads": 32,
            "cpu.sockets": 1,
            "cpu.cores": 16,
            "cpu.threads_per_core": 2,
            "numa.nodes": 1,
            "cpu.hypervisor": Absent,
        },
    ),
    command(
        "cpu",
        "cpu/lscpu-epyc-7742.txt",
        {"cpu.threads": 128, "cpu.sockets": 2, "cpu.cores": 128, "cpu.threads_per_core": 1, "numa.nodes": 2},
    ),
    command(
        "cpu",
        "cpu/lscpu-xeon-8171m.txt",
        {"cpu.threads": 104, "cpu.cores_per_socket": 26, "cpu.cores": 52, "cpu.vendor": "GenuineIntel"},
    ),
    # A Xen guest: every virtual CPU is a thread of the one core.
    command(
        "cpu",
        "cpu/lscpu-xeon-8280.txt",
        {"cpu.threads": 112, "cpu.threads_per_core": 112, "cpu.cores": 1, "cpu.hypervisor": "Xen"},
    ),
    # util-linux 2.37: indented, in sections, the flags wrapped in the middle of a word.
    command(
        "cpu",
        "cpu/lscpu-new-format.txt",
        {
            "cpu.model": "Intel Core Processor (Haswell, no TSX, IBRS)",
            "cpu.threads": 2,
            "cpu.sockets": 2,
            "cpu.cores": 2,
            "numa.nodes": 1,
            "cpu.hypervisor": "KVM",
        },
    ),
    command(
        "timesync",
        "services/timedatectl-centos77.txt",
        {"time.synchronized": True, "time.ntp_enabled": True, "time.zone": "America/Los_Angeles"},
    ),
    command(
        "timesync",
        "services/timedatectl-ubuntu1804.txt",
        {"time.synchronized": True, "time.ntp_enabled": True, "time.zone": "Etc/UTC"},
    ),
    command(
        "cmdline",
        "os/proc-cmdline-procfs.txt",
        {
            "cmdline.arguments": (
                "BOOT_IMAGE=/vmlinuz-5.11.0-22-generic",
                "root=UUID=456a0345-450d-4f7b-b7c9-43e3241d99ad",
                "ro",
                "quiet",
                "splash",
                "vt.handoff=7",
            ),
            "cmdline.argument": ("BOOT_IMAGE", "quiet", "ro", "root", "splash", "vt.handoff"),
            "cmdline.argument/root.value": "UUID=456a0345-450d-4f7b-b7c9-43e3241d99ad",
            'cmdline.argument/"vt.handoff".value': "7",
            "cmdline.argument/quiet.value": Absent,
            "cmdline.argument/quiet.present": True,
        },
    ),
    file(
        "memory",
        "memory/proc-meminfo.txt",
        "/proc/meminfo",
        {
            "memory.total": 3997272 / 2**20,
            "memory.available": 3386876 / 2**20,
            "memory.swap.total": 3996668 / 2**20,
            "memory.swap.used": 0.0,
            "memory.hugepages.total": 0,
            "memory.hugepages.size": 2048.0,
            "memory.corrupted": 0.0,
        },
    ),
    # A kernel before 3.14, which does not report what is available.
    file(
        "memory",
        "memory/ne-proc-meminfo.txt",
        "/proc/meminfo",
        {
            "memory.total": 3742148 / 2**20,
            "memory.swap.used": (4194300 - 3155360) / 2**20,
            "memory.available": Absent,
        },
    ),
    file(
        "mounts",
        "os/proc-mounts-rhel.txt",
        "/proc/mounts",
        {
            'mount/"/".type': "ext4",
            'mount/"/".source': "/dev/mapper/rootvg-rootlv",
            'mount/"/".options': ("rw", "relatime", "barrier=1", "data=ordered"),
            'mount/"/".read_only': False,
            'mount/"/users".type': "nfs",
            'mount/"/users".source': "/vol/vol9/home",
            'mount/"/misc".type': "autofs",
        },
    ),
    file(
        "modules",
        "os/proc-modules.txt",
        "/proc/modules",
        {"module/vsock.loaded": True, "module/snd_ac97_codec.loaded": True, "module/vsock.version": Absent},
    ),
    folder(
        "cpufreq",
        "cpu/sysfs-cpu-node-exporter",
        CPUS,
        {
            "cpu.frequency": ("0", "1", "2", "3"),
            "cpu.frequency/0.governor": "powersave",
            "cpu.frequency/0.driver": "intel_pstate",
            "cpu.frequency/0.limit_max": 3700.0,
            "cpu.frequency/3.limit_max": 4200.0,
            "cpu.frequency/0.epp": Absent,
            "cpu.frequency/0.hardware_max": Absent,
        },
    ),
    folder(
        "mitigations",
        "os/sysfs-cpu-vulnerabilities-procfs",
        f"{CPUS}/vulnerabilities",
        {
            "cpu.vulnerability/mds.state": "Vulnerable",
            "cpu.vulnerability/itlb_multihit.state": "KVM: Mitigation: VMX unsupported",
            "cpu.vulnerability/tsx_async_abort.state": "Not affected",
            "cpu.vulnerability/srbds.state": "Unknown: Dependent on hypervisor status",
        },
    ),
    folder(
        "edac",
        "memory/sysfs-edac-node-exporter",
        "/sys/devices/system/edac",
        {
            "memory.controller": ("mc0",),
            "memory.controller/mc0.corrected": 1,
            "memory.controller/mc0.uncorrected": 5,
        },
    ),
    folder(
        "numa",
        "memory/sysfs-node-node-exporter",
        "/sys/devices/system/node",
        {
            "numa.node": ("0", "1", "2"),
            "numa.node/0.cpus": "0-1",
            "numa.node/1.cpus": "2-3",
            "numa.node/2.cpus": Absent,
            "numa.node/0.memory": 134182340 / 2**20,
            "numa.node/2.memory": 128.0,
        },
    ),
    folder(
        "pcie",
        "pcie/sysfs-pci-nfd",
        "/sys",
        {
            'pcie/"0000:3b:00.0".class': "0x0b4000",
            'pcie/"0000:3b:00.0".vendor': "0x8086",
            'pcie/"0000:3b:00.0".device': "0x37c8",
            'pcie/"0000:3b:00.0".link.speed': 5.0,
            'pcie/"0000:3b:00.0".link.width': 16,
            'pcie/"0000:3b:00.0".numa': 0,
            # A port that trained below what it could.
            'pcie/"0000:00:1c.0".link.speed': 5.0,
            'pcie/"0000:00:1c.0".link.max_speed': 8.0,
            # Inside the processor: current 0, highest 255, both speeds "Unknown".
            'pcie/"0000:00:04.0".link.width': Absent,
            'pcie/"0000:00:04.0".link.max_width': Absent,
            'pcie/"0000:00:04.0".link.speed': Absent,
            'pcie/"0000:00:04.0".link.max_speed': Absent,
            # No PCI Express at all.
            'pcie/"0000:02:00.0".class': "0x030000",
            'pcie/"0000:02:00.0".link.width': Absent,
        },
    ),
    folder(
        "pcie",
        "pcie/sysfs-pci-0045-node-exporter",
        f"{PCI}/0000:45:00.0",
        {"pcie": ("0000:45:00.0",), 'pcie/"0000:45:00.0".link.max_width': 4, 'pcie/"0000:45:00.0".numa': 0},
    ),
    folder(
        "pcie",
        "pcie/sysfs-pci-0101-procfs",
        f"{PCI}/0000:00:02.1",
        {
            'pcie/"0000:00:02.1".link.width': 4,
            'pcie/"0000:00:02.1".link.max_width': 8,
            'pcie/"0000:00:02.1".numa': Absent,
        },
    ),
    folder(
        "infiniband",
        "infiniband/sysfs-infiniband-procfs",
        "/sys/class/infiniband",
        {
            "nic": ("hfi1_0", "mlx4_0", "mlx5_0"),
            "nic/mlx4_0.port": ("1", "2"),
            "nic/mlx5_0.firmware": "14.28.2006",
            "nic/mlx5_0.psid": "SM_2001000001034",
            "nic/mlx5_0.type": "MT4118",
            "nic/mlx5_0.guid": "0a7f:bc12:45ef:d23b",
            "nic/mlx5_0.port/1.rate": 25.0,
            "nic/mlx5_0.port/1.width": "1X",
            "nic/mlx4_0.port/2.state": "ACTIVE",
            "nic/mlx4_0.port/2.physical": "LinkUp",
            "nic/mlx4_0.port/2.rate": 40.0,
            "nic/mlx4_0.port/2.link_layer": "InfiniBand",
            "nic/hfi1_0.port/1.rate": 100.0,
            "nic/hfi1_0.type": Absent,
            "nic/hfi1_0.guid": Absent,
        },
    ),
    Case(
        "fabric_manager",
        "logs/fabric-manager-0.log",
        lambda: answering(PROBES["fabric_manager"], starts("logs/fabric-manager-0.log")),
        {"driver.fabric_manager": "535.161.08"},
    ),
    Case(
        "dmi",
        "memory/dmidecode-asus-esc8000-g4.txt",
        lambda: dmi("memory/dmidecode-asus-esc8000-g4.txt"),
        {"node.vendor": "ASUSTeK COMPUTER INC.", "node.product": "ESC8000 G4"},
    ),
    Case(
        "dmi",
        "memory/dmidecode-supermicro-as-4124gs-tnr.txt",
        lambda: dmi("memory/dmidecode-supermicro-as-4124gs-tnr.txt"),
        {
            "node.vendor": "Supermicro",
            "node.product": "AS -4124GS-TNR",
            "os.bios.vendor": "American Megatrends Inc.",
            "os.bios.version": "2.0",
            "os.bios.date": "03/12/2021",
        },
    ),
    Case(
        "services",
        "services/systemctl-centos77.txt",
        centos_services,
        {
            "service/chronyd.active": "active",
            "service/chronyd.state": "running",
            "service/chronyd.enabled": "enabled",
            "service/cpupower.active": "inactive",
            # A file that nothing has loaded: systemd calls that inactive.
            "service/arp-ethers.active": "inactive",
            "service/arp-ethers.enabled": "disabled",
        },
    ),
    Case(
        "sysctl",
        "os/sysctl-a-ubuntu1804.txt",
        lambda: proc_sys(
            "os/sysctl-a-ubuntu1804.txt",
            *("vm.swappiness", "kernel.threads-max", "fs.file-max", "net.ipv4.tcp_rmem"),
            *("dev.hpet.max-user-freq", "net.ipv4.tcp_adv_win_scale"),
        ),
        {
            "sysctl.vm.swappiness": 60,
            "sysctl.kernel/threads-max": 15270,
            "sysctl.fs/file-max": 194386,
            "sysctl.net.ipv4.tcp_rmem": "4096 131072 6291456",
            "sysctl.dev.hpet/max-user-freq": "64",
            "sysctl.net.ipv4.tcp_adv_win_scale": "1",
            "sysctl.vm.gone": Absent,
            "sysctl.vm.dirty_ratio": Absent,
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.probe}-{case.machine.rpartition('/')[2]}")
def test_a_recorded_machine_is_read_value_for_value(case: Case) -> None:
    given = facts(PROBES[case.probe], case.capture(), WANTED)
    for path, expected in case.expected.items():
        if expected is Absent:
            assert isinstance(given[path], Absent), (path, given[path])
        else:
            assert given[path] == expected, path


def test_a_probe_has_a_recording() -> None:
    assert set(PROBES) - {place.parent.name for place in ours()} - {case.probe for case in CASES} == set()


def test_services_that_are_not_there_are_no_services() -> None:
    given = facts(PROBES["services"], centos_services())
    assert "service/cloud-init.active" not in given
    assert not [path for path in given if "@.service" in path or "autovt@" in path]
    assert isinstance(given["service"], tuple)


def test_one_unit_of_a_real_systemctl_show_is_read_among_unneeded_properties() -> None:
    tuned = shared_text("services/systemctl-show.txt").partition("\nId=tuned.service")[2]
    shown = f"Id=tuned.service{tuned.rstrip()}\n\n-- unit files --\n"
    given = facts(PROBES["services"], answering(PROBES["services"], shown))
    assert given["service/tuned.active"] == "active"
    assert given["service/tuned.enabled"] == "enabled"
    assert given["service"] == ("tuned",)


@pytest.mark.parametrize("case", [c for c in CASES if c.probe in {"cpu", "timesync", "cmdline", "memory", "mounts"}])
def test_a_cut_recording_gives_no_fact_that_the_whole_one_lacks(case: Case) -> None:
    probe, whole = PROBES[case.probe], case.capture()
    expected = facts(probe, whole)
    (text,) = [*whole.files.values(), *(o.out for o in whole.commands.values() if isinstance(o, Output))]
    for cut in range(0, len(text), 7):
        part = text[:cut]
        capture = holding(probe, dict.fromkeys(whole.files, part)) if whole.files else answering(probe, part)
        for path, reading in facts(probe, capture).items():
            assert isinstance(reading, Unknown) or reading == expected[path] or path in {"mount"}, (cut, path)
