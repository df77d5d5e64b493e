"""The table of BIOS settings: what it reads in every recorded BIOS, and its laws."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import places
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    tree,
)

import rackcheck_probes
from rackcheck.model import unit
from rackcheck.model.capture import BmcCapture
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.resource import ROOT
from rackcheck.parse.bmc import bios, bios_registry, bios_table
from rackcheck.parse.bmc.bios_table import ELSEWHERE, MIXED, UNSAID
from rackcheck.probe.collect import collect
from rackcheck_probes.bmc.bios import TABLE

HERE = places.ROOT
FILE = json.loads((Path(rackcheck_probes.__path__[0]) / "bios_settings.json").read_text("utf-8"))
SCHEMA = json.loads((HERE / "schemas" / "bios-settings.schema.json").read_text("utf-8"))

# The settings of each recorded BIOS, read by eye from its Attributes; "?" means that the attribute has no clear value.
# A setting that is not listed here has no attribute there.
EXPECTED = {
    DELL: """
        smt=enabled active_cores=all virtualization=enabled sr_iov=enabled pcie_aspm=disabled above_4g=enabled
        mmio_high_base=57344_GiB snc=disabled node_interleave=disabled memory_speed=maximum memory_refresh=1x
        patrol_scrub=enabled memory_encryption=disabled c_states=disabled c1e=disabled monitor_mwait=enabled
        turbo=enabled p_state_control=maximum energy_bias=performance uncore_frequency_scaling=disabled
        upi_link_power=disabled power_profile=performance workload_profile=none x2apic=disabled
        hardware_prefetcher=enabled adjacent_line_prefetch=enabled dcu_streamer_prefetch=enabled
        dcu_ip_prefetch=enabled llc_prefetch=enabled xpt_prefetch=enabled upi_prefetch=enabled sgx=disabled
        trusted_execution=disabled secure_boot=disabled tpm=enabled boot_mode=uefi pxe=disabled
        watchdog=disabled power_restore=last
    """,
    HPE_INTEL: """
        smt=enabled active_cores=all virtualization=enabled iommu=enabled sr_iov=enabled acs=enabled
        pcie_aspm=disabled pcie_generation=auto snc=disabled numa=enabled virtual_numa=disabled
        numa_group_size=flat memory_speed=auto memory_refresh=1x patrol_scrub=enabled patrol_scrub_interval=24_h
        memory_encryption=disabled c_states=enabled package_c_states=enabled c1e=enabled turbo=enabled
        energy_efficient_turbo=enabled p_state_control=firmware energy_bias=balanced-performance epp=disabled
        upi_link_power=enabled workload_profile=general-per-watt hardware_prefetcher=enabled
        adjacent_line_prefetch=enabled dcu_streamer_prefetch=enabled dcu_ip_prefetch=enabled
        llc_prefetch=disabled xpt_prefetch=auto upi_prefetch=enabled sgx=disabled trusted_execution=disabled
        secure_boot=disabled tpm=enabled tpm_visibility=visible pxe=mixed watchdog=disabled
        post_watchdog=disabled power_restore=last fan_mode=optimal
    """,
    HPE_AMD: """
        smt=enabled active_cores=all iommu=enabled sr_iov=enabled acs=enabled pcie_aspm=disabled
        pcie_generation=auto nps=auto llc_as_numa=disabled numa_group_size=flat memory_interleave=enabled
        memory_interleave_size=256_B memory_speed=auto memory_refresh=1x patrol_scrub=enabled
        patrol_scrub_interval=24_h memory_encryption=disabled c_states=enabled df_c_states=auto turbo=enabled
        p_state_control=os determinism=power determinism_control=auto apbdis=disabled fabric_p_state=auto
        package_power_limit_control=auto workload_profile=general-per-watt x2apic=enabled
        hardware_prefetcher=enabled secure_boot=disabled tpm=enabled tpm_visibility=visible boot_mode=uefi
        pxe=mixed watchdog=disabled post_watchdog=disabled power_restore=last fan_mode=optimal
    """,
    LENOVO: """
        smt=enabled active_cores=all virtualization=enabled iommu=enabled sr_iov=enabled acs=enabled
        pcie_aspm=disabled pcie_generation=auto above_4g=auto snc=disabled node_interleave=disabled
        uma_clustering=hemisphere memory_speed=maximum memory_refresh=1x patrol_scrub=enabled memory_encryption=disabled c_states=enabled
        c1e=enabled monitor_mwait=enabled turbo=enabled energy_efficient_turbo=enabled p_state_control=hardware
        energy_bias_control=platform uncore_frequency_scaling=enabled upi_link_power=enabled
        power_profile=balanced-performance workload_configuration=balanced hardware_prefetcher=enabled
        adjacent_line_prefetch=enabled dcu_streamer_prefetch=enabled dcu_ip_prefetch=enabled
        llc_prefetch=enabled xpt_prefetch=enabled upi_prefetch=enabled sgx=disabled trusted_execution=disabled
        secure_boot=disabled boot_mode=uefi csm=disabled network_stack=enabled pxe_ipv4=disabled
        pxe_ipv6=disabled post_watchdog=disabled
    """,
    SUPERMICRO: """
        smt=enabled active_cores=all virtualization=enabled iommu=enabled preboot_dma_protection=disabled
        sr_iov=enabled acs=disabled ari=enabled ioat_relaxed_ordering=disabled pcie_aspm=disabled
        max_read_request=auto edpc=disabled above_4g=enabled resizable_bar=disabled mmio_high_base=4096_GiB
        mmio_high_size=1024_GiB snc=auto uma_clustering=quadrant numa=enabled memory_speed=auto memory_refresh=auto patrol_scrub=enabled
        memory_encryption=disabled c_states=auto package_c_states=auto c1e=enabled monitor_mwait=auto
        turbo=enabled p_states=enabled hardware_p_states=disabled energy_bias_control=os upi_link_power=auto
        power_profile=custom x2apic=enabled hardware_prefetcher=enabled adjacent_line_prefetch=enabled
        dcu_streamer_prefetch=enabled dcu_ip_prefetch=enabled llc_prefetch=disabled upi_prefetch=auto
        trusted_execution=disabled secure_boot=disabled tpm=enabled csm=enabled network_stack=enabled
        pxe_ipv4=enabled pxe_ipv6=disabled watchdog=disabled power_restore=last
    """,
    DGX: """
        smt=enabled virtualization=enabled iommu=enabled preboot_dma_protection=disabled sr_iov=enabled
        ari=enabled relaxed_ordering=enabled root_port_relaxed_ordering=enabled ioat_relaxed_ordering=disabled
        ten_bit_tag=enabled extended_tag=auto max_payload=auto max_read_request=4096 edpc=fatal-and-non-fatal
        uma_clustering=quadrant numa=enabled virtual_numa=disabled memory_encryption=disabled c_states=enabled package_c_states=enabled
        turbo=enabled energy_bias=balanced-performance energy_bias_control=os workload_profile=auto
        workload_configuration=balanced hardware_prefetcher=enabled adjacent_line_prefetch=enabled
        dcu_streamer_prefetch=enabled dcu_ip_prefetch=enabled llc_prefetch=disabled sgx=disabled
        secure_boot=disabled tpm=enabled network_stack=enabled pxe_ipv4=enabled pxe_ipv6=disabled
        power_restore=?
    """,
    GB200: """
        active_cores=144 acs=enabled ten_bit_tag=disabled pcie_aspm=enabled pcie_generation=mixed
        pcie_width=mixed max_payload=auto egm=disabled power_cap_mode=50ms tpm=enabled
    """,
    BLUEFIELD: """
        iommu=enabled
    """,
    DMTF: """
        smt=enabled turbo=enabled power_profile=performance boot_mode=uefi pxe=mixed
    """,
    NVSWITCH: "",
    X10: "",
    DELTA: "",
}

# Attributes that hold settings, as noted tree by tree when the recordings were first compared.
NOTED = {
    DELL: """LogicalProc SubNumaCluster ProcCStates ProcC1E MonitorMwait SysProfile WorkloadProfile ProcPwrPerf
        EnergyPerformanceBias SriovGlobalEnable MmioAbove4Gb PcieAspmL1 MemPatrolScrub ProcTurboMode ProcX2Apic
        ProcVirtualization NodeInterleave MemFrequency SysMemSpeed MemOpMode SecureBoot TpmSecurity SetBootOrderEn
        BootMode""",
    HPE_INTEL: """ProcHyperthreading SubNumaClustering NumaGroupSizeOpt MinProcIdlePower MinProcIdlePkgState
        EnhancedCStates WorkloadProfile PowerRegulator EnergyPerfBias IntelProcVtd Sriov AccessControlService
        PcieGlobalAspm PciSlot13Aspm MemPatrolScrubbing PatrolScrubDuration ProcTurbo EnergyEfficientTurbo
        ProcVirtualization SecureBootStatus TpmState TpmVisibility BootOrderPolicy""",
    HPE_AMD: """ProcSMT NumaMemoryDomainsPerSocket LastLevelCacheAsNUMANode MinProcIdlePower DataFabricCStateEnable
        PerformanceDeterminism DeterminismControl WorkloadProfile PowerRegulator ProcAmdIoVt Sriov
        AccessControlService PciSlot1Aspm MemPatrolScrubbing PatrolScrubDuration ProcAMDBoost ProcX2Apic
        AmdMemoryInterleaving AmdMemoryIntlvSize SecureBootStatus TpmState TpmVisibility BootMode""",
    LENOVO: """Processors_HyperThreading Processors_SNC Processors_CStates Processors_C1EnhancedMode
        OperatingModes_ChooseOperatingMode DevicesandIOPorts_IntelVTforDirectedIOVTd DevicesandIOPorts_SRIOV
        Processors_PCIeACSCTL DevicesandIOPorts_PCIeGen_Slot1 Memory_PatrolScrub Processors_TurboMode
        Processors_IntelVirtualizationTechnology Memory_MemorySpeed Memory_SocketInterleave
        SecureBootConfiguration_SecureBootSetting BootModes_SystemBootMode""",
    SUPERMICRO: """Hyper_Threading_ALL__F27F SNC_F300 NUMA_003B CPUC6Report_3D22 PackageCState_3D25
        EnhancedHaltState_C1E__3D23 IntelVTforDirectedI_O_VT_d__1E32 SR_IOVSupport_0047 PCIeACSCTL_1E3C
        RelaxedOrdering_1DD1 Above4GDecoding_0041 Re_SizeBARSupport_0042 MMIOHighBase_0045
        PCIeASPMSupport_Global__00A6 PCIeMaxReadRequestSize_00AE PatrolScrub_3C41 TurboMode_3D06
        IntelVirtualizationTechnology_3C6F VolatileMemoryMode_F302 SecureBootEnable_0122 TPMSecurityPolicy_0108""",
    DGX: """ProcessorHyperThreadingDisable NumaEn VirtualNumaEnable PackageCState AltEngPerfBIAS ApplicationProfile
        VTdSupport SriovSupport SRIOVEnable PcieRelaxedOrdering PcieRootPortRO CbRelaxedOrdering PciePort10bitTag
        PcieMaxPayload PcieMaxReadRequestSize TurboMode ProcessorVmxEnable SecureBootSupport TpmSupport BootOrder""",
    GB200: """ActiveCores ServerPowerControl Socket0Pcie0AdvertiseACS Socket0Pcie0Ext10BitTagReq
        Socket0Pcie0EnableASPML1 Socket0Pcie0MaxPayloadSize Socket0Pcie0MaxPCIespeed Socket0Pcie0MaxPCIewidth EGM
        TPM""",
    BLUEFIELD: "EnableSMMU",
}


def recorded(name: str) -> dict[str, Any]:
    """The attributes of a tree's BIOS; empty where it has none."""
    bodies = (
        json.loads(f.read_text("utf-8")) for f in sorted(tree(name).glob("redfish/v1/Systems/*/[Bb]ios/index.json"))
    )
    return next((body["Attributes"] for body in bodies if body.get("Attributes")), {})


@cache
def over_https(name: str) -> dict[str, Reading]:
    """What the probe reads in a tree."""
    probe = bmc_probes()["bmc_bios"]
    found = collect([probe], read(name, None, probe.name))
    return {path: leaf.reading for path, leaf in found.items()}


def shown(setting: str, reading: Reading) -> str:
    return "?" if isinstance(reading, Unknown) else TABLE[setting].spell(reading).replace(" ", "_")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_setting_of_every_recorded_bios_is_read_as_it_stands_there(name: str) -> None:
    expected = dict(pair.split("=") for pair in EXPECTED[name].split())
    given, found = recorded(name), {}
    for setting, known in TABLE.items():
        reading = bios.read_setting(known, given).reading
        if isinstance(reading, Unknown) and reading.detail.startswith("none of "):
            assert reading.reason is Reason.NOT_COLLECTED
        else:
            found[setting] = shown(setting, reading)
    assert found == expected


@pytest.mark.parametrize("name", [DELL, DGX, SUPERMICRO, HPE_INTEL, HPE_AMD, LENOVO, GB200, BLUEFIELD, DMTF])
def test_the_probe_returns_what_the_table_returns(name: str) -> None:
    found, given = over_https(name), recorded(name)
    for setting, known in TABLE.items():
        assert (f"bios.{setting}" in found) is not known.apart
        if not known.apart:
            assert found[f"bios.{setting}"] == bios.read_setting(known, given).reading


def test_nine_in_ten_of_the_noted_attributes_give_a_setting() -> None:
    lost, count = [], 0
    for name, names in NOTED.items():
        given = recorded(name)
        assert set(names.split()) <= set(given), name
        used = {a for known in TABLE.values() for a in bios.read_setting(known, given).attributes}
        lost += [attribute for attribute in names.split() if attribute not in used]
        count += len(names.split())
    print(f"{count - len(lost)} of {count} noted attributes hold a setting; not {', '.join(lost)}")
    assert len(lost) <= count / 10


def test_the_table_keeps_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(FILE)) == []
    assert len(TABLE) >= 40


@pytest.mark.parametrize(
    "row",
    [
        {"seen": "a machine somewhere"},
        {"names": [], "seen": "a machine somewhere"},
        {"names": ["A"]},
        {"names": ["A"], "seen": "a machine somewhere", "word": {}},
        {"names": ["A"], "seen": "a machine somewhere", "inverted": False},
        {"names": ["A"], "seen": "a machine somewhere", "words": {"Enabled": ["x"]}},
        {"pattern": "a", "seen": "a machine somewhere"},
    ],
)
def test_the_schema_refuses_a_row_that_could_not_be_read(row: Mapping[str, object]) -> None:
    table = {"about": [], "words": {}, "settings": {"x": {"about": "whether it is so", "rows": [row]}}}
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(table))


def test_every_word_of_the_table_is_allowed_for_its_setting() -> None:
    for setting, known in TABLE.items():
        for row in known.rows:
            assert set(row.words.values()) <= {*known.words, ELSEWHERE, UNSAID}, setting
            assert row.number is None or row.number.groups == 1, setting
            assert row.number is None or known.counts or known.unit, setting
        kind = known.kind
        assert (kind.type is Type.QUANTITY) is (known.unit is not None)
        assert kind.type is not Type.TEXT or kind.words == (*known.words, MIXED)


def test_no_attribute_gives_two_settings_but_where_packages_stand_in_for_cores() -> None:
    spelt = {n for known in TABLE.values() for row in known.rows for n in row.names}
    spelt |= {bios_table.spelling(attribute) for name in EXPECTED for attribute in recorded(name)}
    for name in sorted(spelt):
        mine = {s for s, known in TABLE.items() if any(row.among({name: [name]}) for row in known.rows)}
        assert len(mine) <= 1 or (name, mine) == ("packagecstate", {"c_states", "package_c_states"}), name


def test_every_value_that_a_recorded_row_names_is_read() -> None:
    """`NAME=VALUE` in `seen` is what a machine reports: the row that names it must contain the value."""
    count = 0
    for setting, entry in FILE["settings"].items():
        for row in entry["rows"]:
            for name, value in re.findall(r"(\w+)=([^,;:]+)", row["seen"]):
                reading = bios.read_setting(TABLE[setting], {name: value}).reading
                assert not isinstance(reading, Unknown) or value == "PerPort", (setting, name, value, reading)
                count += 1
    assert count > 40


# Laws, on tables made for them


def table(*rows: Mapping[str, object], **more: object) -> bios_table.Setting:
    """One setting with these rows."""
    given = {"about": "whether it is so", "rows": [{"seen": "nowhere", **row} for row in rows], **more}
    return bios_table.settings({"words": FILE["words"], "settings": {"x": given}})["x"]


def reading_of(setting: bios_table.Setting, **attributes: object) -> Reading:
    return bios.read_setting(setting, attributes).reading


@pytest.mark.parametrize("word", ["Enabled", "enable", "Yes", "TRUE", "On", True, "Force Enable", "ForceEnabled"])
def test_the_common_words_are_known_however_they_are_spelt(word: object) -> None:
    assert reading_of(table({"names": ["A"]}), A=word) == "enabled"
    assert reading_of(table({"names": ["A"], "inverted": True}), A=word) == "disabled"


@pytest.mark.parametrize("word", ["Disabled", "Disable", "No", "false", "Off", False])
def test_an_inverted_name_means_the_opposite_and_auto_stays_auto(word: object) -> None:
    assert reading_of(table({"names": ["A"]}), A=word) == "disabled"
    assert reading_of(table({"names": ["A"], "inverted": True}), A=word) == "enabled"
    assert reading_of(table({"names": ["A"], "inverted": True}), A="Auto") == "auto"


def test_a_name_that_lies_is_not_taken_at_its_word() -> None:
    assert reading_of(TABLE["smt"], ProcessorHyperThreadingDisable="Enabled") == "enabled"
    assert reading_of(TABLE["apbdis"], ApplicationPowerBoost="Disabled") == "enabled"
    assert reading_of(TABLE["node_interleave"], Memory_SocketInterleave="Non_NUMA") == "enabled"
    assert reading_of(TABLE["memory_refresh"], Memory_2xRefreshRate="Disabled") == "1x"


@pytest.mark.parametrize("word", ["Perhaps", "", "1", 1, 0, 2.5, "Enabledish", "Dis abled?!x", [], None, {}])
def test_an_unlisted_word_is_unknown_and_names_its_attribute(word: object) -> None:
    reading = reading_of(table({"names": ["Odd Name"]}), Odd_Name=word)
    assert isinstance(reading, Unknown)
    assert "Odd_Name" in reading.detail


def test_a_setting_with_words_of_its_own_rejects_the_common_ones() -> None:
    assert isinstance(reading_of(TABLE["nps"], NumaNodesPerSocket="Enabled"), Unknown)
    assert isinstance(reading_of(TABLE["boot_mode"], BootMode="On"), Unknown)
    assert isinstance(reading_of(TABLE["tpm"], TPM="Auto"), Unknown)
    assert reading_of(TABLE["power_restore"], AcPwrRcvry="On") == "on"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0", "0"), (1, "1"), ("NPS4", "4"), ("TwoMemoryDomainsPerSocket", "2"), ("Auto", "auto")],
)
def test_numa_nodes_per_socket_are_numbers_or_auto(value: object, expected: str) -> None:
    assert reading_of(TABLE["nps"], NumaNodesPerSocket=value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2-Way", "2"), ("Enable SNC4 (4-clusters)", "4"), ("Disabled", "disabled"), ("Auto", "auto")],
)
def test_sub_numa_clusters_are_numbers_or_off(value: str, expected: str) -> None:
    assert reading_of(TABLE["snc"], SNC_F300=value) == expected


def test_a_family_of_ports_is_one_setting_that_is_mixed_where_they_differ() -> None:
    ports = {f"Socket{s}Pcie{p}AdvertiseACS": True for s in range(2) for p in range(10)}
    assert reading_of(TABLE["acs"], **ports) == "enabled"
    assert reading_of(TABLE["acs"], **ports | {"Socket1Pcie9AdvertiseACS": False}) == "mixed"
    assert isinstance(reading_of(TABLE["acs"], **ports | {"Socket1Pcie9AdvertiseACS": None}), Unknown)
    assert isinstance(reading_of(TABLE["acs"], **ports | {"Socket1Pcie9AdvertiseACS": "Perhaps"}), Unknown)
    assert len(bios.read_setting(TABLE["acs"], ports).attributes) == 20


def test_two_spellings_that_disagree_are_mixed_and_those_that_agree_are_one() -> None:
    assert reading_of(TABLE["turbo"], TurboMode_3D06="Enable", TurboMode="Disable") == "mixed"
    assert reading_of(TABLE["turbo"], TurboMode_3D06="Enable", TurboMode="Enabled") == "enabled"
    assert reading_of(TABLE["sr_iov"], **{"SR-IOV Support": "Enabled", "SRIOVEnable": "Disable"}) == "mixed"


def test_sizes_that_disagree_are_unknown_since_no_quantity_is_mixed() -> None:
    reading = reading_of(TABLE["mmio_high_base"], MMIOHighBase_0045="4T", MMIOHighBase_0046="2T")
    assert isinstance(reading, Unknown)
    assert "2048 GiB, 4096 GiB" in reading.detail
    assert reading_of(TABLE["mmio_high_base"], MMIOHighBase_0045="4T", MMIOHighBase_0046="4096G") == 4096.0


def test_a_name_with_blanks_signs_or_a_version_at_its_end_is_the_same_name() -> None:
    for name in ("Above 4G Decoding", "Above4GDecoding_0041", "Above4GDecoding_FFFF", " above-4g [decoding]"):
        assert reading_of(TABLE["above_4g"], **{name: "Enabled"}) == "enabled"
    assert isinstance(reading_of(TABLE["above_4g"], Above4GDecodingLimit="Enabled"), Unknown)


def test_an_object_yields_its_current_value() -> None:
    assert (
        reading_of(TABLE["turbo"], TurboMode={"CurrentValue": "Disable", "AllowableValues": ["Enable"]}) == "disabled"
    )
    assert reading_of(TABLE["mmio_high_base"], MMIOHighBase={"Value": "1T"}) == 1024.0
    assert isinstance(reading_of(TABLE["turbo"], TurboMode={"AllowableValues": ["Enable"]}), Unknown)
    assert isinstance(reading_of(TABLE["turbo"], TurboMode={"CurrentValue": {"CurrentValue": "Enable"}}), Unknown)


@pytest.mark.parametrize(
    ("value", "gib"),
    [("56TB", 57344), ("4T", 4096), ("512GB", 512), ("1024G", 1024), ("12 TiB", 12288), ("64m", 1 / 16)],
)
def test_a_size_is_read_in_powers_of_1024_as_bios_makers_mean_it(value: str, gib: float) -> None:
    assert reading_of(TABLE["mmio_high_base"], MemoryMappedIOH=value) == gib


@pytest.mark.parametrize(
    "value", ["Auto", "0", "0T", "-4T", "4X", "4T4T", "\u0663T", "9" * 12 + "T", "", "T", None, True]
)
def test_a_size_that_is_none_is_unknown(value: object) -> None:
    assert isinstance(reading_of(TABLE["mmio_high_base"], MemoryMappedIOH=value), Unknown)


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [
        ("EnabledCoresPerProc", "CoresPerProc8", "8"),
        ("EnabledCoresPerProc", 0, "all"),
        ("EnabledCoresPerProc", 24, "24"),
        ("Processors_CoresinCPUPackage", "CoresinCPUPackage_10", "10"),
        ("NumberofCores_3BCF", "4 Cores", "4"),
        ("ProcCores", "16", "16"),
        ("ActiveCores", 144, "144"),
    ],
)
def test_active_cores_are_all_or_a_number(attribute: str, value: object, expected: str) -> None:
    assert reading_of(TABLE["active_cores"], **{attribute: value}) == expected


@pytest.mark.parametrize("value", [-1, "-4", "+4", "- 1", 1.5, "0.4", ".4", "1,5", "-4 Cores", 1e17 + 0.5])
def test_a_number_with_a_sign_or_a_fraction_is_not_taken_for_its_digits(value: object) -> None:
    assert isinstance(reading_of(TABLE["nps"], NumaNodesPerSocket=value), Unknown)
    assert isinstance(reading_of(TABLE["active_cores"], ActiveCores=value), Unknown)
    assert isinstance(reading_of(TABLE["patrol_scrub_interval"], PatrolScrubDuration=value), Unknown)


def test_a_whole_number_is_the_same_with_a_zero_behind_its_point() -> None:
    assert reading_of(TABLE["active_cores"], ActiveCores=144.0) == "144"
    assert reading_of(TABLE["nps"], NumaNodesPerSocket={"CurrentValue": 4.0}) == "4"
    assert reading_of(TABLE["patrol_scrub_interval"], PatrolScrubDuration="24.00") == 24.0


def test_a_zero_that_no_registry_explains_is_no_number() -> None:
    assert isinstance(reading_of(TABLE["active_cores"], ProcCores=0), Unknown)
    assert isinstance(reading_of(TABLE["patrol_scrub_interval"], PatrolScrubDuration=0), Unknown)
    assert isinstance(reading_of(TABLE["memory_speed"], MaxMemBusFreqMHz="MaxMemBusFreq000"), Unknown)


def test_memory_speed_is_a_number_where_it_is_reported_as_one() -> None:
    assert reading_of(TABLE["memory_speed"], MaxMemBusFreqMHz="MaxMemBusFreq4800") == "4800"
    assert reading_of(TABLE["memory_speed"], MemoryFrequency_3B25="5600") == "5600"
    assert reading_of(TABLE["memory_speed"], MemFrequency="MaxPerf") == "maximum"


def test_a_value_that_defers_to_another_setting_is_unknown_not_unparsable() -> None:
    reading = reading_of(TABLE["power_restore"], PowerControlPolicy="Unspecified")
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_COLLECTED


def test_a_missing_setting_states_what_was_looked_for() -> None:
    reading = bios.read_setting(TABLE["nps"], recorded(DGX)).reading
    assert reading == Unknown(
        Reason.NOT_COLLECTED,
        "none of 223 attributes matches nps: NumaMemoryDomainsPerSocket, NumaNodesPerSocket, NUMA Nodes per Socket",
    )
    many = bios.read_setting(TABLE["smt"], {}).reading
    assert isinstance(many, Unknown)
    assert re.search(r": LogicalProc, .*, \S.* and \d+ more$", many.detail)


def opaque(name: str, registry: str) -> tuple[dict[str, Any], dict[str, str]]:
    """A recorded BIOS with attributes named by number, as some makers do, and what its registry displays."""
    body = json.loads(next(tree(name).glob(registry)).read_text("utf-8"))
    given, shown = recorded(name), bios_registry.displayed(body)
    code = {attribute: f"SETUP{n:03}" for n, attribute in enumerate(given)}
    return {code[a]: value for a, value in given.items()}, {code[a]: shown[a] for a in given if a in shown}


@pytest.mark.parametrize(
    ("name", "registry", "least"),
    [
        (SUPERMICRO, "registries/Bios*/index.json", 40),
        (DGX, "redfish/v1/Registries/BiosAttributeRegistry113.en-US*/index.json", 15),
    ],
)
def test_an_attribute_is_known_by_what_the_registry_displays(name: str, registry: str, least: int) -> None:
    given, shown = opaque(name, registry)
    count = 0
    for known in TABLE.values():
        assert isinstance(bios.read_setting(known, given).reading, Unknown)
        found = bios.read_setting(known, given, shown)
        if found.attributes:
            assert found.reading == bios.read_setting(known, recorded(name)).reading, known.name
            count += 1
    assert count >= least


def test_what_is_displayed_does_not_outdo_a_name() -> None:
    given = {"TurboMode": "Enable", "SETUP001": "Disable"}
    shown = {"SETUP001": "Turbo Mode"}
    assert bios.read_setting(TABLE["turbo"], given, shown).reading == "enabled"
    assert bios.read_setting(TABLE["turbo"], {"SETUP001": "Disable"}, shown).reading == "disabled"


@pytest.mark.parametrize(
    "registry",
    [
        {},
        {"RegistryEntries": None},
        {"RegistryEntries": []},
        {"RegistryEntries": {"Attributes": {}}},
        {
            "RegistryEntries": {
                "Attributes": [None, 1, {}, {"AttributeName": "A"}, {"AttributeName": [], "DisplayName": "x"}]
            }
        },
        {"RegistryEntries": {"Attributes": [{"AttributeName": "A", "DisplayName": "x" * 5000}]}},
    ],
)
def test_a_registry_that_is_odd_displays_nothing(registry: Mapping[str, Any]) -> None:
    assert bios_registry.displayed(registry) == {}


def machine(now: Mapping[str, object], then: Mapping[str, object]) -> BmcCapture:
    """A BMC with one BIOS: its attributes now, and those for the next boot."""
    place = f"{ROOT}/Systems/1"
    later = {"@odata.id": f"{place}/Bios/SD"}
    return BmcCapture(
        {
            ROOT: {"Systems": {"@odata.id": f"{ROOT}/Systems"}},
            f"{ROOT}/Systems": {"Members": [{"@odata.id": place}]},
            place: {"Id": "1", "Bios": {"@odata.id": f"{place}/Bios"}},
            f"{place}/Bios": {"Attributes": now, "@Redfish.Settings": {"SettingsObject": later}},
            f"{place}/Bios/SD": {"Id": "SD", "Attributes": then},
        }
    )


def test_a_size_that_waits_for_a_reboot_is_written_with_its_unit() -> None:
    capture = machine({"MMIOHighBase": "4T", "SNC": "Auto"}, {"MMIOHighBase": "2T", "SNC": "Auto"})
    found = collect([bmc_probes()["bmc_bios"]], capture)
    assert found["bios.pending"].reading == ("mmio_high_base",)
    assert found["bios.pending/mmio_high_base"].reading == "2048 GiB"
    assert found["bios.mmio_high_base"].reading == 4096.0


# Nonsense

ROWS = [row for entry in FILE["settings"].values() for row in entry["rows"]]
NAMES = sorted({name for row in ROWS for name in row.get("names", ())})
VALUES = sorted({w for row in ROWS for words in row.get("words", {}).values() for w in words})
WRONG = st.one_of(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(VALUES),
    st.sampled_from(
        ["Enabled", "Auto", "4T", "0", "9" * 400, "\ufffd", "\u0663", 10**400, -1, [], {"CurrentValue": []}]
    ),
)


@settings(max_examples=300, deadline=None)
@given(attributes=st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=12), WRONG, max_size=12))
def test_a_setting_is_always_one_of_its_words_or_unknown(attributes: dict[str, Any]) -> None:
    for name, report in bios.read_settings(TABLE, attributes).items():
        known, reading = TABLE[name], report.reading
        if isinstance(reading, Unknown):
            assert reading.detail
        elif known.unit is not None:
            assert isinstance(reading, float)
            assert 0 < reading < 1e15
            assert unit.spell(reading, known.unit)
        else:
            counted = known.counts and isinstance(reading, str) and reading.isascii() and reading.isdecimal()
            assert counted or reading in {*known.words, MIXED}


@settings(max_examples=100, deadline=None)
@given(
    now=st.dictionaries(st.sampled_from(NAMES[:40]), WRONG, max_size=8),
    then=st.dictionaries(st.sampled_from(NAMES[:40]), WRONG, max_size=8),
)
def test_what_waits_is_a_text_or_unknown(now: dict[str, Any], then: dict[str, Any]) -> None:
    waits = bios.waiting(TABLE, now, then)
    assert all(isinstance(report.reading, (str, Unknown)) for report in waits.changes.values())
