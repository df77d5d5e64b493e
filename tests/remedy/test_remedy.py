"""Remedies: each line, once run, makes its rule pass; so does each applied body; neither contains a node's text."""

import json
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from command import rackcheck
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import Mockup
from trees import ANY_CASE, DELL, HPE_INTEL, LENOVO, SUPERMICRO, bmc_probes, read, resource, tree
from xeon_changes import CHANGES

import rackcheck_probes
from rackcheck import cli
from rackcheck.evaluate.verdict import judge
from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.capture import BmcCapture, NodeCapture
from rackcheck.model.catalogue import Type
from rackcheck.model.evidence import Evidence, Status, Verdict
from rackcheck.model.fact import Plane
from rackcheck.model.operator import Test as Operator
from rackcheck.model.operator import Within
from rackcheck.model.profile import Clause, Profile, Rule, RuleSelection
from rackcheck.model.tree import Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.remedy.bios import Patch, patches
from rackcheck.remedy.fixes import ByHand, Firmware, Lines, grouped, remedies
from rackcheck.remedy.text import RemedyText, document, text
from rackcheck.remedy.tunables import ABSENT, TABLE, When, Write, found
from rackcheck.remedy.value import WantedValue, wanted
from rackcheck.remedy.words import table

WORDS = table(json.loads((Path(rackcheck_probes.__path__[0]) / "bios_settings.json").read_text("utf-8")))
NUMBER = "65"


def concrete(write: Write) -> str:
    """A fact of a pattern as a profile may name it: whole collections with a star."""
    if write.pattern == "sysctl.**":
        return "sysctl.vm.swappiness"
    if write.whole:
        return write.pattern
    return write.pattern.replace("/*", '/"nvidia.A1"' if ".modules." in write.pattern else "/slurmd")


def values(write: Write) -> list[str]:
    return [*write.words, *([NUMBER] if write.form is not None else [])]


CASES = [(w, concrete(w), v) for w in TABLE for v in values(w)]
NAMED = [f"{fact} = {value}" for _, fact, value in CASES]


@pytest.mark.parametrize("write", TABLE, ids=lambda w: w.pattern)
def test_the_table_writes_facts_of_the_catalogue_alone(write: Write) -> None:
    entry = registry().catalogue.find(paths.parse(concrete(write)))
    assert entry is not None
    assert entry.plane is Plane.OS


@pytest.mark.parametrize(("write", "fact", "value"), CASES, ids=NAMED)
def test_every_line_of_the_table_is_one_the_shell_takes(write: Write, fact: str, value: str) -> None:
    spelt = write.spelt(value)
    assert spelt is not None
    lines = "\n".join(write.filled(paths.parse(fact), spelt))
    assert "[[" not in lines
    assert not re.search(r"[{]\w+[}]", lines)
    done = subprocess.run(["/bin/sh", "-n"], input=lines, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    if (checker := shutil.which("shellcheck")) is not None:
        subprocess.run([checker, "-s", "sh", "-"], input=lines, text=True, check=True)


STUB = """#!/bin/sh
printf '%s\\n' "$(basename "$0") $*" >> "@ROOT@/called"
case $0 in */sysctl) n=${2%%=*}; case $n in */*) ;; *) n=$(echo "$n" | tr . /);; esac; echo "${2#*=}" > "@ROOT@/proc/sys/$n";; esac
"""


def ran(lines: tuple[str, ...], root: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Run lines on a copy of a node's files, with tools that record their arguments; return all files afterwards."""
    for name in ("sysctl", "systemctl", "nvidia-smi", "modprobe", "tuned-adm", "update-grub"):
        tool = root / "bin" / name
        tool.parent.mkdir(exist_ok=True)
        tool.write_text(STUB.replace("@ROOT@", str(root)))
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    etc = ("tmpfiles.d", "sysctl.d", "security/limits.d", "modprobe.d", "modules-load.d")
    for folder in etc:
        (root / "etc" / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (root / name.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (root / name.lstrip("/")).write_text(content)
    text = "set -eu\n" + "\n".join(lines)
    text = re.sub(r"(?<![\w.])/(sys|etc)/", lambda m: f"{root}/{m[1]}/", text)
    path = f"{root}/bin:/usr/bin:/bin"
    done = subprocess.run(["/bin/sh"], input=text, text=True, capture_output=True, check=False, env={"PATH": path})
    assert (done.returncode, done.stderr) == (0, "")
    kept = (p for p in root.rglob("*") if p.is_file() and p.parent.name != "bin")
    return {f"/{p.relative_to(root)}": p.read_text().replace(str(root), "") for p in kept}


CPU = "/sys/devices/system/cpu"
THP = "/sys/kernel/mm/transparent_hugepage"
BEFORE = {
    "sysctl.**": {"/proc/sys/vm/swappiness": "1"},
    "cpu.frequency/*.governor": {f"{CPU}/cpu{n}/cpufreq/scaling_governor": "x" for n in (0, 11)},
    "cpu.frequency/*.epp": {f"{CPU}/cpu{n}/cpufreq/energy_performance_preference": "x" for n in (0, 11)},
    "cpu.turbo": {f"{CPU}/intel_pstate/no_turbo": "x"},
    "cpu.pstate.min": {f"{CPU}/intel_pstate/min_perf_pct": "1"},
    "cpu.pstate.max": {f"{CPU}/intel_pstate/max_perf_pct": "1"},
    "memory.thp.mode": {f"{THP}/enabled": "x"},
    "memory.thp.defrag": {f"{THP}/defrag": "x"},
    "memory.thp.shmem": {f"{THP}/shmem_enabled": "x"},
    "memory.thp.khugepaged_defrag": {f"{THP}/khugepaged/defrag": "x"},
    "memory.thp.khugepaged_sleep": {f"{THP}/khugepaged/scan_sleep_millisecs": "1"},
    "memory.ksm": {"/sys/kernel/mm/ksm/run": "9"},
    **{f"limits.configured.{n}.{s}": {"/etc/security/limits.conf": ""} for n in ("nofile", "nproc", "memlock", "stack")
       for s in ("hard", "soft")},
    "kernel.modules.option/*.value": {"/etc/modprobe.d/a.conf": ""},
}  # fmt: skip
"""Files that contain a fact, before it is written."""

WRITTEN = [case for case in CASES if case[0].pattern in BEFORE]


@pytest.mark.parametrize(("write", "fact", "value"), WRITTEN, ids=lambda v: v if isinstance(v, str) else "")
def test_a_line_writes_what_the_probe_of_its_fact_reads(write: Write, fact: str, value: str, tmp_path: Path) -> None:
    path = paths.parse(fact)
    lines = write.filled(path, write.spelt(value) or "")
    files = {f: c for f, c in ran(lines, tmp_path, BEFORE[write.pattern]).items() if f != "/called"}
    # The kernel shows a choice among its words with brackets around the active one.
    shown = {
        f: f"other [{c.strip()}]" if f.startswith(THP) and not c.strip().isdigit() else c for f, c in files.items()
    }
    if "khugepaged" not in fact and "thp" in fact:
        assert any("[" in c for c in shown.values())
    plan = registry().plan([path])
    asks = [probe.ask.asking([path]) for probe in plan.probes]
    globs: dict[str, None] = {glob: None for ask in asks for glob in getattr(ask, "globs", ())}
    leaves = collect(plan.probes, NodeCapture(globs=globs, files=shown), [path])
    rows = [leaf for name, leaf in leaves.items() if str(paths.parse(name).pattern) == str(path.pattern)]
    rows = [leaf for leaf in rows if leaf.kind.type is not Type.COLLECTION]
    assert rows
    assert {operator.spell(leaf.reading, leaf.kind).split(" ")[0] for leaf in rows} == {value}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fact", "value", "called"),
    [
        ("sysctl.vm.swappiness", "10", "sysctl -w vm.swappiness=10"),
        ("service/slurmd.active", "active", "systemctl start -- slurmd.service"),
        ("service/slurmd.enabled", "disabled", "systemctl disable -- slurmd.service"),
        ("gpu/*.persistence", "true", "nvidia-smi -pm 1"),
        ("gpu/*.power.limit", "700", "nvidia-smi -pl 700"),
        ("gpu/*.ecc.mode", "enabled", "nvidia-smi -e 1"),
        ("module/nvidia_peermem.loaded", "true", "modprobe -- nvidia_peermem"),
        ("os.tuned.profile", "hpc-compute", "tuned-adm profile -- hpc-compute"),
        ("cmdline.argument/iommu.value", "pt", "update-grub "),
    ],
)
def test_a_tool_gets_the_value_that_the_profile_expects(fact: str, value: str, called: str, tmp_path: Path) -> None:
    path = paths.parse(fact)
    write, spelt = found(path, value)  # type: ignore[misc]
    files = ran(write.filled(path, spelt), tmp_path, {"/proc/sys/vm/swappiness": "60"})
    assert files["/called"] == f"{called}\n"


def test_a_kernel_argument_is_added_to_those_that_stand_there(tmp_path: Path) -> None:
    write, spelt = found(paths.parse("cmdline.argument/iommu.value"), "pt")  # type: ignore[misc]
    assert write.when is When.REBOOT
    files = ran(write.filled(paths.parse("cmdline.argument/iommu.value"), spelt), tmp_path, {})
    (drop,) = [content for file, content in files.items() if file.startswith("/etc/default/grub.d/")]
    read_by = subprocess.run(
        ["/bin/sh"], input=f'GRUB_CMDLINE_LINUX=quiet\n{drop}\necho "$GRUB_CMDLINE_LINUX"', text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    assert read_by.stdout == "quiet iommu=pt\n"


HOSTILE = ["$(reboot)", "`id`", "a'; rm -rf / #", 'a"b', "a\nb", "; -rf", "../../etc/passwd", "a;b", "a|b", "ü", ""]


@pytest.mark.parametrize("write", TABLE, ids=lambda w: w.pattern)
def test_a_value_that_is_none_of_its_kind_is_never_written(write: Write) -> None:
    for value in HOSTILE:
        assert write.spelt(value) is None, value


# ---- which value, of those that a rule takes -------------------------------------------------------------------------


def clause(fact: str, *tests: tuple[str, Any]) -> Clause:
    entry = registry().catalogue.find(paths.parse(fact))
    assert entry is not None
    return Clause(paths.parse(fact), entry.kind, entry.plane, tuple(Operator(op, operand) for op, operand in tests))


@pytest.mark.parametrize(
    ("tests", "text", "how"),
    [
        ([("is", 10)], "10", ""),
        ([("at-least", 5)], "5", "the bound of `at-least`"),
        ([("at-least", 5), ("warn-below", 9)], "9", "the bound of `warn-below`"),
        ([("at-most", 5), ("warn-above", 2)], "2", "the bound of `warn-above`"),
        ([("at-least", 5), ("at-most", 9)], "5", "the bound of `at-least`"),
        ([("above", 5)], "6", "the next whole number `above` the bound"),
        ([("one-of", (3, 4))], "3", "the first word of `one-of`"),
        ([("within", Within(10.0, 5.0, share=True))], "10", "the middle of `within`"),
        ([("present", False)], ABSENT, ""),
    ],
)
def test_one_value_is_chosen_and_the_reason_stated(tests: list[tuple[str, Any]], text: str, how: str) -> None:
    found = wanted(clause("sysctl.vm.swappiness", *tests))
    assert isinstance(found, WantedValue)
    assert (found.text, found.how) == (text, how)


@pytest.mark.parametrize(
    "tests",
    [
        [("is-not", 1)], [("none-of", (1, 2))], [("same-as", paths.parse("sysctl.vm.max_map_count"))],
        [("equal", True)], [("one-of", (3, 4)), ("is-not", 3)], [("present", True)],
    ],
)  # fmt: skip
def test_where_no_one_value_follows_from_the_tests_none_is_chosen(tests: list[tuple[str, Any]]) -> None:
    assert isinstance(wanted(clause("sysctl.vm.swappiness", *tests)), str)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["is", "at-least", "at-most", "above", "below", "warn-below", "warn-above", "is-not"]),
            st.integers(-50, 50),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda t: t[0],
    )
)
def test_what_is_chosen_passes_every_test(tests: list[tuple[str, int]]) -> None:
    one = clause("sysctl.vm.swappiness", *tests)
    found = wanted(one)
    if isinstance(found, WantedValue):
        assert found.value is not None
        assert all(operator.holds(t, found.value, one.kind) is True for t in one.tests)


def rule(name: str, *clauses: Clause, **more: Any) -> Rule:
    return Rule(name, clauses, title="T", fix="Do it.", **more)


def failed(rule: Rule, item: str, seen: str = "1") -> Verdict:
    return Verdict(rule.id, Status.FAIL, "", (Evidence(Status.FAIL, item, seen, "must be", "/x"),))


def test_two_rules_that_want_one_fact_otherwise_are_left_to_a_person() -> None:
    low = rule("low", clause("sysctl.vm.swappiness", ("is", 1)))
    high = rule("high", clause("sysctl.vm.swappiness", ("at-least", 10)))
    passing = Verdict("high", Status.PASS)
    (only,) = remedies([low, high], [failed(low, "sysctl.vm.swappiness"), passing])
    assert isinstance(only, ByHand)
    assert "rule high rejects 1" in only.why
    (alone,) = remedies([low, high], [failed(low, "sysctl.vm.swappiness"), Verdict("high", Status.NA)])
    assert isinstance(alone, Lines)


@pytest.mark.parametrize(
    "more",
    [
        {"look": RuleSelection("any", paths.parse("gpu"), Plane.OS)},
        {"look": RuleSelection("no", paths.parse("gpu"), Plane.OS)},
        {"look": RuleSelection("each", paths.parse("gpu"), Plane.OS, where=clause("sysctl.vm.swappiness", ("is", 1)))},
    ],
)
def test_a_line_that_would_change_what_the_rule_does_not_mean_is_not_written(more: dict[str, Any]) -> None:
    entry = registry().catalogue.find(paths.parse("gpu/*.persistence"))
    assert entry is not None
    inside = Clause(paths.parse("persistence"), entry.kind, Plane.OS, (Operator("is", True),))
    (one,) = remedies([r := rule("r", inside, **more)], [failed(r, "gpu/0.persistence")])
    assert isinstance(one, ByHand)
    plain = rule("r", inside, look=RuleSelection("each", paths.parse("gpu"), Plane.OS))
    (mended,) = remedies([plain], [failed(plain, "gpu/0.persistence")])
    assert isinstance(mended, Lines)


def test_what_was_counted_is_mended_by_no_setting() -> None:
    entry = registry().catalogue.find(paths.parse("gpu/*.ecc.uncorrected"))
    assert entry is not None
    inside = Clause(paths.parse("ecc.uncorrected"), entry.kind, Plane.OS, (Operator("is", 0),))
    look = RuleSelection("each", paths.parse("gpu"), Plane.OS)
    (one,) = remedies([r := rule("r", inside, look=look)], [failed(r, "gpu/0.ecc.uncorrected")])
    assert isinstance(one, ByHand)
    assert one.part


@given(st.text(min_size=1, max_size=40))
def test_no_text_from_a_node_gets_into_a_line(message: str) -> None:
    mark = f"<{message}>"  # no line of the table has such brackets around a text
    loaded = library.load("linux-server", registry().catalogue)
    verdicts = []
    for one in loaded.own:
        at = f"{one.look.collection}/{paths.spell_key(mark)}." if one.look is not None else ""
        evidence = [
            Evidence(Status.FAIL, f"{at}{c.fact}", mark, mark, mark, exact=mark) for c in one.clauses if c.fact.segments
        ]
        verdicts.append(Verdict(one.id, Status.FAIL, mark, tuple(evidence)))
    rows = [step for step in remedies(loaded.own, verdicts) if isinstance(step, Lines)]
    assert len(rows) > 10
    assert not any(mark in text for step in rows for text in (*step.lines, step.value, step.note, step.how, step.fact))


def test_nodes_with_the_same_lines_are_one_set_and_what_waits_for_a_reboot_comes_last() -> None:
    late = Lines("a", "f", "v", "", When.REBOOT, ("late",))
    soon = Lines("b", "g", "v", "", When.NOW, ("soon",))
    first, second = grouped({"n1": [late, soon], "n2": [soon], "n3": [late, soon], "n4": []}, {"n4"})[0:2]
    assert (first.nodes, first.reboot, [s.lines for s in first.steps]) == (("n1", "n3"), True, [("soon",), ("late",)])
    assert (second.nodes, second.reboot) == (("n2",), False)


def test_rules_that_the_same_lines_fix_are_one_step_that_names_all_of_them() -> None:
    one, two = (Lines(name, "f", "v", "", When.NOW, ("same",)) for name in ("a", "b"))
    (found,) = grouped({"n1": [one, two, one]}, ())
    assert [step.rules for step in found.steps] == [("a", "b")]
    whole = RemedyText("r", "p", {"n1": [one, two]}, (), ())
    assert "# a, b: f = v; applies immediately" in list(text(whole))
    (step,) = cast("Any", document(whole))["sets"][0]["steps"]
    assert (step["rule"], step["also"]) == ("a", ["b"])


# ---- BIOS ------------------------------------------------------------------------------------------------------------


@cache
def profile() -> Profile:
    return library.load("xeon-performance", registry().catalogue)


@cache
def capture(name: str) -> BmcCapture:
    return read(name, None, "bmc_bios")


def place(name: str) -> str:
    (uri,) = [
        u
        for u, b in capture(name).bodies.items()
        if isinstance(b, Mapping) and "@Redfish.Settings" in b and b.get("Attributes") and "/systems/" in u.casefold()
    ]
    return uri


def altered(name: str, changes: Mapping[str, object], **more: object) -> BmcCapture:
    body: Any = capture(name).bodies[place(name)]
    changed = {**body, "Attributes": {**body["Attributes"], **changes}, **more}
    return BmcCapture({**capture(name).bodies, place(name): changed})


def judged(found: BmcCapture) -> dict[str, Verdict]:
    leaves = collect([bmc_probes()["bmc_bios"]], found)
    return {v.rule: v for v in judge(profile().own, Tree(leaves))}


def mended(found: BmcCapture) -> tuple[list[Patch], list[str]]:
    steps = remedies(profile().own, judged(found).values())
    made, left = patches(found.documents, [s for s in steps if isinstance(s, Firmware)], WORDS)
    return made, [each.rule for each in left]


@pytest.mark.parametrize("rule_id", CHANGES)
def test_the_body_names_the_one_attribute_and_once_applied_the_rule_passes(rule_id: str) -> None:
    attribute, spoilt, _ = CHANGES[rule_id]
    before: Any = capture(DELL).bodies[place(DELL)]
    found = altered(DELL, {attribute: spoilt})
    (patch,), left = mended(found)
    assert left == []
    assert patch.place == before["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
    assert patch.body["Attributes"] == {attribute: before["Attributes"][attribute]}
    assert patch.body["@Redfish.SettingsApplyTime"]["ApplyTime"] == "OnReset"
    assert {v.status for v in judged(altered(DELL, patch.body["Attributes"])).values()} == {Status.PASS}


SPOILT: Mapping[str, Mapping[str, object]] = {
    DELL: {attribute: value for attribute, value, _ in CHANGES.values()},
    SUPERMICRO: {"Hyper_Threading_ALL__F27F": "Disable", "AdjacentCachePrefetch_3C57": "Disable"},
    LENOVO: {},
    HPE_INTEL: {},
}
"""Wrong values in a recorded BIOS, beside what the profile finds in the original."""


@pytest.mark.parametrize("name", [SUPERMICRO, LENOVO, HPE_INTEL])
def test_other_makers_bodies_make_the_rules_pass_that_they_are_for(name: str) -> None:
    spoilt = altered(name, SPOILT[name])
    before = judged(spoilt)
    made, left = mended(spoilt)
    changes = [change for patch in made for change in patch.changes]
    after = judged(altered(name, {**SPOILT[name], **{c.attribute: c.value for c in changes}}))
    rules = {c.rule for c in changes}
    assert len(rules) >= 3
    assert {before[r].status for r in rules} <= {Status.FAIL, Status.WARN}
    assert {after[r].status for r in rules} == {Status.PASS}
    assert not rules & set(left)
    worse = {r for r in before if before[r].status is Status.PASS and after[r].status is not Status.PASS}
    assert worse <= {"bios.none_pending"}  # the copy's settings object still contains the earlier values


@pytest.mark.parametrize("name", [SUPERMICRO, LENOVO, DELL])
def test_every_value_of_a_body_is_one_that_the_makers_registry_allows(name: str) -> None:
    texts = [p.read_text("utf-8") for p in tree(name).rglob("*.json") if p.is_file() and "egistr" in str(p)]
    files = [json.loads(text) for text in texts if '"RegistryEntries"' in text]
    listed = [f["RegistryEntries"]["Attributes"] for f in files if isinstance(f, dict) and "RegistryEntries" in f]
    entries = {e["AttributeName"]: e for some in listed for e in some}
    made, _ = mended(altered(name, SPOILT[name]))
    changes = [c for patch in made for c in patch.changes if entries.get(c.attribute, {}).get("Value")]
    assert len(changes) >= 3
    unlisted = {"MemFrequency", "IntelSgx"}  # whose registry lists only their current value
    for change in changes:
        words = {v.get(k) for v in entries[change.attribute]["Value"] for k in ("ValueName", "ValueDisplayName")}
        assert change.value in words or change.attribute in unlisted


def test_the_registrys_allowed_values_override_the_table() -> None:
    entry: dict[str, Any] = {
        "AttributeName": "LogicalProc",
        "Value": [{"ValueName": "Enable"}, {"ValueName": "Disabled"}],
    }
    others = [{"AttributeName": a} for a in capture(DELL).bodies[place(DELL)]["Attributes"] if a != "LogicalProc"]  # type: ignore[index]
    book = {"/redfish/v1/Registries/B": {"Id": "B", "RegistryEntries": {"Attributes": [entry, *others]}}}
    found = altered(DELL, {"LogicalProc": "Disabled"})
    (patch,), _ = mended(BmcCapture({**found.bodies, **book}))
    assert patch.body["Attributes"] == {"LogicalProc": "Enable"}
    entry["ReadOnly"] = True
    made, left = mended(BmcCapture({**found.bodies, **book}))
    assert (made, left) == ([], ["bios.smt"])


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/x",
        "//evil/x",
        "/redfish/v1/../x",
        "/redfish/v1/$(id)",
        "/redfish/v1/a b",
        "/x",
        None,
        7,
        "'",
    ],
)
def test_a_settings_object_that_is_no_plain_place_of_this_bmc_is_not_written_to(uri: object) -> None:
    settings = {"@Redfish.Settings": {"SettingsObject": {"@odata.id": uri}}}
    made, left = mended(altered(DELL, {"LogicalProc": "Disabled"}, **settings))
    assert (made, left) == ([], ["bios.smt"])


def test_an_unknown_word_is_not_guessed() -> None:
    found = altered(LENOVO, {"Processors_UncoreFrequencyScaling": "Auto"})
    made, left = mended(found)
    assert "bios.uncore_frequency" in left
    assert "Processors_UncoreFrequencyScaling" not in {c.attribute for p in made for c in p.changes}


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stored run of the untuned R750, with hostile texts beside the real ones."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BMC_PASSWORD", "calvin")
    from rackcheck.cli import remedy as module  # noqa: PLC0415

    monkeypatch.setitem(cli.COMMANDS, "remedy", ("remedy", "remedy", "Write what would mend a run's findings."))
    assert module.remedy.name == "remedy"
    body: Any = resource(DELL, "/redfish/v1/Systems/System.Embedded.1/Bios")
    spoilt = {**body["Attributes"], "LogicalProc": "Disabled", "ProcCStates": "Autonomous", "Evil'$(id)": "$(reboot)"}
    with Mockup(
        tree(DELL), bodies={body["@odata.id"]: {**body, "Attributes": spoilt}}, ignore_case=DELL in ANY_CASE
    ) as bmc:
        nodes = "".join(
            f'  {n}: {{ bmc: {{ url: "{bmc.url}", fingerprint: "{bmc.fingerprint}" }} }}\n' for n in ("n1", "n2")
        )
        (tmp_path / "inventory.yaml").write_text(
            "rackcheck: 1\ndefaults:\n  bmc: { user: root, password: 'env:BMC_PASSWORD' }\nnodes:\n" + nodes
        )
        ours = tmp_path / "ours.yaml"
        ours.write_text("rackcheck: 1\nprofile: ours\nversion: 1\ninclude: [xeon-performance]\n")
        words = ("-p", ours, "-i", tmp_path / "inventory.yaml", "--planes", "bmc", "-q")
        assert rackcheck("audit", *words, "-o", tmp_path / "run").status == 1
    return tmp_path / "run"


def test_the_command_states_first_that_nothing_was_applied_and_folds_duplicates(run: Path) -> None:
    done = rackcheck("remedy", run)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("# Nothing was applied")
    assert done.out.count("body=") == 1
    assert '"LogicalProc": "Enabled"' in done.out
    assert '"ProcCStates": "Disabled"' in done.out
    assert done.out.count("-X PATCH") == 2
    assert "# n[1-2]: systemctl reboot" in done.out
    assert "calvin" not in done.out
    assert "root:" not in done.out
    assert "--netrc-file" in done.out
    assert "Evil" not in done.out
    checked = subprocess.run(["/bin/sh", "-n"], input=done.out, text=True, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert rackcheck("remedy", run).out == done.out


def test_json_and_a_folder_hold_the_same_and_a_folder_is_never_written_over(run: Path, tmp_path: Path) -> None:
    done = rackcheck("remedy", run, "--nodes", "n1", "--rule", "bios.smt", "--json", "-o", tmp_path / "mend")
    doc = json.loads(done.out)
    (bios,) = doc["bios"]
    assert doc["applied"] is False
    assert bios["body"]["Attributes"] == {"LogicalProc": "Enabled"}
    assert json.loads((tmp_path / "mend" / "n1.bios.json").read_text()) == bios["body"]
    script = (tmp_path / "mend" / "bmcs.sh").read_text()
    assert "set -eu" in script
    assert "--data @n1.bios.json" in script
    again = rackcheck("remedy", run, "-o", tmp_path / "mend")
    assert again.status == 2
    assert "never overwritten" in again.err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--nodes", "n3"), "no node n3 in this run; it has n[1-2]"),
        (("--nodes", "host"), "no node host in this run; it has n[1-2]"),
        (("--rule", "bios.smtt"), "did you mean bios.smt"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest(run: Path, words: tuple[str, ...], text: str) -> None:
    done = rackcheck("remedy", run, *words)
    assert done.status == 2
    assert text in done.err
