"""What a command imports: a command that reads no node imports no probe, and an audit imports those it needs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import json, os, sys
from rackcheck.base import program
program.STARTED = float("inf")  # a program that was edited shortly before is indexed, too
def shown():
    os.write(2, b"\\n" + json.dumps(sorted(sys.modules)).encode())
def first(event, args):
    if event == "subprocess.Popen" and {stop}:
        shown()
        os._exit(0)
sys.addaudithook(first)
from rackcheck.cli import main
try:
    main()
finally:
    shown()
"""


def modules(home: Path, *words: str, stop: bool = False) -> set[str]:
    """Run a command in a process; return the modules that it imported, with `stop` before it starts a process."""
    env = {**os.environ, "RACKCHECK_HOME": str(home)}
    command = [sys.executable, "-c", RUN.format(stop=stop), *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=home)
    return set(json.loads(done.stderr.splitlines()[-1]))


def probes(found: set[str]) -> set[str]:
    return {name for name in found if name.startswith("rackcheck_probes.")}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder in which these commands ran once."""
    place = tmp_path_factory.mktemp("home")
    for words in (*LISTING.values(), AUDIT):
        modules(place, *words, stop=True)
    return place


LISTING = {
    "help": ["--help"],
    "runs": ["runs", "list"],
    "profiles": ["profile", "list"],
    "check": ["profile", "check", "h100-dgx"],
    "show": ["profile", "show", "linux-server"],
    "probe list": ["probe", "list"],
}
AUDIT = ["audit", "localhost", "-p", "linux-server"]
HEAVY = {"jsonschema", "paramiko", "requests", "textual", "jinja2", "cryptography", "rackcheck.report.build"}


@pytest.mark.parametrize("name", LISTING)
def test_a_command_that_reads_no_node_imports_no_probe(name: str, home: Path) -> None:
    found = modules(home, *LISTING[name])
    assert probes(found) == set()
    assert found & HEAVY == set()


def test_help_and_lists_import_what_they_use(home: Path) -> None:
    unused = {"rackcheck.views.terminal", "rackcheck.inventory", "rackcheck.profile.library", "yaml", "rich"}
    assert modules(home, "--help") & unused == set()
    assert modules(home, "runs", "list") & {"rackcheck.run.engine", "importlib.metadata", "jsonschema"} == set()
    check = modules(home, "profile", "check", "h100-dgx")
    assert check & {"rackcheck.inventory", "rackcheck.report", "rackcheck.signoff.waivers"} == set()


def test_an_audit_starts_its_first_command_before_it_imports_a_probe(home: Path) -> None:
    found = modules(home, *AUDIT, stop=True)
    assert probes(found) == set()
    assert found & HEAVY == set()


def test_a_plan_imports_the_probes_that_it_uses_and_no_others(home: Path, tmp_path: Path) -> None:
    rule = tmp_path / "p.yaml"
    rule.write_text("rackcheck: 1\nprofile: p\nversion: 1\nrules:\n  r: { fact: cpu.threads, at-least: 1 }\n")
    found = probes(modules(home, "audit", "localhost", "-p", str(rule)))
    assert "rackcheck_probes.cpu.cpu" in found
    assert not any(name.startswith(("rackcheck_probes.gpu", "rackcheck_probes.burnin")) for name in found)
    assert len(found) < 40, sorted(found)


def test_a_worker_that_reads_replies_imports_neither_inventory_nor_profiles(home: Path) -> None:
    code = "import sys; import rackcheck.run.reading_worker as w; w.registry(); print(*sys.modules)"
    env = {**os.environ, "RACKCHECK_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    found = set(done.stdout.split())
    assert "rackcheck.probe.collect" in found
    assert found & {"rackcheck.inventory", "rackcheck.profile", "yaml"} == set()
    assert probes(found) == set()


def test_without_the_index_all_probes_are_imported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows that the tests above can fail."""
    monkeypatch.setenv("RACKCHECK_PROBE_INDEX", "0")
    assert len(probes(modules(home, "probe", "list"))) > 300
    monkeypatch.setenv("RACKCHECK_KEPT_PROFILES", "0")
    assert "jsonschema" in modules(home, "profile", "check", "h100-dgx")


@pytest.mark.parametrize("words", [["probe", "list"], ["probe", "show", "cpu"], ["probe", "list", "--json"]])
def test_a_command_prints_the_same_with_and_without_the_index(
    words: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed() -> tuple[str, int]:
        env = {**os.environ, "RACKCHECK_HOME": str(home)}
        command = [sys.executable, "-m", "rackcheck", *words]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        return done.stdout, done.returncode

    expected = printed()
    monkeypatch.setenv("RACKCHECK_PROBE_INDEX", "0")
    assert printed() == expected
