"""Lint of a profile that loads: rules that no machine meets, contradictory rules, physically impossible floors."""

import json
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT

import rackcheck
from rackcheck.model import catalogue, operator
from rackcheck.model.catalogue import Catalogue, Entry, Kind, Type
from rackcheck.model.fact import Plane
from rackcheck.model.path import parse
from rackcheck.model.profile import Clause
from rackcheck.probe.registry import registry
from rackcheck.profile import floors, library, lint
from rackcheck.profile.document import YamlMapping, read
from rackcheck.profile.lint import Level, LintFinding
from rackcheck.profile.satisfiable import can_fail, can_hold

TABLE = json.loads((Path(rackcheck.__file__).parent / "peaks.json").read_text("utf-8"))
HEAD = "rackcheck: 1\nprofile: p\nversion: 1\n"
WORDS = "title: t, why: w, fix: f, refs: [tuned.hpc]"


def entry(pattern: str, kind: Kind) -> Entry:
    return Entry(pattern, kind, Plane.BURNIN, "test")


BURN_IN = Catalogue.of(
    [
        entry("gpu", catalogue.collection("GPUs.")),
        entry("gpu/*.name", catalogue.text("Name.")),
        entry("nic", catalogue.collection("NICs.")),
        entry("nic/*.type", catalogue.text("Model.")),
        entry("nic/*.port", catalogue.collection("Ports.")),
        entry("nic/*.port/*.rate", catalogue.quantity("Gb/s", "Rate.")),
        entry("burnin.memory", catalogue.collection("Memory of each GPU.")),
        entry("burnin.memory/*.bandwidth", catalogue.quantity("GB/s", "Copy.")),
        entry("burnin.gemm.bf16", catalogue.collection("GEMM of each GPU.")),
        entry("burnin.gemm.bf16/*.sustained", catalogue.quantity("TFLOP/s", "Sustained.")),
        entry("burnin.gemm.bf16/*.temperature", catalogue.quantity("C", "Not a rate.")),
        entry("burnin.all_reduce.busbw", catalogue.quantity("GB/s", "Over eight GPUs.")),
        entry("burnin.memory_bandwidth_of_a_later_day", catalogue.quantity("GB/s", "x")),
    ]
)
"""Facts of a future burn-in: peaks bind by paths and units, not by a list of probes."""


def found(folder: Path, rules: str, head: str = HEAD, known: Catalogue = BURN_IN) -> list[LintFinding]:
    path = folder / "p.yaml"
    path.write_text(f"{head}rules:\n{rules}")
    (folder / "sources.yaml").write_text((ROOT / "profiles" / "sources.yaml").read_text())
    return lint.findings(*library.load_laid(str(path), known))


def floor(part: str, fact: str, test: str, words: str = WORDS) -> str:
    look, _, inside = fact.rpartition("/*.")
    at = f"each: {look}, fact: {inside}" if look else f"fact: {fact}"
    return f'  part: {{ each: gpu, fact: name, like: "{part}", {WORDS} }}\n  floor: {{ {at}, {test}, {words} }}\n'


MEMORY, GEMM, BUSBW = "burnin.memory/*.bandwidth", "burnin.gemm.bf16/*.sustained", "burnin.all_reduce.busbw"

REFUSED: Mapping[str, tuple[str, str, str, str]] = {
    "dcgm, H200 2335: memory 2333 MB/s": ("*H200*", MEMORY, "at-least: 2333 MB/s", "2333 GB/s"),
    "dcgm, H100 64 GB 2337: memory 122250 MB/s": ("*H100*64GB*", MEMORY, "at-least: 122250 MB/s", ""),
    "dcgm, PG502 2336: memory 127500 MB/s": ("*H100*", MEMORY, "at-least: 127500 MB/s", ""),
    "dcgm, GA100 20b0: memory 137500 MB/s": ("*A100*40GB*", MEMORY, "at-least: 137500 MB/s", ""),
    "azure, H100 GEMM printed in GFlops": ("*H100*", GEMM, "at-least: 715 GFLOP/s", "715 TFLOP/s"),
    "aws, all-reduce over H100 at least 800 GB/s": ("*H100*", BUSBW, "at-least: 800 GB/s", ""),
    "a GEMM floor above the dense peak (that of sparse matrices)": ("*H100*", GEMM, "at-least: 1500 TFLOP/s", ""),
    "a floor of memory in bits for bytes": ("*H200*", MEMORY, "at-least: 3600 Gb/s", "3600 GB/s"),
    "a floor of memory in bytes for bits": ("*H200*", MEMORY, "above: 36 TB/s", "36 Tb/s"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_physics_refuses_a_published_error(tmp_path: Path, mistake: str) -> None:
    part, fact, test, meant = REFUSED[mistake]
    (finding,) = found(tmp_path, floor(part, fact, test))
    assert (finding.level, finding.rule) == (Level.ERROR, "floor")
    assert finding.text.partition("; did you mean ")[2] == (f"{meant}?" if meant else "")


def test_the_spread_of_one_product_name_needs_a_reason_at_its_low_end_only(tmp_path: Path) -> None:
    def levels(least: str) -> list[Level]:
        bare = floor("*B200*", MEMORY, f"at-least: {least}", "title: t")
        return [f.level for f in found(tmp_path, bare) if f.level is not Level.HINT]

    assert [levels("2558124 MB/s"), levels("4402500 MB/s")] == [[Level.WARNING], []]


def test_gigabytes_written_for_the_gigabits_of_an_ndr_port_are_refused(tmp_path: Path) -> None:
    rules = (
        f"  nic: {{ each: nic, fact: type, is: MT4129, {WORDS} }}\n"
        f"  rate: {{ each: nic/*.port, fact: rate, at-least: 380 GB/s, {WORDS} }}\n"
    )
    (finding,) = found(tmp_path, rules)
    assert str(finding) == (
        "p.yaml:6:51: error: floor 3040 Gb/s of nic/*.port/*.rate is above the peak of 400 Gb/s "
        "(an InfiniBand port of four lanes, NDR; sichek.hca); did you mean 380 Gb/s?"
    )
    assert found(tmp_path, rules.replace("GB/s", "Gb/s")) == []


@pytest.mark.parametrize(
    ("part", "fact", "test"),
    [
        ("*H200*", MEMORY, "at-least: 4.0 TB/s"), ("*H100*", MEMORY, "at-least: 2900 GB/s"),
        ("*H100*", GEMM, "at-least: 715 TFLOP/s"), ("*B200*", BUSBW, "at-least: 900 GB/s"),
        ("*A100*", MEMORY, "at-least: 2039 GB/s"), ("*MI300X*", GEMM, "at-least: 1307 TFLOP/s"),
        ("*H200*", MEMORY, "at-most: 9 TB/s"), ("NVIDIA Z999", MEMORY, "at-least: 900 TB/s"),
        ("*H100*", "burnin.gemm.bf16/*.temperature", "at-least: 5000 C"),
        ("*H100*", GEMM, "within: { of: 715 TFLOP/s, by: 5 % }"),
    ],
)  # fmt: skip
def test_a_floor_allowed_by_physics_has_no_finding(tmp_path: Path, part: str, fact: str, test: str) -> None:
    assert found(tmp_path, floor(part, fact, test)) == []


def test_a_floor_below_half_of_the_peak_needs_a_reason_and_a_source_that_was_read(tmp_path: Path) -> None:
    low = "at-least: 2000 GB/s"
    assert found(tmp_path, floor("*H200*", MEMORY, low)) == []
    for words in ("why: w, fix: f, title: t", "refs: [tuned.hpc], fix: f, title: t"):
        rows = [f for f in found(tmp_path, floor("*H200*", MEMORY, low, words)) if f.level is not Level.HINT]
        assert [f.level for f in rows] == [Level.WARNING]
        assert "so low a floor needs a `why` and, in `refs`, a source that was read" in rows[0].text
    assert found(tmp_path, floor("*H200*", MEMORY, "at-least: 2401 GB/s")) == []


def test_the_closest_part_counts_and_of_several_the_one_that_is_kindest(tmp_path: Path) -> None:
    assert [f.level for f in found(tmp_path, floor("NVIDIA H100 PCIe", MEMORY, "at-least: 2500 GB/s"))] == [Level.ERROR]
    assert found(tmp_path, floor("NVIDIA H100 80GB HBM3", MEMORY, "at-least: 2500 GB/s")) == []
    both = f"  part: {{ each: gpu, fact: name, one-of: [NVIDIA H100 PCIe, NVIDIA H200], {WORDS} }}\n"
    assert (
        found(tmp_path, f"{both}  f: {{ each: burnin.memory, fact: bandwidth, at-least: 2500 GB/s, {WORDS} }}\n") == []
    )


def test_the_part_may_be_the_product_that_the_profile_applies_to(tmp_path: Path) -> None:
    rule = f"  f: {{ each: burnin.memory, fact: bandwidth, at-least: 9000 GB/s, {WORDS} }}\n"
    assert found(tmp_path, rule) == []
    assert [f.level for f in found(tmp_path, rule, f"{HEAD}applies-to: {{ product: DGXH200* }}\n")] == [Level.ERROR]


def test_a_floor_of_a_param_is_held_against_its_value(tmp_path: Path) -> None:
    rule = floor("*H200*", MEMORY, "at-least: $floor")
    for default, levels in (("9 TB/s", [Level.ERROR]), ("4 TB/s", []), ("unset", [])):
        head = f"{HEAD}params: {{ floor: {{ type: quantity GB/s, default: {default}, about: x }} }}\n"
        assert [f.level for f in found(tmp_path, rule, head)] == levels


def test_a_port_faster_than_any_we_know_is_a_warning_only(tmp_path: Path) -> None:
    rule = f"  r: {{ each: nic/*.port, fact: rate, at-least: 1600 Gb/s, {WORDS} }}\n"
    assert [f.level for f in found(tmp_path, rule)] == [Level.WARNING]


def test_the_table_of_peaks_conforms_and_every_source_is_known() -> None:
    jsonschema.validate(TABLE, json.loads((ROOT / "schemas" / "peaks.schema.json").read_text()))
    sources = read((ROOT / "profiles" / "sources.yaml").read_text(), "sources.yaml")
    assert isinstance(sources, YamlMapping)
    known = sources.items["sources"]
    assert isinstance(known, YamlMapping)
    assert {peak.source for peak in floors.shipped_peaks()} <= set(known.items)
    memory = [known.items[peak.source].get("confidence") for peak in floors.shipped_peaks()]  # type: ignore[union-attr]
    assert "from memory" not in {node.text for node in memory if node is not None}  # type: ignore[union-attr]


def test_no_part_of_the_table_has_two_peaks_for_one_fact() -> None:
    seen = [(fact, part) for peak in floors.shipped_peaks() for fact in peak.facts for part in peak.parts]
    assert sorted(seen) == sorted(set(seen))


@pytest.mark.parametrize("name", [n for n, f in library.profiles().items() if f.origin == "shipped"])
def test_a_shipped_profile_has_no_findings_even_with_strict(name: str) -> None:
    assert list(map(str, lint.findings(*library.load_laid(name, registry().catalogue)))) == []


def test_hints_are_reported_only_with_strict_and_errors_always_refuse(tmp_path: Path) -> None:
    hint = found(tmp_path, "  r: { fact: burnin.all_reduce.busbw, present: true }\n")
    assert [f.level for f in hint] == [Level.HINT]
    assert (lint.chosen(hint, strict=False), lint.chosen(hint, strict=True)) == ([], hint)
    assert (lint.refused(hint, strict=False), lint.refused(hint, strict=True)) == (False, True)
    error = found(tmp_path, floor("*H200*", MEMORY, "at-least: 1 MB/s"))
    assert lint.refused(error, strict=False)
    assert error[0].plain() | {"text": ""} == {
        "file": "p.yaml", "line": 6, "column": 60, "level": "error", "rule": "floor", "text": "",
    }  # fmt: skip


def test_what_a_parent_declares_and_its_child_drops_is_not_unused(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(
        "rackcheck: 1\nprofile: base\nversion: 1\nparams: { n: { type: quantity GB/s, default: 400 GB/s, about: x } }\n"
        f"rules:\n  a: {{ fact: {BUSBW}, at-least: $n, {WORDS} }}\n"
    )
    rules = f"  a: {{ drop: not here }}\n  b: {{ each: gpu, fact: name, present: true, {WORDS} }}\n"
    assert found(tmp_path, rules, f"{HEAD}extends: base@1\n") == []


def test_a_choice_that_may_be_empty_or_counted_can_still_fail(tmp_path: Path) -> None:
    rule = f"  r: {{ each: gpu, MORE, where: {{ fact: name, is: a }}, fact: name, is: a, {WORDS} }}\n"
    assert [f.level for f in found(tmp_path, rule.replace("MORE", "allow-empty: true"))] == [Level.ERROR]
    assert found(tmp_path, rule.replace("MORE, ", "")) == []
    assert found(tmp_path, rule.replace("MORE", "allow-empty: true, expect-count: 8")) == []


def test_rules_that_wait_for_a_site_s_value_are_not_alike(tmp_path: Path) -> None:
    params = "params: { a: { type: text, default: unset, about: x }, b: { type: text, default: unset, about: y } }\n"
    rules = "".join(f"  {n}: {{ each: gpu, fact: name, is: ${n}, {WORDS} }}\n" for n in "ab")
    assert found(tmp_path, rules, HEAD + params) == []


INTEGER = Kind(Type.INTEGER, "")
TESTS = st.one_of(
    st.builds(
        operator.Test, st.sampled_from(["is", "is-not", "at-least", "at-most", "above", "below"]), st.integers(-4, 4)
    ),
    st.builds(
        operator.Test, st.sampled_from(["one-of", "none-of"]), st.lists(st.integers(-4, 4), min_size=1).map(tuple)
    ),
    st.builds(operator.Test, st.just("present"), st.booleans()),
)
CLAUSES = st.lists(TESTS, min_size=1, max_size=3).map(lambda tests: Clause(parse("a"), INTEGER, Plane.OS, tuple(tests)))


def passes(clause: Clause, value: int | None) -> bool:
    """An independent form of the law: on an absent fact every test except `present` fails."""
    for test in clause.tests:
        if test.op == "present":
            if (value is None) == test.operand:
                return False
        elif value is None or operator.holds(test, value, INTEGER) is not True:
            return False
    return True


@given(CLAUSES, CLAUSES)
def test_the_check_of_whole_numbers_agrees_with_trying_all_of_them(one: Clause, other: Clause) -> None:
    every = [None, *range(-9, 10)]
    assert can_hold([one, other]) is any(passes(one, v) and passes(other, v) for v in every)
    assert can_fail(one, other) is any(passes(one, v) and not passes(other, v) for v in every)


@pytest.mark.parametrize(
    ("kind", "tests"),
    [
        (catalogue.text("x"), [operator.Test("like", "a*"), operator.Test("is", "b")]),
        (INTEGER, [operator.Test("mask", operator.Mask(1, 1)), operator.Test("is", 0)]),
        (catalogue.version("dotted", "x"), [operator.Test("above", "2"), operator.Test("below", "1")]),
        (catalogue.listing("x"), [operator.Test("includes", ("a",)), operator.Test("excludes", ("a",))]),
    ],
)
def test_an_undecidable_clause_has_no_finding(kind: Kind, tests: list[operator.Test]) -> None:
    assert can_hold([Clause(parse("a"), kind, Plane.OS, tuple(tests))]) is None


@pytest.mark.parametrize(
    ("role", "meant"),
    [("comptue", "compute"), ("[compute, sotrage]", "storage"), ("Any", "any"), ("compute", ""), ("compute-b", ""),
     ("storage2", ""), ("robot", ""), ("any", "")],
)  # fmt: skip
def test_a_misspelt_role_of_a_rule_is_a_warning_and_a_site_s_own_role_is_not(
    tmp_path: Path, role: str, meant: str
) -> None:
    listed = found(tmp_path, f"  r: {{ each: gpu, fact: name, present: true, role: {role}, {WORDS} }}\n")
    texts = [finding.text for finding in listed if "not a known role" in finding.text]
    assert [text.rpartition("did you mean ")[2] for text in texts] == ([f"{meant}?"] if meant else [])
    assert all(finding.level is Level.WARNING for finding in listed)
