"""Imports the output of `ansible-inventory --list`: JSON with `_meta.hostvars`, and groups with child groups."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.inventory.importers.taken import ImportedNodes, Taken
from rackcheck.model.fact import clean
from rackcheck.model.regex import regex
from rackcheck.profile.document import BadFile, Problem, SourcePlace

_CARD = r"(?:bmc|ipmi|redfish|idrac|ilo|xcc|oob)"
_BMC = regex(rf"{_CARD}_(?:address|addr|host|hostname|ip|url|uri)")
_BMC_USER = regex(rf"{_CARD}_(?:user|username)")
_BMC_PASSWORD = regex(rf"{_CARD}_(?:pass|passwd|password)")
_SSH_PASSWORD = frozenset({"ansible_password", "ansible_ssh_pass", "ansible_ssh_password"})
_SSH_ARGS = frozenset({"ansible_ssh_common_args", "ansible_ssh_extra_args"})
_JUMP = regex(r"(?:-J ?|-o ?[Pp]roxy[Jj]ump[= ])([^\s=]+)")
"""One argument of `ssh` with the jump hosts: `-J a,b`, `-o ProxyJump=a,b`."""

_WORDS = {
    "ansible_host": "host",
    "ansible_ssh_host": "host",
    "ansible_user": "ssh.user",
    "ansible_ssh_user": "ssh.user",
    "ansible_port": "ssh.port",
    "ansible_ssh_port": "ssh.port",
    "ansible_ssh_private_key_file": "ssh.key",
    "ansible_private_key_file": "ssh.key",
    "role": "role",
    "rack": "rack",
    "rack_u": "u",
    "rack_unit": "u",
    "rack_position": "u",
}
"""Maps variables of Ansible to the keys of rackcheck's inventory that have the same meaning."""

_NAME = regex(r"\{\{\s*inventory_hostname\s*\}\}")
"""The only template that is resolved, because its meaning is unambiguous; `ansible-inventory` resolves no templates."""

_OWN = frozenset({"_meta", "all", "ungrouped"})


def read(text: str, source: str) -> Taken:
    """Read the output of `ansible-inventory --list`; raises BadFile or UserError on anything else."""
    root = _json(text, source)
    meta = root.get("_meta")
    hostvars = meta.get("hostvars") if isinstance(meta, dict) else None
    variables: Mapping[str, Any] = hostvars if isinstance(hostvars, dict) else {}
    groups = {name: _group(body) for name, body in root.items() if name != "_meta"}
    found = ImportedNodes(source)
    for name in dict.fromkeys([*variables, *(host for hosts, _ in groups.values() for host in hosts)]):
        if found.node(name):
            value = variables.get(name)
            _host(found, name, value if isinstance(value, dict) else {})
    for name, body in root.items():
        if name not in _OWN:
            if isinstance(body, dict) and body.get("vars"):
                found.note("the variables of a group were not imported (run ansible-inventory without --export)", name)
            found.group(name, _members(name, groups))
    return found.finish()


def _json(text: str, source: str) -> dict[str, Any]:
    try:
        root = json.loads(text)
    except json.JSONDecodeError as error:
        place = SourcePlace(source, error.lineno, error.colno)
        words = f"not JSON ({error.msg}): expected the output of ansible-inventory --list"
        raise BadFile([Problem(place, words)]) from None
    except (RecursionError, ValueError):  # too deep nesting, or a number with more digits than Python reads
        raise UserError(f"{source}: the JSON is nested too deeply, or a number in it has too many digits") from None
    if not isinstance(root, dict):
        raise UserError(f"{source} is not the output of ansible-inventory --list, which is a table of groups")
    return root


def _group(body: object) -> tuple[list[str], list[str]]:
    """Return the hosts and the child groups of a group; an old inventory script prints a group as a list of hosts."""
    if isinstance(body, list):
        return _strings(body), []
    if not isinstance(body, dict):
        return [], []
    return _strings(body.get("hosts")), _strings(body.get("children"))


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _members(name: str, groups: Mapping[str, tuple[list[str], list[str]]]) -> list[str]:
    """Return the hosts of a group and of all groups below it.

    Each group is visited only once, even if groups form a cycle.
    """
    seen, todo = {name}, [name]
    hosts: dict[str, None] = {}
    while todo:
        own, children = groups.get(todo.pop(), ([], []))
        hosts |= dict.fromkeys(own)
        todo += [child for child in children if child not in seen]
        seen |= set(children)
    return list(hosts)


def _host(found: ImportedNodes, name: str, variables: Mapping[str, Any]) -> None:
    found.set(name, "host", name)
    for variable, given in variables.items():
        value = _NAME.sub(name, given) if isinstance(given, str) else given
        if variable in _WORDS:
            if isinstance(value, str) and "{{" in value:
                found.note(f"left out: {variable} is a template, which the import does not resolve", name)
            else:
                found.set(name, _WORDS[variable], value)
        elif _BMC.fullmatch(variable):
            found.bmc(name, value)
        elif _BMC_USER.fullmatch(variable):
            found.set(name, "bmc.user", value)
        elif _BMC_PASSWORD.fullmatch(variable):
            found.password(name, "bmc.password", None)
        elif variable in _SSH_PASSWORD:
            found.password(name, "ssh.password", None)
        elif variable in _SSH_ARGS:
            _arguments(found, name, variable, value)
        elif variable == "ansible_connection":
            _connection(found, name, value)
        else:
            found.leave(variable, name)
    if variables.get("ansible_connection") == "local":
        found.set(name, "host", "localhost")


def _arguments(found: ImportedNodes, name: str, variable: str, value: object) -> None:
    """Import the jump hosts among the arguments of `ssh`; other arguments are left out, with a note."""
    try:
        words = iter(shlex.split(value) if isinstance(value, str) else [""])
    except ValueError:
        words = iter([""])
    for word in words:
        option = f"{word} {next(words, '')}" if word in {"-J", "-o"} else word
        jumps = _JUMP.fullmatch(option)
        if jumps is not None:
            found.set(name, "ssh.jump", jumps[1])
        else:
            found.note(f"left out: {variable}, except jump hosts; put other options into your ~/.ssh/config", name)


def _connection(found: ImportedNodes, name: str, value: object) -> None:
    if value not in {"ssh", "smart", "paramiko", "paramiko_ssh", "local"}:
        found.note(f"rackcheck uses SSH, while Ansible uses {clean(str(value), 40)}", name)
