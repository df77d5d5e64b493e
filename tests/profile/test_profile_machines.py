"""Which machines each shipped profile is for: the identity of a recorded machine fits the profile that is written for
it, and no other; and a profile shows, compares and explains this with the rules that belong to every profile."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from command import rackcheck
from h100_nodes import node, row
from recordings import OURS, leaves, os_probes, recorded
from trees import DELL, DELTA, DGX, DMTF, GB200, HPE_AMD, HPE_INTEL, LENOVO, NVSWITCH, SUPERMICRO, X10, tree_leaves

from rackcheck.model.fact import Absent, Plane, Reading
from rackcheck.model.fit import Match, fit
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.layers import MACHINE

ANY = {"linux-server", "burn-in"}
"""Profiles that hold on every machine."""

PROFILES = sorted(library.profiles())


@cache
def profile(name: str) -> Profile:
    return library.load(name, registry().catalogue)


def verdicts() -> list[str]:
    """The profiles that give a verdict on some machines."""
    return [name for name in PROFILES if not profile(name).fragment and name not in ANY]


def matching(tree: Tree, plane: Plane) -> dict[Match, set[str]]:
    """How a machine matches every profile, read on one plane."""
    found: dict[Match, set[str]] = {match: set() for match in Match}
    for name in verdicts():
        found[fit(profile(name).applies_to, tree, frozenset({plane})).match].add(name)
    return found


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_names_its_machines_but_those_for_any_and_no_fragment_does(name: str) -> None:
    named = bool(MACHINE & profile(name).applies_to.keys())
    assert named is not (profile(name).fragment or name in ANY)


PARTS = {"linux-gpu-node", "mi300x-oam"}
"""Profiles that go by PCI ids alone, which no BMC returns."""

CPUS = {"epyc-server", "grace-server", "xeon-server"}
ON_BMC: Mapping[str, tuple[set[str], set[str]]] = {
    DELL: ({"xeon-server"}, set()),
    DGX: ({"h100-dgx", "h100-hgx"}, CPUS - {"grace-server"}),
    SUPERMICRO: ({"h100-hgx", "h200-hgx", "xeon-server"}, set()),
    HPE_INTEL: ({"xeon-server"}, set()),
    HPE_AMD: ({"epyc-server"}, set()),
    LENOVO: ({"xeon-server"}, set()),
    GB200: ({"gb200-nvl72", "grace-server"}, set()),
    NVSWITCH: (set(), CPUS - {"grace-server"}),
    DMTF: ({"xeon-server"}, set()),
    X10: ({"xeon-server"}, {"gb200-nvl72", "gh200", "h100-hgx", "h200-hgx"}),  # its chassis has no model
    DELTA: (set(), {*CPUS - {"grace-server"}, "example-site"}),
}
"""Recorded BMCs: the profiles for such a machine, and those that the BMC's data does not decide."""


@pytest.mark.parametrize("machine", ON_BMC)
def test_a_recorded_bmc_fits_the_profiles_of_its_machine_and_is_another_to_the_rest(machine: str) -> None:
    found = matching(Tree(tree_leaves(machine)), Plane.BMC)
    fits, silent = ON_BMC[machine]
    assert (found[Match.FITS], found[Match.UNKNOWN]) == (fits, silent)
    assert found[Match.NOT_STATED] == PARTS
    assert found[Match.OTHER] == {*verdicts()} - fits - silent - PARTS


def host(product: str, cpu: str, *devices: str, board: str = "") -> Tree:
    """A host as its operating system reports it: DMI strings, the processor's model, and PCI ids."""
    facts: dict[str, Reading] = {
        "node.product": product or Absent("no product_name"), "node.board": board or Absent("no board_name"),
        "cpu.model": cpu,
    }  # fmt: skip
    for n, (vendor, device) in enumerate(ids.split(":") for ids in ("1a03:2000", *devices)):
        facts |= {f'pcie/"0000:{n:02}:00.0".vendor': f"0x{vendor}", f'pcie/"0000:{n:02}:00.0".device': f"0x{device}"}
        facts |= {f'pcie/"0000:{n:02}:00.0".class': "0x030200"}
    return node(facts)


XEON, EPYC, GRACE = "Intel(R) Xeon(R) Platinum 8480C", "AMD EPYC 7742 64-Core Processor", "Neoverse-V2"
NVSWITCH_ID, ROOT_PORT = "10de:22a3", "10de:22b2"

ON_HOST: Mapping[str, tuple[Tree, set[str]]] = {
    "DGX H100": (
        host("DGXH100", XEON, "10de:2330", board="DGXH100"),
        {"h100-dgx", "h100-hgx", "linux-gpu-node", "xeon-server"},
    ),
    "DGX H100, no GPU on the bus": (
        host("DGXH100", XEON, NVSWITCH_ID, board="DGXH100"), {"h100-dgx", "linux-gpu-node", "xeon-server"},
    ),
    "DGX A100": (
        host("DGXA100 920-23687-2531-001", EPYC, "10de:20b2"), {"a100-dgx", "linux-gpu-node", "epyc-server"},
    ),
    "HGX H200 of no maker that is named": (
        host("AS-8U-8GPU", XEON, "10de:2335"), {"h200-hgx", "linux-gpu-node", "xeon-server"},
    ),
    "SYS-821GE-TNHR, no GPU on the bus": (
        host("SYS-821GE-TNHR", XEON, board="X13DEG-OAD"), {"h100-hgx", "h200-hgx", "xeon-server"},
    ),
    "no product name, and H100": (
        host("", EPYC, "10de:2330"), {"h100-dgx", "h100-hgx", "linux-gpu-node", "epyc-server"},
    ),
    "PowerEdge R760": (host("PowerEdge R760xa", XEON), {"example-site", "xeon-server"}),
    "guest with H100": (host("KVM", "Processor", "10de:2330"), {"h100-hgx", "linux-gpu-node"}),
    "GB200 tray of another maker": (
        host("Java Island", GRACE, ROOT_PORT, "10de:2941"), {"gb200-nvl72", "grace-server", "linux-gpu-node"},
    ),
    "GH200 server, no GPU on the bus": (
        host("ARS-111GL-NHR", GRACE, ROOT_PORT, board="G1SMH-G"), {"gh200", "grace-server", "linux-gpu-node"},
    ),
    "MI300X": (host("AS -8125GS-TNMR2", EPYC, "1002:74a1"), {"mi300x-oam", "epyc-server"}),
    "guest with MI300X": (host("Virtual Machine", EPYC, "1002:74b5"), {"mi300x-oam", "epyc-server"}),
    "workstation": (host("Z4", "Intel(R) Core(TM) i9", "10de:1e81"), {"linux-gpu-node"}),
    "laptop": (host("20XW", "Intel(R) Core(TM) i7"), set()),
    "Graviton4, whose core is Grace's": (host("r8g.metal-48xl", GRACE), {"grace-server"}),
}  # fmt: skip


@pytest.mark.parametrize("machine", ON_HOST)
def test_a_host_fits_the_profiles_of_its_machine_and_is_another_to_the_rest(machine: str) -> None:
    tree, fits = ON_HOST[machine]
    found = matching(tree, Plane.OS)
    assert found[Match.FITS] == fits
    assert found[Match.OTHER] == {*verdicts()} - fits


def test_a_recorded_guest_on_epyc_is_a_server_with_epyc_and_nothing_else_that_ships() -> None:
    tree: dict[str, Leaf] = {}
    for probe in ("dmi", "cpu", "pcie"):
        for place in sorted((OURS / probe).glob("debian-vm.json")):
            tree |= leaves(os_probes()[probe], recorded(place)[0])
    found = matching(Tree(tree), Plane.OS)
    assert found[Match.FITS] == {"epyc-server"}
    assert found[Match.OTHER] >= {"linux-gpu-node", "grace-server", "xeon-server"}


@pytest.mark.parametrize(
    "name",
    ["a100-dgx", "h100-dgx", "h200-dgx", "b200-dgx", "h100-hgx", "h200-hgx", "gb200-nvl72", "gh200", "mi300x-oam"],
)
def test_a_device_that_a_profile_is_for_stands_in_the_base_of_facts_and_is_what_its_rules_count(name: str) -> None:
    ids = profile(name).applies_to["device"]
    assert [row("pci_ids.csv", "vendor_device", device)["confidence"] for device in ids] == ["read in source"] * len(
        ids
    )
    counted = {
        str(value).removeprefix("0x")
        for rule in profile(name).rules
        for clause in rule.parts()
        for test in clause.tests
        if str(clause.fact) == "device"
        for value in (test.operand if isinstance(test.operand, tuple) else (test.operand,))
    }
    assert counted & {device.partition(":")[2] for device in ids}


# ---- what is shown ---------------------------------------------------------------------------------------------------


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    file = tmp_path / "ours.yaml"
    file.write_text(
        "rackcheck: 1\nprofile: ours\nversion: 1\nextends: linux-server@2026.11\n"
        "applies-to: { product: PowerEdge*, device: ['10de', '15b3:1021'], role: storage }\n"
        f"rules:\n  {BUILT_IN}: {{ drop: two of our nodes share a board }}\n"
    )
    return file


BUILT_IN = next(rule.id for rule in profile("linux-server").rules if rule.built_in)


def test_a_profile_shows_its_machines_and_a_fragment_that_it_gives_no_verdict(ours: Path) -> None:
    assert "  for product PowerEdge*; or device 10de or 15b3:1021, of role storage" in (
        rackcheck("profile", "show", ours).out.splitlines()
    )
    assert "  for any machine" in rackcheck("profile", "show", "linux-server").out.splitlines()
    shown = rackcheck("profile", "show", "hgx-h100").out
    assert "gives no verdict on a machine; did you mean h100-hgx?" in shown
    assert "gives no verdict" not in rackcheck("profile", "show", "h100-hgx").out


def test_built_in_rules_are_listed_last_and_a_dropped_one_shows_its_reason(ours: Path) -> None:
    whole, without = (rackcheck("profile", "show", name).out for name in ("linux-server", ours))
    own, _, last = whole.partition("\nbuilt in  ")
    assert f"\n{BUILT_IN}  " in last
    assert f"\n{BUILT_IN}  " not in own
    assert f"\n{profile('linux-server').own[-1].id}  " in own
    assert f"dropped {BUILT_IN}: two of our nodes share a board" in without
    assert f"\n{BUILT_IN}  " not in without


def test_a_built_in_rule_is_explained_as_one_that_is_dropped_with_a_reason_only(ours: Path) -> None:
    shown = rackcheck("profile", "explain", "-p", "linux-server", BUILT_IN)
    assert shown.status == 0
    assert "built in: part of every profile; may be dropped with a reason" in shown.out
    assert "built in" not in rackcheck("profile", "explain", "-p", "linux-server", "memory.swappiness").out
    assert "dropped: two of our nodes share a board" in rackcheck("profile", "explain", "-p", ours, BUILT_IN).out


def test_a_built_in_rule_cannot_be_changed_and_a_switch_is_no_reason(ours: Path) -> None:
    text = ours.read_text()
    ours.write_text(text.replace("drop: two of our nodes share a board", "severity: minor"))
    refused = rackcheck("profile", "check", ours)
    assert (refused.status, f"`{BUILT_IN}` is built in" in refused.err) == (2, True)
    ours.write_text(text.replace("two of our nodes share a board", "true"))
    assert f"rule {BUILT_IN} is dropped without a reason" in rackcheck("profile", "check", ours).err


def test_what_belongs_to_every_profile_is_counted_in_none_and_is_no_difference_but_where_it_is_dropped(
    ours: Path,
) -> None:
    rows = {each["name"]: each["rules"] for each in json.loads(rackcheck("profile", "list", "--json").out)}
    assert rows["linux-server"] == str(len(profile("linux-server").own))
    assert f"linux-server: {rows['linux-server']} rules, " in rackcheck("profile", "check", "linux-server").out
    found = json.loads(rackcheck("profile", "diff", "linux-server", ours, "--json").out)
    assert (found["only_in_a"], found["only_in_b"], found["changed"]) == ([], [], [])
    assert found["dropped"] == [{"rule": BUILT_IN, "a": None, "b": "two of our nodes share a board"}]
    assert found["applies_to"][0] == {"key": "product", "a": None, "b": "PowerEdge*"}
    assert "    product: not named -> PowerEdge*" in rackcheck("profile", "diff", "linux-server", ours).out
