"""The tests of the law of evidence can fail: they find a judge that lacks one of its clauses."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import depth
import evidence
import pytest
from places import ROOT

HERE = ROOT

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Mutant:
    """One clause that is removed: a text of a file, its replacement, and the tests that must fail."""

    file: str
    old: str
    new: str
    tests: str


LAW, FIT, JUDGING = "rackcheck/evaluate/law.py", "rackcheck/model/fit.py", "rackcheck/run/judging.py"
MUTANTS = {
    "n/a is evidence": Mutant(LAW, "frozenset({Status.PASS, Status.WAIVED})", "frozenset(Status)", "no_evidence"),
    "a built-in rule is evidence": Mutant(
        LAW, " and not rules[v.rule].built_in for v in deciding", " for v in deciding", "no_evidence"
    ),
    "rules decide on another machine": Mutant(LAW, "law != FIRST and not fit.decides", "False", "another_machine_is"),
    "an unknown machine passes": Mutant(LAW, "if fit.match is Match.UNKNOWN:", "if False:", "nothing_passes_and"),
    "an unknown built-in rule decides": Mutant(
        "rackcheck/model/profile.py", "not self.excuses(status, evidence)", "True", "no_evidence"
    ),
    "no machine is another": Mutant(FIT, "    if known:\n", "    if False:\n", "another_machine_is"),
    "parts decide before names": Mutant(
        FIT, '    decided = "product" in applies', '    decided = False and "product" in applies', "another_name"
    ),
    "a fragment gives a verdict": Mutant(JUDGING, "if not profile.fragment:", "if True:", "on_a_rack_either"),
    "a node without a BMC is judged by both planes": Mutant(
        JUDGING, "bounds = planes if rule.built_in else job.planes", "bounds = job.planes", "without_a_bmc"
    ),
    "a part of a fleet is not compared": Mutant(
        JUDGING, "if part and not whole and", "if False and", "part_of_a_fleet"
    ),
    "one node's parts are not looked at": Mutant(
        JUDGING, "if rule.built_in and len(job.seats) > 1", "if rule.built_in", "only_node"
    ),
    "host and BMC are never compared": Mutant(
        "probes/rackcheck_probes/cross_plane/identity_host.py",
        'yield "node.identity.differs", differing(kinds)',
        'yield "node.identity.differs", ()',
        "exchanged",
    ),
    "nothing comes twice": Mutant(
        "rackcheck/model/duplicate_identities.py", "found += [*rows, *within]", "found += []", "every_name"
    ),
    "no node is silent": Mutant(
        "rackcheck/evaluate/silence.py", "and key in self.silent:", "and False:", "parts_are_silent"
    ),
    "missing values of siblings are accepted": Mutant(
        "rackcheck/model/sibling_silence.py",
        '    return family.doubt(absent.detail or "absent", str(Path(path.segments[:depth])), has)',
        "    return None",
        "among_siblings",
    ),
    "an older law is today's": Mutant(
        "rackcheck/session/stored.py", "began.law if law is None else law", "2", "from_before"
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code that may be changed."""
    place = tmp_path_factory.mktemp("mutants")
    for name in ("rackcheck", "probes", "tui"):
        shutil.copytree(HERE / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("profiles", "schemas"):
        (place / name).symlink_to(HERE / name)
    return place


def judged(copy: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests of the law against the copy; they stop at the first failure, and share one run of a rack."""
    paths = os.pathsep.join(map(str, (copy, copy / "probes", copy / "tui")))
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-m", "not slow"]
    words += ["--assert=plain", "-p", "no:unraisableexception"]  # what they cost is only of use to a reader
    words += [
        "-c",
        str(HERE / "pyproject.toml"),
        "--rootdir",
        str(HERE),
        str(HERE / "tests/evaluate/test_evidence.py"),
        "-k",
        tests,
    ]
    environment = {**os.environ, "PYTHONPATH": paths, evidence.RUN: str(evidence.rack())}
    return subprocess.run(words, cwd=copy, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_judge_without_a_clause_of_the_law_is_caught(copy: Path, name: str) -> None:
    mutant = MUTANTS[name]
    file = copy / mutant.file
    whole = file.read_text()
    assert whole.count(mutant.old) == 1, f"{mutant.file} has {mutant.old!r} {whole.count(mutant.old)} times"
    file.write_text(whole.replace(mutant.old, mutant.new))
    try:
        done = judged(copy, mutant.tests)
    finally:
        file.write_text(whole)
    assert done.returncode == 1, f"no test fails when {name}: {done.stdout[-500:]}{done.stderr[-500:]}"
    assert " failed" in done.stdout.splitlines()[-1], done.stdout[-2000:]


def test_the_judge_as_it_is_passes(copy: Path) -> None:
    """A copy without a change passes: in a usual run two of the tests, as all of them run on the original too."""
    tests = sorted({mutant.tests for mutant in MUTANTS.values()}) if depth.DEEP else ["no_evidence", "only_node"]
    done = judged(copy, " or ".join(tests))
    assert done.returncode == 0, done.stdout[-2000:]
