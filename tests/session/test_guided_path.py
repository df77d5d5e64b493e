"""The start page knows from files alone which step of the path to a signature is next."""

import json
import shutil
from pathlib import Path

import pytest
from command import rackcheck

from rackcheck.run import store
from rackcheck.session.guided_path import path
from rackcheck.views.guided_path import PathStep, next_step

LOCAL = "rackcheck: 1\nnodes: { here: { host: localhost } }\n"
REMOTE = (
    "rackcheck: 1\nnodes:\n  n1: { host: 127.9.9.1, bmc: { url: 'https://127.9.9.2', user: a, password: 'env:P' } }\n"
)
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored audit of this machine under the name `here`."""
    home = tmp_path_factory.mktemp("audited")
    (home / "inventory.yaml").write_text(LOCAL)
    done = rackcheck("audit", "-i", home / "inventory.yaml", "-p", "linux-server", "-q", "-o", home / "run")
    assert done.status in {0, 1, 3}, done.err
    return home / "run"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and an empty store."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    (tmp_path / "pod7").mkdir()
    monkeypatch.chdir(tmp_path / "pod7")
    return tmp_path / "pod7"


def kept(audited: Path) -> str:
    """Store the audit as a run, and return its id."""
    name = json.loads((audited / "run.json").read_text())["run"]
    shutil.copytree(audited, store.runs_folder() / name)
    return str(name)


def following() -> PathStep:
    steps = path(Path("inventory.yaml"))
    return steps[next_step(steps)]


def test_an_empty_folder_begins_with_an_inventory() -> None:
    assert following() == PathStep(
        "Inventory", "no inventory.yaml yet", ("init", "-o", "inventory.yaml", "--only")
    )  # fmt: skip
    assert all(not step.command for step in path(Path("inventory.yaml"))[1:])


def test_an_inventory_that_cannot_be_read_is_shown_with_its_reason(folder: Path) -> None:
    (folder / "inventory.yaml").write_text("nodes: [")
    step = following()
    assert (step.title, step.failed, step.command[:2]) == ("Inventory", True, ("inventory", "check"))
    assert "inventory.yaml" in step.detail


def test_of_several_mistakes_the_first_is_shown_with_the_number_of_the_others(folder: Path) -> None:
    (folder / "inventory.yaml").write_text("rackcheck: 1\nssh: {}\nnodes: { n1: { host: 127.9.9.1, port: 22 } }\n")
    detail = following().detail
    assert detail.startswith("inventory.yaml:2:1: no such key: `ssh`")
    assert detail.endswith(" (and 1 further mistake)")
    assert "\n" not in detail


def test_keys_and_certificates_count_once_they_are_trusted(folder: Path) -> None:
    (folder / "inventory.yaml").write_text(REMOTE)
    assert following().command == ("inventory", "trust", "-i", "inventory.yaml")
    assert following().detail == "trusted: host keys of 0 of 1 node; certificates of 0 of 1 BMC"
    (folder / "inventory.known_hosts").write_text(f"127.9.9.1 {KEY}\n")
    assert following().detail == "trusted: host keys of 1 of 1 node; certificates of 0 of 1 BMC"
    (folder / "inventory.certificates").write_text(f"https://127.9.9.2 {'ab' * 32}\n")
    assert following().title == "Who answers"


def test_a_host_key_of_another_address_does_not_count(folder: Path) -> None:
    (folder / "inventory.yaml").write_text(REMOTE)
    (folder / "inventory.known_hosts").write_text(f"127.9.9.9 {KEY}\n")
    assert "host keys of 0 of 1 node" in following().detail


def test_after_the_audit_an_acceptance_with_its_profile_is_next(folder: Path, audited: Path) -> None:
    (folder / "inventory.yaml").write_text(LOCAL)
    assert [step.title for step in path(Path("inventory.yaml")) if step.command][-1] == "Audit"
    run = kept(audited)
    steps = {step.title: step for step in path(Path("inventory.yaml"))}
    assert run in steps["Audit"].detail
    assert steps["Audit"].failed is steps["Audit"].detail.startswith("FAIL")
    assert following().command == ("accept", "new", "pod7", "-p", "linux-server", "-i", "inventory.yaml")


def test_an_audit_of_some_nodes_leaves_the_audit_of_the_others_open(folder: Path, audited: Path) -> None:
    (folder / "inventory.yaml").write_text(REMOTE.rstrip() + "\n  here: { host: localhost }\n")
    kept(audited)
    steps = {step.title: step for step in path(Path("inventory.yaml"))}
    done = [steps[title].done for title in ("Host keys and certificates", "Who answers", "Audit")]
    assert done == [False, False, False]
    assert steps["Audit"].detail.startswith("no audit yet of n1; ")
    assert steps["Audit"].command == ("tui", "-i", "inventory.yaml")
    assert not steps["Acceptance"].command


@pytest.mark.parametrize("other", ["there: { host: localhost }", "here: { host: 127.9.9.7 }"])
def test_an_audit_of_other_nodes_does_not_count(folder: Path, audited: Path, other: str) -> None:
    kept(audited)
    (folder / "inventory.yaml").write_text(f"rackcheck: 1\nnodes: {{ {other} }}\n")
    assert {step.title: step for step in path(Path("inventory.yaml"))}["Audit"].detail == "no run of these nodes yet"


def titled(title: str) -> PathStep:
    return {step.title: step for step in path(Path("inventory.yaml"))}[title]


@pytest.mark.parametrize(("year", "named"), [("29", True), ("19", False)])
def test_a_damaged_run_is_passed_over_and_named_if_it_is_the_newest(
    folder: Path, audited: Path, year: str, named: bool
) -> None:
    (folder / "inventory.yaml").write_text(LOCAL)
    run = kept(audited)
    other = store.runs_folder() / f"{year}{run[2:]}"
    shutil.copytree(store.runs_folder() / run, other)
    (other / "run.json").write_text("{")
    detail = titled("Audit").detail
    assert run in detail
    assert detail.startswith(f"cannot be read: {other.name} (rackcheck runs show {other.name}); ") is named
    assert rackcheck("runs", "show", other.name).status == 2


def test_a_damaged_run_alone_is_named_where_no_run_was_found(folder: Path, audited: Path) -> None:
    (folder / "inventory.yaml").write_text(LOCAL)
    run = kept(audited)
    (store.runs_folder() / run / "run.json").write_text("{")
    assert titled("Audit").detail == f"cannot be read: {run} (rackcheck runs show {run}); no run of these nodes yet"
    assert not titled("Audit").done


@pytest.mark.parametrize("ending", [{"interrupted": True}, None])
def test_an_audit_that_was_interrupted_or_cut_off_stays_the_next_step(
    folder: Path, audited: Path, ending: dict[str, bool] | None
) -> None:
    (folder / "inventory.yaml").write_text(LOCAL)
    run = kept(audited)
    events = store.runs_folder() / run / "events.jsonl"
    *lines, done = events.read_text().splitlines()
    assert json.loads(done)["event"] == "run done"
    lines += [json.dumps(json.loads(done) | ending)] if ending is not None else []
    events.write_text("".join(f"{line}\n" for line in lines))
    assert (titled("Audit").done, titled("Audit").command) == (
        False, ("audit", "--resume", run, "-i", "inventory.yaml"),
    )  # fmt: skip
    assert ("interrupted" if ending else "not finished") in titled("Audit").detail
    assert not titled("Acceptance").command


def test_other_acceptances_of_the_nodes_are_named_with_their_state(folder: Path, audited: Path) -> None:
    (folder / "inventory.yaml").write_text(LOCAL)
    kept(audited)
    for name in ("one", "two"):
        made = rackcheck("accept", "new", name, "-p", "linux-server", "-i", "inventory.yaml")
        assert made.status == 0, made.err
    log = store.runs_folder().parent / "acceptances" / "two" / "acceptance.jsonl"
    both = {titled("Acceptance").detail}
    assert both <= {"two: 0 runs, draft; also one (draft)", "one: 0 runs, draft; also two (draft)"}  # the same second
    log.write_text("{\n")
    assert titled("Acceptance").detail == ("one: 0 runs, draft; also two (cannot be read: rackcheck accept show two)")
    shutil.rmtree(log.parent.with_name("one"))
    assert (
        titled("Acceptance").detail == "none of these nodes yet; also two (cannot be read: rackcheck accept show two)"
    )
    assert following().command[:2] == ("accept", "new")


def test_an_acceptance_continues_with_its_first_open_step(folder: Path, audited: Path) -> None:
    (folder / "inventory.yaml").write_text(LOCAL)
    run = kept(audited)
    done = rackcheck("accept", "new", "pod7", "-p", "linux-server", "--no-burn-in", "none agreed", "-i",
                     "inventory.yaml")  # fmt: skip
    assert done.status == 0, done.err
    steps = {step.title: step for step in path(Path("inventory.yaml"))}
    assert steps["pod7: audit"].command == ("accept", "add", "pod7", run)
    assert rackcheck("accept", "add", "pod7", run).status in {0, 1, 3}
    steps = {step.title: step for step in path(Path("inventory.yaml"))}
    assert steps["pod7: burn-in"].detail == "declined: none agreed"
    assert steps["pod7: burn-in"].done
    assert steps["Report bundle"].command == ("report", "pod7", "--bundle", "-o", "pod7")
    assert not steps["Signature"].command


def test_a_failed_step_is_not_done_and_opens_the_acceptance(folder: Path, audited: Path) -> None:
    (folder / "inventory.yaml").write_text(LOCAL)
    (folder / "must.yaml").write_text(
        "rackcheck: 1\nprofile: must\nversion: '1'\ntitle: must\nrules:\n  os.other: { title: Another kernel, "
        "severity: blocker, fact: kernel.release, is: none, why: a test, fix: install it }\n"
    )
    kept(audited)
    made = rackcheck("accept", "new", "pod7", "-p", "must.yaml", "--no-burn-in", "none", "-i", "inventory.yaml")
    assert made.status == 0, made.err
    step = following()
    assert step.command == ("audit", "--accept", "pod7", "-i", "inventory.yaml"), "the run has another profile"
    assert rackcheck(*step.command).status == 1
    step = {step.title: step for step in path(Path("inventory.yaml"))}["pod7: audit"]
    assert (step.failed, step.done, step.command) == (True, False, ("tui", "pod7"))
