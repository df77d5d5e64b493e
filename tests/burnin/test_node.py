"""A whole node with GPUs: the payload as it is sent, from its first record to the rules, each fault with one name."""

import os
import re
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import depth
import pytest
from burn_nodes import Node, libraries
from burn_racks import job, tree
from payloads import of_session

from rackcheck.evaluate.verdict import Verdict, judge
from rackcheck.model.capture import BurnCapture
from rackcheck.model.evidence import Status
from rackcheck.model.fact import Absent
from rackcheck.parse.burnin.label import labelled


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return libraries(tmp_path_factory.mktemp("nvidia"))


@pytest.fixture
def node(built: Path, tmp_path: Path) -> Node:
    return Node(built, tmp_path)


@pytest.fixture(scope="module")
def healthy(built: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Mapping[str, Any]]:
    """The records of a node without a fault, of its processors and its GPUs."""
    found = Node(built, tmp_path_factory.mktemp("healthy")).burn(seconds=1.2)
    found.end(60)
    assert found.process.stderr is not None
    assert found.process.stderr.read() == b""
    return found.records


def failed(found: Mapping[str, Verdict]) -> set[str]:
    return {rule for rule, verdict in found.items() if verdict.status is Status.FAIL}


def test_a_healthy_node_is_whole_and_every_record_of_it_is_read(healthy: list[Mapping[str, Any]]) -> None:
    burn = BurnCapture(tuple(healthy)).burn
    assert burn.whole
    assert (burn.unread, burn.odd) == (0, "")
    assert burn.faults == ()
    assert burn.troubles == ()
    assert set(burn.gpus) == {"0", "1"}
    assert burn.gpus["0"]["model"] == "NVIDIA H200"
    names = {(stage.of, stage.stage) for stage in burn.stages if stage.done}
    for gpu in ("gpu/0", "gpu/1"):
        assert {(gpu, stage) for stage in ("memory", "tensor", "scalar", "links", "together")} <= names
        assert len(burn.samples[gpu]) >= 10
    assert {stage.of for stage in burn.stages if stage.kind == "peer"} == {"peer/0-1", "peer/1-0"}


def test_no_rule_fails_on_a_healthy_node_and_those_of_results_pass(healthy: list[Mapping[str, Any]]) -> None:
    found = _judged(healthy)
    assert failed(found) == set()
    for rule in ("burnin.whole", "burnin.readable", "burnin.no_crash", "burnin.gpu_correct", "burnin.cpu_correct",
                 "burnin.no_uncorrected", "burnin.no_replay", "burnin.no_nvlink_errors", "burnin.not_throttled"):  # fmt: skip
        if rule == "burnin.cpu_correct" and "the RAM test covered" in found[rule].reason:
            continue  # a stage of less than a second may cover less than 1 % of this machine's memory, if it is busy
        assert found[rule].status is Status.PASS, found[rule]


CUDA = {
    "flip=1:0x1230:0x10": "burnin.gpu_correct",
    "wrong=1:2:mma:8": "burnin.gpu_correct",
    "peer=1:0": "burnin.gpu_correct",
    "lost=1:9:999": "burnin.no_crash",
    "stall=1:3": "burnin.no_crash",
    "stuck=1:0x2460:0x1": "burnin.gpu_correct",
    "wrong=1:-1:fp32:2": "burnin.gpu_correct",
    "nan=1:1": "burnin.gpu_correct",
    "link=1:h2d:4096": "burnin.gpu_correct",
    "sticky=1:9:719": "burnin.no_crash",
}
"""Faults of the driver, with the rule that each fails; test_gpu.py has each of them on a single GPU too."""


@pytest.mark.parametrize("fault", depth.first(5, CUDA))
def test_a_fault_of_one_gpu_fails_its_rule_and_leaves_the_other_gpu_alone(node: Node, fault: str) -> None:
    # Times that suffice with other tests beside it: only the stall is found by the time limit.
    found = node.burn(cuda=fault, hang=8.0 if fault.startswith("stall") else 30.0, seconds=1.2, of=("gpu",))
    found.end(120)
    burn = BurnCapture(tuple(found.records)).burn
    assert burn.unread == 0, burn.odd
    assert burn.whole
    named = {fault.of for fault in burn.faults if fault.kind in {"gpu", "peer"}}
    assert named
    assert all("1" in of for of in named), burn.faults
    assert CUDA[fault] in failed(_judged(found.records))
    done = {stage.stage for stage in burn.stages if stage.of == "gpu/0" and stage.done}
    assert {"memory", "tensor", "scalar"} <= done
    assert of_session(found.process.pid) == []


def test_a_gpu_that_runs_at_a_tenth_is_found_and_named_by_its_serial_number(node: Node) -> None:
    # Long times: with other tests beside it a kernel of the slow GPU takes more than ten seconds.
    found = node.burn(cuda="pace=1:10", hang=40.0, seconds=3.0, deadline=150.0, of=("gpu",))
    found.end(150)
    profile = job(1).profile
    assert profile is not None
    seen = tree(1, 1, BurnCapture(tuple(found.records)))
    seen = seen.with_more(labelled(seen.leaves))
    rules = [rule for rule in profile.rules if rule.id in {"burnin.gpu_memory_rate", "burnin.gpu_rate_alike"}]
    judged = judge(rules, seen)
    # On a loaded machine the slow GPU may not complete one stage in its time: that stage is not tested, and no pass.
    assert Status.FAIL in {verdict.status for verdict in judged}
    assert {verdict.status for verdict in judged} <= {Status.FAIL, Status.UNKNOWN}
    wrong = [each for verdict in judged for each in verdict.evidence if each.status is Status.FAIL]
    serial = seen.leaves["burnin.gpu/1.serial"].reading
    assert wrong
    assert all(f"gpu/1 (serial number {serial} " in each.source for each in wrong), wrong


def _judged(records: list[Mapping[str, Any]]) -> Mapping[str, Verdict]:
    profile = job(1).profile
    assert profile is not None
    # Processors run the kernels of these GPUs, so their rates depend on what else the processors do.
    alone = [
        rule
        for rule in profile.rules
        if not re.search(r"\.among\.|\.beside|\.reached|work_per_clock", " ".join(map(str, rule.facts())))
    ]
    return {v.rule: v for v in judge(alone, tree(1, 1, BurnCapture(tuple(records))))}


def test_a_gpu_whose_memory_can_no_longer_be_guarded_is_not_tested_further_and_the_other_gpu_is(node: Node) -> None:
    margins = "*.margin_memory_max=0 *.temperature_margin=50"
    found = node.burn(nvml=margins, later="@1.5\n1.temperature_margin=!3\n", seconds=1.2, of=("gpu",))
    found.end(60)
    burn = BurnCapture(tuple(found.records)).burn
    why = "stopped: how far the GPU is below the highest temperature of its memory cannot be read any more"
    untested = {stage.stage: stage.why for stage in burn.stages if stage.of == "gpu/1" and not stage.done}
    assert {"scalar", "links", "together"} <= set(untested)
    assert set(untested.values()) == {why}
    assert burn.faults == (), "it is no fault of the GPU"
    done = {stage.stage for stage in burn.stages if stage.of == "gpu/0" and stage.done}
    assert {"memory", "tensor", "scalar", "links", "together"} <= done
    judged = _judged(found.records)
    assert judged["burnin.gpu_correct"].status is Status.UNKNOWN
    assert judged["burnin.gpu_guarded"].status is Status.WARN


NVML = {
    "1.ecc_uncorrected=@2=1": "burnin.no_uncorrected",
    "1.remap_pending=@2=1": "burnin.no_remap",
    "1.reasons=@2=64": "burnin.not_throttled",
    "1.pcie_replay=@2=7": "burnin.no_replay",
    "1.remap_failed=@2=1": "burnin.no_failed_remap",
    "1.ecc_corrected=@2=3": "burnin.no_corrected",
    "1.crc_flit_total=@2=9": "burnin.no_nvlink_errors",
}


@pytest.mark.parametrize("moved", NVML)
def test_a_counter_that_moves_under_load_fails_its_rule(node: Node, moved: str) -> None:
    key, _, rest = moved.partition("=")
    at, _, value = rest.removeprefix("@").partition("=")
    found = node.burn(later=f"@{at}\n{key}={value}\n", seconds=0.6, of=("gpu",))
    found.end(60)
    judged = _judged(found.records)
    assert judged[NVML[moved]].status in {Status.FAIL, Status.WARN}
    assert all("gpu/1" in one.item for one in judged[NVML[moved]].evidence if one.status is not Status.PASS)


def test_gpus_whose_sampler_ended_are_under_load_no_longer(node: Node) -> None:
    """Without samples, no temperature stops a GPU."""
    found = node.burn(seconds=60.0, of=("gpu",))
    found.until({"k": "sample", "of": "gpu/0"}, 60)
    sampler = min(set(of_session(found.process.pid)) - {found.process.pid})  # the first child
    os.kill(sampler, signal.SIGKILL)
    crash = found.until({"k": "error", "name": "crash"}, 20)
    assert crash["of"] == "telemetry"
    found.end(30)  # of the plan's minutes
    burn = BurnCapture(tuple(found.records)).burn
    assert "the process that samples the GPUs ended by signal 9" in " ".join(map(str, burn.troubles))
    judged = _judged(found.records)
    assert judged["burnin.no_crash"].status is Status.FAIL
    assert judged["burnin.gpu_correct"].status is Status.UNKNOWN


def test_cuda_that_is_not_ready_is_not_tested_and_named(node: Node) -> None:
    found = node.burn(cuda="init=802", seconds=0.2)
    found.end(60)
    judged = _judged(found.records)
    assert judged["burnin.gpu_correct"].status is Status.UNKNOWN
    assert "fabric manager" in judged["burnin.gpu_correct"].reason


def test_a_gpu_that_others_use_is_left_alone(node: Node) -> None:
    found = node.burn(nvml="1.processes=1", of=("gpu",), seconds=0.6)
    found.end(60)
    burn = BurnCapture(tuple(found.records)).burn
    assert {stage.why.partition(":")[0] for stage in burn.stages if stage.of == "gpu/1"} == {"foreign process"}
    assert any(stage.done for stage in burn.stages if stage.of == "gpu/0")
    judged = _judged(found.records)
    assert judged["burnin.gpu_correct"].status is Status.UNKNOWN


def test_a_line_that_closes_ends_gpus_long_before_their_plan(node: Node) -> None:
    found = node.burn(seconds=60.0)
    found.until({"k": "sample", "of": "gpu/0"}, 60)
    assert found.process.stdin is not None
    found.process.stdin.close()
    began = time.monotonic()
    found.end(30)
    assert time.monotonic() - began < 30  # of 60
    assert of_session(found.process.pid) == []


@pytest.mark.parametrize(("fault", "came"), [("stuck=1:0x2460:0x1", "always"), ("flip=1:0x1230:0x10", "never")])
def test_what_was_wrong_is_done_again_hot_and_cold(node: Node, fault: str, came: str) -> None:
    found = node.burn(cuda=fault, seconds=0.6, deadline=60.0, of=("gpu",))
    found.end(60)
    facts = tree(1, 1, BurnCapture(tuple(found.records))).leaves
    assert facts["burnin.gpu/1.again"].reading == came
    assert f"cooling: {came}" in facts["burnin.gpu/1.mismatches"].source
    assert facts["burnin.gpu/0.again"].reading == Absent("no fault was found")
