"""The Fabric Manager's log: lines after the last start, and no line taken for another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.gpu.fabric_manager_log import log

START = (
    "[Dec 19 2024 07:10:01] [INFO] [tid 1374] Fabric Manager version 535.161.08 is running with the following "
    "configuration options\n"
)
MINOR = "[Dec 19 2024 19:17:49] [ERROR] [tid 1374] detected NVSwitch non-fatal error 12028 on fid 0\n"
GRAVE = "[Dec 19 2024 19:17:50] [FATAL] [tid 1374] detected NVSwitch fatal error 20034 on fid 0\n"
MILD = "[Dec 19 2024 19:17:51] [WARNING] a link is slow\n"


def test_errors_before_the_last_start_do_not_count() -> None:
    value = log(f"80\n{START}{GRAVE}{START}{MILD}{MINOR}")
    assert (value.size, value.started) == (80, True)
    assert (value.errors, value.warnings, value.fatal, value.sxids) == (1, 1, 0, (12028,))
    assert value.last == "detected NVSwitch non-fatal error 12028 on fid 0"


def test_without_a_start_all_lines_count_and_it_is_noted() -> None:
    value = log(f"80\n{GRAVE}{MINOR}{GRAVE}{MILD}")
    assert (value.started, value.errors, value.warnings, value.fatal) == (False, 3, 1, 2)
    assert value.sxids == (12028, 20034)
    assert value.last == "a link is slow"


def test_every_error_of_a_recorded_log_is_counted() -> None:
    rows = shared_text("logs/fabric-manager-0.log").splitlines()
    bad = [row for row in rows if "] [ERROR] [" in row or "] [WARNING] [" in row]
    value = log("\n".join(["1048576", *bad]) + "\n")
    assert value.errors + value.warnings == len(bad) > 0
    assert value.last in bad[-1]


@pytest.mark.parametrize(
    "answer", ["", "x\n", f"80\n{MINOR}"[:-1], "80\n[Dec 19 2024 07:10:01] [INFO] [tid 1] hello\n"]
)
def test_an_answer_without_its_size_or_its_end_or_with_another_line_is_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        log(answer)


@given(st.lists(st.sampled_from([START, MINOR, GRAVE, MILD, "[] [ERROR] x\n", "\n"]) | st.text(), max_size=6))
def test_nonsense_is_a_log_or_unreadable(rows: list[str]) -> None:
    try:
        value = log("".join(["7\n", *rows]))
    except Unreadable as error:
        assert str(error)
    else:
        assert value.fatal <= value.errors + value.warnings
        assert bool(value.last) <= bool(value.errors + value.warnings)
