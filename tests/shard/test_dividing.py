"""Every node of a plan is in one shard, and each BMC has one owner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.base.user_error import UserError
from rackcheck.inventory import BmcAccess, Node, Ssh
from rackcheck.shard.dividing import divided

nodes = st.lists(
    st.tuples(st.sampled_from(["a", "b", ""]), st.sampled_from(["j1", "j2", ""]), st.integers(0, 5)), min_size=1,
    max_size=20,
).map(
    lambda rows: [
        Node(f"n{n}", host=f"h{n}", rack=rack, ssh=Ssh(jump=jump), bmc=BmcAccess(f"https://b{bmc}") if bmc else None)
        for n, (rack, jump, bmc) in enumerate(rows)
    ]
)  # fmt: skip


@given(nodes, st.data())
def test_each_node_is_in_one_shard_and_each_bmc_has_one_owner(found: list[Node], data: st.DataObject) -> None:
    by = data.draw(st.sampled_from(["rack", "bastion"]) | st.integers(1, len(found)).map(str))
    parts = divided(found, by)
    assert sorted(node.name for _, members in parts for node in members) == sorted(node.name for node in found)
    owners: dict[str, set[int]] = {}
    for number, (_, members) in enumerate(parts):
        assert members
        for node in members:
            if node.bmc is not None:
                owners.setdefault(node.bmc.url, set()).add(number)
    assert all(len(numbers) == 1 for numbers in owners.values())


def test_nodes_of_one_rack_or_behind_one_jump_host_are_one_shard() -> None:
    found = [Node(f"n{n}", host="h", rack="ab"[n % 2], ssh=Ssh(jump="xy"[n // 2])) for n in range(4)]
    names = [
        [(reach, [node.name for node in members]) for reach, members in divided(found, by)]
        for by in ("rack", "bastion")
    ]
    assert names == [[("a", ["n0", "n2"]), ("b", ["n1", "n3"])], [("x", ["n0", "n1"]), ("y", ["n2", "n3"])]]


@pytest.mark.parametrize("by", ["racks", "0", "5", "-1", "two", ""])
def test_another_word_is_an_error_with_the_nearest_one(by: str) -> None:
    with pytest.raises(UserError) as caught:
        divided([Node("n1", host="h")] * 4, by)
    assert "--by must be rack, bastion, node or a number from 1 to 4" in str(caught.value)
    assert ("did you mean rack?" in str(caught.value)) is (by == "racks")
