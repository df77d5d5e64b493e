"""What the BMC reports about its host: memory, CPUs, TPM and boot, on recorded machines and altered copies of them."""

from functools import cache
from typing import Any

import pytest
from trees import (
    BLUEFIELD,
    DELL,
    DELTA,
    DGX,
    DMTF,
    GB200,
    HPE_AMD,
    HPE_INTEL,
    LENOVO,
    NVSWITCH,
    SUPERMICRO,
    X10,
    bmc_probes,
    read,
)

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.resource import Body
from rackcheck.parse.bmc.boot import order
from rackcheck.parse.bmc.systems import entries, some, whole
from rackcheck.probe.collect import collect

PROBES = ("bmc_memory", "bmc_cpu", "bmc_boot", "bmc_tpm")
LOST = Unknown(Reason.TIMEOUT, "no answer")


@cache
def capture(name: str) -> BmcCapture:
    return read(name, None, *PROBES)


def of(name: str, **bodies: Any) -> dict[str, Reading]:
    """What the probes under test read in a tree with some bodies replaced."""
    found = bmc_probes()
    held = BmcCapture({**capture(name).bodies, **bodies})
    leaves = collect([found[probe] for probe in PROBES], held)
    return {path: leaf.reading for path, leaf in leaves.items()}


def body(name: str, uri: str) -> dict[str, Any]:
    held: Body | Unknown = capture(name).bodies[uri]
    assert not isinstance(held, Unknown)
    return dict(held)


def unknown(reading: Reading, reason: Reason = Reason.NOT_COLLECTED) -> bool:
    return isinstance(reading, Unknown) and reading.reason is reason


# Memory


@pytest.mark.parametrize(
    ("name", "gibibytes", "slots", "fitted"),
    [
        (DELL, 512, 16, 16),
        (DGX, 2048, 32, 32),
        (SUPERMICRO, 2048, 32, 32),
        (HPE_INTEL, 1536, 32, 16),
        (HPE_AMD, 1024, 32, 16),
        (LENOVO, 1024, 32, 16),
        (DMTF, 96, 4, 3),
        (X10, 64, 4, 4),
        (GB200, 960, 2, 2),
    ],
)
def test_the_modules_of_the_host_add_up_to_its_memory(name: str, gibibytes: int, slots: int, fitted: int) -> None:
    found = of(name)
    assert found["bmc.memory.total"] == gibibytes
    listed = found["bmc.dimm"]
    assert isinstance(listed, tuple)
    assert len(listed) == slots
    sizes = [reading for path, reading in found.items() if path.startswith("bmc.dimm/") and path.endswith(".size")]
    assert sum(isinstance(size, Absent) for size in sizes) == slots - fitted
    assert sum(size for size in sizes if isinstance(size, float)) == gibibytes


def test_a_module_below_its_rated_speed_reports_both_speeds() -> None:
    found = of(DGX)
    assert found["bmc.dimm/DevType2_DIMM0.speed.configured"] == 4400
    assert found["bmc.dimm/DevType2_DIMM0.speed.rated"] == 4800
    assert found["bmc.dimm/DevType2_DIMM0.part_number"] == "MTC40F2046S1RC48BA1"
    assert found["bmc.dimm/DevType2_DIMM0.serial"] == "40155B49"
    assert found["bmc.dimm/DevType2_DIMM0.type"] == "DRAM"  # its BMC reports only the medium


def test_a_module_has_the_name_of_its_slot() -> None:
    assert of(SUPERMICRO)["bmc.dimm/1.locator"] == "P1-DIMMA1"
    assert of(GB200)["bmc.dimm/Memory_0.locator"] == "LP5x_0 LP5x_0"
    assert of(HPE_INTEL)["bmc.dimm/proc1dimm11.locator"] == "PROC 1 DIMM 11"


@pytest.mark.parametrize(("name", "slot"), [(HPE_INTEL, "proc1dimm11"), (LENOVO, "11"), (DMTF, "DIMM4")])
def test_an_empty_slot_has_a_state_and_nothing_in_it(name: str, slot: str) -> None:
    found = of(name)
    assert found[f"bmc.dimm/{slot}.state"] == "Absent"
    for leaf in ("health", "size", "speed.configured", "speed.rated", "rank", "type", "ecc", "serial"):
        assert isinstance(found[f"bmc.dimm/{slot}.{leaf}"], Absent), leaf


def test_the_memory_of_gpus_is_no_module_of_the_host() -> None:
    assert not [path for path in of(DGX) if "GPU" in path]
    assert not [path for path in of(GB200) if "GPU" in path]


def test_gpu_memory_that_the_host_lists_itself_is_passed_over_and_makes_an_untyped_module_doubtful() -> None:
    place = "/redfish/v1/Systems/1/Memory/1"
    stacked = {**body(SUPERMICRO, place), "MemoryDeviceType": "HBM2E"}
    found = of(SUPERMICRO, **{place: stacked})
    listed = found["bmc.dimm"]
    assert isinstance(listed, tuple)
    assert len(listed) == 31
    other = "/redfish/v1/Systems/1/Memory/2"
    found = of(SUPERMICRO, **{place: stacked, other: {**body(SUPERMICRO, other), "MemoryDeviceType": None}})
    assert unknown(found["bmc.dimm"])


@pytest.mark.parametrize("name", [NVSWITCH, BLUEFIELD, DELTA])
def test_a_bmc_that_lists_no_memory_leaves_it_unknown(name: str) -> None:
    found = of(name)
    assert unknown(found["bmc.memory.total"])
    assert unknown(found["bmc.dimm"])


@pytest.mark.parametrize("value", [0, None, "", "N/A", [], {}, True, -1, 10**400, float("nan")])
def test_a_size_that_is_none_is_unknown(value: object) -> None:
    place = f"{DELL_MEMORY}/DIMM.Socket.A1"
    found = of(DELL, **{place: {**body(DELL, place), "CapacityMiB": value, "AllowedSpeedsMHz": value}})
    assert isinstance(found['bmc.dimm/"DIMM.Socket.A1".size'], Unknown)
    assert isinstance(found['bmc.dimm/"DIMM.Socket.A1".speed.rated'], Unknown)
    assert found['bmc.dimm/"DIMM.Socket.A2".size'] == 32


DELL_MEMORY = "/redfish/v1/Systems/System.Embedded.1/Memory"


def test_a_module_that_was_not_read_leaves_the_collection_unknown_and_the_others_read() -> None:
    found = of(DELL, **{f"{DELL_MEMORY}/DIMM.Socket.A1": LOST})
    assert found["bmc.dimm"] == LOST
    assert 'bmc.dimm/"DIMM.Socket.A1".size' not in found
    assert found['bmc.dimm/"DIMM.Socket.A2".size'] == 32


@pytest.mark.parametrize("lost", [LOST, Unknown(Reason.NOT_COLLECTED, "HTTP 404")])
@pytest.mark.parametrize(("name", "host"), [(DGX, "DGX"), (GB200, "System_0")])
def test_a_host_that_was_not_read_is_not_replaced_by_the_gpu_baseboard(name: str, host: str, lost: Unknown) -> None:
    found = of(name, **{f"/redfish/v1/Systems/{host}": lost})
    for path in ("bmc.memory.total", "bmc.dimm", "bmc.cpu", "bmc.cpu.count", "bmc.boot.order", "bmc.tpm"):
        assert found[path] == lost, path
    assert not [path for path in found if path.startswith(("bmc.cpu/", "bmc.dimm/"))]


# CPUs


@pytest.mark.parametrize(
    ("name", "key", "count", "model", "cores", "threads"),
    [
        (DELL, '"CPU.Socket.1"', 2, "Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz", 18, 36),
        (DGX, "DevType1_CPU0", 2, None, 56, 112),
        (SUPERMICRO, "1", 2, "Intel(R) Xeon(R) Platinum 8462Y+", 32, 64),
        (HPE_INTEL, "1", 2, "Intel(R) Xeon(R) 6787P", 86, 172),
        (HPE_AMD, "2", 2, "AMD EPYC 7763 64-Core Processor", 64, 128),
        (LENOVO, "1", 2, "Intel(R) Xeon(R) Platinum 8362 CPU @ 2.80GHz", 32, 64),
        (GB200, "CPU_0", 2, "Grace A02", 72, 72),
        (DMTF, "CPU1", 1, "Multi-Core Intel(R) Xeon(R) processor 7xxx Series", 8, 16),
        (X10, "1", 1, "Intel(R) Xeon(R) CPU D-1541 @ 2.10GHz", 8, 16),
    ],
)
def test_cpus_are_counted_without_gpus_and_empty_sockets(
    name: str, key: str, count: int, model: str | None, cores: int, threads: int
) -> None:
    found = of(name)
    assert found["bmc.cpu.count"] == count
    reading = found[f"bmc.cpu/{key}.model"]
    assert unknown(reading) if model is None else reading == model
    assert (found[f"bmc.cpu/{key}.cores"], found[f"bmc.cpu/{key}.threads"]) == (cores, threads)
    # The board of the recorded GB200 reports a critical condition of this processor: EC_STRAP_MISMATCH.
    assert found[f"bmc.cpu/{key}.health"] == ("Critical" if name == GB200 else "OK")


def test_some_bmcs_report_microcode() -> None:
    assert of(DELL)['bmc.cpu/"CPU.Socket.2".microcode'] == "0xD00037B"
    assert of(SUPERMICRO)["bmc.cpu/1.microcode"] == "0x2B0004B1"
    assert unknown(of(LENOVO)["bmc.cpu/1.microcode"])


def test_an_empty_socket_is_listed_and_not_counted() -> None:
    found = of(DMTF)
    assert found["bmc.cpu"] == ("CPU1", "CPU2")
    assert isinstance(found["bmc.cpu/CPU2.cores"], Absent)
    assert found["bmc.cpu/CPU2.socket"] == "CPU 2"


@pytest.mark.parametrize("change", [{"ProcessorType": None}, {"Status": None}, {"Status": {"State": None}}])
def test_an_incomplete_processor_leaves_the_count_unknown(change: dict[str, Any]) -> None:
    place = "/redfish/v1/Systems/1/Processors/1"
    assert unknown(of(LENOVO, **{place: {**body(LENOVO, place), **change}})["bmc.cpu.count"])


@pytest.mark.parametrize("name", [NVSWITCH, BLUEFIELD, DELTA])
def test_a_bmc_that_lists_no_cpu_leaves_them_unknown(name: str) -> None:
    assert unknown(of(name)["bmc.cpu"])
    assert unknown(of(name)["bmc.cpu.count"])


# TPM


@pytest.mark.parametrize(
    ("name", "kind", "firmware"),
    [
        (DELL, "TPM2_0", "7.2.2.0"),
        (DGX, "TPM2_0", "15.21"),
        (HPE_INTEL, "TPM2_0", "9.256"),
        (HPE_AMD, "TPM2_0", "73.64"),
        (LENOVO, "TPM2_0", "7.2.2.0"),
        (DMTF, "TPM1_2", "1.13b"),
    ],
)
def test_a_trusted_module_has_a_kind_and_firmware(name: str, kind: str, firmware: str) -> None:
    found = of(name)
    assert found["bmc.tpm"] == ("0",)
    assert (found["bmc.tpm/0.state"], found["bmc.tpm/0.version"]) == ("Enabled", kind)
    assert found["bmc.tpm/0.firmware"] == firmware


@pytest.mark.parametrize("name", [SUPERMICRO, GB200, X10, NVSWITCH, BLUEFIELD, DELTA])
def test_a_bmc_without_a_word_on_trusted_modules_leaves_them_unknown(name: str) -> None:
    assert unknown(of(name)["bmc.tpm"])


def test_a_list_without_trusted_modules_is_one_and_null_is_none() -> None:
    place = "/redfish/v1/Systems/System.Embedded.1"
    kept = {name: value for name, value in body(DELL, place).items() if "TrustedModules" not in name}
    assert of(DELL, **{place: {**kept, "TrustedModules": []}})["bmc.tpm"] == ()
    assert unknown(of(DELL, **{place: {**kept, "TrustedModules": None}})["bmc.tpm"])
    assert unknown(of(DELL, **{place: kept})["bmc.tpm"])
    found = of(DELL, **{place: {**kept, "TrustedModules": [{"Status": {"State": "Absent"}, "FirmwareVersion": "0"}]}})
    assert found["bmc.tpm/0.state"] == "Absent"
    assert isinstance(found["bmc.tpm/0.firmware"], Absent)


# Boot


@pytest.mark.parametrize(
    ("name", "mode", "entries_", "first"),
    [
        (DELL, "UEFI", 5, "Boot0000"),
        (DGX, None, 21, "Boot0026"),
        (SUPERMICRO, "UEFI", 12, "Boot0019"),
        (HPE_INTEL, "UEFI", 23, "Boot0024"),
        (HPE_AMD, "UEFI", 30, "Boot002C"),
        (LENOVO, "UEFI", 2, "Boot0003"),
        (GB200, None, 16, "Boot0011"),
        (BLUEFIELD, "UEFI", 31, "Boot0009"),
        (NVSWITCH, "UEFI", None, None),
        (DMTF, "UEFI", None, None),
        (X10, None, None, None),
    ],
)
def test_the_boot_order_is_read_first_to_last(
    name: str, mode: str | None, entries_: int | None, first: str | None
) -> None:
    found = of(name)
    reading = found["bmc.boot.order"]
    assert (len(reading) if isinstance(reading, tuple) else None) == entries_
    assert unknown(found["bmc.boot.first"]) if first is None else found["bmc.boot.first"] == first
    assert unknown(found["bmc.boot.mode"]) if mode is None else found["bmc.boot.mode"] == mode


def test_a_name_beside_a_boot_reference_is_left_out() -> None:
    assert order(["Boot0019: Ubuntu", "Boot000a:x", "HardDisk.List.1-1"]) == (
        "Boot0019",
        "Boot000a",
        "HardDisk.List.1-1",
    )


@pytest.mark.parametrize("value", [None, [], {}, "Boot0001", [None], [""], ["Boot0001"] * 1001])
def test_an_order_that_is_none_is_unknown(value: object) -> None:
    with pytest.raises(Unreadable):
        order(value)


def test_a_target_counts_only_where_an_override_is_set() -> None:
    found = of(SUPERMICRO)  # it keeps the target Pxe of an expired override
    assert found["bmc.boot.override"] == "Disabled"
    assert isinstance(found["bmc.boot.override_target"], Absent)
    found = of(DMTF)
    assert (found["bmc.boot.override"], found["bmc.boot.override_target"]) == ("Once", "Pxe")


@pytest.mark.parametrize(
    ("boot", "expected"),
    [
        ({"BootSourceOverrideEnabled": None, "BootSourceOverrideTarget": "Pxe"}, Unknown),
        ({"BootSourceOverrideEnabled": "Perhaps", "BootSourceOverrideTarget": "Pxe"}, Unknown),
        ({"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": None}, Unknown),
        ({"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "None"}, Absent),
        (None, Unknown),
        ([], Unknown),
    ],
)
def test_an_incomplete_override_is_unknown(boot: object, expected: type) -> None:
    place = "/redfish/v1/Systems/System.Embedded.1"
    found = of(DELL, **{place: {**body(DELL, place), "Boot": boot}})
    assert isinstance(found["bmc.boot.override_target"], expected)


def test_progress_is_reported_in_the_vendors_word_where_it_is_oem() -> None:
    assert of(BLUEFIELD)["bmc.boot.progress"] == "OsIsRunning"
    assert of(GB200)["bmc.boot.progress"] == "OSRunning"
    assert of(SUPERMICRO)["bmc.boot.progress"] == "SystemHardwareInitializationComplete"
    assert unknown(of(HPE_INTEL)["bmc.boot.progress"])
    assert unknown(of(DGX)["bmc.boot.progress"])


# Readers


@pytest.mark.parametrize("value", [0, -1, None, "x", True, [], 1.5, 10**400])
def test_a_count_of_nothing_is_no_count(value: object) -> None:
    with pytest.raises(Unreadable):
        whole(value)


def test_an_amount_may_be_spelt_as_text() -> None:
    assert (some("3200"), whole(2.0)) == (3200, 2)
    assert entries([1], 1) == [1]
