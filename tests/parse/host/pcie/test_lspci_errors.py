"""Error registers as lspci shows them: logged, masked and fatal errors by name, in old and new versions of lspci."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lspci_texts import capable, recorded

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.parse.host.pcie import lspci_errors
from rackcheck.parse.host.pcie.lspci import AER, PciFunction
from rackcheck.parse.host.pcie.lspci_errors import ErrorNames


def aer(*lines: str) -> PciFunction:
    """A function with error registers: these values, and no bit set in the others."""
    return capable(*lines, title=AER)


HELD = aer(
    "UESta:\tDLP- CmpltTO+ UnsupReq+ MalfTLP+",
    "UEMsk:\tDLP- CmpltTO- UnsupReq+ MalfTLP-",
    "UESvrt:\tDLP+ CmpltTO- UnsupReq- MalfTLP+",
    "CESta:\tRxErr+ BadTLP- AdvNonFatalErr+",
    "CEMsk:\tRxErr- BadTLP- AdvNonFatalErr+",
)


def test_an_error_that_is_hidden_is_held_and_not_unmasked() -> None:
    worse = lspci_errors.uncorrectable(HELD)
    assert worse == ErrorNames(("CmpltTO", "UnsupReq", "MalfTLP"), ("UnsupReq",), ("CmpltTO", "MalfTLP"))
    assert lspci_errors.correctable(HELD) == ErrorNames(("RxErr", "AdvNonFatalErr"), ("AdvNonFatalErr",), ("RxErr",))


def test_of_the_unmasked_errors_those_of_high_severity_are_fatal() -> None:
    assert lspci_errors.fatal(HELD) == ("MalfTLP",)


def test_without_a_raised_error_the_mask_is_not_evaluated() -> None:
    found = lspci_errors.uncorrectable(aer("UESta:\tDLP- CmpltTO-"))
    assert (found.raised, found.unmasked) == ((), ())
    assert isinstance(found.masked, Unknown)


def test_a_mask_that_is_not_known_leaves_unknown_what_it_hides() -> None:
    function = aer("UESta:\tDLP+ CmpltTO-")
    unmasked = lspci_errors.uncorrectable(function).unmasked
    assert isinstance(unmasked, Unknown)
    assert lspci_errors.fatal(function) == unmasked


@pytest.mark.parametrize(
    "line",
    [
        "DevCtl:\tReport errors: Correctable+ Non-Fatal- Fatal+ Unsupported-",
        "DevCtl:\tCorrErr+ NonFatalErr- FatalErr+ UnsupReq-",
    ],
)
def test_kinds_that_are_reported_have_one_name_whatever_lspci_calls_them(line: str) -> None:
    assert lspci_errors.reported(capable(line)) == ("correctable", "fatal")


def test_a_recorded_root_port_holds_no_error_and_hides_two() -> None:
    (function,) = recorded("aer-log").values()
    assert lspci_errors.uncorrectable(function) == ErrorNames((), ("UnxCmplt",), ())
    assert lspci_errors.correctable(function) == ErrorNames((), ("NonFatalErr",), ())
    assert lspci_errors.reported(function) == ()


def test_a_function_without_error_registers_has_absent_errors() -> None:
    bare = PciFunction("0000:17:00.0", "3D controller")
    assert {type(lspci_errors.fatal(bare)), type(lspci_errors.reported(bare))} == {Absent}


def test_a_kind_that_this_lspci_does_not_print_leaves_unknown_what_is_reported() -> None:
    reading = lspci_errors.reported(capable("DevCtl:\tCorrErr+ NonFatalErr+ FatalErr+"))
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_COLLECTED


@given(st.text(alphabet="DLP+- CmpltTO:,\x00²"), st.text(alphabet="DLP+- CmpltTO:,"), st.text(alphabet="CorEr+-Non "))
def test_nonsense_in_a_register_is_names_or_why_not(status: str, mask: str, control: str) -> None:
    function = aer(f"UESta: {status}", f"UEMsk: {mask}", "UESvrt: DLP+")
    held = lspci_errors.uncorrectable(function)
    assert {type(one) for one in (held.raised, held.masked, held.unmasked)} <= {tuple, Unknown}
    if isinstance(held.raised, tuple) and isinstance(held.unmasked, tuple):
        assert set(held.unmasked) <= set(held.raised)
    assert isinstance(lspci_errors.reported(capable(f"DevCtl: {control}")), tuple | Unknown)
