"""The one line of ofed_info: which package, and a version that can be ordered."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Unreadable
from rackcheck_probes.nic import ofed as ofed_info


@pytest.mark.parametrize(
    ("line", "name", "version"),
    [
        ("MLNX_OFED_LINUX-23.10-1.1.9.0:", "MLNX_OFED_LINUX", "23.10.1.1.9.0"),
        ("OFED-internal-24.10-0.7.0:", "OFED-internal", "24.10.0.7.0"),
    ],
)
def test_the_name_may_have_dashes_and_the_versions_become_points(line: str, name: str, version: str) -> None:
    assert ofed_info.package(line) == ofed_info.Package(name, version)


@pytest.mark.parametrize("line", ["", "MLNX_OFED_LINUX", "MLNX_OFED_LINUX-23.10-1.1.9.0", "5.8-1:", "x-²³.10:"])
def test_another_line_is_no_version(line: str) -> None:
    with pytest.raises(Unreadable, match="not a version of OFED"):
        ofed_info.package(line)


@given(st.text() | st.from_regex(r"\A[A-Za-z_-]{0,9}-[0-9.-]{0,20}:?\Z"))
def test_nonsense_is_a_package_or_unreadable(line: str) -> None:
    with suppress(Unreadable):
        assert "-" not in ofed_info.package(line).version
