"""PCI: what the probes read in recorded machines, value for value, and in made-up answers."""

from collections.abc import Mapping
from typing import Any

import pytest
from recordings import answering, facts, holding, os_probes, shared_text, tree

from rackcheck.model.capture import NodeCapture
from rackcheck.model.fact import Absent, Reason, Unknown

PROBES = os_probes()
PCI = "/sys/bus/pci/devices"
LSPCI = sorted(name for name, probe in PROBES.items() if str(probe.ask) == "lspci -Dnnvvv")


def lspci(recording: str) -> NodeCapture:
    """A recorded answer of lspci, ended as lspci ends it; all its probes run the same command."""
    return answering(PROBES["pcie_acs"], shared_text(f"pcie/lspci-vvvx-cap-{recording}.txt").rstrip("\n") + "\n\n")


def facts_of_function(probe: str, capture: NodeCapture, address: str) -> dict[str, Any]:
    """The facts of a probe about one function, by the rest of each path."""
    item = f'pcie/"{address}".'
    return {path.removeprefix(item): r for path, r in facts(PROBES[probe], capture).items() if path.startswith(item)}


def agree(given: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Compare readings with values, or with Absent or Unknown."""
    for path, value in expected.items():
        if isinstance(value, type):
            assert isinstance(given[path], value), (path, given[path])
        else:
            assert given[path] == value, (path, given[path])


CASES: list[tuple[str, str, str, Mapping[str, Any]]] = [
    ("pcie_control", "aer-log", "0000:00:1c.0", {
        "type": "Root Port", "max_payload": 256.0, "max_payload_supported": 256.0, "max_read_request": 128.0,
        "relaxed_ordering": False, "no_snoop": False, "extended_tag": False, "extended_tag_supported": False,
        "ten_bit_tag": Unknown, "ten_bit_tag_supported": Unknown, "ten_bit_tag_completer": Unknown}),
    ("pcie_control", "dpc", "0000:05:01.0", {
        "type": "Downstream Port", "max_payload": 128.0, "max_payload_supported": 1024.0, "no_snoop": True}),
    ("pcie_control", "dev3", "0000:01:00.0", {
        "type": "Endpoint", "max_read_request": 512.0, "relaxed_ordering": True, "ten_bit_tag": False}),
    ("pcie_control", "ide", "0000:e1:00.0", {
        "max_payload": 512.0, "max_payload_supported": 1024.0, "extended_tag": True, "no_snoop": True,
        "ten_bit_tag": True, "ten_bit_tag_supported": True, "ten_bit_tag_completer": True}),
    ("pcie_control", "pasid-pri", "0000:00:02.0", {"type": "Root Complex Integrated Endpoint", "max_payload": 128.0}),
    # The first version of PCI Express, and a bridge to conventional PCI, which has no such capability.
    ("pcie_control", "vc-and-rcl", "0000:00:1c.0", {"type": "Root Port", "max_payload": 128.0, "ten_bit_tag": Absent}),
    ("pcie_control", "vc-and-rcl", "0000:00:1e.0", {"type": Absent, "max_payload": Absent, "relaxed_ordering": Absent}),
    ("pcie_aspm", "aer-log", "0000:00:1c.0", {
        "aspm.enabled": "L1", "aspm.supported": "L1",
        "aspm.substates": ("PCI-PM_L1.2", "PCI-PM_L1.1", "ASPM_L1.2", "ASPM_L1.1")}),
    ("pcie_aspm", "exp-lnkcap2", "0000:02:00.0", {
        "aspm.enabled": "none", "aspm.supported": "L0s L1", "aspm.substates": ()}),
    ("pcie_aspm", "ide", "0000:e1:00.0", {
        "aspm.enabled": "none", "aspm.supported": "none", "aspm.substates": Absent}),
    ("pcie_aspm", "aer-root", "0000:03:00.0", {"aspm.supported": "L0s"}),
    ("pcie_aspm", "vc-and-rcl", "0000:01:00.0", {"aspm.supported": "L0s L1"}),
    ("pcie_aspm", "vc-and-rcl", "0000:02:00.0", {"aspm.supported": Unknown}),
    ("pcie_aspm", "pasid-pri", "0000:00:02.0", {"aspm.enabled": Absent, "aspm.supported": Absent}),
    ("pcie_status", "dpc", "0000:05:01.0", {
        "status.correctable": True, "status.nonfatal": False, "status.fatal": False, "status.unsupported": True}),
    ("pcie_status", "aer-log", "0000:00:1c.0", {
        "status.correctable": False, "status.unsupported": False, "status.poisoned": False}),
    ("pcie_status", "ide", "0000:e1:00.0", {"status.correctable": True, "status.unsupported": True}),
    ("pcie_link", "exp-dev2", "0000:00:1c.0", {
        "link.state.speed": "downgraded", "link.state.width": "ok", "link.target_speed": 8.0, "link.disabled": False}),
    ("pcie_training", "exp-dev2", "0000:00:1c.0", {
        "link.active": True, "link.equalized": False, "link.retimers": Unknown, "link.lane_errors": ()}),
    # The same link as printed by a version that does not judge it.
    ("pcie_link", "aer-log", "0000:00:1c.0", {
        "link.state.speed": "downgraded", "link.state.width": "ok"}),
    ("pcie_training", "aer-log", "0000:00:1c.0", {"link.active": True, "link.lane_errors": Unknown}),
    ("pcie_link", "ide", "0000:e1:00.0", {
        "link.state.speed": "ok", "link.state.width": "ok", "link.target_speed": 32.0, "link.disabled": False}),
    ("pcie_training", "ide", "0000:e1:00.0", {
        "link.active": Absent, "link.equalized": True, "link.retimers": 0}),
    ("pcie_link", "pasid-pri", "0000:00:02.0", {"link.state.width": Absent, "link.target_speed": Absent}),
    ("pcie_training", "pasid-pri", "0000:00:02.0", {"link.active": Absent, "link.retimers": Absent}),
    ("pcie_acs", "aer-root", "0000:00:02.0", {
        "acs.enabled": ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd"), "acs.redirect": True}),
    ("pcie_acs", "dpc", "0000:05:01.0", {"acs.enabled": (), "acs.redirect": False}),
    ("pcie_acs", "aer-root", "0000:03:00.0", {"acs.supported": Absent, "acs.enabled": Absent, "acs.redirect": Absent}),
    ("pcie_acs", "ide", "0000:e1:00.0", {"acs.supported": (), "acs.redirect": False}),
    ("pcie_ats", "pasid-pri", "0000:00:02.0", {"ats.enabled": True, "pri.enabled": False, "pasid.enabled": True}),
    ("pcie_ats", "ide", "0000:e1:00.0", {"ats.enabled": Absent, "pri.enabled": Absent, "pasid.enabled": True}),
    ("pcie_aer", "aer-log", "0000:00:1c.0", {
        "aer.uncorrectable": (), "aer.unmasked": (), "aer.fatal": (), "aer.correctable": (),
        "aer.uncorrectable_masked": ("UnxCmplt",), "aer.correctable_masked": ("NonFatalErr",), "aer.reported": ()}),
    ("pcie_aer", "ide", "0000:e1:00.0", {
        "aer.correctable": ("AdvNonFatalErr",), "aer.correctable_unmasked": (),
        "aer.reported": ("correctable", "nonfatal", "fatal")}),
    ("pcie_aer", "pasid-pri", "0000:00:02.0", {"aer.uncorrectable": Absent, "aer.unmasked": Absent, "aer.fatal": Absent}),
    ("pcie_resizable", "ide", "0000:e1:00.0", {"bar.resizable": Absent, "bar.unassigned": ("1", "3")}),
    ("pcie_resizable", "dev3", "0000:01:00.0", {"bar.resizable_max": Absent, "bar.unassigned": ()}),
    ("pcie_atomics", "aer-root", "0000:00:02.0", {
        "atomics.completer": ("32bit", "64bit", "128bitCAS"), "atomics.requester": False, "atomics.routing": False,
        "atomics.blocked": False}),
    ("pcie_atomics", "exp-lnkcap2", "0000:08:00.0", {
        "atomics.completer": (), "atomics.requester": Absent, "atomics.routing": False, "atomics.blocked": False}),
    ("pcie_atomics", "ide", "0000:e1:00.0", {
        "atomics.completer": ("32bit", "64bit", "128bitCAS"), "atomics.requester": False, "atomics.routing": Absent}),
    ("pcie_slot", "aer-log", "0000:00:1c.0", {
        "slot.number": 0, "slot.power_limit": 10.0, "slot.present": True, "slot.power_fault": False,
        "power.granted": Absent}),
    ("pcie_slot", "dpc", "0000:05:01.0", {"slot.number": 1, "slot.power_limit": 25.0}),
    ("pcie_slot", "aer-root", "0000:00:02.0", {"slot.number": Absent, "slot.present": Absent}),
    ("pcie_slot", "aer-root", "0000:03:00.0", {"slot.number": Absent, "power.granted": 116.0}),
    ("pcie_slot", "ide", "0000:e1:00.0", {"power.granted": 75.0}),
    ("pcie_vital", "ide", "0000:e1:00.0", {"serial": Absent, "part_number": Absent}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("probe", "recording", "address", "expected"), CASES, ids=lambda v: v if type(v) is str else ""
)
def test_a_recorded_register_is_read_value_for_value(
    probe: str, recording: str, address: str, expected: Mapping[str, Any]
) -> None:
    agree(facts_of_function(probe, lspci(recording), address), expected)


def test_every_probe_of_the_registers_is_in_the_table() -> None:
    assert {case[0] for case in CASES} == set(LSPCI)


FUNCTION = """\
0000:1b:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev {})
\tControl: I/O- Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx+
\tStatus: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-
\tRegion 2: Memory at 38a000000000 (64-bit, prefetchable) [size=128G]
\tCapabilities: {}
\tKernel driver in use: nvidia

"""


GONE = """\
0000:1b:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev ff) (prog-if ff)
\t!!! Unknown header type 7f
\tKernel driver in use: nvidia

"""


@pytest.mark.parametrize("probe", LSPCI)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (FUNCTION.format("a1", "<access denied>"), Reason.DENIED),
        (GONE, Reason.NOT_READY),
        (FUNCTION.format("a1", "[60] Express (v2) Endpoint, MSI 00\n\tCapabilities: [70] <chain broken>"), None),
    ],
    ids=["denied", "gone", "broken"],
)
def test_a_function_with_hidden_registers_has_unknown_facts(probe: str, answer: str, reason: Reason | None) -> None:
    given = facts_of_function(probe, answering(PROBES[probe], answer), "0000:1b:00.0")
    assert given
    for path, reading in given.items():
        if path in {"bar.unassigned", "status.poisoned"} and reason is not Reason.NOT_READY:
            assert reading in ((), False)  # is in the first 64 bytes, which every user may read
        elif reason is None:
            # The kind of function came before the break; what no function of this kind has is still absent.
            assert isinstance(reading, Unknown | Absent) or path == "type", path
        else:
            assert isinstance(reading, Unknown), path
            assert reading.reason is reason, path


@pytest.mark.parametrize("probe", LSPCI)
@pytest.mark.parametrize(
    ("status", "complaint", "reason"),
    [
        (127, "sh: 1: lspci: not found", Reason.TOOL_MISSING),
        (1, "sudo: a password is required", Reason.DENIED),
        (1, "lspci: Cannot find any working access method.", Reason.NOT_COLLECTED),
        (124, "", Reason.TIMEOUT),
    ],
)
def test_without_an_answer_the_reason_stands_at_every_promise(
    probe: str, status: int, complaint: str, reason: Reason
) -> None:
    given = facts(PROBES[probe], answering(PROBES[probe], "", status, complaint))
    assert set(given) == set(PROBES[probe].gives)
    assert {r.reason for r in given.values() if isinstance(r, Unknown)} == {reason}


def registers(*lines: str, title: str = "Express (v2) Endpoint, MSI 00", more: str = "") -> NodeCapture:
    """A GPU with one capability of these lines; `more` is a second one."""
    body = "".join(f"\n\t\t{line}" for line in lines)
    return answering(PROBES["pcie_acs"], FUNCTION.format("a1", f"[60] {title}{body}{more}"))


@pytest.mark.parametrize(
    ("now", "most", "expected"),
    [
        ("Speed 32GT/s, Width x8", "Speed 32GT/s, Width x16", ("ok", "downgraded")),
        ("Speed 32GT/s (ok), Width x8 (downgraded)", "Speed 32GT/s, Width x16", ("ok", "downgraded")),
        ("Speed 2.5GT/s (downgraded), Width x16", "Speed 32GT/s, Width x16", ("downgraded", "ok")),
        ("Speed 16GT/s (overdriven), Width x16", "Speed 8GT/s, Width x16", ("overdriven", "ok")),
        ("Speed 2.5GT/s, Width x0", "Speed 16GT/s, Width x16", (Absent, Absent)),
        ("Speed unknown, Width x16", "Speed 32GT/s, Width x16", (Unknown, "ok")),
        ("Speed 32GT/s, Width x16", "Speed unknown, Width x16", (Unknown, "ok")),
    ],
)
def test_a_link_is_compared_with_its_own_end(now: str, most: str, expected: tuple[Any, Any]) -> None:
    capture = registers(f"LnkCap:\tPort #0, {most}, ASPM not supported", f"LnkSta:\t{now}")
    given = facts_of_function("pcie_link", capture, "0000:1b:00.0")
    agree(given, {"link.state.speed": expected[0], "link.state.width": expected[1]})


@pytest.mark.parametrize(("one", "two", "count"), [("-", "-", 0), ("+", "-", 1), ("+", "+", 2), ("-", "+", 2)])
def test_retimers_are_counted(one: str, two: str, count: int) -> None:
    capture = registers(f"LnkSta2: Current De-emphasis Level: -6dB, Retimer{one} 2Retimers{two}")
    assert facts_of_function("pcie_training", capture, "0000:1b:00.0")["link.retimers"] == count


# Decoded by version 3.9 from the dump of a Haswell root port: after training every lane held an error.
def test_lane_errors_are_named() -> None:
    lines = ("LnkCtl3: LnkEquIntrruptEn- PerformEqu-", "LaneErrStat: LaneErr at lane: 0 1 2 3 4 5 6 7")
    given = facts_of_function("pcie_training", registers(*lines, title="Secondary PCI Express"), "0000:1b:00.0")
    assert given["link.lane_errors"] == tuple("01234567")


def test_of_the_errors_held_those_count_that_nothing_hides() -> None:
    lines = (
        "UESta:\tDLP- SDES+ TLP- CmpltTO+ UnsupReq+",
        "UEMsk:\tDLP- SDES- TLP- CmpltTO- UnsupReq+",
        "UESvrt:\tDLP+ SDES+ TLP- CmpltTO- UnsupReq-",
        "CESta:\tRxErr+ BadTLP+ AdvNonFatalErr+",
        "CEMsk:\tRxErr- BadTLP+ AdvNonFatalErr+",
    )
    given = facts_of_function("pcie_aer", registers(*lines, title="Advanced Error Reporting"), "0000:1b:00.0")
    expected = {
        "aer.uncorrectable": ("SDES", "CmpltTO", "UnsupReq"),
        "aer.unmasked": ("SDES", "CmpltTO"),
        "aer.fatal": ("SDES",),
        "aer.correctable": ("RxErr", "BadTLP", "AdvNonFatalErr"),
        "aer.correctable_unmasked": ("RxErr",),
    }
    agree(given, expected)


def test_errors_without_their_mask_are_not_called_unmasked() -> None:
    given = facts_of_function("pcie_aer", registers("UESta:\tDLP+", title="Advanced Error Reporting"), "0000:1b:00.0")
    agree(given, {"aer.uncorrectable": ("DLP",), "aer.unmasked": Unknown, "aer.fatal": Unknown})


@pytest.mark.parametrize("bit", ["ReqRedir", "CmpltRedir", "UpstreamFwd"])
def test_one_bit_of_access_control_is_enough_to_turn_traffic_away(bit: str) -> None:
    words = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans")
    on = " ".join(f"{word}{'+' if word == bit else '-'}" for word in words)
    lines = (f"ACSCap:\t{on}", f"ACSCtl:\t{on}")
    given = facts_of_function("pcie_acs", registers(*lines, title="Access Control Services"), "0000:1b:00.0")
    assert (given["acs.enabled"], given["acs.redirect"]) == ((bit,), True)
    on = on.replace(bit, "TransBlk", 1)
    given = facts_of_function("pcie_acs", registers(f"ACSCtl:\t{on}", title="Access Control Services"), "0000:1b:00.0")
    assert given["acs.redirect"] is False


@pytest.mark.parametrize("bit", ["SrcValid", "TransBlk"])
def test_a_check_of_the_source_turns_no_traffic_away(bit: str) -> None:
    lines = (f"ACSCap:\t{bit}+", f"ACSCtl:\t{bit}+ ReqRedir- CmpltRedir- UpstreamFwd-")
    given = facts_of_function("pcie_acs", registers(*lines, title="Access Control Services"), "0000:1b:00.0")
    assert (given["acs.enabled"], given["acs.redirect"]) == ((bit,), False)


def test_the_bar_with_the_largest_maximum_is_reported_with_its_size_now() -> None:
    lines = ("BAR 0: current size: 16MB, supported: 16MB 32MB", "BAR 2: current size: 32GB, supported: 64MB 32GB 128GB")
    given = facts_of_function("pcie_resizable", registers(*lines, title="Physical Resizable BAR"), "0000:1b:00.0")
    assert (given["bar.resizable"], given["bar.resizable_max"]) == (32.0, 128.0)


@pytest.mark.parametrize("title", ["Physical Resizable BAR", "#15"])
def test_a_resizable_bar_that_is_not_decoded_is_unknown(title: str) -> None:
    capture = registers(title="Power Management", more=f"\n\tCapabilities: [bb0 v1] {title} <?>")
    agree(
        facts_of_function("pcie_resizable", capture, "0000:1b:00.0"),
        {"bar.resizable": Unknown, "bar.resizable_max": Unknown},
    )


# sysfs


def device(name: str, at: str) -> dict[str, str]:
    """A recorded function's folder, as if it were a device of this address."""
    return tree(f"pcie/{name}", f"{PCI}/{at}")


SYSFS: list[tuple[str, str, str, Mapping[str, Any]]] = [
    ("pcie_errors", "sysfs-pci-0045-node-exporter", "0000:45:00.0", {
        "errors.correctable": 0, "errors.nonfatal": 0, "errors.fatal": 0, "errors.seen": ()}),
    ("pcie_received", "sysfs-pci-0045-node-exporter", "0000:45:00.0", {"errors.received.correctable": Absent}),
    ("pcie_errors", "sysfs-pci-0101-procfs", "0000:00:02.1", {"errors.correctable": Absent, "errors.seen": Absent}),
    ("pcie_power", "sysfs-pci-0045-node-exporter", "0000:45:00.0", {
        "power.control": "on", "power.runtime": "active", "power.state": "D0", "power.d3cold_allowed": True}),
    ("pcie_power", "sysfs-pci-0101-procfs", "0000:00:02.1", {"power.control": "auto"}),
    ("pcie_sriov", "sysfs-pci-0045-node-exporter", "0000:45:00.0", {
        "vf.total": 7, "vf.enabled": 0, "vf.autoprobe": True, "virtual": False}),
    ("pcie_sriov", "sysfs-pci-0101-procfs", "0000:00:02.1", {"vf.total": Absent, "virtual": False}),
    ("pcie_bar", "sysfs-pci-0045-node-exporter", "0000:45:00.0", {
        # BAR 2 is of I/O ports, BAR 3 of memory; the expansion ROM and the virtual functions' stand below.
        "bar0": 2**20 / 2**30, "bar1": Absent, "bar2": Absent, "bar3": 2**14 / 2**30, "bar.largest": 2**20 / 2**30,
        "bar.unset": ()}),
    ("pcie_bar", "sysfs-pci-0101-procfs", "0000:00:02.1", {"bar0": Absent, "bar.largest": Absent, "bar.unset": ()}),
    ("pcie_driver", "sysfs-pci-0045-node-exporter", "0000:45:00.0", {
        "driver": "igb", "subsystem_vendor": "0x8086", "subsystem_device": "0x00a3", "revision": "0x01"}),
    ("pcie_driver", "sysfs-pci-0101-procfs", "0000:00:02.1", {"driver": "pcieport", "subsystem_vendor": "0x17aa"}),
]  # fmt: skip


@pytest.mark.parametrize(("probe", "name", "at", "expected"), SYSFS, ids=lambda v: v if type(v) is str else "")
def test_a_recorded_folder_is_read_value_for_value(probe: str, name: str, at: str, expected: Mapping[str, Any]) -> None:
    agree(facts_of_function(probe, holding(PROBES[probe], device(name, at)), at), expected)


def test_a_drive_below_a_recorded_port_is_read() -> None:
    files = tree("pcie/sysfs-pci-0101-procfs/0000:01:00.0", f"{PCI}/0000:01:00.0")
    agree(facts_of_function("pcie_bar", holding(PROBES["pcie_bar"], files), "0000:01:00.0"), {"bar0": 2**14 / 2**30})
    agree(facts_of_function("pcie_errors", holding(PROBES["pcie_errors"], files), "0000:01:00.0"), {"errors.seen": ()})
    agree(facts_of_function("pcie_driver", holding(PROBES["pcie_driver"], files), "0000:01:00.0"), {"driver": "nvme"})


def test_an_intel_server_is_read_in_what_its_recording_holds() -> None:
    files = tree("pcie/sysfs-pci-nfd", "/sys")
    sriov = facts(PROBES["pcie_sriov"], holding(PROBES["pcie_sriov"], files))
    assert sriov['pcie/"0000:3b:00.0".vf.total'] == int(files[f"{PCI}/0000:3b:00.0/sriov_totalvfs"])
    assert isinstance(sriov['pcie/"0000:02:00.0".vf.total'], Absent)
    power = facts(PROBES["pcie_power"], holding(PROBES["pcie_power"], files))
    assert power['pcie/"0000:3b:00.0".power.state'] == files[f"{PCI}/0000:3b:00.0/power_state"].strip()
    assert isinstance(power['pcie/"0000:3b:00.0".power.control'], Absent)


AT = f"{PCI}/0000:1b:00.0"


def gpu(probe: str, files: Mapping[str, str]) -> dict[str, Any]:
    """The facts of a probe about a GPU with these files."""
    shown = {f"{AT}/class": "0x030200\n"} | {f"{AT}/{name}": text for name, text in files.items()}
    return facts_of_function(probe, holding(PROBES[probe], shown), "0000:1b:00.0")


def test_errors_that_came_are_named_with_their_kind() -> None:
    given = gpu(
        "pcie_errors",
        {
            "aer_dev_correctable": "RxErr 2\nBadTLP 41\nBadDLLP 0\nTOTAL_ERR_COR 43\n",
            "aer_dev_nonfatal": "UnsupReq 0\nCmpltTO 1\nTOTAL_ERR_NONFATAL 1\n",
            "aer_dev_fatal": "DLP 0\nTOTAL_ERR_FATAL 0\n",
        },
    )
    expected = {
        "errors.correctable": 43,
        "errors.nonfatal": 1,
        "errors.fatal": 0,
        "errors.seen": ("correctable RxErr", "correctable BadTLP", "nonfatal CmpltTO"),
    }
    agree(given, expected)


def test_a_root_port_counts_errors_received() -> None:
    given = gpu("pcie_received", {"aer_rootport_total_err_cor": "7\n", "aer_rootport_total_err_fatal": "x\n"})
    agree(
        given, {f"errors.received.{k}": v for k, v in {"correctable": 7, "nonfatal": Absent, "fatal": Unknown}.items()}
    )


@pytest.mark.parametrize("text", ["RxErr 0\nTOTAL_ERR_COR 0", "RxErr 0\n", "RxErr -1\nTOTAL_ERR_COR 0\n", "\n"])
def test_counters_that_were_cut_or_are_none_are_unknown(text: str) -> None:
    clean = {"aer_dev_nonfatal": "TOTAL_ERR_NONFATAL 0\n", "aer_dev_fatal": "TOTAL_ERR_FATAL 0\n"}
    assert isinstance(gpu("pcie_errors", clean | {"aer_dev_correctable": text})["errors.correctable"], Unknown)


NONE = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
H100 = (
    "0x000038a002000000 0x000038a002ffffff 0x000000000014220c\n" + NONE
    + "0x000038a000000000 0x000038bfffffffff 0x000000000014220c\n" + NONE
    + "0x000038c000000000 0x000038c001ffffff 0x000000000014220c\n" + NONE
    + NONE * 7
)  # fmt: skip


def test_the_largest_bar_of_a_gpu_is_reported_whatever_its_number() -> None:
    agree(gpu("pcie_bar", {"resource": H100}), {"bar2": 128.0, "bar1": Absent, "bar4": 0.03125, "bar.largest": 128.0})


def test_a_bar_without_an_address_has_its_size_and_is_named() -> None:
    unset = H100.replace(
        "38a000000000 0x000038bfffffffff 0x000000000014220c", "000000000000 0x0000001fffffffff 0x000000002014220c"
    )
    agree(gpu("pcie_bar", {"resource": unset}), {"bar2": 128.0, "bar.unset": ("2",)})


@pytest.mark.parametrize(
    "text", [H100[:-1], NONE * 5, H100.replace("0x000038a002000000", "0x000038a003000000"), "x\n" * 6]
)
def test_windows_that_were_cut_or_are_none_are_unknown(text: str) -> None:
    given = gpu("pcie_bar", {"resource": text})
    assert {type(reading) for reading in given.values()} == {Unknown}


def test_a_function_without_a_driver_has_none_and_a_cut_answer_is_unknown() -> None:
    slot = "PCI_CLASS=30200\nPCI_ID=10DE:2330\nPCI_SLOT_NAME=0000:1b:00.0\n"
    assert isinstance(gpu("pcie_driver", {"uevent": slot})["driver"], Absent)
    assert gpu("pcie_driver", {"uevent": f"DRIVER=vfio-pci\n{slot}"})["driver"] == "vfio-pci"
    assert isinstance(gpu("pcie_driver", {"uevent": "PCI_CLASS=30200\n"})["driver"], Unknown)
    assert isinstance(gpu("pcie_driver", {"uevent": slot[:-1]})["driver"], Unknown)


def test_a_virtual_function_is_one_that_has_a_physical_one() -> None:
    assert gpu("pcie_sriov", {"physfn/vendor": "0x15b3\n"})["virtual"] is True
    assert gpu("pcie_sriov", {})["virtual"] is False


# A function's parent


def tree_of(*links: str) -> NodeCapture:
    """The output of ls for these links, each as its address and its target."""
    rows = "".join(f"lrwxrwxrwx 1 root root 0 Nov 21 07:38 {link}\n" for link in links)
    return answering(PROBES["pcie_tree"], f"total 0\n{rows}")


def test_a_link_names_the_port_above_and_the_root_port() -> None:
    way = "../../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0"
    given = facts_of_function("pcie_tree", tree_of(f"0000:17:00.0 -> {way}"), "0000:17:00.0")
    assert given == {"upstream": "0000:16:00.0", "root": "0000:15:01.0", "host_bridge": "0000:15"}


@pytest.mark.parametrize(
    ("target", "bridge", "upstream"),
    [
        ("../../../devices/pci0000:00/0000:17:00.0", "0000:00", Absent),
        (
            "../../../devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/1-2/pci0000:17/0000:17:00.0",
            "0000:17",
            Absent,
        ),
        ("../../../devices/platform/soc/pci0008:00/0008:00:00.0/0000:17:00.0", "0008:00", "0008:00:00.0"),
        (
            "../../../devices/pci0000:80/0000:80:05.5/pci10000:00/10000:00:02.0/0000:17:00.0",
            "10000:00",
            "10000:00:02.0",
        ),
    ],
)
def test_the_last_host_bridge_of_a_way_counts(target: str, bridge: str, upstream: Any) -> None:
    given = facts_of_function("pcie_tree", tree_of(f"0000:17:00.0 -> {target}"), "0000:17:00.0")
    agree(given, {"host_bridge": bridge, "upstream": upstream})


@pytest.mark.parametrize(
    "link",
    [
        "0000:17:00.0 -> ../../../devices/pci0000:00/0000:18:00.0",
        "0000:17:00.0 -> ../../../devices/0000:17:00.0",
        "0000:17:00.0 -> ../../../devices/pci0000:00/what/0000:17:00.0",
        "0000:17:00.0",
        "ls: cannot access",
    ],
)
def test_a_link_that_leads_elsewhere_is_unreadable(link: str) -> None:
    given = facts(PROBES["pcie_tree"], tree_of(link))
    assert {r.reason for r in given.values() if isinstance(r, Unknown)} == {Reason.UNPARSABLE}
    assert len(given) == 3


def test_a_machine_without_pci_functions_has_none_that_hang_anywhere() -> None:
    assert facts(PROBES["pcie_tree"], answering(PROBES["pcie_tree"], "total 0\n")) == {}


# Whether a function answers


def test_only_a_function_whose_registers_are_all_ones_is_gone() -> None:
    virtual = "ff ff ff ff 06 04 10 00 00 00 00 02 00 00 00 00"
    answer = f"0000:1b:00.0 {' '.join(['ff'] * 16)}\n0000:18:00.2 {virtual}\n"
    given = facts(PROBES["pcie_answers"], answering(PROBES["pcie_answers"], answer))
    assert given == {'pcie/"0000:1b:00.0".answers': False, 'pcie/"0000:18:00.2".answers': True}


@pytest.mark.parametrize(
    "answer", ["0000:1b:00.0\n", "0000:1b:00.0 ff ff\n", "od: x: Permission denied\n", "0000:1b:00.0 ff"]
)
def test_registers_that_were_not_read_give_unknowns(answer: str) -> None:
    given = facts(PROBES["pcie_answers"], answering(PROBES["pcie_answers"], answer))
    assert {type(reading) for reading in given.values()} == {Unknown}
