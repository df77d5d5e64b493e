"""`rackcheck verify`: check that a bundle is unchanged since it was signed, and by whom."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from rackcheck.cli import options
from rackcheck.cli.sign import bundle_argument, fault_line, located, mark, verdict_line
from rackcheck.evaluate.verdict import Status
from rackcheck.model.fact import visible
from rackcheck.session.output import is_plain, print_lines, width
from rackcheck.signoff import signing
from rackcheck.signoff.removed_run import removed_text
from rackcheck.signoff.signing import Signature, Verification, signers
from rackcheck.signoff.signing.statement import moment
from rackcheck.views import machine
from rackcheck.views.simulation import SIMULATED
from rackcheck.views.summary import several
from rackcheck.views.terminal import STYLES, Line, minor_note, within

UNBROKEN = 1 << 20
"""Width that is used for an output other than a terminal, so that no line is wrapped."""

SHOWN = 20
"""Maximum number of faults that are shown; --json lists all of them."""

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(epilog="Exit: 0 verified, 2 usage error, 4 a file or a signature is not valid.")
@bundle_argument
@click.option(
    "--key", "keys", multiple=True, metavar="PUB", type=_FILE, help="Public key of a signer; may be repeated."
)
@click.option(
    "--allowed-signers",
    "allowed",
    metavar="FILE",
    type=_FILE,
    help="File of allowed signers, in the format of ssh-keygen(1).",
)
@click.option(
    "--require", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N",
    help="How many different trusted keys must have signed the bundle.",
)  # fmt: skip
@click.option(
    "--at", "at", metavar="TIME", help="Time at which keys must be valid, like 2026-11-21T10:00:00Z (default: now)."
)
@click.option("--full", metavar="BUNDLE", help="The full bundle that this redacted copy must belong to.")
@options.json_option
def verify(
    bundle: str, keys: tuple[Path, ...], allowed: Path | None, require: int, at: str | None, full: str | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Verify a report bundle and its signatures; needs no network.

    BUNDLE is a folder, or the name of a stored bundle. Every file must match the manifest, and the manifest must match
    the signatures. The time of a signature is from the signer's own clock.

    \b
    rackcheck verify ./pod7 --key integrator.pub
    rackcheck verify ./pod7 --allowed-signers signers --require 2
    rackcheck verify ./pod7-customer --key integrator.pub --full ./pod7
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    if bool(keys) == bool(allowed):
        raise click.UsageError("name the trusted signers: either --key PUB (may be repeated) or --allowed-signers FILE")
    wanted = signers.from_file(allowed) if allowed is not None else signers.from_keys(keys)
    other = located(full) if full is not None else None
    found = signing.verify(located(bundle), wanted, _time(at), other)
    if as_json:
        click.echo(machine.text(_document(found, require)))
    else:
        # In a pipe, each signature is one line; on a terminal, lines are wrapped to its width.
        room = width() if sys.stdout.isatty() else UNBROKEN
        print_lines(part for line in _lines(found, require) for part in within(line, room, 2))
    return 4 if found.reason(require) else 0


def _time(at: str | None) -> datetime | None:
    try:
        return moment(at) if at is not None else None
    except ValueError:
        raise click.UsageError(f"--at expects a time like 2026-11-21T10:00:00Z, not {at!r}") from None


def _lines(found: Verification, require: int) -> Iterator[Line]:
    for signature in found.signatures:
        yield _line(signature)
    names = {signature.trouble for signature in found.signatures}
    faults = [fault for fault in found.faults if str(fault) not in names]
    yield from map(fault_line, faults[:SHOWN])
    if len(faults) > SHOWN:
        yield Line((("  ", ""), (f"and {len(faults) - SHOWN} more; --json lists them", "")))
    for key, parties in found.shared.items():
        yield Line(
            (
                (mark(Status.WARN), STYLES[Status.WARN]),
                (f"{' and '.join(parties)} signed with the same key, {key}, which counts once", ""),
            )
        )
    why = found.reason(require)
    if why:
        yield Line((("NOT VERIFIED: ", "bold red"), (why, "")))
        return
    if found.stated.outcome:
        yield verdict_line(found.bundle, found.stated.outcome)
        yield from minor_note(found.stated.minor, UNBROKEN, plain=is_plain())
    for removed in found.stated.removed:
        yield Line(((mark(Status.WARN), STYLES[Status.WARN]), (removed_text(removed), "")))
    if found.stated.simulated:
        yield Line((("SIMULATION  ", "bold red"), (SIMULATED, "")))
    level = "" if found.level == "full" else f" ({found.level} copy)"
    made = f"{several(len(found.good), 'signature')} by {several(found.keys, 'key')}"
    words = f"{made} over {found.files} files of {found.bundle}{level}"
    yield Line((("Verified: ", "bold green"), (words, "")))


def _line(signature: Signature) -> Line:
    # The verdict of a signature by an untrusted key is unknown, not invalid; the signature does not count.
    unknown = bool(signature.trouble and signature.fingerprint and not signature.principal)
    status = Status.PASS if not signature.trouble else Status.UNKNOWN if unknown else Status.FAIL
    # The party, the signer and the key's name in the list of signers are often the same word.
    who = list(dict.fromkeys((signature.party, signature.name, signature.principal)))
    who.append(f"{signature.kind} {signature.fingerprint}".strip())
    when = f"{signature.time} by the signer's clock" if signature.time else ""
    as_is = f"as it is: {signature.as_is}" if signature.as_is else ""
    words = "  ".join(word for word in (*who, when, as_is) if word)
    trouble = f"  {signature.trouble}" if signature.trouble else ""
    return Line(((mark(status), STYLES[status]), (words, ""), (trouble, STYLES[status])))


def _document(found: Verification, require: int) -> dict[str, Any]:
    why = found.reason(require)
    return {
        "rackcheck": machine.FORMAT,
        "bundle": found.bundle,
        "level": found.level,
        "verified": not why,
        "outcome": found.stated.outcome,
        "minor_failures": found.stated.minor,
        "simulated": found.stated.simulated,
        "removed": [asdict(removed) for removed in found.stated.removed],
        "reason": visible(why),
        "files": found.files,
        "keys": found.keys,
        "required": require,
        "faults": [asdict(fault) for fault in found.faults],
        "signatures": [asdict(signature) for signature in found.signatures],
    }
