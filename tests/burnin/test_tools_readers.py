"""Output of tools under burn-in: each value from its place, and nothing that was not tested passes."""

from collections.abc import Mapping
from typing import Any

import pytest
from recordings import shared_text
from tool_answers import (
    ALL_REDUCE,
    COPIES,
    FIO,
    GOOD,
    IB_WRITE_BW,
    NVBANDWIDTH,
    STRESS_NG,
    STRESS_WORDS,
    case,
    dcgm,
    diagnosed,
    fio,
    job,
    nvbandwidth_json,
    record,
)  # fmt: skip

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Entry, Type
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.parse.burnin.tools import every

FACTS = Catalogue.of(Entry(pattern, kind, Plane.BURNIN, "tools") for pattern, kind in every.GIVES.items())


def readings_of(*records: Mapping[str, Any]) -> dict[str, Reading]:
    return dict(every.facts(records))


def untested(reading: Reading) -> bool:
    return isinstance(reading, Unknown) and reading.reason is Reason.NOT_TESTED


@pytest.mark.parametrize("name", GOOD)
def test_every_fact_is_promised_and_of_its_kind(name: str) -> None:
    types = {
        Type.TEXT: str,
        Type.VERSION: str,
        Type.INTEGER: int,
        Type.QUANTITY: float,
        Type.COLLECTION: tuple,
        Type.LIST: tuple,
    }
    for path, reading in readings_of(GOOD[name]).items():
        entry = FACTS.find(paths.parse(path))
        assert entry is not None, path
        assert isinstance(reading, Unknown | Absent | types[entry.kind.type]), (path, reading)
        assert not entry.kind.words or isinstance(reading, Unknown | Absent) or reading in entry.kind.words


@pytest.mark.parametrize("name", GOOD)
def test_a_tool_that_ended_with_trouble_passes_nothing_and_gives_no_rate(name: str) -> None:
    for path, reading in readings_of({**GOOD[name], "status": 1, "err": "some trouble\n"}).items():
        assert reading != "pass", path
        entry = FACTS.find(paths.parse(path))
        assert entry is not None
        assert entry.kind.unit in {"", "s"} or isinstance(reading, Unknown), path


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(("why", "reason"), [
    ("tool missing", Reason.TOOL_MISSING), ("stopped", Reason.NOT_TESTED), ("hang: it did not end within 9 s", Reason.TIMEOUT),
    ("denied: it may not be run", Reason.DENIED), ("", Reason.NOT_TESTED),
])  # fmt: skip
def test_a_tool_that_did_not_run_to_its_end_makes_all_of_its_facts_unknown(name: str, why: str, reason: Reason) -> None:
    facts = readings_of({**GOOD[name], "status": None, "why": why, "version": None})
    items = {"burnin.tool", "burnin.fio.disk", "burnin.ib_write_bw.nic", "burnin.rocblas.gpu"}
    for path, reading in facts.items():
        assert path in items or (isinstance(reading, Unknown) and reading.reason is reason), path
    assert len(facts) > 4


def test_the_recorded_diagnosis_names_the_gpus_that_failed_and_skips_are_not_tested() -> None:
    facts = readings_of(record("dcgm-3", shared_text("nvidia/dcgmi-diag-per-gpu-json.json"), status=226))
    at = "burnin.dcgm.test"
    assert facts[f"{at}/Denylist.result"] == "pass"
    assert facts[f'{at}/"Page Retirement/Row Remap".gpu'] == ("0", "1", "2", "3")
    assert untested(facts[f"{at}/memory.gpu/0.result"])
    assert facts[f"{at}/memory.gpu/1.result"] == "pass"
    assert untested(facts[f"{at}/memory.result"])
    assert untested(facts[f"{at}/targeted_power.gpu/3.result"])
    assert [facts[f"{at}/sm_stress.gpu/{gpu}.result"] for gpu in range(4)] == ["fail", "pass", "fail", "fail"]
    assert facts[f"{at}/sm_stress.result"] == "fail"
    warnings = facts[f"{at}/memory.gpu/0.warnings"]
    assert isinstance(warnings, tuple)
    assert "ECC memory on GPU 0 is not currently active" in warnings[0]


def test_a_diagnosis_of_version_4_is_read_by_its_entities_and_its_summary() -> None:
    answer = dcgm(
        diagnosed("software", "Fail", "Pass", summary="Fail", warnings={0: "Persistence mode is disabled"}),
        diagnosed("memory", "Pass", "Pass", summary="Fail"),
        diagnosed("pcie", "Pass", "Warn"),
        diagnosed("targeted_power", "Skip", "Not Run", summary="Skip"),
    )
    facts = readings_of(record("dcgm-2", f"a banner\n{answer}", status=226))
    assert facts["burnin.dcgm.version"] == "4.2.3"
    assert facts["burnin.dcgm.test/software.gpu/0.warnings"] == ("Persistence mode is disabled",)
    assert facts["burnin.dcgm.test/software.gpu/1.result"] == "pass"
    assert facts["burnin.dcgm.test/memory.gpu/0.result"] == "pass"
    assert facts["burnin.dcgm.test/memory.result"] == "fail"
    assert facts["burnin.dcgm.test/pcie.result"] == "warn"
    assert untested(facts["burnin.dcgm.test/targeted_power.gpu/1.result"])


def test_a_pass_of_dcgm_with_an_error_beside_it_is_no_clean_pass() -> None:
    facts = readings_of(record("dcgm-2", dcgm(diagnosed("memory", "Pass", warnings={0: "could not allocate"}))))
    assert facts["burnin.dcgm.test/memory.gpu/0.result"] == "warn"


@pytest.mark.parametrize("word", ["", "Inconclusive", "PASSED?", "pass\x00"])
def test_a_verdict_that_dcgm_never_gave_before_is_no_pass(word: str) -> None:
    assert isinstance(
        readings_of(record("dcgm-1", dcgm(diagnosed("memory", word))))["burnin.dcgm.test/memory.result"], Unknown
    )


def test_a_test_of_dcgm_without_results_is_not_tested() -> None:
    assert untested(readings_of(record("dcgm-1", dcgm(diagnosed("memory"))))["burnin.dcgm.test/memory.result"])


def test_a_diagnosis_that_could_not_be_run_is_not_tested() -> None:
    answer = '{"DCGM Diagnostic": {"runtime_error": "The host engine is paused.", "version": "3.3.9"}}'
    tests = readings_of(record("dcgm-2", answer, status=226))["burnin.dcgm.test"]
    assert untested(tests)
    assert "host engine is paused" in str(tests)


def test_a_failure_at_one_level_of_the_diagnosis_outlives_a_pass_at_another() -> None:
    good, bad = (
        record(f"dcgm-{n}", dcgm(diagnosed("memory", word)), status=n % 2) for n, word in ((2, "Pass"), (3, "Fail"))
    )
    for order in ((good, bad), (bad, good)):
        assert readings_of(*order)["burnin.dcgm.test/memory.gpu/0.result"] == "fail"


def test_nvbandwidth_gives_the_same_facts_as_text_and_as_json() -> None:
    text, document = readings_of(GOOD["nvbandwidth"]), readings_of(GOOD["nvbandwidth as JSON"])
    assert text["burnin.nvbandwidth.verified"] == document["burnin.nvbandwidth.verified"] == "pass"
    at = f"burnin.nvbandwidth.test/{COPIES[2]}"
    assert text[f"{at}.pair"] == document[f"{at}.pair"] == ("0:1", "1:0")
    assert text[f"{at}.sum"] == 741.36e9
    assert text[f"{at}.min"] == text[f"{at}.pair/1:0.rate"] == 370.11e9
    assert document[f"{at}.min"] == 370.113e9


def test_a_corrupt_copy_fails_whatever_else_nvbandwidth_reports() -> None:
    wrong = " Invalid value when checking the pattern at 0x735f80000000\n Current offset : 200064 \n"
    for answer, status in ((f"{NVBANDWIDTH}{wrong}", 0), (wrong, 1)):
        facts = readings_of(record("nvbandwidth", answer, status=status, argv=["nvbandwidth", "-t", *COPIES]))
        assert facts["burnin.nvbandwidth.verified"] == "fail"
        assert untested(facts["burnin.nvbandwidth.test"])


def test_what_one_gpu_cannot_copy_is_waived_and_the_rest_verified() -> None:
    alone = NVBANDWIDTH.partition("Running device_to_device")[0] + "Waived: \n"
    document = nvbandwidth_json(
        case(COPIES[0], ["55.3"]), case(COPIES[1], ["52.4"]), case(COPIES[2], status="Waived"),
    )  # fmt: skip
    for answer in (alone, document):
        facts = readings_of(record("nvbandwidth", answer, argv=["nvbandwidth", "-t", *COPIES]))
        assert facts["burnin.nvbandwidth.verified"] == "pass"
        assert untested(facts[f"burnin.nvbandwidth.test/{COPIES[2]}.min"])


def test_a_copy_that_nvbandwidth_is_silent_of_leaves_the_whole_unverified() -> None:
    silent = NVBANDWIDTH.partition("Running device_to_device")[0]
    facts = readings_of(record("nvbandwidth", silent, argv=["nvbandwidth", "-t", *COPIES]))
    assert untested(facts["burnin.nvbandwidth.verified"])
    assert facts[f"burnin.nvbandwidth.test/{COPIES[0]}.min"] == 54.87e9


@pytest.mark.parametrize(("before", "after"), [
    ("371.25", "37.125"), ("741.36", "741.86"), ("(GB/s)", "(ns)"), (" 1    370.11", " 2    370.11"), ("N/A    371.25", "371.25"),
    ("371.25", "nan"), ("371.25", "-371.25"),
])  # fmt: skip
def test_a_matrix_that_does_not_hold_together_gives_no_rate(before: str, after: str) -> None:
    facts = readings_of(record("nvbandwidth", NVBANDWIDTH.replace(before, after), argv=["nvbandwidth", "-t", *COPIES]))
    assert isinstance(facts[f"burnin.nvbandwidth.test/{COPIES[2]}.min"], Unknown)
    assert isinstance(facts["burnin.nvbandwidth.verified"], Unknown)


def test_the_recorded_collective_gives_its_bandwidth_and_leaves_unchecked_values_untested() -> None:
    facts = readings_of(record("all_reduce", shared_text("logs/superbench-nccl_allreduce.log")))
    assert facts["burnin.all_reduce.busbw"] == facts["burnin.all_reduce.size/8589934592.busbw"] == 235.03e9
    assert facts["burnin.all_reduce.average"] == 68.4048e9
    assert facts["burnin.all_reduce.gpus"] == 8
    assert untested(facts["burnin.all_reduce.wrong"])


def test_a_checked_collective_gives_the_lower_half_of_its_largest_size_and_no_wrong_value() -> None:
    facts = readings_of(GOOD["all_reduce"])
    assert facts["burnin.all_reduce.busbw"] == 344.78e9
    assert facts["burnin.all_reduce.wrong"] == 0
    assert facts["burnin.all_reduce.nccl"] == "2.19.3"


@pytest.mark.parametrize(("answer", "wrong"), [
    (ALL_REDUCE.replace("344.78      0", "344.78      3").replace("0 OK", "3 FAILED"), 3),
    (ALL_REDUCE.replace("0 OK", "0 FAILED"), 1),
    (ALL_REDUCE.replace("344.78      0", "344.78      3"), 3),
])  # fmt: skip
def test_wrong_values_of_a_collective_are_kept_though_it_ends_with_trouble(answer: str, wrong: int) -> None:
    assert readings_of(record("all_reduce", answer))["burnin.all_reduce.wrong"] == wrong
    assert readings_of(record("all_reduce", answer, status=1))["burnin.all_reduce.wrong"] == wrong


@pytest.mark.parametrize("line", [
    "# Avg bus bandwidth    : 238.588\n", "# Out of bounds values : 0 OK\n", "#       size         count      type",
])  # fmt: skip
def test_a_collective_without_its_head_or_its_last_lines_was_cut(line: str) -> None:
    assert isinstance(
        readings_of(record("all_reduce", ALL_REDUCE.replace(line, "")))["burnin.all_reduce.busbw"], Unknown
    )


def test_the_rate_of_a_nic_to_itself_is_no_rate_of_a_cable() -> None:
    facts = readings_of(GOOD["ib_write_bw"])
    assert facts["burnin.ib_write_bw.nic"] == ("mlx5_0",)
    assert facts["burnin.ib_write_bw.nic/mlx5_0.loopback"] == 392.81e9 / 8
    assert "burnin.ib_write_bw.nic/mlx5_0.rate" not in facts
    assert facts["burnin.ib_write_bw.nic/mlx5_0.size"] == 65536
    assert facts["burnin.ib_write_bw.nic/mlx5_0.link"] == "IB"


def test_a_rate_to_another_node_is_one_of_the_cable_and_a_mebibyte_is_no_megabyte() -> None:
    answer = IB_WRITE_BW.replace("Gb/sec", "MB/sec").replace("392.81", "24056.72")
    facts = readings_of(record("ib_write_bw", answer, of="nic/mlx5_0", argv=["ib_write_bw", "10.0.0.2"]))
    assert facts["burnin.ib_write_bw.nic/mlx5_0.rate"] == pytest.approx(24056.72 * 2**20)


@pytest.mark.parametrize(("before", "after"), [
    ("392.81", "0.00"), ("BW average[Gb/sec]", "BW average[MB/sec]"), ("3746302 ", ""), (" #bytes", " #Bytes"),
    ("392.81\t\t   0.749226\n", "392.81\t\t   0.749226\n Completion with error at client\n"),
])  # fmt: skip
def test_a_table_of_ib_write_bw_in_another_form_gives_no_rate(before: str, after: str) -> None:
    facts = readings_of({**GOOD["ib_write_bw"], "out": IB_WRITE_BW.replace(before, after)})
    assert not any(
        isinstance(reading, float) and "nic" in path for path, reading in facts.items() if "tool" not in path
    )


def test_fio_reports_rate_reads_and_latency() -> None:
    facts = readings_of(GOOD["fio"])
    at = "burnin.fio.disk/nvme0n1"
    assert (facts[f"{at}.error"], facts[f"{at}.read"], facts[f"{at}.iops"]) == (0, 6.9e9, 1_538_000.5)
    assert facts[f"{at}.latency"] == 250.88e-6


@pytest.mark.parametrize(("errno", "error"), [(5, 5), (1, Reason.DENIED), (13, Reason.DENIED), (2, Reason.NOT_TESTED)])
def test_a_disk_that_cannot_be_read_failed_and_one_that_cannot_be_opened_was_not_tested(
    errno: int, error: int | Reason
) -> None:
    answer = fio(job("nvme0n1:row"), {**job("nvme0n1:random"), "error": errno})
    facts = readings_of(record("fio", f"fio: pid=1, err={errno}\n{answer}", of="disk/nvme0n1", status=1))
    found = facts["burnin.fio.disk/nvme0n1.error"]
    assert (found.reason if isinstance(found, Unknown) else found) == error
    assert isinstance(facts["burnin.fio.disk/nvme0n1.read"], Unknown)


@pytest.mark.parametrize("answer", [
    fio(job("nvme0n1:row", bw_bytes=0), job("nvme0n1:random")), fio(job("nvme0n1:row", bw_bytes=None), job("nvme0n1:random")),
    fio(job("nvme0n1:row"), job("nvme0n1:random", clat_ns={})), fio(job("nvme0n1:row")), fio(job("nvme0n1:row"), version="fio-4.0"),
    fio(job("nvme0n1:row"), job("nvme0n1:random"), job("nvme0n1:random")), FIO.replace("6900000000", "NaN"), FIO[:-1],
])  # fmt: skip
def test_a_disk_with_incomplete_fio_output_has_no_clean_error_count(answer: str) -> None:
    assert readings_of(record("fio", answer, of="disk/nvme0n1")).get("burnin.fio.disk/nvme0n1.error") != 0


def test_stressors_that_checked_out_pass() -> None:
    facts = readings_of(GOOD["stress-ng"])
    assert facts["burnin.stress_ng.result"] == "pass"
    assert facts["burnin.stress_ng.stressor"] == ("cpu", "matrix", "vm")
    assert facts["burnin.stress_ng.stressor/vm.cpu_time"] == 9.0


def test_a_stressor_that_was_skipped_is_not_tested_though_stress_ng_ends_well() -> None:
    head, _, _ = STRESS_NG.partition("    - stressor: vm")
    output = "stress-ng: info:  [10432] vm stressor will be skipped, not enough memory\n"
    facts = readings_of(record("stress-ng", f"{head}...\n", argv=STRESS_WORDS, err=output))
    assert facts["burnin.stress_ng.stressor/cpu.result"] == "pass"
    assert untested(facts["burnin.stress_ng.stressor/vm.result"])
    assert "not enough memory" in str(facts["burnin.stress_ng.stressor/vm.result"])
    assert untested(facts["burnin.stress_ng.result"])


def test_a_stressor_that_did_nothing_is_not_tested() -> None:
    answer = STRESS_NG.replace("bogo-ops: 40860", "bogo-ops: 0")
    assert untested(readings_of(record("stress-ng", answer, argv=STRESS_WORDS))["burnin.stress_ng.stressor/vm.result"])


@pytest.mark.parametrize("stream", ["out", "err"])
def test_a_failure_of_stress_ng_is_found_on_either_stream_and_the_others_do_not_pass(stream: str) -> None:
    output = "stress-ng: fail:  [8014] vm: detected 5 bit errors while stressing memory\n"
    bad = {**GOOD["stress-ng"], "status": 2}
    facts = readings_of({**bad, stream: f"{output}{bad[stream]}"})
    assert facts["burnin.stress_ng.stressor/vm.result"] == facts["burnin.stress_ng.result"] == "fail"
    assert untested(facts["burnin.stress_ng.stressor/cpu.result"])


def test_a_failure_of_stress_ng_that_names_no_stressor_is_still_a_failure() -> None:
    assert readings_of({**GOOD["stress-ng"], "status": 2})["burnin.stress_ng.result"] == "fail"


def test_lines_of_a_log_between_the_lines_of_stress_ng_are_no_metrics() -> None:
    answer = (
        f"stress-ng: info:  [1] dispatching hogs: 2 cpu\n{STRESS_NG}stress-ng: info:  [1] successful run completed\n"
    )
    assert readings_of(record("stress-ng", answer, argv=STRESS_WORDS))["burnin.stress_ng.result"] == "pass"


def test_each_tool_is_reported_with_its_status_and_its_disk() -> None:
    facts = readings_of(
        GOOD["fio"], {**GOOD["all_reduce"], "status": 1}, {"name": "nope", "status": None, "why": "unsupported"}
    )
    assert facts["burnin.tool"] == ("fio:nvme0n1", "all_reduce", "nope")
    assert facts["burnin.tool/fio:nvme0n1.status"] == 0
    assert facts["burnin.tool/all_reduce.status"] == 1
    assert untested(facts["burnin.tool/nope.status"])
    assert facts["burnin.tool/fio:nvme0n1.version"] == "1.2.3"


def test_two_disks_are_one_collection() -> None:
    other = record("fio", FIO.replace("nvme0n1", "nvme1n1"), of="disk/nvme1n1")
    assert readings_of(GOOD["fio"], other)["burnin.fio.disk"] == ("nvme0n1", "nvme1n1")


def test_one_disk_with_two_different_results_is_unknown() -> None:
    other = {**GOOD["fio"], "out": FIO.replace("6900000000", "5900000000")}
    assert isinstance(readings_of(GOOD["fio"], other)["burnin.fio.disk/nvme0n1.read"], Unknown)
    assert readings_of(GOOD["fio"], GOOD["fio"])["burnin.fio.disk/nvme0n1.read"] == 6.9e9


def test_a_diagnosis_of_a_cpu_is_no_gpu_verdict_and_still_counts_for_the_test() -> None:
    eud = diagnosed("cpu_eud", "Fail")
    eud["results"][0]["entity_group"] = "CPU"
    facts = readings_of(record("dcgm-3", dcgm(eud), status=226))
    assert facts["burnin.dcgm.test/cpu_eud.gpu"] == ()
    assert facts["burnin.dcgm.test/cpu_eud.result"] == "fail"


@pytest.mark.parametrize(
    "answer",
    [
        dcgm(diagnosed("memory", "Pass")) + "\nError: something went wrong",
        dcgm(diagnosed("memory", "Pass")).replace('"status": "Pass"', '"status": "Fail", "status": "Pass"'),
    ],
)
def test_a_contradictory_document_is_not_parsed(answer: str) -> None:
    found = readings_of(record("dcgm-1", answer))["burnin.dcgm.test"]
    assert isinstance(found, Unknown)
    assert found.reason is Reason.UNPARSABLE


def test_a_copy_that_ended_with_an_error_has_no_rate_though_it_has_a_matrix() -> None:
    answer = nvbandwidth_json({**case(COPIES[0], ["55.3"]), "status": "Error"})
    facts = readings_of(record("nvbandwidth", answer, argv=["nvbandwidth", "-j", "-t", COPIES[0]]))
    assert untested(facts[f"burnin.nvbandwidth.test/{COPIES[0]}.min"])
    assert untested(facts["burnin.nvbandwidth.verified"])


def test_a_size_that_was_reduced_twice_counts_as_the_slower_time() -> None:
    row = next(line for line in ALL_REDUCE.splitlines() if line.startswith("    33554432"))
    again = row.replace("344.78", "144.78")
    for rows in (f"{row}\n{again}", f"{again}\n{row}"):
        assert readings_of(record("all_reduce", ALL_REDUCE.replace(row, rows)))["burnin.all_reduce.busbw"] == 144.78e9


def test_two_collectives_in_one_answer_are_not_read_as_one() -> None:
    assert isinstance(readings_of(record("all_reduce", ALL_REDUCE * 2))["burnin.all_reduce.busbw"], Unknown)


def test_a_version_of_fio_that_we_have_not_seen_gives_nothing() -> None:
    answer = fio(job("nvme0n1:row"), job("nvme0n1:random"), version="fio-4.0")
    found = readings_of(record("fio", answer, of="disk/nvme0n1"))["burnin.fio.disk/nvme0n1.error"]
    assert untested(found)
    assert "fio-4.0 is not supported" in str(found)


def test_a_failure_only_in_the_output_of_stress_ng_lets_nothing_pass() -> None:
    output = "stress-ng: fail:  [8014] vm: detected 5 bit errors while stressing memory\n"
    facts = readings_of({**GOOD["stress-ng"], "err": output})
    assert facts["burnin.stress_ng.result"] == "fail"
    assert untested(facts["burnin.stress_ng.stressor/cpu.result"])
