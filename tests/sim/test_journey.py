"""From run to document: a rack is accepted, repaired, read again, waived, reported, signed twice, checked offline."""

import json
import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import depth
import pytest
from command import Done, rackcheck
from mockup_server import WatchedRack as Rack

from rackcheck.profile import library
from rackcheck.sim import scenario

UNTIL = (datetime.now(UTC).date() + timedelta(days=90)).isoformat()


@contextmanager
def rack(folder: Path, *mended: str) -> Iterator[Path]:
    """The shipped rack with five faults, except on the repaired nodes; returns its inventory."""
    folder.mkdir()
    text = (scenario.FOLDER / "dgx-h100.yaml").read_text()
    kept = [
        line for line in text.splitlines() if not any(f"nodes: {node}," in line and "fault" in line for node in mended)
    ]
    file = folder / "rack.yaml"
    file.write_text("\n".join(kept) + "\n")
    with Rack(scenario.load(file), folder) as up:
        yield Path(up.inventory)


@dataclass(frozen=True)
class Journey:
    """The commands' results by step, and their paths."""

    home: Path
    steps: Mapping[str, Done]
    bundle: Path
    waivers: Path


def keys(folder: Path) -> tuple[Path, Path]:
    made = (folder / "integrator", folder / "customer")
    for key in made:
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"{key.name}@example", "-f", key], check=True
        )
    return made


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    home = tmp_path_factory.mktemp("journey")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKCHECK_HOME", str(home))
        patch.chdir(home)
        steps: dict[str, Done] = {}
        with rack(home / "first") as inventory:
            declined = ("--no-burn-in", "no load before the power test")
            steps["new"] = rackcheck("accept", "new", "pod7", "-p", "h100-dgx", "-i", inventory, *declined)
            steps["audit"] = rackcheck("audit", "--accept", "pod7", "-i", inventory, "-q", "--json")
        steps["first report"] = rackcheck("report", "pod7", "--format", "json", "-o", home / "first.json", "-q")
        with rack(home / "second", "dgx03", "dgx08") as inventory:
            steps["again"] = rackcheck("audit", "dgx03,dgx08", "--accept", "pod7", "-i", inventory, "-q", "--json")
        waivers = home / "waivers.yaml"
        words = (
            "--until",
            UNTIL,
            "--by",
            "Jo Doe",
            "--ticket",
            "OPS-12",
            "--reason",
            "cables ordered",
            "--file",
            waivers,
        )
        steps["waive"] = rackcheck("waive", "nic.rate", "--from", "pod7", "--nodes", "dgx02", *words)
        steps["waive width"] = rackcheck("waive", "gpu.width", "--from", "pod7", "--nodes", "dgx05", *words)
        steps["waive path"] = rackcheck("waive", "gpu.path_width", "--from", "pod7", "--nodes", "dgx05", *words)
        steps["waive turbo"] = rackcheck("waive", "bios.turbo", "--from", "pod7", "--nodes", "dgx06,dgx07", *words)
        steps["add"] = rackcheck("accept", "add", "pod7", "--waivers", waivers)
        steps["report"] = rackcheck("report", "pod7", "--bundle", "-q")
        for key in keys(home):
            steps[f"sign {key.name}"] = rackcheck(
                "sign", "pod7", "--key", key, "--as", key.name, "--name", f"The {key.name}"
            )
        steps["verify"] = rackcheck(*verify(home, home / "bundles" / "pod7"))
        steps["show"] = rackcheck("accept", "show", "pod7", "--json")
        yield Journey(home, steps, home / "bundles" / "pod7", waivers)


def verify(home: Path, bundle: Path) -> list[object]:
    return [
        "verify",
        bundle,
        "--key",
        home / "integrator.pub",
        "--key",
        home / "customer.pub",
        "--require",
        "2",
        "--json",
    ]


def test_every_step_ends_as_it_should(journey: Journey) -> None:
    ends = {name: done.status for name, done in journey.steps.items()}
    assert ends == {
        "new": 0, "audit": 1, "first report": 0, "again": 0, "waive": 0, "waive width": 0, "waive path": 0, "waive turbo": 0, "add": 0,
        "report": 0,
        "sign integrator": 0, "sign customer": 0, "verify": 0, "show": 0,
    }, {name: done.err for name, done in journey.steps.items()}  # fmt: skip


def test_first_rework_and_final_result_stand_beside_each_other(journey: Journey) -> None:
    first = json.loads((journey.home / "first.json").read_text())["report"]
    last = json.loads((journey.bundle / "report.json").read_text())["report"]
    assert (first["tally"]["outcome"], last["tally"]["outcome"]) == ("FAIL", "PASS")
    assert [(r["kind"], r["outcome"]) for r in last["subject"]["readings"]] == [("audit", "FAIL"), ("re-audit", "PASS")]
    turned = {(r["rule"], tuple(step[2] for step in r["steps"])) for r in last["rework"]}
    assert ("gpu.count", ("fail", "pass")) in turned
    assert {steps for rule, steps in turned if rule == "bmc.fans"} <= {("unknown", "pass")}
    assert last["tally"]["counts"]["waived"] == 5
    # What was unknown for the whole fleet at first stays unknown after reading a part of it: it decides nothing.
    assert sum(last["tally"]["severe"][severity]["unknown"] for severity in ("blocker", "major")) == 0


def test_a_waiver_shows_its_change_and_stays_beside_the_true_verdict(journey: Journey) -> None:
    diff = journey.steps["waive"].out
    assert diff.startswith("--- /dev/null\n+++ ")
    assert "+  - rule: nic.rate" in diff
    assert all(line[0] in "+-@ " for line in diff.splitlines())
    second = journey.steps["waive width"].out
    assert "+  - rule: gpu.width" in second
    assert "+  - rule: nic.rate" not in second
    last = json.loads((journey.bundle / "report.json").read_text())["report"]
    waived = {f["rule"]: f for f in last["findings"] if f["status"] == "waived"}
    assert {rule: f["truth"] for rule, f in waived.items()} == dict.fromkeys(
        ("nic.rate", "gpu.width", "gpu.path_width", "bios.turbo"), "fail"
    )
    assert "OPS-12" in waived["nic.rate"]["reason"]


def test_two_parties_sign_it_and_the_acceptance_shows_them(journey: Journey) -> None:
    verified = json.loads(journey.steps["verify"].out)
    assert [s["party"] for s in verified["signatures"]] == ["customer", "integrator"]
    assert not [s for s in verified["signatures"] if s["trouble"]]
    shown = json.loads(journey.steps["show"].out)
    assert shown["state"] == "signed"
    assert [s["party"] for s in shown["signed"]] == ["integrator", "customer"]


def test_the_bundle_holds_every_rendering_and_every_answer(journey: Journey) -> None:
    names = {path.relative_to(journey.bundle).as_posix() for path in journey.bundle.rglob("*") if path.is_file()}
    assert {
        "report.html",
        "report.pdf",
        "report.json",
        "report.md",
        "junit.xml",
        "inventory.csv",
        "bundle.json",
    } <= names
    assert {
        "SHA256SUMS",
        "acceptance/acceptance.jsonl",
        "signatures/integrator.json",
        "signatures/customer.json.sig",
    } <= names
    last = json.loads((journey.bundle / "report.json").read_text())["report"]
    for answer in last["evidence"]:
        if answer["digest"]:
            assert f"runs/{answer['run']}/raw/{answer['digest']}.json.gz" in names


def test_one_byte_flipped_in_any_file_is_named_and_ends_in_4(journey: Journey, tmp_path: Path) -> None:
    copy = tmp_path / "pod7"
    shutil.copytree(journey.bundle, copy)
    chance = random.Random(4)
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    assert len(files) > 60
    # A usual run changes each file of the bundle's own folder and one of each ending in the folders below; `make full` all.
    kinds = {path if path.parent == copy else (path.parent, path.suffix): path for path in files}
    assert len(kinds) > 20
    for path in files if depth.DEEP else kinds.values():
        whole = path.read_bytes()
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :])
        done = rackcheck(*verify(journey.home, copy))
        path.write_bytes(whole)
        name = path.relative_to(copy).as_posix()
        assert done.status == 4, (name, at, done.out)
        assert name in done.out, (name, at, done.out)
    assert rackcheck(*verify(journey.home, copy)).status == 0


def test_a_file_that_is_added_or_taken_away_is_named(journey: Journey, tmp_path: Path) -> None:
    copy = tmp_path / "pod7"
    shutil.copytree(journey.bundle, copy)
    (copy / "report.pdf").unlink()
    done = rackcheck(*verify(journey.home, copy))
    assert (done.status, "report.pdf" in done.out) == (4, True)
    shutil.copy(journey.bundle / "report.pdf", copy / "report.pdf")
    (copy / "runs" / "more.json").write_text("{}")
    done = rackcheck(*verify(journey.home, copy))
    assert (done.status, "runs/more.json" in done.out) == (4, True)


def test_the_same_runs_give_the_same_bytes(journey: Journey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(journey.home))
    again = tmp_path / "again"
    assert rackcheck("report", "pod7", "--bundle", "-o", again, "-q").status == 0
    renderings = [path for path in journey.bundle.iterdir() if path.is_file() and path.name not in {"SHA256SUMS"}]
    assert len(renderings) > 15
    for path in renderings:
        assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_run_added_after_the_signature_makes_it_a_draft_again(
    journey: Journey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(journey.home, home)
    log = home / "acceptances" / "pod7" / "acceptance.jsonl"
    log.write_text(log.read_text().replace(str(journey.home), str(home)))
    monkeypatch.setenv("RACKCHECK_HOME", str(home))
    with rack(tmp_path / "third", "dgx02", "dgx03", "dgx08") as inventory:
        assert rackcheck("audit", "dgx02", "--accept", "pod7", "-i", inventory, "-q").status == 0
    shown = json.loads(rackcheck("accept", "show", "pod7", "--json").out)
    assert shown["state"] == "draft"
    assert [w["state"] for w in shown["waivers"] if w["rule"] == "nic.rate"] == ["unused"]
    assert any("waiver of nic.rate on dgx02 (OPS-12" in note for note in shown["notes"])
    made = rackcheck("report", "pod7", "--bundle", "-q")
    assert made.status == 0
    assert "pod7-r2" in made.out  # what is signed is never written over
    assert rackcheck(
        "accept", "new", "pod7b", "-p", "h100-dgx", "-i", tmp_path / "third" / "inventory.yaml", "--supersedes", "pod7"
    ).status in {0, 2}


def test_the_acceptance_opens_on_what_every_command_calls_a_run(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(journey.home))
    first = min(path.name for path in (journey.home / "runs").iterdir() if path.is_dir())
    assert rackcheck("diff", first, "pod7").status in {0, 1, 3}
    done = rackcheck("drift", "--against", "pod7", "last")  # the newest run is of two nodes
    assert (done.status, "missing in" in done.out) == (1, True)
    assert rackcheck("drift", "--against", "pod7", "pod7").status in {0, 3}
    assert "did you mean pod7?" in rackcheck("report", "pod8").err
    assert library.profiles()
