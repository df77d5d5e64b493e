"""`lspci -vv` of several versions: every register at its place, and no value that is not in the text."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lspci_texts import ROOT_PORT, capable, recorded
from recordings import shared_text

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import ACS, AER, ATS, EXPRESS, L1_SUBSTATES, PASID, PRI, SECONDARY

# Versions: the same register in each of its spellings


@pytest.mark.parametrize(
    ("recording", "address", "names", "raised"),
    [
        ("aer-log", "0000:00:1c.0", ("CorrErr", "UncorrErr", "FatalErr", "UnsuppReq"), ("AuxPwr",)),
        ("dpc", "0000:05:01.0", ("CorrErr", "UncorrErr"), ("CorrErr", "UnsuppReq")),
        ("exp-dev2", "0000:00:1c.0", ("CorrErr", "NonFatalErr", "FatalErr", "UnsupReq"), ("AuxPwr",)),
        ("exp-lnkcap2", "0000:02:00.0", ("NonFatalErr",), ("CorrErr", "UnsupReq")),
        ("dev3", "0000:01:00.0", ("NonFatalErr",), ("CorrErr", "UnsupReq", "AuxPwr")),
        ("ide", "0000:e1:00.0", ("NonFatalErr",), ("CorrErr", "UnsupReq")),
        ("vc-and-rcl", "0000:00:1c.0", ("UncorrErr",), ("AuxPwr",)),
    ],
)
def test_bits_are_read_in_the_names_of_each_version(
    recording: str, address: str, names: tuple[str, ...], raised: tuple[str, ...]
) -> None:
    function = recorded(recording)[address]
    reading = function.bits(EXPRESS, "DevSta")
    assert isinstance(reading, dict)
    assert set(names) <= set(reading)
    assert function.raised(EXPRESS, "DevSta") == raised


@pytest.mark.parametrize(
    ("recording", "address", "asked", "completes"),
    [
        ("aer-log", "0000:00:1c.0", False, {"Routing": False, "32bit": False, "64bit": False, "128bitCAS": False}),
        ("aer-root", "0000:00:02.0", False, {"Routing": False, "32bit": True, "64bit": True, "128bitCAS": True}),
        ("exp-dev2", "0000:00:1c.0", False, {"Routing": False, "32bit": False, "64bit": False, "128bitCAS": False}),
        ("dev3", "0000:01:00.0", False, {"32bit": False, "64bit": False, "128bitCAS": False}),
        ("ide", "0000:e1:00.0", False, {"32bit": True, "64bit": True, "128bitCAS": True}),
    ],
)
def test_atomic_operations_are_found_beside_and_below_the_register_they_belong_to(
    recording: str, address: str, asked: bool, completes: dict[str, bool]
) -> None:
    function = recorded(recording)[address]
    assert function.bits(EXPRESS, "AtomicOpsCap") == completes
    assert function.flag(EXPRESS, "AtomicOpsCtl", "ReqEn") is asked


def test_what_follows_the_atomic_operations_belongs_to_the_register_again() -> None:
    function = recorded("ide")["0000:e1:00.0"]
    assert function.flag(EXPRESS, "DevCtl2", "10BitTagReq") is True
    assert function.flag(EXPRESS, "DevCtl2", "LTR") is True
    assert function.flag(EXPRESS, "DevCap2", "10BitTagComp") is True
    assert recorded("dev3")["0000:01:00.0"].flag(EXPRESS, "DevCtl2", "10BitTagReq") is False


def test_access_control_is_read_with_what_is_on_and_what_could_be() -> None:
    on = recorded("aer-root")["0000:00:02.0"]
    assert on.raised(ACS, "ACSCtl") == ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd")
    off = recorded("dpc")["0000:05:01.0"]
    assert off.raised(ACS, "ACSCtl") == ()
    assert len(off.raised(ACS, "ACSCap")) == 7  # type: ignore[arg-type]
    assert isinstance(recorded("aer-root")["0000:03:00.0"].capability(ACS), Absent)


def test_extended_capabilities_are_read() -> None:
    graphics = recorded("pasid-pri")["0000:00:02.0"]
    flags = [
        graphics.flag(name, f"{word}Ctl", "Enable") for name, word in ((ATS, "ATS"), (PRI, "PRI"), (PASID, "PASID"))
    ]
    assert flags == [True, False, True]
    port = recorded("aer-log")["0000:00:1c.0"]
    assert port.raised(AER, "UESta") == ()
    assert port.raised(AER, "UEMsk") == ("UnxCmplt",)
    assert port.raised(AER, "UESvrt") == ("DLP", "RxOF", "MalfTLP")
    assert port.raised(L1_SUBSTATES, "L1SubCtl1") == ("PCI-PM_L1.2", "PCI-PM_L1.1", "ASPM_L1.2", "ASPM_L1.1")
    assert recorded("ide")["0000:e1:00.0"].raised(AER, "CESta") == ("AdvNonFatalErr",)


def test_numbers_are_read_and_their_zeros() -> None:
    function = recorded("aer-root")["0000:03:00.0"]
    assert function.field(EXPRESS, "DevCap", r"SlotPowerLimit ([0-9.]+)W", float) == 116.0
    assert recorded("exp-lnkcap2")["0000:09:00.0"].field(EXPRESS, "DevCap", r"SlotPowerLimit ([0-9.]+)W", float) == 0.0
    assert recorded("dev3")["0000:01:00.0"].field(EXPRESS, "DevCap", r"SlotPowerLimit ([0-9.]+)W", float) == 75.0
    assert function.field(EXPRESS, "DevCtl", r"MaxReadReq ([0-9]+) bytes", int) == 512


def test_what_stands_around_capabilities_is_kept_as_lines() -> None:
    function = recorded("dev3")["0000:01:00.0"]
    assert function.line("Kernel driver in use") == "nvme"
    assert function.line("IOMMU group") == "14"
    assert function.line("NUMA node") is None
    assert function.revision == "03"


def test_a_listing_without_details_gives_the_functions() -> None:
    assert len(lspci.listed(shared_text("pcie/lspci-gb200.txt") + "\n")) == 87
    azure = lspci.listed(shared_text("pcie/lspci-nn-a100.txt") + "\n")
    assert [f.address for f in azure if "[10de:20b2]" in f.title][:2] == ["0001:00:00.0", "0002:00:00.0"]
    old = {f.address: f for f in lspci.listed(shared_text("pcie/lspci-k-rhel.txt") + "\n")}
    assert old["0000:04:00.0"].line("Kernel driver in use") == "qla2xxx"
    assert old["0000:04:00.0"].revision == "03"


# What cannot be known


def test_a_register_that_this_version_does_not_print_is_unknown() -> None:
    old = recorded("aer-log")["0000:00:1c.0"]
    reading = old.flag(EXPRESS, "DevCtl2", "10BitTagReq")
    assert reading == Unknown(Reason.NOT_COLLECTED, "this version of lspci prints no 10BitTagReq in DevCtl2")
    assert old.register(EXPRESS, "LnkCap2") == Unknown(Reason.NOT_COLLECTED, "this version of lspci prints no LnkCap2")


def test_a_capability_that_this_version_calls_by_its_number_is_unknown_and_not_absent() -> None:
    assert isinstance(recorded("aer-log")["0000:00:1c.0"].capability(SECONDARY), Unknown)
    assert isinstance(recorded("exp-dev2")["0000:00:1c.0"].capability(SECONDARY), lspci.Capability)
    assert isinstance(recorded("l1-pm")["0000:01:00.0"].capability(SECONDARY), Absent)


def test_a_register_that_the_kind_of_function_lacks_is_absent() -> None:
    graphics = recorded("pasid-pri")["0000:00:02.0"]
    assert isinstance(graphics.register(EXPRESS, "LnkSta"), Absent)
    first = recorded("vc-and-rcl")["0000:00:1c.0"]
    assert isinstance(first.register(EXPRESS, "DevCtl2"), Absent)
    assert isinstance(recorded("aer-root")["0000:00:02.0"].register(EXPRESS, "SltCap"), Absent)


def test_what_only_root_is_shown_is_denied() -> None:
    (function,) = lspci.functions(ROOT_PORT.format("<access denied>"))
    for name in (EXPRESS, ACS, AER):
        reading = function.capability(name)
        assert isinstance(reading, Unknown)
        assert reading.reason is Reason.DENIED
    assert function.line("Kernel driver in use") == "pcieport"


GONE = "0000:1b:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev {})\n{}\tKernel driver in use: nvidia\n\n"


# Newer versions show the revision that the kernel remembers.
@pytest.mark.parametrize(
    ("revision", "row"),
    [("ff", "\t!!! Unknown header type 7f\n"), ("ff", ""), ("a1", "\t!!! Unknown header type 7f\n")],
)
def test_of_a_function_that_fell_off_the_bus_nothing_is_known(revision: str, row: str) -> None:
    (function,) = lspci.functions(GONE.format(revision, row))
    reading = function.flag(ACS, "ACSCtl", "SrcValid")
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_READY


def test_a_revision_of_ff_beside_capabilities_is_a_revision() -> None:
    (function,) = lspci.functions(ROOT_PORT.replace("rev 04", "rev ff").format("[40] Express (v2) Endpoint, MSI 00"))
    assert isinstance(function.capability(EXPRESS), lspci.Capability)
    assert function.revision == "ff"


def test_without_any_extended_space_in_a_domain_its_capabilities_are_unknown() -> None:
    function = capable("DevCap:\tMaxPayload 128 bytes")
    assert function.capability(ACS) == lspci.UNREACHED
    # One function that shows some proves that the space can be read.
    shown = ROOT_PORT.format("[40] Express (v2) Endpoint, MSI 00") + ROOT_PORT.replace("15:01.0", "15:01.1").format(
        "[100 v1] Device Serial Number 00-1a-11-ff-fe-4c-3c-70"
    )
    assert isinstance(lspci.functions(shown)[0].capability(ACS), Absent)
    other = shown.replace("0000:15:01.1", "0001:15:01.1")
    assert lspci.functions(other)[0].capability(ACS) == lspci.UNREACHED


def test_a_function_without_pci_express_has_no_extended_capabilities() -> None:
    assert isinstance(capable(title="Power Management version 3").capability(ACS), Absent)


@pytest.mark.parametrize("words", ["<chain broken>", "<chain looped>"])
def test_behind_a_broken_chain_nothing_is_absent(words: str) -> None:
    (function,) = lspci.functions(ROOT_PORT.format(f"[40] Express (v2) Endpoint, MSI 00\n\tCapabilities: [50] {words}"))
    assert isinstance(function.capability(EXPRESS), lspci.Capability)
    assert function.capability(ACS) == lspci.BROKEN


def test_bits_without_a_sign_are_no_bits() -> None:
    function = capable("DevSta:\tCorrErr NonFatalErr", "LnkSta2: Current De-emphasis Level: -6dB, Retimer- 2Retimers+")
    assert isinstance(function.raised(EXPRESS, "DevSta"), Unknown)
    assert function.bits(EXPRESS, "LnkSta2") == {"Retimer": False, "2Retimers": True}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "\n\n",
        "\tControl: I/O-\n\n",
        "lspci: Cannot find any working access method.\n\n",
        "Slot:\t00:00.0\nClass:\tHost bridge\n\n",
        ROOT_PORT[:-1].format("<access denied>"),
        ROOT_PORT.format("<access denied>") * 2,
    ],
)
def test_another_answer_or_a_cut_one_is_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        lspci.functions(answer)


def test_every_cut_of_an_answer_shows_or_leaves_whole_functions() -> None:
    whole = shared_text("pcie/lspci-vvvx-cap-aer-root.txt").rstrip("\n") + "\n\n"
    whole = re.sub(r"(?m)^[0-9a-f]{2,3}: .*\n", "", whole)
    functions = lspci.functions(whole)
    assert len(functions) == 2
    for cut in range(0, len(whole), 7):
        try:
            rows = lspci.functions(whole[:cut])
        except Unreadable:
            continue
        assert rows == functions[:1]


RECORDINGS = ("aer-log", "dpc", "exp-dev2", "exp-lnkcap2", "dev3", "ide", "vc-and-rcl")


@given(st.lists(st.sampled_from(RECORDINGS), min_size=1, max_size=4, unique=True), st.randoms(use_true_random=False))
def test_functions_read_by_themselves_are_those_of_the_whole_output(names: list[str], draw: Random) -> None:
    texts = [each for name in names for each in blocks(name)]
    draw.shuffle(texts)
    texts = list({text.partition(" ")[0]: text for text in texts}.values())
    answer = "".join(f"{text}\n\n" for text in texts)
    expected = lspci._parted(answer.split("\n"))
    assert lspci._by_block(answer) == expected == lspci.functions(answer)


@given(st.sampled_from(RECORDINGS), st.data())
def test_an_output_with_any_change_is_read_by_blocks_as_it_is_read_whole(name: str, data: st.DataObject) -> None:
    answer = "".join(f"{text}\n\n" for text in blocks(name))
    place = data.draw(st.integers(0, len(answer)))
    new = data.draw(st.sampled_from(["\n", "\n\n", "\t", " ", "x", "\x0b", "00: ff ff\n", "<chain looped>", ""]))
    changed = answer[:place] + new + answer[place + data.draw(st.integers(0, 40)) :]
    by_block = lspci._by_block(changed)
    if by_block:
        assert by_block == lspci._parted(changed.split("\n"))


def test_most_recorded_functions_are_read_by_themselves() -> None:
    whole = [name for name in RECORDINGS if lspci._by_block("".join(f"{text}\n\n" for text in blocks(name)))]
    assert whole == list(RECORDINGS)


def blocks(name: str) -> list[str]:
    """The functions of a recording, without its hexadecimal dump."""
    text = re.sub(r"(?m)^[0-9a-f]{2,3}: .*\n", "", shared_text(f"pcie/lspci-vvvx-cap-{name}.txt").rstrip("\n") + "\n")
    return [each.strip("\n") for each in re.split(r"\n\n+", text) if each.strip("\n")]


def test_names_without_end_are_not_searched_for_ever() -> None:
    # One register of 2 MB: a parser that scans from each character to the end would never finish.
    function = capable("DevSta:\t" + "A" * (2 << 20))
    assert function.bits(EXPRESS, "DevSta") == {}
    function = capable(*(f"\tCorrErr- x{n}+" for n in range(50_000)), "DevSta:\tCorrErr+", *["\tFatalErr+"] * 50_000)
    assert function.raised(EXPRESS, "DevSta") == ("CorrErr", "FatalErr")


# Resizable BARs; no shared recording holds the decoded text, so this is what versions 3.9 and 3.10 print of such dumps.


def test_a_resizable_bar_has_its_size_and_its_possible_sizes() -> None:
    lines = (
        "BAR 0: current size: 16MB, supported: 16MB",
        "BAR 1: current size: 64GB, supported: 64MB 128MB 64GB 128GB",
    )
    function = capable(*lines, title="Physical Resizable BAR")
    assert list(lspci.resizable(function)) == [
        (0, 0.015625, ("16MB",)),
        (1, 64.0, ("64MB", "128MB", "64GB", "128GB")),
    ]


@pytest.mark.parametrize("text", ["9999999MB", "16", "16 MB", "-1MB", "1ZB"])
def test_what_is_no_size_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        lspci.size(text)


def test_a_kind_is_printed_without_slot_and_interrupt() -> None:
    kinds = [
        "Express (v2) Root Port (Slot+), MSI 00",
        "Express (v2) Endpoint, IntMsgNum 0",
        "Express (v1) Upstream Port",
    ]
    assert [lspci.kind(name) for name in kinds] == ["Root Port", "Endpoint", "Upstream Port"]
