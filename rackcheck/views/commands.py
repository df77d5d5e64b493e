"""Formats commands for the user to copy, which read a fact or fix a finding; rackcheck never runs these commands. Pure.

Hosts, files and addresses may come from an untrusted run, so all of them are quoted. A command that cannot be copied
unchanged is shown as a comment. Only commands of installed probes are shown. No command contains a secret.
"""

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from urllib.parse import quote, urlsplit

from rackcheck.evaluate.verdict import Verdict
from rackcheck.inventory import BmcAccess, Node
from rackcheck.model import operator
from rackcheck.model.capture import PAYLOAD, named
from rackcheck.model.documents import HANDSHAKE, Documents
from rackcheck.model.fact import Absent, Plane, Unknown, clean
from rackcheck.model.fold import fold
from rackcheck.model.profile import Rule
from rackcheck.model.question import Read, Redfish, Shell
from rackcheck.model.resource import ROOT
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.contract import AnyProbe
from rackcheck.remedy.bios import patches
from rackcheck.remedy.fixes import ByHand, Firmware, Lines, by_hand, remedies
from rackcheck.remedy.text import BmcOrder, RemedyText, text
from rackcheck.remedy.words import SettingTable
from rackcheck.run.event import facts_json

UNCHECKED = "# this command does not check the certificate"

ANYBODY = '"$USER"'
"""Shell variable that is used if no BMC user is configured; curl prompts for the password."""


def line(source: str, plane: Plane, node: Node, probe: AnyProbe | None = None) -> str:
    """Format the command that reads a fact at its source; a script has several lines.

    `probe` is the probe that provides the fact: only its commands are shown, and it determines whether sudo is needed.
    Lines that begin with `#` are comments.
    """
    if plane is Plane.DERIVED:
        return f"# derived from other facts: {clean(source.removeprefix('from '))}"
    if plane is Plane.BMC:
        return _bmc(source, node, probe)
    remote = question(source, probe, sudo=node.ssh.sudo)
    if remote is None or remote.startswith("#"):
        message = remote or f"# this version of rackcheck does not run this command: {clean(source)}"
        again = f"\nrackcheck probe run {_word(probe.name)} {_word(node.name)} --raw" if probe is not None else ""
        return message + (again if _typed(node.name) else "")
    return over_ssh(node, remote)


def question(source: str, probe: AnyProbe | None = None, *, sudo: bool = True) -> str | None:
    """Return the shell command that reads a fact on the node; None if there is no command for the source.

    If the probe's command contains a program of rackcheck, or uses variables that rackcheck sets, a comment is
    returned.
    """
    ask = probe.ask if probe is not None else None
    if isinstance(ask, Shell) and (source == named(ask.command) or not source.startswith("/")):
        if PAYLOAD in ask.command or "$RACKCHECK_" in ask.command:
            return f"# rackcheck reads this with its own program: {clean(source, 80)}"
        return _each(ask, sudo=sudo)
    globs = [source] if " " not in source else re.split(r",? ", source)
    if isinstance(ask, Read) and source == str(ask):
        globs = list(ask.globs)
    if not all(glob.startswith("/") and _typed(glob) for glob in globs):
        return None
    if any(re.search(r"[*?\[]", glob) for glob in globs) or len(globs) > 1:
        return f"head -v -- {' '.join(map(_glob, globs))}"
    return f"cat -- {shlex.quote(source)}"


def _each(ask: Shell, *, sudo: bool) -> str:
    """Format a command as the probe runs it; a command that is run for each device is shown in a loop."""
    root = "sudo -n " if ask.root and sudo else ""
    if not ask.each:
        return f"{root}{ask.command}"
    command = f"{root}{ask.command}".replace("{}", '"${f##*/}"')
    return f'for f in {" ".join(map(_glob, ask.each.split()))}; do [ ! -e "$f" ] || {command}; done'


def _glob(glob: str) -> str:
    """Quote a glob except for its wildcards."""
    parts = re.split(r"(\*|\?|\[[0-9A-Za-z-]+\])", glob)
    return "".join(part if at % 2 else shlex.quote(part) if part else "" for at, part in enumerate(parts))


def over_ssh(node: Node, remote: str) -> str:
    """Format an ssh command that runs a command on a node; jump hosts are taken from the user's SSH configuration."""
    if node.is_local:
        return remote
    if not node.host:
        return f"# the inventory has no host for {clean(node.name)}"
    place = f"{node.ssh.user}@{node.host}" if node.ssh.user else node.host
    words = ["ssh"]
    words += ["-p", str(node.ssh.port)] if node.ssh.port else []
    words += ["-i", node.ssh.key] if node.ssh.key else []
    words += ["-o", f'UserKnownHostsFile="{node.ssh.known_hosts}"'] if node.ssh.known_hosts else []
    if not all(map(_typed, (*words, place))):
        return f"# the address of {clean(node.name)} contains characters that cannot be typed: {clean(place)}"
    return " ".join([*map(_word, words), "--", _word(place), shlex.quote(remote)])


def _bmc(source: str, node: Node, probe: AnyProbe | None) -> str:
    if node.bmc is None or not _is_url(node.bmc.url):
        return f"# the inventory has no https address for the BMC of {clean(node.name)}"
    if source.startswith(HANDSHAKE):
        return _handshake(node.bmc)
    if source.startswith(ROOT):
        return get(node.bmc, source.partition("#")[0])
    links = source if probe is None or not isinstance(probe.ask, Redfish) else str(probe.ask)
    return f"# several resources, linked from the root: {clean(links)}\n{get(node.bmc, ROOT)}"


def get(bmc: BmcAccess, uri: str) -> str:
    """Format a curl command that reads one resource, and prompts for the password."""
    place = bmc.url.rstrip("/") + quote(uri, safe="/%?&=$@:~!*'(),;+-._", errors="replace")
    user = shlex.quote(bmc.user) if bmc.user and ":" not in bmc.user and _typed(bmc.user) else ANYBODY
    trust = f"--cacert {_word(bmc.ca)}" if bmc.ca and _typed(bmc.ca) else "--insecure"
    line = f"curl -sS -g {trust} -u {user} -- {shlex.quote(place)}"
    return line if trust != "--insecure" else f"{UNCHECKED}\n{line}"


def _handshake(bmc: BmcAccess) -> str:
    place = urlsplit(bmc.url)
    host = f"[{place.hostname}]" if ":" in (place.hostname or "") else place.hostname
    return f"openssl s_client -connect {shlex.quote(f'{host}:{place.port or 443}')} </dev/null"


def _is_url(url: str) -> bool:
    """Whether a URL from a stored run is safe in a command."""
    try:
        place = urlsplit(url)
        _ = place.port
    except ValueError:
        return False
    return _typed(url) and place.scheme == "https" and bool(place.hostname) and "@" not in url and " " not in url


def _typed(text: str) -> bool:
    """Whether a text has only printable characters, so that it can be copied from a screen unchanged."""
    return text.isprintable()


def _word(text: str) -> str:
    """Quote a word for the shell; `~/` at the start of the word is not quoted."""
    return f"~/{shlex.quote(text[2:])}" if text.startswith("~/") else shlex.quote(text)


def nodes(names: Iterable[str]) -> str:
    """Format nodes as one argument of a rackcheck command; the brackets of a node set are quoted."""
    return shlex.quote(fold(names))


def value(leaf: Leaf) -> str:
    """Format the value of a fact in full precision; if the fact is unknown, return a text with the reason."""
    if isinstance(leaf.reading, Unknown):
        return f"unknown ({leaf.reading})"
    if isinstance(leaf.reading, Absent):
        return str(leaf.reading)
    return operator.exact(leaf.reading, leaf.kind) or operator.spell(leaf.reading, leaf.kind)


def document(node: str, path: str, tree: Tree) -> str:
    """Format a fact as JSON, in the same form as `facts --json`; raises KeyError if the node has no such fact."""
    facts = facts_json(Tree({path: tree.leaves[path]}, times=tree.times))
    return json.dumps({"node": node, "facts": facts}, ensure_ascii=False, indent=2)


def fixes(
    run: str,
    profile: str,
    rules: Sequence[Rule],
    verdicts: Mapping[str, Iterable[Verdict]],
    only: Mapping[str, Collection[str]],
    bmc: Callable[[str], Documents | None],
    urls: Mapping[str, str],
    known: SettingTable,
) -> tuple[str, ...]:
    """Return the commands of `rackcheck remedy` for some rules on some nodes, and the fixes of their other rules.

    `only` contains the rules by node, and `verdicts` all verdicts by node. `bmc` returns the resources of a node's BMC,
    and is called only to fix a BIOS setting. `urls` contains the URL of each node's BMC. If the resources or the URL of
    a BMC are missing, the output says that a BIOS setting must be changed manually.
    """
    whole = {each.id: each for each in rules}
    steps: dict[str, list[Lines]] = {}
    hands: dict[ByHand, list[str]] = {}
    orders: list[BmcOrder] = []
    for node in sorted(only, key=natural):
        needs: list[Firmware] = []
        for each in remedies(rules, verdicts[node], only[node]):
            match each:
                case Lines():
                    steps.setdefault(node, []).append(each)
                case ByHand():
                    hands.setdefault(each, []).append(node)
                case Firmware():
                    needs.append(each)
        made, why = _firmware(node, needs, bmc(node) if needs else None, urls, known)
        orders += made
        for rule, reason in why:
            hands.setdefault(by_hand(whole[rule], reason), []).append(node)
    left = tuple((hand, tuple(names)) for hand, names in hands.items())
    return tuple(text(RemedyText(run, profile, steps, tuple(orders), left)))


def _firmware(
    node: str, needs: Sequence[Firmware], bmc: Documents | None, urls: Mapping[str, str], known: SettingTable
) -> tuple[list[BmcOrder], list[tuple[str, str]]]:
    """Return the requests to a node's BMC that fix findings, and the reason for each rule without a request."""
    if not needs:
        return [], []
    mine = list(dict.fromkeys(need.rule for need in needs))
    if bmc is None:
        return [], [(rule, "this run contains no answer of the node's BMC") for rule in mine]
    made, left = patches(bmc, needs, known)
    if made and not _is_url(urls.get(node, "")):
        return [], [(rule, "the inventory has no https address for this BMC") for rule in mine]
    orders = [BmcOrder(node, urls[node], patch, number) for number, patch in enumerate(made, start=1)]
    return orders, list(dict.fromkeys((each.rule, each.why) for each in left))
