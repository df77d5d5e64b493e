"""CPUs, memory and firmware tables from public recordings: what the probes read in them, value for value."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from recordings import answering, facts, holding, os_probes, ours, shared_text
from shared_cases import Case, command, file, folder

from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.sim import machine
from rackcheck_probes.cpu.grace import COMMAND as GRACE
from rackcheck_probes.cpu.heat import COMMAND as HEAT
from rackcheck_probes.os.dmi_table import TABLE

PROBES = os_probes()
CPUS = "/sys/devices/system/cpu"
NODES = "/sys/devices/system/node"
EDAC = "/sys/devices/system/edac"

DMIDECODE: Mapping[str, Mapping[str, Mapping[str, Reading | type[Absent]]]] = {
    "asrock-e3c246": {
        "dimm": {
            "dimm": ("ChannelA-DIMM0", "ChannelB-DIMM0"),
            "dimm/ChannelA-DIMM0.size": 16,
            "dimm/ChannelA-DIMM0.type": "DDR4",
            "dimm/ChannelA-DIMM0.form_factor": "SODIMM",
            "dimm/ChannelA-DIMM0.speed.rated": 2666,
            "dimm/ChannelA-DIMM0.speed.configured": 2400,
            "dimm/ChannelA-DIMM0.voltage": 1.2,
            "dimm/ChannelA-DIMM0.rank": 2,
            "dimm/ChannelA-DIMM0.ecc": True,
            "dimm/ChannelA-DIMM0.bank": "BANK 0",
            "dimm/ChannelA-DIMM0.channel": "ChannelA",
            "dimm/ChannelA-DIMM0.manufacturer": "Micron",
            "dimm/ChannelA-DIMM0.part_number": "18ASF2G72HZ-2G6E1",
            "dimm/ChannelA-DIMM0.serial": "F0F9053F",
            "dimm/ChannelB-DIMM0.serial": "F0F90894",
            "dimm/ChannelB-DIMM0.channel": "ChannelB",
        },
        "memory_slots": {
            "memory.slots": 4,
            "memory.slots_empty": ("ChannelA-DIMM1", "ChannelB-DIMM1"),
            "memory.dimm_count": 2,
            "memory.installed": 32,
            "memory.capacity": 128,
            "memory.ecc": "Single-bit ECC",
            "memory.channels": 2,
            "memory.dimms_per_channel": ("1",),
        },
        "cpu_sockets": {
            "cpu.socket": ("CPU1",),
            "cpu.socket/CPU1.model": "Intel(R) Xeon(R) E-2278G CPU @ 3.40GHz",
            "cpu.socket/CPU1.id": "ED 06 09 00 FF FB EB BF",
            "cpu.socket/CPU1.signature": "Type 0, Family 6, Model 158, Stepping 13",
            "cpu.socket/CPU1.status": "Populated, Enabled",
            "cpu.socket/CPU1.speed.most": 8300,
            "cpu.socket/CPU1.speed.boot": 3400,
            "cpu.socket/CPU1.cores": 8,
            "cpu.socket/CPU1.cores_enabled": 8,
            "cpu.socket/CPU1.threads": 16,
            "cpu.sockets_empty": (),
        },
        "slots": {
            "node.slot": ("M_2_1", "OCU1", "OCU2", "PCIE7"),
            "node.slot/PCIE7.type": "x16 PCI Express 3 x16",
            "node.slot/PCIE7.usage": "In Use",
            "node.slot/PCIE7.pci": "0000:01:00.0",
            "node.slot/OCU1.usage": "Available",
        },
        "dmi_root": {
            "node.uuid": "00000000-0000-0000-0000-d05099f030c4",
            "node.board_serial": "196231220000153",
            "node.chassis_serial": "K61203057200139",
            "os.bios.rom_size": 32,
        },
    },
    "asus-esc8000-g4": {
        "dimm": {
            "dimm": ("DIMM_A1", "DIMM_B1", "DIMM_D1", "DIMM_E1", "DIMM_G1", "DIMM_H1", "DIMM_K1", "DIMM_L1"),
            "dimm/DIMM_A1.size": 32,
            "dimm/DIMM_A1.bank": "NODE 1",
            "dimm/DIMM_L1.bank": "NODE 4",
            "dimm/DIMM_L1.speed.rated": 2666,
            "dimm/DIMM_L1.speed.configured": 2400,
            "dimm/DIMM_L1.part_number": "M393A4K40CB2-CTD",
            "dimm/DIMM_L1.detail": "Synchronous",
        },
        "memory_slots": {
            "memory.slots": 24,
            "memory.dimm_count": 8,
            "memory.installed": 256,
            "memory.capacity": 4 * 768,
        },
        "cpu_sockets": {"cpu.socket": ("CPU1", "CPU2"), "cpu.socket/CPU2.cores": 12, "cpu.socket/CPU2.threads": 24},
        "slots": {"node.slot/PCIE1.pci": "0000:21:00.0", "node.slot/PCIE1.type": "x16 PCI Express 3 x16"},
        "dmi_root": {"os.bios.rom_size": 32},
    },
    "dell-c4140": {
        "dimm": {
            "dimm": ("A1", "A2", "A3", "A4", "A5", "B1", "B2", "B3", "B4", "B5"),
            "dimm/A1.size": 16,
            "dimm/A1.detail": "Synchronous Registered (Buffered)",
            "dimm/A1.technology": "DRAM",
            "dimm/A1.manufacturer": "019804B300AD",
            "dimm/B5.part_number": "9965698-040.A00G",
        },
        "memory_slots": {
            "memory.slots": 24,
            "memory.dimm_count": 10,
            "memory.installed": 160,
            "memory.capacity": 7680,
            "memory.ecc": "Multi-bit ECC",
        },
        "cpu_sockets": {"cpu.socket/CPU1.threads": 14, "cpu.socket/CPU1.cores": 14, "cpu.socket/CPU1.speed.boot": 2200},
        "slots": {"node.slot/\"PCIe Slot 1\".usage": "Available", "node.slot/\"PCIe Slot 1\".pci": Absent},
        "dmi_root": {"os.bios.rom_size": 32},
    },
    "dell-r7525-a": {
        "dimm": {
            "dimm": ("A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4"),
            "dimm/B4.speed.rated": 3200,
            "dimm/B4.speed.configured": 3200,
            "dimm/B4.manufacturer": "802C869D802C",
        },
        "memory_slots": {"memory.slots": 32, "memory.installed": 128, "memory.capacity": 4096},
        "cpu_sockets": {
            "cpu.socket/CPU2.model": "AMD EPYC 7352 24-Core Processor",
            "cpu.socket/CPU2.signature": "Family 23, Model 49, Stepping 0",
            "cpu.socket/CPU2.threads": 24,
            "cpu.socket/CPU2.speed.most": 3900,
        },
        "slots": {
            'node.slot/"PCIe Slot 3".type': "x16 PCI Express 4",
            'node.slot/"PCIe SSD Slot 7 in Bay 1".pci': "0000:01:00.0",
        },
        "dmi_root": {"os.bios.rom_size": 32},
    },
    "lenovo-systemx": {
        "dimm": {
            "dimm": ("Dimm 1", "Dimm 4", "Dimm 13", "Dimm 16"),
            'dimm/"Dimm 1".serial': "108DEFAD",
            'dimm/"Dimm 13".bank': "CPU 2",
            'dimm/"Dimm 16".speed.configured': 2133,
            'dimm/"Dimm 16".manufacturer': "Hynix",
        },
        "memory_slots": {"memory.slots": 24, "memory.dimm_count": 4, "memory.installed": 64, "memory.capacity": 1536},
        "cpu_sockets": {"cpu.socket": ("Socket 1", "Socket 2"), 'cpu.socket/"Socket 2".cores': 10},
        "slots": {"node.slot": ("Slot 1", "Slot 4"), 'node.slot/"Slot 4".pci': "0000:01:00.0"},
        "dmi_root": {"node.uuid": "7b75005c-d029-11e4-9aa6-40f2e9b938a0", "node.board_serial": "51W03H"},
    },
    "supermicro-4029gp-trt": {
        "dimm": {
            "dimm": ("P1-DIMMA1", "P1-DIMMD1", "P2-DIMMA1", "P2-DIMMD1"),
            "dimm/P2-DIMMD1.channel": "P1_Node1_Channel0",
            "dimm/P2-DIMMD1.bank": "P1_Node1_Channel0_Dimm0",
            "dimm/P2-DIMMD1.size": 32,
        },
        "memory_slots": {
            "memory.channels": 4,
            "memory.dimms_per_channel": ("1",),
            "memory.capacity": 9216,
            "memory.ecc": "Single-bit ECC",
        },
        "cpu_sockets": {"cpu.socket/CPU1.model": "Intel(R) Xeon(R) Silver 4210 CPU @ 2.20GHz"},
        "slots": {
            'node.slot/"CPU2 Slot1 PCI-E 3.0 X16".pci': "0000:88:00.0",
            'node.slot/"PCH Slot7 PCI-E 3.0 X4".usage': "Available",
        },
        "dmi_root": {"os.bios.rom_size": 32},
    },
    "supermicro-as-4124gs-tnr": {
        "dimm": {
            "dimm/P1-DIMMA2.channel": "P0_Node0_Channel0",
            "dimm/P2-DIMMH2.channel": "P1_Node0_Channel7",
            "dimm/P2-DIMMH2.rank": 1,
            "dimm/P2-DIMMH2.speed.configured": 3200,
            "dimm/P2-DIMMH2.manufacturer": "Micron Technology",
        },
        "memory_slots": {
            "memory.slots": 32,
            "memory.dimm_count": 16,
            "memory.installed": 512,
            "memory.channels": 16,
            "memory.dimms_per_channel": ("1",),
        },
        "cpu_sockets": {"cpu.socket/CPU1.id": "10 0F 83 00 FF FB 8B 17"},
        "slots": {'node.slot/"SLOT10 PCI-E 4.0 X16".pci': "0000:25:00.0"},
        "dmi_root": {"os.bios.rom_size": 32},
    },
    "vm-centos77": {
        "dimm": {"dimm": ("RAM slot #0",), 'dimm/"RAM slot #0".size': 4, 'dimm/"RAM slot #0".ecc': False},
        "memory_slots": {"memory.slots": 128, "memory.dimm_count": 1, "memory.capacity": 65, "memory.ecc": "None"},
        "cpu_sockets": {},
        "slots": {'node.slot/"ISA Slot J8".pci': Absent, 'node.slot/"PCI Slot J14".usage': "Available"},
        "dmi_root": {"node.uuid": "28fd4d56-3389-e2f8-6474-0159923b580e", "os.bios.rom_size": 0.0625},
    },
}  # fmt: skip


def counted(recording: str) -> NodeCapture:
    """The lines of a recorded /proc/cpuinfo, counted by the programs that count them on a node."""
    done = subprocess.run(
        ["sh", "-c", "sort | uniq -c; echo end"],
        input=shared_text(recording), capture_output=True, text=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    return answering(PROBES["cpu_info"], done.stdout)


def interrupts(recording: str) -> NodeCapture:
    """The lines of a recorded /proc/interrupts, picked by the programs that pick them on a node."""
    done = subprocess.run(
        ["sh", "-c", "grep -E '^ +CPU|^ *(MCE|THR|DFR|TRM):' | tr -s ' '; echo end"],
        input=shared_text(recording), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return answering(PROBES["cpu_mce"], done.stdout)


def eiger() -> NodeCapture:
    """The NUMA nodes that `numactl -H` shows, in the files that it reads."""
    text = shared_text("memory/numactl-H-eiger-8node.txt")
    files = {
        f"{NODES}/node{n}/cpulist": ",".join(cpus.split()) + "\n"
        for n, cpus in re.findall(r"node (\d) cpus: (.*)", text)
    }
    files |= {
        f"{NODES}/node{n}/distance": " ".join(row.split()) + "\n"
        for n, row in re.findall(r"^ +(\d): +(.*)$", text, re.M)
    }
    files |= {f"{CPUS}/cpu{n}/topology/physical_package_id": f"{n % 128 // 64}\n" for n in range(256)}
    files |= {f"{NODES}/{name}": "0-7\n" for name in ("online", "has_cpu", "has_memory")}
    return holding(PROBES["numa_shape"], files)


CASES = [
    *(
        command(probe, f"memory/dmidecode-{recording}.txt", expected)
        for recording, probes in DMIDECODE.items()
        for probe, expected in probes.items()
    ),
    Case("cpu_info", "cpu/ne-proc-cpuinfo.txt", lambda: counted("cpu/ne-proc-cpuinfo.txt"), {
        "cpu.family": 6,
        "cpu.model_number": 142,
        "cpu.stepping": 10,
        "cpu.virtualization": "vmx",
        "cpu.flags_differ": (),
        "cpu.clock.least": 799.989,
        "cpu.clock.most": 800.083,
    }),
    Case("cpu_info", "cpu/cpuinfo-checkbox-amd64.txt", lambda: counted("cpu/cpuinfo-checkbox-amd64.txt"), {
        "cpu.model_number": 69,
        "cpu.clock.least": 768,
        "cpu.clock.mean": (3 * 768 + 1200) / 4,
        "cpu.clock.most": 1200,
    }),
    Case("cpu_info", "cpu/cpuinfo-checkbox-aarch64.txt", lambda: counted("cpu/cpuinfo-checkbox-aarch64.txt"), {
        "cpu.flags": ("asimd", "evtstrm", "fp"),
        "cpu.family": Absent,
        "cpu.clock.mean": Absent,
        "cpu.virtualization": Absent,
    }),
    folder("cpu_packages", "cpu/sysfs-cpu-node-exporter", CPUS, {
        "cpu.package": ("0", "1"),
        "cpu.package/1.threads": 2,
    }),
    folder("cpu_throttle", "cpu/sysfs-cpu-node-exporter", CPUS, {
        "cpu.throttled.core": 9,
        "cpu.throttled.package": 30,
        "cpu.throttled.cpus": ("0", "3"),
        "cpu.throttled.time": Absent,
    }),
    folder("cpu_clocks", "cpu/sysfs-cpu-node-exporter", CPUS, {
        "cpu.governors": ("performance", "powersave"),
        "cpu.base_clock.least": Absent,
        "cpu.boost_off": Absent,
        "cpu.clocks_odd": Absent,
    }),
    folder("numa_misses", "memory/sysfs-node-node-exporter", NODES, {
        "numa.node/0.miss": 12624528,
        "numa.node/0.foreign": 59858623300,
        "numa.node/0.other": 18179487,
    }),
    Case("numa_shape", "memory/numactl-H-eiger-8node.txt", eiger, {
        "numa.node/0.distance": "10 12 12 12 32 32 32 32",
        "numa.node/7.distance": "32 32 32 32 12 12 12 10",
        "numa.node/3.packages": ("0",),
        "numa.node/4.packages": ("1",),
        "numa.per_package.least": 4,
        "numa.per_package.most": 4,
        "numa.without_memory": (),
    }),
    folder("edac_dimms", "memory/sysfs-edac-node-exporter", EDAC, {
        "memory.controller/mc0.corrected_elsewhere": 2,
        "memory.controller/mc0.uncorrected_elsewhere": 6,
        "memory.controller/mc0.module": (
            "csrow0", "csrow0:ch0", "csrow0:ch1", "csrow1", "csrow1:ch0", "csrow1:ch1", "csrow2", "csrow2:ch0", "csrow2:ch1",
        ),
        "memory.controller/mc0.module/csrow0.corrected": 3,
        "memory.controller/mc0.module/csrow2.uncorrected": 5,
        "memory.controller/mc0.module/csrow1:ch1.uncorrected": 2,
        "memory.controller/mc0.module/csrow1:ch1.label": "mc0csrow1channel1",
        "memory.controller/mc0.module/csrow2:ch0.uncorrected": Absent,
        "memory.controller/mc0.name": Absent,
    }),
    Case("cpu_mce", "os/proc-interrupts.txt", lambda: interrupts("os/proc-interrupts.txt"), {
        "cpu.mce.exceptions": 0,
        "cpu.mce.thresholds": 0,
        "cpu.mce.deferred": 0,
        "cpu.mce.thermal": 0,
        "cpu.mce.cpus": (),
    }),
    Case("cpu_mce", "os/ne-proc-interrupts_aarch64.txt", lambda: interrupts("os/ne-proc-interrupts_aarch64.txt"), {
        "cpu.mce.exceptions": Absent,
        "cpu.mce.cpus": Absent,
    }),
    file("vmstat", "memory/proc-vmstat.txt", "/proc/vmstat", {
        "memory.events.oom_kill": 0,
        "memory.events.allocstall": 0,
        "memory.events.numa_miss": 0,
        "memory.events.pswpout": 0,
        "memory.events.drop_pagecache": 0,
    }),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.probe}-{case.machine}")
def test_a_recorded_machine_is_read_value_for_value(case: Case) -> None:
    given = facts(PROBES[case.probe], case.capture())
    for path, expected in case.expected.items():
        if expected is Absent:
            assert isinstance(given[path], Absent), (path, given[path])
        else:
            assert given[path] == expected, path


NAMES = sorted({case.probe for case in CASES})


@pytest.mark.parametrize("probe", ["dimm", "memory_slots", "cpu_sockets", "slots", "dmi_root"])
def test_every_probe_of_the_table_uses_one_command(probe: str) -> None:
    assert PROBES[probe].ask is TABLE


def table(recording: str, probe: str = "dimm") -> Mapping[str, Reading]:
    return facts(PROBES[probe], answering(PROBES[probe], shared_text(f"memory/dmidecode-{recording}.txt")))


@pytest.mark.parametrize("recording", ["asus-esc8000-g4", "dell-c4140", "dell-r7525-a", "supermicro-as-4124gs-tnr"])
def test_a_serial_number_that_was_taken_out_is_not_known(recording: str) -> None:
    serials = [reading for path, reading in table(recording).items() if path.endswith(".serial")]
    assert serials
    assert {getattr(reading, "reason", None) for reading in serials} == {Reason.NOT_COLLECTED}


@pytest.mark.parametrize(
    "recording", ["asus-esc8000-g4", "dell-c4140", "dell-r7525-a", "lenovo-systemx", "vm-centos77"]
)
def test_a_channel_that_the_slots_text_does_not_name_is_not_guessed(recording: str) -> None:
    channels = [reading for path, reading in table(recording).items() if path.endswith(".channel")]
    assert channels
    assert all(isinstance(reading, Unknown) for reading in channels)
    given = table(recording, "memory_slots")
    assert isinstance(given["memory.channels"], Unknown)
    assert isinstance(given["memory.dimms_per_channel"], Unknown)


def test_a_slot_type_that_an_older_dmidecode_has_no_word_for_is_not_known() -> None:
    reading = table("dell-r7525-a", "slots")['node.slot/"PCIe SSD Slot 7 in Bay 1".type']
    assert isinstance(reading, Unknown)
    assert "x4 <OUT OF SPEC>" in reading.detail


@pytest.mark.parametrize("probe", ["dimm", "memory_slots", "cpu_sockets", "slots", "dmi_root"])
def test_without_root_nothing_of_the_table_is_known_and_nothing_absent(probe: str) -> None:
    output = "sudo: a password is required\n"
    given = facts(PROBES[probe], answering(PROBES[probe], "", 1, output))
    assert {getattr(reading, "reason", None) for reading in given.values()} == {Reason.DENIED}


@pytest.mark.parametrize("probe", ["dimm", "memory_slots", "cpu_sockets", "slots", "dmi_root"])
def test_a_machine_without_a_table_has_no_known_slots(probe: str) -> None:
    output = "# dmidecode 3.3\nScanning /dev/mem for entry point.\n# No SMBIOS nor DMI entry point found, sorry.\n"
    given = facts(PROBES[probe], answering(PROBES[probe], output))
    assert {getattr(reading, "reason", None) for reading in given.values()} == {Reason.NOT_COLLECTED}
    assert all("no SMBIOS table" in getattr(reading, "detail", "") for reading in given.values())


@pytest.mark.parametrize("probe", ["dimm", "memory_slots"])
def test_a_table_that_was_cut_between_two_modules_is_no_table_with_fewer(probe: str) -> None:
    text = shared_text("memory/dmidecode-dell-c4140.txt")
    cut = text[: text.index("Handle 0x1109, DMI type 17")]
    given = facts(PROBES[probe], answering(PROBES[probe], cut))
    assert all(isinstance(reading, Unknown) for reading in given.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_probe_has_two_recordings(name: str) -> None:
    own = [place for place in ours() if place.parent.name == name]
    assert len(own) + sum(case.probe == name for case in CASES) >= 2


def test_udev_and_dmidecode_report_the_same_modules_of_one_machine() -> None:
    host = machine.load(machine.shipped()["dgx-h100"], "n01", 1).host
    noted = facts(PROBES["udev_memory"], holding(PROBES["udev_memory"], host.files))
    read = facts(PROBES["memory_slots"], NodeCapture(commands=host.commands))
    assert noted["memory.modules.count"] == read["memory.dimm_count"] == 32
    assert noted["memory.modules.size"] == read["memory.installed"] == 2048
    assert noted["memory.modules.correction"] == read["memory.ecc"]


def test_one_cpu_that_differs_among_384_is_named() -> None:
    files = {f"{CPUS}/cpu{n}/power/energy_perf_bias": "6\n" if n == 211 else "0\n" for n in range(384)}
    given = facts(PROBES["cpu_energy_bias"], holding(PROBES["cpu_energy_bias"], files))
    assert given == {"cpu.energy_bias": ("0", "6"), "cpu.energy_bias_odd": ("211: 6",)}


def test_384_cpus_give_few_facts() -> None:
    files: dict[str, str] = {}
    for cpu in range(384):
        for number, name in enumerate(("POLL", "C1", "C1E", "C6")):
            state = f"{CPUS}/cpu{cpu}/cpuidle/state{number}"
            files |= {} if cpu else {f"{state}/name": f"{name}\n", f"{state}/latency": "1\n"}
            files |= {f"{state}/disable": f"{int(cpu == 7)}\n"}
    given = facts(PROBES["cpuidle_states"], holding(PROBES["cpuidle_states"], files))
    assert len(given) == 4 * 3 + 3
    assert given["cpu.idle.state/C6.disabled"] == "on some CPUs"
    assert given["cpu.idle.state/C6.disabled_cpus"] == ("7",)


def test_two_idle_states_of_one_name_are_two_and_one_that_the_first_cpu_lacks_keeps_its_folders_name() -> None:
    states = f"{CPUS}/cpu0/cpuidle/state"
    files = {
        f"{states}{n}/{leaf}": f"{value}\n"
        for n in (0, 1)
        for leaf, value in (("name", "C2"), ("latency", n), ("disable", n))
    }
    files |= {f"{CPUS}/cpu1/cpuidle/state2/disable": "0\n"}
    given = facts(PROBES["cpuidle_states"], holding(PROBES["cpuidle_states"], files))
    assert given["cpu.idle.state"] == ("C2", "C2 state1", "state2")
    assert (given["cpu.idle.state/C2.disabled"], given['cpu.idle.state/"C2 state1".disabled']) == (
        "on no CPU",
        "on every CPU",
    )
    assert given["cpu.idle.deepest"] == "state2"
    assert isinstance(given["cpu.idle.deepest_latency"], Absent)


def test_a_node_whose_cpus_belong_to_no_known_package_has_an_unknown_shape() -> None:
    files = {f"{NODES}/node0/cpulist": "0-3\n", f"{CPUS}/cpu0/topology/physical_package_id": "0\n"}
    given = facts(PROBES["numa_shape"], holding(PROBES["numa_shape"], files))
    assert isinstance(given["numa.node/0.packages"], Unknown)
    assert isinstance(given["numa.per_package.most"], Unknown)


def test_cpus_of_two_models_are_reported_and_none_is_chosen() -> None:
    lines = "      3 model\t\t: 85\n      1 model\t\t: 106\n      4 processor\t: 0\nend\n"
    reading = facts(PROBES["cpu_info"], answering(PROBES["cpu_info"], lines))["cpu.model_number"]
    assert reading == Unknown(Reason.UNPARSABLE, "CPUs differ in model: 106, 85")


def test_the_question_for_the_cpus_heat_is_whole_without_a_sensor(tmp_path: Path) -> None:
    nowhere = HEAT.replace("/sys/class/hwmon", str(tmp_path / "none"))
    assert subprocess.run(["sh", "-c", nowhere], capture_output=True, text=True, check=True).stdout == "end\n"


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_question_for_the_cpus_heat_reads_the_cpus_sensors_and_no_others(tmp_path: Path, shell: str) -> None:
    for hwmon, name, device in (("hwmon0", "nvme", "nvme0"), ("hwmon1", "coretemp", "coretemp.0")):
        folder, of = tmp_path / hwmon, tmp_path / "devices" / device
        folder.mkdir()
        of.mkdir(parents=True)
        (folder / "device").symlink_to(of)
        shown = {
            "name": name,
            "temp1_input": "41000",
            "temp1_max": "86000",
            "temp2_input": "39000",
            "temp2_max": "86000",
        }
        for file_name, content in shown.items():
            (folder / file_name).write_text(f"{content}\n")
    done = subprocess.run(
        [shell, "-c", HEAT.replace("/sys/class/hwmon", str(tmp_path))], capture_output=True, text=True, check=True
    )
    assert done.stdout == "sensor coretemp.0 coretemp\ntemp1_input 41000\ntemp2_input 39000\ntemp1_max 86000\nend\n"
    given = facts(PROBES["cpu_heat"], answering(PROBES["cpu_heat"], done.stdout))
    assert given['cpu.thermal/"coretemp.0".hottest'] == 41
    assert given['cpu.thermal/"coretemp.0".critical'] == Absent("no temp1_crit")


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_question_for_grace_reads_the_sensors_with_its_names_and_no_others(tmp_path: Path, shell: str) -> None:
    shown = {
        "devices/soc0/soc_id": "jep106:036b:0241",
        "class/thermal/thermal_zone0/device/description": "Thermal Zone Skt0 CPU0",
        "class/thermal/thermal_zone0/temp": "1",
        "class/thermal/thermal_zone1/device/description": "Thermal Zone Skt0 TJMax",
        "class/thermal/thermal_zone1/temp": "43900",
        "class/hwmon/hwmon0/device/power1_oem_info": "Chassis",
        "class/hwmon/hwmon0/device/power1_average": "2",
        "class/hwmon/hwmon1/device/power1_oem_info": "CPU Power Socket 0",
    }
    for name, content in shown.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{content}\n")
    here = GRACE.replace("/sys/", f"{tmp_path}/").replace("$(uname -m)", "aarch64")
    done = subprocess.run([shell, "-c", here], capture_output=True, text=True, check=True)
    assert done.stdout == "is Thermal Zone Skt0 TJMax\ntemp 43900\nis CPU Power Socket 0\n-- end --\n"
    given = facts(PROBES["cpu_grace"], answering(PROBES["cpu_grace"], done.stdout))
    assert given["cpu.grace/0.temperature"] == 43.9
    assert isinstance(given["cpu.grace/0.temperature_critical"], Absent)
    assert isinstance(given["cpu.grace/0.power.cpu"], Unknown)
    assert isinstance(given["cpu.grace/0.power.limit"], Absent)


@pytest.mark.parametrize(("soc", "text"), [("jep106:0a16:0001", "none\n-- end --\n"), (None, "")])
def test_another_arm_processor_is_no_grace_and_one_without_a_maker_is_unknown(
    tmp_path: Path, soc: str | None, text: str
) -> None:
    (tmp_path / "devices/soc0").mkdir(parents=True)
    if soc is not None:
        (tmp_path / "devices/soc0/soc_id").write_text(f"{soc}\n")
    here = GRACE.replace("/sys/", f"{tmp_path}/").replace("$(uname -m)", "aarch64")
    done = subprocess.run(["sh", "-c", here], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode == 0) == (text, soc is not None)
