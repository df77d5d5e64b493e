"""`rackcheck sign`: sign a bundle with an SSH key."""

import getpass
import hashlib
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.verdict import Outcome, Status
from rackcheck.run import store
from rackcheck.session import last_run
from rackcheck.session.output import is_plain, note, print_lines
from rackcheck.signoff import acceptance, signing
from rackcheck.signoff.signing import BundleFault, Signature, bundles, signers
from rackcheck.views.terminal import ASCII, GLYPHS, OUTCOMES, STYLES, Line

F = TypeVar("F", bound=Callable[..., object])

DEFAULT = "integrator"


def _bundles(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    known = [CompletionItem(name) for name in bundles.names() if name.startswith(incomplete)]
    # The shell itself completes the names of folders.
    return [*known, CompletionItem(incomplete, type="dir")]


def bundle_argument(command: F) -> F:
    """Add the argument BUNDLE to a command: a folder, or the name of a stored bundle."""
    return click.argument("bundle", metavar="BUNDLE", shell_complete=_bundles)(command)


def located(text: str, *, current: bool = False) -> Path:
    """Return the folder of a bundle (a folder, a name, a run or an acceptance); raises UserError if there is none.

    With `current`, the bundle of an acceptance must be of the acceptance's current state.
    """
    if acceptance.is_one(text) and not Path(text).is_dir():
        found = acceptance.find(text)
        kept = found.bundles.get("full", "")
        if not current:  # the bundle that was signed last is the relevant one
            signed = [str(one.get("folder", "")) for one in found.signed]
            kept = next((place for place in reversed(signed) if Path(place).is_dir()), kept)
            kept = kept or found.earlier.get("full", "")
        if kept and Path(kept).is_dir():
            return Path(kept)
        if current:
            older = " (runs or waivers were added since the last bundle)" if found.earlier else ""
            raise UserError(f"{text} has no bundle of its current state{older}: rackcheck report {text} --bundle")
    if text == last_run.LAST:
        return _of_last(current=current)
    return bundles.find(text)


def _of_last(*, current: bool) -> Path:
    """Return the bundle of the newest run that has one; with `current`, of the newest run, which must have one."""
    known = bundles.names()
    made_by = "rackcheck report RUN --bundle"
    bundled = last_run.Need("run with a bundle", lambda stored: _bundle(stored) in known, made_by)
    run = store.find(last_run.named(last_run.LAST, last_run.RUN if current else bundled))
    if not bundled.fits(run):
        word = run.folder.name
        raise UserError(f"the newest run {word} has no bundle: rackcheck report {word} --bundle makes one")
    return bundles.find(_bundle(run))


def _bundle(stored: store.Stored) -> str:
    """Return the name of the bundle that `rackcheck report` makes of a run."""
    return str(stored.head.get("run"))


def _tell_acceptance(folder: Path, made: Signature) -> None:
    """Record in the log of a local acceptance that its newest full bundle was signed."""
    head = bundles.head(folder)
    if head.level != "full" or not acceptance.is_one(head.bundle):
        return
    found = acceptance.find(head.bundle)
    if found.bundles.get("full") != str(folder.resolve()):
        note(f"acceptance {found.name} is not updated: this bundle is not the one of its current state ({found.state})")
        return
    manifest = hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest()
    values = {"party": made.party, "name": made.name, "key": made.fingerprint, "folder": str(folder.resolve())}
    acceptance.append(found.folder, {"event": "signed", "time": made.time, "manifest": manifest, **values})
    note(f"acceptance {found.name} is signed by {made.party}")


def fault_line(fault: BundleFault) -> Line:
    """Return the output line for one fault of a bundle."""
    return Line(((mark(Status.FAIL), STYLES[Status.FAIL]), (str(fault), "")))


def mark(status: Status) -> str:
    """Return the symbol of a verdict and a space."""
    return f"{(ASCII if is_plain() else GLYPHS)[status]} "


@click.command(epilog="Exit: 0 signed, 2 usage error, 4 the bundle does not match its manifest.")
@bundle_argument
@click.option(
    "--key", required=True, metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="Private SSH key, or the .pub file of a key in an agent or on a token.",
)  # fmt: skip
@click.option("--as", "party", metavar="PARTY", default=DEFAULT, show_default=True, help="Party you sign for.")
@click.option("--name", metavar="NAME", help="Name of the signer (default: the key's comment, else your login).")
@click.option("--as-is", "as_is", metavar="REASON", default="", help="Sign a verdict of FAIL or INCOMPLETE, and why.")
def sign(bundle: str, key: Path, party: str, name: str | None, as_is: str) -> int:
    """Sign a report bundle with an SSH key.

    BUNDLE is a folder, or the name of a stored bundle. Every file is compared with the manifest first. Several parties
    can sign, each once. ssh-keygen itself prompts for a passphrase; the time in the signature is taken from this
    machine's clock.

    If the verdict is FAIL or INCOMPLETE, sign asks for the reason to sign it as it is. The reason is part of what is
    signed, and verify shows it. Without a terminal, --as-is gives the reason.

    \b
    rackcheck sign pod7 --key ~/.ssh/id_ed25519
    rackcheck sign pod7 --key ~/.ssh/id_ed25519 --name "Jo Doe"
    rackcheck sign pod7 --key ~/.ssh/id_ed25519 --as-is "cable follows, T-1"
    rackcheck sign ./pod7-customer --key site.pub --as customer
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    folder = located(bundle, current=True)
    bundle = folder.name if bundle == last_run.LAST else bundle
    who = name if name is not None else (signers.comment(key) or getpass.getuser())
    try:
        made = _made(folder, bundle, key, party, who, as_is.strip())
    except signing.Unsound as unsound:
        print_lines(
            [*map(fault_line, unsound.faults), Line((("NOT SIGNED: ", "bold red"), (str(unsound.faults[0]), "")))]
        )
        return 4
    print_lines([_signed(bundle, made)])
    _tell_acceptance(folder, made)
    others = signing.verify(folder, signing.Signers(b"")).signatures
    same = [one.party for one in others if one.fingerprint == made.fingerprint and one.party != made.party]
    if same:
        note(f"rackcheck: {', '.join(same)} already signed with this key, which counts once")
    note(f"Next: rackcheck verify {bundle} --key {key if key.suffix == '.pub' else f'{key}.pub'}")
    return 0


def _made(folder: Path, bundle: str, key: Path, party: str, who: str, as_is: str) -> Signature:
    """Sign a bundle; ask on a terminal for the reason if its verdict is not PASS."""
    try:
        return signing.sign(folder, key, party, who, datetime.now(UTC), as_is)
    except signing.NotPassed as verdict:
        print_lines([verdict_line(bundle, verdict.outcome)])
        if not sys.stdin.isatty():
            raise UserError(
                f"not signed: the verdict of {bundle} is {verdict.outcome}; to sign it as it is, add --as-is REASON"
            ) from None
        click.confirm(f"Sign {bundle} as it is, with the verdict {verdict.outcome}?", abort=True, err=True)
        reason = click.prompt("Reason, which becomes part of the signature", err=True).strip()
        return signing.sign(folder, key, party, who, datetime.now(UTC), reason)


def verdict_line(bundle: str, outcome: str) -> Line:
    """Return the output line for the verdict in a bundle's report."""
    return Line((("Verdict: ", "bold"), (outcome, OUTCOMES[Outcome(outcome)]), (f"  of {bundle}", "")))


def _signed(bundle: str, made: Signature) -> Line:
    words = f"{bundle} as {made.party} ({made.name}) with {made.kind} {made.fingerprint}, {made.time} by local clock"
    words += f", as it is: {made.as_is}" if made.as_is else ""
    return Line(((mark(Status.PASS), STYLES[Status.PASS]), ("Signed: ", "bold"), (words, "")))
