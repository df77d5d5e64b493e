"""Memory windows as lspci shows them: the largest that resizes, and those without an address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lspci_texts import capable

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import RESIZABLE, PciFunction
from rackcheck_probes.pcie import resizable as lspci_bars


def regions(*lines: str) -> PciFunction:
    return PciFunction("0000:17:00.0", "3D controller", lines)


def test_the_largest_bar_is_the_one_that_could_be_largest() -> None:
    function = capable(
        "BAR 0: current size: 16GB, supported: 16GB",
        "BAR 1: current size: 256MB, supported: 256MB 32GB 128GB",
        title=RESIZABLE,
    )
    assert lspci_bars.largest(function) == (0.25, 128.0)


def test_without_a_bar_that_resizes_there_is_no_size_and_without_sizes_it_is_not_known() -> None:
    assert {type(rows) for rows in lspci_bars.largest(regions())} == {Absent}
    for lines, reason in (((), Reason.NOT_COLLECTED), (("BAR 0: x",), Reason.UNPARSABLE)):
        rows = lspci_bars.largest(capable(*lines, title=RESIZABLE))
        assert [one.reason if isinstance(one, Unknown) else one for one in rows] == [reason] * 2


def test_bars_without_an_address_are_named() -> None:
    function = regions(
        "Region 0: Memory at d1000000 (64-bit, non-prefetchable) [size=8K]",
        "Region 2: Memory at <unassigned> (64-bit, prefetchable)",
        "Region 4: Memory at <ignored> (64-bit, prefetchable)",
        "Expansion ROM at <unassigned> [disabled]",
    )
    assert lspci_bars.unassigned(function) == ("2", "4")


def test_a_function_that_does_not_answer_shows_no_bar_that_could_lack_an_address() -> None:
    function = PciFunction("0000:17:00.0", "3D controller (rev ff)", trouble=lspci.SILENT)
    assert lspci_bars.unassigned(function) == lspci.SILENT


@pytest.mark.parametrize("title", [RESIZABLE, "Express (v2) Endpoint"])
@given(text=st.text(alphabet="current size:,spod0123456789KMGTPB ²\x00"))
def test_nonsense_is_sizes_or_why_not(title: str, text: str) -> None:
    rows = lspci_bars.largest(capable(f"BAR 0: {text}", title=title))
    assert {type(one) for one in rows} <= {float, Absent, Unknown}
    assert lspci_bars.unassigned(regions(f"Region 0: {text}")) == ()
