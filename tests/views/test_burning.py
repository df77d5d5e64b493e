"""A burn-in in progress: the same from live records or a stored run, bounded, robust against broken output."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from burn_desks import FLIPPED, SEED, Records, burns, events, job, records, three
from burn_racks import ills

from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.model import path as paths
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.profile import Rule
from rackcheck.parse.burnin.plan import Tier
from rackcheck.run.event import Answered, Burning, Judged, NodeRequested, RunDone
from rackcheck.views import burn_records
from rackcheck.views.burning import Burns
from rackcheck.views.part import FAULTS, HOST, POINTS, History
from rackcheck.views.part_health import Bearing, Rank, bearings, part_of, rows

RULES: Mapping[str, Rule] = {rule.id: rule for rule in job(3).profile.rules}  # type: ignore[union-attr]


def bears(found: Burns, rules: Mapping[str, Rule] = RULES) -> dict[tuple[str, str], Bearing]:
    return {(p.node, p.of): b for bench in found.benches.values() for p, b in bearings(found, bench, rules)}


def one(*value: Mapping[str, Any]) -> Burns:
    """One node that wrote this."""
    found = Burns()
    found.take(NodeRequested("n1", Plane.BURNIN))
    found.take(Burning("n1", value))
    return found


def sample(t: float, of: str = "gpu/0", **more: Any) -> dict[str, Any]:
    return {"k": "sample", "t": t, "of": of, **more}


# ---- what stands


def test_pieces_of_any_size_come_to_the_same() -> None:
    values, found = three(), []
    for piece in (1, 37, 10_000):
        state = Burns()
        for event in events(values, piece=piece):
            state.take(event)
        found.append(state)
    first = found[0]
    for other in found[1:]:
        assert other.power == pytest.approx(first.power)
        assert [p.hottest for p in other.gpus()] == [p.hottest for p in first.gpus()]
        assert [p.past.column("temp") for p in other.gpus()] == [p.past.column("temp") for p in first.gpus()]
        assert bears(other) == bears(first)


def test_a_stored_run_whose_nodes_come_one_after_the_other_draws_as_much_as_it_did_live() -> None:
    live, stored = burns(three()), Burns()
    for name, every in three().items():
        stored.take(Burning(name, every))
    assert dict(stored.total()) == pytest.approx(dict(live.total()))
    assert max(watts for _, watts in live.total()) > 24 * 600, "24 GPUs at once, not one node's eight"


def test_nodes_that_the_controller_started_one_after_the_other_are_not_added_up_as_if_together() -> None:
    """Each node has its own clock, which begins with its burn-in; `began` is its start after the first node's."""

    def shown(*began: float | str | bool) -> Burns:
        found = Burns()
        for number, start in enumerate(began):
            hello = {"k": "hello", "t": 0.0, "wire": 1, "tier": "smoke", "seed": 1, "began": start}
            rows = [sample(float(t), power=700.0) for t in range(15)]
            found.take(Burning(f"n{number}", (hello, *rows)))
        return found

    together, apart = shown(0.0, 0.0), shown(0.0, 20.0)
    assert max(watts for _, watts in together.total()) == 1400.0
    assert max(watts for _, watts in apart.total()) == 700.0
    assert (together.t, apart.t) == (14.0, 34.0)
    assert apart.length == pytest.approx(15 + 20.0 + 1.0)
    for wrong in ("soon", True, -1.0, 1e30, float("nan")):
        assert shown(0.0, wrong).t == 14.0


def test_under_load_the_head_shows_tier_seconds_power_the_hottest_and_the_faults() -> None:
    found = burns(three(), until=9.0)
    assert found.running
    assert found.tier is Tier.SMOKE
    assert found.simulated
    assert 8.0 < found.t <= 9.0
    assert found.length == pytest.approx(15 + 1.0 + 7 * 0.15 + 1.0)
    assert found.power == pytest.approx(sum(part.now["power"] for part in found.gpus()))
    assert found.hottest is not None
    assert found.hottest.hottest == max(part.hottest or 0.0 for part in found.gpus())
    assert found.wrong == 1


def test_the_stage_that_a_gpu_is_in_is_that_of_the_plan_at_its_own_time() -> None:
    found = burns(three(), until=9.0)
    for part in found.gpus():
        done = [stage.stage for stage in part.works.values()]
        assert "tensor" not in done or part.under_way(found.plan) in {"scalar", "links"}
        assert part.under_way(found.plan) not in done


def test_the_line_that_does_it_again_has_the_runs_own_seed_and_tier() -> None:
    assert burns(three()).replay("n02") == f"rackcheck burnin n02 --tier smoke --seed {SEED}"
    assert one(sample(1.0)).replay("n1") == "", "without a seed there is no command to repeat it"


# ---- the state of each part


def test_a_finding_is_wrong_before_anything_is_judged_and_nothing_else_is() -> None:
    found = bears(burns(three(), until=9.0))
    assert found[FLIPPED].rank is Rank.WRONG
    assert found[FLIPPED].words == "mismatch"
    others = {bearing.words for key, bearing in found.items() if key != FLIPPED}
    assert others == {"no fault yet"}, "no verdict before the end"
    assert all(bearing.status is None for bearing in found.values())


def test_once_judged_a_part_has_its_verdicts_and_the_rule_behind_them() -> None:
    found = bears(burns(three()))
    assert found[FLIPPED] == Bearing(Rank.WRONG, "gpu_correct", Status.FAIL, "burnin.gpu_correct")
    gpus = {bearing.status for (node, of), bearing in found.items() if of != HOST and (node, of) != FLIPPED}
    assert gpus == {Status.PASS}


def test_a_port_that_went_down_is_the_hosts() -> None:
    values = {**three(), "n03": records(3, 3, ills("nic-down-under-load", nic="mlx5_0"))}
    found = bears(burns(values))
    assert found["n03", HOST].words == "nic_stayed_up"


def test_what_was_not_tested_is_no_pass() -> None:
    values = {**three(), "n01": records(1, 3, ills("fabric-manager-down"))}
    live, judged = bears(burns(values, until=30.0)), bears(burns(values))
    assert all(live["n01", f"gpu/{n}"].rank in {Rank.WRONG, Rank.UNKNOWN} for n in range(8))
    assert all(judged["n01", f"gpu/{n}"].status in {Status.FAIL, Status.UNKNOWN} for n in range(8))


def test_a_verdict_about_gpus_that_names_none_stands_for_all_of_them() -> None:
    found = burns(three())
    bench = found.benches["n01"]
    assert bench.judged is not None
    verdicts = tuple(
        replace(v, status=Status.UNKNOWN, evidence=()) if v.rule == "burnin.gpu_rate" else v
        for v in bench.judged.verdicts
    )
    found.take(replace(bench.judged, verdicts=verdicts))
    assert {bears(found)["n01", f"gpu/{n}"].status for n in range(8)} == {Status.UNKNOWN}


def test_what_is_waived_is_named_so_and_is_no_pass() -> None:
    found = burns(three())
    judged = found.benches[FLIPPED[0]].judged
    assert judged is not None
    verdicts = tuple(
        replace(v, status=Status.WAIVED, truth=Status.FAIL) if v.status is Status.FAIL else v for v in judged.verdicts
    )
    found.take(replace(judged, verdicts=verdicts))
    assert bears(found)[FLIPPED].words == "waived: gpu_correct"
    assert bears(found)[FLIPPED].status is Status.WAIVED
    assert bears(found)["n02", "gpu/4"].status is Status.PASS


def test_a_part_about_which_no_rule_was_met_is_not_judged_and_no_pass() -> None:
    found = burns(three())
    for bench in found.benches.values():
        assert bench.judged is not None
        found.take(replace(bench.judged, verdicts=tuple(v for v in bench.judged.verdicts if "gpu" not in v.rule)))
    assert {b.words for (_, of), b in bears(found).items() if of != HOST} == {"not judged"}
    assert {b.words for (_, of), b in bears(found).items() if of == HOST} == {"pass"}


def test_a_node_that_never_answers_has_one_row_that_states_why() -> None:
    found = Burns()
    found.take(NodeRequested("n1", Plane.BURNIN))
    assert bears(found)["n1", HOST].words == "starting"
    found.take(Answered("n1", Plane.BURNIN, "", Unknown(Reason.UNREACHABLE, "no route to host")))
    (row,) = rows(found, {}, ["n1"], most=32)
    assert (row.bearing.rank, row.bearing.words) == (Rank.UNKNOWN, "unreachable: no route to host")


def test_a_clock_that_is_far_below_its_nodes_others_is_worth_a_look_and_no_verdict() -> None:
    values = {**three(), "n01": records(1, 3, ills("clock-stuck", gpu="2", mhz="900"))}
    found = bears(burns(values, until=7.0))
    assert found["n01", "gpu/2"] == Bearing(Rank.ODD, "its clock is low")
    assert sum(bearing.rank is Rank.ODD for bearing in found.values()) == 1


# ---- rows


def test_many_parts_fold_to_a_row_a_node_and_what_is_wrong_stands_first_and_alone() -> None:
    found = burns(three())
    names = list(found.benches)
    folded = rows(found, RULES, names, most=8)
    assert folded[0].name == " ".join(FLIPPED)
    assert sum(len(row.parts) for row in folded) == 27
    assert [row.name for row in folded if len(row.parts) > 1] == [f"{name} rest" for name in ("n01", "n02", "n03")]
    assert len(rows(found, RULES, names, most=8, whole=True)) == 27
    assert len(rows(found, RULES, names, most=27)) == 27


def test_a_node_without_gpus_has_a_row_of_its_own() -> None:
    found = burns({f"n{n:02}": records(n, 3, gpus=0) for n in (1, 2, 3)})
    assert [row.name for row in rows(found, RULES, list(found.benches), most=32)] == [
        "n01 host", "n02 host", "n03 host",
    ]  # fmt: skip
    assert found.hottest is not None
    assert found.power is None, "no sample has a power"


def test_1024_gpus_take_a_row_a_node() -> None:
    every = records(1, 3)
    found = Burns()
    for number in range(128):
        found.take(Burning(f"n{number:03}", every))
    assert sum(1 for _ in found.gpus()) == 1024
    assert len(rows(found, {}, list(found.benches), most=32)) == 128


# ---- bounds, and what a broken node prints


def test_a_history_keeps_first_and_newest_and_at_most_its_points() -> None:
    history = History()
    for number in range(50_000):
        history.add(number / 10, {"temp": float(number)})
    points = history.column("temp")
    assert POINTS / 2 <= len(points) <= POINTS
    assert points[0][0] < 50
    assert points[-1][0] > 4950
    assert [t for t, _ in points] == sorted(t for t, _ in points)


def test_a_value_that_was_not_reported_is_no_zero() -> None:
    history = History()
    history.add(0.0, {"temp": 40.0})
    history.add(1.0, {"power": 300.0})
    assert history.column("temp") == [(0.0, 40.0)]
    assert history.column("power") == [(1.0, 300.0)]
    assert history.column("clock") == []


def test_findings_are_all_counted_and_a_bound_of_them_kept() -> None:
    fault = {"k": "error", "t": 1.0, "of": "gpu/0", "stage": "memory", "name": "mismatch"}
    found = one(*[fault] * 500, {**fault, "more": 40})
    part = found.benches["n1"].gpus["0"]
    assert len(part.faults) == FAULTS
    assert part.wrong == 540


@pytest.mark.parametrize(
    "record",
    [
        {"k": "sample", "t": "now", "of": "gpu/0"}, {"k": "sample"}, {"k": "noise", "said": "motd"}, {"k": []},
        sample(1e30, power=500.0), sample(-5.0), sample(1.0, power=1e300), sample(1.0, temp=float("nan")),
        {"k": "hello", "t": 0, "wire": 1, "tier": ["smoke"], "seed": "x", "gpus": {"0": {"limit": "much"}}},
        {"k": "stage", "t": 1, "of": "gpu/0", "stage": "memory", "status": "done", "rate": 1e300, "from": -1e9},
        {"k": "about", "t": 0, "gpus": {str(n): {} for n in range(5000)}},
    ],
    ids=lambda record: str(record)[:40],
)  # fmt: skip
def test_what_a_broken_node_prints_moves_nothing_that_is_shown(record: Mapping[str, Any]) -> None:
    found = one(sample(1.0, power=300.0, temp=50.0), record, sample(2.0, power=310.0, temp=51.0))
    assert found.t == 2.0
    assert found.power == 310.0
    assert found.hottest is not None
    assert found.hottest.hottest == 51.0
    assert len(found.benches["n1"].parts) <= 260
    assert bears(found)


def test_records_in_any_order_and_cut_anywhere_raise_nothing() -> None:
    rng = random.Random(7)
    for _ in range(20):
        every = list(rng.sample(list(three()["n02"]), 200))
        found = one(*every)
        assert bears(found)
        assert found.length is None or found.length > 0


# ---- the records behind a fact


def texts(fact: str, every: Records, most: int = 12) -> list[str]:
    return [row.text for row in burn_records.records(paths.parse(fact), every, most).rows]


def test_a_count_of_wrong_values_shows_the_finding_first_and_only_its_gpu() -> None:
    shown = texts("burnin.gpu/5.mismatches", three()["n02"])
    assert shown[0].startswith('{"k": "error"')
    assert '"name": "mismatch"' in shown[0]
    assert all('"of": "gpu/5"' in text or '"of": "peer/5-' in text for text in shown)


def test_a_rate_shows_the_work_it_was_measured_in() -> None:
    (shown,) = texts("burnin.gpu/3.link.h2d", three()["n01"])
    assert '"stage": "links", "test": "h2d"' in shown


def test_a_temperature_shows_the_first_the_highest_and_the_last_sample() -> None:
    every = three()["n01"]
    shown = texts("burnin.gpu/3.temperature", every)
    mine = [r for r in every if r.get("of") == "gpu/3" and r["k"] == "sample"]
    assert len(shown) == 3
    assert any(f'"temp": {max(r["temp"] for r in mine)}' in text for text in shown)


def test_the_end_shows_the_last_word() -> None:
    assert texts("burnin.end", three()["n01"])[0].startswith('{"k": "verdict"')


@pytest.mark.parametrize("most", [1, 5, 12])
def test_no_more_records_are_shown_than_requested_and_their_number_is_stated(most: int) -> None:
    reply = burn_records.records(paths.parse("burnin.gpu/3.faults"), three()["n01"], most)
    assert len(reply.rows) <= most
    assert reply.cut == reply.of - len(reply.rows) > 0


def test_a_part_without_records_states_it() -> None:
    assert burn_records.records(paths.parse("burnin.gpu/77.faults"), three()["n01"], 12).trouble


@pytest.mark.parametrize(
    ("fact", "of"),
    [
        ("burnin.gpu/3.among.work", "gpu/3"),
        ("gpu/module-8.link.width", "gpu/3"),
        ("burnin.gpu", ""),
        ("burnin.nic/mlx5_0.stayed", ""),
        ("count of gpu", ""),
    ],
)
def test_a_fact_names_its_gpu(fact: str, of: str) -> None:
    assert part_of(fact, {"gpu/module-8": "gpu/3"}) == of


def test_a_run_that_is_no_burn_in_has_none() -> None:
    found = Burns()
    found.take(NodeRequested("n1", Plane.OS))
    found.take(Answered("n1", Plane.OS, ""))
    found.take(Judged("n1", "compute", Outcome.PASS, ()))
    found.take(RunDone("", Outcome.PASS))
    assert not found
