"""The published schemas: generated, valid, without oneOf, and true of the files we ship."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from rackcheck.schema import FILES

ROOT = Path(__file__).parents[1]


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


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_valid_and_has_no_one_of(name: str) -> None:
    schema = committed(name)
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
