"""The wheel as a user gets it: built, installed alone, three top names, every profile loads."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from places import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(out), str(ROOT)]
    subprocess.run(command, check=True)
    (built,) = out.glob("rackcheck-*.whl")
    return built


@pytest.mark.slow
def test_two_builds_of_the_wheel_have_the_same_bytes_whatever_their_folder_time_umask_and_zone(tmp_path: Path) -> None:
    digests = set()
    for name, umask, zone, modified in (
        ("a", 0o022, "UTC", 1_600_000_000),
        ("another name", 0o077, "Asia/Tokyo", 1_700_000_001),
    ):
        before = os.umask(umask)
        try:
            copy = tmp_path / name
            shutil.copytree(
                ROOT, copy, copy_function=shutil.copyfile,
                ignore=shutil.ignore_patterns(".*", "dist", "tests", "docs", "benchmarks", "__pycache__"),
            )  # fmt: skip
            shutil.copy(ROOT / ".gitignore", copy)
            for file in copy.rglob("*"):
                os.utime(file, (modified, modified))
            command = [
                sys.executable,
                "-m",
                "pip",
                "wheel",
                "--quiet",
                "--no-deps",
                "--no-build-isolation",
                "--wheel-dir",
                "out",
                ".",
            ]
            subprocess.run(command, check=True, cwd=copy, env={**os.environ, "TZ": zone, "PYTHONHASHSEED": f"{umask}"})
        finally:
            os.umask(before)
        (built,) = (copy / "out").glob("rackcheck-*.whl")
        digests.add(hashlib.sha256(built.read_bytes()).hexdigest())
    assert len(digests) == 1


@pytest.mark.slow
def test_the_wheel_holds_three_top_names_and_its_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"rackcheck", "rackcheck_probes", "rackcheck_tui"}
    shipped = {p.name for p in (ROOT / "profiles").iterdir() if p.suffix in {".yaml", ".csv"}}
    assert {Path(n).name for n in names if n.startswith("rackcheck/profiles/")} == shipped
    assert "rackcheck/schemas/profile.schema.json" in names
    assert "rackcheck_probes/payload/nvml.py" in names


@pytest.mark.slow
def test_an_installed_wheel_loads_every_profile_and_probe(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", str(wheel)], check=True, cwd=tmp_path, capture_output=True
    )
    command = tmp_path / "env" / "bin" / "rackcheck"
    names = [p.stem for p in (ROOT / "profiles").glob("*.yaml") if p.stem not in {"sources", "built-in"}]
    checked = subprocess.run(
        [command, "profile", "check", *names], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert checked.returncode == 0, checked.stderr
    listed = subprocess.run([command, "probe", "list"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "memory" in listed.stdout
    assert listed.stderr == ""
