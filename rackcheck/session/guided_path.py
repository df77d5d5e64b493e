"""The state of the path from an inventory to a verified signature, read from files; no node is contacted."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome
from rackcheck.inventory import Inventory, load
from rackcheck.model.fold import fold
from rackcheck.run import store
from rackcheck.run.store import Stored
from rackcheck.session import last_run, subject
from rackcheck.session.stored import stored_nodes
from rackcheck.signoff import acceptance
from rackcheck.signoff.acceptance import Acceptance
from rackcheck.transport import known_hosts
from rackcheck.transport.ssh_config import resolve
from rackcheck.views.guided_path import PathStep
from rackcheck.views.steps import next_command
from rackcheck.views.summary import several

SEARCHED = 50
"""Maximum number of stored runs, the newest first, that are searched for an audit of the inventory's nodes."""

KEY = "~/.ssh/id_ed25519"
"""The private key that the command of the signature names; the user can edit it."""

Nodes = frozenset[tuple[str, str]]
"""Names and addresses of nodes."""


def path(place: Path) -> tuple[PathStep, ...]:
    """Return all steps for the nodes of an inventory, which may be missing; an unusable file is the detail of its step.

    Takes as long as judging the newest acceptance of these nodes again.
    """
    inventory = PathStep("Inventory", f"no {place} yet", ("init", "-o", str(place), "--only"))
    if not place.exists():
        return inventory, *_waiting("Host keys and certificates")
    try:
        read = load(place)
    except UserError as error:
        first, *further = str(error).splitlines()
        detail = f"{first} (and {several(len(further), 'further mistake')})" if further else first
        return PathStep("Inventory", detail, ("inventory", "check", str(place)), failed=True), *_waiting(
            "Host keys and certificates"
        )
    bmcs = sum(node.bmc is not None for node in read.nodes.values())
    return (
        PathStep("Inventory", f"{place}: {several(len(read.nodes), 'node')}, {several(bmcs, 'BMC')}", done=True,
                 command=("inventory", "show", "-i", str(place))),
        *_steps(place, read),
    )  # fmt: skip


TITLES = (
    "Host keys and certificates", "Who answers", "Audit", "Acceptance", "Steps of the acceptance", "Report bundle",
    "Signature", "Verification",
)  # fmt: skip
"""The titles of the steps after the inventory."""


def _waiting(first: str) -> tuple[PathStep, ...]:
    """Return the steps from `first` on, which wait for an earlier step."""
    return tuple(PathStep(title, "") for title in TITLES[TITLES.index(first) :])


def _steps(place: Path, read: Inventory) -> Iterator[PathStep]:
    nodes = frozenset((node.name, node.host) for node in read.nodes.values())
    audit, unread, damaged = _newest_audit(nodes)
    doubt = f"cannot be read: {damaged} (rackcheck runs show {damaged}); " if damaged else ""
    yield from _before_the_audit(place, read, audited=audit is not None and not unread)
    where = ("-i", str(place))
    if audit is None:
        yield PathStep("Audit", f"{doubt}no run of these nodes yet", ("tui", *where))
        yield from _waiting("Acceptance")
        return
    profile = last_run.lineage(audit)[-1:]
    done = audit.last_done()
    outcome = f"{done.outcome.value}: " if done is not None else ""
    failed = done is not None and done.outcome is Outcome.FAIL
    detail = f"{doubt}{outcome}{last_run.description(audit)}"
    found, others = _newest_acceptance(nodes)
    beside = f"; also {', '.join(others)}" if others else ""
    if (done is None or done.interrupted) and found is None:
        yield PathStep("Audit", detail, ("audit", "--resume", audit.folder.name, *where))
        yield from _waiting("Acceptance")
        return
    if unread and found is None:  # the steps of an acceptance list the nodes without an audit themselves
        names = fold(name for name, _ in unread)
        yield PathStep("Audit", f"no audit yet of {names}; {detail}", ("tui", *where))
        yield from _waiting("Acceptance")
        return
    yield PathStep("Audit", detail, ("tui", audit.folder.name), done=True, failed=failed)
    if found is None:
        use = tuple(word for name in profile for word in ("-p", name))
        yield PathStep(
            "Acceptance", f"none of these nodes yet{beside}", ("accept", "new", _unused(place), *use, *where)
        )
        yield from _waiting("Steps of the acceptance")
        return
    shown = ("accept", "show", found.name)
    state = f"{found.name}: {several(len(found.runs), 'run')}, {found.state}{beside}"
    yield PathStep("Acceptance", state, shown, done=True)
    yield from _to_the_signature(place, found, audit)


def _before_the_audit(place: Path, read: Inventory, *, audited: bool) -> Iterator[PathStep]:
    """Yield the steps whose commands contact nodes, and log in nowhere or judge nothing."""
    hosts = [node for node in read.nodes.values() if node.host and not node.is_local]
    targets = [resolve(node, {}) for node in hosts]
    keys = sum(bool(known_hosts.load(each.known_hosts).keys(each.alias or each.host, each.port)) for each in targets)
    bmcs = [node.bmc for node in read.nodes.values() if node.bmc is not None]
    pinned = sum(bool(bmc.fingerprint) for bmc in bmcs)
    counts = ((keys, "node", hosts, "host keys"), (pinned, "BMC", bmcs, "certificates"))
    detail = "; ".join(f"{what} of {n} of {several(len(all_), noun)}" for n, noun, all_, what in counts if all_)
    done = audited or (keys == len(hosts) and pinned == len(bmcs))
    yield PathStep(
        "Host keys and certificates", f"trusted: {detail}" if detail else "this machine alone",
        ("inventory", "trust", "-i", str(place)), done=done,
    )  # fmt: skip
    words = "which planes answer, and what will be unknown"
    yield PathStep("Who answers", words, ("doctor", "-i", str(place)), done=audited)


def _to_the_signature(place: Path, found: Acceptance, audit: Stored) -> Iterator[PathStep]:
    """Yield the agreed steps of an acceptance, and what follows them."""
    where = f"-i {shlex.quote(str(place))}"
    if not found.runs:
        run, detail = ("audit", "--accept", found.name, *shlex.split(where)), "no run yet"
        if found.head["profile"]["name"] in last_run.lineage(audit):
            run = ("accept", "add", found.name, audit.folder.name)
            detail = f"the run {audit.folder.name} may be the first of the acceptance"
        yield PathStep(f"{found.name}: audit", detail, run)
        yield from _waiting("Report bundle")
        return
    steps = subject.shown(subject.find(found.name)).steps
    for step in steps:
        command = tuple(shlex.split(next_command([step], found.name, where))[1:]) or ("tui", found.name)
        failed = step.outcome is Outcome.FAIL
        words = next(step.details(), "")
        detail = f"{step.state}{f': {words}' if words else ''}"
        yield PathStep(f"{found.name}: {step.name}", detail, command, done=not step.left and not failed, failed=failed)
    folder = _near(next(reversed([*found.bundles.values()]), ""))
    write = ("report", found.name, "--bundle", "-o", found.name)
    yield PathStep("Report bundle", folder or "none of this state yet", write, done=bool(folder))
    if not folder:
        yield from _waiting("Signature")
        return
    by = ", ".join(f"{event['name']} ({event['party']})" for event in found.signed)
    signed = found.state == "signed"
    yield PathStep("Signature", f"signed by {by}" if signed else "not signed", ("sign", folder, "--key", KEY), signed)
    yield PathStep("Verification", "needs no network", ("verify", folder, "--key", f"{KEY}.pub") if signed else ())


def _near(folder: str) -> str:
    """Return a folder relative to the current one, if it is in it."""
    return str(Path(folder).relative_to(Path.cwd())) if folder and Path(folder).is_relative_to(Path.cwd()) else folder


def _unused(place: Path) -> str:
    """Return a name for an acceptance: that of the inventory, or of its folder; with a number if it is taken."""
    own = place.stem if place.stem != "inventory" else place.absolute().parent.name
    name = own if acceptance.NAME.fullmatch(own) else "acceptance"
    numbers = (f"{name}-{number}" for number in range(2, len(acceptance.names()) + 3))
    return next(each for each in (name, *numbers) if not acceptance.is_one(each))


def _newest_audit(nodes: Nodes) -> tuple[Stored | None, Nodes, str]:
    """Return the newest audit of these nodes, or of some of them, and the nodes without any.

    The last value is the newest of the damaged runs that are newer than this audit, of whatever nodes; empty without.
    """
    newest, unread, damaged = None, nodes, ""
    for name in reversed(store.ids()[-SEARCHED:]):
        try:
            found = store.find(str(store.runs_folder() / name))
            own = frozenset((node.name, node.host) for node in stored_nodes(found))
        except UserError:  # the command that shows this run reports it
            damaged = damaged or ("" if newest is not None else name)
            continue
        if not found.burned_in and not found.again_of and own and own <= nodes:
            newest, unread = newest or found, unread - own
        if not unread:
            break
    return newest, unread, damaged


def _newest_acceptance(nodes: Nodes) -> tuple[Acceptance | None, tuple[str, ...]]:
    """Return the newest acceptance of exactly these nodes that no other one replaces, and the others with their state.

    Among the others are damaged acceptances, of whatever nodes.
    """
    found, damaged = [], []
    for name in acceptance.names():
        try:
            one = acceptance.find(name)
        except UserError:
            damaged.append(f"{name} (cannot be read: rackcheck accept show {name})")
            continue
        if not one.superseded and frozenset((str(n["name"]), str(n.get("host", ""))) for n in one.nodes) == nodes:
            found.append(one)
    found.sort(key=lambda one: str(one.head["time"]), reverse=True)
    return next(iter(found), None), (*(f"{one.name} ({one.state})" for one in found[1:]), *damaged)
