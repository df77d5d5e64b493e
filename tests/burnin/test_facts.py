"""From records to facts: an error counts however little was tested, and what was not tested is never called correct."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from burn_racks import capture, ills, job, tree
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.evaluate.verdict import judge
from rackcheck.model.capture import BurnCapture
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Absent, Reading, Unknown
from rackcheck.model.path import parse
from rackcheck.parse.burnin.plan import Tier

CLEAN = capture(1, 7)
WRONG = capture(1, 7, ills("gpu-bitflip", gpu="5", address="0x1000", bit="3"))
Records = Iterable[Mapping[str, Any]]


def reading(records: Records, path: str) -> Reading:
    leaf = tree(1, 1, BurnCapture(tuple(records))).leaves.get(path)
    assert leaf is not None, path
    return leaf.reading


def verdicts(records: Records) -> Mapping[str, Status]:
    profile = job(1).profile
    assert profile is not None
    alone = [rule for rule in profile.own if ".among." not in "".join(map(str, rule.facts()))]
    found = tree(1, 1, BurnCapture(tuple(records)))
    return {verdict.rule: verdict.status for verdict in judge(alone, found)}


def without(found: BurnCapture, **fields: object) -> list[Mapping[str, Any]]:
    """The records without those that match all of this."""
    return [r for r in found.records if not all(r.get(name) == value for name, value in fields.items())]


def test_a_clean_node_passes_every_rule_that_applies() -> None:
    found = verdicts(CLEAN.records)
    assert set(found.values()) == {Status.PASS, Status.NA}
    assert sum(status is Status.PASS for status in found.values()) >= 14


@pytest.mark.parametrize("stage", ["memory", "tensor", "scalar", "links"])
def test_a_gpu_with_one_unreported_stage_is_not_correct(stage: str) -> None:
    records = without(CLEAN, k="stage", of="gpu/3", stage=stage)
    assert len(records) < len(CLEAN.records)
    assert isinstance(reading(records, "burnin.gpu/3.mismatches"), Unknown)
    assert reading(records, "burnin.gpu/2.mismatches") == 0
    assert verdicts(records)["burnin.gpu_correct"] is Status.UNKNOWN


@pytest.mark.parametrize(
    ("stage", "test", "facts", "rules"),
    [
        (
            "memory",
            "copy",
            ("memory.copy", "light.memory.copy.reached"),
            ("burnin.gpu_memory_limit", "burnin.gpu_memory_rate"),
        ),
        ("memory", "verify", ("memory.verify", "light.memory.verify.reached"), ("burnin.gpu_memory_rate",)),
        ("links", "h2d", ("link.h2d", "light.link.h2d.reached"), ("burnin.gpu_host_limit", "burnin.gpu_host_rate")),
        ("tensor", "mma", ("tensor.rate", "tensor.work_per_clock"), ("burnin.gpu_tensor_limit",)),
    ],
)
def test_a_rate_that_was_measured_too_shortly_is_unknown_and_the_reason_is_stated(
    stage: str, test: str, facts: Sequence[str], rules: Sequence[str]
) -> None:
    found = [dict(record) for record in CLEAN.records]
    for record in found:
        if record.get("of") == "gpu/3" and (record.get("stage"), record.get("test")) == (stage, test):
            del record["rate"]
            record.update(measured=0.0312, least=0.1)
    for fact in facts:
        value = reading(found, f"burnin.gpu/3.{fact}")
        assert isinstance(value, Unknown), fact
        assert value.detail == "the rate was measured for 0.0312 s; the minimum is 0.1 s", fact
        assert not isinstance(reading(found, f"burnin.gpu/2.{fact}"), Unknown), fact
    assert {rule: verdicts(found)[rule] for rule in rules} == dict.fromkeys(rules, Status.UNKNOWN)


def changed(records: Records, about: Mapping[str, Any], silent: str) -> list[Mapping[str, Any]]:
    """The records with other properties of each GPU, and without one column of its samples."""
    found: list[Mapping[str, Any]] = []
    for record in records:
        values = {name: value for name, value in record.items() if not (record["k"] == "sample" and name == silent)}
        if record["k"] == "about" and "gpus" in record:
            values["gpus"] = {index: {**gpu, **about} for index, gpu in record["gpus"].items()}
        found.append(values)
    return found


def test_nvlink_errors_do_not_concern_a_gpu_without_nvlink_and_are_unknown_where_only_the_counter_is_silent() -> None:
    path, rule = "burnin.gpu/0.moved.nvlink_errors", "burnin.no_nvlink_errors"
    linkless = changed(CLEAN.records, {"nvlinks": 0}, "nvlink_errors")
    assert isinstance(reading(linkless, path), Absent)
    assert verdicts(linkless)[rule] is Status.NA
    silent = changed(CLEAN.records, {"nvlinks": 18}, "nvlink_errors")
    assert isinstance(reading(silent, path), Unknown)
    assert verdicts(silent)[rule] is Status.UNKNOWN
    assert reading(changed(CLEAN.records, {"nvlinks": 0}, ""), path) == 0


@pytest.mark.parametrize(("tier", "status"), [("validate", Status.NA), ("soak", Status.UNKNOWN), ("smoke", Status.NA)])
def test_a_temperature_whose_end_a_minute_does_not_show_is_left_to_a_soak(tier: str, status: Status) -> None:
    """As an H100 that jumped to 57 C and rose three degrees in the half minute after."""

    def slower(record: Mapping[str, Any]) -> Mapping[str, Any]:
        if record["k"] == "hello":
            return {**record, "tier": tier}
        return {**record, "temp": round(57 + record["t"] / 10)} if "temp" in record else record

    records = [slower(record) for record in capture(1, 7, tier=Tier.VALIDATE).records]
    assert verdicts(records)["burnin.gpu_stays_cool"] is status


@pytest.mark.parametrize("stage", ["fingerprint", "crypto", "ram"])
def test_processors_with_one_unreported_stage_are_not_correct(stage: str) -> None:
    records = without(CLEAN, k="stage", stage=stage)
    assert verdicts(records)["burnin.cpu_correct"] is Status.UNKNOWN


def test_without_the_last_record_nothing_is_right() -> None:
    found = verdicts(without(CLEAN, k="verdict"))
    for rule in ("burnin.whole", "burnin.gpu_correct", "burnin.cpu_correct"):
        assert found[rule] is Status.UNKNOWN


def test_what_is_wrong_stands_though_the_burn_in_ended_early() -> None:
    records = without(WRONG, k="verdict")
    assert verdicts(records)["burnin.gpu_correct"] is Status.FAIL


def test_a_gpu_that_could_not_be_looked_at_is_an_item_of_which_nothing_is_known() -> None:
    records = [{**r, "troubles": [{"of": "gpu/9", "why": "lost: NVML: GPU is lost"}]} if r["k"] == "hello" else r
               for r in CLEAN.records]  # fmt: skip
    assert isinstance(reading(records, "burnin.gpu/9.mismatches"), Unknown)
    assert verdicts(records)["burnin.gpu_correct"] is Status.UNKNOWN


def test_where_gpus_may_be_missing_the_collection_is_unknown() -> None:
    why = "no driver: 8 NVIDIA GPUs on the PCI bus, NVML reports 7"
    records = [{**r, "troubles": [{"of": "node", "why": why}]} if r["k"] == "hello" else r for r in CLEAN.records]
    found = reading(records, "burnin.gpu")
    assert isinstance(found, Unknown)
    assert found.detail == why
    assert verdicts(records)["burnin.gpu_correct"] is Status.UNKNOWN


def test_a_refused_gpu_is_not_tested_with_the_reason() -> None:
    records = [r for r in CLEAN.records if r.get("of") != "gpu/3"]
    records.insert(3, {"k": "stage", "t": 1, "of": "gpu/3", "stage": "memory", "test": "", "status": "not tested",
                       "why": "foreign process: pid 12 (python3)"})  # fmt: skip
    found = reading(records, "burnin.gpu/3.memory.mismatches")
    assert isinstance(found, Unknown)
    assert found.detail == "foreign process: pid 12 (python3)"


def test_a_counter_that_went_back_is_no_zero() -> None:
    rows = [{"k": "sample", "of": "gpu/0", "t": 900 + i, "replays": value} for i, value in enumerate((5, 3))]
    assert isinstance(reading([*CLEAN.records[:-1], *rows, CLEAN.records[-1]], "burnin.gpu/0.moved.replays"), Unknown)


def test_a_finding_states_place_actual_expected_and_how_to_reproduce() -> None:
    leaf = tree(1, 1, WRONG).leaves["burnin.gpu/5.mismatches"]
    assert leaf.source.startswith(
        "burn-in: gpu/5 (serial number 1650001000006 0000:c3:00.0) mismatch, in memory, at 0x1000"
    )
    assert leaf.source.endswith("; --seed 7 repeats it")


def test_a_long_seed_is_printed_with_all_its_digits() -> None:
    seed = 163402363379650707
    error = {"k": "error", "t": 2, "of": "gpu/5", "stage": "memory", "name": "mismatch", "seed": seed, "count": 1}
    leaf = tree(1, 1, BurnCapture((*CLEAN.records[:-1], error, CLEAN.records[-1]))).leaves["burnin.gpu/5.mismatches"]
    assert f"pattern seed {seed}" in leaf.source


def test_one_gpu_has_no_peers_and_few_gpus_no_spread() -> None:
    alone = tree(1, 1, CLEAN)
    assert alone.leaves.get("burnin.gpu/0.among.work") is None  # only computed once all nodes have reported
    found = alone.reading(parse("burnin.gpu/0.tensor.work_per_clock"), alone.leaves["burnin.tier"].plane)
    assert not isinstance(found, Unknown | Absent)


_LARGE = [number for number, record in enumerate(CLEAN.records) if record["k"] != "sample"]


@settings(max_examples=60)
@given(st.sets(st.sampled_from(_LARGE), max_size=40))
def test_records_that_are_lost_turn_no_verdict_round(lost: set[int]) -> None:
    """On a clean node no rule then fails; on a faulty node no rule that failed then passes."""
    kept = [record for number, record in enumerate(CLEAN.records) if number not in lost]
    before, after = verdicts(CLEAN.records), verdicts(kept)
    assert not [rule for rule, status in after.items() if status in {Status.FAIL, Status.WARN}]
    assert not [rule for rule in after if before[rule] is Status.UNKNOWN and after[rule] is Status.PASS]
    found = verdicts([r for n, r in enumerate(WRONG.records) if n not in lost or r["k"] == "error"])
    assert found["burnin.gpu_correct"] is Status.FAIL


def test_records_after_the_verdict_are_counted_and_not_read() -> None:
    error = {"k": "error", "t": 2, "of": "gpu/5", "stage": "memory", "name": "mismatch", "count": 1}
    assert reading([*CLEAN.records, error], "burnin.unread") == 1
    assert reading([*CLEAN.records, {"k": "sample", "of": "bmc", "t": 99, "inlet": 20.0}], "burnin.unread") == 0


@pytest.mark.parametrize("wrong", [
    {"k": "error", "t": 2, "of": "gpu/5", "stage": "memory", "name": "Mismatch"},
    {"k": "error", "t": 2, "of": "GPU/5", "stage": "memory", "name": "mismatch"},
    {"k": "sample", "t": 2, "of": "nic/*", "up": 1},
    {"k": "sample", "t": 2, "of": "bmc", "fans": []},
    {"k": "about", "t": 2, "gpus": {"*": {}}},
    {"k": "about", "t": 2, "troubles": [{"of": "peer/0-*", "why": "x"}]},
    {"k": "stage", "t": 2, "of": "gpu/0", "stage": "memory", "status": "done", "mismatches": 0.5},
    {"k": "tool", "t": 2, "name": ["fio"]},
])  # fmt: skip
def test_an_unknown_record_kind_is_unreadable_and_hides_nothing(wrong: dict[str, Any]) -> None:
    found = verdicts([*WRONG.records[:-1], wrong, WRONG.records[-1]])
    assert found["burnin.readable"] is Status.FAIL
    assert found["burnin.gpu_correct"] is Status.FAIL


def test_two_verdicts_are_none() -> None:
    stopped = {"k": "verdict", "t": 1, "status": "stopped", "why": ""}
    assert verdicts([*CLEAN.records[:-1], stopped, CLEAN.records[-1]])["burnin.whole"] is Status.UNKNOWN


def test_samples_that_end_before_the_load_vouch_for_nothing() -> None:
    records = [r for r in CLEAN.records if not (r["k"] == "sample" and r["of"] == "gpu/2" and r["t"] > 6)]
    found = verdicts(records)
    for rule in ("burnin.no_uncorrected", "burnin.no_replay", "burnin.not_throttled"):
        assert found[rule] is Status.UNKNOWN, rule


def test_processors_that_were_named_and_not_tested_are_not_right() -> None:
    records = [r for r in CLEAN.records if not (r["k"] == "stage" and r["of"] == "cpu/2")]
    assert verdicts(records)["burnin.cpu_correct"] is Status.UNKNOWN
    assert verdicts(records)["burnin.cpu_alike"] is Status.UNKNOWN


@pytest.mark.parametrize(
    ("share", "status"), [(0.043, Status.WARN), (0.249, Status.WARN), (0.25, Status.PASS), (0.45, Status.PASS)]
)
def test_ram_of_which_less_than_a_quarter_was_tested_is_a_warning(share: float, status: Status) -> None:
    records = [{**r, "coverage": share} if r.get("stage") == "ram" and "coverage" in r else r for r in CLEAN.records]
    assert verdicts(records)["burnin.memory_covered"] is status


def test_a_numa_node_without_cpus_that_was_not_tested_leaves_processors_and_memory_unknown() -> None:
    records = [{**r, "numa": {**r["numa"], "8": []}} if "numa" in r else r for r in CLEAN.records]
    assert records != list(CLEAN.records)
    assert verdicts(records)["burnin.cpu_correct"] is Status.UNKNOWN


def test_memory_of_which_little_was_tested_is_not_right() -> None:
    records = [{**r, "coverage": 0.01} if r.get("stage") == "memory" and "coverage" in r else r for r in CLEAN.records]
    assert verdicts(records)["burnin.gpu_correct"] is Status.UNKNOWN


GIB = 2**30


def sized(**sizes: float) -> list[Mapping[str, Any]]:
    """The clean records, in which each verified memory has these sizes."""
    return [{**r, **sizes} if r.get("stage") == "memory" and "tested" in r else r for r in CLEAN.records]


def test_a_temperature_without_a_limit_is_listed_and_one_that_was_not_read_is_unknown() -> None:
    def edited(*lost: str, **about: object) -> list[Mapping[str, Any]]:
        gpus = [
            {**r, "gpus": {**r["gpus"], "3": {**r["gpus"]["3"], **about}}} if "gpus" in r else r for r in CLEAN.records
        ]
        return [
            {key: value for key, value in r.items() if key not in lost} if r.get("of") == "gpu/3" else r for r in gpus
        ]

    path = "burnin.gpu/3.unguarded"
    assert reading(CLEAN.records, path) == ()
    assert reading(edited("below", memory_limit=False), path) == ("chip", "memory")
    assert reading(edited("memory_temp", memory_limit=False), path) == (), "memory without a sensor needs no limit"
    late = [
        {k: v for k, v in r.items() if k != "below"} if r.get("of") == "gpu/3" and r["t"] > 4.0 else r
        for r in CLEAN.records
    ]
    assert reading(late, path) == ("chip",), "a margin that could not be read at the end of the load"
    assert isinstance(reading(edited("temp"), path), Unknown)
    assert isinstance(reading(edited(memory_limit=None), path), Unknown), "records of an earlier version"


def covering(share: float, of: str = "numa/1") -> list[Mapping[str, Any]]:
    """The records of a clean node whose RAM test covered this share of one NUMA node."""
    return [{**r, "coverage": share} if (r.get("stage"), r.get("of")) == ("ram", of) else r for r in CLEAN.records]


def test_a_ram_test_that_covered_almost_nothing_tested_nothing_and_fails_nothing() -> None:
    """A busy but sound node: the bound is 1 %, and just above it the memory counts as tested."""
    found = verdicts(covering(0.0099))
    assert found["burnin.cpu_correct"] is Status.UNKNOWN
    assert Status.FAIL not in found.values()
    value = reading(covering(0.0099), "burnin.memory/1.mismatches")
    assert isinstance(value, Unknown)
    assert value.detail == "under-loaded: the RAM test covered 0.99% of NUMA node 1, less than 1%"
    assert reading(covering(0.0099), "burnin.memory/0.mismatches") == 0
    assert reading(covering(0.0099), "burnin.cpu.odd") == ()
    assert verdicts(covering(0.0101))["burnin.cpu_correct"] is Status.PASS


def test_a_wrong_word_counts_however_little_memory_was_covered() -> None:
    error = {"k": "error", "t": 9.0, "of": "numa/1", "stage": "ram", "name": "mismatch", "address": 4096}
    records = [*covering(0.0001)[:-1], error, CLEAN.records[-1]]
    assert reading(records, "burnin.memory/1.mismatches") == 1
    assert verdicts(records)["burnin.cpu_correct"] is Status.FAIL


def test_coverage_is_the_share_of_the_whole_memory_and_the_rest_has_its_reasons() -> None:
    records = sized(tested=92 * GIB, total=97 * GIB, free=95 * GIB, coverage=round(92 / 97, 4))
    records = changed(records, {"memory": 100 * GIB}, "")
    assert reading(records, "burnin.gpu/0.memory.coverage") == pytest.approx(92.0)
    rest = {name: reading(records, f"burnin.gpu/0.memory.{name}") for name in ("reserved", "in_use", "left")}
    assert rest == {"reserved": 3.0, "in_use": 2.0, "left": 3.0}
    found = verdicts(records)
    assert (found["burnin.gpu_memory_covered"], found["burnin.gpu_correct"]) == (Status.PASS, Status.PASS)


def test_memory_that_is_reserved_or_in_use_counts_as_not_tested() -> None:
    """98 % of what was free, and 95 % of what CUDA lists, is here only 85 % of the GPU's memory."""
    records = sized(tested=85 * GIB, total=89 * GIB, free=86 * GIB, coverage=round(85 / 89, 4))
    found = verdicts(changed(records, {"memory": 100 * GIB}, ""))
    assert (found["burnin.gpu_memory_covered"], found["burnin.gpu_correct"]) == (Status.WARN, Status.UNKNOWN)


def test_without_a_size_from_nvml_the_memory_that_cuda_lists_counts_and_what_is_reserved_is_unknown() -> None:
    records = [
        {
            **r,
            "gpus": {index: {key: v for key, v in gpu.items() if key != "memory"} for index, gpu in r["gpus"].items()},
        }
        if r["k"] == "about" and "gpus" in r
        else r
        for r in sized(tested=92 * GIB, total=97 * GIB, free=95 * GIB, coverage=0.9485)
    ]
    assert reading(records, "burnin.gpu/0.memory.coverage") == pytest.approx(94.85)
    assert isinstance(reading(records, "burnin.gpu/0.memory.reserved"), Unknown)
    assert reading(records, "burnin.gpu/0.memory.in_use") == 2.0
