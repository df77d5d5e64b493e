"""The bundle for machines without a network: made here, installed where no index can be reached."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import canonicalize_name
from places import ROOT


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle, unpacked in another place than it was made."""
    copy = tmp_path_factory.mktemp("made") / "rackcheck"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", "dist", ".*_cache", ".hypothesis"))
    made = subprocess.run(["make", "bundle"], cwd=copy, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    elsewhere = tmp_path_factory.mktemp("carried")
    subprocess.run(["tar", "-xzf", copy / "dist" / "rackcheck-bundle.tar.gz", "-C", elsewhere], check=True)
    return elsewhere / "rackcheck-bundle"


def install(bundle: Path, where: Path) -> "subprocess.CompletedProcess[str]":
    """Install without a network: in a namespace without interfaces where permitted, else with a dead index."""
    isolated = os.geteuid() == 0 and subprocess.run(["unshare", "-n", "true"], check=False).returncode == 0
    env = {"HOME": str(where.parent), "PATH": os.environ["PATH"], "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    command = [*(["unshare", "-n"] if isolated else []), "sh", str(bundle / "install.sh"), str(where)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=where.parent)


@pytest.mark.slow
def test_the_bundle_installs_with_no_index_reachable_and_works(bundle: Path, tmp_path: Path) -> None:
    done = install(bundle, tmp_path / "env")
    assert done.returncode == 0, done.stdout + done.stderr
    tool = str(tmp_path / "env" / "bin" / "rackcheck")
    checked = subprocess.run([tool, "profile", "check", "h100-dgx"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    audit = [tool, "audit", "--rack", "sim:clean", "dgx01", "-p", "linux-server", "-o", str(tmp_path / "run")]
    judged = subprocess.run(audit, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout + judged.stderr


@pytest.mark.slow
def test_a_damaged_wheel_is_reported_before_anything_is_installed(bundle: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "bundle"
    shutil.copytree(bundle, damaged)
    wheel = next((damaged / "wheels").glob("rackcheck-*.whl"))
    wheel.write_bytes(wheel.read_bytes()[:-1] + b"x")
    done = install(damaged, tmp_path / "env")
    assert done.returncode == 2
    assert "damaged" in done.stderr
    assert not (tmp_path / "env").exists()


@pytest.mark.slow
def test_the_sbom_lists_each_wheel_of_the_bundle_with_its_digest_and_is_valid(bundle: Path) -> None:
    text = (bundle / "sbom.cdx.json").read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    found = json.loads(text)
    digests = {one["name"]: one["hashes"][0]["content"] for one in found["components"]}
    wheels = {
        canonicalize_name(wheel.name.split("-")[0]): hashlib.sha256(wheel.read_bytes()).hexdigest()
        for wheel in (bundle / "wheels").glob("*.whl")
    }
    assert digests == wheels
    declared = [one["name"] for one in found["components"] if one.get("licenses")]
    assert len(declared) >= len(wheels) - 2, "a wheel may declare no licence; most do"
    ours = next(row for row in found["dependencies"] if row["ref"].startswith("pkg:pypi/rackcheck@"))
    assert {ref.split("/")[1].split("@")[0] for ref in ours["dependsOn"]} >= {
        "paramiko",
        "redfish",
        "requests",
        "typst",
    }


@pytest.mark.slow
def test_the_bundle_has_exactly_the_locked_versions(bundle: Path) -> None:
    locked = dict(
        re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "bundle/requirements.txt").read_text("utf-8"), re.MULTILINE)
    )
    for wheel in (bundle / "wheels").glob("*.whl"):
        name, version = wheel.name.split("-")[:2]
        assert canonicalize_name(name) == "rackcheck" or locked[canonicalize_name(name)] == version
