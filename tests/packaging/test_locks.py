"""The locked versions of CI and of the bundle: every dependency, by hash, the same in both, from no index in particular."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from places import ROOT

CI, BUNDLE, BUILD, COMPILERS = LOCKS = tuple(
    ROOT / name for name in (".ci/requirements.txt", "bundle/requirements.txt", "bundle/build.txt", ".ci/compilers.txt")
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def versions(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;]+)", lock.read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.relative_to(ROOT)))
def test_every_line_is_a_version_with_hashes_and_names_no_index(lock: Path) -> None:
    text = lock.read_text("utf-8")
    assert "http" not in text
    for entry in re.split(r"\n(?=[a-z0-9])", text.strip()):
        head, *hashes = entry.replace("\\\n", "\n").split("\n")
        assert re.fullmatch(r"[a-z0-9-]+==\S+( ; .+)?", head.strip()), head
        assert hashes, head
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each.strip()) for each in hashes), head


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        (CI, [*PROJECT["dependencies"], *EXTRAS["dev"]]),
        (BUNDLE, [*PROJECT["dependencies"], *EXTRAS["pdf"], *EXTRAS["keyring"]]),
        (BUILD, (ROOT / "bundle/build.in").read_text("utf-8").splitlines()[1:]),
    ],
    ids=["ci", "bundle", "build"],
)
def test_every_declared_dependency_is_locked_within_its_range(lock: Path, wanted: list[str]) -> None:
    found = versions(lock)
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(found[canonicalize_name(requirement.name)]), requirement


def test_the_bundle_holds_the_versions_that_ci_tests() -> None:
    tested = versions(CI)
    for lock in (BUNDLE, BUILD):
        assert {name: tested.get(name) for name in versions(lock)} == versions(lock)


def test_every_imported_package_is_declared() -> None:
    names = {"re2": "google-re2", "yaml": "pyyaml", "pynvml": "nvidia-ml-py"}
    declared = {
        canonicalize_name(Requirement(row).name)
        for row in (*PROJECT["dependencies"], *EXTRAS["pdf"], *EXTRAS["keyring"])
    }
    ours = {"rackcheck", "rackcheck_probes", "rackcheck_tui"} | set(sys.stdlib_module_names)
    imported = set()
    for folder in ("rackcheck", "probes", "tui"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
                    imported.add(node.module.split(".")[0])
    packages = {canonicalize_name(names.get(name, name)) for name in imported - ours}
    assert packages - declared == set()
