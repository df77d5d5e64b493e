"""Limits of how many nodes are asked at the same time: by group, by jump host and by network."""

from pathlib import Path

import pytest

from rackcheck.inventory import AskLimit, load
from rackcheck.model.fact import Plane
from rackcheck.profile.document import BadFile

HEAD = """\
rackcheck: 1
groups:
  behind-a: { nodes: "n[1-2]", ssh: { jump: "outer,ops@bastion-a:2222" } }
nodes:
  n[1-2]: { host: "{node}", bmc: { url: "https://10.3.0.1{node}" } }
  n3: { host: 10.4.0.3, bmc: { url: "https://10.3.0.77" } }
limits:
"""


def read(tmp_path: Path, limits: str) -> tuple[AskLimit, ...]:
    (tmp_path / "inv.yaml").write_text(HEAD + limits)
    return load(tmp_path / "inv.yaml").limits


def problem(tmp_path: Path, limits: str) -> str:
    with pytest.raises(BadFile) as caught:
        read(tmp_path, limits)
    (found,) = caught.value.problems
    return str(found).replace(f"{tmp_path}/", "")


def test_a_limit_has_the_nodes_of_its_group_jump_host_or_network(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "  behind-a: { os: 4, bmc: 8 }\n  outer: { os: 2 }\n  ops@bastion-a:2222: { os: 3 }\n"
        "  10.3.0.0/24: { bmc: 16 }\n  10.4.0.0/16: { os: 5 }\n",
    )
    both = frozenset({"n1", "n2"})
    assert found == (
        AskLimit("behind-a", both, {Plane.OS: 4, Plane.BMC: 8}),
        AskLimit("outer", both, {Plane.OS: 2}),
        AskLimit("ops@bastion-a:2222", both, {Plane.OS: 3}),
        AskLimit("10.3.0.0/24", frozenset({"n3"}), {Plane.BMC: 16}),
        AskLimit("10.4.0.0/16", frozenset({"n3"}), {Plane.OS: 5}),
    )


def test_a_limit_of_nothing_is_a_mistake_with_the_nearest_name(tmp_path: Path) -> None:
    assert problem(tmp_path, "  behind-b: { os: 4 }\n") == (
        "inv.yaml:8:3: behind-b is no group, jump host or network of this inventory; did you mean behind-a?"
    )
    assert problem(tmp_path, "  10.4.0.0/16: { bmc: 4 }\n") == (
        "inv.yaml:8:3: no BMC of this inventory has an address in 10.4.0.0/16"
    )


@pytest.mark.parametrize("value", ["0", "-1", "many", "10000", "1.5"])
def test_a_limit_below_one_would_ask_nobody_and_is_a_mistake(tmp_path: Path, value: str) -> None:
    assert "a whole number from 1 to 9999" in problem(tmp_path, f"  behind-a: {{ os: {value} }}\n")
