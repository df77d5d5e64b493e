"""The profile cross-plane and the joins below it: two planes of one machine agree, and where one of them is changed the
finding names both; what one of them does not report is unknown."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from command import rackcheck
from gpu_driver import by_index
from hypothesis import given, settings
from hypothesis import strategies as st
from sim_replies import leaves_of
from trees import DELL, DGX
from trees import tree_leaves as recorded

from rackcheck.evaluate.verdict import judge
from rackcheck.model import path as paths
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.join import Join, derive
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.sim import scenario
from rackcheck.sim.rack import SimRack

JOINS = tuple(j for j in registry().joins if j.name in {"bmc_dimm_count"} or j.name.startswith("planes_"))
CATALOGUE = registry().catalogue
LOST = Unknown(Reason.TIMEOUT, "no answer within 10 s")
ADAPTER = "bmc.nic/NIC_1"

SEEN: Mapping[str, Reading] = {
    "time.offset": 0.25,
    "bmc.cpu/DevType1_CPU0.model": "Intel(R) Xeon(R)  Platinum 8480C ",
    "bmc.cpu/DevType1_CPU1.model": "Intel(R) Xeon(R) Platinum 8480C",
    "bmc.nic": ("NIC_1",),
    f"{ADAPTER}.firmware": "28.41.1000",
    f"{ADAPTER}.port": ("1", "2", "3"),
    f"{ADAPTER}.port/1.addresses": ("A0:88:C2:00:01:41",),
    f"{ADAPTER}.port/2.addresses": ("A0:88:C2:00:01:42",),
    f"{ADAPTER}.port/3.addresses": ("a088:c203:0001:4000",),
}
"""What this machine's BMC does not report and others do: the rules are run as if it did."""


@cache
def profile() -> Profile:
    return library.load("cross-plane", CATALOGUE)


@cache
def needed() -> Mapping[str, Leaf]:
    """The leaves of the simulated machine that the profile or its joins read."""
    asked = {need for join in JOINS for need in join.needs}
    asked |= {str(fact.pattern) for rule in profile().own for fact in rule.facts()}
    return {path: leaf for path, leaf in by_index(leaves_of()).items() if str(paths.parse(path).pattern) in asked}


def node(changes: Mapping[str, Reading] | None = None, *, seen: Mapping[str, Reading] = SEEN) -> Tree:
    """The simulated machine with some facts changed, and its derived facts."""
    leaves = dict(needed())
    for path, reading in {**seen, **(changes or {})}.items():
        entry = CATALOGUE.find(paths.parse(path))
        assert entry is not None, path
        old = leaves.get(path)
        leaves[path] = Leaf(reading, entry.kind, entry.plane, old.source if old else f"where {path} is")
    return Tree({**leaves, **derive(JOINS, Tree(leaves))})


def verdicts(changes: Mapping[str, Reading] | None = None, *, seen: Mapping[str, Reading] = SEEN) -> dict[str, Verdict]:
    return {v.rule: v for v in judge(profile().own, node(changes, seen=seen))}


def reading(path: str, changes: Mapping[str, Reading] | None = None) -> Reading:
    """The facts of a join on the machine."""
    return node(changes).leaves[path].reading


# The machine


def test_both_planes_of_a_fully_reported_machine_agree_in_every_rule() -> None:
    assert {i: v.reason for i, v in verdicts().items() if v.status is not Status.PASS} == {}
    assert len(profile().own) == 23


def test_values_that_this_machine_does_not_report_are_unknown() -> None:
    found = verdicts(seen={"time.offset": 0.25})
    unknown = {i for i, v in found.items() if v.status is Status.UNKNOWN}
    assert unknown == {"planes.cpu_model", "planes.nic_mac", "planes.nic_firmware"}
    assert {v.status for i, v in found.items() if i not in unknown} == {Status.PASS}


@pytest.mark.parametrize("rule", profile().own, ids=lambda r: r.id)
def test_every_rule_reads_both_planes_and_states_a_fix(rule: object) -> None:
    one = next(r for r in profile().own if r is rule)
    assert {Plane.OS, Plane.BMC} <= one.planes
    assert one.title
    assert one.why.endswith(".")
    assert len(one.fix) > 10
    assert one.refs


# One plane is changed

CHANGED: list[tuple[str, str, Reading, tuple[str, ...]]] = [
    ("planes.serial", "node.serial", "F00", ("node.serial F00 but bmc.host.serial 1663124000001",)),
    ("planes.serial", "bmc.host.serial", "F00", ("node.serial 1663124000001 but bmc.host.serial F00",)),
    ("planes.bios_version", "os.bios.version", "1.4", ("os.bios.version 1.4 but firmware.bios 1.5.3",)),
    ("planes.bios_version", "firmware.bios", "1.4", ("os.bios.version 1.5.3 but firmware.bios 1.4",)),
    ("planes.cpu_count", "cpu.sockets", 1, ("cpu.sockets is 1", "bmc.cpu.count is 2")),
    ("planes.cpu_count", "bmc.cpu.count", 1, ("cpu.sockets is 2", "bmc.cpu.count is 1")),
    ("planes.cpu_cores", "cpu.cores", 111, ("cpu.cores is 111", "bmc.cpu.cores_enabled is 112")),
    (
        "planes.cpu_cores",
        "bmc.cpu/DevType1_CPU0.cores_enabled",
        55,
        ("cpu.cores is 112", "bmc.cpu.cores_enabled is 111"),
    ),
    ("planes.smt", "cpu.smt", False, ("cpu.smt false but bios.smt enabled",)),
    ("planes.smt", "bios.smt", "disabled", ("cpu.smt true but bios.smt disabled",)),
    (
        "planes.memory_size",
        "memory.installed",
        1984.0,
        ("memory.installed is 1984 GiB", "bmc.memory.total is 2048 GiB"),
    ),
    (
        "planes.memory_size",
        "bmc.memory.total",
        1984.0,
        ("memory.installed is 2048 GiB", "bmc.memory.total is 1984 GiB"),
    ),
    ("planes.dimm_count", "memory.dimm_count", 31, ("memory.dimm_count is 31", "bmc.memory.dimm_count is 32")),
    (
        "planes.dimm_count",
        "bmc.dimm/DevType2_DIMM0.size",
        Absent("the slot is empty"),
        ("memory.dimm_count is 32", "bmc.memory.dimm_count is 31"),
    ),
    (
        "planes.dimm_serials",
        "dimm/CPU0_DIMM_A1.serial",
        "F00",
        ("dimm/CPU0_DIMM_A1 F00, bmc.dimm/DevType2_DIMM0 4A000100",),
    ),
    (
        "planes.dimm_serials",
        "bmc.dimm/DevType2_DIMM0.serial",
        "F00",
        ("dimm/CPU0_DIMM_A1 4A000100, bmc.dimm/DevType2_DIMM0 F00",),
    ),
    ("planes.gpus", "gpu/3.serial", "F00", ("gpu/3, bmc.gpu/GPU_SXM_4",)),
    ("planes.gpus", "bmc.gpu/GPU_SXM_4.serial", "F00", ("gpu/3, bmc.gpu/GPU_SXM_4",)),
    ("planes.gpu_vbios", "gpu/0.vbios", "96.0", ("gpu/0 96.0 but bmc.gpu/GPU_SXM_1 96.00.89.00.01",)),
    ("planes.gpu_vbios", "bmc.gpu/GPU_SXM_1.vbios", "96.0", ("gpu/0 96.00.89.00.01 but bmc.gpu/GPU_SXM_1 96.0",)),
    ("planes.gpu_power", "gpu/7.power.limit", 650.0, ("gpu/7 650 but bmc.gpu/GPU_SXM_8 700",)),
    ("planes.gpu_power", "bmc.gpu/GPU_SXM_8.power.limit", 650.0, ("gpu/7 700 but bmc.gpu/GPU_SXM_8 650",)),
    ("planes.gpu_ecc", "gpu/1.ecc.mode", "disabled", ("gpu/1 disabled but bmc.gpu/GPU_SXM_2 true",)),
    ("planes.gpu_ecc", "bmc.gpu/GPU_SXM_2.ecc", False, ("gpu/1 enabled but bmc.gpu/GPU_SXM_2 false",)),
    ("planes.gpu_mig", "gpu/1.mig.mode", "enabled", ("gpu/1 enabled but bmc.gpu/GPU_SXM_2 false",)),
    ("planes.gpu_mig", "bmc.gpu/GPU_SXM_2.mig", True, ("gpu/1 disabled but bmc.gpu/GPU_SXM_2 true",)),
    ("planes.gpu_width", "gpu/1.link.width", 8, ("gpu/1 8 but bmc.gpu/GPU_SXM_2 16",)),
    ("planes.gpu_width", "bmc.gpu/GPU_SXM_2.pcie_width", 8, ("gpu/1 16 but bmc.gpu/GPU_SXM_2 8",)),
    (
        "planes.boot_order",
        "os.boot.order",
        ("Boot000B", "Boot0026", "Boot000A"),
        ("os.boot.order ", " but bmc.boot.order "),
    ),
    (
        "planes.boot_order",
        "bmc.boot.order",
        ("Boot0026", "Boot000A", "Boot000B"),
        ("os.boot.order ", " but bmc.boot.order "),
    ),
    (
        "planes.nic_mac",
        "nic.interface/enp41s0f0np0.mac_permanent",
        "a0:88:c2:00:01:ff",
        ("bmc.nic/NIC_1.port/1 A0:88:C2:00:01:41",),
    ),
    (
        "planes.nic_mac",
        f"{ADAPTER}.port/2.addresses",
        ("A0:88:C2:00:01:FF",),
        ("bmc.nic/NIC_1.port/2 A0:88:C2:00:01:FF",),
    ),
    (
        "planes.nic_firmware",
        "nic.interface/enp41s0f0np0.firmware",
        "28.39.1002 (MT_0000000834)",
        ("nic.interface/enp41s0f0np0 28.39.1002 (MT_0000000834) but bmc.nic/NIC_1 28.41.1000",),
    ),
    (
        "planes.nic_firmware",
        f"{ADAPTER}.firmware",
        "28.39.1002",
        ("nic.interface/enp41s0f0np0 28.41.1000 (MT_0000000834) but bmc.nic/NIC_1 28.39.1002",),
    ),
    (
        "planes.secure_boot",
        "os.secure_boot.enabled",
        True,
        ("os.secure_boot.enabled true but bios.secure_boot disabled",),
    ),
    (
        "planes.secure_boot",
        "bios.secure_boot",
        "enabled",
        ("os.secure_boot.enabled false but bios.secure_boot enabled",),
    ),
]
"""Rule, a fact of one plane, its changed value, and the text of the finding."""

WARNED: list[tuple[str, str, Reading, str]] = [
    (
        "planes.cpu_model",
        "cpu.model",
        "Intel(R) Xeon(R) Platinum 8480+",
        "cpu.model Intel(R) Xeon(R) Platinum 8480+ but bmc.cpu/",
    ),
    ("planes.cpu_model", "bmc.cpu/DevType1_CPU1.model", "Xeon 6787P", "but bmc.cpu/DevType1_CPU1 Xeon 6787P"),
    ("planes.clock", "time.offset", 90.0, "bmc.manager/BMC.ahead is -90 s"),
    ("planes.clock", "bmc.manager/BMC.offset", 90.25, "bmc.manager/BMC.ahead is 90 s"),
]


@pytest.mark.parametrize(("rule", "path", "value", "words"), CHANGED)
def test_a_change_of_one_plane_fails_the_rule_and_both_planes_are_named(
    rule: str, path: str, value: Reading, words: tuple[str, ...]
) -> None:
    found = verdicts({path: value})
    assert found[rule].status is Status.FAIL
    assert all(part in found[rule].reason for part in words), found[rule].reason
    needs = {r.id for r in profile().own if rule in r.needs}
    assert {i for i, v in found.items() if v.status is not Status.PASS} == {rule} | needs


@pytest.mark.parametrize("seconds", [-400.0, 400.0])
def test_a_clock_of_a_bmc_that_is_minutes_away_fails(seconds: float) -> None:
    found = verdicts({"bmc.manager/BMC.offset": seconds})
    assert found["planes.clock_usable"].status is Status.FAIL
    near = verdicts({"bmc.manager/BMC.offset": seconds * 0.7})
    assert {near[f"planes.clock_{word}"].status for word in ("usable", "synchronized")} == {Status.PASS}


@pytest.mark.parametrize(("enabled", "status"), [(True, Status.FAIL), (False, Status.PASS), (LOST, Status.UNKNOWN)])
def test_a_bmc_fails_if_it_uses_ntp_and_its_clock_is_minutes_away(enabled: Reading, status: Status) -> None:
    found = verdicts({"bmc.manager/BMC.offset": 400.0, "bmc.manager/BMC.ntp.enabled": enabled})
    assert found["planes.clock_synchronized"].status is status


@pytest.mark.parametrize(("rule", "path", "value", "words"), WARNED)
def test_where_firmware_may_differ_by_right_the_rule_only_warns(
    rule: str, path: str, value: Reading, words: str
) -> None:
    found = verdicts({path: value})
    assert {i for i, v in found.items() if v.status is not Status.PASS} == {rule}
    assert found[rule].status is Status.WARN
    assert words in found[rule].reason


@pytest.mark.parametrize(("rule", "path"), sorted({(row[0], row[1]) for row in (*CHANGED, *WARNED)}))
def test_where_each_plane_was_read_stands_beside_a_finding(rule: str, path: str) -> None:
    value = next(row[2] for row in (*CHANGED, *WARNED) if row[:2] == (rule, path))
    sources = [e.source for e in verdicts({path: value})[rule].evidence]
    names = {part for source in sources for part in (source, *source.removeprefix("from ").split(", "))}
    assert {plane for place, plane in _sources(rule) if place in names} == {Plane.OS, Plane.BMC}, sources


def _sources(rule: str) -> list[tuple[str, Plane]]:
    """Texts that identify a plane in a finding: the source of a fact or, for derived facts, their inputs' paths."""
    one = next(r for r in profile().own if r.id == rule)
    rows: list[tuple[str, Plane]] = []
    tree = node()
    for fact in one.facts():
        given = [j for j in JOINS if str(fact.pattern) in j.gives]
        rows += [(need, j.planes[need]) for j in given for need in j.needs]
        leaf = tree.leaves.get(str(fact))
        if leaf is not None and not given:
            rows.append((leaf.source, leaf.plane))
    return rows


@pytest.mark.parametrize(("rule", "path"), sorted({(row[0], row[1]) for row in (*CHANGED, *WARNED)}))
def test_a_value_missing_on_one_plane_is_unknown_and_never_a_pass(rule: str, path: str) -> None:
    found = verdicts({path: LOST})
    assert found[rule].status is Status.UNKNOWN
    assert "no answer within 10 s" in found[rule].reason
    assert not [v for v in found.values() if v.status in {Status.FAIL, Status.WARN}]


@pytest.mark.parametrize("collection", ["gpu", "bmc.gpu", "bmc.cpu", "dimm", "bmc.dimm", "nic.interface", "bmc.nic"])
def test_a_list_that_was_not_read_to_its_end_settles_nothing(collection: str) -> None:
    reads = {r.id for r in profile().own if collection in _inputs(r.id)}
    found = verdicts({collection: LOST})
    assert {i for i, v in found.items() if v.status is not Status.PASS} == reads
    assert {found[i].status for i in reads} == {Status.UNKNOWN}


def _inputs(rule: str) -> set[str]:
    one = next(r for r in profile().own if r.id == rule)
    mine = {str(fact.pattern) for fact in one.facts()}
    for need in one.needs:
        mine |= _inputs(need)
    return mine | {need for j in JOINS if mine & set(j.gives) for need in j.needs}


# What is no disagreement, and what is unknown


@pytest.mark.parametrize(
    ("serial", "sku", "status"),
    [
        ("CNIVC0014M0388", "1663124000001", Status.PASS),
        ("1663124000001", LOST, Status.PASS),
        ("CNIVC0014M0388", "F54P1G3", Status.FAIL),
        ("CNIVC0014M0388", LOST, Status.UNKNOWN),
    ],
)
def test_a_node_is_known_by_what_its_maker_has_for_a_serial_number(serial: str, sku: Reading, status: Status) -> None:
    """Dell's DMI table contains the service tag, which is the BMC's SKU; its SerialNumber is that of the board."""
    assert verdicts({"bmc.host.serial": serial, "bmc.host.sku": sku})["planes.serial"].status is status


def test_the_recorded_dell_reports_its_service_tag_as_order_number() -> None:
    found = recorded(DELL)
    tag = found["bios.attribute/SystemServiceTag"].reading
    assert found["bmc.host.sku"].reading == tag != found["bmc.host.serial"].reading


def test_the_host_is_not_the_gpu_baseboard_beside_it() -> None:
    found = recorded(DGX)
    assert found["bmc.host.serial"].reading == found["bmc.system/DGX.serial"].reading


def test_two_gpus_that_changed_places_are_the_same_gpus() -> None:
    swapped: dict[str, Reading] = {
        "gpu/0.serial": reading_of("gpu/1.serial"),
        "gpu/1.serial": reading_of("gpu/0.serial"),
    }
    assert {v.status for v in verdicts(swapped).values()} == {Status.PASS}
    assert [reading(f"gpu/{n}.bmc_id", swapped) for n in (0, 1, 2)] == ["GPU_SXM_2", "GPU_SXM_1", "GPU_SXM_3"]


def reading_of(path: str) -> Reading:
    return needed()[path].reading


def test_a_gpu_that_the_bmc_does_not_list_has_no_id_there() -> None:
    assert isinstance(reading("gpu/3.bmc_id", {"gpu/3.serial": "F00"}), Absent)
    assert reading("gpu/2.bmc_id", {"gpu/3.serial": "F00"}) == "GPU_SXM_3"


def test_an_empty_place_of_a_gpu_is_no_gpu() -> None:
    empty: dict[str, Reading] = {"bmc.gpu/GPU_SXM_4.serial": Absent("no GPU is in this slot")}
    assert verdicts(empty)["planes.gpus"].reason == "bmc.differs.gpu.listed is gpu/3, must be none"


def test_two_gpus_of_one_serial_number_cannot_be_distinguished() -> None:
    found = verdicts({"gpu/3.serial": reading_of("gpu/2.serial")})["planes.gpus"]
    assert found.status is Status.UNKNOWN
    assert "gpu/2 and gpu/3 report the same identity" in found.reason


def test_whole_watts_are_no_other_limit() -> None:
    assert verdicts({"gpu/7.power.limit": 699.5})["planes.gpu_power"].status is Status.PASS


def test_swapped_modules_are_the_same_and_a_duplicate_serial_number_counts_twice() -> None:
    at = {n: f"bmc.dimm/DevType2_DIMM{n}.serial" for n in (0, 1)}
    swapped = {at[0]: reading_of(at[1]), at[1]: reading_of(at[0])}
    assert verdicts(swapped)["planes.dimm_serials"].status is Status.PASS
    twice = {at[1]: reading_of(at[0])}
    assert reading("bmc.differs.dimm.serial", twice) == (
        "dimm/CPU0_DIMM_A2 4A000101",
        "bmc.dimm/DevType2_DIMM1 4A000100",
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "status"),
    [
        ("U72", "U72 v1.34 (04/18/2025)", Status.UNKNOWN),
        ("U8E122J-1.51", "U8E122J", Status.UNKNOWN),
        ("u72  v1.34", "U72 v1.34", Status.PASS),
        ("U72 v1.34", "U72 v1.35", Status.FAIL),
        ("1.5", "11.5", Status.FAIL),
        (Absent("no DMI table"), "1.5", Status.FAIL),
    ],
)
def test_a_bios_version_longer_on_one_plane_is_unknown(ours: Reading, theirs: Reading, status: Status) -> None:
    assert verdicts({"os.bios.version": ours, "firmware.bios": theirs})["planes.bios_version"].status is status


@pytest.mark.parametrize("word", ["auto", "mixed"])
def test_a_bios_that_leaves_it_open_is_unknown(word: str) -> None:
    assert verdicts({"bios.smt": word})["planes.smt"].status is Status.UNKNOWN
    assert verdicts({"bios.secure_boot": word})["planes.secure_boot"].status is Status.UNKNOWN


def test_a_node_without_uefi_has_no_secure_boot() -> None:
    absent: dict[str, Reading] = {"os.secure_boot.enabled": Absent("started without UEFI")}
    assert verdicts(absent)["planes.secure_boot"].status is Status.PASS
    assert verdicts({**absent, "bios.secure_boot": "enabled"})["planes.secure_boot"].status is Status.FAIL


@pytest.mark.parametrize(
    ("driver", "bmc", "status"),
    [
        ("28.41.1000 (MT_0000000834)", "28.41.1000", Status.PASS),
        ("225.0.157.1/pkg 22.51.20.11", "22.51.20.11", Status.PASS),
        ("225.0.157.1/pkg 22.51.20.11", "22.51.2", Status.UNKNOWN),
        ("8.30 0x8000a49d 1.2926.0", "20.5.13", Status.UNKNOWN),
        ("28.41.1000 (MT_0000000834)", "28.41.1001", Status.FAIL),
        ("28.41.1000", "a word", Status.UNKNOWN),
    ],
)
def test_firmware_differs_only_where_both_report_one_version(driver: str, bmc: str, status: Status) -> None:
    both = {f"nic.interface/enp41s0f{n}np{n}.firmware": driver for n in (0, 1)}
    assert verdicts({**both, f"{ADAPTER}.firmware": bmc})["planes.nic_firmware"].status is status


def test_an_address_is_one_however_it_is_parted() -> None:
    other = {f"{ADAPTER}.port/1.addresses": ("a0-88-c2-00-01-41",), f"{ADAPTER}.port/2.addresses": ("A088C2000142",)}
    assert verdicts(other)["planes.nic_mac"].status is Status.PASS


# The law: what follows from less is the same, or unknown


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_lost_fact_turns_no_verdict_into_another(data: st.DataObject) -> None:
    changed = data.draw(st.lists(st.sampled_from(CHANGED), max_size=3))
    changes: dict[str, Reading] = {row[1]: row[2] for row in changed}
    known = sorted({*needed(), *SEEN})
    lost = data.draw(st.lists(st.sampled_from(known), max_size=3))
    before, after = verdicts(changes), verdicts({**changes, **dict.fromkeys(lost, LOST)})
    for rule, verdict in after.items():
        assert verdict.status in {before[rule].status, Status.UNKNOWN}, (rule, verdict.reason)


@pytest.mark.parametrize("join", [j for j in JOINS if Plane.OS in j.planes.values()], ids=lambda j: j.name)
def test_where_both_planes_are_silent_the_bmcs_reason_is_reported(join: Join) -> None:
    gone = Unknown(Reason.NOT_COLLECTED, "no BMC in inventory")
    found = derive([join], Tree({}, {Plane.BMC: gone, Plane.OS: LOST}))
    assert {leaf.reading for leaf in found.values()} <= {gone}


@pytest.mark.parametrize("join", JOINS, ids=lambda j: j.name)
def test_a_join_of_nothing_gives_nothing_but_unknowns(join: Join) -> None:
    found = derive([join], Tree({}, {Plane.BMC: LOST, Plane.OS: LOST}))
    assert found or all("*" in pattern for pattern in join.gives)
    assert all(isinstance(leaf.reading, Unknown) for leaf in found.values())


# End to end


def test_the_audit_of_a_simulated_machine_passes_or_honestly_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    file = tmp_path / "rack.yaml"
    file.write_text("rackcheck: 1\nscenario: one\nnodes: { n1: { machine: dgx-h100 } }\n")
    with SimRack(scenario.load(file), tmp_path) as rack:
        done = rackcheck("audit", "-i", rack.inventory, "-p", "cross-plane", "-q", "--json")
        one = rackcheck("audit", "-i", rack.inventory, "-p", "cross-plane", "-q", "--json", "--planes", "os")
    found = {v["rule"]: v["status"] for v in json.loads(done.out)["nodes"]["n1"]["verdicts"]}
    unknown = {rule for rule, status in found.items() if status == "unknown"}
    assert unknown == {"planes.cpu_model", "planes.nic_mac", "planes.nic_firmware"}
    assert {status for rule, status in found.items() if rule not in unknown} == {"pass"}
    assert [v["rule"] for v in json.loads(one.out)["nodes"]["n1"]["verdicts"]] == ["identity.parts"]


@pytest.mark.parametrize(
    ("ours", "theirs", "status"),
    [
        (("Boot0001", "Boot0002"), ("boot0001", "Boot0002"), Status.PASS),
        (("Boot0001", "Boot0009", "Boot0002"), ("Boot0001", "Boot0002"), Status.PASS),
        (("Boot0001", "Boot0002"), ("Boot0001",), Status.PASS),
        (("Boot0009", "Boot0001"), ("Boot0001",), Status.FAIL),
        (("Boot0001", "Boot0002"), ("Boot0003", "Boot0004"), Status.FAIL),
        (Absent("not booted by UEFI"), ("Boot0001",), Status.FAIL),
        (("Boot0001",), ("NIC.PxeDevice.1-1",), Status.UNKNOWN),
        (("Boot0001",), LOST, Status.UNKNOWN),
    ],
)
def test_two_boot_orders_are_one_where_they_begin_alike_and_keep_what_both_list_in_order(
    ours: Reading, theirs: Reading, status: Status
) -> None:
    assert verdicts({"os.boot.order": ours, "bmc.boot.order": theirs})["planes.boot_order"].status is status
