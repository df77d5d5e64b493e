"""From files to typed profiles: every mistake with its place and the nearest right word, overlays as documented."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from places import ROOT

from rackcheck.base.user_error import UserError
from rackcheck.model import operator
from rackcheck.model.profile import Profile
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.profile.document import BadFile

HEAD = "rackcheck: 1\nprofile: p\nversion: 1\n"
SHIPPED = ROOT / "profiles" / "linux-server.yaml"


def load(folder: Path, text: str, **values: str) -> Profile:
    path = folder / "p.yaml"
    path.write_text(text)
    return library.load(str(path), registry().catalogue, values)


def mistakes(folder: Path, rules: str, head: str = HEAD) -> str:
    with pytest.raises(UserError) as caught:
        load(folder, f"{head}rules:\n{rules}")
    return str(caught.value)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{ fact: memory.totl, present: true }", "no probe provides memory.totl; did you mean memory.total?"),
        ("{ fact: Memory.total, present: true }", "is not a valid word"),
        ("{ fact: memory.total, at-least: 1 GHz }", "GHz is a frequency; a size in GiB is expected"),
        ("{ fact: memory.total, at-least: 1 GIB }", "'GIB' is not a known unit"),
        ("{ fact: memory.total, is: 12 }", "'12' has no unit"),
        ("{ fact: os.release.id, at-least: a }", "`at-least` needs an order"),
        ("{ fact: cpu.microcode, below: 0x1 }", "`below` needs an order"),
        ("{ fact: kernel.release, at-least: latest }", "'latest' is not a kernel release"),
        ("{ fact: cpu.threads, is: 010 }", "'010' could be octal; write 10"),
        ("{ fact: cpu.threads, is: many }", "expected a whole number, not 'many'"),
        ("{ fact: cpu.smt, is: yes }", "expected true or false, not 'yes'"),
        ("{ fact: cpu.smt_control, is: onn }", "did you mean 'on'?"),
        ("{ fact: sysctl.net.core.default_qdisc, at-least: fq }", "expected a whole number to compare with"),
        ("{ fact: cpu.threads, like: 8* }", "`like` does not apply to a fact of type integer"),
        ("{ fact: os.release.id, mask: { bits: 1, is: 1 } }", "`mask` does not apply"),
        ("{ fact: kernel.tainted, mask: { bits: 0x10, is: 0x20 } }", "it can never pass"),
        ("{ fact: os.release.id, includes: a }", "`includes` does not apply"),
        ("{ fact: os.release.id, matches: '(' }", "not a pattern of RE2"),
        ("{ fact: cpu.threads, is: $thread }", "no param thread"),
        ("{ fact: cpu.threads, is: 8, refs: [tuned.thruput] }", "no source tuned.thruput in sources.yaml"),
        ("{ fact: cpu.threads, is: 8, severity: bloker }", "not 'bloker'; did you mean `blocker`?"),
        ("{ fact: cpu.threads, iss: 8 }", "no such key: `iss`; did you mean `is`?"),
        ("{ fact: cpu.threads }", "asserts nothing"),
        ("{ is: 8 }", "no `fact`, `all-of` or `any-of`"),
        ("{ fact: cpu.threads, is: 8, all-of: [{ fact: cpu.smt, is: true }] }", "use only one of them"),
        ("{ each: gpu, any: gpu, fact: name, present: true }", "a rule has at most one selection"),
        ("{ fact: cpu.threads, is: 8, allow-empty: true }", "needs one of each, any, no, count"),
        ("{ each: gpus, fact: name, present: true }", "no probe provides gpus; did you mean gpu?"),
        ("{ each: cpu.threads, fact: name, present: true }", "is not a collection"),
        ("{ fact: gpu, is: 8 }", "gpu is a collection; select its items with each, any, no, count"),
        ("{ each: gpu, fact: gpu/0.name, present: true }", "no probe provides gpu/0.name in gpu"),
        ("{ fact: gpu/*.name, present: true }", "`*` is only allowed in a selection"),
        ("{ each: gpu, fact: nam, present: true }", "no probe provides nam in gpu; did you mean name?"),
        ("{ count: gpu }", "`count` without an operator asserts nothing"),
        ("{ count: gpu, fact: name, is: 8 }", "`fact` belongs under `where`"),
        ("{ count: gpu, warn-below: 8 }", "`warn-below` cannot be combined with `count`"),
        ("{ no: gpu, fact: temperature, warn-above: 80 C }", "`warn-above` cannot be combined with `no`"),
        ("{ any: gpu, fact: name, present: true, allow-failing: 1 }", "`allow-failing` cannot be combined with `any`"),
        ("{ fact: cpu.threads, equal: true }", "compares items"),
        ("{ fact: memory.total, same-as: cpu.threads }", "the fact compared with it is quantity GiB"),
        ("{ fact: memory.total, same-as: .memory }", "starts at the item of a selection"),
        ("{ fact: cpu.threads, is: 8, needs: [s] }", "no rule s"),
        ("{ fact: cpu.threads, is: 8, needs: [r] }", "`needs` are circular: r -> r"),
        ("{ fact: cpu.threads, is: 8, scope: rack }", "cpu.threads is a fact of a node, but the rule's scope is `rack`"),
        ("{ fact: cpu.threads, rate: { at-most: 1/h } }", "`rate` applies to counters; this is a fact of type integer"),
        ("{ across: { facts: [cpu.threads] }, agree: { quorum: 40 % } }", "`quorum` is 40 %; it must be more than 50 %"),
        ("{ drop: no reason }", "drops `r`, which no parent has"),
    ],
)  # fmt: skip
def test_an_error_has_its_place_and_the_nearest_word(tmp_path: Path, rule: str, message: str) -> None:
    text = mistakes(tmp_path, f"  r: {rule}\n")
    assert message in text
    assert all(re.match(r"p\.yaml:\d+:\d+: ", line) for line in text.splitlines())


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    rules = "".join(f"  r{n}: {{ fact: memory.totl, present: true }}\n" for n in range(25))
    lines = mistakes(tmp_path, rules).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and 5 more"


def test_a_misspelt_key_hides_no_error_of_other_rules(tmp_path: Path) -> None:
    rules = "  a: { fact: cpu.threads, iss: 8 }\n  b: { fact: memory.totl, present: true }\n  c: { fact: cpu.smt, is: true, needs: [a] }\n"
    rows = mistakes(tmp_path, rules).splitlines()
    assert ["no such key: `iss`" in rows[0], "no probe provides memory.totl" in rows[1], len(rows)] == [True, True, 2]


def test_a_new_fact_takes_the_old_operators_with_it(tmp_path: Path) -> None:
    profile = overlaid(tmp_path, "rules:\n  memory.most: { fact: cpu.threads, is: 8 }\n")
    rule = next(rule for rule in profile.own if rule.id == "memory.most")
    assert [test.op for test in rule.clauses[0].tests] == ["is"]


def test_a_profile_without_a_rule_is_an_error(tmp_path: Path) -> None:
    assert "has no rule" in mistakes(tmp_path, "  {}\n")


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ("rackcheck: 2\nprofile: p\nversion: 1\n", "`rackcheck` must be one of 1"),
        ("rackcheck: 1\nversion: 1\n", "lacks `profile`"),
        (f"{HEAD}extends: base@9\n", "extends base@9, but the library has base@1"),
        (f"{HEAD}extends: bass@1\n", "no profile bass; did you mean base?"),
        (f"{HEAD}extends: p@1\n", "a cycle"),
        (f"{HEAD}extends: base\n", "`extends` cannot be 'base'"),
        (f"{HEAD}include: [bass]\n", "no profile bass; did you mean base?"),
        (f"{HEAD}parms: {{}}\n", "did you mean `params`?"),
    ],
)
def test_an_invalid_head_is_reported(tmp_path: Path, head: str, text: str) -> None:
    (tmp_path / "base.yaml").write_text(
        "rackcheck: 1\nprofile: base\nversion: 1\nrules:\n  b: { fact: cpu.smt, is: true }\n"
    )
    (tmp_path / "q").mkdir()
    with pytest.raises(UserError) as caught:
        path = tmp_path / "p.yaml"
        path.write_text(f"{head}rules:\n  r: {{ fact: cpu.threads, is: 8 }}\n")
        library.load(str(path), registry().catalogue, {}, (tmp_path,))
    assert text in str(caught.value)


BASE = """\
rackcheck: 1
profile: base
version: 2026.11
params:
  threads: { type: integer, default: unset, about: threads of this site's CPUs }
rules:
  cpu.threads: { fact: cpu.threads, is: $threads, title: Threads, severity: blocker }
  memory.most: { fact: memory.total, at-least: 1 GiB, at-most: 9 TiB }
  gpu.names: { each: gpu, allow-empty: true, fact: name, present: true }
  gone: { fact: cpu.smt, is: true }
"""


def overlaid(folder: Path, text: str, **values: str) -> Profile:
    (folder / "base.yaml").write_text(BASE)
    return load(folder, f"{HEAD}extends: base@2026.11\n{text}", **values)


def test_an_overlay_merges_by_id_and_keeps_what_it_does_not_name(tmp_path: Path) -> None:
    profile = overlaid(tmp_path, "rules:\n  memory.most: { at-least: 2 GiB }\n  mine: { fact: cpu.smt, is: true }\n")
    rules = {rule.id: rule for rule in profile.own}
    assert list(rules) == ["cpu.threads", "memory.most", "gpu.names", "gone", "mine"]
    tests = {test.op: test.operand for test in rules["memory.most"].clauses[0].tests}
    assert tests == {"at-least": 2.0, "at-most": 9 * 1024.0}
    assert profile.lineage == ("base@2026.11", "p@1")


def test_a_new_look_takes_the_old_one_s_place(tmp_path: Path) -> None:
    profile = overlaid(tmp_path, "rules:\n  gpu.names: { any: gpu }\n")
    look = next(rule.look for rule in profile.own if rule.id == "gpu.names")
    assert look is not None
    assert look.mode == "any"


def test_a_profile_applies_to_its_parents_machines_unless_it_narrows_them(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(
        BASE.replace("params:", "applies-to: { product: DGX*, role: compute }\nparams:")
    )
    text = f"{HEAD}extends: base@2026.11\napplies-to: {{ product: DGXH100* }}\n"
    assert load(tmp_path, text).applies_to == {"product": ("DGXH100*",), "role": ("compute",)}


def test_a_dropped_rule_is_gone_with_its_reason(tmp_path: Path) -> None:
    profile = overlaid(tmp_path, "rules:\n  gone: { drop: not here }\n")
    assert "gone" not in {rule.id for rule in profile.own}
    assert profile.dropped == {"gone": "not here"}


def test_a_param_comes_from_overlay_or_command_line_and_is_unset_until_then(tmp_path: Path) -> None:
    def threads(profile: Profile) -> tuple[object, tuple[str, ...]]:
        rule = profile.own[0]
        return (rule.clauses[0].tests[0].operand if rule.clauses[0].tests else None, rule.unset)

    assert threads(overlaid(tmp_path, "rules: {}\n")) == (None, ("threads",))
    assert threads(overlaid(tmp_path, "params: { threads: 8 }\n")) == (8, ())
    assert threads(overlaid(tmp_path, "params: { threads: 8 }\n", threads="16")) == (16, ())
    with pytest.raises(UserError, match="did you mean threads"):
        overlaid(tmp_path, "rules: {}\n", thread="8")


def test_the_short_form_of_a_fact_is_a_leaf_in_one_map(tmp_path: Path) -> None:
    long = load(tmp_path, f"{HEAD}rules:\n  r: {{ fact: cpu.threads, at-least: 8 }}\n").own[0]
    short = load(tmp_path, f"{HEAD}rules:\n  r: {{ fact: {{ fact: cpu.threads, at-least: 8 }} }}\n").own[0]
    assert long.clauses == short.clauses


def test_the_digest_changes_with_any_rule_and_with_nothing_else(tmp_path: Path) -> None:
    one = load(tmp_path, f"{HEAD}rules:\n  r: {{ fact: cpu.threads, at-least: 8 }}\n")
    again = load(tmp_path, f"{HEAD}rules:\n  # words\n  r: {{ fact: cpu.threads, at-least: 8 }}\n")
    other = load(tmp_path, f"{HEAD}rules:\n  r: {{ fact: cpu.threads, at-least: 9 }}\n")
    assert one.digest == again.digest != other.digest


LINES = SHIPPED.read_text().splitlines(keepends=True)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_a_mutilated_profile_is_a_profile_or_a_reported_error(tmp_path: Path, data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        other = data.draw(st.sampled_from(LINES))
        change = data.draw(st.sampled_from(["delete", "double", "swap", "cut", "token", "indent"]))
        words = lines[at].split(" ")
        lines[at] = {
            "delete": "", "double": lines[at] * 2, "swap": other, "cut": lines[at][: len(lines[at]) // 2] + "\n",
            "token": " ".join([*words[:-1], data.draw(st.sampled_from(["{", "]", "no", "*", "&a", "1 W", "$x", "-", "'"]))]) + "\n",
            "indent": "  " + lines[at],
        }[change]  # fmt: skip
    path = tmp_path / "p.yaml"
    path.write_text("".join(lines))
    (tmp_path / "sources.yaml").write_text((SHIPPED.parent / "sources.yaml").read_text())
    try:
        loaded = library.load(str(path), registry().catalogue, {})
    except BadFile as error:
        assert all(re.match(r"(p|sources)\.yaml:\d+:\d+: |and \d+ more", line) for line in str(error).splitlines())
    else:
        assert loaded.own


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{ fact: { is: 3 } }", "`fact` lacks `fact`"),
        ("{ fact: { fact: cpu.threads } }", "a fact without an operator asserts nothing"),
        ("{ fact: cpu.isolated, is-not: '3' }", "`is-not`: a list is judged by `includes`, `excludes` and `is: none`"),
        ("{ fact: cpu.isolated, excludes: ['*'] }", "'*' is taken literally, not as a pattern"),
        ("{ fact: cpu.isolated, none-of: ['3'] }", "`none-of` does not apply to a fact of type list"),
        ("{ fact: node.serial, same-as: gpu/*.uuid }", "`*` is only allowed in a selection; gpu/*.uuid must be one fact"),
        ("{ count: gpu, within: { of: 8, by: 1e999 % } }", "'1e999 %' is more than any machine has"),
        ("{ each: gpu, fact: power.limit, at-least: 1e999 W }", "'1e999 W' is more than any machine has"),
        ("{ fact: limits.nofile.soft, within: { of: unlimited, by: 1 % } }", "`unlimited` is not allowed"),
        (f"{{ fact: driver.version, at-least: {'9' * 5000} }}", "is not a dotted number"),
        (f"{{ fact: kernel.release, at-least: {'9' * 5000}.1 }}", "is not a kernel release"),
        ("{ each: gpu, any-of: [{ fact: uuid, equal: true }] }", "no such key: `equal`"),
        ("{ each: gpu, all-of: [{ fact: uuid, equal: true }], allow-failing: 1 }", "without `allow-failing`"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_fail_or_cannot_pass_is_an_error(tmp_path: Path, rule: str, message: str) -> None:
    text = mistakes(tmp_path, f"  r: {rule}\n")
    assert message in text
    assert all(re.match(r"p\.yaml:\d+:\d+: ", line) for line in text.splitlines())


def test_a_bad_pattern_is_reported_once_and_nowhere_else(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert mistakes(tmp_path, "  r: { fact: cpu.model, matches: '(' }\n").endswith("not a pattern of RE2: missing ): (")
    assert capfd.readouterr() == ("", "")


def test_a_circle_names_its_own_rules_and_not_the_way_to_it(tmp_path: Path) -> None:
    needs = {"way": "a", "a": "b", "b": "c", "c": "a"}
    rules = "".join(f"  {rule}: {{ fact: cpu.threads, above: 0, needs: [{need}] }}\n" for rule, need in needs.items())
    assert mistakes(tmp_path, rules) == "p.yaml:6:6: `needs` are circular: a -> b -> c -> a"


def test_needs_may_run_as_long_as_they_like(tmp_path: Path) -> None:
    chain = [f"  r{n}: {{ fact: cpu.threads, above: 0, needs: [r{n + 1}] }}" for n in range(1200)]
    profile = load(tmp_path, f"{HEAD}rules:\n" + "\n".join(chain) + "\n  r1200: { fact: cpu.threads, above: 0 }\n")
    assert len(profile.own) == 1201


def test_siblings_are_compared_in_every_form_of_a_leaf(tmp_path: Path) -> None:
    forms = ("fact: uuid, equal: true", "fact: { fact: uuid, equal: true }", "all-of: [{ fact: uuid, equal: true }]")
    rules = "".join(f"  r{n}: {{ each: gpu, {form} }}\n" for n, form in enumerate(forms))
    first, *others = (rule.clauses for rule in load(tmp_path, f"{HEAD}rules:\n{rules}").own)
    assert others == [first, first]


@pytest.mark.parametrize(
    ("test", "isolated", "holds"),
    [
        ("is: none", (), True), ("is: none", ("3",), False), ("is: none", ("none",), False),
        ("is-not: none", (), False), ("is-not: none", ("3",), True),
    ],
)  # fmt: skip
def test_a_list_can_be_tested_for_being_empty(
    tmp_path: Path, test: str, isolated: tuple[str, ...], holds: bool
) -> None:
    (rule,) = load(tmp_path, f"{HEAD}rules:\n  r: {{ fact: cpu.isolated, {test} }}\n").own
    (clause,) = rule.clauses
    assert operator.holds(clause.tests[0], isolated, clause.kind) is holds
    assert operator.expectation(clause.tests[0], clause.kind) == f"must {'not ' if '-not' in test else ''}be none"
