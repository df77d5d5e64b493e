"""smartctl's JSON of an NVMe drive: only a verdict and a log that are in it count."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown
from rackcheck.parse.host.storage import smartctl

DENIED = Unknown(Reason.DENIED, "a password is required")


def answer(*results: int, **value: object) -> str:
    """A drive's answer with self-tests of these results, as smartctl 7.4 prints it."""
    table = [{"self_test_code": {"value": 1, "string": "Short"}, "self_test_result": {"value": r}} for r in results]
    log = {"nsid": -1, "current_self_test_operation": {"value": 0}, **({"table": table} if table else {})}
    return json.dumps({"smart_status": {"passed": True}, "nvme_self_test_log": log, **value})


@pytest.mark.parametrize("verdict", [True, False])
def test_the_verdict_is_the_one_of_the_drive(verdict: bool) -> None:
    assert smartctl.passed(answer(smart_status={"passed": verdict, "nvme": {"value": 0}})) is verdict


@pytest.mark.parametrize("status", [{}, {"passed": None}, {"passed": 1}, {"passed": "true"}, [], None])
def test_a_verdict_that_is_neither_yes_nor_no_is_not_known(status: object) -> None:
    assert isinstance(smartctl.passed(answer(smart_status=status)), Unknown)


def test_self_tests_that_failed_are_counted_and_aborted_ones_are_not() -> None:
    assert smartctl.self_tests(answer(0, 7, 1, 5, 6, 9, 0)) == (7, 3)
    assert smartctl.self_tests(answer()) == (0, 0)


def test_without_a_log_the_self_tests_are_unknown() -> None:
    rows = smartctl.self_tests('{"smart_status": {"passed": true}}')
    assert rows == (Unknown(Reason.NOT_COLLECTED, "smartctl is older than 7.4, or the drive has no self-tests"),) * 2
    assert smartctl.self_tests(DENIED) == (DENIED, DENIED)
    assert smartctl.passed(DENIED) == DENIED


def test_a_status_of_a_drive_that_was_not_looked_at_is_no_answer() -> None:
    assert {0, 4, 8, 64} <= set(smartctl.LOOKED)
    assert not {1, 2, 3, 5, 127, 128} & set(smartctl.LOOKED)


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["passed", "table", "self_test_result", "value"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.text() | st.builds(lambda a, b: json.dumps({"smart_status": a, "nvme_self_test_log": b}), ANYTHING, ANYTHING))
def test_nonsense_is_a_value_or_unknown(text: str) -> None:
    assert isinstance(smartctl.passed(text), bool | Unknown)
    done, failed = smartctl.self_tests(text)
    if isinstance(done, Unknown):
        assert failed == done
    else:
        assert isinstance(done, int)
        assert isinstance(failed, int)
        assert 0 <= failed <= done
