"""The shipped joins: their facts on a DGX H100 and on faulty ones, and that nothing unknown becomes a value."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from burn_racks import capture, tree
from gpu_driver import by_index
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_replies import leaves_of

from rackcheck.model import path as paths
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.path import spell_key
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import Join, derive
from rackcheck.probe.registry import registry
from rackcheck.profile import library

JOINS = {join.name: join for join in registry().joins}
LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")


@cache
def inputs(name: str) -> dict[str, Leaf]:
    """The leaves of the simulated machine that one join reads."""
    needs = set(JOINS[name].needs)
    leaves = dict(tree(1, 1, capture(1, 1000)).leaves if name.startswith("burnin_") else by_index(leaves_of()))
    return {path: leaf for path, leaf in leaves.items() if str(paths.parse(path).pattern) in needs}


def given_of(name: str, changes: Mapping[str, Reading] | None = None) -> dict[str, Reading]:
    leaves = dict(inputs(name))
    for path, reading in (changes or {}).items():
        old = leaves[path]
        leaves[path] = Leaf(reading, old.kind, old.plane, old.source)
    return {path: leaf.reading for path, leaf in derive([JOINS[name]], Tree(leaves)).items()}


def test_each_gpu_of_a_dgx_has_a_nic_of_its_own_behind_the_same_port_of_the_processor() -> None:
    found = given_of("gpu_near")
    own = [f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11)]
    assert [found[f"gpu/{n}.nearest_nic"] for n in range(8)] == [(name,) for name in own]
    assert {found[f"gpu/{n}.nearest_nic_distance"] for n in range(8)} == {"PXB"}
    assert [found[f"nic/{name}.rail"] for name in own] == list(range(8))
    assert [found[f"gpu/{n}.numa"] for n in range(8)] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_the_rails_of_a_machine_are_the_indices_of_its_gpus_whatever_their_names_are() -> None:
    needs = set(JOINS["gpu_near"].needs)
    leaves = {path: leaf for path, leaf in leaves_of().items() if str(paths.parse(path).pattern) in needs}
    found = derive([JOINS["gpu_near"]], Tree(leaves))
    own = [f"mlx5_{n}" for n in (0, 3, 4, 5, 6, 9, 10, 11)]
    assert "gpu/module-7.pci" in leaves
    assert [found[f"nic/{name}.rail"].reading for name in own] == list(range(8))


def test_a_storage_nic_has_no_rail() -> None:
    found = given_of("gpu_near")
    assert {type(found[f"nic/mlx5_{n}.rail"]) for n in (1, 2, 7, 8)} == {Absent}


def test_a_link_that_trained_half_its_lanes_is_named_wherever_it_is_on_the_way() -> None:
    upstream = leaves_of()['pcie/"0000:1b:00.0".upstream'].reading
    for below in ("0000:1b:00.0", str(leaves_of()[f"pcie/{spell_key(str(upstream))}.upstream"].reading)):
        narrow = f"pcie/{spell_key(below)}.link.width"
        found = given_of("pcie_path", {narrow: 8})
        above = leaves_of()[f"pcie/{spell_key(below)}.upstream"].reading
        assert found['pcie/"0000:1b:00.0".path.narrowed'] == (f"{above} > {below}",)
        assert found['pcie/"0000:1b:00.0".path.bottleneck'] == f"{above} > {below}"
        assert found['pcie/"0000:1b:00.0".path.bandwidth'] == pytest.approx(32 * 8 * 128 / 130)
        near = given_of("gpu_near", {narrow: 8})
        assert near["gpu/0.path.narrowed"] == (f"{above} > {below}",)
        assert near["gpu/1.path.narrowed"] == ()


def test_a_gpu_that_idles_is_no_slow_link_but_one_above_it_is() -> None:
    low = str(leaves_of()['pcie/"0000:1b:00.0".upstream'].reading)
    upper = str(leaves_of()[f"pcie/{spell_key(low)}.upstream"].reading)
    above = leaves_of()[f"pcie/{spell_key(upper)}.upstream"].reading
    own, other = 'pcie/"0000:1b:00.0".link.speed', f"pcie/{spell_key(upper)}.link.speed"
    idle = given_of("pcie_path", {own: 2.5})
    assert idle['pcie/"0000:1b:00.0".path.slowed'] == (f"{low} > 0000:1b:00.0",)
    assert idle['pcie/"0000:1b:00.0".path.slowed_above'] == ()
    assert given_of("gpu_near", {own: 2.5})["gpu/0.path.slowed_above"] == ()
    slow = given_of("gpu_near", {own: 2.5, other: 16.0})
    assert slow["gpu/0.path.slowed_above"] == (f"{above} > {upper}",)
    assert slow["gpu/1.path.slowed_above"] == ()
    assert {slow[f"nic/mlx5_{n}.path.slowed"] for n in range(12)} == {()}
    nic = str(leaves_of()["nic/mlx5_0.pci"].reading)
    found = given_of("gpu_near", {f"pcie/{spell_key(nic)}.link.speed": 16.0})
    port = leaves_of()[f"pcie/{spell_key(nic)}.upstream"].reading
    assert found["nic/mlx5_0.path.slowed"] == (f"{port} > {nic}",)


def test_a_gpu_that_the_driver_does_not_list_is_named_by_its_address() -> None:
    assert given_of("gpu_missing") == {"driver.gpus_on_bus": 8, "driver.gpus_missing": ()}
    seven = {"gpu": tuple("0123456")}
    leaves = {path: leaf for path, leaf in inputs("gpu_missing").items() if path != "gpu/7.pci"}
    old = leaves["gpu"]
    leaves["gpu"] = Leaf(seven["gpu"], old.kind, old.plane, old.source)
    found = derive([JOINS["gpu_missing"]], Tree(leaves))
    assert found["driver.gpus_missing"].reading == ("0000:df:00.0",)


def test_an_xid_is_reported_for_the_gpu_it_names_and_no_other() -> None:
    leaves = dict(inputs("gpu_xids"))
    kind = registry().catalogue.entries["log.xid/*.codes"].kind
    leaves['log.xid/"0000:1b:00.0".codes'] = Leaf(("79", "154"), kind, Plane.OS, "dmesg")
    found = {path: leaf.reading for path, leaf in derive([JOINS["gpu_xids"]], Tree(leaves)).items()}
    assert found["gpu/0.xids"] == ("79", "154")
    assert {found[f"gpu/{n}.xids"] for n in range(1, 8)} == {()}


def test_an_unreadable_log_leaves_every_gpus_xids_unknown() -> None:
    denied = Unknown(Reason.DENIED, "needs root")
    assert set(given_of("gpu_xids", {"log.xid": denied}).values()) == {denied}


@pytest.mark.parametrize("name", sorted(name for name, each in JOINS.items() if each.needs))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_input_that_becomes_unknown_turns_one_value_into_another(name: str, data: st.DataObject) -> None:
    """Follows the law of information: a value stays, or becomes unknown."""
    before = given_of(name)
    hidden = data.draw(st.lists(st.sampled_from(sorted(inputs(name))), min_size=1, max_size=4, unique=True))
    after = given_of(name, dict.fromkeys(hidden, LOST))
    for path, reading in after.items():
        assert reading == before.get(path) or isinstance(reading, Unknown), (hidden, path)


@pytest.mark.parametrize("name", sorted(name for name, each in JOINS.items() if each.needs))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_value_derived_despite_an_unknown_input_holds_for_every_value_of_it(name: str, data: st.DataObject) -> None:
    """The other direction of the law: an unknown may be any value, absent too."""
    leaves = inputs(name)
    plain = [p for p in sorted(leaves) if not isinstance(leaves[p].reading, tuple)]
    path = data.draw(st.sampled_from(plain or sorted(leaves)))
    pattern = str(paths.parse(path).pattern)
    siblings = [leaf.reading for p, leaf in leaves.items() if str(paths.parse(p).pattern) == pattern]
    doubtful = given_of(name, {path: LOST})
    turned = data.draw(st.sampled_from([*siblings, Absent("none")]))
    certain = given_of(name, {path: turned})
    for derived, reading in doubtful.items():
        assert isinstance(reading, Unknown) or certain[derived] == reading, (path, turned, derived)


@pytest.mark.parametrize("name", sorted(JOINS))
def test_a_join_documents_what_it_derives_and_what_each_fact_means(name: str) -> None:
    assert isinstance(JOINS[name], Join)
    assert JOINS[name].help.endswith(".")
    assert all(kind.help.endswith(".") for kind in JOINS[name].gives.values())


def test_a_rule_on_a_derived_fact_is_of_the_planes_it_follows_from(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "rackcheck: 1\nprofile: p\nversion: 2026.11\ntitle: T\nrules:\n  gpu.near:\n    title: A NIC is near\n"
        "    severity: major\n    each: gpu\n    fact: nearest_nic_distance\n    one-of: [PIX, PXB]\n"
    )
    (rule,) = library.load(str(file), registry().catalogue).own
    assert rule.planes == {Plane.DERIVED, Plane.OS}
