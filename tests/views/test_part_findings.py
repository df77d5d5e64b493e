"""Findings about one part are one row; no graver and no independent failure is hidden, and no name of a node is a command."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import single_faults
from damaged import clean, loaded
from hypothesis import given
from hypothesis import strategies as st
from single_faults import BAD, TIME

from rackcheck.evaluate.verdict import Evidence, Outcome, Status
from rackcheck.model.part_index import Part
from rackcheck.model.path import spell_key
from rackcheck.model.profile import Rule, Severity
from rackcheck.run.event import Event, FactsRead, Judged
from rackcheck.views.filled_fix import filled_fix
from rackcheck.views.named_part import NamedPart
from rackcheck.views.part_findings import PartFinding, by_part
from rackcheck.views.part_names import PartNames
from rackcheck.views.summary import Finding

RULES = {rule.id: rule for rule in loaded("h100-dgx").own}
GPU = NamedPart(Part("GPU", "module-6", ("gpu/module-6",), "SXM3", "0000:52:00.0", "1650001000003", index="2"))
OTHER = NamedPart(Part("GPU", "module-7", ("gpu/module-7",), "SXM1", "0000:1b:00.0", "1650001000001", index="0"))


def finding(
    rule: str, status: Status = Status.FAIL, nodes: Sequence[str] = ("n1",), severity: Severity | None = None
) -> Finding:
    held: Rule = RULES[rule]
    held = held if severity is None else replace(held, severity=severity)
    return Finding(held, status, f"{rule} is wrong", (), tuple(nodes))


def named(*rules: str, part: NamedPart = GPU, node: str = "n1") -> dict[str, dict[str, tuple[NamedPart, ...]]]:
    return {node: dict.fromkeys(rules, (part,))}


def test_findings_about_one_part_are_one_row_in_the_order_of_the_findings() -> None:
    found = [finding("gpu.width"), finding("bios.turbo"), finding("gpu.path_width")]
    rows = by_part(found, named("gpu.width", "gpu.path_width"))
    assert [(row.finding.rule.id, [each.rule.id for each in row.also]) for row in rows] == [
        ("gpu.width", ["gpu.path_width"]),
        ("bios.turbo", []),
    ]


@pytest.mark.parametrize(
    ("lead", "other"),
    [
        (finding("gpu.width", Status.WARN), finding("gpu.path_width")),
        (finding("gpu.width", severity=Severity.MINOR), finding("gpu.path_width", severity=Severity.MAJOR)),
        (finding("gpu.width", nodes=("n1", "n2")), finding("gpu.path_width")),
        (finding("gpu.width", Status.WAIVED), finding("gpu.path_width", Status.WAIVED)),
    ],
)  # fmt: skip
def test_no_finding_is_below_one_that_is_less_grave_or_is_about_other_nodes(lead: Finding, other: Finding) -> None:
    parts = {node: dict.fromkeys(("gpu.width", "gpu.path_width"), (GPU,)) for node in ("n1", "n2")}
    assert [row.finding for row in by_part([lead, other], parts)] == [lead, other]


def test_a_finding_about_another_part_too_has_its_own_row() -> None:
    parts = {"n1": {"gpu.width": (GPU,), "gpu.path_width": (GPU, OTHER)}}
    assert len(by_part([finding("gpu.width"), finding("gpu.path_width")], parts)) == 2


def test_a_port_that_is_down_is_not_hidden_below_a_gpu_that_is_missing() -> None:
    answers = single_faults.simulated("gpu-missing", gpu="5")
    down = single_faults.simulated("nic-down", nic="mlx5_4")
    files = {path: text for path, text in down.host.files.items() if clean().host.files.get(path) != text}
    commands = {name: out for name, out in down.host.commands.items() if clean().host.commands.get(name) != out}
    host = replace(answers.host, files={**answers.host.files, **files}, commands={**answers.host.commands, **commands})
    summary = single_faults.summary(replace(answers, host=host))
    rows = by_part(summary.findings, summary.named)
    alone = [row.only for row in rows if row.finding.status is Status.FAIL and row.finding.nodes == (BAD,)]
    assert [str(each[1]) for each in alone if each is not None][:2] == [
        "GPU module-3 (slot SXM6, PCI 0000:c3:00.0, serial 1650001000006) is missing",
        "NIC mlx5_4 (PCI 0000:4f:00.0, serial MT2319X10013)",
    ]


def test_the_parts_that_are_there_are_not_listed_beside_a_missing_one() -> None:
    summary = single_faults.summary(single_faults.simulated("nic-missing", nic="mlx5_0"))
    rows = by_part(summary.findings, summary.named)
    (row,) = (row for row in rows if row.finding.rule.id == "nic.count" and row.finding.status is Status.FAIL)
    assert "; the others: nic/mlx5_1.role network" in row.finding.reason
    assert row.reason == "count of nic whose role must be compute is 7, must be 8"


@given(st.permutations(range(4)))
def test_the_order_in_which_nodes_answer_changes_no_name(order: Sequence[int]) -> None:
    events: list[Event] = [*single_faults.events(single_faults.simulated("gpu-missing", gpu="5"))]
    pairs = [events[1 + 2 * n : 3 + 2 * n] for n in range(4)]
    found = []
    for way in (range(4), order):
        names = PartNames(RULES.values())
        for number in way:
            for event in pairs[number]:
                names.take(event)
            names.found()  # a screen shows the run while it is read
        found.append(names.found())
    assert found[0] == found[1] != {}


def test_a_missing_part_has_the_serial_of_no_other_node() -> None:
    answers = single_faults.simulated("drive-missing", drive="nvme4")
    (part,) = single_faults.summary(answers).named[BAD]["nvme.on_bus"]
    assert part.missing
    assert part.part.serial == ""


def test_without_another_node_a_missing_part_is_known_from_the_bmc() -> None:
    answers = single_faults.simulated("gpu-missing", gpu="5")
    names = PartNames(RULES.values())
    names.take(FactsRead(BAD, answers.tree()))
    names.take(Judged(BAD, "compute", Outcome.FAIL, tuple(answers.verdicts())))
    (part,) = names.found()[BAD]["gpu.count"]
    assert str(part) == "GPU GPU_SXM_6 (slot SXM6, serial 1650001000006) is missing"


def row(fix: str, part: Part | None = None, item: str = "bios.turbo", nodes: Sequence[str] = ("n1",)) -> PartFinding:
    evidence = (Evidence(Status.FAIL, item, "1", "must be 2"),)
    found = replace(finding("bios.turbo", nodes=nodes), evidence=evidence)
    found = replace(found, rule=replace(found.rule, fix=fix))
    return PartFinding(found, {} if part is None else {nodes[0]: (NamedPart(part),)})


NIC = Part("NIC", "mlx5_4", ("nic/mlx5_4", "nic.interface/ib4"), pci="0000:4f:00.0")
DRIVE = Part("drive", "nvme3", ("nvme/nvme3",), pci="0000:2d:00.0")


@pytest.mark.parametrize(
    ("fix", "part", "item", "filled"),
    [
        ("mlxlink -d DEVICE -m", NIC, "nic/mlx5_4.x", "mlxlink -d mlx5_4 -m"),
        ("nvme smart-log DEVICE", DRIVE, "nvme/nvme3.x", "nvme smart-log /dev/nvme3"),
        ("lspci -s ADDRESS; lspci -vv -s ADDRESS", DRIVE, "nvme/nvme3.x", "lspci -s 0000:2d:00.0; lspci -vv -s 0000:2d:00.0"),
        ("nvidia-smi -i INDEX", GPU.part, "gpu/module-6.x", "nvidia-smi -i 2"),
        ("ethtool -S INTERFACE", NIC, "nic/mlx5_4.x", "ethtool -S ib4"),
        ("systemctl status SERVICE", None, "service/slurmd.enabled", "systemctl status slurmd"),
        ("rackcheck facts NODE --from RUN", None, "bios.turbo", f"rackcheck facts n1 --from {TIME}"),
        ("mlxlink -d DEVICE -m", None, "bios.turbo", "mlxlink -d DEVICE -m"),
        ("restart the RUNNING job", None, "bios.turbo", "restart the RUNNING job"),
    ],
)  # fmt: skip
def test_a_fix_has_the_names_that_its_finding_determines(fix: str, part: Part | None, item: str, filled: str) -> None:
    assert filled_fix(row(fix, part, item), TIME) == filled


def test_of_several_nodes_a_fix_names_none() -> None:
    assert filled_fix(row("scontrol show node NODE", nodes=("n1", "n2")), TIME) == "scontrol show node NODE"


def test_several_devices_are_listed_after_the_fix() -> None:
    both = replace(
        row("mlxlink -d DEVICE", NIC), parts={"n1": (NamedPart(NIC), NamedPart(replace(NIC, items=("nic/mlx5_5",))))}
    )
    assert filled_fix(both, TIME) == "mlxlink -d DEVICE (DEVICE: mlx5_4, mlx5_5)"


@given(st.text(min_size=1, max_size=12))
def test_no_name_of_a_node_changes_the_command_that_a_user_types(name: str) -> None:
    part = Part("NIC", name, (f"nic/{spell_key(name)}",), pci=name)
    for fix in ("lspci -s ADDRESS", "x ADDRESS y"):
        filled = filled_fix(row(fix, part, "nic/a.x"), TIME)
        assert filled == fix or not set(filled) & set(" ;|&$`<>(){}[]!'\"\\*?~#\n\t") - set(fix)
