"""Python rules of a package: found by entry point, called only with known facts, and bounded."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rackcheck import Inputs, Wrong, rule
from rackcheck.evaluate.python_rule import answered
from rackcheck.evaluate.verdict import Status, Verdict
from rackcheck.evaluate.waiver import NOTHING
from rackcheck.model.catalogue import Catalogue, Entry, collection, integer, text
from rackcheck.model.fact import Absent, Plane, Reading, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.python_rule import Called
from rackcheck.model.tree import Leaf, Tree

KINDS = {"gpu": collection("GPUs"), "gpu/*.numa": integer("NUMA node"), "node.product": text("What it is")}
CATALOGUE = Catalogue.of(Entry(path, kind, Plane.OS, "os") for path, kind in KINDS.items())
TIMEOUT = Unknown(Reason.TIMEOUT, "no answer within 10 s")
WHOLE: Mapping[str, Reading] = {
    "gpu": ("0", "1"), "gpu/0.numa": 0, "gpu/1.numa": 1, "node.product": "DGX",
}  # fmt: skip


@rule(facts=["gpu", "gpu/*.numa", "node.product"])
def spread(known: Inputs) -> Iterator[Wrong]:
    """Each NUMA node has the same number of GPUs."""
    found: list[object] = list(known.table("gpu", "numa").values())
    for numa in sorted(set(map(str, found))):
        if (count := [str(each) for each in found].count(numa)) != len(found) / 2:
            yield Wrong(f"numa.node/{numa}", f"{count} GPUs", f"must be {len(found) // 2} GPUs")


def judged(facts: Mapping[str, Reading], what: Called = spread) -> Verdict:
    leaves = {path: Leaf(value, KINDS[str(parse(path).pattern)], Plane.OS, "os") for path, value in facts.items()}
    return answered("r", what.bound(CATALOGUE), Tree(leaves), NOTHING)


def test_no_fault_is_a_pass_and_each_fault_is_reported_as_evidence() -> None:
    assert judged(WHOLE).status is Status.PASS
    found = judged({**WHOLE, "gpu/1.numa": 0})
    assert (found.status, found.reason) == (Status.FAIL, "numa.node/0 is 2 GPUs, must be 1 GPUs")


@pytest.mark.parametrize("path", [*WHOLE, "gpu/*.numa"])
def test_it_is_not_called_where_any_fact_that_it_declares_is_unknown(path: str) -> None:
    called: list[object] = []

    @rule(facts=spread.facts)
    def values(known: Inputs) -> Iterator[Wrong]:
        called.append(known)
        yield Wrong("x", "y", "z")

    facts = {**WHOLE, path: TIMEOUT}
    if path == "gpu/*.numa":  # unknown for all items
        facts = {name: value for name, value in facts.items() if not name.startswith("gpu/0") and name != "gpu/1.numa"}
    found = judged(facts, values)
    assert (found.status, called) == (Status.UNKNOWN, [])
    assert "no answer within 10 s" in found.reason


def test_an_absent_fact_is_known_and_passed_on_as_absent() -> None:
    @rule(facts=["node.product"])
    def named(known: Inputs) -> Iterator[Wrong]:
        if isinstance(known.reading("node.product"), Absent):
            yield Wrong("node.product", "absent", "must be there", warns=True)

    assert judged({"node.product": Absent("no table")}, named).status is Status.WARN


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (lambda known: known.reading("gpu/0.serial"), "failed: KeyError"),
        (lambda _: 1 / 0, "failed: ZeroDivisionError"),
        (lambda _: None, "failed: TypeError"),
        (lambda _: ["a text"], "failed: AttributeError"),
        (lambda _: [Wrong("x", 5, "y")], "failed: AttributeError"),  # type: ignore[arg-type]
    ],
)
def test_a_rule_that_raises_is_unknown_and_states_how(body: object, words: str) -> None:
    found = judged(WHOLE, Called("broken", ("node.product",), body))  # type: ignore[arg-type]
    assert (found.status, words in found.reason) == (Status.UNKNOWN, True)


def test_endless_and_hostile_words_are_bounded_and_made_fit_for_a_terminal() -> None:
    @rule(facts=["node.product"])
    def endless(_: Inputs) -> Iterator[Wrong]:
        while True:
            yield Wrong("\x1b[2Jx", "y" * 5000, "z")

    found = judged(WHOLE, endless)
    assert (found.status, len(found.evidence)) == (Status.UNKNOWN, 1)
    assert "more than 10000 findings" in found.reason

    @rule(facts=["node.product"])
    def hostile(_: Inputs) -> Iterator[Wrong]:
        for _number in range(300):
            yield Wrong("\x1b[2Jx", "y" * 5000, "z")

    found = judged(WHOLE, hostile)
    assert len(found.evidence) == 256
    assert "\x1b" not in found.reason
    assert max(len(e.observed) for e in found.evidence) <= 1000


def test_what_comes_late_counts_as_what_comes_first() -> None:
    def late(*last: Wrong, fault: bool = False) -> Called:
        @rule(facts=["node.product"])
        def check(_: Inputs) -> Iterator[Wrong]:
            yield from (Wrong(f"n{number}", "x", "y", warns=True) for number in range(300))
            yield from last
            if fault:
                raise ValueError("late")

        return check

    assert judged(WHOLE, late()).status is Status.WARN
    assert judged(WHOLE, late(Wrong("n", "x", "y"))).status is Status.FAIL
    assert judged(WHOLE, late(fault=True)).status is Status.UNKNOWN


def test_a_rule_changes_the_facts_of_no_other() -> None:
    @rule(facts=["node.product"])
    def greedy(known: Inputs) -> Iterator[Wrong]:
        assert set(known.tree.leaves) == {"node.product"}
        known.tree.leaves.clear()  # type: ignore[attr-defined]
        known.tree.silent[Plane.OS] = TIMEOUT  # type: ignore[index]
        return iter(())

    leaves = {path: Leaf(value, KINDS[str(parse(path).pattern)], Plane.OS, "os") for path, value in WHOLE.items()}
    tree = Tree(leaves)
    answered("r", greedy.bound(CATALOGUE), tree, NOTHING)
    assert (set(tree.leaves), tree.silent) == (set(WHOLE), {})


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), RecursionError()])
def test_a_rule_that_would_end_the_program_ends_itself(error: BaseException) -> None:
    def raised(_: Inputs) -> Iterator[Wrong]:
        raise error

    found = judged(WHOLE, Called("ends", ("node.product",), raised))
    assert (found.status, "rule ends failed" in found.reason) == (Status.UNKNOWN, True)


def test_a_pattern_gives_its_collection_too_and_a_rule_without_facts_is_refused() -> None:
    @rule(facts=["gpu/*.numa"])
    def counted(known: Inputs) -> Iterator[Wrong]:
        names, _ = known.items("gpu")
        if len(names) != 2:
            yield Wrong("gpu", str(len(names)), "must be 2")

    assert judged(WHOLE, counted).status is Status.PASS
    with pytest.raises(ValueError, match="without facts"):
        rule(facts=[])
    with pytest.raises(ValueError, match="does not state the finding"):
        Wrong("", "", "")


# ---- from an installed package to a report ---------------------------------------------------------------------------

SOURCE = '''
from rackcheck import Inputs, Wrong, rule


@rule(facts=["cpu.threads", "memory.total"])
def memory_by_thread(known):
    """Every thread has its share of the memory."""
    threads, memory = known.reading("cpu.threads"), known.reading("memory.total")
    if memory / threads < {least}:
        yield Wrong("memory.total", f"{{memory / threads:.3g}} GiB a thread", "must be at least {least} GiB a thread")


@rule(facts=["no.such.fact"])
def lost(known):
    return ()


nothing = 5
'''
POINTS = "[rackcheck.rules]\nmemory-by-thread = acme:memory_by_thread\nlost = acme:lost\nnothing = acme:nothing\ngone = acme:gone\n"
PROFILE = """
rackcheck: 1
profile: acme
version: 1
rules:
  memory.share: { title: Memory for every thread, call: memory-by-thread, fix: Look for a missing DIMM. }
"""


def site(folder: Path, least: str, version: str = "1.2") -> dict[str, str]:
    """An environment with a package of rules in Python."""
    lib = folder / "lib"
    info = lib / "acme-1.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (lib / "acme.py").write_text(SOURCE.format(least=least))
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(POINTS)
    (folder / "acme.yaml").write_text(PROFILE)
    return {**os.environ, "PYTHONPATH": str(lib), "PYTHONDONTWRITEBYTECODE": "1"}


def run(env: Mapping[str, str], *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rackcheck", *map(str, words)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_a_profile_calls_a_rule_of_an_installed_package_and_its_finding_is_like_any_other(tmp_path: Path) -> None:
    env = site(tmp_path, "1_000_000")
    done = run(env, "audit", "-p", tmp_path / "acme.yaml", "-o", tmp_path / "run", "-q")
    assert done.returncode == 1, done.stderr
    output = " ".join(done.stdout.split())
    assert "memory.share Memory for every thread" in output
    assert "must be at least 1_000_000 GiB a thread" in output
    assert run(site(tmp_path, "0.001"), "audit", "-p", tmp_path / "acme.yaml", "-q").returncode == 0
    shown = run(env, "profile", "explain", "memory.share", "-p", tmp_path / "acme.yaml")
    assert "memory-by-thread of acme 1.2: Every thread has its share of the memory." in " ".join(shown.stdout.split())


def test_a_run_that_was_judged_by_another_version_of_the_package_is_not_judged_again_in_silence(tmp_path: Path) -> None:
    env = site(tmp_path, "0.001")
    run(env, "audit", "-p", tmp_path / "acme.yaml", "-o", tmp_path / "run", "-q")
    assert run(env, "audit", "--from", tmp_path / "run").returncode == 0
    done = run(site(tmp_path, "0.001", "1.3"), "audit", "--from", tmp_path / "run")
    assert (done.returncode, "the run's profile was changed" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (
            "call: memory-by-tread",
            "no installed package provides a rule memory-by-tread; did you mean memory-by-thread?",
        ),
        ("call: lost", "rule lost reads no.such.fact, which no probe provides"),
        ("call: nothing", "acme:nothing of acme 1.2 is not a rule"),
        ("call: gone", "rule gone of acme 1.2 cannot be loaded: AttributeError"),
        ("call: memory-by-thread, is: 5", "`is` cannot be combined with `call`"),
        ("call: memory-by-thread, each: gpu", "`each` cannot be combined with `call`"),
        ("call: memory-by-thread, scope: rack", "cpu.threads is a fact of a node, but the rule's scope is `rack`"),
    ],
)
def test_a_call_that_cannot_be_made_is_one_error_in_its_place(tmp_path: Path, written: str, words: str) -> None:
    env = site(tmp_path, "1")
    (tmp_path / "acme.yaml").write_text(f"rackcheck: 1\nprofile: acme\nversion: 1\nrules:\n  r: {{ {written} }}\n")
    done = run(env, "profile", "check", tmp_path / "acme.yaml")
    assert (done.returncode, words in done.stdout + done.stderr) == (2, True), done.stdout + done.stderr
    assert "acme.yaml:5:" in done.stdout + done.stderr


def test_where_no_package_offers_rules_the_error_states_it(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(PROFILE)
    done = run(os.environ, "audit", "-p", tmp_path / "acme.yaml")
    assert (done.returncode, "no installed package provides a rule memory-by-thread" in done.stderr) == (2, True)


def test_a_finding_of_a_rule_in_python_can_be_waived_like_any_other(tmp_path: Path) -> None:
    env = site(tmp_path, "1_000_000")
    run(env, "audit", "-p", tmp_path / "acme.yaml", "-o", tmp_path / "run", "-q")
    until = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    words = ("--until", until, "--by", "jo", "--ticket", "T-1", "--reason", "small on purpose", "--nodes", "localhost")
    made = run(env, "waive", "memory.share", "--from", tmp_path / "run", *words, "--file", tmp_path / "w.yaml")
    assert made.returncode == 0, made.stderr
    done = run(env, "audit", "--from", tmp_path / "run", "--waivers", tmp_path / "w.yaml", "--json")
    assert json.loads(done.stdout)["counts"]["waived"] == 1


def test_an_overlay_changes_the_kind_of_a_rule_and_explain_shows_what_was_removed(tmp_path: Path) -> None:
    env = site(tmp_path, "0.001")
    (tmp_path / "base.yaml").write_text(
        "rackcheck: 1\nprofile: base\nversion: 1\nrules:\n  memory.share: { fact: memory.total, at-least: 1 TiB }\n"
    )
    (tmp_path / "acme.yaml").write_text(PROFILE.replace("version: 1", "version: 1\nextends: base@1"))
    assert run(env, "audit", "-p", tmp_path / "acme.yaml", "-q").returncode == 0
    shown = run(env, "profile", "explain", "memory.share", "-p", tmp_path / "acme.yaml")
    assert "at-least" in shown.stdout
    (tmp_path / "back.yaml").write_text(
        "rackcheck: 1\nprofile: back\nversion: 1\nextends: acme@1\n"
        "rules:\n  memory.share: { across: { facts: [memory.total] }, agree: { quorum: 75 % } }\n"
    )
    done = run(env, "profile", "check", tmp_path / "back.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
