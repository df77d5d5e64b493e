"""A software RAID array's files: states that the kernel documents, and members, counted only if all are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck_probes.storage import md as md_array

DENIED = Unknown(Reason.DENIED, "Permission denied")


def test_the_recorded_arrays_work_as_their_states_show_and_one_is_a_container() -> None:
    capture, _ = recorded(OURS / "md" / "broken-and-container.json")
    values = {name: capture.files[f"/sys/block/{name}/md/array_state"] for name in ("md0", "md127", "md126")}
    assert {name: md_array.works(state) for name, state in values.items()} == {
        "md0": False,
        "md127": False,
        "md126": True,
    }
    versions = {name: capture.files[f"/sys/block/{name}/md/metadata_version"].strip() for name in values}
    assert [name for name, version in versions.items() if md_array.is_container(version)] == ["md127"]


def test_a_state_that_the_kernel_does_not_document_is_neither_working_nor_broken() -> None:
    with pytest.raises(Unreadable, match="not a state of an array: 'cleaner'"):
        md_array.works("cleaner\n")


def test_of_an_array_that_is_reshaped_the_new_number_of_members_counts() -> None:
    assert (md_array.devices("4\n"), md_array.devices("4 (3)\n")) == (4, 4)


def test_a_member_that_is_not_known_hides_every_count() -> None:
    states = ["in_sync", "in_sync,write_mostly", "faulty", "spare"]
    assert [md_array.having(word, states) for word in ("in_sync", "faulty", "spare", "sync")] == [2, 1, 1, 0]
    reading = md_array.having("faulty", ["in_sync", DENIED])
    assert reading == Unknown(Reason.NOT_COLLECTED, "a member's state is unknown")


def test_an_unknown_version_of_metadata_makes_no_container() -> None:
    assert not any(
        md_array.is_container(reading) for reading in (DENIED, Absent("no file"), "1.2", "external:/md127/0")
    )


@given(st.text() | st.from_regex(r"[0-9]{1,40}( \([0-9]{0,40}\)?)?", fullmatch=True))
def test_nonsense_is_read_or_unreadable(content: str) -> None:
    try:
        assert md_array.works(content) in (True, False)
    except Unreadable:
        pass
    try:
        assert isinstance(md_array.devices(content), int)
    except Unreadable:
        pass
    assert md_array.having(content, [content]) in (0, 1)
