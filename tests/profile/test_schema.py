"""The published schemas: generated, valid, without oneOf, and met by the shipped files."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from places import ROOT

from rackcheck.profile.schema import FILES, profile


def committed(name: str) -> Any:
    return json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text())


class Modern(yaml.SafeLoader):
    """Reads YAML 1.2's core types as editors do: `no` is a text there, numbers and booleans are not."""


Modern.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not (tag.endswith(":bool") and first not in "tTfF")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def modern(text: str) -> Any:
    return yaml.load(text, Loader=Modern)


@pytest.mark.parametrize("name", FILES)
def test_the_committed_schema_is_the_generated_one(name: str) -> None:
    assert committed(name) == json.loads(json.dumps(FILES[name]()))


@pytest.mark.parametrize("name", [*FILES, "profile"])
def test_a_schema_is_valid_and_has_no_one_of(name: str) -> None:
    schema = committed(name) if name in FILES else profile()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "oneOf" not in json.dumps(schema)
    assert "anyOf" not in json.dumps(schema)


@pytest.mark.parametrize("path", sorted((ROOT / "profiles").glob("*.yaml")), ids=lambda p: p.stem)
def test_shipped_files_conform_as_an_editor_reads_them(path: Path) -> None:
    kind = "sources" if path.stem == "sources" else "profile"
    document = modern(path.read_text())
    assert list(jsonschema.Draft202012Validator(committed(kind)).iter_errors(document)) == []


def test_the_linux_profile_has_thirty_rules_each_with_why_fix_and_source() -> None:
    rules = modern((ROOT / "profiles" / "linux-server.yaml").read_text())["rules"]
    assert len(rules) >= 30
    assert [
        rule for rule, words in rules.items() if not {"title", "why", "fix", "refs", "severity"} <= words.keys()
    ] == []


EXAMPLE = """\
rackcheck: 1
inventory: pod7
defaults:
  ssh: { user: audit, port: 2222, key: ~/.ssh/id_ed25519, known-hosts: known_hosts }
  bmc: { user: root, password: env:BMC }
racks:
  a01: { row: A, type: rack-48u }
nodes:
  dgx-[01-08]: { role: compute, rack: a01, host: "{node}.mgmt", bmc: { url: "https://{node}-bmc" } }
  dgx-03:      { u: 21, bmc: { url: "https://10.9.3.14", fingerprint: "AB:CD" } }
"""


def errors(name: str, text: str) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(committed(name)).iter_errors(modern(text))]


def test_an_inventory_conforms_as_an_editor_reads_it() -> None:
    assert errors("inventory", EXAMPLE) == []
    assert errors("inventory", EXAMPLE.replace("port: 2222", "port: $port")) != []


@pytest.mark.parametrize(
    ("rule", "fits"),
    [
        ("{ fact: a.b, is: 8 }", True), ("{ fact: a.b, is: true }", True), ("{ fact: a.b, at-least: 28.10 }", True),
        ("{ fact: { fact: a.b, is: 8 } }", True), ("{ fact: { fact: a.b } }", False), ("{ fact: { is: 8 } }", False),
        ("{ each: a, expect-count: $n, fact: b, equal: true }", True), ("{ each: a, all-of: [{ fact: b, equal: true }] }", True),
        ("{ each: a, any-of: [{ fact: b, equal: true }] }", False), ("{ fact: a.b, iss: 8 }", False),
        ("{ fact: a.b, is: [8] }", False), ("{ fact: a.b, one-of: 8 }", False), ("{ fact: a.b, mask: { bits: 1 } }", False),
        ("{ fact: a.b, within: { of: 8, by: 1 } }", True), ("{ drop: two BIOS trains }", True),
    ],
)  # fmt: skip
def test_an_editor_distinguishes_a_rule_from_an_error(rule: str, fits: bool) -> None:
    text = f"rackcheck: 1\nprofile: p\nversion: 2026.11\nrules:\n  r: {rule}\n"
    assert (errors("profile", text) == []) is fits
