"""A Lustre client's version and health, in the old and the new form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Unreadable
from rackcheck_probes.storage import lustre

PIECES = ("lustre: ", "2.14.0", "_ddn85", " ", "\n", "healthy", "NOT HEALTHY", "device ", "LBUG")


def test_the_version_is_read_from_the_file_of_either_age() -> None:
    files = recorded(OURS / "lustre" / "client.json")[0].files
    old = recorded(OURS / "lustre" / "old-and-ill.json")[0].files
    assert lustre.release(files["/sys/fs/lustre/version"]) == "2.14.0_ddn85"
    assert lustre.release(old["/proc/fs/lustre/version"]) == "2.10.8"


def test_a_device_that_is_ill_outweighs_those_that_are_healthy() -> None:
    assert lustre.health("healthy\n") == "healthy"
    assert lustre.health("device scratch-OST0001 reported NOT HEALTHY\nhealthy\n") == "NOT HEALTHY"
    assert lustre.health("LBUG\nNOT HEALTHY\n") == "LBUG"


@pytest.mark.parametrize("content", ["", "\n", "well\n", "v2\n"])
def test_another_word_is_unreadable(content: str) -> None:
    for reader in (lustre.release, lustre.health):
        with pytest.raises(Unreadable):
            reader(content)


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9))).map("".join))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    for reader in (lustre.release, lustre.health):
        try:
            assert reader(content) in content
        except Unreadable:
            continue
