"""Imports nodes from CSV: the header contains rackcheck's keys or common names for them, and each row is one node."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rackcheck.base.user_error import UserError
from rackcheck.inventory.importers.taken import ImportedNodes, Taken
from rackcheck.model.fact import clean
from rackcheck.profile.document import BadFile, Problem, SourcePlace

_WORDS = {
    "name": "name", "node": "name", "node_name": "name", "nodename": "name",
    "host": "host", "hostname": "host", "address": "host", "ip": "host", "ip_address": "host", "mgmt_ip": "host",
    "role": "role", "rack": "rack", "rack_name": "rack",
    "u": "u", "unit": "u", "rack_unit": "u", "ru": "u", "position": "u", "rack_position": "u",
    "height": "height", "u_height": "height", "slot": "slot", "pdu": "pdu", "power": "power",
    "user": "ssh.user", "ssh_user": "ssh.user", "port": "ssh.port", "ssh_port": "ssh.port",
    "key": "ssh.key", "ssh_key": "ssh.key", "password": "ssh.password", "ssh_password": "ssh.password",
    "bmc": "bmc.url", "bmc_url": "bmc.url", "bmc_ip": "bmc.url", "bmc_host": "bmc.url", "bmc_hostname": "bmc.url",
    "bmc_address": "bmc.url", "ipmi": "bmc.url", "ipmi_ip": "bmc.url", "ipmi_address": "bmc.url", "idrac_ip": "bmc.url",
    "ilo_ip": "bmc.url", "oob_ip": "bmc.url",
    "bmc_user": "bmc.user", "bmc_username": "bmc.user", "ipmi_user": "bmc.user",
    "bmc_password": "bmc.password", "bmc_pass": "bmc.password", "ipmi_password": "bmc.password",
    "bmc_fingerprint": "bmc.fingerprint", "bmc_ca": "bmc.ca",
}  # fmt: skip
"""Maps column headers (in lower case, with _ for blanks and hyphens) to keys of the inventory."""

_NUMBERS = {
    "u": re.compile(r"(?:[Uu]\s?)?([0-9]{1,9})"),
    "height": re.compile(r"([0-9]{1,9})(?:\s?[Uu])?"),
    "ssh.port": re.compile(r"([0-9]{1,9})"),
}
"""Patterns of numbers as spreadsheets contain them: `17` or `U17` for a rack unit, `8` or `8U` for a height."""

COLUMNS = 200
"""Maximum number of columns."""


def read(text: str, source: str) -> Taken:
    """Read a table; raises BadFile with the line of each invalid row."""
    head, rows = _table(text, source)
    keys, by_host = _keys(head, source)
    found = ImportedNodes(source)
    problems: list[Problem] = []
    lines: dict[str, int] = {}
    for starts, row in rows:
        places = [SourcePlace(source, *start) for start in starts]
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(head):
            problems.append(Problem(places[0], f"{len(row)} cells; the header has {len(head)}"))
            continue
        cells = [cell.strip() for cell in row]
        at = keys.index("name")
        name, place = cells[at], places[at]
        if name in lines:
            problems.append(Problem(place, f"{clean(name, 60)} occurs twice; it is also in line {lines[name]}"))
        elif not found.node(name):
            problems.append(Problem(place, f"{clean(name, 60)!r} cannot be a node's name"))
        else:
            lines[name] = place.line
            problems += _row(found, name, list(zip(head, keys, cells, places, strict=True)), by_host=by_host)
    if problems:
        raise BadFile(problems)
    return found.finish()


Starts = list[tuple[int, int]]
"""The position at which each cell of a row begins: line and column, counted from 1."""


def _table(text: str, source: str) -> tuple[list[str], Iterator[tuple[Starts, list[str]]]]:
    """Return the header, and each row with the positions of its cells; the separator is detected in the first line."""
    lines = text.splitlines(keepends=True)
    mark = max(",;\t|", key=next((line for line in lines if line.strip()), "").count)
    reader = csv.reader(lines, delimiter=mark, strict=True)

    def rows() -> Iterator[tuple[Starts, list[str]]]:
        before = 0
        try:
            for row in reader:
                starts = _starts(lines[before : reader.line_num], before + 1, mark)
                yield (starts + starts[-1:] * len(row))[: max(len(row), 1)], row
                before = reader.line_num
        except csv.Error as error:
            raise BadFile([Problem(SourcePlace(source, max(reader.line_num, 1), 1), f"not CSV: {error}")]) from None

    walk = rows()
    head = next((row for _, row in walk if any(cell.strip() for cell in row)), None)
    if head is None:
        raise UserError(f"{source} is empty")
    if len(head) > COLUMNS:
        raise UserError(f"{source} has {len(head)} columns; the maximum is {COLUMNS}")
    return [cell.strip() for cell in head], walk


def _starts(lines: Sequence[str], first: int, mark: str) -> Starts:
    """Return the positions of a row's cells.

    As in Python's `csv`, only a quote at the beginning of a cell opens a quoted cell.
    """
    found, state = [(first, 1)], "start"
    for number, line in enumerate(lines, first):
        for column, letter in enumerate(line, 1):
            if letter == '"' and state in {"start", "closed"}:
                state = "quoted"  # also a second quote in a cell: two quotes are an escaped quote
            elif state == "quoted":
                state = "closed" if letter == '"' else state
            elif letter == mark:
                state = "start"
                found.append((number, column + 1))
            else:
                state = "plain"
    return found


def _keys(head: Sequence[str], source: str) -> tuple[list[str], bool]:
    """Return the inventory key of each column, and whether hosts are used as node names.

    A column with an unknown header gets an empty key. Raises BadFile if there is no column for names, or if two columns
    have the same key.
    """
    keys = [_WORDS.get(re.sub(r"[\s_-]+", "_", cell.casefold()), "") for cell in head]
    place = SourcePlace(source, 1, 1)
    by_host = "name" not in keys and "host" in keys
    if by_host:
        keys[keys.index("host")] = "name"
    if "name" not in keys:
        shown = clean(", ".join(head))
        raise BadFile([Problem(place, f"no column `name` in the header: {shown}")])
    twice = [key for key, count in Counter(keys).items() if key and count > 1]
    if twice:
        raise BadFile([Problem(place, f"two columns for `{key}`") for key in twice])
    return keys, by_host


def _row(
    found: ImportedNodes, name: str, cells: Sequence[tuple[str, str, str, SourcePlace]], *, by_host: bool
) -> Iterator[Problem]:
    has_host = has_bmc = False
    for column, key, cell, place in cells:
        if not cell or key == "name":
            continue
        if key in _NUMBERS:
            number = _NUMBERS[key].fullmatch(cell)
            if number is None:
                yield Problem(place, f"`{clean(column, 60)}` is a number, not {clean(cell, 60)!r}")
            else:
                found.set(name, key, number[1])
        elif not key:
            found.leave(column or "(a column without a name)", name)
        elif key.endswith("password"):
            found.password(name, key, cell)
        elif key == "bmc.url":
            found.bmc(name, cell)
            has_bmc = True
        else:
            found.set(name, key, cell)
            has_host = has_host or key == "host"
    if not has_host and (by_host or not has_bmc):
        found.set(name, "host", name)
