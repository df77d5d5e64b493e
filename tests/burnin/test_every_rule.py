"""Each rule about a load fails for the smallest record that breaks what it checks, and passes for a clean node."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import pytest
from burn_racks import capture, job, judged, tree

from rackcheck.evaluate.verdict import judge
from rackcheck.model.capture import BurnCapture
from rackcheck.model.evidence import Status
from rackcheck.parse.burnin.plan import Tier

Record = Mapping[str, Any]
Edit = Callable[[Record], Record]


@cache
def clean() -> tuple[Record, ...]:
    """A validate run: half a minute of tensor work, so that it has a last half and a steady temperature."""
    return tuple(capture(1, 7, tier=Tier.VALIDATE).records)


def verdicts(records: Iterable[Record]) -> Mapping[str, Status]:
    profile = job(1).profile
    assert profile is not None
    return {verdict.rule: verdict.status for verdict in judge(profile.own, tree(1, 1, BurnCapture(tuple(records))))}


def stages(of: str, stage: str, *tests: str, **fields: object) -> Edit:
    """Change fields of the stages of a part: a number is a factor of the rate, text replaces."""

    def edit(record: Record) -> Record:
        mine = record["k"] == "stage" and record["of"] == of and record["stage"] == stage
        if not mine or (tests and record["test"] not in tests):
            return record
        scaled = {name: record[name] * value for name, value in fields.items() if isinstance(value, float)}
        return {**record, **{name: value for name, value in fields.items() if not isinstance(value, float)}, **scaled}

    return edit


def samples(of: str, since: float = 0.0, **fields: object) -> Edit:
    """Replace values of a part's samples from this time on."""
    return lambda r: {**r, **fields} if r["k"] == "sample" and r["of"] == of and r["t"] >= since else r


def about(index: str, **fields: object) -> Edit:
    """Replace what the driver reports of a GPU."""

    def edit(record: Record) -> Record:
        if record["k"] != "about" or "gpus" not in record:
            return record
        return {**record, "gpus": {**record["gpus"], index: {**record["gpus"][index], **fields}}}

    return edit


def found(of: str, name: str, **fields: object) -> Callable[[Iterable[Record]], list[Record]]:
    """Add a fault before the last record."""

    def add(records: Iterable[Record]) -> list[Record]:
        *first, last = records
        return [*first, {"k": "error", "t": last["t"], "of": of, "stage": "", "name": name, **fields}, last]

    return add


def disk(**fields: object) -> Callable[[Iterable[Record]], list[Record]]:
    """Add the test of a scratch file before the last record."""

    def add(records: Iterable[Record]) -> list[Record]:
        *first, last = records
        stage = {"k": "stage", "t": last["t"], "of": "disk//var/tmp", "stage": "disk", "from": 1.0, "status": "done",
                 "unit": "B", "work": 4096, "seconds": 0.5, "rate": 8192.0}  # fmt: skip
        return [*first, {**stage, "test": "write"}, {**stage, "test": "read", "mismatches": 0, **fields}, last]

    return add


def each(*edits: Edit) -> Callable[[Iterable[Record]], list[Record]]:
    def edited(records: Iterable[Record]) -> list[Record]:
        kept = list(records)
        for edit in edits:
            kept = [edit(record) for record in kept]
        return kept

    return edited


def middle(stage: str) -> float:
    """The time, in seconds, at the middle of the work of a stage of GPU 3."""
    mine = [r for r in clean() if r["k"] == "stage" and r["of"] == "gpu/3" and r["stage"] == stage]
    return float((min(r["from"] for r in mine) + max(r["t"] for r in mine)) / 2)


HALF = 0.5
BROKEN: Mapping[str, Callable[[Iterable[Record]], Iterable[Record]]] = {
    "burnin.whole": each(lambda r: {**r, "status": "partial", "why": "stopped"} if r["k"] == "verdict" else r),
    "burnin.no_crash": found("gpu/3", "hang", said="no reply"),
    "burnin.nothing_else": found("gpu/3", "hot", temp=92.0, limit=90.0),
    "burnin.driver_prompt": found("gpu/3", "late", said="the driver took 9 s"),
    "burnin.cpu_correct": each(stages("cpu/1", "fma", mismatches=1)),
    "burnin.amx_correct": each(stages("cpu/1", "amx", "int8", mismatches=1)),
    "burnin.cpu_alike": found("cpu/1", "disagree"),
    "burnin.disk_correct": disk(mismatches=1),
    "burnin.gpu_correct": each(stages("gpu/3", "tensor", mismatches=1)),
    "burnin.no_uncorrected": each(samples("gpu/3", 9, ecc_uncorrected=1)),
    "burnin.no_remap": each(samples("gpu/3", 9, remap_pending=1)),
    "burnin.no_failed_remap": each(samples("gpu/3", 9, remap_failed=1)),
    "burnin.no_corrected": each(samples("gpu/3", 9, ecc_corrected=1)),
    "burnin.no_replay": each(samples("gpu/3", 9, replays=1)),
    "burnin.no_nvlink_errors": each(samples("gpu/3", 9, nvlink_errors=1)),
    "burnin.no_xid": each(samples("gpu/3", 9, xids=1)),
    "burnin.link_full": each(samples("gpu/3", width=8)),
    "burnin.not_throttled": each(samples("gpu/3", 9, reasons=0x40)),
    "burnin.nic_stayed_up": each(samples("nic/mlx5_0", 9, up=0)),
    "burnin.nic_no_errors": each(samples("nic/mlx5_0", 9, symbol_error=1)),
    "burnin.gpu_work_alike": each(stages("gpu/3", "tensor", rate=HALF)),
    "burnin.gpu_rate_alike": each(stages("gpu/3", "tensor", rate=HALF)),
    "burnin.gpu_memory_rate": each(stages("gpu/3", "memory", "copy", rate=HALF)),
    "burnin.gpu_memory_limit": each(*(stages(f"gpu/{n}", "memory", "copy", rate=HALF) for n in range(8))),
    "burnin.gpu_tensor_limit": each(*(stages(f"gpu/{n}", "tensor", rate=0.1) for n in range(8))),
    "burnin.gpu_host_rate": each(stages("gpu/3", "links", "h2d", rate=HALF)),
    "burnin.gpu_host_limit": each(*(stages(f"gpu/{n}", "links", "d2h", rate=HALF) for n in range(8))),
    "burnin.gpu_peer_rate": each(*(stages(f"peer/{a}-{b}", "links", rate=HALF) for a in range(8) for b in range(8)
                                   if 3 in (a, b))),
    "burnin.gpu_pair_rate": each(stages("peer/2-3", "links", rate=HALF), stages("peer/3-2", "links", rate=HALF)),
    "burnin.gpu_pair_direct": each(stages("peer/2-3", "links", rate=0.02, direct=False),
                                   stages("peer/3-2", "links", rate=0.02, direct=False)),
    # The second half alone: a mean over the whole stage is still above each limit.
    "burnin.gpu_loaded": each(samples("gpu/3", middle("tensor"), power=560.0)),
    "burnin.gpu_power_alike": each(samples("gpu/3", middle("tensor"), power=500.0)),
    "burnin.gpu_clock": each(samples("gpu/3", middle("tensor"), reasons=0, clock=1.5e9)),
    "burnin.gpu_limit": each(about("3", limit=500.0)),
    "burnin.gpu_memory_covered": each(stages("gpu/3", "memory", "verify", coverage=0.9)),
    "burnin.gpu_guarded": each(about("3", memory_limit=False)),
    "burnin.core_rate": each(stages("cpu/1", "fma", rate=HALF)),
    "burnin.memory_rate": each(stages("numa/1", "triad", rate=0.85)),
    "burnin.memory_covered": each(stages("numa/1", "ram", coverage=0.1)),
    "burnin.gpu_heat_alike": each(lambda r: {**r, "temp": r["temp"] + (r["temp"] - 33)}
                                  if r["k"] == "sample" and r["of"] == "gpu/3" else r),
}  # fmt: skip
"""For each rule, an edit of the records of a clean node."""

ELSEWHERE = {
    "burnin.readable": "tests/burnin/test_hostile.py",
    "burnin.gpus_tested": "tests/burnin/test_accelerators.py",
    "burnin.cpu_measured": "tests/burnin/test_cli.py",
    "burnin.gpu_stays_cool": "tests/burnin/test_facts.py",
    "burnin.gpu_work_best": "below, in a rack",
    "burnin.gpu_alike": "tests/burnin/test_grid.py",
    "burnin.gpu_work": "tests/burnin/test_grid.py",
    "burnin.gpu_rate": "tests/burnin/test_grid.py",
    "burnin.gpu_heat": "tests/burnin/test_grid.py",
    "burnin.gpu_memory_best": "below, in a rack",
    "burnin.gpu_host_best": "below, in a rack",
    "burnin.gpu_peer_best": "below, in a rack",
    "burnin.gpu_rate_best": "below, in a rack",
    "burnin.gpu_power_best": "below, in a rack",
}
"""Rules that need other records or several nodes to fail, and the tests in which they do."""

OF_TOOLS = {
    "burnin.tools_ran", "burnin.dcgm", "burnin.dcgm_quiet", "burnin.copies_whole", "burnin.all_reduce_correct",
    "burnin.disk_readable", "burnin.stress", "burnin.cublas_exact", "burnin.rvs", "burnin.transfers_whole",
    "burnin.gemm_alike", "burnin.amd_uncorrected", "burnin.amd_deferred", "burnin.amd_no_replay", "burnin.hl_qual",
}  # fmt: skip
"""Rules about the outputs of tools, which the tests of each tool break."""

OTHERWISE = dict.fromkeys(
    ("burnin.no_corrected", "burnin.driver_prompt", "burnin.gpu_loaded", "burnin.memory_covered", "burnin.memory_rate",
     "burnin.gpu_heat_alike", "burnin.gpu_memory_covered", "burnin.gpu_guarded"), Status.WARN,
) | {"burnin.whole": Status.UNKNOWN}  # fmt: skip
"""Rules that do not fail: a limit that is rackcheck's own choice warns, and a load that was cut off proves nothing."""


def test_every_rule_is_broken_here_or_in_a_test_that_is_named() -> None:
    profile = job(1).profile
    assert profile is not None
    assert {rule.id for rule in profile.own} == {*BROKEN, *ELSEWHERE, *OF_TOOLS}


def test_the_clean_node_fails_no_rule() -> None:
    assert {rule for rule, status in verdicts(clean()).items() if status in {Status.FAIL, Status.WARN}} == set()


@pytest.mark.parametrize("rule", BROKEN)
def test_a_rule_fails_for_the_record_that_breaks_what_it_checks(rule: str) -> None:
    assert verdicts(BROKEN[rule](clean()))[rule] is OTHERWISE.get(rule, Status.FAIL)


def test_where_half_of_all_gpus_are_slow_each_of_them_is_found_by_the_better_half() -> None:
    slow = {1: range(8), 2: range(8), 3: range(4)}
    trees = []
    for number in range(1, 6):
        edits = (stages(f"gpu/{n}", "tensor", rate=HALF) for n in slow.get(number, ()))
        trees.append(tree(5, number, BurnCapture(tuple(each(*edits)(capture(number, 7).records)))))
    failed = judged(trees).failed
    found = {node: len(rules.get("burnin.gpu_work_best", ())) for node, rules in failed.items()}
    assert found == {f"n{number:02}": len(gpus) for number, gpus in slow.items()}


ALL_OF_A_NODE: Mapping[str, Callable[[Iterable[Record]], Iterable[Record]]] = {
    "burnin.gpu_memory_best": each(*(stages(f"gpu/{n}", "memory", "verify", rate=HALF) for n in range(8))),
    "burnin.gpu_host_best": each(*(stages(f"gpu/{n}", "links", "d2h", rate=HALF) for n in range(8))),
    "burnin.gpu_peer_best": each(*(stages(f"peer/{a}-{b}", "links", rate=HALF) for a in range(8) for b in range(8))),
    "burnin.gpu_rate_best": each(*(stages(f"gpu/{n}", "tensor", rate=HALF) for n in range(8))),
    "burnin.gpu_power_best": each(*(samples(f"gpu/{n}", power=300.0) for n in range(8))),
}
"""For each rule that compares the GPUs of all nodes, an edit of the records of one whole node."""


@pytest.mark.parametrize("rule", ALL_OF_A_NODE)
def test_a_node_whose_gpus_are_all_slow_fails_the_rule_and_the_nodes_it_is_compared_with_do_not(rule: str) -> None:
    whole = [tree(4, number, capture(number, 7)) for number in range(1, 4)]
    slow = BurnCapture(tuple(ALL_OF_A_NODE[rule](capture(4, 7).records)))
    failed = judged([*whole, tree(4, 4, slow)]).failed
    assert set(failed) == {"n04"}
    assert len({place.partition(".among")[0] for place in failed["n04"][rule]}) == 8
