"""The simulated DGX H100 as data: it answers every probe, in the format of recorded machines, and is healthy."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest
from gpu_driver import by_index
from recordings import shared_text
from sim_replies import DGX_H100, PROBES, TIME, captures_of, leaves_of, node
from trees import DELL, DGX, LENOVO, tree
from trees import tree_leaves as recorded_dgx

import rackcheck_probes
from rackcheck.base.user_error import UserError
from rackcheck.evaluate.consensus import poll
from rackcheck.evaluate.verdict import in_scope, judge, misfit
from rackcheck.model.capture import BmcCapture, NodeCapture, Output, named
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Class, Plane, Reason, Unknown
from rackcheck.model.path import spell_key
from rackcheck.model.profile import Phase, Rule, Scope
from rackcheck.model.question import Read, Shell
from rackcheck.model.resource import ROOT, same_place
from rackcheck.model.text import covers
from rackcheck.model.tree import Tree
from rackcheck.parse.bmc.reading_kind import LISTED
from rackcheck.probe.collect import collect
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.document import BadFile
from rackcheck.run.event import Answered
from rackcheck.run.run_writer import RunWriter
from rackcheck.run.simulated_run import MARKED_FILE
from rackcheck.sim import machine
from rackcheck.sim.machine_patterns import BadPattern, expanded
from rackcheck_probes.gpu.nvml import reply_of as said_of_gpus

CLOCK = 'echo "$RACKCHECK_SENT $RACKCHECK_CLOCK"'
"""Answered by the server, whose clock it reads."""

SILENT = {
    "time.offset": "the server answers it",
    "bios.pcie_aspm": "no attribute of this BIOS reports it",
    "fan/*.duty": "this BMC returns RPM instead of a share of full speed",
    "psu/*.capacity": "its power supplies do not report it",
    "cpu.socket/*.serial": "its firmware cannot read it",
    "cpu.socket/*.part_number": "its firmware cannot read it",
    "node.psu/*.model": "its firmware has placeholders",
    "node.psu/*.manufacturer": "its firmware has placeholders",
    "node.psu/*.serial": "its firmware has placeholders",
    "node.psu/*.part_number": "its firmware has placeholders",
    "bmc.cpu/*.family_model": "its processors do not report it",
    "bmc.cpu/*.firmware": "its processors do not report it",
    "bmc.cpu/*.instructions": "its processors do not report it",
    "bmc.cpu/*.part_number": "its processors do not report it",
    "bmc.cpu/*.slot": "its processors do not report it",
    "bmc.cpu/*.speed": "its processors do not report it",
    "bmc.cpu/*.stepping": "its processors do not report it",
    "bmc.cpu/*.version": "its processors do not report it",
    "bmc.dimm/*.slot": "its memory modules do not report it",
    "firmware.battery": "it has no such component",
    "firmware.component/*.lowest": "its firmware inventory does not report it",
    "firmware.component/*.manufacturer": "its firmware inventory does not report it",
    "firmware.component/*.released": "its firmware inventory does not report it",
    "firmware.component/*.software_id": "its firmware inventory does not report it",
    "firmware.component/*.write_protected": "its firmware inventory does not report it",
    "firmware.video": "it has no such component",
    "psu/*.efficiency": "its power supplies do not report it",
    "psu/*.hot_pluggable": "its power supplies do not report it",
    "psu/*.input_type": "its power supplies do not report it",
    "psu/*.slot": "its power supplies do not report it",
    "psu/*.spare_part": "its power supplies do not report it",
    "psu/*.type": "its power supplies do not report it",
    "bmc.system/HGX_Baseboard_0.model": "the baseboard's system does not report it",
    "bmc.system/HGX_Baseboard_0.serial": "the baseboard's system does not report it",
    "bmc.system/HGX_Baseboard_0.sku": "the baseboard's system does not report it",
    "bmc.system/HGX_Baseboard_0.bios_version": "the baseboard's system has no BIOS",
    "bmc.manager/HGX_FabricManager_0.model": "a service, not a controller",
    "bmc.manager/HGX_FabricManager_0.firmware": "a service, not a controller",
    "bmc.manager/HGX_FabricManager_0.time": "a service, not a controller",
    "bmc.manager/HGX_FabricManager_0.offset": "a service, not a controller",
}
"""What the machine does not report, because the recorded DGX H100 does not."""

UNSERVED = (
    "bmc.dimm/*.firmware",
    "bmc.gpu/*.slot",
    "sensor/*.health",
    "bios.above_4g",
    "bios.acs",
    "bios.active_cores",
    "bios.apbdis",
    "bios.boot_mode",
    "bios.c1e",
    "bios.csm",
    "bios.determinism",
    "bios.determinism_control",
    "bios.df_c_states",
    "bios.egm",
    "bios.energy_efficient_turbo",
    "bios.epp",
    "bios.fabric_p_state",
    "bios.fan_mode",
    "bios.hardware_p_states",
    "bios.llc_as_numa",
    "bios.memory_interleave",
    "bios.memory_interleave_size",
    "bios.memory_refresh",
    "bios.memory_speed",
    "bios.mmio_high_base",
    "bios.mmio_high_size",
    "bios.monitor_mwait",
    "bios.node_interleave",
    "bios.nps",
    "bios.numa_group_size",
    "bios.p_state_control",
    "bios.p_states",
    "bios.package_power_limit_control",
    "bios.patrol_scrub",
    "bios.patrol_scrub_interval",
    "bios.pcie_generation",
    "bios.pcie_width",
    "bios.post_watchdog",
    "bios.power_cap_mode",
    "bios.power_profile",
    "bios.power_restore",
    "bios.pxe",
    "bios.resizable_bar",
    "bios.snc",
    "bios.tpm_visibility",
    "bios.trusted_execution",
    "bios.uncore_frequency_scaling",
    "bios.upi_link_power",
    "bios.upi_prefetch",
    "bios.watchdog",
    "bios.x2apic",
    "bios.xpt_prefetch",
    "bmc.boot.mode",
    "bmc.boot.progress",
    "bmc.chassis/*.asset_tag",
    "bmc.chassis/*.manufacturer",
    "bmc.chassis/*.model",
    "bmc.chassis/*.part",
    "bmc.chassis/*.power_state",
    "bmc.chassis/*.serial",
    "bmc.chassis/*.sku",
    "bmc.chassis/*.slot",
    "bmc.chassis/*.type",
    "bmc.cpu/*.max_speed",
    "bmc.cpu/*.microcode",
    "bmc.cpu/*.model",
    "bmc.cpu/*.serial",
    "bmc.dimm/*.ecc",
    "bmc.dimm/*.locator",
    "bmc.gpu/*.nvlink_speed",
    "bmc.gpu/*.nvlinks",
    "bmc.gpu/*.nvlinks_up",
    "bmc.gpu/*.speed_limit",
    "bmc.gpu/*.speed_locked",
    "bmc.drive",
    "bmc.integrity",
    "bmc.interface",
    "bmc.location.building",
    "bmc.location.offset",
    "bmc.location.rack",
    "bmc.location.room",
    "bmc.location.row",
    "bmc.log",
    "bmc.manager/*.interface",
    "bmc.manager/*.ntp.enabled",
    "bmc.manager/*.ntp.servers",
    "bmc.manager/*.service",
    "bmc.manager/*.timezone",
    "bmc.manager/*.utc_offset",
    "bmc.nic",
    "bmc.nvswitch",
    "bmc.part_log",
    "bmc.pcie",
    "bmc.pcie_switch",
    "bmc.power.capacity",
    "bmc.power.chassis",
    "bmc.power.consumed",
    "bmc.power.control",
    "bmc.report.*",
    "bmc.retimer",
    "bmc.sensor/*.context",
    "bmc.task",
    "bmc.thermal.inlet",
    "bmc.thermal.outlet",
    "bmc.tpm",
    "firmware.backplane",
    "firmware.cpu",
    "firmware.drive",
    "firmware.me",
    "firmware.nic",
    "firmware.riser",
    "firmware.storage",
    "firmware.tpm",
    "leak",
    "psu/*.input_power",
    "psu/*.input_voltage",
    "psu/*.output_power",
    "sensor/*.critical",
    "sensor/*.headroom",
    "sensor/*.kind",
    "sensor/*.temperature",
    "sensor/*.warning",
)
"""What the simulated BMC does not serve, though recorded BMCs report it; the facts are known from their trees."""


def reading(path: str) -> Any:
    return by_index(leaves_of())[path].reading


# The machine: complete and healthy


def test_every_question_to_the_operating_system_has_a_reply() -> None:
    host = node().host
    for probe in PROBES:
        if isinstance(probe.ask, Shell):
            command = named(probe.ask.command)
            assert command == CLOCK or command in host.commands, probe.name
        elif isinstance(probe.ask, Read):
            places = (*host.files, *host.refused, MARKED_FILE)
            assert any(covers(glob, path) for glob in probe.ask.globs for path in places), probe.name


def test_every_command_it_answers_is_one_that_probes_run() -> None:
    questions = {named(probe.ask.command) for probe in PROBES if isinstance(probe.ask, Shell)}
    assert set(node().host.commands) <= questions
    assert all(answer.status == 0 for answer in node().host.commands.values() if isinstance(answer, Output))


def test_nothing_that_a_probe_promises_is_unknown_but_what_the_real_machine_keeps_to_itself() -> None:
    unknown = {path: leaf.reading for path, leaf in leaves_of().items() if isinstance(leaf.reading, Unknown)}
    silent = (*SILENT, *UNSERVED)
    assert {path: why for path, why in unknown.items() if not any(fnmatchcase(path, p) for p in silent)} == {}
    assert [p for p in silent if not any(fnmatchcase(path, p) for path in unknown)] == []


def test_no_probe_promises_an_item_that_this_machine_has_none_of() -> None:
    empty = {path for path, leaf in leaves_of().items() if leaf.reading == () and leaf.kind.type.value == "collection"}
    logged = {"aer", "amdgpu", "disk", "filesystem", "iommu", "mlx5", "nvme", "pcie", "raid"}
    healthy = {
        "bios.pending",
        "bmc.beyond",
        "bmc.cxl_memory",
        "bmc.near",
        "bmc.unhealthy",
        "log.xid",
        "log.sxid",
        "log.boot.xid",
        "log.boot.sxid",
    }
    healthy |= {f"log.kernel.{kind}" for kind in logged}
    assert empty == healthy | {"cpu.grace", "gpu.amd", "os.rocm", "driver.imex.setting", "storage.zpool"} | {
        f"bmc.sensor.{kind}" for kind in LISTED if kind not in ("temperature", "headroom")
    }


def verdicts(name: str) -> dict[str, Any]:
    profile = library.load(name, registry().catalogue)
    planes = frozenset({Plane.OS, Plane.BMC, Plane.DERIVED})
    rules = [r for r in profile.own if r.scope is Scope.NODE and in_scope(r, "compute", planes, frozenset(Phase))]
    tree = Tree({**leaves_of(), **derive(registry().joins, Tree(leaves_of()))})
    alike = {r.id: poll(r.across, dict.fromkeys("abcd", tree), 4) for r in rules if r.across is not None}
    return {v.rule: v for v in judge(rules, tree, polls=alike)}


def test_the_profile_for_any_machine_finds_it_well() -> None:
    found = verdicts("linux-server")
    assert {rule: v for rule, v in found.items() if v.status not in {Status.PASS, Status.NA}} == {}
    assert sum(v.status is Status.PASS for v in found.values()) > 30


OTHERS: Mapping[str, str] = {
    "epyc": "AMD's processors", "gb200": "Grace", "gh200": "Grace", "grace": "Grace", "h200": "H200",
    "hgx-h200": "H200", "mi300x": "AMD's GPUs", "virtualized": "a guest", "kubernetes": "a kubelet", "slurm": "Slurm",
    "example": "another site", "xeon": "no NVIDIA BIOS: its power settings are the maker's",
    "bmc-security": "a certificate whose days are counted from the day of the recording",
}  # fmt: skip
"""Profiles for other machines, or for parts that this one lacks, by the beginning of their name."""

WARNINGS = {"limits.services_locked_memory": "services have the limit of Ubuntu, and Slurm's unit has its own"}
"""Advisory rules that this machine breaks, and why it is healthy."""


@pytest.mark.parametrize("name", sorted(library.profiles()))
def test_no_shipped_profile_that_fits_finds_a_fault(name: str) -> None:
    if misfit(library.load(name, registry().catalogue), reading("node.product"), "compute"):
        pytest.skip("made for another machine")
    why = next((why for begins, why in OTHERS.items() if name.startswith(begins)), None)
    if why is not None:
        pytest.skip(f"made for another machine: {why}")
    found = {r: v for r, v in verdicts(name).items() if v.status not in {Status.PASS, Status.NA, Status.UNKNOWN}}
    assert {r: v for r, v in found.items() if v.status is not Status.WARN or r not in WARNINGS} == {}


@pytest.mark.parametrize("name", ["linux-server", "linux-gpu-node", "h100-dgx"])
def test_what_a_profile_cannot_know_of_it_cannot_be_known_of_the_recorded_dgx_either(name: str) -> None:
    profile = library.load(name, registry().catalogue)
    recorded = judge([r for r in profile.own if Plane.BMC in r.planes and not r.across], Tree(recorded_dgx(DGX)))
    unknown = {v.rule for v in recorded if v.status is Status.UNKNOWN}
    unserved = {rule.id for rule in profile.own if rule.unknown_is_minor and _unserved(rule)}
    assert {r for r, v in verdicts(name).items() if v.status is Status.UNKNOWN} - {"time.near"} - unserved <= unknown


def _unserved(rule: Rule) -> bool:
    """Whether a rule judges items that the simulated BMC does not serve."""
    look = rule.look
    return look is not None and any(str(each) in UNSERVED for each in look.collection.item("*").collections)


def test_a_rule_is_broken_where_the_machine_is() -> None:
    files = {**node().host.files, "/proc/sys/kernel/numa_balancing": "1\n"}
    host, _ = captures_of(replace(node(), host=replace(node().host, files=files)))
    profile = library.load("linux-server", registry().catalogue)
    broken = {v.rule for v in judge(profile.own, Tree(collect(PROBES, host))) if v.status is Status.FAIL}
    assert broken == {"numa.balancing_off"}


def test_it_is_the_machine_that_the_facts_describe() -> None:
    assert reading("cpu.model").endswith("Platinum 8480C")
    assert [reading(f"cpu.{n}") for n in ("sockets", "cores_per_socket", "threads")] == [2, 56, 224]
    assert (reading("numa.nodes"), reading("cpu.smt")) == (2, True)
    assert 0.97 < reading("memory.total") / 2048 < 1
    assert sum(reading(f"numa.node/{n}.memory") for n in (0, 1)) == pytest.approx(reading("memory.total"))
    kinds = Counter(reading(f"pcie/{spell_key(at)}.device") for at in reading("pcie"))
    assert [kinds[device] for device in ("0x2330", "0x22a3", "0x1021")] == [8, 4, 12]
    links = [f"nic/{device}.port/1" for device in reading("nic")]
    infiniband = [link for link in links if reading(f"{link}.link_layer") == "InfiniBand"]
    assert len(infiniband) == 8
    assert {reading(f"{link}.rate") for link in infiniband} == {400}
    memory = [b for uri, b in node().bmc.bodies.items() if "/Systems/DGX/Memory/" in uri]
    assert Counter((b["CapacityMiB"], b["OperatingSpeedMhz"]) for b in memory if isinstance(b, dict)) == {
        (65536, 4400): 32
    }


def test_both_planes_describe_one_machine() -> None:
    assert reading("node.serial") == reading("bmc.system/DGX.serial")
    assert reading("os.bios.version") == reading("firmware.bios")
    assert reading("driver.version") == reading("driver.fabric_manager") == reading("module/nvidia.version")
    for index in range(8):
        body = node().bmc.bodies[f"{ROOT}/Systems/HGX_Baseboard_0/Processors/GPU_SXM_{index + 1}"]
        assert isinstance(body, dict)
        assert reading(f"gpu/{index}.serial") == body["SerialNumber"]
        assert reading(f"gpu/{index}.uuid") == f"GPU-{body['UUID']}"
        assert reading(f"gpu/{index}.vbios") == body["FirmwareVersion"]


def test_nothing_waits_for_a_reboot_and_every_attribute_is_there_twice() -> None:
    now, later = (node().bmc.bodies[f"{ROOT}/Systems/DGX/{place}"] for place in ("Bios", "Bios/SD"))
    assert isinstance(now, dict)
    assert isinstance(later, dict)
    assert now["Attributes"] == later["Attributes"]


# Shapes


def test_the_gpus_are_at_the_bus_addresses_and_in_the_form_of_nvidia_smi() -> None:
    bus = {at for at in reading("pcie") if reading(f"pcie/{spell_key(at)}.class") == "0x030200"}
    listed = re.findall(r"^bus (0000:\S+)$", _gpu_answer(), re.MULTILINE)
    assert {reading(f"gpu/{n}.pci") for n in range(8)} == bus == set(listed)
    recorded = shared_text("nvidia/nvidia-smi-qx-h100.xml")
    assert set(re.findall(r"<product_name>(.*?)</product_name>", recorded)) == {reading("gpu/0.name")}
    mebibytes = re.search(r"<fb_memory_usage>\s*<total>(\d+) MiB", recorded)
    assert mebibytes is not None
    assert reading("gpu/0.memory.total") * 1024 == int(mebibytes[1])
    address = r"00000000:[0-9A-F]{2}:00\.0"
    by_driver = f'"pci": {{"value": "{address}'
    assert len(set(re.findall(address, recorded))) == len(set(re.findall(by_driver, _gpu_answer()))) == 8
    serial, uuid = (re.search(f"<{tag}>(.*?)</{tag}>", recorded) for tag in ("serial", "uuid"))
    assert serial is not None
    assert uuid is not None
    assert len(reading("gpu/0.serial")) == len(serial[1])
    assert [len(p) for p in reading("gpu/0.uuid").split("-")] == [len(p) for p in uuid[1].split("-")]


def _gpu_answer() -> str:
    gpu = next(probe for probe in PROBES if probe.name == "gpu")
    assert isinstance(gpu.ask, Shell)
    answer = node().host.output(gpu.ask)
    assert isinstance(answer, Output)
    return answer.out


def test_the_line_about_each_gpu_has_the_keys_that_the_probe_reads() -> None:
    source = (Path(rackcheck_probes.__path__[0]) / "payload" / "nvml.py").read_text()
    about = next(n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == "about")
    table = next(n for n in ast.walk(about) if isinstance(n, ast.Dict))
    keys = {k.value for k in table.keys if isinstance(k, ast.Constant)}
    answer = said_of_gpus(_gpu_answer().splitlines())
    assert len(answer["gpus"]) == 8
    assert all(set(gpu) == keys for gpu in answer["gpus"])


def shape(value: object, at: str = "") -> Iterator[tuple[str, str]]:
    """Every place inside a body, with its type; members of lists are one place."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    yield at, "number" if number else type(value).__name__
    parts = value.items() if isinstance(value, dict) else (("*", v) for v in value) if isinstance(value, list) else ()
    for key, inner in parts:
        yield from shape(inner, f"{at}/{key}")


def test_every_resource_and_property_is_one_of_the_recorded_dgx_with_the_same_type() -> None:
    recorded = machine.from_tree(tree(DGX)).bodies
    strange = []
    for uri, body in node().bmc.bodies.items():
        types: dict[str, set[str]] = {}
        for at, kind in shape(recorded.get(uri)):
            types.setdefault(at, set()).add(kind)
        strange += [
            f"{uri}#{at} {kind}"
            for at, kind in shape(body)
            if at not in types or not (kind == "NoneType" or types[at] & {kind, "NoneType"})
        ]
    assert strange == []


def links(body: object) -> Iterator[str]:
    if isinstance(body, dict):
        for key, value in body.items():
            if key == "@odata.id":
                yield same_place(value)
            else:
                yield from links(value)
    elif isinstance(body, list):
        for value in body:
            yield from links(value)


def test_no_link_dangles_and_every_resource_can_be_reached() -> None:
    bodies = node().bmc.bodies
    assert {link for body in bodies.values() for link in links(body)} - set(bodies) == set()
    seen, left = {ROOT}, [ROOT]
    while left:
        new = set(links(bodies[left.pop()])) - seen
        seen |= new
        left += new
    assert set(bodies) - seen == set()


def test_every_collection_counts_its_members() -> None:
    for uri, body in node().bmc.bodies.items():
        assert isinstance(body, dict)
        assert all(same_place(value) == value for value in links(body)), uri
        if "Members@odata.count" in body:
            assert body["Members@odata.count"] == len(body["Members"]), uri
            assert len({m["@odata.id"] for m in body["Members"]}) == len(body["Members"]), uri


def test_a_file_ends_with_a_newline() -> None:
    assert [path for path, text in node().host.files.items() if not text.endswith("\n")] == []


# Many nodes


OF_ONE = re.compile(r"(serial|uuid|guid|nqn|hostname|node_description|\.mac|mac_permanent)$")
"""Facts that identify one physical thing."""


def test_two_nodes_differ_in_who_they_are_and_in_nothing_else() -> None:
    one, two = leaves_of("n01", 1), leaves_of("n02", 2)
    assert one.keys() == two.keys()
    differing = {path for path in one if one[path].reading != two[path].reading}
    assert {one[path].kind.cls for path in differing} == {Class.IDENTITY}
    own = {path for path, leaf in one.items() if OF_ONE.search(path) and isinstance(leaf.reading, str)}
    assert own <= differing
    assert {path.rpartition(".")[2] for path in differing - own} == {
        *("lid", "address", "ipv4", "ipv6", "port", "port_description"),
    }


def test_no_two_parts_of_a_rack_have_one_serial() -> None:
    serials = Counter(
        leaves_of(f"n{n:02}", n)[path].reading
        for n in (1, 2, 11, 72)
        for path in leaves_of()
        if re.fullmatch(r"gpu/module-\d\.(uuid|serial)|nic/.*\.guid|psu/.*\.serial|node.serial", path)
    )
    assert set(serials.values()) == {1}


def test_nodes_share_what_is_the_same() -> None:
    one, two = node("n01", 1), node("n02", 2)
    same = [path for path in one.host.files if one.host.files[path] is two.host.files[path]]
    assert len(same) > 0.99 * len(one.host.files)
    uri = f"{ROOT}/Systems/DGX/Bios"
    assert one.bmc.bodies[uri] is two.bmc.bodies[uri]


# Patterns


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("/plain", ["/plain"]),
        ("a[0-2]", ["a0", "a1", "a2"]),
        ("[00-02]", ["00", "01", "02"]),
        ("[8-11]", ["8", "9", "10", "11"]),
        ("[1b,43,0-1]", ["1b", "43", "0", "1"]),
        ("[a,b]/[0-1]", ["a/0", "a/1", "b/0", "b/1"]),
        ("[a,b]-@{1}", ["a-a", "b-b"]),
        ("[0-1|x,y]=@{1.2}", ["0=x", "1=y"]),
        ("[a, b]", ["a", "b"]),
        ("@{node}[0-1]@{n3}", ["@{node}0@{n3}", "@{node}1@{n3}"]),
    ],
)
def test_a_pattern_stands_for_its_members(pattern: str, texts: list[str]) -> None:
    assert [text for text, _ in expanded(pattern)] == texts


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("[]", "empty member"),
        ("[a,]", "empty member"),
        ("[3-1]", "runs backwards"),
        ("[0-99999]", "the maximum is 10000"),
        ("[0-999][0-999]", "the maximum is 10000"),
        ("[0-1|a]", "different numbers of members: 2, 1"),
        ("[0-1]@{2}", "there are 1 brackets"),
        ("[0-1]@{1.2}", "has 1 columns"),
        ("@{name}", "is not one of"),
        ("@{0}", "is not one of"),
    ],
)
def test_a_meaningless_pattern_states_why(pattern: str, words: str) -> None:
    with pytest.raises(BadPattern, match=re.escape(words)):
        expanded(pattern)


def folder(at: Path, host: str = "files: {/a: x}\n", redfish: str = "") -> Path:
    """A machine folder of these two files."""
    for name in ("host", "redfish"):
        (at / name).mkdir(parents=True)
    (at / "machine.yaml").write_text("rackcheck: 1\nmachine: toy\ntitle: A toy\nhardware: none\n")
    (at / "host" / "all.yaml").write_text(host)
    if redfish:
        (at / "redfish" / "all.yaml").write_text(redfish)
    return at


def test_texts_are_filled_in_and_end_with_a_newline(tmp_path: Path) -> None:
    host = """\
files:
  /cpu[0-1]/name: "@{1} of @{node}, @{n}, @{n3}"
  /lines: [one, {each: "[a,b]", item: "item @{1}"}, {json: {x: 1, y: [true, null], z: "1"}}]
  /empty: ""
  /number: 010
commands:
  echo: {out: hello, err: "@{node}", status: 3}
refused: {"/secret[0-1]": denied}
"""
    made = machine.load(folder(tmp_path / "toy", host), "n07", 7).host
    assert made.files == {
        "/cpu0/name": "0 of n07, 7, 007\n",
        "/cpu1/name": "1 of n07, 7, 007\n",
        "/lines": 'one\nitem a\nitem b\n{"x": 1, "y": [true, null], "z": "1"}\n',
        "/empty": "",
        "/number": "010\n",
    }
    assert made.commands == {"echo": Output(3, "hello\n", "n07\n")}
    assert made.refused == dict.fromkeys(("/secret0", "/secret1"), Unknown(Reason.DENIED, "Permission denied"))


def test_bodies_have_the_types_of_json_and_their_own_uri(tmp_path: Path) -> None:
    redfish = """\
/redfish/v1/Chassis/[a,b|1,2.5]:
  Id: "@{1}"
  Size: !!float "@{1.2}"
  Plain: [On, off, yes, ~, 1:20, 0x10, 010, 2, -1.5, 1e3, true, null]
  Quoted: ["2", 'true']
  "@{1}": { "Deep": [{ each: "[x,y]", item: { "@odata.id": "/redfish/v1/@{1}/@{2}/@{n}" } }] }
"""
    bodies = machine.load(folder(tmp_path / "toy", redfish=redfish), "n", 4).bmc.bodies
    assert bodies[f"{ROOT}/Chassis/b"] == {
        "@odata.id": f"{ROOT}/Chassis/b",
        "Id": "b",
        "Size": 2.5,
        "Plain": ["On", "off", "yes", "~", "1:20", "0x10", "010", 2, -1.5, 1000.0, True, None],
        "Quoted": ["2", "true"],
        "b": {"Deep": [{"@odata.id": f"{ROOT}/b/x/4"}, {"@odata.id": f"{ROOT}/b/y/4"}]},
    }
    assert [type(bodies[f"{ROOT}/Chassis/{name}"]["Size"]) for name in "ab"] == [int, float]  # type: ignore[index]


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("files:\n  /a: x\n  /[a,b]: y\n", "host/all.yaml:3:3: `/a` occurs twice"),
        ("files:\n  /a: '@{1}'\n", "host/all.yaml:2:7: `@{1}`, but there are 0 brackets"),
        ("files:\n  /a[2-1]: x\n", "host/all.yaml:2:3: [2-1] runs backwards"),
        ("files:\n  /a: [{each: [0], item: x}]\n", "host/all.yaml:2:15: `each` must be a bracket"),
        ("files:\n  /a: [{other: x}]\n", "host/all.yaml:2:8: a line must be a text"),
        ("files:\n  a: x\n", "host/all.yaml:2:3: `a` does not begin with /"),
        ("files: [x]\n", "host/all.yaml:1:8: this must be a table"),
        ("file: {}\n", "host/all.yaml:1:1: no such key: `file`"),
        ("commands:\n  x: {status: 999}\n", "host/all.yaml:2:15: an exit status"),
        ("commands:\n  x: {stdout: y}\n", "host/all.yaml:2:7: no such key: `stdout`"),
        ("refused:\n  /a: gone\n", "host/all.yaml:2:7: the reason for a refused file must be one of denied"),
        ("files:\n  /a: x\n  /a: y\n", "host/all.yaml:3:3: `/a` appears twice"),
        ("files:\n  /a: &x y\n  /b: *x\n", "host/all.yaml:2:7: an alias refers to this"),
        ("files:\n  /a: " + "[" * 30 + "]" * 30 + "\n", "nested deeper than"),
        ("files:\n  /a: {x\n", "host/all.yaml:3:1: "),
        ("files:\n  /a: \x07\n", "host/all.yaml:1:1: not YAML"),
        ("", "host/all.yaml:1:1: an empty file"),
    ],
)
def test_nonsense_in_a_host_file_gives_one_error_with_its_place(tmp_path: Path, host: str, text: str) -> None:
    with pytest.raises(BadFile) as caught:
        machine.load(folder(tmp_path / "toy", host), "n", 1)
    assert text in str(caught.value)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("redfish", "text"),
    [
        ("/redfish/v1/A: [1]\n", "redfish/all.yaml:1:16: the body of /redfish/v1/A must be an object"),
        ("/redfish/v1/A/: {}\n", "redfish/all.yaml:1:1: `/redfish/v1/A/` must be a URI"),
        ("/A: {}\n", "redfish/all.yaml:1:1: `/A` must be a URI"),
        ("/redfish/v1/A:\n  x: !!int '@{n}'\n", "redfish/all.yaml:2:6: not a number: '@{n}'"),
        ("/redfish/v1/A[0-1]:\n  '0': 1\n  '@{1}': 2\n", "redfish/all.yaml:2:3: two keys are the same"),
        (
            "/redfish/v1/A:\n  x: [{each: '[0-9999]', item: [{each: '[0-9999]', item: 1}]}]\n",
            "expands to more than 200000 values",
        ),
    ],
)
def test_nonsense_in_a_body_gives_one_error_with_its_place(tmp_path: Path, redfish: str, text: str) -> None:
    with pytest.raises(BadFile) as caught:
        machine.load(folder(tmp_path / "toy", redfish=redfish), "n", 1)
    assert text in str(caught.value)


def test_an_incomplete_head_states_what_is_missing(tmp_path: Path) -> None:
    made = folder(tmp_path / "toy")
    (made / "machine.yaml").write_text("rackcheck: 1\nmachine: toy\n")
    with pytest.raises(BadFile, match=r"machine\.yaml:1:1: lacks `title`, `hardware`"):
        machine.load(made, "n", 1)
    (made / "machine.yaml").write_text("rackcheck: 2\nmachine: toy\ntitle: t\nhardware: h\n")
    with pytest.raises(BadFile, match="`rackcheck` must be 1"):
        machine.load(made, "n", 1)


# Other folders


def test_a_folder_is_recognised_by_its_content(tmp_path: Path) -> None:
    assert machine.of_folder(DGX_H100) is machine.FolderKind.MACHINE
    assert machine.of_folder(tree(DGX)) is machine.FolderKind.TREE
    (tmp_path / "run.json").write_text("{}")
    assert machine.of_folder(tmp_path) is machine.FolderKind.RUN
    with pytest.raises(UserError, match=r"contains no machine\.yaml \(machine folder\), run\.json \(stored run\)"):
        machine.of_folder(DGX_H100 / "host")
    with pytest.raises(UserError, match="is not a folder"):
        machine.of_folder(tmp_path / "nowhere")


def test_a_recorded_tree_is_read_on_request(tmp_path: Path) -> None:
    bodies = machine.from_tree(tree(DGX)).bodies
    root = bodies[ROOT]
    assert isinstance(root, Mapping)
    assert root["Vendor"] == "AMI"
    assert bodies[ROOT] is root
    assert f"{ROOT}/Chassis/CPUBaseboard/Sensors?$skip=75" in bodies
    assert f"{ROOT}/Chassises" not in bodies
    assert bodies[f"{ROOT}/chassis"] == bodies[f"{ROOT}/Chassis"]  # as recorded iLOs spell their own links
    assert len(bodies) == len(list(bodies)) > 4000
    source = collect(PROBES, BmcCapture(bodies, dict.fromkeys((ROOT,), TIME)))
    assert source["firmware.bmc"].reading == "23.11.20"


@pytest.mark.parametrize(
    "uri", ["", "/", "redfish/v1", f"{ROOT}/../v1", f"{ROOT}/", f"//{ROOT}", f"{ROOT}/\0", "/" + "a" * 9000]
)
def test_a_uri_that_is_none_of_the_tree_is_not_there(uri: str) -> None:
    bodies = machine.from_tree(tree(DELL)).bodies
    assert uri not in bodies
    with pytest.raises(KeyError):
        bodies[uri]


def test_a_body_that_is_no_json_is_unparsable_and_leaves_the_others(tmp_path: Path) -> None:
    bodies = machine.from_tree(tree(LENOVO)).bodies
    broken = [uri for uri, body in bodies.items() if isinstance(body, Unknown)]
    assert {body.reason for uri in broken if isinstance(body := bodies[uri], Unknown)} == {Reason.UNPARSABLE}
    assert len(broken) == 2


def test_a_machine_folder_is_no_tree() -> None:
    with pytest.raises(UserError, match="is not a Redfish tree"):
        machine.from_tree(DGX_H100)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    host, bmc = captures_of(node())
    bmc = BmcCapture({ROOT: bmc.bodies[ROOT]})
    head = {"run": "r", "time": TIME, "version": "0", "profile": "p"}
    with RunWriter(tmp_path / "run", head, {}) as writer:
        writer.write(Answered("n01", Plane.OS, TIME, None, host))
        writer.write(Answered("n01", Plane.BMC, TIME, None, bmc))
        writer.write(Answered("n02", Plane.OS, TIME, Unknown(Reason.UNREACHABLE, "no route")))
    return tmp_path / "run"


def test_a_node_of_a_stored_run_answers_as_it_did(run: Path) -> None:
    made = machine.from_run(run, "n01")
    assert made.host.files == node().host.files
    assert made.host.commands == node().host.commands
    assert made.bmc.bodies == {ROOT: node().bmc.bodies[ROOT]}


def test_a_node_that_gave_no_answer_has_none(run: Path) -> None:
    assert machine.from_run(run, "n02") == machine.SimMachine(NodeCapture(), BmcCapture())


def test_a_node_missing_in_the_run_is_an_error_with_the_nearest_name(run: Path) -> None:
    with pytest.raises(UserError, match=r"no node n011.*n01"):
        machine.from_run(run, "n011")


def test_each_node_of_a_large_rack_has_valid_addresses_and_serials_of_its_own() -> None:
    seen: set[str] = set()
    for number in (1, 9, 10, 254, 255, 508, 509, 999, 1000, 1001, 4095):
        made = machine.load(machine.shipped()["dgx-h100"], f"n{number}", number)
        text = "\n".join(answer.out for answer in made.host.commands.values() if isinstance(answer, Output))
        addresses = re.findall(r"inet6? (\S+)", text)
        assert len(addresses) > 10
        assert all(ip_interface(each).ip != ip_interface(each).network.network_address for each in addresses)
        own = {each for each in addresses if not each.startswith("fe80")}
        guids = {value.strip() for path, value in made.host.files.items() if path.endswith("/node_guid")}
        assert all(re.fullmatch(r"([0-9a-f]{4}:){3}[0-9a-f]{4}", each) for each in guids)
        own |= guids | set(re.findall(r"Serial Number: (\d{10}\S+)", text)) | set(re.findall(r"UUID: (\S+)", text))
        assert not seen & own, "no other node has it"
        seen |= own
