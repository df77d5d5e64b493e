"""A value missing on one of several siblings is unknown and excuses nothing: what a GPU, port, module, drive or supply
does not return, and its siblings do, is never filtered out of a rule; a value that none of them returns is absent."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from gpu_driver import SMI
from h100_nodes import AUDIT, CATALOGUE, node, of_gpus, profile
from recordings import shared_text
from trees import ALL, DGX, tree_leaves

from rackcheck.evaluate.verdict import Status, Verdict, in_scope, judge
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.path import EVERY, parse
from rackcheck.model.path import Path as FactPath
from rackcheck.model.profile import Rule
from rackcheck.model.sibling_silence import Siblings, siblings_of
from rackcheck.model.tree import Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library

# ---- eight recorded H100, by way of the probes -----------------------------------------------------------------------

ROWS = ("corr", "unc", "pending", "failure")
BANKS = ("max", "high", "partial", "low", "none")
SILENT: Mapping[str, tuple[tuple[str, ...], frozenset[str]]] = {
    "ecc.mode": (
        ("ecc_mode/current_ecc", "ecc_mode/pending_ecc"),
        frozenset({"gpu.ecc_on", "gpu.ecc_not_pending", "gpu.no_uncorrected"}),
    ),
    "remap.pending": (
        (
            *(f"remapped_rows/remapped_row_{row}" for row in ROWS),
            *(f"remapped_rows/row_remapper_histogram/row_remapper_histogram_{bank}" for bank in BANKS),
        ),
        frozenset({"gpu.no_row_waits", "gpu.remapping_works", "gpu.rows_remapped", "gpu.spare_rows"}),
    ),
    "fabric.state": (("fabric/state", "fabric/status"), frozenset({"fabric.joined", "fabric.one_domain"})),
    "recovery_action": (("gpu_recovery_action",), frozenset({"gpu.recovery"})),
    "margin": (("temperature/gpu_temp_tlimit",), frozenset({"gpu.margin"})),
}
"""What a GPU may not return: the places of nvidia-smi's XML, and the rules that decide on it."""


def recorded(places: Iterable[str] = (), *gpus: int) -> dict[str, Reading]:
    """Eight recorded H100, some of which do not return the values at these places."""
    root = ET.fromstring(shared_text("nvidia/nvidia-smi-qx-h100.xml"))
    found = root.findall("gpu")
    for gpu in gpus:
        for place in places:
            element = found[gpu].find(place)
            assert element is not None, place
            element.text = "N/A"
    return of_gpus(f"{SMI}\n{ET.tostring(root, encoding='unicode')}\nended 0")


@cache
def of_the_gpus() -> tuple[Rule, ...]:
    """The rules of a DGX H100 about its GPUs that an audit judges."""
    rules = (r for r in profile("h100-dgx").own if in_scope(r, "compute", *AUDIT) and r.across is None)
    return tuple(r for r in rules if r.look is not None and str(r.look.collection).startswith("gpu"))


def verdicts(rules: Iterable[Rule], facts: Mapping[str, Reading]) -> dict[str, Verdict]:
    return {verdict.rule: verdict for verdict in judge(tuple(rules), node(facts))}


@pytest.mark.parametrize("fact", SILENT)
def test_what_one_gpu_of_eight_does_not_return_leaves_the_node_incomplete(fact: str) -> None:
    places, wanted = SILENT[fact]
    facts = recorded(places, 3)
    assert isinstance(facts[f"gpu/3.{fact}"], Absent)
    before, after = verdicts(of_the_gpus(), recorded()), verdicts(of_the_gpus(), facts)
    assert {i for i, v in before.items() if v.status is Status.FAIL} == set()
    changed = {i for i, v in after.items() if v.status is not before[i].status}
    assert {i for i in changed if after[i].status is not Status.UNKNOWN} == set()
    deciding = {rule.id for rule in of_the_gpus() if rule.severity.decides}
    assert changed & deciding == wanted
    for i in wanted:
        assert "7 of 7 siblings return it: gpu/0, gpu/1, gpu/2 and 4 more" in after[i].reason
        where = {e.item.split(".")[0] for e in after[i].evidence if e.unknown is not None}
        assert where - {"gpu/*"} == {"gpu/3"}  # a test of equality is about all GPUs


@pytest.mark.parametrize("fact", SILENT)
def test_what_no_gpu_returns_is_judged_as_if_there_were_no_siblings(fact: str) -> None:
    facts = recorded(SILENT[fact][0], *range(8))
    alone = tuple(rule.without_siblings() for rule in of_the_gpus())
    assert verdicts(of_the_gpus(), facts) == verdicts(alone, facts)
    assert {verdicts(of_the_gpus(), facts)[i].status for i in SILENT[fact][1]} == {Status.NA}


@pytest.mark.parametrize("fact", SILENT)
def test_without_siblings_a_rule_judges_as_it_did(fact: str) -> None:
    alone = tuple(rule.without_siblings() for rule in of_the_gpus())
    after = verdicts(alone, recorded(SILENT[fact][0], 3))
    assert {after[i].status for i in SILENT[fact][1]} == {Status.PASS}


def test_a_gpu_that_returns_no_name_is_a_sibling_of_all_and_one_of_another_name_or_in_parts_is_not() -> None:
    places = SILENT["margin"][0]

    def margin(**more: Reading) -> Status:
        facts = recorded(places, 3) | {f"gpu/3.{fact.replace('__', '.')}": reading for fact, reading in more.items()}
        return verdicts(of_the_gpus(), facts)["gpu.margin"].status

    assert margin(name=Absent("N/A")) is margin(name=Unknown(Reason.TIMEOUT)) is Status.UNKNOWN
    assert margin(name="NVIDIA A100-SXM4-80GB") is Status.PASS
    assert margin(mig__mode="enabled") is Status.PASS


# ---- every way in which absence would excuse -------------------------------------------------------------------------


def compiled(folder: Path, text: str) -> dict[str, Rule]:
    file = folder / "ours.yaml"
    file.write_text(f"rackcheck: 1\nprofile: ours\nversion: 1\ntitle: Ours\nrules:\n{text}")
    return {rule.id: rule for rule in library.load(str(file), CATALOGUE).own}


WAYS = """\
  where.is:          { each: gpu, where: { fact: pstate, is: 15 }, allow-empty: true, fact: name, is: A }
  where.is_not:      { each: gpu, where: { fact: pstate, is-not: 8 }, allow-empty: true, fact: name, is: A }
  where.present:     { each: gpu, where: { fact: pstate, present: true }, fact: pstate, is: 0 }
  where.not_present: { any: gpu, where: { fact: pstate, present: false }, allow-empty: true, fact: name, is: B }
  where.same:        { each: gpu, where: { fact: power.limit, same-as: .power.enforced }, allow-empty: true, fact: name, is: B }
  where.counted:     { count: gpu, where: { fact: pstate, present: true }, is: 7 }
  leaf.present:      { each: gpu, fact: pstate, present: true }
  leaf.not_present:  { any: gpu, fact: pstate, present: false }
  leaf.among:        { each: gpu, any-of: [{ fact: pstate, present: false }, { fact: pstate, is: 0 }] }
  leaf.of_the_node:  { fact: gpu/3.pstate, present: false }
  leaf.when:         { when: { fact: gpu/3.pstate, is: 0 }, fact: gpu/0.name, is: B }
  leaf.no:           { no: gpu, fact: pstate, is: 15 }
"""


def eight(**third: Reading) -> dict[str, Reading]:
    one: dict[str, Reading] = {"name": "A", "pstate": 0, "power.limit": 700.0, "power.enforced": 600.0}
    facts = {f"gpu/{n}.{fact}": reading for n in range(8) for fact, reading in one.items()}
    return facts | {f"gpu/3.{fact}": reading for fact, reading in third.items()}


SILENCE = eight(**{"pstate": Absent("N/A"), "power.enforced": Absent("N/A")})


def test_in_every_way_in_which_absence_would_excuse_it_is_unknown(tmp_path: Path) -> None:
    rules = compiled(tmp_path, WAYS).values()
    found = verdicts(rules, SILENCE)
    assert {i: v.reason for i, v in found.items() if v.status is not Status.UNKNOWN} == {}
    assert all("siblings return it" in str(e.unknown) for v in found.values() for e in v.evidence if e.unknown)
    unread = {path: Absent("N/A") if path.endswith(("pstate", "enforced")) else r for path, r in SILENCE.items()}
    assert verdicts(rules, unread) == verdicts([r.without_siblings() for r in rules], unread)
    assert {v.status for v in verdicts([r.without_siblings() for r in rules], SILENCE).values()} >= {
        Status.PASS,
        Status.NA,
    }


def test_where_something_is_demanded_absence_stays_a_failure_and_items_are_counted_as_they_are(tmp_path: Path) -> None:
    rules = compiled(
        tmp_path,
        "  demanded: { each: gpu, fact: pstate, is: 0 }\n  both: { each: gpu, fact: pstate, present: true, is: 0 }\n"
        "  counted: { count: gpu, is: 8 }\n  links: { count: gpu/*.nvlink, at-least: 1 }\n",
    ).values()
    found = verdicts(rules, {**SILENCE, "gpu/3.nvlink": (), "gpu/0.nvlink/0.state": "active"})
    wanted = {"demanded": Status.FAIL, "both": Status.FAIL, "counted": Status.PASS, "links": Status.PASS}
    assert {i: v.status for i, v in found.items()} == wanted


NESTED = """\
  each: { each: gpu/*.nvlink, fact: state, is: active }
  empty: { each: gpu/*.nvlink, allow-empty: true, fact: state, is: active }
  any: { any: gpu/*.nvlink, fact: state, is: inactive }
  no: { no: gpu/*.nvlink, fact: state, is: inactive }
  where: { each: gpu/*.nvlink, where: { fact: state, present: true }, allow-empty: true, fact: state, is: active }
"""


def test_a_gpu_without_links_among_gpus_with_links_is_an_unknown_part(tmp_path: Path) -> None:
    rules = compiled(tmp_path, NESTED).values()
    linked: dict[str, Reading] = {f"gpu/{n}.nvlink/{m}.state": "active" for n in range(8) for m in range(2) if n != 3}
    for listing in ((), Absent("N/A")):
        found = verdicts(rules, {**eight(), **linked, "gpu/3.nvlink": listing})
        assert {v.status for v in found.values()} == {Status.UNKNOWN}
        assert "gpu/3.nvlink: empty, and 7 of 7 siblings return it: gpu/0" in found["each"].reason
    none = {**eight(), **{f"gpu/{n}.nvlink": () for n in range(8)}}
    assert verdicts(rules, none) == verdicts([r.without_siblings() for r in rules], none)
    whole = verdicts(rules, {**eight(), **linked, **{f"gpu/3.nvlink/{m}.state": "active" for m in range(2)}})
    assert {i: v.status for i, v in whole.items() if v.status is not Status.PASS} == {"any": Status.FAIL}


# ---- ports, modules, drives and supplies -----------------------------------------------------------------------------

PORT: Mapping[str, Reading] = {"type": "MT4129", "virtual": False}


def ports(**third: Reading) -> dict[str, Reading]:
    """Four ports of one model, and other readings of the last one's device or port."""
    facts: dict[str, Reading] = {}
    for n in range(4):
        facts |= {f"nic/mlx5_{n}.{fact}": reading for fact, reading in PORT.items()}
        at = f"nic/mlx5_{n}.port/1"
        facts |= {f"{at}.link_layer": "InfiniBand", f"{at}.physical": "LinkUp", f"{at}.state": "ACTIVE"}
        facts |= {f"{at}.role": "compute"}
    for fact, reading in third.items():
        facts[f"nic/mlx5_3.{fact}" if fact in PORT else f"nic/mlx5_3.port/1.{fact}"] = reading
    return facts


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({}, Status.UNKNOWN),
        ({"type": "MT4123"}, Status.PASS),
        ({"virtual": True}, Status.PASS),
        ({"link_layer": "Ethernet"}, Status.PASS),
        ({"virtual": Unknown(Reason.DENIED)}, Status.UNKNOWN),
        ({"type": Absent("none")}, Status.UNKNOWN),
    ],
)
def test_a_port_is_a_sibling_of_those_of_its_model_function_and_link_layer(
    more: Mapping[str, Reading], status: Status
) -> None:
    active = next(r for r in profile("h100-dgx").own if r.id == "nic.active")
    assert verdicts([active], ports())["nic.active"].status is Status.PASS
    silent = ports(physical=Absent("N/A"), state="INIT", **more)
    assert verdicts([active], silent)["nic.active"].status is status


def test_a_port_without_an_ipv4_address_is_not_silent(tmp_path: Path) -> None:
    rules = compiled(
        tmp_path,
        "  gid: { each: nic/*.port, where: { fact: roce_v2_ipv4, present: true }, fact: roce_v2_ipv4, is: 3 }\n",
    )
    facts = ports() | {f"nic/mlx5_{n}.port/1.roce_v2_ipv4": 3 if n else Absent("no address") for n in range(4)}
    assert verdicts(rules.values(), facts)["gid"].status is Status.PASS


PARTS = """\
  dimm: { each: dimm, where: { fact: serial, present: true }, fact: serial, is-not: X }
  nvme: { each: nvme, where: { fact: transport, is: pcie }, fact: state, is: live }
  psu: { each: psu, where: { fact: serial, present: true }, fact: firmware, equal: true }
  bmc_dimm: { each: bmc.dimm, where: { fact: state, is: Enabled }, fact: health, is: OK }
  drive: { each: bmc.drive, where: { fact: life_left, present: true }, allow-empty: true, fact: life_left, at-least: 10 % }
  switch: { no: bmc.nvswitch, fact: health, is: Critical }
  nvswitch: { each: nvswitch, fact: bios, present: true }
  bmc_gpu: { each: bmc.gpu, where: { fact: ecc, present: true }, fact: ecc, is: true }
  amd: { each: gpu.amd, where: { fact: ecc.uncorrected, present: true }, fact: ecc.uncorrected, is: 0 }
"""
PART: Mapping[str, tuple[str, Mapping[str, Reading], str]] = {
    "dimm": ("dimm", {"serial": "S", "type": "DDR5"}, "serial"),
    "nvme": ("nvme", {"model": "M", "transport": "pcie", "state": "live"}, "transport"),
    "psu": ("psu", {"state": "Enabled", "serial": "S", "firmware": "1"}, "serial"),
    "bmc_dimm": ("bmc.dimm", {"state": "Enabled", "type": "DDR5", "health": "OK"}, "state"),
    "drive": ("bmc.drive", {"state": "Enabled", "model": "M", "life_left": 90.0}, "life_left"),
    "switch": ("bmc.nvswitch", {"state": "Enabled", "model": "M", "health": "OK"}, "health"),
    "nvswitch": ("nvswitch", {"bios": "96.10.4A.00.01"}, "bios"),
    "bmc_gpu": ("bmc.gpu", {"state": "Enabled", "model": "M", "ecc": True}, "ecc"),
    "amd": ("gpu.amd", {"name": "MI300X", "ecc.uncorrected": 0}, "ecc.uncorrected"),
}
"""By rule: a collection, the facts that each of its items returns, and those that one of them does not."""


def parts(rule: str, **last: Reading) -> dict[str, Reading]:
    collection, one, _ = PART[rule]
    facts = {f"{collection}/{key}.{fact}": reading for key in "ABCD" for fact, reading in one.items()}
    return facts | {f"{collection}/D.{fact}": reading for fact, reading in last.items()}


@pytest.mark.parametrize("rule", PART)
def test_a_silent_part_among_siblings_is_unknown_and_parts_that_are_all_silent_are_as_ever(
    rule: str, tmp_path: Path
) -> None:
    rules = [compiled(tmp_path, PARTS)[rule]]
    collection, _, fact = PART[rule]
    assert verdicts(rules, parts(rule))[rule].status is Status.PASS
    silent = verdicts(rules, parts(rule, **{fact: Absent("null")}))[rule]
    assert silent.status is Status.UNKNOWN
    assert f"null, and 3 of 3 siblings return it: {collection}/A" in silent.reason
    unread = {path: Absent("null") if path.endswith(f".{fact}") else each for path, each in parts(rule).items()}
    assert verdicts(rules, unread) == verdicts([r.without_siblings() for r in rules], unread)


@pytest.mark.parametrize("rule", ["psu", "drive", "switch", "bmc_gpu"])
def test_an_empty_place_is_no_sibling_of_what_is_there_and_keeps_what_it_lacks(rule: str, tmp_path: Path) -> None:
    rules = [compiled(tmp_path, PARTS)[rule]]

    def status(state: Reading) -> Status:
        empty = parts(rule, **{fact: Absent("the slot is empty") for fact in PART[rule][1]})
        return verdicts(rules, empty | {f"{PART[rule][0]}/D.state": state})[rule].status

    assert status("Absent") is Status.PASS
    assert {status(Absent("null")), status(Unknown(Reason.TIMEOUT)), status("Disabled")} == {Status.UNKNOWN}


# ---- recorded BMCs, and the catalogue --------------------------------------------------------------------------------


def test_a_supply_of_a_recorded_bmc_without_its_serial_is_not_counted_out() -> None:
    leaves = dict(tree_leaves(DGX))
    rules = [r for r in profile("h100-dgx").own if r.id == "psu.count"]
    path = next(p for p in leaves if p.startswith("psu/") and p.endswith(".serial"))
    leaves[path] = replace(leaves[path], reading=Absent("SerialNumber is null"))
    (before,), (after,) = judge(rules, Tree(tree_leaves(DGX))), judge(rules, Tree(leaves))
    assert (before.status, after.status) == (Status.PASS, Status.UNKNOWN)


@pytest.mark.parametrize("tree", ALL)
def test_no_verdict_on_a_recorded_bmc_changes_because_of_siblings(tree: str) -> None:
    recorded = Tree(tree_leaves(tree))
    for name in ("h100-dgx", "h100-hgx", "gb200-nvl72", "xeon-server", "epyc-server"):
        rules = [r for r in library.load(name, CATALOGUE).own if r.across is None and r.called is None and not r.twice]
        assert judge(rules, recorded) == judge([rule.without_siblings() for rule in rules], recorded)


def marked() -> dict[str, Siblings]:
    return {
        pattern: found
        for pattern, entry in CATALOGUE.entries.items()
        if entry.kind.alike is not None and (found := siblings_of(CATALOGUE, parse(pattern).item(EVERY))) is not None
    }


def test_the_collections_of_siblings_are_these() -> None:
    assert set(marked()) == {
        "gpu", "gpu.amd", "nvswitch", "dimm", "nvme", "nic/*.port", "psu", "bmc.dimm", "bmc.drive", "bmc.gpu",
        "bmc.nvswitch",
    }  # fmt: skip


@pytest.mark.parametrize("pattern", marked())
def test_what_groups_siblings_is_a_fact_of_the_item_or_of_one_above_it_on_its_own_plane(pattern: str) -> None:
    entry, siblings = CATALOGUE.entries[pattern], marked()[pattern]
    assert len(siblings.by) == len(entry.kind.alike or ())
    assert (siblings.vacant is not None) == bool(entry.kind.vacant)
    items = {str(FactPath(siblings.collection.item(EVERY).segments[:depth])) for depth in range(1, 4)}
    for ground in siblings.grounds:
        assert ground.plane is entry.plane
        assert any(str(ground.fact).startswith(f"{item}.") for item in items)


@pytest.mark.parametrize("name", ["h100-dgx", "gb200-nvl72", "linux-gpu-node"])
def test_knowing_siblings_costs_no_command_and_no_get(name: str) -> None:
    loaded = library.load(name, CATALOGUE)
    facts = frozenset[FactPath]().union(*(rule.facts() for rule in loaded.own))
    kin = frozenset[FactPath]().union(*(rule.kin() for rule in loaded.own))
    alone, both = registry().plan(facts), registry().plan(facts | kin)
    assert both.links == alone.links
    assert len(both.questions) == len(alone.questions)
    assert kin <= loaded.facts()


def test_siblings_add_no_plane_and_change_no_digest() -> None:
    for rule in profile("h100-dgx").own:
        alone = rule.without_siblings()
        assert (alone.planes, alone.digest, alone.facts()) == (rule.planes, rule.digest, rule.facts())
        assert alone.kin() == frozenset()
