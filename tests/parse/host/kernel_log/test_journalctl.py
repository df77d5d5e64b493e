"""journalctl's output: its own lines are not taken for kernel lines, and what it does not show is reported."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.parse.host.kernel_log import journalctl

BEGIN = "-- Logs begin at Sat 2021-05-29 10:50:24 UTC. --\n"
WARNING = "[86400.123456] kernel: nvme nvme0: I/O 978 QID 3 timeout, completion polled\n"
PIECES = ("[ 1.5] ", "kernel: ", "[96B blob data]", journalctl.NONE, "-- ", "\n", '{"__MONOTONIC_TIMESTAMP":"1"}')


def entry(microseconds: object, kind: str = journalctl.STARTED) -> str:
    return json.dumps({"__MONOTONIC_TIMESTAMP": microseconds, "PRIORITY": "6", "MESSAGE_ID": kind}) + "\n"


def test_journalctls_own_lines_are_left_out() -> None:
    assert journalctl.of_this_boot(BEGIN + WARNING) == journalctl.of_boot_before(BEGIN + WARNING) == WARNING
    assert journalctl.oldest(WARNING) == 86400.123456


def test_an_empty_journal_is_unknown_and_for_the_boot_before_only_an_explicit_none_is_known() -> None:
    for answer in ("", BEGIN, f"{journalctl.NONE}\n"):
        with pytest.raises(Unreadable) as caught:
            journalctl.of_this_boot(answer)
        assert caught.value.reason is Reason.NOT_COLLECTED
    assert journalctl.of_boot_before(f"{journalctl.NONE}\n") == ""
    with pytest.raises(Unreadable, match="journalctl printed neither lines nor '-- No entries --'"):
        journalctl.of_boot_before(BEGIN)


def test_messages_of_which_only_the_size_is_shown_are_counted() -> None:
    log = "[ 1.5] kernel: [96B blob data]\n[ 1.6] kernel: a [96B blob data]\n[ 1.7] kernel: [1.9K blob data]\n"
    assert journalctl.hidden(log) == Unknown(Reason.UNPARSABLE, "journalctl shows only the size of 2 lines")
    assert journalctl.hidden(WARNING) is None


def test_a_journal_begins_with_an_entry_of_the_boots_first_minutes_and_not_after_a_restart() -> None:
    early = journalctl.EARLY * 10**6
    answer = entry(str(early - 1)) + entry(str(early)) + entry("1", "8d45620c1a4348dbb17410da57c60c66")
    assert [found.begins for found in journalctl.entries(answer)] == [True, False, False]


def test_every_entry_of_a_recorded_journal_has_its_priority() -> None:
    capture, _ = recorded(OURS / "journal_priorities" / "written.json")
    (output,) = capture.commands.values()
    assert isinstance(output, Output)
    found = journalctl.entries(output.out)
    assert [row.priority for row in found] == [json.loads(row)["PRIORITY"] for row in output.out.splitlines()]
    assert found[-1].begins


@pytest.mark.parametrize(
    "row", ["[]", "{", "[" * 99_999, "{}", entry(7).strip(), entry("x").strip(), entry("٣").strip()]
)
def test_an_entry_that_bears_no_time_is_unreadable(row: str) -> None:
    with pytest.raises(Unreadable):
        journalctl.entries(f"{row}\n")


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(answer: str) -> None:
    for read in (journalctl.of_this_boot, journalctl.of_boot_before, journalctl.oldest, journalctl.entries):
        try:
            read(answer)
        except Unreadable:
            continue
    assert journalctl.hidden(answer) is None or "blob data]" in answer
