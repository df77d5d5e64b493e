"""The HTML report in a real browser: it loads nothing from elsewhere, is accessible, and its table of nodes works."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import PROGRAM, Chromium
from dossiers import HOSTILE, sample
from places import TESTS

from rackcheck.model.fact import visible
from rackcheck.report.html import page

AXE = TESTS / "browser" / "node_modules" / "axe-core" / "axe.min.js"
ROWS = "[...document.querySelectorAll('#node-table tbody tr[data-n] th')].map(th => th.textContent)"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    missing = [
        word
        for word, there in (("chromium (apt)", PROGRAM), ("axe-core (npm ci --prefix tests/browser)", AXE.is_file()))
        if not there
    ]
    if missing:
        text = f"the HTML report is NOT tried in a browser: {', '.join(missing)} missing"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)
    with Chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made = {"small": sample(), "hostile": sample(13, 40, hostile=True), "hall": sample(1000, 180)}
    for name, dossier in made.items():
        (folder / f"{name}.html").write_text(page(dossier, "ab" * 32), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


def put(browser: Chromium, control: str, value: str) -> None:
    event = "input" if control == "f-text" else "change"
    where = f"document.getElementById({json.dumps(control)})"
    browser.value(f"{where}.value = {json.dumps(value)}; {where}.dispatchEvent(new Event('{event}'))")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["small", "hostile", "hall"])
def test_axe_finds_nothing_serious(browser: Chromium, reports: dict[str, Path], name: str, *, dark: bool) -> None:
    browser.open(reports[name], dark=dark)
    browser.value("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.value("document.querySelector('#node-table .open').click()")
    browser.value(f"{AXE.read_text(encoding='utf-8')};0")
    found: list[list[Any]] = browser.value(
        "axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html.slice(0, 200)).slice(0, 3)]))"
    )
    assert [v for v in found if v[0] in {"serious", "critical"}] == []


@pytest.mark.parametrize("name", ["small", "hostile", "hall"])
def test_nothing_is_requested_and_the_console_stays_empty(
    browser: Chromium, reports: dict[str, Path], name: str
) -> None:
    browser.open(reports[name])
    browser.value("document.querySelector('#node-table .open').click()")
    assert browser.requests() == [reports[name].as_uri()]
    assert browser.complaints() == []


def test_the_policy_stops_an_injected_script(browser: Chromium, reports: dict[str, Path], tmp_path: Path) -> None:
    broken = tmp_path / "smuggled.html"
    written = reports["small"].read_text(encoding="utf-8")
    broken.write_text(written.replace("</main>", "<script>window.smuggled = 1</script></main>"), encoding="utf-8")
    browser.open(broken)
    assert browser.value("typeof window.smuggled") == "undefined"
    assert "Content Security Policy" in "".join(browser.complaints())


def test_nodes_are_found_by_text_set_verdict_and_rule(browser: Chromium, reports: dict[str, Path]) -> None:
    browser.open(reports["hall"])
    made = sample(1000, 180)
    put(browser, "f-text", "dgx[0003-0005,0999],dgx0007")
    assert browser.value(ROWS) == ["dgx0003", "dgx0004", "dgx0005", "dgx0007", "dgx0999"]
    put(browser, "f-text", made.nodes[41].serial)
    assert browser.value(ROWS) == ["dgx0042"]
    put(browser, "f-text", "")
    put(browser, "f-verdict", "u")
    assert browser.value(ROWS) == [node.name for node in made.nodes if "u" in node.vector]
    put(browser, "f-rule", "17")
    assert browser.value(ROWS) == []
    put(browser, "f-verdict", "")
    failing = sum(node.vector[17] == "F" for node in made.nodes)
    assert browser.value("document.getElementById('status').textContent").startswith(f"{failing} of 1000 nodes")
    put(browser, "f-rule", "")
    put(browser, "f-verdict", "INCOMPLETE")
    assert browser.value(ROWS) == [node.name for node in made.nodes if node.outcome.value == "INCOMPLETE"]


def test_columns_sort_both_ways_and_indicate_it(browser: Chromium, reports: dict[str, Path]) -> None:
    browser.open(reports["hall"])
    browser.value("document.querySelectorAll('#node-table .sort')[0].click()")
    assert browser.value(ROWS)[0] == "dgx0001"
    browser.value("document.querySelectorAll('#node-table .sort')[0].click()")
    assert browser.value(ROWS)[0] == "dgx1000"
    assert browser.value("document.querySelector('#node-table th').getAttribute('aria-sort')") == "descending"


def test_a_node_opens_to_its_rules_parts_and_findings(browser: Chromium, reports: dict[str, Path]) -> None:
    browser.open(reports["hall"], at="#node-dgx0777")
    made = sample(1000, 180)
    node = made.nodes[776]
    shown = browser.value("document.querySelector('.detail').textContent")
    for part in (part for part in made.parts if part.node == node.name):
        assert part.serial in shown
    assert browser.value("document.querySelectorAll('.detail .letters span').length") == 180
    listed = browser.value("[...document.querySelectorAll('.detail .plain li a')].map(a => a.textContent)")
    wanted = [f.rule for f in made.findings if node.name in f.nodes and f.status.value not in {"pass", "n/a"}]
    assert sorted(listed) == sorted(wanted)
    assert browser.value("document.activeElement.textContent") == node.name


def test_a_rule_leads_to_its_nodes(browser: Chromium, reports: dict[str, Path]) -> None:
    browser.open(reports["hall"])
    browser.value("document.querySelector('.finding .to-nodes').click()")
    chosen = browser.value("document.getElementById('f-rule').selectedOptions[0].textContent")
    made = sample(1000, 180)
    place = [gate.id for gate in made.gates].index(chosen)
    many = sum(node.vector[place] == "F" for node in made.nodes)
    assert browser.value("document.getElementById('status').textContent").startswith(f"{many} of 1000 nodes")


def test_hostile_texts_show_literally_and_inject_no_element(browser: Chromium, reports: dict[str, Path]) -> None:
    browser.open(reports["hostile"])
    browser.value("document.querySelectorAll('#node-table .open').forEach(button => button.click())")
    shown = browser.value("document.body.textContent")
    for output in HOSTILE:
        assert visible(output) in shown
    assert browser.value(
        "[document.scripts.length, document.images.length, document.querySelectorAll('[onerror]').length]"
    ) == [2, 0, 0]
    assert browser.value(ROWS) == [f"dgx{n:02}" for n in range(1, 14)]


@pytest.mark.parametrize("width", [420, 1280])
@pytest.mark.parametrize("name", ["small", "hostile", "hall"])
def test_nothing_runs_out_of_the_page(browser: Chromium, reports: dict[str, Path], name: str, width: int) -> None:
    browser.open(reports[name], width=width)
    browser.value("for (const one of document.querySelectorAll('details')) one.open = true")
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_without_script_verdict_findings_and_nodes_are_there(browser: Chromium, reports: dict[str, Path]) -> None:
    browser.open(reports["hall"], script=False)
    shown = browser.call("DOM.getDocument", depth=-1, pierce=True)
    words = json.dumps(shown, ensure_ascii=False)
    assert "177,819 of 180,000 verdicts pass" in words
    assert "gpu.value is 200 Gb/s" in words or "sysctl.value is 200 Gb/s" in words
    assert "The first 200 of 1,000 nodes" in words
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.value("document.getElementById('controls').hidden") is True
    assert browser.value("document.querySelectorAll('#node-table tbody tr').length") == 200


def test_paper_shows_what_is_folded_and_no_controls(browser: Chromium, reports: dict[str, Path]) -> None:
    browser.open(reports["small"], script=False)
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    tall = "[...document.querySelectorAll('details > :not(summary)')].filter(e => !e.getBoundingClientRect().height).length"
    assert browser.value(tall) == 0
    assert browser.value("getComputedStyle(document.querySelector('nav')).display") == "none"
    browser.call("Emulation.setEmulatedMedia", media="")
