"""Output of `rackcheck sim` and `--rack`: complete, as wide as the terminal, with the names that the user typed."""

import json
import re
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from command import rackcheck

from rackcheck.cli import cli
from rackcheck.cli.sim import _machine
from rackcheck.cli.tables import wrapped
from rackcheck.sim import scenario
from rackcheck.sim.faults import KINDS

TEMPORARY = re.compile(r"/\S*rackcheck-sim-\S*")


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("command", [("list",), ("show", "--faults"), ("show", "dgx-h100"), ("show", "hall")])
def test_what_is_listed_fits_and_nothing_of_it_is_cut(
    monkeypatch: pytest.MonkeyPatch, columns: int, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = rackcheck("sim", *command).out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= max(columns, 60)  # a command to type stays whole
    listed = json.loads(rackcheck("sim", *command, "--json").out)
    rows = listed if isinstance(listed, list) else listed["faults"]
    assert len(rows) >= 3
    shown = out.split()
    for row in rows:
        for cell in row.values():
            assert set(cell.split()) <= set(shown), cell


@pytest.mark.parametrize("columns", [40, 80])
def test_every_fault_is_readable_on_any_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = rackcheck("sim", "show", "--faults").out.splitlines()
    assert max(map(len, lines)) <= columns
    assert {line.split()[0] for line in lines if not line.startswith(" ")} - {"fault"} == set(KINDS)


@pytest.mark.parametrize("width", [40, 80])
def test_a_word_that_is_wider_than_its_column_goes_on_below(width: int) -> None:
    nodes = "dgx[" + ",".join(map(str, range(1, 60, 2))) + "]"
    lines = wrapped(("nodes", "fault", "about"), [(nodes, "x", "y")], width=width, styles=("bold", "", ""))
    assert max(len(str(line)) for line in lines) <= width
    bold = [text.strip() for line in lines for text, style in line.pieces if style == "bold"]
    assert "".join(bold).endswith(nodes)


def test_a_rack_is_up_by_its_name_or_by_its_machine() -> None:
    done = rackcheck("sim", "up", "clean", "--machine", "dgx-h100")
    assert (done.status, "either a rack's name or --machine" in done.err) == (2, True)
    done = rackcheck("sim", "up", "hall:3", "--nodes", "5")
    assert (done.status, "either NAME:COUNT or --nodes" in done.err) == (2, True)
    done = rackcheck("sim", "up")
    assert (done.status, "which rack?" in done.err) == (2, True)


def test_an_unknown_machine_is_reported_with_the_existing_ones() -> None:
    done = rackcheck("sim", "up", "--machine", "dgx-h10")
    assert done.status == 2
    assert "no machine dgx-h10; did you mean dgx-h100? (there are dgx-h100" in done.err
    done = rackcheck("sim", "up", "--machine", "no/such/folder")
    assert (done.status, "no/such/folder: no such folder" in done.err) == (2, True)


def test_the_last_run_is_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    assert rackcheck("audit", "localhost", "-p", "linux-server", "-q").status in {0, 1, 3}
    (run,) = (tmp_path / "runs").iterdir()
    assert _machine("last") == _machine(run.name) == str(run)
    assert [station.name for station in scenario.find(_machine("last")).stations] == ["localhost"]


def test_a_number_for_a_rack_that_does_not_grow_is_a_user_error() -> None:
    for command in (
        ("sim", "up", "clean", "--nodes", "3"),
        ("audit", "--rack", "sim:clean:3", "-p", "h100-dgx"),
    ):
        done = rackcheck(*command)
        assert (done.status, "racks of variable size: hall" in done.err) == (2, True), done.err


@pytest.mark.parametrize("command", [("facts",), ("probe", "run", "kernel")])
def test_a_command_for_one_node_of_a_rack_lists_the_existing_ones(command: tuple[str, ...]) -> None:
    done = rackcheck(*command, "--rack", "sim:clean")
    assert (done.status, done.err) == (2, "rackcheck: which node of sim:clean? it has dgx[01-08]\n")


@pytest.mark.parametrize("target", ["dgx09", "@rack:zz", "@nobody"])
def test_a_rack_is_named_as_our_user_did_and_never_by_its_temporary_folder(target: str) -> None:
    for command in (("audit", target, "-p", "h100-dgx"), ("inventory", "show", target), ("facts", target)):
        done = rackcheck(*command, "--rack", "sim:clean")
        assert (done.status, "sim:clean" in done.err) == (2, True), done.err
        assert not TEMPORARY.search(done.err)


def test_an_audit_of_a_rack_names_it(tmp_path: Path) -> None:
    words = ("--rack", "sim:clean", "-p", "h100-dgx", "--planes", "bmc", "-o", tmp_path / "run")
    done = rackcheck("audit", "dgx01", *words)
    assert "1 of 8 nodes of sim:clean" in done.err
    assert not TEMPORARY.search(done.err + done.out)


def test_a_rack_without_its_kind_is_an_error_that_shows_the_right_form(tmp_path: Path) -> None:
    place = tmp_path / "old.yaml"
    place.write_text("rackcheck: 1\n")
    done = rackcheck("audit", "--rack", place, "-p", "h100-dgx")
    assert (done.status, f"for the path write sim:{place}" in done.err) == (2, True), done.err
    assert "rackcheck sim list" in rackcheck("audit", "--rack", "nowhere", "-p", "h100-dgx").err


def test_an_audit_ends_with_commands_for_the_worst_node_and_rule(tmp_path: Path) -> None:
    words = ("--rack", "sim:dgx-h100", "-p", "h100-dgx", "--planes", "os", "-o", tmp_path / "run")
    ends = rackcheck("audit", "dgx[02-03]", *words).err.splitlines()[-3:]
    assert ends[0].startswith("Next: rackcheck tui ")
    assert ends[1].startswith("      rackcheck facts dgx03 --from ")
    for line in ends[1:]:
        assert rackcheck(*line.split()[1:]).status == 0, line


@pytest.mark.parametrize("command", ["up", "show"])
def test_a_racks_name_is_completed(command: str) -> None:
    def completed(typed: str) -> set[str]:
        found = ShellComplete(cli, {}, "rackcheck", "_RACKCHECK_COMPLETE").get_completions(["sim", command], typed)
        return {item.value for item in found}

    assert completed("") == {"clean", "dgx-h100", "hall"}
    assert completed("d") == {"dgx-h100"}
    assert completed("sim:h") == {"sim:hall"}
