"""Reads a machine folder once for all nodes: data that nodes share, and data with placeholders for each node.

    machine.yaml      rackcheck: 1, machine: NAME, title: ..., hardware: text on what is unverified
    host/*.yaml       files: {PATH: text}, commands: {COMMAND: {out, err, status}}, refused: {PATH: denied}
    redfish/*.yaml    {URI: body}

PATH and URI are patterns (see `rackcheck.sim.machine_patterns`). A text may be written as a list of lines. If a body
has no `@odata.id`, its URI is added.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml

from rackcheck.base.user_error import UserError
from rackcheck.model.capture import PAYLOAD, Output
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import ROOT, Body, same_place
from rackcheck.profile.document import SIZE, BadFile, Problem, SourcePlace
from rackcheck.profile.library import text_of
from rackcheck.sim.machine_patterns import Stood, of_node
from rackcheck.sim.machine_yaml import SheetReader, composed

REFUSED = {"denied": Unknown(Reason.DENIED, "Permission denied")}
"""The result of reading an unreadable file, by the reason that a machine folder gives.

The detail of the result for an unreadable file is the error message of `head`.
"""

HEAD = ("rackcheck", "machine", "title", "hardware")
T = TypeVar("T")


@dataclass(frozen=True)
class TemplatePart(Generic[T]):
    """Data by path, command or URI: values that all nodes share, and values with placeholders such as `@{node}`."""

    still: dict[str, T] = field(default_factory=dict)
    moving: dict[str, T] = field(default_factory=dict)

    def add(self, key: str, answer: T) -> None:
        """Add one value; values with placeholders such as `@{node}` are kept apart from values that all nodes share."""
        (self.moving if _moves(key) or _moves(answer) else self.still)[key] = answer

    def has(self, key: str) -> bool:
        """Return whether there is already a value for this path, command or URI."""
        return key in self.still or key in self.moving

    def of(self, names: Mapping[str, str]) -> dict[str, T]:
        """Return the data of one node, with placeholders replaced; values without placeholders are not copied."""
        return {**self.still, **{of_node(key, names): _filled(answer, names) for key, answer in self.moving.items()}}


@dataclass(frozen=True)
class Template:
    """The data of one machine folder, from which its nodes are created."""

    name: str
    title: str
    hardware: str
    files: TemplatePart[str] = field(default_factory=TemplatePart)
    commands: TemplatePart[Output] = field(default_factory=TemplatePart)
    refused: TemplatePart[Unknown] = field(default_factory=TemplatePart)
    bodies: TemplatePart[Body] = field(default_factory=TemplatePart)


def _moves(value: object) -> bool:
    match value:
        case str():
            return "@{" in value
        case Output():
            return "@{" in value.out or "@{" in value.err
        case dict():
            return any(_moves(key) or _moves(inner) for key, inner in value.items())
        case list():
            return any(map(_moves, value))
    return False


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return of_node(value, names)
        case Output():
            return Output(value.status, of_node(value.out, names), of_node(value.err, names))
        case dict():
            return {of_node(key, names): _filled(inner, names) for key, inner in value.items()}
        case list():
            return [_filled(inner, names) for inner in value]
    return value


def read(folder: Path) -> Template:
    """Read a machine folder; raises BadFile with file, line and column, or UserError if the folder has no data."""
    template = _head(folder / "machine.yaml")
    for path in sorted((folder / "host").glob("*.yaml")):
        reader, root = _open(path)
        _host(reader, root, template)
    for path in sorted((folder / "redfish").glob("*.yaml")):
        reader, root = _open(path)
        for key, pattern, value in reader.pairs(root, "the file"):
            for uri, stood in reader.keys(key, pattern):
                body = reader.value(value, stood)
                if not (uri == ROOT or uri.startswith(f"{ROOT}/")) or same_place(uri) != uri:
                    raise reader.wrong(key, f"`{uri}` must be a URI below {ROOT}, without a slash at its end")
                if not isinstance(body, dict):
                    raise reader.wrong(value, f"the body of {uri} must be an object")
                _add(reader, key, template.bodies, uri, {"@odata.id": uri, **body})
    if not template.commands.still and not template.files.still and not template.bodies.still:
        raise UserError(f"{folder} has no data: no host/*.yaml and no redfish/*.yaml")
    return template


def _open(path: Path) -> tuple[SheetReader, yaml.Node]:
    file = f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
    text = text_of(path)
    if len(text) > SIZE:
        raise BadFile([Problem(SourcePlace(file, 1, 1), f"{len(text)} characters; the maximum is {SIZE}")])
    return SheetReader(file), composed(text, file)


def _head(path: Path) -> Template:
    reader, root = _open(path)
    given = {}
    for key, name, value in reader.pairs(root, "the file"):
        if name not in HEAD:
            raise reader.wrong(key, f"no such key: `{name}`; there are {', '.join(HEAD)}")
        if not isinstance(value, yaml.ScalarNode):
            raise reader.wrong(value, f"`{name}` must be a text")
        given[name] = value.value
    missing = [name for name in HEAD if name not in given]
    if missing:
        raise reader.wrong(root, f"lacks {', '.join(f'`{name}`' for name in missing)}")
    if given["rackcheck"] != "1":
        raise reader.wrong(root, f"`rackcheck` must be 1, the format that this version reads, not {given['rackcheck']}")
    return Template(given["machine"], given["title"], given["hardware"])


def _host(reader: SheetReader, root: yaml.Node, template: Template) -> None:
    for key, name, value in reader.pairs(root, "the file"):
        if name == "files":
            for at, path, node, stood in _paths(reader, value):
                _add(reader, at, template.files, path, reader.text(node, stood))
        elif name == "refused":
            for at, path, node, _ in _paths(reader, value):
                if not isinstance(node, yaml.ScalarNode) or node.value not in REFUSED:
                    raise reader.wrong(node, f"the reason for a refused file must be one of {', '.join(REFUSED)}")
                _add(reader, at, template.refused, path, REFUSED[node.value])
        elif name == "commands":
            for at, command, node in reader.pairs(value, "`commands`"):
                if PAYLOAD in command:
                    raise reader.wrong(at, "a command's key must end before the line `# payload`")
                _add(reader, at, template.commands, command, _output(reader, node))
        else:
            raise reader.wrong(key, f"no such key: `{name}`; there are files, commands, refused")


def _paths(reader: SheetReader, table: yaml.Node) -> Iterator[tuple[yaml.Node, str, yaml.Node, Stood]]:
    for key, pattern, value in reader.pairs(table, "this"):
        for path, stood in reader.keys(key, pattern):
            if not path.startswith("/"):
                raise reader.wrong(key, f"`{path}` does not begin with /")
            yield key, path, value, stood


def _output(reader: SheetReader, node: yaml.Node) -> Output:
    texts = {"out": "", "err": ""}
    status = 0
    for key, name, value in reader.pairs(node, "an answer"):
        if name in texts:
            texts[name] = reader.text(value, ())
        elif name == "status":
            given = reader.value(value, ())
            if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 255:
                raise reader.wrong(value, "an exit status must be a number from 0 to 255")
            status = given
        else:
            raise reader.wrong(key, f"no such key: `{name}`; there are out, err, status")
    return Output(status, texts["out"], texts["err"])


def _add(reader: SheetReader, at: yaml.Node, part: TemplatePart[T], key: str, answer: T) -> None:
    if part.has(key):
        raise reader.wrong(at, f"`{key}` occurs twice")
    part.add(key, answer)
