"""The index of probes says what their modules declare; whatever happens to its file, no declaration is another one."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recordings import answering, os_probes

from rackcheck.base import program, sealed_file
from rackcheck.base.sealed_file import SealedFiles
from rackcheck.model.documents import Walk
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.profile import Phase
from rackcheck.model.question import Redfish
from rackcheck.probe import deferred, index
from rackcheck.probe.collect import collect
from rackcheck.probe.deferred import Deferred
from rackcheck.probe.derived import Derivation
from rackcheck.probe.index import Declared
from rackcheck.probe.registry import Registry, registry
from rackcheck.profile import library
from rackcheck.session.registry_loading import known


@pytest.fixture(autouse=True)
def _own_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is in the state folder of each test; the other tests share one."""
    monkeypatch.delenv("RACKCHECK_PROGRAM_CACHE")


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """The registry, made by importing all modules of probes."""
    monkeypatch.setenv(index.OFF, "0")
    registry.cache_clear()
    yield registry()
    forgotten()


def forgotten() -> None:
    """Load the registry anew at its next use; what commands use must be the same object."""
    registry.cache_clear()
    known.cache_clear()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder with an index; returns the file of the index."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    monkeypatch.setattr(program, "STARTED", float("inf"))  # a file that was edited shortly before does not matter here
    program.digest.cache_clear()
    registry.cache_clear()
    registry()
    (file,) = (tmp_path / "cache" / "probes").iterdir()
    registry.cache_clear()
    yield file
    forgotten()
    monkeypatch.undo()
    program.digest.cache_clear()


def unbound(found: Registry) -> Declared:
    """What a registry holds, in the order of its modules, as the index has it."""
    modules = [sys.modules[name] for name in sorted(sys.modules) if name.startswith("rackcheck_probes.")]
    held = {id(value): value for module in modules for value in vars(module).values()}

    def own(names: Iterator[str], kind: type) -> tuple[object, ...]:
        by_name = {each.name: each for each in held.values() if isinstance(each, Derivation) and type(each) is kind}
        return tuple(by_name[name] for name in names)

    kinds = (found.joins, found.gatherings, found.comparisons)
    return Declared(found.probes, *(own((e.name for e in each), type(each[0])) for each in kinds))  # type: ignore[arg-type]


def same(one: Registry, other: Registry) -> bool:
    """Whether two registries declare the same in the same order; equality of probes leaves the parsers out."""
    return (
        plain(one) == plain(other)
        and one.probes == other.probes
        and list(one.catalogue.entries.items()) == list(other.catalogue.entries.items())
        and one.broken == other.broken
    )


def plain(known: Registry) -> object:
    derived: tuple[Derivation[Any], ...] = (*known.joins, *known.gatherings, *known.comparisons)
    return (
        [(type(p.ask), str(p.ask), p.ask, p.name, p.help, p.plane, list(p.gives.items())) for p in known.probes],
        [(type(d), d.name, d.help, d.reads, d.needs, d.also, d.beside, list(d.gives.items()), d.planes,
          sorted(d.inputs), getattr(d, "scope", ""), getattr(d, "distil", None) is None) for d in derived],
    )  # fmt: skip


def test_the_index_has_every_declaration_and_each_of_its_functions(imported: Registry) -> None:
    found = unbound(imported)
    form = index.form(found)
    assert form is not None, "a declaration cannot be found by its module and name"
    back = index.declared(json.loads(json.dumps(form)))
    assert back == found
    for one, other in zip(back.givers, found.givers, strict=True):
        assert (type(one), list(one.gives.items()), one.help) == (type(other), list(other.gives.items()), other.help)
        assert index.origin(one) == index.origin(other)
    steps = 0
    for read, held in zip(back.probes, found.probes, strict=True):
        assert called(read.parse) is held.parse
        assert type(read.ask) is type(held.ask)
        if isinstance(read.ask, Redfish) and isinstance(held.ask, Redfish):
            assert (read.ask.dear, read.ask.named) == (held.ask.dear, held.ask.named)
            for way, real in zip(read.ask.every, held.ask.every, strict=True):
                if isinstance(real, Walk):
                    assert isinstance(way, Walk)
                    assert called(way.go) is real.go
                    steps += 1
    assert steps, "no question has a function that chooses its links"
    for each, whole in zip(back.givers[len(back.probes) :], found.givers[len(found.probes) :], strict=True):
        assert called(each.function) is whole.function  # type: ignore[union-attr]
    for less, more in zip(back.gatherings, found.gatherings, strict=True):
        assert (less.scope, less.distil is None) == (more.scope, more.distil is None)
        assert less.distil is None or called(less.distil) is more.distil


def called(function: object) -> object:
    assert isinstance(function, Deferred)
    return deferred._function(function)


def test_a_registry_from_the_index_is_the_one_from_the_modules(
    home: Path, imported: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(index.OFF)
    registry.cache_clear()
    indexed = registry()
    assert isinstance(indexed.probes[0].parse, Deferred), "the registry was not made from the index"
    assert same(indexed, imported)
    for name in ("h100-dgx", "linux-server", "gb200-nvl72"):
        profile = library.load(name, imported.catalogue)
        for phase in (Phase.CONFIG, Phase.BURN_IN):
            one, other = (known.planned(profile, [phase]) for known in (indexed, imported))
            assert one == other
            assert (one.questions, one.links, one.whole_links) == (other.questions, other.links, other.whole_links)
    assert home.exists()


def changed(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + b" ",
    "another kind": lambda data: changed(data, 3),
    "another seal": lambda data: changed(data, len(b"rackcheck probes 1\n") + 3),
    "one bit of the content": lambda data: changed(data, len(data) // 2),
    "a last byte": lambda data: changed(data, len(data) - 1),
    "no index": lambda data: b"rackcheck probes 1\n" + b"x" * 40,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_not_used_and_is_written_anew(damage: str, home: Path) -> None:
    whole = home.read_bytes()
    assert index.load() is not None
    home.write_bytes(DAMAGES[damage](whole))
    assert index.load() is None
    registry()
    assert home.read_bytes() == whole


SHAPES: dict[str, Callable[[dict[str, object]], object]] = {
    "a list": lambda doc: [doc],
    "no kinds": lambda doc: {key: value for key, value in doc.items() if key != "kinds"},
    "a kind that is not there": lambda doc: doc | {"kinds": []},
    "another type": lambda doc: doc | {"kinds": [["number", *["x"] * 10]]},
    "a question of another form": lambda doc: doc | {"asks": [{"run": "x"}] * 1000},
    "a command that needs a shell as root": lambda doc: (
        doc | {"asks": [{"shell": "a; b", "more": {"root": True, "ok": [0]}}] * 1000}
    ),
    "probes of another shape": lambda doc: doc | {"probes": [["a"]]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_sealed_index_of_another_shape_is_not_used(shape: str, home: Path) -> None:
    doc = json.loads(index._files().load(program.digest()) or b"")
    index._files().store(program.digest(), json.dumps(SHAPES[shape](doc)).encode())
    assert index.load() is None
    assert registry().broken == ()


def test_the_index_of_another_program_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "digest", lambda: "another")
    assert index.load() is None
    own = SealedFiles(home.parent, b"rackcheck probes 1\n", 4)
    shutil.copyfile(home, own.path("another"))
    assert index.load() is None, "a copied file has the seal of another key"


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702])
def test_an_index_in_a_folder_that_others_can_write_is_neither_read_nor_written(mode: int, home: Path) -> None:
    home.parent.chmod(mode)
    before = home.read_bytes(), home.stat().st_mtime_ns
    assert index.load() is None
    registry()
    assert (home.read_bytes(), home.stat().st_mtime_ns) == before


def test_an_index_that_others_can_write_or_that_is_a_link_is_not_used(home: Path, tmp_path: Path) -> None:
    home.chmod(0o666)
    assert index.load() is None
    home.chmod(0o600)
    assert index.load() is not None
    moved = home.rename(tmp_path / "moved")
    home.symlink_to(moved)
    assert index.load() is None


def test_a_folder_of_another_user_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert index.load() is not None
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert index.load() is None


def test_without_a_place_for_the_index_the_modules_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file in place of the folder")
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    registry.cache_clear()
    known = registry()
    assert len(known.probes) > 300
    assert not any(isinstance(probe.parse, Deferred) for probe in known.probes)
    registry.cache_clear()


def test_on_a_disk_that_is_nearly_full_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = SealedFiles(tmp_path / "kept", b"kind\n", 3)
    monkeypatch.setattr(sealed_file, "RESERVE", 1 << 60)
    files.store("one", b"content")
    assert not (tmp_path / "kept").exists()
    monkeypatch.undo()
    files.store("one", b"content")
    assert files.load("one") == b"content"


def test_in_a_folder_that_cannot_be_searched_there_is_no_file(tmp_path: Path) -> None:
    """A name that is too long is an error for root, too, whom no folder denies access."""
    files = SealedFiles(tmp_path / ("k" * 300), b"kind\n")
    assert not files.has("one")
    assert not files.store("one", b"content")
    assert files.load("one") is None


def test_old_indexes_give_way_to_new_ones(tmp_path: Path) -> None:
    files = SealedFiles(tmp_path / "kept", b"kind\n", 3)
    for number in range(5):
        files.store(str(number), b"content")
        os.utime(files.path(str(number)), (number, number))
    assert [files.load(str(number)) for number in range(5)] == [None, None, b"content", b"content", b"content"]


# ---- in a process of its own, with a program of its own


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program, whose files are older than the processes that run it."""
    place = tmp_path_factory.mktemp("program")
    root = Path(__file__).parents[2]
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "rackcheck", place / "rackcheck", ignore=ignored)
    shutil.copytree(root / "probes" / "rackcheck_probes", place / "rackcheck_probes", ignore=ignored)
    shutil.copytree(root / "profiles", place / "rackcheck" / "profiles")
    shutil.copytree(root / "schemas", place / "rackcheck" / "schemas")
    return place


GOOD = """
from rackcheck import Shell, probe, text
@probe(Shell("echo x"), gives={{"site.{name}": text("Says x.")}})
def {name}(raw):
    yield "site.{name}", raw.strip()
"""

SHOW = """
import sys, time
from rackcheck.base import program
program.STARTED = time.time() + 1000
{more}
from rackcheck.probe.registry import registry
known = registry()
print(len([name for name in sys.modules if name.startswith("rackcheck_probes.")]))
print(*sorted(probe.name for probe in known.probes))
print(*known.broken)
"""


def loaded(place: Path, home: Path, more: str = "", **env: str) -> tuple[int, set[str], str]:
    """Load the registry in a process: the modules of probes that it imported, its probes, and its broken modules."""
    env = {**os.environ, "PYTHONPATH": str(place), "RACKCHECK_HOME": str(home), **env}
    command = [sys.executable, "-c", SHOW.format(more=more)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    count, names, broken = done.stdout.split("\n")[:3]
    return int(count), set(names.split()), broken


def test_a_changed_a_new_and_a_removed_module_are_found(copied: Path, tmp_path: Path) -> None:
    first, names, _ = loaded(copied, tmp_path)
    assert first > 300
    assert loaded(copied, tmp_path) == (0, names, "")
    new = copied / "rackcheck_probes" / "os" / "zz_new.py"
    new.write_text(GOOD.format(name="zz_new"))
    assert loaded(copied, tmp_path)[1] == names | {"zz_new"}
    assert loaded(copied, tmp_path) == (0, names | {"zz_new"}, "")
    second = new.stat().st_mtime + 2  # Python takes a module as unchanged within the same second
    new.write_text(GOOD.format(name="zz_neu"))  # as many characters
    os.utime(new, (second, second))
    assert loaded(copied, tmp_path)[1] == names | {"zz_neu"}
    new.unlink()
    assert loaded(copied, tmp_path) == (0, names, ""), "the first index is valid again"


def test_a_broken_module_is_named_by_every_process_and_no_index_is_written(copied: Path, tmp_path: Path) -> None:
    bad = copied / "rackcheck_probes" / "os" / "zz_bad.py"
    bad.write_text("raise RuntimeError('no luck')\n")
    try:
        for _ in range(2):
            imported, _, broken = loaded(copied, tmp_path)
            assert imported > 300
            assert broken == "rackcheck_probes.os.zz_bad: RuntimeError: no luck"
        assert not (tmp_path / "cache" / "probes").exists()
    finally:
        bad.unlink()


def test_probes_of_other_packages_are_loaded_beside_the_index(copied: Path, tmp_path: Path) -> None:
    names = loaded(copied, tmp_path)[1]
    site = tmp_path / "site"
    (site / "site_probes").mkdir(parents=True)
    (site / "site_probes" / "__init__.py").touch()
    (site / "site_probes" / "zz.py").write_text(GOOD.format(name="zz") + AGAIN)
    (site / "site_probes" / "zz_clash.py").write_text(GOOD.format(name="zz_clash").replace("site.zz", "cpu.threads"))
    info = site / "site-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: site\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rackcheck.probes]\nsite = site_probes\n")
    more = f"import sys; sys.path.insert(0, {str(site)!r})"
    imported, found, broken = loaded(copied, tmp_path, more)
    assert found == names | {"zz", "zz_clash"}
    assert broken == ""
    assert 0 < imported < 20, "the probe that the package exports again, and what it needs"
    assert loaded(copied, tmp_path, more, **{index.OFF: "0"})[1:] == (found, broken), "as without the index"


AGAIN = "from rackcheck_probes.cpu.cpu import cpu\nfrom rackcheck_probes.pcie.unlike import pcie_unlike\n"


CALL = """
from rackcheck.probe.deferred import _function
for name in ("hostname", "cpu", "cpu"):
    probe = next(probe for probe in known.probes if probe.name == name)
    try:
        print(name, callable(_function(probe.parse)))
    except ImportError as error:
        print(name, type(error).__name__)
    program.STARTED = 0
"""


def test_an_entry_point_that_is_installed_twice_changes_nothing(copied: Path, tmp_path: Path) -> None:
    _, names, broken = loaded(copied, tmp_path)
    info = tmp_path / "site" / "again-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: again\nVersion: 1\n")
    for name in ("zz", "aa"):
        (info / "entry_points.txt").write_text(f"[rackcheck.probes]\n{name} = rackcheck_probes\n")
        more = f"import sys; sys.path.insert(0, {str(info.parent)!r})"
        assert loaded(copied, tmp_path, more)[1:] == (names, broken)


def test_a_function_is_not_called_if_its_module_was_changed_after_the_start(copied: Path, tmp_path: Path) -> None:
    loaded(copied, tmp_path)
    env = {**os.environ, "PYTHONPATH": str(copied), "RACKCHECK_HOME": str(tmp_path)}
    command = [sys.executable, "-c", SHOW.format(more="") + CALL]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-3:] == ["hostname True", *["cpu ImportError"] * 2]


def test_the_facts_of_a_parser_that_cannot_be_imported_are_unknown() -> None:
    """An upgrade during a run may remove the module of a probe; no fact is absent, and none has a value, because of it."""
    real = os_probes()["cpu"]
    capture = answering(real, "CPU(s): 8\n")
    gone = replace(real, parse=Deferred("rackcheck_probes.os.gone", real.name, ("parse",)))
    failures: list[str] = []
    readings = [leaf.reading for leaf in collect((gone,), capture, failures=failures).values()]
    assert readings
    assert all(isinstance(reading, Unknown) and reading.reason is Reason.UNPARSABLE for reading in readings)
    assert failures == [real.name], "the facts of this node are not kept"
