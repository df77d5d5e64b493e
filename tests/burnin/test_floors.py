"""Floors for what tools measure under load, and what tools find: judged only where they were requested."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import pytest
from fact_tables import base
from places import TESTS
from tool_answers import COPIES, GOOD, case, dcgm, diagnosed, fio, job, nvbandwidth_json, record

from rackcheck.evaluate.verdict import judge
from rackcheck.model.capture import BurnCapture
from rackcheck.model.catalogue import Type
from rackcheck.model.evidence import Status, Verdict
from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.model.profile import Phase, Profile
from rackcheck.model.tree import Tree
from rackcheck.parse.burnin import light
from rackcheck.parse.burnin.tools import every
from rackcheck.probe.collect import collect
from rackcheck.probe.plan import Plan
from rackcheck.probe.registry import registry
from rackcheck.profile import library

Record = Mapping[str, Any]

HELLO = {"k": "hello", "t": 0.0, "wire": 1}
WHOLE = {"k": "verdict", "t": 9.0, "status": "whole"}
STOPPED = {**WHOLE, "status": "stopped", "why": "the line was cut"}
MACHINES = ("a100-dgx", "b200-dgx", "h100-dgx", "h100-hgx", "h200-dgx", "h200-hgx")
COPIED = {"a100-dgx", "h100-dgx", "h100-hgx", "h200-dgx", "h200-hgx"}
FOUND = (
    "burnin.tools_ran", "burnin.dcgm", "burnin.dcgm_quiet", "burnin.copies_whole", "burnin.all_reduce_correct",
    "burnin.disk_readable", "burnin.stress", "burnin.rvs", "burnin.transfers_whole", "burnin.amd_uncorrected",
    "burnin.amd_deferred", "burnin.amd_no_replay", "burnin.hl_qual", "burnin.gemm_alike",
    "burnin.cublas_exact",
)  # fmt: skip
"""Rules on faults that a tool found, on any machine."""


@cache
def planned(name: str) -> tuple[Profile, Plan]:
    profile = library.load(name, registry().catalogue)
    return profile, registry().plan(profile.facts())


def of_tools(name: str) -> list[str]:
    """The rules of a profile that check the output of tools."""
    mine = {pattern.rpartition(".")[0] for pattern in every.GIVES}
    rules = (rule for rule in planned(name)[0].own if rule.phase is Phase.BURN_IN)
    return [r.id for r in rules if any(str(fact.pattern).rpartition(".")[0] in mine - {"burnin"} for fact in r.facts())]


def tree(name: str, records: Iterable[Record], end: Record = WHOLE) -> Tree:
    """The facts that a profile needs from a burn-in, from what a node wrote between its first and last record."""
    plan = planned(name)[1]
    capture = BurnCapture((HELLO, *records, end))
    return Tree(collect(plan.probes, capture, plan.wanted))


def verdicts(name: str, *records: Record, end: Record = WHOLE) -> dict[str, Verdict]:
    rules = [rule for rule in planned(name)[0].own if rule.phase is Phase.BURN_IN]
    return {verdict.rule: verdict for verdict in judge(rules, tree(name, records, end))}


def status(name: str, rule: str, *records: Record, end: Record = WHOLE) -> Status:
    return verdicts(name, *records, end=end)[rule].status


# ---- answers ---------------------------------------------------------------------------------------------------------


def copies(h2d: float = 60.0, d2h: float = 60.0, peer: float = 400.0) -> Record:
    """What nvbandwidth prints for two GPUs, of which the second has the given speed."""
    answer = nvbandwidth_json(
        case(COPIES[0], ["61", f"{h2d}"]), case(COPIES[1], ["61", f"{d2h}"]),
        case(COPIES[2], ["N/A", "410"], [f"{peer}", "N/A"]),
    )  # fmt: skip
    return record("nvbandwidth", answer, argv=["nvbandwidth", "-j", "-t", *COPIES])


def transfers(one: float = 50.0, both: float = 50.0) -> Record:
    """What TransferBench prints for two GPUs whose copies to each other all have these rates."""
    head = f"{'':12}     GPU 00    GPU 01"
    averages = "Averages (During {}):       N/A       N/A       N/A{:10.2f}\n"
    first = f"Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)\n{head}\n"
    second = f"Bidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)\n{head}\n"
    for gpu in (0, 1):
        rates = "".join(f"{2100.0 if other == gpu else one:10.2f}" for other in (0, 1))
        first += f"  GPU {gpu:02}  ->{rates}\n"
        for arrow in (" ->", "<- "):
            rates = "".join("       N/A" if other == gpu else f"{both:10.2f}" for other in (0, 1))
            second += f"  GPU {gpu:02} {arrow}{rates}\n"
    out = first + averages.format("UniDir", one) + second + averages.format(" BiDir", both)
    return record("transferbench", out)


def all_reduce(busbw: float, gpus: int = 8, wrong: int = 0) -> Record:
    """What all_reduce_perf prints for one size."""
    ranks = "".join(f"#  Rank {n:2} Group  0 Pid  1 on node device {n:2} [0x0{n}] a GPU\n" for n in range(gpus))
    head = "#       size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
    row = f"  8589934592  2147483648  float  sum  -1  31000  277.1  {busbw + 1}  0  31000  277.1  {busbw}  {wrong}\n"
    output = "FAILED" if wrong else "OK"
    return record(
        "all_reduce", f"{ranks}{head}{row}# Out of bounds values : {wrong} {output}\n# Avg bus bandwidth    : {busbw}\n"
    )


def of_disk(name: str, **read: object) -> Record:
    return record("fio", fio(job(f"{name}:row", **read), job(f"{name}:random", **read)), of=f"disk/{name}")


def unread_disk(name: str) -> Record:
    """A disk on which a read ended with an I/O error."""
    answer = fio({**job(f"{name}:row"), "error": 5}, {**job(f"{name}:random"), "error": 5})
    return record("fio", answer, of=f"disk/{name}", status=2)


Answer = Callable[[float], Record]

FLOORS: tuple[tuple[str, str, Answer, float, Status], ...] = (
    ("hopper", "burnin.copy_host", lambda rate: copies(h2d=rate), 48, Status.FAIL),
    ("hopper", "burnin.copy_host", lambda rate: copies(d2h=rate), 48, Status.FAIL),
    ("hopper", "burnin.copy_peer", lambda rate: copies(peer=rate), 335, Status.FAIL),
    ("a100", "burnin.copy_host", lambda rate: copies(h2d=rate), 21, Status.FAIL),
    ("a100", "burnin.copy_host", lambda rate: copies(d2h=rate), 21, Status.FAIL),
    ("a100", "burnin.copy_peer", lambda rate: copies(peer=rate), 238, Status.FAIL),
    ("h100", "burnin.all_reduce", all_reduce, 440, Status.FAIL),
    ("h100", "burnin.all_reduce", all_reduce, 460, Status.WARN),
    ("h200", "burnin.all_reduce", all_reduce, 431, Status.FAIL),
    ("h200", "burnin.all_reduce", all_reduce, 480, Status.WARN),
    ("a100", "burnin.all_reduce", all_reduce, 185, Status.FAIL),
    ("a100", "burnin.all_reduce", all_reduce, 228, Status.WARN),
    ("b200", "burnin.all_reduce", all_reduce, 440, Status.FAIL),
    ("mi300x", "burnin.copy_peer", lambda rate: transfers(one=rate), 33.9, Status.FAIL),
    ("mi300x", "burnin.copy_peer", lambda rate: transfers(both=rate), 43.9, Status.FAIL),
)
PROFILES = {
    "a100": ("a100-dgx",), "b200": ("b200-dgx",), "h100": ("h100-dgx", "h100-hgx"), "h200": ("h200-dgx", "h200-hgx"),
    "hopper": ("h100-dgx", "h100-hgx", "h200-dgx", "h200-hgx"), "mi300x": ("mi300x-oam",),
}  # fmt: skip
EACH = [(name, *floor) for part, *floor in FLOORS for name in PROFILES[part]]
ORDER = {Status.PASS: 0, Status.WARN: 1, Status.FAIL: 2}


def products(wrong: int = 0) -> Record:
    """What cuBLASLt's products on one GPU gave, with this many wrong elements of the products of integers."""
    forms = [
        {"type": form, "side": 8192, "data": "integer", "rate": 1e15, "mismatches": wrong} for form in ("fp8", "int8")
    ]
    found = {"type": "bf16", "side": 8192, "data": "normal", "rate": 7e14, "more": forms}
    return {**record("cublas", json.dumps(found), of="gpu/0"), "version": "12.4.5"}


# ---- floors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rule", "answer", "floor", "below"), EACH)
def test_a_rate_just_below_a_floor_is_worse_than_one_just_above(
    name: str, rule: str, answer: Answer, floor: float, below: Status
) -> None:
    under, at, over = (status(name, rule, answer(rate)) for rate in (floor - 0.01, float(floor), floor + 0.01))
    assert under is below
    assert ORDER[at] < ORDER[below]
    assert at is over


@pytest.mark.parametrize("name", MACHINES)
def test_a_sound_machine_passes_all_that_its_tools_are_judged_by(name: str) -> None:
    sound = [copies(), all_reduce(500.0), of_disk("nvme0n1"), GOOD["stress-ng"], record("dcgm-2", passed())]
    sound += [GOOD[each] for each in ("rvs", "transferbench", "amd-smi", "hl_qual")]
    sound += [{**GOOD["rocblas-bench"], "of": f"gpu/{gpu}"} for gpu in (0, 1)]
    sound.append(products())
    found = verdicts(name, *sound)
    assert {rule: found[rule].status for rule in of_tools(name)} == dict.fromkeys(of_tools(name), Status.PASS)


@pytest.mark.parametrize("name", MACHINES)
def test_one_wrong_product_of_integers_fails_the_node(name: str) -> None:
    assert status(name, "burnin.cublas_exact", products()) is Status.PASS
    assert status(name, "burnin.cublas_exact", products(1)) is Status.FAIL
    assert status(name, "burnin.cublas_exact") is Status.NA


@pytest.mark.parametrize("name", MACHINES)
def test_each_machine_has_its_floors_and_all_that_tools_may_find(name: str) -> None:
    floors = {"burnin.all_reduce", *({"burnin.copy_host", "burnin.copy_peer"} if name in COPIED else set())}
    assert set(of_tools(name)) == floors | set(FOUND)


@pytest.mark.parametrize("name", MACHINES)
def test_an_all_reduce_without_one_of_the_eight_gpus_is_no_pass_however_fast_it_is(name: str) -> None:
    assert status(name, "burnin.all_reduce", all_reduce(900.0, gpus=7)) is Status.FAIL


def figures(expected: str) -> list[float]:
    """The figures of a row, without those in brackets."""
    return [float(part) for part in expected.partition("(")[0].split("/")]


MEASURED = {
    ("a100-dgx", "burnin.all_reduce"): ("FLR-083", 0), ("h100-dgx", "burnin.all_reduce"): ("FLR-086", 0),
    ("h200-dgx", "burnin.all_reduce"): ("FLR-089", 0), ("b200-dgx", "burnin.all_reduce"): ("FLR-090", 0),
    ("a100-dgx", "burnin.copy_host"): ("FLR-069", 0), ("h100-dgx", "burnin.copy_host"): ("FLR-071", 0),
    ("h200-dgx", "burnin.copy_host"): ("FLR-072", 0), ("a100-dgx", "burnin.copy_peer"): ("FLR-080", 1),
}  # fmt: skip
"""Where the base of facts has the figure measured on a healthy machine: its row, and which of the row's figures."""


@pytest.mark.parametrize(("name", "rule"), MEASURED)
def test_no_floor_is_above_what_a_sound_machine_was_measured_at(name: str, rule: str) -> None:
    row, number = MEASURED[name, rule]
    text = next(each["expected"] for each in base("performance_floors") if each["id"] == row)
    judged = next(each for each in planned(name)[0].own if each.id == rule)
    floors = [
        float(test.operand) / 1e9
        for clause in judged.clauses
        for test in clause.tests
        if test.op in {"at-least", "warn-below"} and clause.kind.type is Type.QUANTITY
        if isinstance(test.operand, int | float)
    ]
    assert floors
    assert max(floors) <= figures(text)[number]


@pytest.mark.parametrize(("rate", "expected"), [(96312.4, Status.PASS), (88000.0, Status.PASS), (86000.0, Status.WARN)])
def test_a_gpu_that_is_slower_than_its_siblings_in_rocblas_bench_is_named(rate: float, expected: Status) -> None:
    good = GOOD["rocblas-bench"]
    slow = {**good, "of": "gpu/1", "out": good["out"].replace("96312.4", f"{rate}")}
    assert status("mi300x-oam", "burnin.gemm_alike", good, slow, {**good, "of": "gpu/2"}) is expected


# ---- what was not tested ---------------------------------------------------------------------------------------------

TOOL_OF = {
    "burnin.copy_host": "nvbandwidth", "burnin.copy_peer": "nvbandwidth", "burnin.copies_whole": "nvbandwidth",
    "burnin.all_reduce": "all_reduce", "burnin.all_reduce_correct": "all_reduce", "burnin.disk_readable": "fio",
    "burnin.stress": "stress-ng", "burnin.dcgm": "dcgm-2", "burnin.dcgm_quiet": "dcgm-2", "burnin.tools_ran": "fio",
    "burnin.rvs": "rvs", "burnin.transfers_whole": "transferbench", "burnin.amd_uncorrected": "amd-smi",
    "burnin.amd_deferred": "amd-smi", "burnin.amd_no_replay": "amd-smi", "burnin.hl_qual": "hl_qual",
    "burnin.gemm_alike": "rocblas-bench",
}  # fmt: skip
OF_ONE = [rule for rule in TOOL_OF if rule != "burnin.tools_ran"]
"""Rules about one tool."""


@pytest.mark.parametrize("name", MACHINES)
def test_without_requested_tools_no_tool_rule_is_evaluated(name: str) -> None:
    found = verdicts(name)
    assert {rule: found[rule].status for rule in of_tools(name)} == dict.fromkeys(of_tools(name), Status.NA)


@pytest.mark.parametrize("rule", OF_ONE)
def test_an_unrequested_tool_is_no_gap_beside_a_requested_one(rule: str) -> None:
    other = GOOD["stress-ng"] if TOOL_OF[rule] != "stress-ng" else copies()
    assert status("h100-dgx", rule, other) is Status.NA


@pytest.mark.parametrize("rule", TOOL_OF)
@pytest.mark.parametrize("why", ["tool missing", "denied: it may not be run", "hang: it did not end", "stopped", ""])
def test_a_requested_tool_that_did_not_run_is_unknown(rule: str, why: str) -> None:
    gone = record(TOOL_OF[rule], "", status=None, why=why, version=None)
    assert status("h100-dgx", rule, gone) is Status.UNKNOWN


@pytest.mark.parametrize("rule", OF_ONE)
@pytest.mark.parametrize("odd", [{"status": 1, "out": "trouble"}, {"out": "no answer"}, {"status": "0"}, {"cut": None}])
def test_a_tool_that_ended_with_trouble_or_wrote_what_cannot_be_read_is_unknown(rule: str, odd: Record) -> None:
    assert status("h100-dgx", rule, {**record(TOOL_OF[rule], ""), **odd}) is Status.UNKNOWN


@pytest.mark.parametrize("rule", TOOL_OF)
def test_when_a_record_may_be_lost_nothing_counts_as_unrequested(rule: str) -> None:
    crash = {"k": "error", "t": 3.0, "of": "tools", "stage": "", "name": "crash", "said": "ended by signal 9"}
    nameless = {**record("fio", ""), "name": None}
    for records, end in (([], STOPPED), ([crash], WHOLE), ([nameless], WHOLE), ([{"k": "toll", "t": 1.0}], WHOLE)):
        assert status("h100-dgx", rule, *records, end=end) is Status.UNKNOWN


def test_a_copy_that_nvbandwidth_waived_is_not_tested() -> None:
    waived = nvbandwidth_json(case(COPIES[0], ["60"]), case(COPIES[1], ["60"]), case(COPIES[2], status="Waived"))
    found = verdicts("h100-dgx", record("nvbandwidth", waived, argv=["nvbandwidth", "-j", "-t", *COPIES]))
    assert found["burnin.copy_host"].status is Status.PASS
    assert found["burnin.copy_peer"].status is Status.UNKNOWN


def test_disks_that_a_burn_in_did_not_come_to_are_not_tested_and_one_that_failed_has_failed() -> None:
    rule = "burnin.disk_readable"
    assert status("h100-dgx", rule, of_disk("nvme0n1"), end=STOPPED) is Status.UNKNOWN
    assert status("h100-dgx", rule, unread_disk("nvme0n1"), end=STOPPED) is Status.FAIL


# ---- what tools found ------------------------------------------------------------------------------------------------


def passed(word: str = "Pass", **more: Any) -> str:
    return dcgm(diagnosed("memory", "Pass", "Pass", **more), diagnosed("pcie", "Pass", word))


@pytest.mark.parametrize(
    ("rule", "bad", "found"),
    [
        ("burnin.dcgm", record("dcgm-2", passed("Fail"), status=226), Status.FAIL),
        ("burnin.dcgm", record("dcgm-3", passed("Skip")), Status.UNKNOWN),
        ("burnin.dcgm", record("dcgm-3", passed("Warn")), Status.PASS),
        ("burnin.dcgm_quiet", record("dcgm-1", passed("Warn")), Status.WARN),
        ("burnin.dcgm_quiet", record("dcgm-1", passed(warnings={0: "could not allocate"})), Status.WARN),
        ("burnin.all_reduce_correct", {**all_reduce(470.0, wrong=3), "status": 1}, Status.FAIL),
        ("burnin.disk_readable", unread_disk("nvme0n1"), Status.FAIL),
        (
            "burnin.copies_whole",
            record("nvbandwidth", "", status=1, err="Invalid value when checking the pattern at 0x1"),
            Status.FAIL,
        ),
        (
            "burnin.stress",
            {**GOOD["stress-ng"], "status": 2, "err": "stress-ng: fail:  [7] matrix: data difference\n"},
            Status.FAIL,
        ),
    ],
)
def test_what_a_tool_found_is_judged_as_the_tool_means_it(rule: str, bad: Record, found: Status) -> None:
    assert status("h100-dgx", rule, bad) is found


def test_a_tool_unknown_to_this_version_is_reported_as_not_tested() -> None:
    strange = record("a-new-tool", "", status=None, why="unsupported: this version knows no such tool", version=None)
    assert status("h100-dgx", "burnin.tools_ran", strange) is Status.UNKNOWN


# ---- GPUs beside each other ------------------------------------------------------------------------------------------


def rates(*each: float) -> list[Record]:
    """What a burn-in reports for the products of GPUs, in TFLOP/s."""
    gpus = {"k": "about", "t": 0.1, "gpus": {str(n): {} for n in range(len(each))}}
    work = {"k": "stage", "t": 5.0, "stage": "tensor", "test": "mma", "status": "done", "from": 1.0, "mismatches": 0}
    return [gpus, *({**work, "of": f"gpu/{n}", "rate": rate * 1e12} for n, rate in enumerate(each))]


@pytest.mark.parametrize(("slowest", "found"), [(450.1, Status.PASS), (449.9, Status.WARN)])
def test_a_gpu_more_than_a_tenth_behind_the_fastest_of_its_node_is_worth_a_warning(
    slowest: float, found: Status
) -> None:
    assert status("h100-dgx", "burnin.gpu_spread", *rates(500.0, slowest, 490.0)) is found


PEAKS = {"A100 80GB": ("FLR-001", "", "FLR-058", "8.0"), "B200": ("FLR-006", "FLR-009", "FLR-062", "10.0"),
         "GB200, each GPU": ("FLR-010", "", "FLR-062", "10.0"), "MI300X": ("FLR-012", "", "FLR-063", ""),
         "MI325X": ("FLR-012", "", "FLR-063", ""), "MI355X": ("FLR-014", "", "FLR-063", "")}  # fmt: skip
"""The rows of the base of facts with a part's peaks of bf16, fp32 and HBM, and its compute capability."""


@pytest.mark.parametrize("part", PEAKS)
def test_the_guide_has_the_peaks_of_the_base_of_facts_and_which_chips_have_a_limit(part: str) -> None:
    guide = (TESTS.parent / "docs" / "guide" / "burnin.md").read_text(encoding="utf-8")
    (line,) = (each for each in guide.splitlines() if each.startswith(f"| {part} |"))
    *_, bf16, fp32, hbm, _, limit = (cell.strip() for cell in line.strip("|").split("|"))
    *rows, capability = PEAKS[part]
    for row, cell in zip(rows, (bf16, fp32, hbm), strict=True):
        text = " ".join(each["expected"] for each in base("performance_floors") if each["id"] == row)
        shown = cell.partition(" ")[0].replace(",", "")
        assert shown in re.findall(r"[0-9.]+", text) if row else cell == "no peak in the base of facts"
    assert (limit == "checked") is (light.tensor(capability, 100, 1e9) is not None)


# ---- the facts -------------------------------------------------------------------------------------------------------


def readings(*records: Record, end: Record = WHOLE) -> dict[str, Reading]:
    probe = next(probe for probe in registry().probes if probe.name == "burnin_tools")
    leaves = collect([probe], BurnCapture((HELLO, *records, end)))
    return {path: leaf.reading for path, leaf in leaves.items()}


BARE = [pattern for pattern in every.GIVES if "*" not in pattern]


def test_an_unrequested_tool_names_the_option_to_request_it() -> None:
    found = readings()
    assert found.pop("burnin.tool") == ()
    assert set(found) == set(BARE) - {"burnin.tool"}
    assert all(isinstance(reading, Absent) for reading in found.values())
    assert found["burnin.dcgm.test"] == Absent("not requested: --with dcgm-1 or dcgm-2 or dcgm-3")
    assert found["burnin.fio.disk"] == Absent("not requested: --with fio")


@pytest.mark.parametrize("name", GOOD)
def test_the_probe_returns_exactly_the_facts_of_its_readers(name: str) -> None:
    values, found = dict(every.facts([GOOD[name]])), readings(GOOD[name])
    assert {path: found[path] for path in values} == values
    assert all(isinstance(reading, Absent) for path, reading in found.items() if path not in values)


def test_tools_of_a_burn_in_cut_short_list_their_items_and_are_incomplete() -> None:
    found = readings(of_disk("nvme0n1"), end=STOPPED)
    assert found["burnin.fio.disk/nvme0n1.error"] == 0
    assert isinstance(found["burnin.fio.disk"], Unknown)
    assert "the line was cut" in str(found["burnin.tool"])
