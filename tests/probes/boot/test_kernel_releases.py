"""Which kernel of several is the newest."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck_probes.boot.kernels import newest


def test_releases_are_ordered_by_their_numbers_and_not_by_their_letters() -> None:
    assert newest(["5.15.0-1048-nvidia", "5.15.0-1053-nvidia", "5.4.0-999-generic"]) == "5.15.0-1053-nvidia"
    assert newest(["6.8.0-9-generic", "6.8.0-10-generic"]) == "6.8.0-10-generic"


def test_no_kernel_is_absent_and_one_that_is_no_release_leaves_the_newest_unknown() -> None:
    assert isinstance(newest([]), Absent)
    reading = newest(["5.15.0-1048-nvidia", "old"])
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.UNPARSABLE


@given(st.lists(st.one_of(st.sampled_from(["5.15.0-1048-nvidia", "6.8.0"]), st.text(max_size=9))))
def test_the_newest_of_nonsense_is_one_of_it_or_not_known(releases: list[str]) -> None:
    reading = newest(releases)
    assert isinstance(reading, Absent | Unknown) or reading in releases
