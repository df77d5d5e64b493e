"""A profile in an editor: a real yaml-language-server completes, explains and warns by our schema."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from editor_server import NODE, PROGRAM, Server
from places import ROOT

from rackcheck.probe.registry import registry
from rackcheck.profile.schema import profile

HEAD = "rackcheck: 1\nprofile: p\nversion: 1\n"
PROFILES = sorted(path for path in (ROOT / "profiles").glob("*.yaml") if path.stem != "sources")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    missing = [
        word
        for word, there in (("node", NODE), ("the server (npm ci --prefix tests/editor)", PROGRAM.is_file()))
        if not there
    ]
    if missing:
        text = f"profiles are NOT tried in an editor: {', '.join(missing)} missing"
        if os.environ.get("CI"):
            pytest.fail(text)
        pytest.skip(text)
    with Server(ROOT / "schemas" / "profile.schema.json") as opened:
        yield opened


def rule(*lines: str) -> str:
    """A profile with one rule, whose keys are these lines; `‸` is the cursor."""
    return f"{HEAD}rules:\n  r:\n" + "".join(f"    {line}\n" for line in lines)


def facts(collection: str = "") -> set[str]:
    """The facts of the node or, by their paths from there, of a collection's items."""
    start = f"{collection}/*." if collection else ""
    found = {
        path.removeprefix(start)
        for path, entry in registry().catalogue.entries.items()
        if path.startswith(start) and not path.endswith(".**") and entry.kind.type.value != "collection"
    }
    return {path for path in found if "*" not in path}


def test_a_fact_of_the_node_is_completed_with_its_help(server: Server) -> None:
    offered = server.offered(rule("fact: ‸"))
    assert facts() <= offered.keys()
    assert offered["memory.total"].endswith("(quantity GiB, os)")


@pytest.mark.parametrize("collection", ["gpu", "mount", "nic/*.port", "pcie"])
@pytest.mark.parametrize(
    "lines",
    [
        ("fact: ‸",), ("where:", "  fact: ‸"), ("all-of:", "  - fact: ‸"), ("any-of:", "  - { fact: a‸ }"),
        ("fact: { fact: a‸ }",),
    ],
)  # fmt: skip
def test_inside_a_look_the_items_facts_are_completed_and_no_others(
    server: Server, collection: str, lines: tuple[str, ...]
) -> None:
    offered = server.offered(rule(f"each: {collection}", *lines))
    assert facts(collection) <= offered.keys()
    assert not {"bios.smt", "sysctl.vm.swappiness", "kernel.tainted"} & offered.keys()


def test_a_condition_is_the_nodes_also_inside_a_look(server: Server) -> None:
    assert facts() <= server.offered(rule("each: gpu", "when: { fact: a‸ }")).keys()


@pytest.mark.parametrize("look", ["each", "any", "no", "count"])
def test_a_look_is_completed_with_the_collections(server: Server, look: str) -> None:
    offered = server.offered(rule(f"{look}: ‸"))
    assert {"gpu", "nic/*.port", "mount", "firmware.component"} <= offered.keys()
    assert "memory.total" not in offered


@pytest.mark.parametrize(
    "lines",
    [
        ("fact: bios.smt", "is: ‸"), ("fact: bios.smt", "one-of:", "  - ‸"), ("when:", "  fact: bios.smt", "  is-not: ‸"),
        ("all-of:", "  - fact: bios.smt", "    is: ‸"), ("fact: { fact: bios.smt, is: e‸ }",),
    ],
)  # fmt: skip
def test_a_bios_setting_is_completed_with_its_words(server: Server, lines: tuple[str, ...]) -> None:
    words = set(registry().catalogue.entries["bios.smt"].kind.words)
    assert words <= server.typed(rule(*lines)).keys()
    assert "x16" not in server.offered(rule(*lines))


def test_words_that_are_numbers_are_typed_without_quotes(server: Server) -> None:
    assert server.typed(rule("fact: bios.max_payload", "is: ‸"))["256"] == "256"


def test_a_closed_fact_of_an_item_is_completed_with_its_words(server: Server) -> None:
    words = set(registry().catalogue.entries["leak/*.state"].kind.words)
    assert words <= server.offered(rule("each: leak", "fact: state", "is: ‸")).keys()


def test_another_fact_is_completed_from_the_node_and_from_the_item(server: Server) -> None:
    offered = server.offered(rule("each: gpu", "fact: link.width", "same-as: ‸"))
    assert {".link.max_width", "bios.smt"} <= offered.keys()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (rule("severity: ‸"), {"blocker", "major", "minor", "advisory"}), (rule("scope: ‸"), {"node", "rack", "fleet"}),
        (rule("role: ‸"), {"any", "compute", "nvswitch-tray"}), (rule("refs:", "  - ‸"), {"tuned.throughput"}),
        (rule("across:", "  facts:", "    - ‸"), {"bios.*", "firmware.*", "memory.total", "gpu/*.vbios"}),
        (f"{HEAD}extends: ‸\n", {"linux-server@2026.11", "h100-dgx@2026.11"}),
        (f"{HEAD}include:\n  - ‸\n", {"bios-settled@2026.11"}),
    ],
)  # fmt: skip
def test_whatever_is_chosen_from_a_list_is_completed(server: Server, text: str, words: set[str]) -> None:
    assert words <= server.offered(text).keys()


def test_a_key_is_completed_with_what_it_is_for(server: Server) -> None:
    offered = server.offered(rule("‸"))
    assert set(profile()["properties"]["rules"]["additionalProperties"]["properties"]) <= offered.keys()
    assert offered["allow-failing"] == "With each: the number of items that may fail."
    assert server.typed(rule("‸"))["fact"] == "fact: "


def test_the_fact_under_the_pointer_is_described_first(server: Server) -> None:
    text = server.hover(rule("fact: memory.to‸tal", "at-least: 1 GiB"))
    assert re.findall(r"^\* `([^`]+)`", text, re.MULTILINE)[0] == "memory.total"
    assert "quantity GiB" in text
    assert "bios.smt" not in text
    assert "must pass" in server.hover(rule("ea‸ch: gpu", "fact: vbios", "is: 1"))


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_a_shipped_profile_is_warned_of_nothing(server: Server, path: Path) -> None:
    assert server.warned(path.read_text(encoding="utf-8")) == []


def test_paths_that_no_catalogue_can_list_are_warned_of_nothing(server: Server) -> None:
    text = rule(
        "fact: 'pcie/\"0000:17:00.0\".link.width'", "same-as: sysctl.some.other", "refs: [our.own]", "role: ours"
    )
    assert server.warned(f"{text}extends: ours@7\n") == []


def test_a_key_that_there_is_not_is_warned_of(server: Server) -> None:
    assert server.warned(rule("fact: memory.total", "at-leest: 1 GiB")) == ["Property at-leest is not allowed."]


def test_the_server_is_the_version_that_the_lock_names() -> None:
    lock = json.loads((ROOT / "tests" / "editor" / "package-lock.json").read_text(encoding="utf-8"))
    wanted = json.loads((ROOT / "tests" / "editor" / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert lock["packages"]["node_modules/yaml-language-server"]["version"] == wanted["yaml-language-server"]
