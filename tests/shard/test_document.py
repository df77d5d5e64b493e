"""The file of a shard: what was written is read, it has no secret, and nonsense is one clear error."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.base.user_error import UserError
from rackcheck.inventory import AskLimit, BmcAccess, Node, Ssh
from rackcheck.model.fact import Plane
from rackcheck.shard.document import BurnPart, Shard, load, text

words = st.text(min_size=1, max_size=12)
nodes = st.builds(
    Node, words, host=words,
    ssh=st.builds(Ssh, user=words, port=st.integers(0, 65535), sudo=st.booleans(), jump=st.text(max_size=9)),
    bmc=st.none() | st.builds(BmcAccess, words, password=st.just("env:BMC"), expand=st.booleans()),
    u=st.integers(0, 48), rack=st.text(max_size=5),
)  # fmt: skip
shards = st.builds(
    Shard, st.just("a" * 64), words, st.integers(1, 9), st.just(9), words, st.just("b" * 64),
    st.lists(words).map(tuple), st.lists(words).map(tuple), st.frozensets(st.sampled_from([Plane.OS, Plane.BMC])),
    st.lists(nodes, min_size=1, max_size=4).map(tuple), st.text(max_size=5),
    st.none() | st.tuples(st.floats(1, 100), st.lists(words).map(tuple)), st.none() | st.floats(1, 100),
    st.none() | st.floats(1, 100),
    st.lists(
        st.builds(
            AskLimit, words, st.frozensets(words), st.dictionaries(st.sampled_from([Plane.OS, Plane.BMC]), st.integers(1, 99))
        )
    ).map(tuple),
)  # fmt: skip


watts = st.integers(1, 10**6)
burns = st.builds(
    BurnPart, st.sampled_from(["smoke", "soak"]), st.integers(1, 2**31 - 1), st.lists(words).map(tuple), st.booleans(),
    st.just({}), watts, st.floats(0.1, 5), st.none() | watts, st.dictionaries(words, watts), st.dictionaries(words, watts),
)  # fmt: skip


@given(shards, burns, watts)
def test_what_was_written_of_a_burn_in_is_read(
    tmp_path_factory: pytest.TempPathFactory, shard: Shard, burn: BurnPart, each: int
) -> None:
    path = tmp_path_factory.mktemp("shard") / "1.json"
    whole = replace(shard, burn=replace(burn, watts={node.name: each for node in shard.nodes}))
    path.write_text(text(whole))
    assert load(path) == whole


@given(shards)
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, shard: Shard) -> None:
    path = tmp_path_factory.mktemp("shard") / "1.json"
    path.write_text(text(shard))
    assert load(path) == shard


SHARD = Shard(
    "a" * 64, "r", 1, 1, "1", "b" * 64, ("kernel.release",), (), frozenset({Plane.OS}), (Node("n1", host="h"),)
)
BURN = BurnPart("smoke", 1, (), True, {"n1": 9}, 9, 0.5)


def changed(path: tuple[str | int, ...], value: Any) -> str:
    node = Node("n1", host="h", bmc=BmcAccess("https://b"))
    doc = json.loads(text(replace(SHARD, nodes=(node,), burn=BURN if path[0] == "burn" else None)))
    place = doc
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(doc)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("plan",), "A" * 64), (("plan",), 3), (("plan",), ...), (("number",), 0), (("number",), True),
        (("count",), "9"), (("nodes",), []), (("nodes",), {}), (("nodes", 0, "host"), 3), (("nodes", 0, "u"), "3"),
        (("nodes", 0, "ssh", "port"), "22"), (("nodes", 0, "ssh", "sudo"), 1), (("nodes", 0, "colour"), "red"),
        (("nodes", 0, "bmc", "url"), None), (("nodes", 0, "name"), ...), (("planes",), ["disk"]), (("planes",), 3),
        (("facts",), "kernel.release"), (("seconds",), -1), (("seconds",), "3"), (("deadline",), 1e9),
        (("again",), [1]), (("again",), ["1", []]), (("questions",), ""), (("limits",), 3),
        (("limits",), [{"name": "x", "nodes": ["n1"], "most": {"os": 0}}]), (("burn",), 3), (("burn", "rate"), 0),
        (("burn", "watts"), {}), (("burn", "watts", "n1"), 0.5), (("burn", "gpus"), 1), (("burn", "seed"), 2**31),
        (("burn", "apart"), 0), (("burn", "racks"), {"r": -1}), (("burn", "tier"), None),
    ],
)  # fmt: skip
def test_a_damaged_shard_is_one_error_with_its_file(path: tuple[str | int, ...], value: Any, tmp_path: Path) -> None:
    file = tmp_path / "1.json"
    file.write_text(changed(path, value))
    with pytest.raises(UserError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file} is damaged: ")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"rackcheck-shard": 2}', "[" * 100_000, "\x00"])
def test_another_file_is_no_shard(content: str, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(content)
    with pytest.raises(UserError):
        load(tmp_path / "1.json")
