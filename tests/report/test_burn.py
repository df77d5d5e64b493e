"""A burn-in in the document: all that was done and found, with its place, drawn within bounds, in every format."""

import csv
import importlib
import io
import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from burn_racks import TIME, capture, ills, job, parts
from command import rackcheck
from dossiers import HOSTILE
from hypothesis import given
from hypothesis import strategies as st
from rack_runs import folder

from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.burn_record import Burn
from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Plane
from rackcheck.parse.burnin.plan import Tier, document
from rackcheck.parse.burnin.series import MOST, bands, envelope, series, thin
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.report import annex, burn_read, chart, html, junit, markdown, record, redact
from rackcheck.report.build import ReportJob, build
from rackcheck.report.burn_fold import folded
from rackcheck.report.burn_model import Burned, BurnLine, BurnPanel, figure
from rackcheck.report.burn_words import again
from rackcheck.report.report_model import Dossier
from rackcheck.report.run_data import gather
from rackcheck.run.event import Answered, Event, RunDone, RunStarted
from rackcheck.run.judging import Judging, tree_of
from rackcheck.sim.load import SimLoad
from rackcheck.views.locations import NodeLocation

SEED = 4711

FLIP = ills("gpu-bitflip", gpu="6")


def document_of(found: Mapping[int, BurnCapture], *, targets: str = "all") -> Dossier:
    """Return the document of one run over nodes, from their captures by number."""
    of = job(len(found))
    names = tuple(node.name for node in of.nodes)
    assert of.profile is not None
    head = (of.profile.name, of.profile.version, of.profile.digest)
    events: list[Event] = [RunStarted("r1", TIME, "0.1.0", *head, names, ("burnin",), targets)]
    events += [Answered(node.name, Plane.BURNIN, TIME, None, found[n], "0" * 64) for n, node in enumerate(of.nodes, 1)]
    judging = Judging(of)
    answers = [event for event in events if isinstance(event, Answered)]
    for node, answer in zip(of.nodes, answers, strict=True):
        events += judging.take(node, tree_of(of, node, [answer]))
    events += [*judging.close(), RunDone(TIME, Outcome.FAIL)]
    places = {name: NodeLocation("compute") for name in names}
    return build([gather(events)], ReportJob("run", "r1", "draft", of.profile, (of.profile,), {}, places))


@cache
def rack() -> Dossier:
    """A rack of sixteen, of which the third node has a GPU with a bit that flips."""
    return document_of({n: capture(n, SEED, FLIP if n == 3 else (), chips=1) for n in range(1, 17)})


@cache
def lone() -> Dossier:
    """The node with that GPU alone."""
    return document_of({1: capture(1, SEED, FLIP, chips=1)})


def burned(dossier: Dossier) -> Burned:
    assert dossier.burned is not None
    return dossier.burned


def page(dossier: Dossier) -> str:
    return html.page(dossier, "0" * 64)


def drawings(text: str) -> list[ET.Element]:
    found = re.findall(r'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640.*?</svg>', text, re.DOTALL)
    return [ET.fromstring(each) for each in found]


def pdf_pages(dossier: Dossier) -> list[str]:
    for name in ("typst", "pypdfium2"):
        importlib.import_module(name) if os.environ.get("CI") else pytest.importorskip(name)
    from rackcheck.report import pdf  # noqa: PLC0415

    with importlib.import_module("pypdfium2").PdfDocument(pdf.document(dossier, "0" * 64).data) as read:
        return [each.get_textpage().get_text_range() for each in read]


# ---- curves ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), max_size=900), st.integers(4, 300))
def test_a_thinned_curve_is_bounded_in_order_and_keeps_its_lowest_highest_and_ends(
    values: list[float], most: int
) -> None:
    points = [(float(t), value) for t, value in enumerate(values)]
    found = thin(points, most)
    assert len(found) <= most
    assert list(found) == sorted(set(found))
    assert set(found) <= set(points)
    if points:
        assert {found[0], found[-1]} == {points[0], points[-1]}
        for pick in (min, max):
            assert pick(value for _, value in found) == pick(values)


def test_a_spike_of_one_sample_among_six_thousand_survives() -> None:
    points = [(t / 10, 900.0 if t == 4321 else 400.0) for t in range(6000)]
    assert (432.1, 900.0) in thin(points, MOST)


def test_times_are_counted_from_the_begin_of_the_load_and_wild_samples_have_no_place() -> None:
    base = {"k": "sample", "of": "gpu/0"}
    burn = Burn.of(
        [
            {"k": "stage", "of": "gpu/0", "stage": "memory", "status": "done", "from": 5.0, "t": 7.0},
            {**base, "t": 4.0, "power": 70},
            {**base, "t": 6.0, "power": 1e12},
            {**base, "t": 8.0, "power": 700},
        ]
    )
    (only,) = series(burn)
    assert only.points == ((-1.0, 70.0), (3.0, 700.0))
    assert [(band.stage, band.begin, band.end) for band in bands(burn)] == [("memory", 0.0, 2.0)]


def test_an_envelope_holds_every_curve_it_is_of() -> None:
    curves = [tuple((float(t), float(t * n % 37)) for t in range(50)) for n in range(1, 9)]
    low, middle, high = envelope(curves)
    assert min(value for _, value in low) == min(value for curve in curves for _, value in curve)
    assert max(value for _, value in high) == max(value for curve in curves for _, value in curve)
    assert all(a[1] <= b[1] <= c[1] for a, b, c in zip(low, middle, high, strict=True))


# ---- content ---------------------------------------------------------------------------------------------------------


def test_what_was_done_stands_there_with_tier_seed_seconds_version_and_that_it_was_simulated() -> None:
    (run,) = burned(rack()).runs
    assert (run.tier, run.seed, run.ended, len(run.nodes)) == ("smoke", SEED, "whole", 16)
    assert run.simulated
    assert float(run.seconds) >= 15
    first, *rest = capture(1, SEED).records
    of = document_of({1: BurnCapture(({**first, "version": "9.8.7"}, *rest))})
    assert burned(of).runs[0].version == "9.8.7"
    assert "rackcheck 9.8.7" in page(of)
    assert rack().subject.readings[0].kind == "burn-in"
    assert rack().title == "Burn-in report"


def test_a_finding_has_its_gpu_serial_slot_sm_address_bits_and_the_command_that_does_it_again() -> None:
    fault = burned(rack()).faults[0]
    about = capture(3, SEED, FLIP, chips=1).burn.gpus["6"]
    assert (fault.node, fault.item, fault.name) == ("n03", "gpu/6", "mismatch")
    assert (fault.serial, fault.slot) == (about["serial"], about["pci"])
    assert re.search(r"SM \d+, address 0x[0-9a-f]+, .* instead of .*, 1 bit differs", fault.said)
    assert " ".join(again(fault)) == f"rackcheck burnin n03 -i INVENTORY --tier smoke --seed {SEED}"
    text = page(rack())
    for output in (fault.serial, fault.slot, f"--seed {SEED}"):
        assert output in text


def test_each_table_states_lowest_median_highest_and_odd_ones_over_the_whole_fleet() -> None:
    table = next(table for table in burned(rack()).tables if table.kind == "GPUs")
    rate = next(n for n, each in enumerate(table.figures) if each.name == "tensor rate")
    of, values = table.figures[rate], {(row.node, row.item): row.values[rate] for row in table.rows}
    assert (of.known, of.of) == (128, 128)
    assert of.lowest == min(values.values(), key=float)
    assert values[of.low] == of.lowest
    assert values[of.high] == of.highest
    assert float(of.lowest) <= float(of.median) <= float(of.highest)
    assert [(row.node, row.item) for row in table.rows if row.odd] == [("n03", "gpu/6")]


def test_figures_without_a_rule_are_reported_too_with_their_limits_and_possible_causes() -> None:
    limits = {each.name: each for each in burned(rack()).limits}
    assert limits["from the host"].known == 128
    assert 0 < float(limits["from the host"].median) <= 100
    assert limits["tensor rate"].gaps or limits["tensor rate"].known


def test_an_untested_part_is_listed_and_a_missing_figure_is_never_a_number() -> None:
    whole = capture(1, SEED, chips=1)
    cut = BurnCapture(
        tuple(
            {
                "k": "stage",
                "t": r["t"],
                "of": r["of"],
                "stage": "links",
                "status": "not tested",
                "why": "contended: 0.2",
            }
            if r.get("stage") == "links" and r["of"] == "gpu/5"
            else r
            for r in whole.records
        )
    )
    found = burned(document_of({1: cut}))
    assert [(u.what, u.why, u.nodes) for u in found.untested] == [("GPU links", "contended: 0.2", ("n01",))]
    assert "in what was tested, no part" in document_of({1: cut}).performance
    table = next(table for table in found.tables if table.kind == "GPU links")
    (row,) = (row for row in table.rows if row.item == "gpu/5")
    assert row.values[0] == ""
    assert table.figures[0].known == 7
    assert "7 of 8" in page(document_of({1: cut}))


def test_sentences_that_differ_in_numbers_alone_are_one_with_a_range() -> None:
    rows = [
        ("the clock was 1500 MHz, its maximum is 1980 MHz", "n2"),
        ("the clock was 1610 MHz, its maximum is 1980 MHz", "n1"),
        ("avx512 5.1.2", "n1"),
    ]
    assert list(folded(rows)) == [
        ("the clock was 1500 to 1610 MHz, its maximum is 1980 MHz", 2, ("n1", "n2")), ("avx512 5.1.2", 1, ("n1",)),
    ]  # fmt: skip


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_is_written_with_four_digits_or_not_at_all(value: float) -> None:
    output = figure(value)
    if output:
        assert abs(float(output) - value) <= max(abs(value) * 1e-3, 1e-6)
    else:
        assert not abs(value) < 1e15


def test_of_two_burn_ins_of_a_node_the_newest_counts_and_both_are_named() -> None:
    of = job(1)
    assert of.profile is not None
    readings = []
    for run, laid in (("r1", FLIP), ("r2", ())):
        head = (of.profile.name, of.profile.version, of.profile.digest)
        answer = Answered("n01", Plane.BURNIN, TIME, None, capture(1, SEED, laid, chips=1), "0" * 64)
        judging = Judging(of)
        judged = [*judging.take(of.nodes[0], tree_of(of, of.nodes[0], [answer])), *judging.close()]
        start = RunStarted(run, TIME, "0.1.0", *head, ("n01",), ("burnin",), "")
        readings.append(gather([start, answer, *judged, RunDone(TIME, Outcome.PASS)]))
    order = ReportJob("acceptance", "pod", "draft", of.profile, (of.profile,), {}, {"n01": NodeLocation("compute")})
    found = build(readings, order)
    assert [run.run for run in burned(found).runs] == ["r1", "r2"]
    assert burned(found).faults == ()
    assert found.title == "Acceptance report"


# ---- drawings --------------------------------------------------------------------------------------------------------


def test_nodes_with_findings_are_drawn_first_at_most_twelve_and_the_rest_as_an_envelope() -> None:
    charts = burned(rack()).charts
    assert charts[0].nodes == ("n03",)
    assert len(charts) == 13
    assert len(charts[-1].nodes) == 4
    assert {line.role for panel in charts[-1].panels for line in panel.lines} <= {
        "lowest",
        "median",
        "highest",
        "inlet",
    }


def test_the_gpu_with_a_finding_alone_is_heavy_and_bears_its_name() -> None:
    panel = next(panel for panel in burned(lone()).charts[0].panels if panel.what == "GPU temperature")
    assert [line.name for line in panel.lines if line.role == "odd"] == ["GPU 6"]
    assert sum(line.role == "plain" for line in panel.lines) == 7
    scale = chart.scales(burned(lone()).charts)[panel.what]
    drawn = ET.fromstring(chart.svg(burned(lone()).charts[0], panel, scale))
    assert "GPU 6" in {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    widths = {line.get("stroke-width") for line in drawn.iter("{http://www.w3.org/2000/svg}polyline")}
    assert len(widths) == 2


def test_every_drawing_has_a_text_and_its_figures_beside() -> None:
    text = page(lone())
    found = drawings(text)
    assert len(found) == len(burned(lone()).charts[0].panels)
    assert all("n01" in (each.get("aria-label") or "") and "over" in (each.get("aria-label") or "") for each in found)
    assert "Values: lowest and highest of each line" in text


def test_nothing_is_drawn_outside_of_its_drawing() -> None:
    for each in drawings(page(rack())):
        for line in (
            *each.iter("{http://www.w3.org/2000/svg}polyline"),
            *each.iter("{http://www.w3.org/2000/svg}polygon"),
        ):
            for pair in (line.get("points") or "").split():
                x, y = map(int, pair.split(","))
                assert 0 <= x <= chart.WIDE
                assert 0 <= y <= chart.HIGH


def test_panels_of_one_kind_share_a_scale() -> None:
    scales = chart.scales(burned(rack()).charts)
    values = [
        value
        for c in burned(rack()).charts
        for p in c.panels
        if p.what == "GPU power"
        for ln in p.lines
        for _, value in chart.points(ln)
    ]
    assert scales["GPU power"].low <= min(values)
    assert max(values) <= scales["GPU power"].high


@given(st.lists(st.tuples(st.integers(-(10**11), 10**11), st.integers(-(10**11), 10**11)), max_size=5))
def test_any_points_can_be_drawn(values: list[tuple[int, int]]) -> None:
    line = BurnLine("GPU 1", "odd", " ".join(f"{t},{value}" for t, value in sorted(values)))
    panel = BurnPanel("GPU power", "W", (line,))
    only = replace(burned(lone()).charts[0], panels=(panel,))
    ET.fromstring(chart.svg(only, panel, chart.scales([only])["GPU power"], text=chart.words(panel, "n1")))


def test_128_nodes_of_eight_gpus_under_load_for_a_minute_stay_below_three_million_bytes() -> None:
    plan = document(Tier.VALIDATE, seed=SEED)
    dense = BurnCapture(tuple(SimLoad(parts(), plan, FLIP, 1, 1, 0.1).records()))
    of = job(128)
    names = tuple(node.name for node in of.nodes)
    assert of.profile is not None
    head = (of.profile.name, of.profile.version, of.profile.digest)
    began = RunStarted("r1", TIME, "0.1.0", *head, names, ("burnin",), "")
    answers = [Answered(name, Plane.BURNIN, TIME, None, dense, "0" * 64) for name in names]
    one = gather([began, answers[0], RunDone(TIME, Outcome.FAIL)])
    # Every node sent the same records, so that their facts are collected once; the curves are read for each.
    leaves = collect(registry().probes, dense)
    burns = {name: burn_read.read(name, dense.burn, leaves, len(names)) for name in names}
    assert burns[names[0]] == one.burns[names[0]]
    places = {name: NodeLocation("compute") for name in names}
    data = replace(one, burns=burns, answers=tuple(replace(one.answers[0], node=name) for name in names))
    found = build([data], ReportJob("run", "r1", "draft", of.profile, (of.profile,), {}, places))
    assert max(len(chart.points(ln)) for c in burned(found).charts for p in c.panels for ln in p.lines) > 200
    assert len(page(found).encode()) < 3_000_000


# ---- renderings ------------------------------------------------------------------------------------------------------


def test_a_simulation_is_marked_on_every_page_and_a_machine_never() -> None:
    assert rack().simulated
    text = page(lone())
    assert '@top-center { content: "SIMULATION"; }' in text
    assert "No machine was read" in text
    assert "**SIMULATION**" in markdown.text(lone(), "0" * 64)
    assert 'name="rackcheck.simulation" value="yes"' in junit.text(lone(), "0" * 64)
    assert all("SIMULATION" in each for each in pdf_pages(lone()))
    real = document_of(
        {1: BurnCapture(tuple({k: v for k, v in r.items() if k != "simulated"} for r in capture(1, SEED).records))}
    )
    assert not real.simulated
    assert "SIMULATION" not in page(real).replace(html._file("report.css"), "")
    assert document_of({1: capture(1, SEED)}, targets="all 8 nodes of sim:dgx-h100").simulated


def test_the_pdf_has_the_content_of_the_page() -> None:
    text = "".join(pdf_pages(lone())).replace("\r\n", "").replace("\n", "").replace(" ", "")
    fault = burned(lone()).faults[0]
    for output in (
        fault.serial,
        f"--seed{SEED}",
        "GPUs:NVIDIAH100",
        "tensorrate",
        "Ratesagainstphysicallimits",
        "Curves",
        "GPU6",
    ):
        assert output in text, output


def test_the_same_capture_gives_the_same_bytes() -> None:
    once, twice = (document_of({1: capture(1, SEED, FLIP, chips=1)}) for _ in range(2))
    assert record.text(once) == record.text(twice)
    assert page(once) == page(twice)
    assert record.read(record.text(once)) == once


def test_the_annex_has_every_figure_of_every_thing() -> None:
    rows = list(csv.reader(io.StringIO(annex.files(rack())["burn-in.csv"].removeprefix(annex.BOM))))
    assert len(rows) - 1 == sum(len(t.rows) * len(t.figures) for t in burned(rack()).tables)
    faults = list(csv.DictReader(io.StringIO(annex.files(rack())["burn-in-faults.csv"].removeprefix(annex.BOM))))
    assert faults[0]["again"].endswith(f"--seed {SEED}")


def hostile(output: str) -> BurnCapture:
    """A burn-in of a node that writes one text wherever text is allowed."""
    about = {"model": output, "serial": output, "pci": output, "uuid": output}
    records: list[dict[str, Any]] = [
        {"k": "hello", "t": 0.0, "wire": 1, "tier": output, "seed": 1, "version": output, "cpu": output},
        {
            "k": "about",
            "t": 0.1,
            "gpus": {"0": about, output: about},
            "troubles": [{"of": f"gpu/{output}", "why": output}],
        },
    ]
    for t in range(20):
        records.append({"k": "sample", "t": t, "of": "gpu/0", "power": 70 + t, "temp": 40, "clock": 1e9})
        records.append({"k": "sample", "t": t, "of": f"gpu/{output}", "power": 700, "temp": 40 + t})
        records.append({"k": "sample", "t": t, "of": "bmc", "inlet": 20, "fans": {output: 5000}})
    records += [
        {"k": "stage", "t": 5.0, "of": "gpu/0", "stage": output, "status": "done", "from": 0.0},
        {"k": "stage", "t": 9.0, "of": "gpu/0", "stage": output, "status": "not tested", "why": output},
        {
            "k": "error",
            "t": 6.0,
            "of": f"gpu/{output}",
            "stage": output,
            "name": output,
            "said": output,
            "got": output,
            "want": output,
        },
        {"k": "verdict", "t": 20.0, "status": output, "why": output},
    ]
    return BurnCapture(tuple(records))


@pytest.mark.parametrize("message", HOSTILE)
def test_text_from_a_node_is_escaped_in_page_drawing_and_annex(message: str) -> None:
    found = document_of({1: hostile(message)})
    text = page(found)
    assert text.count("<script") == 2
    assert "<img src=x" not in text
    assert drawings(text)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert json.loads(record.text(found))
    markdown.text(found, "0" * 64)
    for rows in annex.files(found).values():
        list(csv.reader(io.StringIO(rows)))


def test_a_hostile_burn_in_can_be_set_on_paper() -> None:
    assert pdf_pages(document_of({n: hostile(output) for n, output in enumerate(HOSTILE, 1)}))


def renderings(dossier: Dossier) -> str:
    return "\n".join(
        [page(dossier), record.text(dossier), markdown.text(dossier, "0" * 64), *annex.files(dossier).values()]
    )


def test_the_public_sees_no_serial_uuid_or_name_in_tables_findings_and_drawings_and_all_figures() -> None:
    public = redact.redacted(rack(), "public")
    text = renderings(public)
    for number in range(1, 17):
        for about in capture(number, SEED, FLIP if number == 3 else (), chips=1).burn.gpus.values():
            assert about["serial"] not in text
            assert about["uuid"] not in text
        assert re.search(rf"\bn{number:02}\b", text) is None
    values = [[row.values for row in table.rows] for table in burned(rack()).tables]
    assert [[row.values for row in table.rows] for table in burned(public).tables] == values
    lines = [line.points for c in burned(rack()).charts for p in c.panels for line in p.lines]
    assert [line.points for c in burned(public).charts for p in c.panels for line in p.lines] == lines
    assert burned(public).faults[0].seed == SEED


def test_a_secret_that_a_node_plants_in_its_words_is_gone_from_every_copy_but_the_full_one() -> None:
    serial = next(iter(capture(1, SEED).burn.gpus.values()))["serial"]
    records = tuple(
        {**r, "fans": {f"FAN {serial}": 1.0}} if r.get("of") == "bmc" else r for r in capture(1, SEED, FLIP).records
    )
    more = ({"k": "error", "t": 9.0, "of": "gpu/1", "stage": "links", "name": "xid", "said": f"{serial} at 10.1.2.3"},)
    found = document_of({1: BurnCapture((*records[:-1], *more, records[-1]))})
    assert f"{serial} at 10.1.2.3" in renderings(found)
    assert serial not in renderings(redact.redacted(found, "public"))
    for level in redact.LEVELS:
        assert "10.1.2.3" not in renderings(redact.redacted(found, level))


def test_a_document_without_a_burn_in_states_it_and_draws_nothing() -> None:
    done = rackcheck("report", folder() / "first", "--format", "html", "-q", "-o", "-")
    assert done.status == 0, done.err
    assert "No burn-in was run" in done.out
    assert not drawings(done.out)


def test_rules_marked_as_unverified_are_named() -> None:
    of = rack()
    gates = tuple(
        replace(g, why=f"{g.why} Unverified on hardware.") if g.id == "burnin.gpu_heat" else g for g in of.gates
    )
    assert "Unverified on hardware</strong>" in page(replace(of, gates=gates))
    assert "Unverified on hardware</strong>" not in page(of)
