"""Files of earlier versions are still read: runs, captures, acceptances, signed bundles, profiles, packages of a site.

The artefacts are in tests/kept; its README lists the versions and commands that made them.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command import rackcheck
from keys import keygen
from places import TESTS

import rackcheck as public
from rackcheck.report.record_schema import schema

KEPT = TESTS / "kept"
VERSIONS = ("f9a5182", "7557eee")
PACKAGE = KEPT / "package"

NAMES = (
    "Absent", "Class", "Documents", "Facts", "Files", "Inputs", "Load", "Member", "Read", "Reason", "Redfish", "Resource",
    "Scope", "Shell", "Sourced", "Unknown", "Unreadable", "Walk", "Wrong", "collection", "comparison", "final", "flag",
    "gathering", "integer", "join", "listing", "probe", "quantity", "rule", "setting", "spell_key", "text", "version", "view",
)  # fmt: skip
"""The public names of 7557eee."""


@pytest.fixture(scope="module", params=VERSIONS)
def unpacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artefacts of one version."""
    place = tmp_path_factory.mktemp(request.param)
    with tarfile.open(KEPT / f"{request.param}.tar.xz") as archive:
        archive.extractall(place, filter="data")
    return place


@pytest.fixture
def kept(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as on a user's machine: a working directory with the state folder in it."""
    monkeypatch.setenv("RACKCHECK_HOME", str(unpacked / "home"))
    monkeypatch.chdir(unpacked)
    return unpacked


def document(*words: object, status: int) -> Any:
    done = rackcheck(*words, "--json")
    assert done.status == status, done.err
    return json.loads(done.out)


def stored(run: Path) -> list[tuple[str, str, str]]:
    """The verdicts in a run's file: node, rule, status."""
    events = [json.loads(line) for line in (run / "events.jsonl").read_text("utf-8").splitlines()]
    judged = [event for event in events if event["event"] == "judged"]
    return [(event["node"], verdict["rule"], verdict["status"]) for event in judged for verdict in event["verdicts"]]


def own(verdicts: Iterable[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """Verdicts of the site's own rules other than pass; documents of a run contain no others."""
    built_in = ("identity.", "silence.")
    return {found for found in verdicts if found[2] != "pass" and not found[1].startswith(built_in)}


def given(found: Any) -> set[tuple[str, str, str]]:
    """The same of a document."""
    return own((node, each["rule"], each["status"]) for each in found["findings"] for node in each["nodes"])


def test_a_kept_run_is_shown_with_the_verdicts_that_it_was_stored_with(kept: Path) -> None:
    shown = document("runs", "show", kept / "before", status=1)
    assert given(shown) == own(stored(kept / "before"))
    assert ("n2", "nic.rate", "fail") in given(shown)
    of_nodes = Counter(status for _, _, status in stored(kept / "before"))
    assert {status: count for status, count in shown["counts"].items() if count} == of_nodes
    assert shown["outcome"] == "FAIL"


def test_a_kept_run_is_judged_again_by_its_own_profile_with_the_same_verdicts(kept: Path) -> None:
    again = document("audit", "--from", kept / "before", status=1)
    assert given(again) == own(stored(kept / "before"))
    assert document("audit", "--from", kept / "after", status=0)["outcome"] == "PASS"


def test_facts_of_a_kept_run_are_read_from_its_raw_answers(kept: Path) -> None:
    found = rackcheck("facts", "n2", "--from", kept / "before", "nic/mlx5_4.port/1.rate", "--raw")
    assert (found.status, "40 Gb/s" in found.out) == (0, True), found.err


@pytest.mark.parametrize("form", ["html", "pdf", "json", "junit", "csv", "markdown"])
def test_a_kept_run_is_reported_in_every_form(kept: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "report"
    done = rackcheck("report", kept / "before", "--format", form, "-o", out, "-q")
    assert done.status == 0, done.err
    written = b"".join(file.read_bytes() for file in ([out] if out.is_file() else sorted(out.iterdir())))
    assert b"%PDF" in written if form == "pdf" else b"nic.rate" in written
    if form == "json":
        assert list(jsonschema.Draft202012Validator(schema()).iter_errors(json.loads(written))) == []


def test_two_kept_runs_differ_in_the_port_that_was_mended(kept: Path) -> None:
    for words in (("diff", kept / "before", kept / "after"), ("drift", "--against", kept / "before", kept / "after")):
        done = rackcheck(*words)
        assert (done.status, "nic/mlx5_4.port/1.rate 40 Gb/s -> 400 Gb/s on 1 of 2: n2" in done.out) == (1, True), (
            done.err
        )


def test_kept_runs_are_listed_and_shown_by_every_view(kept: Path) -> None:
    (listed,) = document("runs", "list", status=0)
    assert listed["run"] in {run.name for run in (kept / "home" / "runs").iterdir()}
    assert document("history", "n2", status=0)["runs"]
    assert "nic.rate" in rackcheck("groups", kept / "before").out
    assert "n2" in rackcheck("rack", kept / "before").out
    assert rackcheck("odd", kept / "before").status == 3, "two nodes are too few to compare"
    assert rackcheck("remedy", kept / "before").status == 0


def test_a_kept_capture_gives_its_facts_and_is_judged(kept: Path) -> None:
    found = document("facts", "n01", "--from", kept / "capture", status=0)["facts"]
    assert (found["memory.total"]["value"], found["sysctl.vm.swappiness"]["value"]) == (2113442812 / 2**20, 10)
    done = rackcheck("audit", "--from", kept / "capture", "-p", kept / "site.yaml", "--planes", "os")
    assert "memory.enough" in done.out, done.err


def test_a_kept_acceptance_has_its_waiver_and_its_signatures(kept: Path) -> None:
    done = rackcheck("accept", "show", "pod")
    words = " ".join(done.out.split())
    assert done.status == 0, done.err
    for expected in (
        "waived until 2027-01-31 by Jo Doe (OPS-12): cables ordered",
        "signed by integrator (Jo Doe)",
        "signed by customer (Jo Doe)",
        "Verdict: PASS",
    ):
        assert expected in words


def test_a_kept_acceptance_can_be_signed_off_again(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(shutil.copytree(kept / "home", tmp_path / "home")))
    keygen("-q", "-t", "ed25519", "-N", "", "-C", "third", "-f", tmp_path / "third")
    done = rackcheck("report", "pod", "--bundle", "-o", tmp_path / "again", "-q")
    assert done.status == 0, done.err
    signed = rackcheck("sign", tmp_path / "again", "--key", tmp_path / "third", "--as", "operator")
    assert signed.status == 0, signed.err
    assert rackcheck("verify", tmp_path / "again", "--key", tmp_path / "third.pub").status == 0


def verify(bundle: Path, kept: Path) -> int:
    keys = ("--key", kept / "integrator.pub", "--key", kept / "customer.pub")
    return rackcheck("verify", bundle, *keys, "--require", 2).status


def test_a_kept_bundle_verifies_and_does_not_after_one_byte_of_it_is_changed(kept: Path, tmp_path: Path) -> None:
    bundle = shutil.copytree(kept / "home" / "bundles" / "pod", tmp_path / "pod")
    assert verify(bundle, kept) == 0
    for name in ("report.json", "report.pdf", "acceptance/acceptance.jsonl", "SHA256SUMS", "signatures/customer.json"):
        file = bundle / name
        whole = file.read_bytes()
        middle = len(whole) // 2
        file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        assert verify(bundle, kept) == 4, name
        file.write_bytes(whole)
    assert verify(bundle, kept) == 0


def test_a_run_within_a_kept_bundle_is_judged_as_its_report_has_it(kept: Path) -> None:
    bundle = kept / "home" / "bundles" / "pod"
    (run,) = (bundle / "runs").iterdir()
    report = json.loads((bundle / "report.json").read_text("utf-8"))
    (waivers,) = (bundle / "acceptance" / "waivers").rglob("*.yaml")
    again = document("audit", "--from", run, "--waivers", waivers, status=0)
    assert (again["outcome"], again["counts"]["waived"]) == (report["report"]["tally"]["outcome"], 1)


def test_a_kept_profile_compiles_and_its_waiver_still_fits_its_rule(kept: Path) -> None:
    checked = rackcheck("profile", "check", kept / "waived.yaml")
    assert (checked.status, checked.err) == (0, "")
    assert "$swappiness" not in rackcheck("profile", "show", kept / "waived.yaml").out
    judged = document("audit", "--from", kept / "before", "-p", kept / "waived.yaml", status=0)
    assert judged["counts"]["waived"] == 1


def test_names_for_authors_of_probes_are_there() -> None:
    assert [name for name in NAMES if not hasattr(public, name)] == []


def with_package(kept: Path, *words: object) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "rackcheck", *map(str, words)]
    return subprocess.run(command, env=env, cwd=kept, capture_output=True, text=True, check=False)


def test_probes_of_a_kept_package_are_found_and_read_their_answers(kept: Path) -> None:
    done = with_package(kept, "facts", "n01", "--from", "capture", "site", "--json")
    assert done.returncode == 0, done.stderr
    read = {path: fact["value"] for path, fact in json.loads(done.stdout)["facts"].items()}
    assert read == {"site.tainted": 0, "site.clean": True, "site.load": 150, "site.release": "5.15.0-1053-nvidia"}


def test_a_rule_of_a_kept_package_is_called_by_a_profile(kept: Path) -> None:
    done = with_package(kept, "audit", "--from", "capture", "-p", PACKAGE / "site.yaml", "--planes", "os", "--all")
    assert (done.returncode, "PASS    memory.taint" in done.stdout) == (0, True), done.stdout + done.stderr
