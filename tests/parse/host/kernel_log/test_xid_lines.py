"""Every Xid of a log: which were found, and that the list is not called complete where a line cannot be parsed."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown
from rackcheck.parse.host.kernel_log.xid_lines import (
    by_place,
    codes,
    every_sxid,
    every_xid,
    nvlink_errors,
    recovery,
    sxids,
    xids,
)

FALLEN = "[ 9.5] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
STOPPED = "[ 9.6] NVRM: Xid (PCI:0000:9b:00): 119, pid=7, name=nvidia-smi, Timeout after 6s\n"
PROGRAM = "[ 9.7] NVRM: Xid (PCI:0000:1b:00): 9, pid=7, name=x, Channel 00000008\n"
SWITCH = "[ 9.8] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
PIECES = ("NVRM: Xid", " SXid (", "nvidia-nvswitch0:", "(PCI:0000:1b:00)", ": 79", ", ", "name=", "pid=7", "\n")


def test_xids_come_in_the_logs_order_and_a_switchs_errors_apart() -> None:
    found, unread = every_xid(STOPPED + SWITCH + FALLEN)
    assert ([error.code for error in found], unread) == ([119, 79], None)
    switches, unread = every_sxid(STOPPED + SWITCH + FALLEN)
    assert ([error.code for error in switches], unread) == ([20034], None)


def test_an_unparsable_line_keeps_what_was_found_and_is_reported_without_a_process_name() -> None:
    found, unread = every_xid(FALLEN + "[ 9.9] NVRM: Xid (PCI:0000:1b:00 GPU-J:05): 79, name=secret, x\n")
    assert [error.code for error in found] == [79]
    assert unread == Unknown(
        Reason.UNPARSABLE,
        "1 of the lines cannot be parsed, the last: 'NVRM: Xid (PCI:0000:1b:00 GPU-J:05): 79'",
    )


def test_devices_stand_in_the_order_of_their_first_line_and_codes_in_that_of_numbers() -> None:
    places = by_place(xids(STOPPED + FALLEN + PROGRAM))
    assert list(places) == ["0000:9b:00.0", "0000:1b:00.0"]
    assert codes(places["0000:1b:00.0"]) == ("9", "79")
    assert codes([]) == ()


def test_nvlink_errors_are_named_once_each_in_order_and_the_last_action_counts() -> None:
    link = "NETIR_LINK_EVT  Nonfatal  XC0 i0 Link {} (0x004505c6 0x00000000)"
    rows = [f"149, {link.format('09')}", f"145, {link.format('03').replace('NETIR_LINK_EVT', 'RLW_REMAP')}"]
    rows += [rows[0], rows[0].replace("Nonfatal", "Fatal")]
    rows += [
        f"154, GPU recovery action changed from 0x0 (None) to 0x1 ({to})" for to in ("Node Reboot Required", "None")
    ]
    errors = xids("".join(f"[ 9.9] NVRM: Xid (PCI:0000:1b:00): {row}\n" for row in rows))
    assert nvlink_errors(errors) == (
        "145 RLW_REMAP Nonfatal link 3", "149 NETIR_LINK_EVT Nonfatal link 9", "149 NETIR_LINK_EVT Fatal link 9",
    )  # fmt: skip
    assert recovery(errors) == "None"
    assert recovery(errors[:4]) is None


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_every_line_of_nonsense_with_an_xid_is_found_or_reported_as_unread(log: str) -> None:
    holding = sum("NVRM: Xid" in row for row in log.split("\n"))
    found, unread = every_xid(log)
    assert len(found) <= holding
    assert (unread is None) == (len(found) == holding)
    assert every_sxid(log)[0] == sxids(log)
