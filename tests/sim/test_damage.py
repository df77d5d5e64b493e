"""Damage in the raw answers of a clean DGX H100: each sign fails the node, and what is no damage does not."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from damaged import Answers, clean, loaded

from rackcheck import Class, quantity
from rackcheck.evaluate.law import Outcome, conclude
from rackcheck.evaluate.verdict import Status
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.question import Shell
from rackcheck.probe.collect import typed
from rackcheck.probe.registry import registry

COMPUTE = ("0", "3", "4", "5", "6", "9", "10", "11")
"""The numbers of the eight NICs next to GPUs: mlx5_0 and so on."""

IB = "/sys/class/infiniband/"


def health(word: str) -> Callable[[dict[str, Any]], None]:
    def edit(body: dict[str, Any]) -> None:
        if isinstance(body.get("Status"), dict) and body["Status"].get("Health"):
            body["Status"]["Health"] = word

    return edit


BOARD = "/redfish/v1/Systems/HGX_Baseboard_0/Processors"


def one(parts: str, name: str, **fields: object) -> Callable[[dict[str, Any]], None]:
    """Change the fields of one part in a list of a body."""
    return lambda body: next(part for part in body[parts] if part["Name"] == name).update(fields)


def condition(severity: str) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["Status"].update(Health="OK", Conditions=[{"Severity": severity, "Message": "hot"}])


def rollup(body: dict[str, Any]) -> None:
    """A part that the BMC lists nowhere is critical: only the rollup shows it."""
    body["Status"].update(Health="OK", HealthRollup="Critical")


def summary(name: str) -> Callable[[dict[str, Any]], None]:
    """A kind of parts is critical, and no part."""
    return lambda body: body[name]["Status"].update(HealthRollup="Critical")


def remap(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["Oem"]["Nvidia"].update({name: True})


def slower(body: dict[str, Any]) -> None:
    if body.get("OperatingSpeedMhz"):
        body["OperatingSpeedMhz"] = 4000


def state(word: str) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["Status"].update(State=word) if body.get("Status") else None


def peak_power(share: int) -> Callable[[dict[str, Any]], None]:
    return lambda body: body["Oem"]["Nvidia"]["EDPpPercent"].update(SetPoint=share)


def of_function(address: str, old: str, new: str) -> Callable[[str], str]:
    """Change the text of one function in the output of lspci."""
    return lambda text: re.sub(
        rf"(?m)(^\S*{re.escape(address)} (?:.*\n)(?:\t.*\n)*?.*?){re.escape(old)}", rf"\g<1>{new}", text, count=1
    )


def json_rows(**fields: object) -> Callable[[str], str]:
    """Replace fields of the JSON documents in an output."""

    def edit(text: str) -> str:
        for name, value in fields.items():
            text = re.sub(rf'("{name}"\s*:\s*)(\d+|true|false)', rf"\g<1>{json.dumps(value)}", text)
        return text

    return edit


def of_port(name: str, old: str, new: str) -> Callable[[str], str]:
    """Change the text of one interface in the outputs of a command that runs once for each."""
    return lambda text: re.sub(rf"(?s)(==> {name} <==\n.*?){re.escape(old)}", rf"\g<1>{new}", text, count=1)


def ports_down(answers: Answers) -> Answers:
    """Four compute rails lose their cables."""
    for number in COMPUTE[:4]:
        answers = answers.files(rf"{IB}mlx5_{number}/ports/1/state", "1: DOWN\n")
        answers = answers.files(rf"{IB}mlx5_{number}/ports/1/phys_state", "3: Polling\n")
    return answers


def without_nics(answers: Answers, *numbers: str) -> Answers:
    """The RDMA devices of these numbers are gone, from every answer that lists them."""
    names = "|".join(f"mlx5_{number}" for number in numbers)

    def lines(text: str) -> str:
        return "".join(line for line in text.splitlines(keepends=True) if not re.search(rf"\b({names})\b", line))

    def sections(text: str) -> str:
        return "".join(
            part for part in re.split("(?m)(?=^hca_id:)", text) if not re.match(rf"hca_id:\s*({names})\b", part)
        )

    def rows(text: str) -> str:
        return json.dumps([row for row in json.loads(text) if not re.fullmatch(names, row["ifname"])])

    answers = answers.command("ibv_devinfo", sections).command("rdma -j link", rows)
    answers = answers.command("", lambda text: text if re.match(r"\s*[\[{]|hca_id", text) else lines(text))
    return answers.without(rf"/({names})/")


def without_gid(answers: Answers) -> Answers:
    """The GID table of a storage port lacks the entry of the port's IPv4 address."""
    return answers.command(
        "gid_attrs", lambda text: re.sub(r"\d+\|[0-9a-f:]+ffff[0-9a-f:]+\|RoCE v2\|enp41s0f0np0\n", "", text)
    )


def without_root(answers: Answers) -> Answers:
    """The capture of a user without root: no command that needs root has an output."""
    root = [probe.ask.command for probe in registry().probes if isinstance(probe.ask, Shell) and probe.ask.root]
    denied = Unknown(Reason.DENIED, "sudo: a password is required")
    commands = {name: denied if name in root else output for name, output in answers.host.commands.items()}
    assert commands != answers.host.commands
    return replace(answers, host=replace(answers.host, commands=commands))


DAMAGE: dict[str, tuple[Callable[[Answers], Answers], set[str]]] = {
    "a drive at its end": (
        lambda a: a.command("nvme smart-log", json_rows(critical_warning=5, avail_spare=0)).command(
            "smartctl", json_rows(passed=False)
        ),
        {"nvme.no_warning", "nvme.smart_passed"},
    ),
    "links with errors": (
        lambda a: a.files(rf"{IB}mlx5_\d+/ports/1/counters/(symbol_error|link_downed)", "200\n"),
        {"links.no_downs", "links.few_symbol_errors"},
    ),
    "fatal PCIe errors counted": (
        lambda a: a.files(
            r"/sys/bus/pci/devices/[^/]*/aer_dev_fatal",
            lambda t: re.sub(r"TOTAL_ERR_FATAL \d+", "TOTAL_ERR_FATAL 5000", t),
        ),
        {"pcie.no_uncorrected"},
    ),
    "a fatal PCIe error logged": (
        lambda a: a.log(
            "pcieport 0000:15:01.0: AER: Uncorrectable (Fatal) error message received from 0000:18:00.0",
            "mlx5_core 0000:18:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer, (Receiver ID)",
        ),
        {"log.no_pcie_error"},
    ),
    "a link contained": (
        lambda a: a.log("pcieport 0000:15:01.0: DPC: containment event, status:0x1f01 source:0x0000"),
        {"log.no_pcie_loss"},
    ),
    "firmware reports an error": (
        lambda a: a.log(
            "{1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 1",
            "{1}[Hardware Error]: event severity: fatal",
        ),
        {"log.no_firmware_error"},
    ),
    "memory loses data": (
        lambda a: a.log(
            "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (channel:0 slot:0 page:0x1 offset:0x0)"
        ),
        {"log.no_memory_error"},
    ),
    "a damaged file system": (
        lambda a: a.log(
            "EXT4-fs error (device nvme0n1p2): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0"
        ),
        {"log.no_filesystem_error"},
    ),
    "an array loses a drive": (
        lambda a: a.log("md/raid1:md0: Disk failure on nvme1n1p2, disabling device."),
        {"log.no_raid_failure"},
    ),
    "a task hangs": (
        lambda a: a.log("INFO: task python3:4242 blocked for more than 120 seconds."),
        {"log.no_stall"},
    ),
    "a GPU does not start": (
        lambda a: a.log("NVRM: GPU 0000:1b:00.0: RmInitAdapter failed! (0x24:0xffff:1423)"),
        {"log.no_lost_gpu"},
    ),
    "a machine check": (
        lambda a: a.command("/proc/interrupts", lambda t: re.sub(r"(MCE: )0", r"\g<1>1", t, count=1)),
        {"cpu.no_machine_check"},
    ),
    "a drive does not answer": (
        lambda a: a.log("nvme nvme2: I/O 23 (I/O Cmd) QID 7 timeout, aborting"),
        {"log.no_nvme_timeout"},
    ),
    "memory controllers count uncorrected errors": (
        lambda a: a.files(r"/sys/devices/system/edac/mc/mc\d+/ue_count", "3\n"),
        {"memory.no_uncorrected"},
    ),
    "the BMC calls parts critical": (
        lambda a: a.bodies(r"/redfish/v1/Systems/.*|/redfish/v1/Chassis/.*", health("Critical")),
        {"bmc.gpus_healthy", "bmc.dimms_healthy", "bmc.processors_healthy", "bmc.chassis_sound"},
    ),
    "a GPU requires a reboot": (
        lambda a: a.log(
            "NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
        ),
        {"log.no_recovery_due"},
    ),
    "four rails without a link": (ports_down, {"nic.rate"}),
    "two compute NICs are gone": (
        lambda a: without_nics(a, "0", "3"),
        {"nic.count"},
    ),
    "all storage functions are gone": (
        lambda a: without_nics(a, "1", "2", "7", "8"),
        {"nic.network_count"},
    ),
    "the IOMMU translates in spite of the words": (
        lambda a: a.files(r"/sys/kernel/iommu_groups/\d+/type", "DMA-FQ\n"),
        {"iommu.passthrough"},
    ),
    "a fan below its own threshold": (
        lambda a: a.bodies("/redfish/v1/Chassis/DGX/Thermal", one("Fans", "SPD_FAN_SYS7_R", Reading=2400)),
        {"bmc.readings_within_limits"},
    ),
    "hot air at the intake": (
        lambda a: a.bodies("/redfish/v1/Chassis/DGX/Thermal", one("Temperatures", "TEMP_AMBIENT", ReadingCelsius=47)),
        {"bmc.readings_within_limits"},
    ),
    "an empty battery": (
        lambda a: a.bodies("/redfish/v1/Chassis/DGX/Power", one("Voltages", "VOLT_3V_BATTERY", ReadingVolts=2.2)),
        {"bmc.readings_within_limits"},
    ),
    "a GPU that is healthy and has a critical condition": (
        lambda a: a.bodies(f"{BOARD}/GPU_SXM_4", condition("Critical")),
        {"bmc.gpus_healthy"},
    ),
    "a critical rollup without a critical part": (
        lambda a: a.bodies("/redfish/v1/Systems/HGX_Baseboard_0", rollup),
        {"bmc.nothing_critical"},
    ),
    "a GPU's board with a critical rollup": (
        lambda a: a.bodies("/redfish/v1/Chassis/HGX_GPU_SXM_4", rollup),
        {"bmc.nothing_critical"},
    ),
    "a critical summary of all processors": (
        lambda a: a.bodies("/redfish/v1/Systems/DGX", summary("ProcessorSummary")),
        {"bmc.nothing_critical"},
    ),
    "a failed row remap that only the BMC reports": (
        lambda a: a.bodies(".*/Memory/GPU_SXM_3_DRAM_0", remap("RowRemappingFailed")),
        {"bmc.gpu_remaps_worked"},
    ),
    "a pending row remap that only the BMC reports": (
        lambda a: a.bodies(".*/Memory/GPU_SXM_3_DRAM_0", remap("RowRemappingPending")),
        {"bmc.gpu_remaps_done"},
    ),
    "the GPUs are in their test mode": (
        lambda a: a.bodies(
            "/redfish/v1/Systems/HGX_Baseboard_0", lambda body: body["Oem"]["Nvidia"].update(ISTModeEnabled=True)
        ),
        {"bmc.no_test_mode"},
    ),
    "a PCI system error as an interrupt": (
        lambda a: a.log("NMI: PCI system error (SERR) for reason b1 on CPU 0."),
        {"log.no_machine_check"},
    ),
    "a file system that was mounted with errors": (
        lambda a: a.log("EXT4-fs (md1): warning: mounting fs with errors, running e2fsck is recommended"),
        {"log.no_filesystem_error"},
    ),
    "a file system with errors since its last check": (
        lambda a: a.log("EXT4-fs (md1): error count since last fsck: 37"),
        {"log.no_filesystem_error"},
    ),
    "a firmware error of a NIC": (
        lambda a: a.log(
            "mlx5_core 0000:ce:00.0: print_health_info:431:(pid 0): Health issue observed, firmware internal error, "
            "severity(3) ERROR:"
        ),
        {"log.no_nic_failure"},
    ),
    "an InfiniBand link without error correction": (
        lambda a: a.command("mlxlink -d", lambda t: t.replace("Standard_RS-FEC - (544,514)", "No FEC", 1)),
        {"nic.fec_on"},
    ),
    "processors with different microcode": (
        lambda a: a.command(
            "/proc/cpuinfo",
            lambda t: t.replace(
                "224 microcode\t: 0x2b0005c0", "112 microcode\t: 0x2b0005c0\n    112 microcode\t: 0x2b000590"
            ),
        ),
        {"cpu.one_microcode"},
    ),
    "a GPU whose memory clock is lowered": (
        lambda a: a.command(
            "0x10de0x03", lambda t: t.replace('"clock_memory": {"value": 2619}', '"clock_memory": {"value": 1593}', 1)
        ),
        {"gpu.memory_at_full_clock"},
    ),
    "a GPU at its temperature limit": (
        lambda a: a.command(
            "0x10de0x03",
            lambda t: t.replace('"temperature_margin": {"value": 56}', '"temperature_margin": {"value": -1}', 1),
        ),
        {"gpu.within_limits"},
    ),
    "a GPU above the limit of an older driver": (
        lambda a: a.command(
            "0x10de0x03",
            lambda t: re.sub(
                r'(?s)"temperature": \{"value": \d+\}(.*?)"temperature_slowdown": \{"absent": "[^"]*"\}',
                r'"temperature": {"value": 91}\1"temperature_slowdown": {"value": 90}',
                t,
                count=1,
            ),
        ),
        {"gpu.within_limits"},
    ),
    "a memory module that is healthy and disabled": (
        lambda a: a.bodies(
            "/redfish/v1/Systems/DGX/Memory/CPU0_DIMM_A1|/redfish/v1/Systems/DGX/Memory/[^/]*", state("Disabled")
        ),
        {"bmc.dimms_in_service"},
    ),
    "a fan that is healthy and offline": (
        lambda a: a.bodies(".*/ThermalSubsystem/Fans/SPD_FAN_SYS7_R", state("UnavailableOffline")),
        {"fan.enabled"},
    ),
    "the peak power of a GPU is limited": (
        lambda a: a.bodies(f"{BOARD}/GPU_SXM_6/EnvironmentMetrics", peak_power(80)),
        {"bmc.gpu_peak_power"},
    ),
    "a CPU is limited to less than its TDP": (
        lambda a: a.files("/sys/class/powercap/intel-rapl:1/constraint_0_power_limit_uw", "250000000\n"),
        {"cpu.power_at_tdp"},
    ),
    "a power supply of another model": (
        lambda a: a.bodies(".*/PowerSubsystem/PowerSupplies/PSU3", lambda body: body.update(Model="02")),
        {"psu.same_model"},
    ),
    "a memory block is offline": (
        lambda a: a.command(
            "/sys/devices/system/memory", lambda t: t.replace("1024 online", "1023 online\n      1 offline")
        ),
        {"memory.blocks_online"},
    ),
    "a member of a bond in another aggregator": (
        lambda a: a.files("/proc/net/bonding/bond0", lambda t: t.replace("Number of ports: 2", "Number of ports: 1")),
        {"bond.members_aggregated"},
    ),
    "a GPU with smaller packets than the others": (
        lambda a: a.command("lspci -D", of_function("9d:00.0", "MaxPayload 256 bytes", "MaxPayload 128 bytes")),
        {"gpu.settings_alike"},
    ),
    "a GPU with a setting of its own, read without root": (
        lambda a: without_root(
            a.command(
                "0x10de0x03", lambda t: t.replace('"addressing": {"value": "HMM"}', '"addressing": {"value": "ATS"}', 1)
            )
        ),
        {"gpu.settings_alike"},
    ),
    "traffic from a GPU to its NIC goes through the CPU": (
        lambda a: a.command("lspci -D", of_function("42:00.0", "ReqRedir-", "ReqRedir+")),
        {"gpu.nic_path_direct"},
    ),
    "a compute port that is only a limited member": (
        lambda a: a.command("pkeys", lambda t: t.replace("mlx5_6/ports/1 0xffff", "mlx5_6/ports/1 0x7fff")),
        {"nic.full_member"},
    ),
    "an NVSwitch that lost a lane": (
        lambda a: a.files("/sys/bus/pci/devices/0000:09:00.0/current_link_width", "1\n"),
        {"pcie.functions_alike"},
    ),
    "a NIC of an older generation than its siblings": (
        lambda a: a.files("/sys/bus/pci/devices/0000:9a:00.0/(max|current)_link_speed", "16.0 GT/s PCIe\n"),
        {"pcie.functions_alike"},
    ),
    "a NIC that trained a lower speed, read without root": (
        lambda a: without_root(a.files("/sys/bus/pci/devices/0000:9a:00.0/current_link_speed", "16.0 GT/s PCIe\n")),
        {"pcie.functions_alike"},
    ),
    "a NIC with smaller packets than its siblings": (
        lambda a: a.command("lspci -D", of_function("9a:00.0", "MaxPayload 256 bytes", "MaxPayload 128 bytes")),
        {"pcie.functions_alike"},
    ),
    "a port with a smaller MTU": (
        lambda a: a.files(".*/enp41s0f0np0/mtu", "1500\n"),
        {"nic.ports_alike"},
    ),
    "a port without FEC": (
        lambda a: a.command("--show-fec", of_port("enp41s0f0np0", "FEC encoding: RS", "FEC encoding: Off")),
        {"nic.ports_alike"},
    ),
    "a port without PFC": (
        lambda a: a.command("pfc show", of_port("enp41s0f0np0", "false,true", "false,false")),
        {"nic.ports_alike"},
    ),
    "a port that does not trust DSCP": (
        lambda a: a.command("app show", lambda t: re.sub(r"(?s)(==> enp41s0f0np0 <==\n).*?(\n<==)", r"\1{}\2", t)),
        {"nic.ports_alike"},
    ),
    "an InfiniBand port with a smaller MTU": (
        lambda a: a.command(
            "ibv_devinfo", lambda t: re.sub(r"(?s)(hca_id:\s*mlx5_5\b.*?active_mtu:\s*)4096 \(5\)", r"\g<1>2048 (4)", t)
        ),
        {"nic.infiniband_ports_alike"},
    ),
    "a drive on half of its lanes": (
        lambda a: a.files("/sys/bus/pci/devices/0000:2d:00.0/current_link_width", "2\n"),
        {"nvme.drives_alike"},
    ),
    "a drive with other firmware": (
        lambda a: a.files("/sys/class/nvme/nvme4/firmware_rev", "OPPA3B5Q\n"),
        {"nvme.drives_alike"},
    ),
    "a drive with other firmware, read without root": (
        lambda a: without_root(a.files("/sys/class/nvme/nvme4/firmware_rev", "OPPA3B5Q\n")),
        {"nvme.drives_alike"},
    ),
    "lanes lost above a GPU and its NIC": (
        lambda a: a.files("/sys/bus/pci/devices/0000:4[cd]:0[01].0/current_link_width", "8\n"),
        {"gpu.path_width", "nic.path_width"},
    ),
    "a RoCE port without a GID for its address": (without_gid, {"nic.gid_for_addresses"}),
    "an interrupt is disabled": (
        lambda a: a.log('irq 27: nobody cared (try booting with the "irqpoll" option)', "Disabling IRQ #27"),
        {"log.no_disabled_interrupt"},
    ),
    "the processors' clocks differ": (
        lambda a: a.log(
            "clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc' as unstable because the skew is too large:"
        ),
        {"log.clock_stable"},
    ),
    "an IOMMU blocks a GPU": (
        lambda a: a.log(
            "DMAR: [DMA Write NO_PASID] Request device [1b:00.0] fault addr 0xfffc0000 [fault reason 0x05] PTE Write access"
        ),
        {"log.no_iommu_fault_of_jobs"},
    ),
    "a GPU is lost in the words of a failed check": (
        lambda a: a.log(
            "NVRM: nvCheckOkFailedNoLog: Check failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F) returned"
        ),
        {"log.no_lost_gpu"},
    ),
    "the Fabric Manager fails to configure a GPU": (
        lambda a: a.command(
            "wc -c </var/log/fabricmanager.log",
            lambda t: t + "[Nov 21 2026 08:12:44] [ERROR] [tid 1374] failed to train NVLink of GPU 3, port 7\n",
        ),
        {"log.no_fabric_failure"},
    ),
    "the CUDA library of another driver": (
        lambda a: a.command(
            "libnvidia-ptxjitcompiler", lambda t: t.replace("libcuda.so.550.90.07", "libcuda.so.535.183.01")
        ),
        {"gpu.libraries_match"},
    ),
    "a driver is half installed": (
        lambda a: a.command(
            "dpkg-query", lambda t: t.replace("ii |nvidia-fabricmanager-550|", "iF |nvidia-fabricmanager-550|")
        ),
        {"os.driver_packages_whole"},
    ),
    "an NVLink does not train": (
        lambda a: a.log("nvidia-nvlink: nvlink_core_train: Link 3 of 0000:1b:00.0: training failed"),
        {"log.no_nvlink_failure"},
    ),
    "a clock that follows itself": (
        lambda a: a.command("chronyc", lambda t: t.replace("0A000A0A (10.0.10.10)", "7F7F0101 ()")),
        {"time.chrony_source"},
    ),
    "a clock most of a second away from its time service": (
        lambda a: a.command(
            "chronyc", lambda t: re.sub(r"[\d.]+ seconds (slow|fast) of", "0.840012844 seconds slow of", t)
        ),
        {"time.chrony_close"},
    ),
    "two programs hang in the driver": (
        lambda a: a.command("ctxt_switches", lambda t: f"811 D 21 10 nvidia-smi\n812 D 9 10 nvidia-smi\n{t}"),
        {"os.no_stuck_processes"},
    ),
    "a BIOS that runs all memory slower": (
        lambda a: a.bodies("/redfish/v1/Systems/DGX/Memory/[^/]*", slower),
        {"memory.speed"},
    ),
    "a GPU received data that was marked as bad": (
        lambda a: a.command("lspci -D", of_function("1b:00.0", "<PERR-", "<PERR+")),
        {"pcie.no_poisoned_data"},
    ),
    "a port in loopback": (
        lambda a: a.command("mlxlink -d", lambda t: t.replace(": No Loopback", ": PHY Local Loopback", 1)),
        {"nic.no_loopback"},
    ),
    "a memory module without ECC": (
        lambda a: a.command("dmidecode", lambda t: t.replace("Total Width: 80 bits", "Total Width: 64 bits", 1)),
        {"memory.dimms_have_ecc"},
    ),
    "a module with many corrected errors": (
        lambda a: a.files("/sys/devices/system/edac/mc/mc2/dimm0/dimm_ce_count", "400\n"),
        {"memory.few_corrected"},
    ),
    "a PCIe link that replays": (
        lambda a: a.command(
            "0x10de0x03", lambda t: re.sub(r'("pcie_replay": \{"value": )0', r"\g<1>58000", t, count=1)
        ),
        {"gpu.replays_since_boot"},
    ),
    "a NIC below a slow switch": (
        lambda a: a.files("/sys/bus/pci/devices/0000:(15:01|16:00).0/current_link_speed", "16.0 GT/s PCIe\n"),
        {"nic.path_speed"},
    ),
    "a file system that is not mounted": (
        lambda a: a.command("/etc/fstab", lambda t: t.replace("mounted /raid\n", "")),
        {"mount.raid"},
    ),
    "a fabric manager that does not start at boot": (
        lambda a: a.command(
            "UnitFileState '*.service'",
            lambda t: re.sub(r"(Id=nvidia-fabricmanager.service\n(?:.+\n)*?UnitFileState=)enabled", r"\1disabled", t),
        ),
        {"fabric.manager_at_boot"},
    ),
    "turbo switched off": (
        lambda a: a.bodies("/redfish/v1/Systems/DGX/Bios", lambda body: body["Attributes"].update(TurboMode="Disable")),
        {"bios.turbo"},
    ),
    "jobs that cannot lock memory": (
        lambda a: a.command(
            "LimitMEMLOCK,LimitNOFILE '*.service'",
            lambda t: re.sub(r"(Id=slurmd.service\n(?:.+\n)*?LimitMEMLOCK=)infinity", r"\g<1>67108864", t),
        ),
        {"limits.slurmd_locked_memory"},
    ),
    "nearly all memory reserved for huge pages": (
        lambda a: a.files(
            "/proc/meminfo", lambda t: t.replace("Hugetlb:               0 kB", "Hugetlb: 1782579200 kB")
        ),
        {"memory.left_for_gpus"},
    ),
}


FINDINGS: dict[str, tuple[Callable[[Answers], Answers], dict[str, Status]]] = {
    "an IOMMU blocks a device that no job uses": (
        lambda a: a.log(
            "DMAR: [DMA Write NO_PASID] Request device [80:1f.6] fault addr 0x15fa71000 [fault reason 0x39] SM: Present bit"
        ),
        {"log.no_iommu_fault_of_jobs": Status.PASS, "log.no_iommu_fault": Status.FAIL},
    ),
    "an NVSwitch had an error that was not fatal": (
        lambda a: a.command(
            "wc -c </var/log/fabricmanager.log",
            lambda t: (
                t
                + "[Nov 21 2026 08:12:44] [ERROR] [tid 1374] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch "
                "pci bus id 00000000:86:00.0 physical id 3 port 36\n"
            ),
        ),
        {"log.no_fabric_failure": Status.PASS, "log.no_fabric_fault": Status.PASS},
    ),
    "a package that is no driver is half installed": (
        lambda a: a.command("dpkg-query", lambda t: t.replace("ii |openssh-server|", "iF |openssh-server|")),
        {"os.packages_whole": Status.FAIL, "os.driver_packages_whole": Status.PASS},
    ),
    "a lane of a GPU had an error": (
        lambda a: a.command("lspci -D", of_function("1b:00.0", "LaneErrStat: 0", "LaneErrStat: LaneErr at lane: 3")),
        {"pcie.no_lane_error": Status.WARN},
    ),
    "a NIC is set to a lower speed": (
        lambda a: a.command(
            "lspci -D", of_function("18:00.0", "Target Link Speed: 32GT/s", "Target Link Speed: 16GT/s")
        ),
        {"pcie.target_speed": Status.WARN},
    ),
    "an assertion fails": (
        lambda a: a.log("NVRM: nvAssertFailedNoLog: Assertion failed: 0 @ mapping_cpu.c:127"),
        {"log.no_assertion": Status.WARN, "log.no_lost_gpu": Status.PASS},
    ),
    "a NIC had a slow link at boot": (
        lambda a: a.log(
            "mlx5_core 0000:18:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at "
            "0000:15:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)"
        ),
        {"pcie.not_limited": Status.WARN},
    ),
    "the workload manager lacks a GPU": (
        lambda a: a.command("scontrol show node", lambda t: t.replace("gpu:h100:8(S:0-1)", "gpu:h100:7(S:0-1)")),
        {"slurm.counts_gpus": Status.FAIL},
    ),
    "the node registered with fewer resources": (
        lambda a: a.command("scontrol show node", lambda t: t.replace("State=IDLE ", "State=IDLE+INVALID_REG ")),
        {"slurm.registered": Status.FAIL},
    ),
    "a priority without loss loses packets": (
        lambda a: a.command("ethtool -S", lambda t: t.replace("rx_prio3_discards: 0", "rx_prio3_discards: 4211")),
        {"links.no_lossless_discards": Status.FAIL},
    ),
    "a port on another fabric": (
        lambda a: a.command("ports/[0-9]*", lambda t: t.replace("0|fe80:0000:0000:0000:", "0|fec0:0000:0000:0b0b:", 1)),
        {"nic.one_subnet": Status.WARN},
    ),
    "a hot processor": (
        lambda a: a.command("hwmon*; do", lambda t: t.replace("temp1_input 41000", "temp1_input 89000")),
        {"cpu.within_limits": Status.FAIL},
    ),
    "a memory module with another number of ranks": (
        lambda a: a.command("dmidecode", lambda t: t.replace("Rank: 2", "Rank: 1", 1)),
        {"memory.ranks_alike": Status.FAIL},
    ),
    "one lane of a module receives little light": (
        lambda a: a.command(
            "mlxlink -d", lambda t: t.replace("1.886,1.989,2.281,1.976", "1.886,-9.800,2.281,1.976", 1)
        ),
        {"links.lanes_alike": Status.WARN, "links.interface_lanes_alike": Status.PASS},
    ),
    "two lanes of a split cable are dark": (
        lambda a: a.command(
            "mlxlink -d",
            lambda t: t.replace("1.886,1.989,2.281,1.976", "1.886,1.989,-40,-40", 1).replace(
                "1.562,1.427,1.559,1.761", "1.562,1.427,-40,-40", 1
            ),
        ),
        {"links.lanes_alike": Status.PASS},
    ),
    "a time service without an answer for three days": (
        lambda a: a.command("chronyc", lambda t: t.replace("0.000427718", "9.412000000")),
        {"time.chrony_error": Status.WARN, "time.chrony_source": Status.PASS},
    ),
    "a node that Slurm drained": (
        lambda a: a.command("scontrol", lambda t: t.replace("State=IDLE ", "State=IDLE+DRAIN ")),
        {"slurm.assigned": Status.WARN, "slurm.registered": Status.PASS},
    ),
    "a node that Slurm marked as failed": (
        lambda a: a.command("scontrol", lambda t: t.replace("State=IDLE ", "State=IDLE+FAIL ")),
        {"slurm.assigned": Status.WARN},
    ),
    "a link that was down for half a minute": (
        lambda a: (
            a.log("mlx5_core 0000:29:00.0 enp41s0f0np0: Link up")
            .log("mlx5_core 0000:29:00.0 enp41s0f0np0: Link down", at=1900)
            .log("mlx5_core 0000:29:00.0 enp41s0f0np0: Link up", at=1931)
        ),
        {"log.no_long_outage": Status.WARN},
    ),
    "a node that Slurm lost": (
        lambda a: a.command("scontrol", lambda t: t.replace("State=IDLE ", "State=DOWN ")),
        {"slurm.assigned": Status.WARN},
    ),
    "a container library that does not start": (
        lambda a: a.command(
            "nvidia-container-cli", lambda t: re.sub("(?m)^nvidia-container-cli .*", "fails nvidia-container-cli", t)
        ),
        {"container.library": Status.UNKNOWN},
    ),
    "a hardware clock that was reset": (
        lambda a: a.command("timedatectl", lambda t: t.replace("RTC time: Sat 2026-11-21", "RTC time: Sat 2026-02-21")),
        {"time.hardware_clock": Status.WARN},
    ),
    "a service that fails again and again": (
        lambda a: a.command("NRestarts", lambda t: t.replace("NRestarts=0", "NRestarts=214", 1)),
        {"service.few_restarts": Status.WARN},
    ),
    "packets of a port that are repeated": (
        lambda a: a.files(f"{IB}mlx5_10/ports/1/hw_counters/local_ack_timeout_err", "48211\n"),
        {"nic.few_timeouts": Status.WARN},
    ),
    "memory reserved for huge pages": (
        lambda a: a.files("/proc/meminfo", lambda t: t.replace("Hugetlb:               0 kB", "Hugetlb: 838860800 kB")),
        {"memory.huge_pages_few": Status.WARN, "memory.left_for_gpus": Status.PASS},
    ),
    "warm air at the intake": (
        lambda a: a.bodies("/redfish/v1/Chassis/DGX/Thermal", one("Temperatures", "TEMP_AMBIENT", ReadingCelsius=38)),
        {"bmc.readings_not_near_limits": Status.WARN, "bmc.readings_within_limits": Status.PASS},
    ),
    "a board in standby": (
        lambda a: a.bodies("/redfish/v1/Chassis/HGX_Chassis_0", state("StandbyOffline")),
        {"bmc.chassis_on": Status.FAIL},
    ),
    "all interrupts of a NIC on the first processor": (
        lambda a: a.command("/proc/irq", lambda t: re.sub(r"(?m)^(\d+) \d+$", r"\g<1> 0", t)),
        {"pcie.interrupts_near": Status.WARN},
    ),
}
"""What is shown and does not fail the node."""


def test_the_clean_machine_passes() -> None:
    assert clean().failing() == set()


@pytest.mark.parametrize("name", DAMAGE)
def test_a_sign_of_damage_fails_the_node(name: str) -> None:
    edit, rules = DAMAGE[name]
    assert rules <= edit(clean()).failing()


def sections(text: str) -> str:
    """Empty the output that a command returned for each device."""
    return re.sub(r"(==> .+ <==\n)(?s:.*?)(\n<== )", r"\1\2", text)


def test_two_power_supplies_with_one_serial_number_are_named() -> None:
    twice = clean().bodies(
        ".*/PowerSubsystem/PowerSupplies/PSU[24]", lambda body: body.update(SerialNumber="CN7D0123456789A")
    )
    found = ("supply serial CN7D0123456789A: psu/PSU2 and psu/PSU4 of this node",)
    assert twice.tree().leaves["node.identity.repeated"].reading == found
    assert clean().tree().leaves["node.identity.repeated"].reading == ()


def module_gone(answers: Answers) -> Answers:
    """The BMC does not list the two fans of a module."""

    def edit(body: dict[str, Any]) -> None:
        for name in ("Members", "Fans"):
            if name in body:
                body[name] = [part for part in body[name] if "FAN_SYS7_" not in json.dumps(part)]
        body.pop("Members@odata.count", None)
        body.pop("Fans@odata.count", None)

    return answers.bodies(".*/ThermalSubsystem/Fans|/redfish/v1/Chassis/DGX/Thermal", edit)


def test_a_fan_module_that_the_bmc_does_not_list_is_reported() -> None:
    found = {v.rule: v.status for v in module_gone(clean()).verdicts()}
    assert found["fan.count"] is Status.FAIL


def hot_gpu(degrees: int) -> Answers:
    return clean().command(
        "0x10de0x03",
        lambda t: re.sub(r'"temperature": \{"value": \d+\}', f'"temperature": {{"value": {degrees}}}', t, count=1),
    )


@pytest.mark.parametrize("degrees", [250, 999_999])
def test_a_temperature_that_nothing_can_have_is_unknown_and_no_pass(degrees: int) -> None:
    found = {v.rule: v.status for v in hot_gpu(degrees).verdicts()}
    assert found["gpu.within_limits"] is Status.UNKNOWN


def test_a_register_of_all_ones_is_no_measured_power_but_may_be_a_limit() -> None:
    assert isinstance(typed(65535.0, quantity("W", "Power.", Class.MEASUREMENT)), Unknown)
    assert typed(65535.0, quantity("W", "Limit.")) == 65535.0


def test_a_gpu_that_is_hot_by_one_plane_only_is_reported() -> None:
    found = {v.rule: v.status for v in hot_gpu(70).verdicts()}
    assert found["planes.gpu_temperature"] is Status.WARN
    assert found["gpu.within_limits"] is Status.PASS


BROKEN: dict[str, tuple[str, Callable[[str], str], str]] = {
    "lspci ends early": ("lspci -D", lambda text: text[: len(text) * 3 // 5], "pcie.no_error_status"),
    "mlxlink returns nothing": ("mlxlink -d", sections, "links.module_clean"),
    "smartctl crashes": ("smartctl -a", lambda text: text.replace('"', "", 40), "nvme.smart_passed"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_reply_is_no_pass_although_the_rule_excuses_a_missing_tool(name: str) -> None:
    command, edit, rule_id = BROKEN[name]
    rules = {rule.id: rule for rule in loaded("h100-dgx").rules}
    verdicts = tuple(clean().command(command, edit).verdicts())
    assert rules[rule_id].unknown_is_minor
    assert {v.rule: v.status for v in verdicts}[rule_id] is Status.UNKNOWN
    assert conclude(verdicts, rules).outcome is Outcome.INCOMPLETE


@pytest.mark.parametrize("name", FINDINGS)
def test_a_doubtful_sign_is_shown_and_does_not_fail_the_node(name: str) -> None:
    edit, expected = FINDINGS[name]
    edited = edit(clean())
    assert edited.failing() == set()
    assert {v.rule: v.status for v in edited.verdicts() if v.rule in expected} == expected


def virtual_function(answers: Answers) -> Answers:
    """A storage function becomes a virtual function without a GUID: its link is up, and its port is down."""
    folder = f"{IB}mlx5_1/"
    answers = answers.files(rf"{folder}ports/1/state", "1: DOWN\n")
    files = {**answers.host.files, f"{folder}device/physfn/vendor": "0x15b3\n"}
    return replace(answers, host=replace(answers.host, files=files))


def high_bandwidth(text: str) -> str:
    """Add a module as SMBIOS describes the memory of a Xeon Max: no ECC, one rank, another speed."""
    module = known = next(block for block in text.split("\n\n") if "Type: DDR5" in block and "Rank: 2" in block)
    for old, new in (
        (r"Type: DDR5", "Type: HBM2"),
        (r"Rank: 2", "Rank: 1"),
        (r"Total Width: 80", "Total Width: 64"),
        (r"Locator: \S+", "Locator: CPU0_HBM0"),
        (r"Handle 0x[0-9A-F]+", "Handle 0x7777"),
    ):
        module = re.sub(old, new, module, count=1)
    return text.replace(known, f"{module}\n\n{known}", 1)


def memory_node(answers: Answers) -> Answers:
    """Memory on CXL forms a NUMA node of its own, without CPUs."""
    node = "/sys/devices/system/node/node2/"
    total = "Node 2 MemTotal:       268435456 kB\n"
    files = {**answers.host.files, f"{node}cpulist": "\n", f"{node}meminfo": total}
    return replace(answers, host=replace(answers.host, files=files))


def narrow_slot(answers: Answers) -> Answers:
    """The port above one drive has two lanes; the drive trained both."""
    (above,) = [
        str(leaf.reading) for path, leaf in answers.tree().leaves.items() if path == 'pcie/"0000:2d:00.0".upstream'
    ]
    answers = answers.files(f"/sys/bus/pci/devices/{above}/(max|current)_link_width", "2\n")
    return answers.files("/sys/bus/pci/devices/0000:2d:00.0/current_link_width", "2\n")


def test_a_port_with_smaller_rings_is_a_finding() -> None:
    smaller = clean().command("ethtool -g", of_port("enp41s0f0np0", "RX:\t\t1024", "RX:\t\t256"))
    assert [v.rule for v in smaller.verdicts() if v.status is Status.FAIL] == ["nic.queues_alike"]


SOUND: dict[str, tuple[Callable[[Answers], Answers], set[str]]] = {
    "the IOMMU passes through by default, without the words": (
        lambda a: a.command("withheld", lambda text: text.replace(" iommu=pt", "").replace(" intel_iommu=on", "")),
        {"iommu.passthrough"},
    ),
    "the IOMMU is off": (lambda a: a.without("/sys/kernel/iommu_groups/|/sys/class/iommu/"), {"iommu.passthrough"}),
    "a virtual function without a GUID": (virtual_function, {"nic.active", "nic.rate", "nic.network_ports"}),
    "a port that only validates sources": (
        lambda a: a.command("lspci -D", lambda text: re.sub(r"(ACSCtl:\s+)SrcValid-", r"\1SrcValid+", text, count=1)),
        {"pcie.no_redirect"},
    ),
    "a slot with fewer lanes than its drive": (narrow_slot, {"nvme.drives_alike"}),
    "a management network with another MTU": (
        lambda a: a.files("/sys/.*/(enp41s0f1np1|enp170s0f1np1|bond0)/mtu", "1500\n"),
        {"nic.ports_alike"},
    ),
    "one port of the management network with another speed": (
        lambda a: a.files("/sys/.*/enp41s0f1np1/speed", "100000\n"),
        {"nic.ports_alike"},
    ),
    "a port without a cable": (
        lambda a: a.files("/sys/.*/enp41s0f0np0/carrier", "0\n").files("/sys/.*/enp41s0f0np0/mtu", "1500\n"),
        {"nic.ports_alike"},
    ),
    "GPUs that idle": (
        lambda a: a.files("/sys/bus/pci/devices/0000:(1b|43|52):00.0/current_link_speed", "2.5 GT/s PCIe\n"),
        {"gpu.settings_alike", "pcie.functions_alike"},
    ),
    "memory in the processor's package": (
        lambda a: a.command("dmidecode -t 0", high_bandwidth),
        {"memory.dimms_have_ecc", "memory.ranks_alike"},
    ),
    "memory on CXL": (memory_node, {"memory.balanced", "numa.two"}),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_is_no_damage_is_no_finding(name: str) -> None:
    edit, rules = SOUND[name]
    found = {verdict.rule: verdict.status for verdict in edit(clean()).verdicts() if verdict.rule in rules}
    assert found == dict.fromkeys(rules, Status.PASS)


def test_an_address_without_its_compute_nic_is_named() -> None:
    other = clean().files(r"/sys/bus/pci/devices/0000:9a:00\.0/device", "0xa2dc\n")
    (found,) = (verdict for verdict in other.verdicts() if verdict.rule == "nic.in_place")
    assert found.status is Status.FAIL
    assert found.reason.endswith("must include 0000:9a:00.0 15b3:1021")


def test_traffic_between_devices_that_is_sent_up_is_a_finding() -> None:
    sent_up = clean().command("lspci -D", lambda text: re.sub(r"ReqRedir-( CmpltRedir-)", r"ReqRedir+\1", text))
    assert {verdict.rule for verdict in sent_up.verdicts() if verdict.status is Status.FAIL} == {
        "pcie.no_redirect",
        "gpu.nic_path_direct",
    }
