"""Discovery of probes: one that cannot be loaded costs its own facts, and is named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = """
from rackcheck import Shell, probe, text
@probe(Shell("echo x"), gives={{"site.{name}": text("Says x.")}})
def {name}(raw):
    yield "site.{name}", raw.strip()
"""


def site(tmp_path: Path, **modules: str) -> dict[str, str]:
    """An environment with one more package of probes."""
    package = tmp_path / "lib" / "site_probes"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name, text in modules.items():
        (package / f"{name}.py").write_text(text)
    info = package.parent / "site-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: site\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rackcheck.probes]\nsite = site_probes\n")
    return {**os.environ, "PYTHONPATH": str(package.parent)}


def run(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rackcheck", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


BROKEN = {
    "def zz(:\n": "SyntaxError",
    "raise RuntimeError('no luck')\n": "RuntimeError: no luck",
    GOOD.format(name="zz").replace("site.zz", "cpu.threads"): "cpu.threads is provided by both cpu and zz",
    GOOD.format(name="zz").replace('"echo x"', '"echo {}; rm x", root=True'): "ValueError: only a plain command",
}


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_module_that_cannot_be_loaded_costs_its_own_probes_and_is_named(tmp_path: Path, text: str) -> None:
    env = site(tmp_path, good=GOOD.format(name="good"), zz=text)
    line = f"probes left out: site_probes.zz: {BROKEN[text]}"
    facts = run(env, "facts", "localhost", "site.good", "cpu.threads")
    assert (facts.returncode, facts.stdout.count("site.good"), facts.stdout.count("cpu.threads ")) == (3, 1, 1)
    assert facts.stderr.count(line) == 1
    shown = run(env, "probe", "show", "zz")
    assert shown.returncode == 2
    assert line in shown.stderr


def test_every_command_names_what_was_left_out(tmp_path: Path) -> None:
    env = site(tmp_path, zz="def zz(:\n")
    rule = tmp_path / "p.yaml"
    rule.write_text("rackcheck: 1\nprofile: p\nversion: 1\nrules:\n  r: { fact: cpu.threads, at-least: 1 }\n")
    for words in (
        ["audit", "-p", str(rule)], ["facts", "localhost", "cpu.threads"], ["probe", "list"], ["profile", "check", str(rule)],
        ["doctor", "localhost", "-p", str(rule)], ["capture", "-o", str(tmp_path / "kept"), "--planes", "os"],
    ):  # fmt: skip
        assert run(env, *words).stderr.count("probes left out: site_probes.zz: SyntaxError") == 1, words


def test_a_whole_package_that_fails_leaves_the_shipped_probes(tmp_path: Path) -> None:
    env = site(tmp_path)
    (tmp_path / "lib" / "site_probes" / "__init__.py").write_text("import nowhere_at_all\n")
    done = run(env, "facts", "localhost", "cpu.threads")
    assert "cpu.threads" in done.stdout
    assert "probes left out: site_probes: ModuleNotFoundError" in done.stderr
