"""Errors of one block of an AMD GPU: all counts or why there are none, and sums that name what is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable
from rackcheck.model.text import Files
from rackcheck.parse.host.cpu import ras

PLACE = "/sys/bus/pci/drivers/amdgpu/0000:05:00.0/ras/umc_err_count"


def block(content: str) -> dict[str, Reading]:
    return ras.block(Files({PLACE: content}, {}), PLACE)


def test_a_driver_that_does_not_count_deferred_errors_has_none() -> None:
    assert block("ue: 0\nce: 3\nde: 1\n") == {"ue": 0, "ce": 3, "de": 1}
    assert block("ue: 1\nce: 0\n") == {"ue": 1, "ce": 0, "de": Absent("this driver does not count these errors")}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("Query currently inaccessible\n", Reason.NOT_READY),
        ("ue: 0\n", Reason.UNPARSABLE),
        ("ue: 0\nce: x\n", Reason.UNPARSABLE),
        ("ue: 0\nce: 1", Reason.UNPARSABLE),
        ("ue: 0\nce: 0\nxe: 0\n", Reason.UNPARSABLE),
    ],
)
def test_a_file_that_cannot_be_read_leaves_every_count_unknown(content: str, reason: Reason) -> None:
    found = block(content)
    assert list(found) == ["ue", "ce", "de"]
    assert {reading.reason if isinstance(reading, Unknown) else reading for reading in found.values()} == {reason}


def test_a_file_that_is_refused_leaves_every_count_unknown() -> None:
    found = ras.block(Files({}, {PLACE: Unknown(Reason.DENIED, "Permission denied")}), PLACE)
    assert {reading.reason if isinstance(reading, Unknown) else reading for reading in found.values()} == {
        Reason.DENIED
    }


def test_a_sum_with_one_unknown_count_is_unknown() -> None:
    lost = Unknown(Reason.NOT_READY, "the GPU is being reset")
    assert ras.total([1, lost, 2]) == lost
    assert ras.total([1, Absent("not counted"), 2]) == 3
    assert isinstance(ras.total([]), Absent)


@given(st.text(alphabet="uced: 0123456789\n-x") | st.text())
def test_nonsense_is_counts_or_why_not(content: str) -> None:
    assert block(content).keys() == {"ue", "ce", "de"}
    try:
        assert ras.counts(content)
    except Unreadable as error:
        assert str(error)
