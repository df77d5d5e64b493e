"""Groups: credentials and role for many nodes, and which setting takes precedence."""

from pathlib import Path

import pytest

from rackcheck.inventory import Inventory
from rackcheck.inventory.reading import parse
from rackcheck.profile.document import BadFile

HEAD = "rackcheck: 1\ndefaults: { role: storage, ssh: { user: base, port: 1 } }\n"


def read(groups: str, nodes: str) -> Inventory:
    return parse(f"{HEAD}groups:\n{groups}nodes:\n{nodes}", "inv.yaml", Path())


def test_a_single_name_is_heard_over_its_set_over_its_group_over_the_defaults() -> None:
    inventory = read(
        "  g: { nodes: n[1-4], role: dpu, ssh: { user: group, port: 2, known-hosts: kh } }\n".replace(
            "n[1-4]", "'n[1-4]'"
        ),
        "  n[1-3]: { host: h, ssh: { user: set, port: 3 } }\n  n3: { ssh: { user: single } }\n"
        "  n4: { host: h }\n  n5: { host: h }\n",
    )
    values = {name: (n.role, n.ssh.user, n.ssh.port, n.ssh.known_hosts) for name, n in inventory.nodes.items()}
    assert values == {
        "n1": ("dpu", "set", 3, "kh"),
        "n2": ("dpu", "set", 3, "kh"),
        "n3": ("dpu", "single", 3, "kh"),
        "n4": ("dpu", "group", 2, "kh"),
        "n5": ("storage", "base", 1, ""),
    }


def test_two_groups_may_agree_and_may_speak_of_different_things() -> None:
    inventory = read(
        "  a: { nodes: n1, ssh: { user: x } }\n  b: { nodes: [n1, n2], role: dpu, ssh: { user: x } }\n",
        "  n1: { host: h }\n  n2: { host: h }\n",
    )
    assert {n.ssh.user for n in inventory.nodes.values()} == {"x"}
    assert inventory.nodes["n1"].role == "dpu"
    assert inventory.groups == {"a": ("n1",), "b": ("n1", "n2")}


def test_two_groups_that_differ_on_one_key_are_one_error_with_both_places_for_all_nodes() -> None:
    with pytest.raises(BadFile) as caught:
        read(
            "  a: { nodes: 'n[1-9]', ssh: { user: x } }\n  b: { nodes: 'n[3-9]', ssh: { user: y } }\n",
            "  n[1-9]: { host: h, ssh: { user: own } }\n",
        )
    (problem,) = caught.value.problems
    assert (
        str(problem)
        == "inv.yaml:5:38: group b sets `ssh.user` of n[3-9], and another group sets another value at inv.yaml:4:38"
    )


@pytest.mark.parametrize(
    ("group", "text"),
    [
        ("  a: { nodes: n2 }\n", "inv.yaml:4:15: group a: no node n2"),
        ("  a: { nodes: 'n[1-' }\n", "inv.yaml:4:15: not a node set"),
        ("  a: { role: dpu }\n", "inv.yaml:4:6: `a` lacks `nodes`"),
        ("  a: { nodes: n1, host: h }\n", "inv.yaml:4:19: no such key: `host`"),
        ("  rack:a01: { nodes: n1 }\n", "cannot be 'rack:a01'"),
        ("  a: { nodes: 'n[1-999999999]' }\n", "the maximum of an inventory"),
        ("  a: { nodes: '@all' }\n", "cannot be a node's name"),
    ],
)
def test_an_error_in_a_group_is_reported_with_its_place(group: str, text: str) -> None:
    with pytest.raises(BadFile) as caught:
        read(group, "  n1: { host: h }\n")
    assert text in str(caught.value)


def test_a_group_without_the_url_of_a_bmc_gives_none_a_bmc() -> None:
    inventory = read(
        "  a: { nodes: [n1, n2], bmc: { user: root, password: 'env:PW' } }\n",
        "  n1: { host: h }\n  n2: { bmc: { url: 'https://b' } }\n",
    )
    assert inventory.nodes["n1"].bmc is None
    bmc = inventory.nodes["n2"].bmc
    assert bmc is not None
    assert (bmc.user, bmc.password) == ("root", "env:PW")
