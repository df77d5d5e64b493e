"""Reads waiver files, and locates every error; adds waivers at the end of a file, so that diffs are small."""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from secrets import token_hex

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.evaluate.waiver import Pin, Waiver
from rackcheck.inventory.nodeset import unfold
from rackcheck.model.fold import fold
from rackcheck.model.regex import regex
from rackcheck.profile.document import SIZE, BadFile, Problem, SourcePlace, YamlMapping, YamlSequence
from rackcheck.profile.document import read as read_yaml
from rackcheck.profile.layers import texts, word
from rackcheck.profile.schema import waivers as schema
from rackcheck.profile.schema_check import conform

NAME = regex(r"[A-Za-z0-9][A-Za-z0-9_.-]*\.ya?ml")
"""Regular expression for the name of a waiver file; its copies in runs and acceptances have the same name."""

FOUND = "waivers.yaml"
"""The waiver file in the working folder that is read by default."""

_SPELT = regex(r'"[^"\n]*\\')
"""Matches a double quote and a later backslash on the line: the line may contain a YAML key with escapes."""

HEAD = "rackcheck: 1\nwaivers:\n"


@dataclass(frozen=True)
class File:
    """A waiver file, or a profile's file that contains waivers: the name, the text, and the waivers."""

    name: str
    text: str
    waivers: tuple[Waiver, ...]

    @property
    def digest(self) -> str:
        """The SHA-256 of the file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load(path: Path) -> File:
    """Read a waiver file; raises UserError if it cannot be read, BadFile if it is not valid."""
    named(path)
    text = safe_read.text(path, SIZE)
    return File(path.name, text, read(text, path.name))


def named(path: Path) -> None:
    """Raise UserError if the name of a waiver file is not valid."""
    if NAME.fullmatch(path.name) is None:
        raise UserError(f"{path}: the name of a waiver file has letters, digits, dots and hyphens, and ends in .yaml")


def write(path: Path, before: str, text: str) -> None:
    """Write a waiver file completely or not at all; its owner and mode are kept. Raises UserError.

    If the path is a link, the link is kept and its target is written. Nothing is written if the file does not have the
    text `before` any more (empty for a file that did not exist), so that no waiver is lost that was added meanwhile.
    """
    try:
        target = path.resolve()
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    except (OSError, RuntimeError) as error:  # RuntimeError: a cycle of links
        raise _unwritten(path, error) from None
    try:
        with suppress(OSError):  # some network file systems have no locks of folders
            fcntl.flock(folder, fcntl.LOCK_EX)
        if (safe_read.text(target, SIZE) if target.exists() else "") != before:
            raise UserError(f"{path} was changed meanwhile; nothing is written: repeat the command")
        _write(path, target, text)
    finally:
        os.close(folder)


def _write(path: Path, target: Path, text: str) -> None:
    fresh: Path | None = None
    try:
        # The temporary file, which a power failure may leave behind, does not have the name of a waiver file.
        beside = target.with_name(f".{target.name}.{token_hex(8)}.new")
        with beside.open("x", encoding="utf-8") as file:
            fresh = beside
            _own(file.fileno(), target)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(target)
    except OSError as error:
        if fresh is not None:
            fresh.unlink(missing_ok=True)
        raise _unwritten(path, error) from None


def _unwritten(path: Path, error: Exception) -> UserError:
    return UserError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}")


def _own(handle: int, target: Path) -> None:
    """Give an open file the owner and the mode of the file that it replaces, if that file exists."""
    try:
        before = target.stat()
    except FileNotFoundError:
        return
    with suppress(PermissionError):  # only root may change a file's owner
        os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, before.st_mode & 0o777)


def read(text: str, shown: str) -> tuple[Waiver, ...]:
    """Read the text of a waiver file; raises BadFile with all errors."""
    return _granted(conform(read_yaml(text, shown), schema()))


def within(files: Mapping[str, str]) -> tuple[File, ...]:
    """Return the files of a profile that contain waivers; raises BadFile with all errors.

    `files` maps names of files to their texts; the form of the texts is already validated, because the profile was
    loaded.
    """
    found: list[File] = []
    problems: list[Problem] = []
    for name, text in files.items():
        if "waivers" not in text and not _SPELT.search(text):  # reading is slow
            continue
        table = read_yaml(text, name)
        try:
            granted = _granted(table) if isinstance(table, YamlMapping) else ()
        except BadFile as error:
            problems += error.problems
        else:
            found += [File(name, text, granted)] if granted else []
    if problems:
        raise BadFile(problems)
    return tuple(found)


def own(files: Mapping[str, str]) -> tuple[Waiver, ...]:
    """Return all waivers in the files of a profile; raises BadFile with all errors."""
    return tuple(waiver for file in within(files) for waiver in file.waivers)


def fingerprint(files: Iterable[File]) -> str:
    """Return the SHA-256 of the waivers in a profile's files, without line numbers; empty if there are no waivers."""
    rows = [[file.name, [asdict(replace(waiver, place="")) for waiver in file.waivers]] for file in files]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest() if rows else ""


def _granted(table: YamlMapping) -> tuple[Waiver, ...]:
    listed = table.get("waivers")
    problems: list[Problem] = []
    found: list[Waiver] = []
    first: dict[tuple[str, str, Pin], SourcePlace] = {}
    for entry in listed.items if isinstance(listed, YamlSequence) else ():
        assert isinstance(entry, YamlMapping)
        waiver = _waiver(entry, problems)
        for node in waiver.nodes:
            for pin in waiver.pins:
                before = first.setdefault((waiver.rule, node, pin), entry.place)
                if before is not entry.place:
                    message = f"{waiver.rule} on {node} is waived twice for {pin.item}; first at line {before.line}"
                    problems.append(Problem(entry.place, message))
        found.append(waiver)
    if problems:
        raise BadFile(problems)
    return tuple(found)


def _waiver(entry: YamlMapping, problems: list[Problem]) -> Waiver:
    pins = entry.items["only-while"]
    nodes: list[str] = []
    for scalar in texts(entry, "nodes"):
        try:
            nodes += unfold(scalar.text)
        except UserError as error:
            problems.append(Problem(scalar.place, str(error)))
    until = entry.items["until"]
    try:
        date.fromisoformat(word(entry, "until"))
    except ValueError:
        problems.append(Problem(until.place, f"no such day: {word(entry, 'until')}"))
    empty = [key for key in ("by", "ticket", "reason") if not word(entry, key).strip()]
    problems += [Problem(entry.items[key].place, f"`{key}` is empty: a waiver needs one") for key in empty]
    rows = [pin for pin in (pins.items if isinstance(pins, YamlSequence) else (pins,)) if isinstance(pin, YamlMapping)]
    return Waiver(
        word(entry, "rule"), word(entry, "rule-hash"), tuple(dict.fromkeys(nodes)),
        tuple(Pin(word(pin, "item"), word(pin, "observed")) for pin in rows), word(entry, "until"), word(entry, "by"),
        word(entry, "ticket"), word(entry, "reason"), f"{entry.place.file}:{entry.place.line}",
    )  # fmt: skip


def added(text: str, waivers: Iterable[Waiver]) -> str:
    """Return the text of a file with waivers added at the end; other text is unchanged, except an empty list `[]`."""
    before = re.sub(r"(?m)^waivers:[ \t]*\[[ \t]*\][ \t]*$", "waivers:", text) if text.strip() else HEAD
    return before + ("" if before.endswith("\n") else "\n") + "".join(map(_entry, waivers))


def _entry(waiver: Waiver) -> str:
    pins = "".join(
        f"      - item: {_scalar(pin.item)}\n        observed: {_scalar(pin.observed)}\n" for pin in waiver.pins
    )
    return (
        f"  - rule: {_scalar(waiver.rule)}\n"
        f"    rule-hash: {waiver.digest}\n"
        f"    nodes: {_scalar(fold(waiver.nodes))}\n"
        f"    only-while:\n{pins}"
        f"    until: {waiver.until}\n"
        f"    by: {_scalar(waiver.by)}\n"
        f"    ticket: {_scalar(waiver.ticket)}\n"
        f"    reason: {_scalar(waiver.reason)}\n"
    )


def _scalar(text: str) -> str:
    """Format a text as YAML: plain if that is surely safe, else in double quotes."""
    if re.fullmatch(r"[A-Za-z](?:[A-Za-z0-9 _./@+\[\]-]*[A-Za-z0-9_./@+\]-])?", text) and "  " not in text:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
