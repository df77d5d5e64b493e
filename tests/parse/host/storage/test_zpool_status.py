"""The tables of zpool status: each disk with its own errors, groups and spares left out, and never a part of a pool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import OURS, recorded

from rackcheck.model.capture import Output
from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.storage import zpool_status
from rackcheck.parse.host.storage.zpool_status import PoolMember

HEAD = ["  pool: tank", " state: ONLINE", "config:", "", "\tNAME        STATE     READ WRITE CKSUM"]
POOL = "\ttank        ONLINE       0     0     0"
MIRROR = "\t  mirror-0  ONLINE       0     0     0"
DISKS = ["\t    sda     ONLINE       0     0     3", "\t    sdb     FAULTED      1     2     3  too many errors"]
END = ["", "errors: No known data errors"]
SDA, SDB = PoolMember("sda", "ONLINE", (0, 0, 3)), PoolMember("sdb", "FAULTED", (1, 2, 3))


def test_members_are_the_rows_below_which_none_is_set_further_in() -> None:
    (pool,) = zpool_status.pools([*HEAD, POOL, MIRROR, *DISKS, *END])
    assert pool == ("tank", (SDA, SDB))


def test_groups_have_no_state_of_their_own_and_spares_no_errors() -> None:
    rest = ["\tlogs", "\t  sdc       ONLINE       0     0     0", "\tspares", "\t  sdd       AVAIL   "]
    ((_, members),) = zpool_status.pools([*HEAD, POOL, MIRROR, *DISKS, *rest, *END])
    assert [member.name for member in members] == ["sda", "sdb", "sdc"]


def test_every_disk_of_a_recorded_degraded_pool_is_found() -> None:
    capture, expected = recorded(OURS / "zfs_members" / "degraded.json")
    (output,) = capture.commands.values()
    assert isinstance(output, Output)
    found = dict(zpool_status.pools(output.out.splitlines()))
    assert {name: [m.name for m in rows] for name, rows in found.items()} == {
        path.split("/")[1].split(".")[0]: names for path, names in expected.items() if path.endswith(".member")
    }


@pytest.mark.parametrize(
    "rows",
    [[], ["pool"], HEAD, [*HEAD, POOL], [*HEAD[:-1], POOL, *END], [*HEAD, "\ttank ONLINE 0 x 0", *END], [*HEAD, *END]],
)
def test_a_pool_without_its_whole_table_is_unreadable(rows: list[str]) -> None:
    with pytest.raises(Unreadable):
        list(zpool_status.pools(rows))


@given(
    st.lists(st.sampled_from([*HEAD, POOL, MIRROR, *DISKS, *END, "\tlogs", "\t  sdd  AVAIL"]) | st.text(), max_size=14)
)
def test_nonsense_is_read_or_unreadable(rows: list[str]) -> None:
    try:
        for _, members in zpool_status.pools(rows):
            assert all(count >= 0 for member in members for count in member.errors)
    except Unreadable:
        pass
