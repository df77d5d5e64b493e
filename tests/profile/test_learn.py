"""Learning a profile: the machines it came from pass it, it states nothing more, and it needs review by a person."""

import hashlib
import json
import math
import re
import shutil
import string
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trees
from command import rackcheck
from hypothesis import given, settings
from hypothesis import strategies as st
from keys import keygen
from recordings import OURS, os_probes, ours, recorded

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Status, judge
from rackcheck.model.catalogue import (
    Catalogue,
    Entry,
    Kind,
    collection,
    flag,
    integer,
    listing,
    quantity,
    setting,
    version,
)
from rackcheck.model.catalogue import text as words
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown, Value
from rackcheck.model.path import parse, spell_key
from rackcheck.model.profile import Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.document import SIZE, Scalar, YamlMapping, read
from rackcheck.profile.learn.claim import Why
from rackcheck.profile.learn.file import LearnedHead, quoted, text
from rackcheck.profile.learn.rules import CLAIMS, Learned, LearnedRun, learn
from rackcheck.profile.reviewed import unreviewed
from rackcheck.signoff import signing
from rackcheck.signoff.signing import manifest

COUNTER, MEASURED = Class.COUNTER, Class.MEASUREMENT
KINDS: Mapping[str, Kind] = {
    "cpu.cores": integer("Cores"),
    "cpu.model": words("Model", Class.IDENTITY),
    "cpu.smt": flag("Threads on"),
    "cpu.flags": listing("Flags"),
    "cpu.governor": words("Governor"),
    "memory.total": quantity("GiB", "Memory"),
    "limits.files": integer("Files", unlimited=True),
    "kernel.release": version("kernel", "Release"),
    "bios.version": version("opaque", "BIOS"),
    "bios.pending": collection("Settings that wait for a restart"),
    "bios.pending/*": words("What it will be"),
    "node.serial": words("Serial number", Class.IDENTITY),
    "os.boot.uptime": quantity("s", "Seconds since it started", MEASURED),
    "log.errors": integer("Errors that were logged", COUNTER),
    "log.lines": integer("Lines that were logged", COUNTER),
    "gpu": collection("GPUs"),
    "gpu/*.ecc": words("ECC mode"),
    "gpu/*.uuid": words("Unique id", Class.IDENTITY),
    "gpu/*.faults": integer("Uncorrected errors", COUNTER),
    "gpu/*.bandwidth": quantity("GB/s", "What a copy reached", MEASURED),
    "gpu/*.temperature": quantity("C", "Temperature", MEASURED),
    "gpu/*.health": words("Health"),
    "gpu/*.link": collection("Links"),
    "gpu/*.link/*.width": integer("Lanes"),
    "xid": collection("GPUs with errors in the log"),
    "xid/*.count": integer("Lines", COUNTER),
    "firmware.gpu": collection("Firmware"),
    "firmware.gpu/*": version("opaque", "Installed version"),
    "sysctl.**": setting("A setting of the kernel"),
}
CATALOGUE = Catalogue.of(Entry(path, kind, Plane.OS, "os") for path, kind in KINDS.items())
HEAD = LearnedHead("learned", "1", "here")
DENIED = Unknown(Reason.DENIED, "only root may")
HOSTILE = [
    "a: b", "- x", "# no", "x # y", "{a: b}", "[1, 2]", "*star", "&anchor", "!tag", "%YAML 1.2", "@at", "`tick`",
    "'one'", '"two"', "\\n", "$name", "$", "|", ">", "? q", "---", "...", "null", "~", "yes", "1e3", "0x1f", "010",
    "  blanks  ", "tab\there", "line\nrules:\n  evil: {}", "\r", "\u2028next", "\x85", "\x00", "\x1b[31m", "\ufeff",
    "<<", "", " ", ":", "a:", "é", "日本", "\U0001f600", "\u202egnp", "x" * 199, "y" * 100_000, "52:54:00:12:34:56",
]  # fmt: skip


def tree(facts: Mapping[str, Reading]) -> Tree:
    """A machine with these facts; collections list the items that the facts name."""
    leaves: dict[str, Leaf] = {}
    items: dict[str, dict[str, None]] = {}
    for path, reading in facts.items():
        entry = CATALOGUE.find(parse(path))
        assert entry is not None, path
        leaves[path] = Leaf(reading, entry.kind, Plane.OS, "/x")
        for name, key in parse(path).items:
            items.setdefault(name, {})[key] = None
    for path, keys in items.items():
        entry = CATALOGUE.find(parse(path))
        assert entry is not None, path
        leaves.setdefault(path, Leaf(tuple(keys), entry.kind, Plane.OS, "/x"))
    return Tree(leaves)


def several(*machines: Mapping[str, Reading]) -> list[LearnedRun]:
    return [LearnedRun(f"dgx0{n}", tree(facts)) for n, facts in enumerate(machines, start=1)]


def loaded(written: str, catalogue: Catalogue = CATALOGUE) -> Profile:
    """The profile in a file's text; raises BadFile where it is not one."""
    assert len(written) <= SIZE
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "learned.yaml"
        place.write_bytes(written.encode())
        return library.load(str(place), catalogue)


def written(learned: Learned) -> str:
    return text(learned, HEAD)


def holds_on_its_own(
    samples: Sequence[LearnedRun], catalogue: Catalogue = CATALOGUE, *, at_least: bool = False
) -> Learned:
    """Learn, write, load and judge: the law."""
    learned = learn(samples, catalogue, at_least=at_least)
    if learned.lessons:
        profile = loaded(text(learned, HEAD), catalogue)
        assert len(profile.own) == len(learned.lessons)
        for sample in samples:
            wrong = [v for v in judge(profile.own, sample.tree) if v.status is not Status.PASS]
            assert not wrong, (sample.name, wrong[:3])
    else:
        read(text(learned, HEAD), "learned.yaml")
    return learned


def claims(learned: Learned) -> dict[str, object]:
    """The learned rules, by look, place and fact."""
    return {
        ".".join(filter(None, (lesson.look, lesson.at, fact))): (claim.op, claim.operand)
        for lesson in learned.lessons
        for fact, claim in lesson.claims.items()
    }


KEYS = st.one_of(st.sampled_from(["0", "1", "7", "mlx5_0", "System.1", "a'b", 'q"q', "#", "é:x", "x, y"]))
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20), st.text(string.printable, max_size=20))
NUMBERS = st.one_of(
    st.integers(-(10**29), 10**29),
    st.floats(allow_nan=False, allow_infinity=False, width=64).map(float),
    st.sampled_from([0.0, 1e-30, 1e300, 23.540576934814453, 0.1, 700.0]),
)


def readings(kind: Kind) -> st.SearchStrategy[Reading]:
    values: Mapping[str, st.SearchStrategy[Value]] = {
        "flag": st.booleans(),
        "integer": st.one_of(
            st.integers(-(10**29), 10**29), st.sampled_from([0, 8, math.inf if kind.unlimited else 1])
        ),
        "quantity": NUMBERS.map(float),
        "list": st.lists(TEXTS, max_size=4).map(tuple),
    }
    known = values.get(kind.type.value, TEXTS)
    return st.one_of(known, known, known, st.just(Absent("no")), st.just(DENIED))


@st.composite
def machines(draw: st.DrawFn) -> list[dict[str, Reading]]:
    """Up to four machines, mostly alike: a value is often that of another machine."""
    paths = [p for p, kind in KINDS.items() if kind.type.value != "collection" and "*" not in p]
    paths += [f"sysctl.vm.{name}" for name in ("a", "b", 'x/"y z"')]
    keys = draw(st.lists(KEYS, max_size=3, unique=True))
    paths += [
        p.replace("*", spell_key(k), 1)
        for k in keys
        for p in ("gpu/*.ecc", "gpu/*.faults", "gpu/*.bandwidth", "firmware.gpu/*", "gpu/*.health")
    ]
    paths += [f"gpu/{spell_key(k)}.link/{spell_key(j)}.width" for k in keys for j in keys[:2]]
    first: dict[str, Reading] = {}
    for path in draw(st.lists(st.sampled_from(paths), unique=True)):
        entry = CATALOGUE.find(parse(path))
        assert entry is not None
        first[path] = draw(readings(entry.kind))
    found = [first]
    for _ in range(draw(st.integers(0, 3))):
        other = dict(first)
        for path in draw(st.lists(st.sampled_from(sorted(first)), max_size=2)) if first else []:
            entry = CATALOGUE.find(parse(path))
            assert entry is not None
            other[path] = draw(readings(entry.kind))
        found.append(other)
    return found


@given(machines(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_what_is_learned_passes_on_every_machine_it_was_learned_from(
    found: list[dict[str, Reading]], at_least: bool
) -> None:
    holds_on_its_own(several(*found), at_least=at_least)


@pytest.mark.parametrize("name", trees.ALL)
def test_what_is_learned_from_a_recorded_bmc_passes_on_it(name: str) -> None:
    machine = LearnedRun(name, Tree(trees.tree_leaves(name), {Plane.OS: Unknown(Reason.NOT_COLLECTED, "no host")}))
    learned = holds_on_its_own([machine], registry().catalogue)
    assert len(learned.lessons) > 10


@pytest.mark.parametrize("probe", sorted({place.parent.name for place in ours()} & set(os_probes())))
def test_what_is_learned_from_a_recorded_host_passes_on_it(probe: str) -> None:
    for place in sorted((OURS / probe).glob("*.json")):
        capture, _ = recorded(place)
        leaves = collect([os_probes()[probe]], capture)
        holds_on_its_own([LearnedRun(place.stem, Tree(leaves))], registry().catalogue)


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_of_a_node_leaves_its_place_in_the_file(value: str) -> None:
    facts: dict[str, Reading] = {
        "cpu.cores": 8, "cpu.governor": value, "bios.version": value, "sysctl.vm.a": value, "cpu.flags": (value, "b"),
        f"firmware.gpu/{spell_key(value[:50] or 'x')}": value, f"gpu/{spell_key(value[:50] or 'x')}.ecc": value,
    }  # fmt: skip
    if value == "*":
        return
    alone = holds_on_its_own(several(facts))
    assert claims(alone)["cpu.cores"] == ("is", "8")
    other = holds_on_its_own(several(facts, {**facts, "cpu.governor": "other", "bios.version": value + "x"}))
    for learned in (alone, other):
        table = read(written(learned), "learned.yaml")
        assert isinstance(table, YamlMapping)
        rules = table.items["rules"]
        assert isinstance(rules, YamlMapping)
        assert set(table.items) == {"rackcheck", "profile", "version", "title", "reviewed", "applies-to", "rules"}
        assert set(rules.items) == {lesson.id for lesson in learned.lessons}


@given(TEXTS)
def test_a_quoted_text_is_read_back_as_it_was(value: str) -> None:
    if any("\ud800" <= c <= "\udfff" for c in value):
        return
    table = read(f"a: {quoted(value)}\nb: {{ c: {quoted(value)}, d: [{quoted(value)}] }}\n", "f")
    assert isinstance(table, YamlMapping)
    found = table.items["a"]
    assert isinstance(found, Scalar)
    assert found.text == value
    assert [s.text for s in _scalars(table)] == [value] * 3


def _scalars(node: object) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, YamlMapping):
        for inner in node.items.values():
            yield from _scalars(inner)
    else:
        for inner in node.items:  # type: ignore[attr-defined]
            yield from _scalars(inner)


def test_each_class_of_fact_is_learned_in_its_own_way() -> None:
    machine: dict[str, Reading] = {
        "cpu.cores": 8, "cpu.smt": False, "cpu.flags": ("avx", "sse"), "memory.total": 512.0, "limits.files": math.inf,
        "cpu.model": "EPYC", "node.serial": "S12345678", "bios.version": "U30", "os.boot.uptime": 5.0, "log.errors": 0,
        "log.lines": 0, "gpu/0.ecc": "enabled", "gpu/1.ecc": "enabled", "gpu/0.faults": 0, "gpu/1.faults": 0,
        "gpu/0.uuid": "GPU-1", "gpu/0.temperature": 30.0, "xid": (), "sysctl.vm.swappiness": "1",
    }  # fmt: skip
    learned = holds_on_its_own(several(machine))
    assert claims(learned) == {
        "cpu.cores": ("is", "8"), "cpu.smt": ("is", "false"), "cpu.flags": ("includes", ("avx", "sse")),
        "memory.total": ("is", "512 GiB"), "limits.files": ("is", "unlimited"), "bios.version": ("is", "U30"),
        "log.errors": ("is", "0"), "count.gpu": ("is", "2"), "each.gpu.ecc": ("is", "enabled"),
        "each.gpu.faults": ("is", "0"), "count.xid": ("is", "0"), "sysctl.vm.swappiness": ("is", "1"),
    }  # fmt: skip
    assert learned.left == {Why.IDENTITY: 3, Why.MEASUREMENT: 1, Why.COUNTER: 1}
    assert "gpu/*.temperature" in learned.unknown  # one GPU does not report it


def test_an_identity_is_in_no_rule_and_in_no_question_whatever_its_fact() -> None:
    facts: dict[str, Reading] = {
        "node.serial": "SN-4711-AB", "cpu.governor": "root=SN-4711-AB rw", "bios.version": "52:54:00:12:34:56",
        "sysctl.vm.a": "12345678-1234-1234-1234-1234567890ab", "cpu.cores": 8, "cpu.flags": ("SN-4711-AB",),
    }  # fmt: skip
    other = {**facts, "node.serial": "SN-4712-AB", "cpu.governor": "root=SN-4712-AB rw"}
    for learned in (learn(several(facts), CATALOGUE), learn(several(facts, other), CATALOGUE)):
        assert set(claims(learned)) == {"cpu.cores"}
        assert not re.search("(?i)471[12]|52:54|12345678", written(learned))


def test_a_disagreement_of_machines_becomes_a_question_naming_the_odd_one() -> None:
    usual: dict[str, Reading] = {"cpu.cores": 64, "memory.total": 512.0, "gpu/0.ecc": "on", "gpu/1.ecc": "on"}
    odd: dict[str, Reading] = {"cpu.cores": 32, "memory.total": Absent("none"), "gpu/0.ecc": "off", "gpu/1.ecc": "on"}
    learned = holds_on_its_own(several(usual, usual, usual, odd))
    assert claims(learned) == {"count.gpu": ("is", "2")}
    asked = {question.path: question.text for question in learned.questions}
    assert asked["cpu.cores"] == "64 (3 of 4), 32 (dgx04)"
    assert asked["memory.total"] == "512 GiB (3 of 4), absent (none) (dgx04)"
    assert asked["gpu/*.ecc"] == "on (7 of 8), off (dgx04 gpu/0)"
    assert "  # ? cpu.cores: 64 (3 of 4), 32 (dgx04)\n" in written(learned)


def test_items_are_counted_and_a_machine_without_any_makes_a_question() -> None:
    learned = holds_on_its_own(several({"gpu/0.ecc": "on"}, {"gpu": (), "cpu.cores": 1}, {"gpu": (), "cpu.cores": 1}))
    assert set(claims(learned)) == set()
    assert {question.path for question in learned.questions} == {"gpu", "gpu/*.ecc"}


def test_what_is_unknown_on_one_machine_is_named_and_has_no_rule() -> None:
    learned = holds_on_its_own(several({"cpu.cores": 8, "cpu.smt": True}, {"cpu.cores": DENIED, "cpu.smt": True}))
    assert set(claims(learned)) == {"cpu.smt"}
    assert learned.unknown == ("cpu.cores",)
    assert re.search(r"1  facts that are not known on every machine:\n# +cpu\.cores\n", written(learned))


def test_a_collection_that_could_not_be_read_to_its_end_is_not_counted() -> None:
    half = tree({"gpu/0.ecc": "on", "cpu.cores": 8})
    leaves = {**half.leaves, "gpu": Leaf(DENIED, KINDS["gpu"], Plane.OS, "")}
    learned = holds_on_its_own([LearnedRun("dgx01", Tree(leaves))])
    assert set(claims(learned)) == {"cpu.cores"}
    assert set(learned.unknown) == {"gpu", "gpu/*.ecc"}


def test_a_measurement_needs_three_machines_and_gives_a_band_around_their_median() -> None:
    facts: list[dict[str, Reading]] = [
        {"gpu/0.bandwidth": speed, "gpu/0.ecc": "on", "gpu/0.temperature": 30.0} for speed in (50.0, 51.0, 52.0)
    ]
    assert set(claims(learn(several(*facts[:2]), CATALOGUE))) == {"count.gpu", "each.gpu.ecc"}
    assert learn(several(*facts[:2]), CATALOGUE).left[Why.FEW] == 1
    learned = holds_on_its_own(several(*facts))
    assert claims(learned)["each.gpu.bandwidth"] == ("within", ("51 GB/s", "3 GB/s"))
    assert "each.gpu.temperature" not in claims(learned)


def test_a_machine_outside_the_band_makes_a_question_of_it() -> None:
    facts: list[dict[str, Reading]] = [{"gpu/0.bandwidth": speed} for speed in (50.0, 50.0, 50.0, 50.0, 20.0)]
    learned = holds_on_its_own(several(*facts))
    assert set(claims(learned)) == {"count.gpu"}
    assert [question.text for question in learned.questions] == [
        "50 GB/s (4 of 5), 20 GB/s (dgx05 gpu/0); are not all within the band around their median"
    ]


def test_a_counter_that_is_not_zero_or_that_counts_no_errors_has_no_rule() -> None:
    assert claims(learn(several({"log.errors": 3, "log.lines": 0}), CATALOGUE)) == {}
    assert claims(learn(several({"log.errors": 0}, {"log.errors": 1}), CATALOGUE)) == {}


def test_a_setting_that_waits_for_a_restart_is_no_model() -> None:
    learned = learn(several({"bios.pending/smt": "off", "cpu.smt": True}), CATALOGUE)
    assert set(claims(learned)) == {"cpu.smt"}
    assert [q.text for q in learned.questions] == ["1 waits for a restart", "off (1 of 1); waits for a restart"]


def test_a_machine_that_is_ill_is_no_model() -> None:
    learned = learn(several({"gpu/0.health": "Critical", "gpu/1.health": "Critical"}), CATALOGUE)
    assert set(claims(learned)) == {"count.gpu"}
    assert learned.questions[0].text.endswith("is this machine healthy?")


def test_a_version_may_be_later_only_where_it_has_an_order_and_the_user_allows_it() -> None:
    facts = several({"kernel.release": "5.15.0-1053-nvidia", "bios.version": "U30"})
    assert claims(learn(facts, CATALOGUE))["kernel.release"] == ("is", "5.15.0-1053-nvidia")
    learned = holds_on_its_own(facts, at_least=True)
    assert claims(learned)["kernel.release"] == ("at-least", "5.15.0-1053-nvidia")
    assert claims(learned)["bios.version"] == ("is", "U30")
    strange = several({"kernel.release": "not a release"})
    assert claims(holds_on_its_own(strange, at_least=True)) == {"kernel.release": ("is", "not a release")}


def test_a_quantity_is_written_without_loss_and_in_a_unit_that_is_short() -> None:
    for value, output in ((23.540576934814453, "24684084 KiB"), (1536.0, "1536 GiB"), (0.0, "0 GiB")):
        assert claims(holds_on_its_own(several({"memory.total": value})))["memory.total"] == ("is", output)


def test_unread_facts_are_counted_and_not_named() -> None:
    never = Unknown(Reason.NOT_COLLECTED, "this run did not ask /proc/cpuinfo")
    learned = learn(several({"cpu.cores": 8, "cpu.smt": never}), CATALOGUE)
    assert (learned.unknown, learned.left[Why.UNASKED]) == ((), 1)


def test_the_file_is_the_same_for_any_order_of_facts_and_small_for_any_number_of_them() -> None:
    facts: dict[str, Reading] = {f"sysctl.vm.a{n}": "v" * 150 for n in range(CLAIMS + 500)}
    there = learn(several(facts), CATALOGUE)
    back = learn(several(dict(reversed(facts.items()))), CATALOGUE)
    assert written(there) == written(back)
    many: dict[str, Reading] = {f"firmware.gpu/g{n}": "v" * 150 for n in range(CLAIMS)}
    learned = holds_on_its_own(several({**facts, **many}))
    assert len(claims(learned)) <= CLAIMS
    assert learned.left[Why.FULL] >= CLAIMS


def test_rules_carry_the_role_of_the_machines() -> None:
    learned = learn(several({"cpu.cores": 8}), CATALOGUE)
    (rule,) = loaded(text(learned, LearnedHead("p", "1", "x", "nvswitch"))).own
    assert rule.roles == ("nvswitch",)


def test_a_profile_is_unreviewed_until_a_reviewer_is_named() -> None:
    head = "rackcheck: 1\nprofile: p\nversion: 1\n"
    waits = {
        "reviewed: false": True, "reviewed: true": True, "reviewed: false\nreviewed-by: ''": True,
        "reviewed: false\nreviewed-by: Jo Doe": False, "reviewed-by: Jo Doe": False, "title: x": False,
    }  # fmt: skip
    for line, answer in waits.items():
        assert bool(unreviewed({"p.yaml": f"{head}{line}\n"})) is answer, line
    assert unreviewed({"parent.yaml": f"{head}reviewed: false\n", "p.yaml": head}) == ("parent.yaml",)
    assert unreviewed({"p.yaml": "\x00"}) == ()


def bundle(folder: Path, profile: str, place: str = "runs/r1/profile/p.yaml", **head: str) -> Path:
    """A bundle that keeps a profile."""
    (folder / place).parent.mkdir(parents=True)
    (folder / place).write_text(f"rackcheck: 1\nprofile: p\nversion: 1\n{profile}\n")
    record = b'{"rackcheck": 1, "report": {"tally": {"outcome": "PASS"}}}'
    (folder / "report.json").write_bytes(record)
    head["record"] = hashlib.sha256(record).hexdigest()
    doc = {"rackcheck": 1, "bundle": "r1", "kind": "run", "level": "full", "time": "t", "version": "0", **head}
    (folder / "bundle.json").write_text(json.dumps(doc) + "\n")
    manifest.write(folder)
    return folder


@pytest.mark.parametrize("place", ["runs/r1/profile/p.yaml", "acceptance/profile/p.yaml"])
def test_a_bundle_judged_by_an_unreviewed_profile_cannot_be_signed(tmp_path: Path, place: str) -> None:
    keygen("-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "jo")
    waiting = bundle(tmp_path / "a", "reviewed: false", place)
    with pytest.raises(UserError, match=r"not reviewed yet: p; .*reviewed-by: NAME.*audit again"):
        signing.sign(waiting, tmp_path / "jo", "integrator", "Jo", datetime.now(UTC))
    assert not (waiting / "signatures").exists()
    done = rackcheck("sign", waiting, "--key", tmp_path / "jo")
    assert (done.status, "not reviewed yet: p" in done.err) == (2, True)
    answered = bundle(tmp_path / "b", "reviewed-by: Jo Doe", place)
    assert rackcheck("sign", answered, "--key", tmp_path / "jo").status == 0


def test_nor_a_copy_of_it_where_the_full_bundle_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    keygen("-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "jo")
    full = bundle(tmp_path / "bundles" / "r1", "reviewed: false")
    digest = manifest.read(full).digest
    copy = bundle(tmp_path / "copy", "x", "report.txt", level="customer", full=digest)
    done = rackcheck("sign", copy, "--key", tmp_path / "jo")
    assert (done.status, "not reviewed yet: p" in done.err) == (2, True)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with one stored run of this machine."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKCHECK_HOME", str(folder))
        patch.chdir(folder)
        assert rackcheck("audit", "localhost", "-p", "linux-server", "-q").status in {0, 1, 3}
        yield folder


def test_a_stored_run_is_learned_from_and_judged_by_what_was_learned(home: Path) -> None:
    done = rackcheck("profile", "learn", "--from", "last", "-o", home / "ours.yaml")
    assert (done.status, done.out) == (0, ""), done.err
    assert "not reviewed yet" in done.err
    assert "sysctl.vm.swappiness" in (home / "ours.yaml").read_text()
    again = rackcheck("audit", "--from", "last", "-p", home / "ours.yaml", "--json")
    assert again.status == 0, again.err
    judged = {v["status"] for node in json.loads(again.out)["nodes"].values() for v in node["verdicts"]}
    assert judged == {"pass"}


def test_the_same_run_is_the_same_file(home: Path) -> None:
    first = rackcheck("profile", "learn", "--from", "last")
    assert first.status == 0
    assert first.out == rackcheck("profile", "learn", "--from", "last", "--name", "learned").out
    (run,) = (home / "runs").iterdir()
    assert rackcheck("profile", "learn", "--from", run).out == first.out


def test_a_file_that_is_there_is_not_written_over(home: Path) -> None:
    (home / "mine.yaml").write_text("mine")
    done = rackcheck("profile", "learn", "--from", "last", "-o", home / "mine.yaml")
    assert (done.status, "mine.yaml exists already" in done.err) == (2, True)
    assert (home / "mine.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--nodes", "localhos"), "no node localhos in last; did you mean localhost?"),
        (("--nodes", "dgx[01-02]"), "no node dgx01 in last; there are localhost"),
        (("--nodes", "dgx[01"), "not a node set"),
        (("--from", "last"), "is named twice: last, last"),
        (("--from", "nothing"), "no run or acceptance nothing"),
        (("--name", "A b"), "not a profile name: 'A b'"),
    ],
)
def test_user_errors_are_reported_with_a_suggestion(home: Path, given: tuple[str, ...], message: str) -> None:
    assert home.is_dir()
    done = rackcheck("profile", "learn", "--from", "last", *given)
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_a_file_learned_here_is_found_by_name_and_checked(home: Path) -> None:
    place = home / "profiles" / "pod-7.yaml"
    place.parent.mkdir()
    assert rackcheck("profile", "learn", "--from", "last", "-o", place).status == 0
    assert library.load("pod-7", registry().catalogue).name == "pod-7"
    assert rackcheck("profile", "check", "pod-7").status == 0


def test_nor_a_copy_whose_full_bundle_is_gone(home: Path) -> None:
    keygen("-q", "-t", "ed25519", "-N", "", "-f", home / "jo")
    assert rackcheck("profile", "learn", "--from", "last", "-o", home / "waits.yaml").status == 0
    assert rackcheck("audit", "localhost", "-p", home / "waits.yaml", "-q").status in {0, 1, 3}
    assert rackcheck("report", "last", "--bundle").status == 0
    made = rackcheck("report", "last", "--bundle", "--level", "customer", "-o", home / "copy")
    assert made.status == 0, made.err
    assert not list((home / "copy").rglob("waits.yaml"))
    for full in (home / "bundles").iterdir():
        shutil.rmtree(full)
    done = rackcheck("sign", home / "copy", "--key", home / "jo")
    assert (done.status, "not reviewed yet: waits" in done.err) == (2, True), done.err
