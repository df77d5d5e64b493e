"""The steps of an acceptance: what was agreed and is not done is never a pass, and what was declined is printed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import Done, rackcheck
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import WatchedRack

from rackcheck.model.fact import Plane
from rackcheck.probe.group import Seat
from rackcheck.profile import library
from rackcheck.report import agreed_steps
from rackcheck.report.agreed_steps import StepInputs
from rackcheck.report.counters import Counters, incomparable, limits, risen
from rackcheck.session import subject
from rackcheck.session.registry_loading import known
from rackcheck.signoff import acceptance
from rackcheck.signoff.steps import NO_STEPS, AgreedSteps, agreed
from rackcheck.sim import scenario

PORT = "/sys/class/infiniband/mlx5_4/ports/1/counters"
SYMBOLS = f"{{ nodes: n1, fault: file, path: {PORT}/symbol_error, text: '7' }}"
GPU = "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_SXM_3"
PSU = "/redfish/v1/Chassis/DGX/PowerSubsystem/PowerSupplies/PSU2"

LATER = {
    "counted": SYMBOLS,
    "booted": "{ nodes: n1, fault: file, path: /proc/sys/kernel/random/boot_id, text: 00000000-0000-4000-8000-000000000001 }",
    "no boot id": "{ nodes: n1, fault: unreadable-file, path: /proc/sys/kernel/random/boot_id }",
    "muted": f"{{ nodes: n1, fault: unreadable-file, path: {PORT}/symbol_error }}",
    "other gpu": f"{{ nodes: n1, fault: resource, uri: {GPU}, name: SerialNumber, value: '1650009999999' }}",
    "other psu": f"{{ nodes: n1, fault: resource, uri: {PSU}, name: SerialNumber, value: DTHTCT99999999 }}",
}  # fmt: skip
"""Audits after the burn-in, each with something changed on n1 since the audit before it."""

COUNTERS = "counters after the burn-in"


@contextmanager
def rack(folder: Path, *faults: str) -> Iterator[Path]:
    """Two nodes, whose burn-ins run at eight times the speed; yields the inventory."""
    folder.mkdir()
    laid = "".join(f"\n  - {fault}" for fault in faults) or " []"
    text = "scenario: two\nload: { pace: 8, seed: 5 }\nnodes: { 'n[1-2]': { machine: dgx-h100 } }\n"
    (folder / "rack.yaml").write_text(f"rackcheck: 1\n{text}faults:{laid}\n")
    with WatchedRack(scenario.load(folder / "rack.yaml"), folder) as up:
        yield Path(up.inventory)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs, in this order: early (with seven symbol errors), before, smoke, after, and those of LATER.

    There is also `failed`, a burn-in of tier validate before `before`, on which n1 lacks a GPU.
    """
    place = tmp_path_factory.mktemp("runs")
    words = ("-p", "h100-dgx", "-q")
    (place / "pod.yaml").write_text("rackcheck: 1\nnodes:\n  n[1-2]: { host: n.invalid }\n")
    with rack(place / "first", SYMBOLS) as inventory:
        assert rackcheck("audit", "-i", inventory, *words, "-o", place / "early").status == 0
    with rack(place / "seven", "{ nodes: n1, fault: gpu-missing, gpu: '5' }") as inventory:
        done = rackcheck("burnin", "-i", inventory, *words, "--tier", "validate", "-o", place / "failed")
        assert done.status == 1, f"{done.out}\n{done.err}"
    with rack(place / "second") as inventory:
        for name in ("before", "smoke", "after"):
            command = "burnin" if name == "smoke" else "audit"
            done = rackcheck(command, "-i", inventory, *words, "-o", place / name)
            assert done.status == 0, done.err
        assert rackcheck("audit", "-i", inventory, *words, "--planes", "bmc", "-o", place / "bmc alone").status == 0
        assert rackcheck("burnin", "-i", inventory, "-q", "-o", place / "generic").status == 0
    for name, fault in LATER.items():
        with rack(place / f"rack {name}", fault) as inventory:
            assert rackcheck("audit", "-i", inventory, *words, "-o", place / name).status in {0, 1, 3}
    return place


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def opened(runs: Path, *words: str) -> Done:
    return rackcheck("accept", "new", "pod", "-p", "h100-dgx", "-i", runs / "pod.yaml", *words)


def shown(
    runs: Path, *names: str, words: tuple[str, ...] = ("--burn-in", "smoke")
) -> tuple[int, dict[str, dict[str, Any]]]:
    """Open an acceptance, add runs, and return the exit status of `accept show` and the steps by name."""
    assert opened(runs, *words).status == 0
    for name in names:
        kind = ("--kind", "rework", "--note", "replaced") if name.startswith("other") else ()
        done = rackcheck("accept", "add", "pod", runs / name, *kind)
        assert done.status == 0, done.err
    done = rackcheck("accept", "show", "pod", "--json")
    return done.status, {step["step"]: step for step in json.loads(done.out)["steps"]}


def states(steps: dict[str, dict[str, Any]]) -> list[str]:
    return [step["state"] for step in steps.values()]


# ---- what is agreed --------------------------------------------------------------------------------------------------


def test_a_burn_in_and_the_counters_after_it_are_agreed_on_unless_they_are_declined(runs: Path) -> None:
    done = opened(runs)
    assert f"steps: audit, burn-in validate, {COUNTERS}\n" in done.out
    assert acceptance.find("pod").steps.longest == "validate"


def test_several_tiers_are_steps_in_the_order_of_their_length(runs: Path) -> None:
    status, steps = shown(runs, "before", words=("--burn-in", "soak", "--burn-in", "smoke"))
    assert list(steps) == ["audit", "burn-in smoke", "burn-in soak", COUNTERS]
    assert (status, states(steps)) == (3, ["PASS", "INCOMPLETE", "INCOMPLETE", "INCOMPLETE"])


@pytest.mark.parametrize("words", [
    ("--no-burn-in", ""), ("--no-burn-in", "  "), ("--no-burn-in", "a\nb"), ("--no-burn-in", "x" * 401),
    ("--no-counters", ""), ("--no-burn-in", "why", "--burn-in", "smoke"), ("--burn-in", "long"),
    ("--no-burn-in", "why", "--no-counters", "why"),
])  # fmt: skip
def test_a_step_is_not_declined_without_a_reason_or_against_another_option(runs: Path, words: tuple[str, ...]) -> None:
    assert opened(runs, *words).status == 2
    assert acceptance.names() == []


def test_a_profile_without_rules_for_a_burn_in_needs_a_decision(runs: Path, home: Path) -> None:
    text = "rackcheck: 1\nprofile: tiny\nversion: 1\nrules:\n  os.kernel: { fact: kernel.release, present: true }\n"
    (home / "tiny.yaml").write_text(text)
    words = ("accept", "new", "pod", "-p", home / "tiny.yaml", "-i", runs / "pod.yaml")
    done = rackcheck(*words)
    assert (done.status, "include: [burn-in] adds them, or --no-burn-in REASON" in done.err) == (2, True), done.err
    assert rackcheck(*words, "--no-burn-in", "only an inventory").status == 0


@pytest.mark.parametrize(
    "steps", [1, {}, {"burn-in": "smoke"}, {"burn-in": ["long"]}, {"burn-in": [], "no-burn-in": 3}]
)
def test_damaged_steps_are_an_error_of_the_log(runs: Path, steps: object) -> None:
    opened(runs)
    log = acceptance.home() / "pod" / acceptance.LOG
    log.write_text(json.dumps(json.loads(log.read_text()) | {"steps": steps}) + "\n")
    done = rackcheck("accept", "show", "pod")
    assert (done.status, "line 1 is damaged" in done.err) == (2, True)


def test_an_acceptance_from_before_there_were_steps_keeps_its_verdict(runs: Path) -> None:
    opened(runs)
    log = acceptance.home() / "pod" / acceptance.LOG
    head = json.loads(log.read_text())
    del head["steps"]
    log.write_text(json.dumps(head) + "\n")
    assert rackcheck("accept", "add", "pod", runs / "before").status == 0
    done = rackcheck("accept", "show", "pod", "--json")
    assert (done.status, json.loads(done.out)["steps"]) == (0, [])


@given(st.lists(st.sampled_from(["smoke", "validate", "soak"])), st.text(), st.text())
def test_steps_are_read_as_they_were_written(tiers: list[str], no_burn_in: str, no_counters: str) -> None:
    steps = agreed({"burn-in": tiers, "no-burn-in": no_burn_in, "no-counters": no_counters})
    assert agreed(json.loads(json.dumps(steps.document()))) == steps
    assert agreed(None) == NO_STEPS == AgreedSteps()


# ---- a burn-in that is missing, short, or of other parts -------------------------------------------------------------


def test_an_audit_alone_is_incomplete_and_names_the_command_that_continues(runs: Path) -> None:
    status, steps = shown(runs, "before")
    assert (status, states(steps)) == (3, ["PASS", "INCOMPLETE", "INCOMPLETE"])
    done = rackcheck("accept", "show", "pod")
    assert "n[1-2]: burn-in smoke: not run" in done.out
    assert "Next: rackcheck burnin --accept pod --tier smoke" in done.err
    report = json.loads(rackcheck("report", "pod", "--format", "json", "-q").out)["report"]
    assert ("A", "burn-in smoke: not run") in {(line["cls"], line["what"]) for line in report["punch"]}
    assert {node["outcome"] for node in report["nodes"]} == {"INCOMPLETE"}


def test_counters_are_read_only_if_a_burn_in_is_between_them(runs: Path) -> None:
    assert opened(runs, "--burn-in", "smoke").status == 0
    read = []
    for name in ("before", "smoke", "after"):
        assert rackcheck("accept", "add", "pod", runs / name).status == 0
        read.append([sorted({"n1", "n2"} & {*run.counters}) for run in subject.find("pod").evaluate()])
    assert read == [[[]], [["n1", "n2"], []], [["n1", "n2"], [], ["n1", "n2"]]]


def test_all_steps_done_are_a_pass(runs: Path) -> None:
    assert (shown(runs, "before", "smoke", "after")[0], rackcheck("accept", "show", "pod").err) == (0, "")


def test_a_burn_in_that_is_shorter_than_agreed_leaves_its_step_open(runs: Path) -> None:
    status, steps = shown(runs, "before", "smoke", "after", words=("--burn-in", "validate"))
    assert (status, states(steps)) == (3, ["PASS", "INCOMPLETE", "INCOMPLETE"])
    assert steps["burn-in validate"]["details"] == ["only a burn-in of tier smoke has a result: n[1-2]"]


def test_a_shorter_burn_in_that_passes_does_not_refute_a_longer_one_that_failed(runs: Path) -> None:
    status, steps = shown(runs, "early", "failed", "before", "smoke", "after", words=("--burn-in", "validate"))
    assert (status, steps["burn-in validate"]["state"]) == (1, "FAIL")


def test_the_newest_burn_in_counts_among_those_of_the_agreed_length(runs: Path) -> None:
    status, steps = shown(runs, "early", "failed", "before", "smoke", "after")
    assert (status, states(steps)) == (0, ["PASS", "PASS", "PASS"])


@pytest.mark.parametrize(("later", "open_"), [("other gpu", True), ("other psu", False)])
def test_a_burn_in_is_repeated_after_a_part_that_it_tests_was_replaced(runs: Path, later: str, *, open_: bool) -> None:
    _, steps = shown(runs, "before", "smoke", later)
    found = steps["burn-in smoke"]["details"]
    assert any("GPU_SXM_3 was replaced since" in line and line.endswith(": n1") for line in found) is open_


# ---- counters --------------------------------------------------------------------------------------------------------


def test_counters_that_rose_are_listed_and_their_rule_decides(runs: Path) -> None:
    status, steps = shown(runs, "before", "smoke", "counted")
    assert (status, steps[COUNTERS]["state"]) == (0, "PASS"), "seven symbol errors are within the limit of the rule"
    (line,) = steps[COUNTERS]["details"]
    assert line == "nic/mlx5_4.port/1.counter.symbol_error rose from 0 to 7 (links.few_symbol_errors) on n1"
    report = json.loads(rackcheck("report", "pod", "--format", "json", "-q").out)["report"]
    assert [p["nodes"] for p in report["punch"] if p["cls"] == "C" and "rose from 0 to 7" in p["what"]] == [["n1"]]


@pytest.mark.parametrize(("names", "why"), [
    (("before", "smoke"), "no audit after the burn-in: n[1-2]"),
    (("smoke", "after"), "no audit before the burn-in: n[1-2]"),
    (("early", "smoke", "after"), "symbol_error fell from 7 to 0: it was reset"),
    (("before", "smoke", "booted"), "the node started again"),
    (("before", "smoke", "no boot id"), "it is unknown whether the node started again"),
    (("before", "smoke", "muted"), "symbol_error is unknown after the burn-in: n1"),
])  # fmt: skip
def test_counters_that_do_not_cover_the_burn_in_are_incomplete(runs: Path, names: tuple[str, ...], why: str) -> None:
    status, steps = shown(runs, *names)
    assert (status, steps[COUNTERS]["state"]) == (3, "INCOMPLETE")
    assert any(why in line for line in steps[COUNTERS]["details"]), steps[COUNTERS]


def test_an_audit_of_one_plane_does_not_hide_an_audit_of_all_agreed_planes(runs: Path) -> None:
    assert shown(runs, "before", "smoke", "after", "bmc alone")[1][COUNTERS]["state"] == "PASS"


def test_an_audit_of_one_plane_alone_shows_no_counters_of_the_other(runs: Path) -> None:
    _, steps = shown(runs, "before", "smoke", "bmc alone")
    assert steps[COUNTERS]["state"] == "INCOMPLETE"


def test_a_burn_in_by_another_profile_is_refused_with_the_command_that_makes_one(runs: Path) -> None:
    opened(runs)
    done = rackcheck("accept", "add", "pod", runs / "generic")
    assert (done.status, "needs runs of h100-dgx: rackcheck burnin --accept pod" in done.err) == (2, True)


NAMES = ("gpu/0.ecc.uncorrected", "service/x.restarts", "nvme/nvme0.health.media_errors")


@given(st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=6, max_size=6), st.sampled_from(["", "a", "b"]))
def test_what_is_unknown_of_a_deciding_counter_is_never_comparable(values: list[int | None], boot: str) -> None:
    limited = limits(library.load("h100-dgx", known().catalogue).rules)
    before = Counters(NAMES, tuple(values[:3]), frozenset(), "a")
    after = Counters(NAMES, tuple(values[3:]), frozenset(), boot)
    pairs = [(values[n], values[n + 3]) for n in (0, 2)]  # the counter of services has an advisory rule
    lost = any(was is not None and (now is None or now < was) for was, now in pairs)
    assert bool(incomparable(before, after, limited)) is (boot != "a" or lost)
    rises = [name for name, was, now in zip(NAMES, values[:3], values[3:], strict=True)
             if was is not None and now is not None and now > was]  # fmt: skip
    assert [name for name, *_ in risen(before, after)] == rises
    hidden = replace(after, names=NAMES[1:], values=tuple(values[4:]), hidden=frozenset({"gpu"}))
    assert values[0] is None or "gpu/0" in incomparable(before, replace(hidden, boot="a"), limited)


def test_steps_that_concern_no_node_are_no_pass(runs: Path, home: Path) -> None:
    (home / "trays.yaml").write_text("rackcheck: 1\nnodes:\n  n[1-2]: { host: n.invalid, role: nvswitch-tray }\n")
    words = ("accept", "new", "trays", "-p", "h100-dgx", "-i", "trays.yaml", "--burn-in", "smoke")
    assert rackcheck(*words).status == 0
    seats = [Seat(str(node["name"]), str(node["role"]), "") for node in acceptance.find("trays").nodes]
    profile = library.load("h100-dgx", known().catalogue)
    agreed_on = acceptance.find("trays").steps
    found = agreed_steps.steps(StepInputs((), (), (), profile, agreed_on, frozenset({Plane.OS}), seats, {}))
    assert [step.state for step in found] == ["INCOMPLETE"] * 3
    assert found[1].left == (("no rule for a burn-in applies to the role", ("n1", "n2")),)


# ---- what is declined ------------------------------------------------------------------------------------------------


def test_a_declined_burn_in_is_no_obstacle_and_every_document_contains_the_reason(runs: Path) -> None:
    reason = "no power before May, agreed with Example Ltd"
    status, steps = shown(runs, "before", words=("--no-burn-in", reason))
    assert (status, states(steps)) == (0, ["PASS", "declined"])
    for form in ("html", "markdown", "json", "pdf"):
        done = rackcheck("report", "pod", "--format", form, "-o", f"pod.{form}", "-q")
        assert done.status == 0, done.err
    for form in ("html", "markdown", "json"):
        assert reason in Path(f"pod.{form}").read_text().replace("\\", "")
    assert f"It was declined: {reason}" in Path("pod.html").read_text()
    assert reason in rackcheck("accept", "show", "pod").out


def test_declined_counters_need_no_audit_after_the_burn_in(runs: Path) -> None:
    status, steps = shown(runs, "before", "smoke", words=("--burn-in", "smoke", "--no-counters", "read by others"))
    assert (status, states(steps)) == (0, ["PASS", "PASS", "declined"])
