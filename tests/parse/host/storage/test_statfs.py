"""What `stat -f` prints for mounts: usage as in df, no answer, refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.parse.host.storage import statfs

REFUSED = "stat: cannot read file system information for '/a': {}"
ROWS = ("mount /a", "mount /b", "ok /a 4096 900000000 400000000 350000000 2000000 500000", "failed /b x: y", "end")


def one(*rows: str) -> statfs.StatfsReply:
    (answer,) = statfs.answers("".join(f"{row}\n" for row in ("mount /a", *rows, "end")))
    return answer


def test_a_mount_is_as_full_as_df_reports() -> None:
    values = one("ok /a 4096 1000 400 350 200 50").measured(4)
    assert values == {
        "size": 1000 * 4096 / 2**30,
        "free": 350 * 4096 / 2**30,
        # df: 600 used of the 950 that users may fill.
        "used_share": 63.2,
        "inodes_used_share": 75.0,
    }


def test_a_filesystem_without_inodes_has_no_share_of_them() -> None:
    values = one("ok /a 4096 1000 400 350 0 0").measured(4)
    assert values["inodes_used_share"] == Unknown(Reason.UNPARSABLE, "the size is 0")


def test_a_mount_without_an_answer_timed_out() -> None:
    assert one().responds() is False
    assert set(one().measured(4).values()) == {Unknown(Reason.TIMEOUT, "the mount did not respond within 4 s")}


@pytest.mark.parametrize(
    ("complaint", "responds"),
    [("Stale file handle", False), ("Permission denied", Unknown(Reason.DENIED, "Permission denied"))],
)
def test_a_mount_that_we_may_not_look_into_is_neither_well_nor_ill(complaint: str, responds: object) -> None:
    answer = one(f"failed /a {REFUSED.format(complaint)}")
    assert answer.responds() == responds
    assert all(isinstance(reading, Unknown) and reading.detail == complaint for reading in answer.measured(4).values())


@pytest.mark.parametrize("rows", [ROWS[:-1], (), ("ok", "end"), ("mount relative", "end")])
def test_an_answer_without_its_end_was_cut(rows: tuple[str, ...]) -> None:
    with pytest.raises(Unreadable, match="incomplete output of stat -f"):
        statfs.answers("".join(f"{row}\n" for row in rows))


@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ("4096 900000000 40000", "not the numbers of a filesystem: '4096 900000000 40000'"),
        ("4096 1000 1001 350 200 50", "more blocks are free than exist: 4096 1000 1001 350 200 50"),
        ("4096 1000 400 1001 200 50", "more blocks are free than exist: 4096 1000 400 1001 200 50"),
    ],
)
def test_numbers_that_cannot_be_are_unreadable_and_the_mount_answered_all_the_same(numbers: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        statfs.filled(numbers)
    answer = one(f"ok /a {numbers}")
    assert answer.responds() is True
    assert answer.measured(4) == dict.fromkeys(statfs.LEAVES, Unknown(Reason.UNPARSABLE, why))


def test_odd_numbers_of_one_mount_cost_no_other_mount_its_own() -> None:
    rows = ("mount /a", "mount /b", "ok /a 4096 1 2 3 4 5", "ok /b 4096 1000 400 350 200 50", "end")
    odd, sound = (reply.measured(4)["used_share"] for reply in statfs.answers("".join(f"{row}\n" for row in rows)))
    assert isinstance(odd, Unknown)
    assert sound == 63.2


def test_more_free_inodes_than_there_are_cost_their_own_share_only() -> None:
    # Ceph's client returns -1, which stat prints without its sign.
    values = one(f"ok /a 4096 1000 400 350 200 {2**64 - 1}").measured(4)
    assert values["inodes_used_share"] == Unknown(Reason.UNPARSABLE, f"more is free than exists: {2**64 - 1} of 200")
    assert values["used_share"] == 63.2


@given(st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_no_share_is_below_nothing_or_above_all(numbers: list[int]) -> None:
    values = one(f"ok /a {' '.join(map(str, numbers))}").measured(4)
    for leaf in ("used_share", "inodes_used_share"):
        share = values[leaf]
        assert isinstance(share, Unknown) or (isinstance(share, float) and 0 <= share <= 100)


@given(
    st.text()
    | st.lists(st.sampled_from(ROWS) | st.text(), max_size=9).map(lambda r: "".join(f"{x}\n" for x in (*r, "end")))
)
def test_nonsense_is_answers_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        for answer in statfs.answers(text):
            answer.responds()
            answer.measured(4)
