"""Options that the kernel shows of an NFS mount."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.parse.host.storage import nfs_options

SHOWN = "rw,relatime,vers=3,rsize=1048576,wsize=x,hard,proto=rdma,timeo=600,mountaddr=10.0.0.1,addr=10.0.0.2"


def test_a_number_is_in_the_requested_unit() -> None:
    shown = nfs_options.options(SHOWN)
    assert shown.number("rsize", 1024) == 1024.0
    assert shown.number("timeo", 10) == 60.0


def test_an_option_that_is_not_shown_is_absent_and_one_that_is_no_number_is_unknown() -> None:
    shown = nfs_options.options(SHOWN)
    assert shown.number("retrans", 1) == Absent("the mount shows no retrans")
    wsize = shown.number("wsize", 1024)
    assert isinstance(wsize, Unknown)
    assert wsize.reason is Reason.UNPARSABLE


@pytest.mark.parametrize(("more", "connections"), [("", 1), (",nconnect=16", 16), (",nconnect=many", Unknown)])
def test_a_mount_that_shows_no_number_of_connections_has_one(more: str, connections: object) -> None:
    reading = nfs_options.options(SHOWN + more).connections()
    assert isinstance(reading, Unknown) if connections is Unknown else (reading, type(reading)) == (connections, int)


def test_of_several_names_the_first_that_has_a_value_counts() -> None:
    assert nfs_options.options(SHOWN).text("addr", "mountaddr", lacking="none") == "10.0.0.2"
    assert nfs_options.options("addr=,mountaddr=10.0.0.1").text("addr", "mountaddr", lacking="none") == "10.0.0.1"
    assert nfs_options.options("rw,addr").text("addr", "mountaddr", lacking="none") == Absent("none")


@given(st.text() | st.text().map(lambda text: f"nconnect={text},vers={text}"))
def test_nonsense_is_options(shown: str) -> None:
    found = nfs_options.options(shown)
    found.connections()
    found.text("vers", lacking="none")
