"""Misleading or endless answers, in real shells: an unreadable value is not zero, and output is bounded."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import pytest
from fake_driver import MARKS
from recordings import OsProbe, answering, facts, holding, os_probes

from rackcheck.doctor.tools import calls
from rackcheck.model.capture import PAYLOAD, NodeCapture
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse, spell_key
from rackcheck.model.question import Shell
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import FACTS, collect
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry

if TYPE_CHECKING:
    from _typeshed import TraceFunction

nic_adapters = import_module("rackcheck_probes.nic.adapters")
PROBES = os_probes()
CDI = "/etc/cdi/nvidia.json"
FIRST, SECOND = (f"pcie/{spell_key(address)}" for address in ("0000:18:00.0", "0000:19:00.0"))
IRQ_END = "default ff\n-- end --\n"


def unknown(reading: Reading, reason: Reason = Reason.NOT_COLLECTED) -> bool:
    return isinstance(reading, Unknown) and reading.reason is reason


def command(name: str) -> str:
    ask = PROBES[name].ask
    assert isinstance(ask, Shell)
    return ask.command


def run(script: str, **env: str) -> str:
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C", **env}
    )
    return done.stdout


# A query loads no driver


def test_nvidia_smi_and_nvml_run_only_behind_the_marks_of_a_driver() -> None:
    scripts = {n: p.ask.command.partition(PAYLOAD)[0] for n, p in PROBES.items() if isinstance(p.ask, Shell)}
    asking = {n: script for n, script in scripts.items() if "nvidia-smi" in {call.program for call in calls(script)}}
    assert {"gpu", "nvidia_smi"} <= asking.keys()
    for name, script in asking.items():
        called = re.search(r"(?<!-v )nvidia-smi( -q| >)", script)
        assert called is not None
        assert all(0 < script.find(mark) < called.start() for mark in MARKS), name


@pytest.mark.parametrize("there", [True, False])
def test_rdma_is_queried_only_where_the_kernel_has_rdma(there: bool, tmp_path: Path) -> None:
    (tmp_path / "rdma").write_text(f"#!{shutil.which('sh')}\necho asked\n")
    (tmp_path / "rdma").chmod(0o755)
    place = str(tmp_path if there else tmp_path / "no")
    output = run(command("rdma_links").replace("/sys/class/infiniband", place), PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert output == ("asked\n" if there else "[]\n")


def test_a_node_without_rdma_has_no_links() -> None:
    assert facts(PROBES["rdma_links"], answering(PROBES["rdma_links"], "[]\n")) == {}


def test_a_slow_answer_of_device_firmware_blocks_no_other_question() -> None:
    ask = PROBES["rdma_pkeys"].ask
    assert isinstance(ask, Shell)
    assert (ask.quick, ask.lane) == (False, "")


# Filesystems


@pytest.mark.parametrize("name", ["space", "inodes"])
def test_df_runs_only_on_filesystems_that_no_server_answers_for(name: str) -> None:
    words = command(name).split()
    asked = {kind for flag, kind in pairwise(words) if flag == "-t"}
    assert {"ext4", "xfs", "btrfs", "vfat", "tmpfs", "overlay", "zfs"} <= asked
    ours = command("network_mounts").partition("case $t in ")[2].partition(")")[0].split("|")
    assert asked & {*ours, "autofs", "fuse", "fuseblk", "nfs", "lustre", "afs"} == set()
    assert words[:2] == ["df", {"space": "-Pkl", "inodes": "-Pil"}[name]]


def test_df_lists_the_filesystem_of_this_machines_root() -> None:
    kinds = {row.split()[1]: row.split()[2] for row in Path("/proc/mounts").read_text().splitlines()}
    if kinds.get("/") not in command("space").split():
        pytest.skip(f"the root is of {kinds.get('/')}")
    assert 'mount/"/".size' in facts(PROBES["space"], answering(PROBES["space"], run(command("space"))))


@pytest.mark.parametrize("kind", ["fuse", "virtiofs", "9p", "gfs2", "ceph", "wekafs"])
def test_mounts_left_out_of_df_are_queried_with_a_timeout_of_their_own(kind: str, tmp_path: Path) -> None:
    (tmp_path / "mounts").write_text(f"source {tmp_path} {kind} rw 0 0\n")
    output = run(command("network_mounts").replace("/proc/mounts", str(tmp_path / "mounts")))
    given = facts(PROBES["network_mounts"], answering(PROBES["network_mounts"], output))
    assert given[f'mount/"{tmp_path}".responds'] is True


# An unreadable value is not zero


def iommu(files: Mapping[str, str]) -> dict[str, Reading]:
    return facts(PROBES["iommu"], holding(PROBES["iommu"], files))


GROUPS = "/sys/kernel/iommu_groups"


@pytest.mark.parametrize(
    "files",
    [
        {"/sys/class/iommu/dmar0/uevent": "\n"},
        {f"{GROUPS}/0/devices/0000:00:00.0/class": "0x060000\n"},
        {f"{GROUPS}/{n}/devices/0000:00:0{n}.0/class": "0x060000\n" for n in (0, 1)} | {f"{GROUPS}/0/type": "DMA\n"},
    ],
    ids=["unit", "group", "one of two"],
)
def test_a_kernel_that_hides_the_groups_types_leaves_their_numbers_unknown(files: dict[str, str]) -> None:
    given = iommu(files)
    assert all(unknown(given[f"iommu.{leaf}"]) for leaf in ("groups", "types", "passthrough", "translated"))
    assert given["iommu.units"] == (("dmar0",) if "/sys/class/iommu/dmar0/uevent" in files else ())


def test_a_kernel_without_an_iommu_has_no_groups() -> None:
    assert iommu({}) == {
        "iommu.units": (),
        "iommu.groups": 0,
        "iommu.types": (),
        "iommu.passthrough": 0,
        "iommu.translated": 0,
    }


def test_a_group_whose_members_are_no_pci_functions_counts_by_its_type() -> None:
    assert iommu({f"{GROUPS}/7/type": "DMA\n"})["iommu.translated"] == 1


def irq(output: str) -> dict[str, Reading]:
    return facts(PROBES["irq"], answering(PROBES["irq"], output))


def test_a_vector_without_a_cpu_counts_and_makes_the_remote_ones_unknown() -> None:
    given = irq(f"device 0000:18:00.0 0-3\n129 0\n130 ?\ndevice 0000:19:00.0 ?\n131 0\n{IRQ_END}")
    assert given[f"{FIRST}.irq.vectors"] == 2
    assert unknown(given[f"{FIRST}.irq.remote"])
    assert given[f"{SECOND}.irq.vectors"] == 1
    assert unknown(given[f"{SECOND}.irq.remote"])
    assert unknown(irq("default ?\n-- end --\n")["os.irq.default_affinity"])
    assert isinstance(irq("default \n-- end --\n")["os.irq.default_affinity"], Absent)


def test_vectors_are_counted_where_every_file_of_theirs_is_closed(tmp_path: Path) -> None:
    (tmp_path / "0000:18:00.0" / "msi_irqs").mkdir(parents=True)
    (tmp_path / "0000:19:00.0" / "msi_irqs").mkdir(parents=True)
    for number in ("129", "130"):
        (tmp_path / "0000:18:00.0" / "msi_irqs" / number).write_text("msix\n")
        (tmp_path / "irq" / number).mkdir(parents=True)
    (tmp_path / "0000:18:00.0" / "local_cpulist").write_text("0-3\n")
    script = command("irq").replace("/sys/bus/pci/devices", str(tmp_path)).replace("/proc/irq", str(tmp_path / "irq"))
    given = irq(run(script))
    assert (given[f"{FIRST}.irq.vectors"], given[f"{SECOND}.irq.vectors"]) == (2, 0)
    assert unknown(given[f"{FIRST}.irq.remote"])


def blocks(script: str) -> dict[str, Reading]:
    return facts(PROBES["memory_blocks"], answering(PROBES["memory_blocks"], run(script)))


@pytest.mark.parametrize(
    ("values", "online"), [(("online", "online"), 2), (("online", ""), None), (("", ""), None), ((), None)]
)
def test_blocks_of_memory_are_counted_only_where_each_reports_its_state(
    values: tuple[str, ...], online: int | None, tmp_path: Path
) -> None:
    for number, state in enumerate(values):
        (tmp_path / f"memory{number}").mkdir()
        if state:
            (tmp_path / f"memory{number}" / "state").write_text(f"{state}\n")
        else:
            (tmp_path / f"memory{number}" / "state").mkdir()  # `cat` fails on it for every user
    (tmp_path / "block_size_bytes").write_text("8000000\n")
    given = blocks(command("memory_blocks").replace("/sys/devices/system/memory", str(tmp_path)))
    assert given["memory.blocks.size"] == 128.0
    if online is None:
        assert unknown(given["memory.blocks.online"])
        assert unknown(given["memory.blocks.offline"])
    else:
        assert (given["memory.blocks.online"], given["memory.blocks.offline"]) == (online, 0)


DEVICES = {"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [{"name": "0"}, {"name": "all"}]}


def cdi(content: str, place: str = CDI) -> tuple[Reading, Reading]:
    given = facts(PROBES["cdi"], holding(PROBES["cdi"], {place: content}))
    return given[f'container.cdi/"{place}".kind'], given[f'container.cdi/"{place}".devices']


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("place", [CDI, "/var/run/cdi/nvidia.yaml"])
def test_json_names_its_devices_however_its_lines_are_laid_out(indent: int | None, place: str) -> None:
    assert cdi(json.dumps(DEVICES, indent=indent), place) == ("nvidia.com/gpu", 2)


@pytest.mark.parametrize("content", ["{", '{"kind": "nvidia.com/gpu"}', '{"kind": 1, "devices": [7]}', "[" * 100_000])
def test_an_invalid_cdi_json_is_unparsable(content: str) -> None:
    assert [unknown(reading, Reason.UNPARSABLE) for reading in cdi(content)] == [True, True]


def test_devices_of_yaml_that_stand_on_one_line_are_not_counted_as_none() -> None:
    kind, devices = cdi("kind: nvidia.com/gpu\ndevices: [{name: '0'}]\n", "/etc/cdi/nvidia.yaml")
    assert kind == "nvidia.com/gpu"
    assert unknown(devices, Reason.UNPARSABLE)
    assert cdi("kind: nvidia.com/gpu\ndevices: # all\n- name: '0'\n", "/etc/cdi/nvidia.yaml")[1] == 1


BUS = "/sys/bus/pci/drivers_autoprobe"


def pcie(files: Mapping[str, str]) -> dict[str, Any]:
    return dict(collect([PROBES["pcie"]], holding(PROBES["pcie"], files)))


def test_without_a_pci_bus_its_devices_are_unknown() -> None:
    assert unknown(pcie({})["pcie"].reading)
    assert pcie({BUS: "1\n"})["pcie"].reading == ()


def test_without_a_pci_bus_no_gpu_is_known_not_to_be_missing() -> None:
    known = registry()
    joins = [join for join in known.joins if join.name == "gpu_missing"]
    gpus = collect([PROBES["gpu"]], answering(PROBES["gpu"], '{"gpus": []}\n'))
    for files, count in (({}, None), ({BUS: "1\n"}, 0)):
        given = derive(joins, Tree({**pcie(files), **gpus}))["driver.gpus_on_bus"].reading
        assert unknown(given) if count is None else given == count


# Endless answers are bounded


def adapters(count: int) -> tuple[dict[str, Reading], int]:
    """Read this many adapters; returns the facts, and how many lines of the probe ran for them."""
    names = [f"{n >> 8:04x}:{n & 0xFF:02x}:00.0" for n in range(count)]
    at = "/sys/bus/pci/drivers/mlx5_core"
    files = {f"{at}/{name}/vendor": "0x15b3\n" for name in names}
    files |= {f"{at}/{name}/infiniband/mlx5_{n}/node_type": "1: CA\n" for n, name in enumerate(names)}
    files |= {f"{at}/{name}/net/ib{n}/mtu": "4092\n" for n, name in enumerate(names)}
    capture, lines, before = holding(PROBES["nic_adapters"], files), 0, sys.gettrace()

    def line(frame: FrameType, event: str, _: object) -> "TraceFunction":
        nonlocal lines
        lines += event == "line"
        return line

    def called(frame: FrameType, event: str, _: object) -> "TraceFunction | None":
        return line if frame.f_code.co_filename == nic_adapters.__file__ else None

    sys.settrace(called)
    try:
        given = facts(PROBES["nic_adapters"], capture)
    finally:
        sys.settrace(before)
    return given, lines


def test_adapters_find_what_they_carry_without_each_looking_at_all() -> None:
    (_, few), (given, many) = adapters(100), adapters(400)
    assert 0 < many < 5 * few
    last = f"nic.adapter/{spell_key('0001:8f:00.0')}"
    assert (given[f"{last}.rdma"], given[f"{last}.interfaces"]) == (("mlx5_399",), ("ib399",))


def bonds(count: int, content: str) -> NodeCapture:
    return holding(PROBES["bonding"], {f"/proc/net/bonding/bond{n}": content for n in range(count)})


@pytest.mark.parametrize("count", [2_500, 12_000])
def test_a_probe_gives_no_more_leaves_than_the_bound_including_unknown_ones(count: int) -> None:
    probe: OsProbe = PROBES["bonding"]
    leaves = collect([probe], bonds(count, "nonsense\n"))
    assert len(leaves) <= FACTS + len(probe.gives)
    tree = Tree(leaves)
    for leaf in ("mode", "poll", "partner"):
        assert isinstance(tree.reading(parse(f"nic.bond/bond{count - 1}.{leaf}"), Plane.OS), Unknown)
    assert "*" not in {item.segments[-1].key for item in tree.select(parse("nic.bond"), Plane.OS).items}


def test_unknowns_of_a_few_items_are_listed_one_by_one() -> None:
    given = facts(PROBES["bonding"], bonds(3, "nonsense\n"))
    assert unknown(given["nic.bond/bond2.poll"])
    assert "nic.bond/*.poll" not in given


def test_more_pairs_of_gpus_and_nics_than_any_node_has_are_not_held_against_each_other() -> None:
    known = registry()
    near = next(join for join in known.joins if join.name == "gpu_near")
    kinds = {path: entry.kind for path in near.needs if (entry := known.catalogue.find(parse(path))) is not None}

    def leaf(path: str, reading: Reading) -> Leaf:
        return Leaf(reading, kinds[str(parse(path).pattern)], near.planes[str(parse(path).pattern)], "test")

    items = {"gpu": [str(n) for n in range(257)], "nic": [f"mlx5_{n}" for n in range(256)]}
    leaves = {kind: leaf(kind, tuple(names)) for kind, names in items.items()}
    for kind, names in items.items():
        leaves |= {
            f"{kind}/{n}.pci": leaf(f"{kind}/{n}.pci", f"0000:{i >> 5:02x}:{i & 31:02x}.0") for i, n in enumerate(names)
        }
    given = derive([near], Tree(leaves))
    assert unknown(given["gpu/0.nearest_nic"].reading, Reason.TOO_LARGE)
    assert unknown(given["nic/mlx5_0.nearest_gpu"].reading, Reason.TOO_LARGE)
    assert unknown(given["nic/mlx5_0.rail"].reading, Reason.TOO_LARGE)
