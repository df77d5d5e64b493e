"""The profiles of plain servers, and the fragments for what nodes of any kind have in common: run on every recorded
BMC and one recorded virtual machine, a finding is what the recording shows, and no missing fact is judged."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from command import rackcheck
from machines import put, tree
from recordings import OURS, leaves, os_probes, recorded
from trees import (
    ALL,
    DELL,
    DGX,
    DMTF,
    GB200,
    HPE_AMD,
    HPE_INTEL,
    LENOVO,
    SUPERMICRO,
    X10,
    bmc_probes,
    read,
    tree_leaves,
)

from rackcheck.evaluate.verdict import judge
from rackcheck.model import path as paths
from rackcheck.model.capture import BmcCapture
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.profile import Profile, Rule, Severity
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.profile import library

CATALOGUE = registry().catalogue
FRAGMENTS = (
    "bios-settled", "bmc-security", "dimms", "epyc-performance", "grace-host", "kubernetes-node", "nodes-alike", "nvme",
    "server-parts", "slurm-node", "virtualized-guest", "xeon-gpu-host", "xeon-performance",
)  # fmt: skip
ANY_SERVER = ("server-parts", "nvme", "nodes-alike", "bmc-health", "cross-plane")
SERVERS = {
    "xeon-server": ("xeon-performance", "dimms", *ANY_SERVER),
    "epyc-server": ("epyc-performance", "dimms", *ANY_SERVER),
    "grace-server": ("grace-host", *ANY_SERVER),
}


@cache
def profile(name: str, *values: tuple[str, str]) -> Profile:
    """A profile as shipped, with some params set."""
    return library.load(name, CATALOGUE, dict(values))


def judged(name: str, known: Tree, *values: tuple[str, str]) -> dict[str, Verdict]:
    """The verdict of each rule of a profile, except those across nodes, on one machine."""
    rules = [rule for rule in profile(name, *values).own if rule.across is None]
    return {v.rule: v for v in judge(rules, known)}


def node(facts: Mapping[str, Reading]) -> Tree:
    """A machine with only these known facts; a collection contains exactly the items that they name."""
    machine: Mapping[paths.Path, Reading] = {}
    for text, reading in facts.items():
        machine = put(machine, paths.parse(text), reading)
    return tree(machine, CATALOGUE)


def only(found: Mapping[str, Verdict], *statuses: Status) -> set[str]:
    return {rule for rule, verdict in found.items() if verdict.status in statuses}


# ---- their fragments -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_linux_server_and_its_fragments_and_who_made_its_cpus(name: str) -> None:
    parts = [{r.id: r for r in profile(part).own} for part in ("linux-server", *SERVERS[name])]
    whole = {rule_id: rule for part in parts for rule_id, rule in part.items()}
    ours = {rule.id: rule for rule in profile(name).own}
    assert set(whole) - set(ours) == set(profile(name).dropped)
    assert set(ours) - set(whole) == {"cpu.maker"}
    assert {i for i in whole if i in ours and ours[i].digest != whole[i].digest} == set()


def test_all_fragments_but_those_of_one_maker_go_together_over_a_node_with_gpus(tmp_path: Path) -> None:
    """No two of them define the same rule, or the same param differently."""
    for own in ("epyc-performance", "grace-host", "xeon-performance"):
        kept = [f for f in FRAGMENTS if f not in {"epyc-performance", "grace-host", "xeon-performance"} or f == own]
        file = tmp_path / "all.yaml"
        file.write_text(
            f"rackcheck: 1\nprofile: all\nversion: 1\nextends: linux-gpu-node@2026.11\ninclude: [{', '.join(kept)}]\n"
        )
        loaded = library.load(str(file), CATALOGUE)
        alone = [{rule.id for rule in profile(part).own} for part in ("linux-gpu-node", *kept)]
        assert {rule.id for rule in loaded.own} == set().union(*alone)


@pytest.mark.parametrize("name", [*FRAGMENTS, *SERVERS, "example-site"])
def test_what_captured_machines_alone_show_is_no_more_than_minor(name: str) -> None:
    shown = profile(name)
    only_shown = [r for r in shown.own if r.refs and all(ref.endswith(".capture") for ref in r.refs)]
    assert [r.id for r in only_shown if r.severity in {Severity.BLOCKER, Severity.MAJOR}] == (
        ["bios.active_cores"] if "grace" in name else []
    )


def test_every_rule_across_nodes_needs_three_quarters_and_is_no_blocker() -> None:
    rules = profile("nodes-alike").own
    assert {rule.across.quorum for rule in rules if rule.across is not None} == {75}
    own = {"nodes.addresses_unique", "nodes.cables_in_place", "nodes.hostnames_unique"}
    assert {rule.id for rule in rules if rule.across is None} == own
    assert all(rule.severity is not Severity.BLOCKER for rule in rules)
    assert {"alike.mitigations", "alike.panic"} == {rule.id for rule in rules if rule.from_memory}


# ---- recorded BMCs ---------------------------------------------------------------------------------------------------

FINDINGS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("xeon-performance", DELL): {},
    ("xeon-performance", HPE_INTEL): {
        "bios.p_state_control": "firmware", "bios.energy_bias": "balanced-performance", "bios.upi_link_power": "enabled",
        "bios.c_states": "enabled", "bios.c1e": "enabled", "bios.memory_speed": "auto",
    },
    ("xeon-performance", LENOVO): {
        "bios.power_profile": "balanced-performance", "bios.p_state_control": "hardware",
        "bios.uncore_frequency": "enabled", "bios.upi_link_power": "enabled", "bios.c_states": "enabled",
        "bios.c1e": "enabled", "bios.above_4g": "auto",
    },
    ("epyc-performance", HPE_AMD): {
        "bios.workload_profile": "general-per-watt", "bios.determinism": "auto", "bios.package_power_limit": "auto",
        "bios.apbdis": "disabled", "bios.fabric_p_state": "auto",
    },
    ("grace-host", GB200): {"bios.no_uefi_shell": "Enabled"},
    ("xeon-gpu-host", DGX): {},
    ("xeon-gpu-host", SUPERMICRO): {"host.edpc": "disabled"},
    ("xeon-gpu-host", LENOVO): {"host.acs": "enabled"},
    ("xeon-gpu-host", HPE_INTEL): {"host.acs": "enabled"},
    ("xeon-gpu-host", DELL): {},
}  # fmt: skip
"""All that fails on each recorded machine that a fragment may be for, and the word in its BIOS."""

SILENT = re.compile(r"none of \d+ attributes matches|has no value|this BMC has no|is null or missing|HTTP 404")
"""Reasons of facts that their BMC does not report."""


@pytest.mark.parametrize(("name", "machine"), FINDINGS)
def test_failures_on_a_recorded_machine_are_exactly_those_of_its_bios(name: str, machine: str) -> None:
    found = judged(name, Tree(tree_leaves(machine)))
    failed = only(found, Status.FAIL, Status.WARN)
    assert failed == set(FINDINGS[name, machine])
    for rule, word in FINDINGS[name, machine].items():
        assert f"is {word}, must" in found[rule].reason


def bmc_only(rule: Rule) -> bool:
    return rule.planes == {Plane.BMC}


@pytest.mark.parametrize(("name", "machine"), [*FINDINGS, *(("bmc-security", machine) for machine in ALL)])
def test_unknowns_on_a_recorded_bmc_are_the_values_it_does_not_report(name: str, machine: str) -> None:
    found = judged(name, Tree(tree_leaves(machine)))
    unknown = [rule for rule in profile(name).own if found[rule.id].status is Status.UNKNOWN]
    assert [(r.id, found[r.id].reason) for r in unknown if bmc_only(r) and not SILENT.search(found[r.id].reason)] == []
    # The rest needs the operating system, which is not read here.
    waits = [found[r.id].reason for r in unknown if not bmc_only(r)]
    assert all("no collected source reports it" in reason for reason in waits)


TELNET, IPMI, NTP = "security.no_telnet", "security.no_ipmi", "security.time_server"
OPEN: Mapping[str, set[str]] = {
    DELL: {IPMI, NTP}, DGX: {IPMI}, SUPERMICRO: {IPMI, NTP}, LENOVO: {NTP}, GB200: {IPMI}, DMTF: {TELNET, IPMI},
    X10: {IPMI}, "nvidia-bluefield3-dpu": {IPMI},
}  # fmt: skip


@pytest.mark.parametrize("machine", ALL)
def test_a_bmc_is_found_open_where_its_services_show_it_and_fails_for_telnet_alone(machine: str) -> None:
    found = judged("bmc-security", Tree(tree_leaves(machine)))
    assert only(found, Status.FAIL, Status.WARN) == OPEN.get(machine, set())
    assert only(found, Status.FAIL) <= {TELNET}


# ---- a tuned copy ----------------------------------------------------------------------------------------------------

BIOS = "/redfish/v1/Systems/1/Bios"
TUNED = {
    "WorkloadProfile": ("bios.workload_profile", "HighPerformanceCompute(HPC)"),
    "DeterminismControl": ("bios.determinism", "DeterminismCtrlManual"),
    "PackagePowerLimitControlMode": ("bios.package_power_limit", "Manual"),
    "ApplicationPowerBoost": ("bios.apbdis", "Disabled"),
    "InfinityFabricPstate": ("bios.fabric_p_state", "P0"),
}
"""Attributes of the recorded EPYC server: the rule that reads it, and what it must be, in the words of its registry."""


@cache
def epyc() -> BmcCapture:
    return read(HPE_AMD, None, "bmc_bios")


def altered(changes: Mapping[str, object]) -> dict[str, Verdict]:
    """The verdicts on the recorded EPYC server with some BIOS attributes changed, now and for the next boot."""
    bodies = dict(epyc().bodies)
    for uri, body in epyc().bodies.items():
        if uri.lower().startswith(BIOS.lower()) and isinstance(body, Mapping) and "Attributes" in body:
            attributes = body["Attributes"]
            assert isinstance(attributes, Mapping)
            assert set(changes) <= set(attributes)
            bodies[uri] = {**body, "Attributes": {**attributes, **changes}}
    probe = bmc_probes()["bmc_bios"]
    return judged("epyc-performance", Tree(collect([probe], BmcCapture(bodies))))


def test_an_epyc_server_set_as_amd_recommends_fails_nothing() -> None:
    assert only(altered({}), Status.FAIL) == {rule for rule, _ in TUNED.values()}
    assert only(altered({a: value for a, (_, value) in TUNED.items()}), Status.FAIL) == set()


@pytest.mark.parametrize("attribute", TUNED)
def test_each_setting_of_an_epyc_server_mends_its_own_rule_and_no_other(attribute: str) -> None:
    rule, value = TUNED[attribute]
    assert only(altered({}), Status.FAIL) - only(altered({attribute: value}), Status.FAIL) == {rule}


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"MinProcIdlePower": "NoCStates"}, "bios.c_states"),
        ({"DataFabricCStateEnable": "ForceEnabled"}, "bios.df_c_states"),
        ({"TransparentSecureMemoryEncryption": "Enabled"}, "bios.memory_encryption"),
    ],
)
def test_a_setting_that_amd_warns_of_is_found(changes: Mapping[str, str], rule: str) -> None:
    assert only(altered(changes), Status.FAIL) - only(altered({}), Status.FAIL) == {rule}


@pytest.mark.parametrize(("model", "status"), [("AMD EPYC 9654 96-Core Processor", "fail"), ("AMD EPYC 7763", "n/a")])
def test_generation_4_is_a_finding_where_the_processor_has_5_only(model: str, status: str) -> None:
    known = node({"cpu.model": model, "bios.pcie_generation": "4"})
    assert judged("epyc-performance", known)["bios.pcie_generation"].status == status


@pytest.mark.parametrize(
    ("sr_iov", "pci", "status"),
    [
        ("disabled", Absent("no pci among cmdline.argument"), "fail"),
        ("disabled", "realloc=off", "pass"),
        ("disabled", "nommconf,realloc=off", "pass"),
        ("disabled", "realloc", "fail"),
        ("enabled", Absent("no pci among cmdline.argument"), "pass"),
        (Unknown(Reason.NOT_COLLECTED, "no BMC"), "realloc", "unknown"),
    ],
)
def test_amd_gpus_without_sr_iov_want_the_kernel_to_leave_their_windows(
    sr_iov: Reading, pci: Reading, status: str
) -> None:
    known = {"module/amdgpu.loaded": True, "bios.sr_iov": sr_iov, "cmdline.argument/pci.value": pci}
    assert judged("epyc-performance", node(known))["kernel.pci_realloc"].status == status


# ---- a recorded virtual machine --------------------------------------------------------------------------------------


@cache
def debian() -> Tree:
    """A small Debian guest, from each probe's own recording."""
    found: dict[str, Leaf] = {}
    for name, probe in os_probes().items():
        place = OURS / name / "debian-vm.json"
        if place.exists():
            found |= leaves(probe, recorded(place)[0])
    return Tree(found)


@pytest.mark.parametrize(
    ("name", "failed", "warned"),
    [
        ("virtualized-guest", set(), set()),
        ("nvme", set(), set()),
        ("kubernetes-node", {"k8s.forwards"}, set()),
        ("slurm-node", set(), set()),
        (
            "linux-server",
            set(),
            {
                "cpu.mitigated", "memory.swappiness", "memory.mappings", "limits.open_files", "net.receive_buffer",
                "net.send_buffer",
            },
        ),
    ],
)  # fmt: skip
def test_a_small_untuned_guest_fails_and_warns_as_expected(name: str, failed: set[str], warned: set[str]) -> None:
    found = judged(name, debian())
    assert (only(found, Status.FAIL), only(found, Status.WARN)) == (failed, warned)
    unknown = {rule: found[rule].reason for rule in only(found, Status.UNKNOWN)}
    assert all(
        re.search(
            r"no collected source|not found|Host is down|no memory controller has an EDAC driver|no pstore is mounted"
            r"|lists no CPU sensors",
            why,
        )
        for why in unknown.values()
    ), unknown


@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("os.environment/NCCL_TOPO_FILE.value", "pass"),
        ("os.nccl_conf/NCCL_TOPO_FILE.value", "pass"),
        ("os.environment/NCCL_DEBUG.value", "fail"),
    ],
)
def test_the_topology_file_of_nccl_in_a_guest_is_found_in_either_place(place: str, status: str) -> None:
    nowhere = {"os.environment": (), "os.nccl_conf": ()}
    found = judged("virtualized-guest", node({**nowhere, place: "/opt/topo.xml"}), ("nccl_topology", "/opt/topo.xml"))
    assert found["guest.nccl_topology"].status == status
    assert judged("virtualized-guest", node(nowhere))["guest.nccl_topology"].status is Status.NA


# ---- drives, pods, jobs ----------------------------------------------------------------------------------------------


def case(probes: Iterable[str], name: str = "written") -> dict[str, Leaf]:
    """Recordings of several probes, as of one machine."""
    found: dict[str, Leaf] = {}
    for probe in probes:
        found |= leaves(os_probes()[probe], recorded(OURS / probe / f"{name}.json")[0])
    return found


def laid(facts: Mapping[str, Reading], below: Mapping[str, Leaf]) -> Tree:
    """Facts that replace those of a recording."""
    made = node(facts)
    listed = [str(path) for path in map(paths.parse, facts)]
    held = {text: made.leaf(paths.parse(text)) for text in listed}
    return Tree({**below, **{text: leaf for text, leaf in held.items() if leaf is not None}})


def health_of_drives(known: Tree) -> dict[str, Verdict]:
    """The verdicts on the drives' own reports of damage."""
    return {i: verdict for i, verdict in judged("hardware-health", known).items() if i.startswith("nvme.")}


def test_a_worn_drive_is_found_and_an_inaccessible_one_is_unknown() -> None:
    health = {path: leaf.reading for path, leaf in case(["nvme_health"], "worn-and-refused").items()}
    drives = {f"nvme/nvme{n}.transport": "pcie" for n in (0, 1)}
    known = node({**{p: r for p, r in health.items() if p.startswith(("nvme/nvme0.", "nvme/nvme1."))}, **drives})
    found = judged("nvme", known) | health_of_drives(known)
    assert only(found, Status.FAIL) == {"nvme.no_warning", "nvme.no_media_error", "nvme.wear"}
    assert only(found, Status.WARN) == {"nvme.not_too_hot", "nvme.cool"}
    refused = node({p: r for p, r in {**health, **drives}.items() if p.startswith("nvme/nvme1.")})
    assert {"nvme.no_warning", "nvme.no_media_error", "nvme.wear", "nvme.not_too_hot"} <= only(
        judged("nvme", refused) | health_of_drives(refused), Status.UNKNOWN
    )


@pytest.mark.parametrize(("used", "status"), [(0.0, "pass"), (90.0, "pass"), (91.0, "warn"), (100.0, "fail")])
def test_a_drive_warns_before_its_rated_life_is_over(used: float, status: str) -> None:
    known = node({"nvme/nvme0.transport": "pcie", "nvme/nvme0.health.used": used})
    assert judged("nvme", known)["nvme.wear"].status == status


SLURM = ("slurm", "slurm_node", "slurm_ping")


def test_a_node_that_slurm_uses_as_written_passes_and_the_gpu_type_is_a_site_value() -> None:
    found = judged("slurm-node", Tree(case(SLURM)), ("slurm_gres", "gpu:h100:8*"), ("slurm", "23.11.7"))
    written = {"devices_confined", "cores_confined", "memory_confined", "processes_tracked", "tasks_confined"}
    asked = {f"slurm.{word}" for word in (*written, "in_use", "controllers", "gres", "version")}
    assert {rule: found[rule].reason for rule in asked if found[rule].status is not Status.PASS} == {}


@pytest.mark.parametrize(
    ("fact", "reading", "rule"),
    [
        ("scheduler.slurm.node.marks", ("DRAIN",), "slurm.in_use"),
        ("scheduler.slurm.node.state", "DOWN", "slurm.in_use"),
        ("scheduler.slurm.constrain_devices", "no", "slurm.devices_confined"),
        ("scheduler.slurm.constrain_devices", Absent("not in cgroup.conf"), "slurm.devices_confined"),
        ("scheduler.slurm.task_plugin", "task/affinity", "slurm.tasks_confined"),
        ("scheduler.slurm.proctrack_type", "proctrack/linuxproc", "slurm.processes_tracked"),
        ("scheduler.slurm.controllers.up", 0, "slurm.controllers"),
        ("scheduler.slurm.node.gres", "gpu:h100:7(S:0-1)", "slurm.gres"),
    ],
)
def test_what_keeps_slurm_from_using_a_node_well_is_found_alone(fact: str, reading: Reading, rule: str) -> None:
    below, values = case(SLURM), ("slurm_gres", "gpu:h100:8*")
    before, after = (
        judged("slurm-node", Tree(below), values),
        judged("slurm-node", laid({fact: reading}, below), values),
    )
    assert only(after, Status.FAIL) - only(before, Status.FAIL) == {rule}


def test_a_node_that_gets_slurms_files_from_its_controller_skips_their_rules() -> None:
    found = judged("slurm-node", debian())
    assert found["slurm.devices_confined"].status is Status.NA
    assert found["slurm.processes_tracked"].status is Status.NA


@pytest.mark.parametrize(("driver", "status"), [("570.86.15", "pass"), ("570.86.10", "fail")])
def test_containers_that_would_bring_another_driver_in_are_found(driver: str, status: str) -> None:
    known = node({"container.cdi/nvidia.driver": "570.86.15", "driver.version": driver})
    assert judged("kubernetes-node", known)["k8s.cdi_driver"].status == status


@pytest.mark.parametrize(
    ("days", "status"), [(-1, "fail"), (0, "warn"), (13, "warn"), (14, "pass"), (400, "pass")]
)  # fmt: skip
def test_a_certificate_warns_two_weeks_before_it_expires(days: int, status: str) -> None:
    found = judged("bmc-security", node({"bmc.certificate.days_left": days}))
    assert found["security.certificate_valid"].status == status


# ---- Grace -----------------------------------------------------------------------------------------------------------

GRACE: Sequence[tuple[str, Mapping[str, Reading], str]] = (
    ("kernel.page_size", {"memory.page_size": 4.0}, "fail"),
    ("kernel.page_size", {"memory.page_size": 64.0}, "pass"),
    ("kernel.no_zeroing", {"cmdline.argument/init_on_alloc.value": "1"}, "fail"),
    ("kernel.no_zeroing", {"cmdline.argument/init_on_alloc.value": "0"}, "pass"),
    ("kernel.no_zeroing", {"cmdline.argument": ()}, "fail"),
    ("memory.huge_pages_by_request", {"memory.page_size": 64.0, "memory.thp.mode": "always"}, "warn"),
    ("memory.huge_pages_by_request", {"memory.page_size": 4.0, "memory.thp.mode": "always"}, "n/a"),
    ("services.off_gpu_memory", {"numa.without_cpus": (), "os.systemd.numa_policy": Absent("not set")}, "n/a"),
    ("services.off_gpu_memory", {"numa.without_cpus": ("2",), "os.systemd.numa_policy": Absent("not set")}, "fail"),
    ("services.off_gpu_memory", {"numa.without_cpus": ("2",), "os.systemd.numa_policy": "bind"}, "pass"),
    ("services.irqbalance_off", {"service": ()}, "n/a"),
    ("services.irqbalance_off", {"service/irqbalance.active": "active"}, "warn"),
    ("services.irqbalance_off", {"service/irqbalance.active": "inactive"}, "pass"),
)


@pytest.mark.parametrize(("rule", "known", "status"), GRACE)
def test_the_host_side_of_grace(rule: str, known: Mapping[str, Reading], status: str) -> None:
    assert judged("grace-host", node(known))[rule].status == status


def test_settings_right_on_x86_and_wrong_on_grace_are_tested_on_x86_alone() -> None:
    facts = {str(path) for rule in profile("grace-server").own for path in rule.facts()}
    assert facts & {"bios.acs", "bios.pcie_aspm", "bios.ten_bit_tag"} == set()
    assert (
        judged("grace-host", Tree(tree_leaves(GB200)), ("active_cores", "144"))["bios.active_cores"].status
        is Status.PASS
    )
    assert (
        judged("grace-host", Tree(tree_leaves(GB200)), ("active_cores", "72"))["bios.active_cores"].status
        is Status.FAIL
    )


# ---- the example -----------------------------------------------------------------------------------------------------


def test_the_example_of_a_site_shows_each_thing_that_a_site_does_once() -> None:
    shown, parent = profile("example-site"), profile("linux-server")
    before = {rule.id: rule for rule in parent.own}
    after = {rule.id: rule for rule in shown.own}
    assert set(shown.dropped) == {"limits.open_files"} == set(before) - set(after)
    assert {i for i in after if i in before and after[i].severity != before[i].severity} == {"time.synchronized"}
    assert "numa.zone_reclaim" in set(after) - set(before)
    assert [rule.id for rule in shown.own if rule.unset] == []
    changed = {i for i in after if i in before and after[i].digest != before[i].digest}
    assert changed == {"time.synchronized", "memory.swappiness", "mount.space", "mount.inodes"}


@pytest.mark.parametrize("name", [*FRAGMENTS, *SERVERS, "example-site"])
def test_profile_check_reports_no_problem_in_it(name: str) -> None:
    done = rackcheck("profile", "check", name)
    assert (done.status, done.err) == (0, ""), done.err


def test_an_audit_reports_rules_with_unset_site_values_as_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    done = rackcheck("audit", "localhost", "-p", "xeon-server", "--planes", "os", "--json", "-q")
    verdicts = {v["rule"]: v for node in json.loads(done.out)["nodes"].values() for v in node["verdicts"]}
    assert verdicts["parts.cpu_sockets"]["reason"] == "site value not set: cpu_sockets"
