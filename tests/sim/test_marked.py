"""A run of a simulator is marked in every rendering, however it came; no recording of a real machine is."""

import csv
import json
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command import rackcheck
from mockup_server import WatchedRack
from recordings import shared
from sim_replies import node
from trees import ALL, resource

from rackcheck.model.tree import Tree
from rackcheck.run import store
from rackcheck.run.simulated_run import MARKED_FILE
from rackcheck.run.simulated_run import is_simulated as simulated_run
from rackcheck.sim import edit, scenario
from rackcheck.sim.behaviour import Station
from rackcheck.views.simulation import MARKS, SIMULATED, is_simulated

TWO = "rackcheck: 1\nscenario: two\nnodes: { 'n[1-2]': { machine: dgx-h100 } }\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run and a capture of a rack that was reached through an ordinary inventory."""
    folder = tmp_path_factory.mktemp("marked")
    (folder / "rack").mkdir()
    (folder / "rack" / "two.yaml").write_text(TWO)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKCHECK_HOME", str(folder / "home"))
        patch.chdir(folder)
        with WatchedRack(scenario.load(folder / "rack" / "two.yaml"), folder / "rack") as up:
            (folder / "pod7.yaml").write_text(Path(up.inventory).read_text().replace("sim-", ""))
            done = rackcheck("audit", "-i", "pod7.yaml", "-p", "h100-dgx", "-q", "-o", "run")
            assert done.status == 0, done.err
            assert "sim:" not in done.out
            for planes in ("os", "bmc"):
                assert rackcheck(
                    "audit", "-i", "pod7.yaml", "-p", "h100-dgx", "-q", "--planes", planes, "-o", planes
                ).status in {0, 3}
            assert rackcheck("capture", "-i", "pod7.yaml", "-o", "capture", "-q").status == 0
    return folder


@pytest.fixture(autouse=True)
def there(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(place / "home"))
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("run", ["run", "os", "bmc"])
def test_a_stored_run_of_either_plane_is_marked_on_the_terminal_and_in_json(run: str) -> None:
    assert f"SIMULATION {SIMULATED}" in " ".join(rackcheck("audit", "--from", run).out.split())
    assert json.loads(rackcheck("audit", "--from", run, "--json").out)["simulated"] is True


def test_a_capture_of_a_simulated_node_is_marked() -> None:
    done = rackcheck("audit", "--from", "capture", "-p", "h100-dgx")
    assert "SIMULATION" in done.out


@pytest.mark.parametrize("form", ["html", "markdown", "json", "junit"])
def test_a_document_of_each_format_is_marked(form: str) -> None:
    done = rackcheck("report", "run", "--format", form, "-q", "-o", f"report.{form}")
    assert done.status == 0, done.err
    text = Path(f"report.{form}").read_text()
    assert {"json": '"simulated":true', "junit": 'name="rackcheck.simulation" value="yes"'}.get(
        form, "SIMULATION"
    ) in text.replace(": true", ":true")


def test_each_page_of_the_pdf_is_marked() -> None:
    assert rackcheck("report", "run", "--format", "pdf", "-q", "-o", "report.pdf").status == 0
    text = subprocess.run(["pdftotext", "report.pdf", "-"], capture_output=True, text=True, check=True).stdout
    pages = text.removesuffix("\f").split("\f")
    assert len(pages) > 5
    assert [number for number, page in enumerate(pages, start=1) if "SIMULATION" not in page] == []


def test_each_printed_page_of_the_html_has_the_mark_in_its_margin() -> None:
    assert rackcheck("report", "run", "--format", "html", "-q", "-o", "report.html").status == 0
    assert '@top-center { content: "SIMULATION"; }' in Path("report.html").read_text()


def test_each_row_of_each_csv_file_is_marked_and_no_row_of_a_real_machine_is() -> None:
    assert rackcheck("report", "run", "--format", "csv", "-q", "-o", "tables").status == 0
    assert rackcheck("audit", "localhost", "-p", "linux-server", "-q", "-o", "real").status in {0, 1, 3}
    assert rackcheck("report", "real", "--format", "csv", "-q", "-o", "real tables").status == 0
    files = sorted(Path("tables").glob("*.csv"))
    assert len(files) > 10
    for file in files:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            head, *rows = csv.reader(opened)
        assert (head[-1], {row[-1] for row in rows} <= {"SIMULATION"}) == ("simulation", True)
        assert {len(row) for row in rows} <= {len(head)}
        assert "SIMULATION" not in (Path("real tables") / file.name).read_text()


def test_each_file_of_a_remedy_is_marked(tmp_path: Path) -> None:
    text = TWO + "faults: [{ nodes: n1, fault: gpu-missing, gpu: '5' }, { nodes: n2, fault: nic-down, nic: mlx5_0 }]\n"
    (tmp_path / "two.yaml").write_text(text)
    with WatchedRack(scenario.load(tmp_path / "two.yaml"), tmp_path) as up:
        inventory = tmp_path / "plain.yaml"
        inventory.write_text(Path(up.inventory).read_text().replace("sim-", ""))
        assert rackcheck("audit", "-i", inventory, "-p", "h100-dgx", "-q", "-o", tmp_path / "run").status == 1
    assert rackcheck("remedy", tmp_path / "run", "-o", tmp_path / "mend").status == 0
    files = [file for file in (tmp_path / "mend").rglob("*") if file.is_file()]
    assert {"remedy.txt", "cables.csv"} < {file.name for file in files}
    bodies = [file for file in files if file.suffix == ".json"]  # a body of a request has no room for a word
    assert [file.name for file in files if "SIMULATION" not in file.read_text() and file not in bodies] == []
    assert json.loads(rackcheck("remedy", tmp_path / "run", "--json").out)["simulated"] is True


@pytest.mark.parametrize("level", ["full", "public"])
def test_a_signed_bundle_and_its_redacted_copy_are_marked(there: Path, level: str) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", there / f"key-{level}"], check=True)
    name = json.loads(Path("run/run.json").read_text())["run"]
    for words in ((), ("--level", "public")) if level == "public" else ((),):
        done = rackcheck("report", "run", "--bundle", "-q", *words)
        assert done.status == 0 or "exists" in done.err, done.err
    bundle = there / "home" / "bundles" / (name if level == "full" else f"{name}-public")
    assert rackcheck("sign", bundle, "--key", f"key-{level}").status == 0
    done = rackcheck("verify", bundle, "--key", f"key-{level}.pub")
    assert done.status == 0, done.out
    assert f"SIMULATION  {SIMULATED}" in done.out
    assert json.loads(rackcheck("verify", bundle, "--key", f"key-{level}.pub", "--json").out)["simulated"] is True


def test_a_node_without_the_mark_is_a_real_one() -> None:
    bare = Station("n1", 1, node())
    marked = edit.marked(bare)
    assert MARKED_FILE in edit.capture(marked).files
    assert MARKED_FILE not in edit.capture(bare).files
    assert edit.marked(marked).machine.host == marked.machine.host
    assert not is_simulated(Tree({}))
    assert MARKS == ("node.simulator", "bmc.simulator")


@pytest.mark.parametrize("name", ALL)
def test_no_recorded_bmc_is_marked(name: str) -> None:
    oem = resource(name, "/redfish/v1").get("Oem", {})
    assert isinstance(oem, dict)
    assert "Rackcheck" not in oem


def test_no_recorded_host_is_marked() -> None:
    files = [file for file in shared("").rglob("*") if file.is_file() and not file.is_symlink()]
    assert len(files) > 100
    assert [file for file in files if file.as_posix().endswith(MARKED_FILE)] == []


@pytest.mark.parametrize("words", [("groups",), ("rack",), ("odd",)])
def test_the_other_views_of_a_run_are_marked(words: tuple[str, ...]) -> None:
    assert f"SIMULATION {SIMULATED}" in " ".join(rackcheck(*words, "run").out.split())


@pytest.mark.parametrize("command", ["groups", "odd"])
def test_the_json_of_the_other_views_is_marked(command: str) -> None:
    assert json.loads(rackcheck(command, "run", "--json").out)["simulated"] is True


def test_a_profile_that_is_learned_from_simulated_nodes_contains_the_mark(tmp_path: Path) -> None:
    done = rackcheck("profile", "learn", "--from", "run", "-o", tmp_path / "ours.yaml")
    assert done.status == 0, done.err
    assert "SIMULATION" in done.err
    assert "# SIMULATION" in (tmp_path / "ours.yaml").read_text()


MARK = f"SIMULATION {SIMULATED}"


@pytest.mark.parametrize(
    "words",
    [
        ("facts", "n1", "--from", "run", "cpu.smt"),
        ("facts", "n1", "--from", "run", "cpu.smt", "--raw"),
        ("facts", "n1", "--from", "capture", "cpu.smt"),
        ("diff", "run", "os"),
        ("diff", "n1", "n2", "--from", "run"),
        ("diff", "n1", "peers", "--from", "run"),
        ("diff", "n1", "os", "--from", "run"),
        ("drift", "run", "--against", "os"),
        ("profile", "explain", "--from", "run", "nic.rate"),
        ("profile", "diff", "./run", "linux-server"),
    ],
    ids=" ".join,
)
def test_every_command_about_a_run_marks_its_text_and_its_json(words: tuple[str, ...]) -> None:
    done = rackcheck(*words)
    assert MARK in " ".join(done.out.split()), done.err
    assert json.loads(rackcheck(*words, "--json").out)["simulated"] is True


def test_the_list_of_runs_and_the_history_mark_each_simulated_run(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    (tmp_path / "runs").mkdir()
    name = json.loads((there / "run" / "run.json").read_text())["run"]
    shutil.copytree(there / "run", tmp_path / "runs" / name)
    assert rackcheck("audit", "localhost", "-p", "linux-server", "-q").status in {0, 1, 3}
    for index in (tmp_path / "index", tmp_path):  # a folder is no index: the folders of the runs are read
        monkeypatch.setenv("RACKCHECK_INDEX", str(index))
        listed = {
            row["run"]: row.get("simulated", False) for row in json.loads(rackcheck("runs", "list", "--json").out)
        }
        assert (listed.pop(name), set(listed.values())) == (True, {False})
        assert rackcheck("runs", "list").out.endswith(f"\nSIMULATION  {name}\n")
    monkeypatch.delenv("RACKCHECK_INDEX")
    for words in (("history", "n1"), ("history", "nic.rate")):
        assert MARK in " ".join(rackcheck(*words).out.split())
        assert json.loads(rackcheck(*words, "--json").out)["runs"][0]["simulated"] is True
    assert "SIMULATION" not in rackcheck("history", "localhost").out


def test_a_waiver_of_a_simulated_finding_is_marked(there: Path, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO + "faults: [{ nodes: n2, fault: nic-down, nic: mlx5_0 }]\n")
    with WatchedRack(scenario.load(tmp_path / "two.yaml"), tmp_path) as up:
        done = rackcheck("audit", "-i", up.inventory, "-p", "h100-dgx", "-q", "-o", tmp_path / "run")
        assert done.status == 1
    until = (datetime.now(UTC) + timedelta(days=9)).date()
    done = rackcheck(
        "waive", "nic.rate", "--from", tmp_path / "run", "--nodes", "n2", "--until", until, "--by", "Jo", "--ticket",
        "T", "--reason", "r", "--file", tmp_path / "w.yaml",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert f"SIMULATION: {SIMULATED}" in done.err


def test_the_check_of_the_access_to_a_simulated_rack_is_marked() -> None:
    words = ("doctor", "--rack", "sim:dgx-h100", "-p", "h100-dgx", "-q")
    assert MARK in " ".join(rackcheck(*words).out.split())
    assert json.loads(rackcheck(*words, "--json").out)["simulated"] is True


def test_what_reads_a_simulated_rack_by_an_ordinary_inventory_is_marked(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO + "faults: [{ nodes: n2, fault: refused-login }]\n")
    with WatchedRack(scenario.load(tmp_path / "two.yaml"), tmp_path) as up:
        inventory = tmp_path / "plain.yaml"
        inventory.write_text(Path(up.inventory).read_text().replace("sim-", ""))
        for words in (
            ("doctor", "-i", inventory, "-q", "n1"),
            ("doctor", "-i", inventory, "-q", "n1", "--planes", "os"),
            ("doctor", "-i", inventory, "-q", "n1", "n2", "--planes", "bmc"),
            ("doctor", "-i", inventory, "-q", "n2"),  # only its BMC is reached
            ("facts", "n1", "-i", inventory),
            ("facts", "n1", "-i", inventory, "cpu.smt"),
            ("facts", "n1", "-i", inventory, "cpu.smt", "--raw"),
            ("facts", "n1", "-i", inventory, "bios"),
            ("facts", "n2", "-i", inventory, "bmc.power"),
        ):
            text = rackcheck(*words)
            assert MARK in " ".join(text.out.split()), (words, text)
            assert json.loads(rackcheck(*words, "--json").out)["simulated"] is True, words


def test_what_reads_a_real_machine_is_not_marked() -> None:
    for words in (("doctor", "-q", "-p", "linux-server"), ("facts", "localhost", "cpu.smt")):
        assert "SIMULATION" not in rackcheck(*words).out
        assert "simul" not in rackcheck(*words, "--json").out


def test_a_value_that_looks_like_the_mark_does_not_make_a_run_simulated(there: Path, tmp_path: Path) -> None:
    run = shutil.copytree(there / "run", tmp_path / "run")
    text = (run / "events.jsonl").read_text()
    for mark in MARKS:
        text = text.replace(f'"{mark}":{{"value":"rackcheck"', f'"{mark}":{{"absent":true')
    (run / "events.jsonl").write_text(text.replace("Ubuntu 22.04", '\\"node.simulator\\":{\\"value\\":'))
    assert not simulated_run([store.find(str(run))])
    assert simulated_run([store.find(str(there / "run"))])
