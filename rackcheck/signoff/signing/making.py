"""Signs a bundle as a party; refuses a bundle that does not match its manifest, and overwrites no signature."""

import os
from datetime import UTC, datetime
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.evaluate.law import Outcome
from rackcheck.profile import reviewed
from rackcheck.signoff.signing import bundles, files, keygen, manifest, reviewing, sshsig, statement
from rackcheck.signoff.signing.parties import parties, paths
from rackcheck.signoff.signing.shape import BundleFault, Signature
from rackcheck.signoff.signing.signers import Signers
from rackcheck.signoff.signing.statement import Statement


class Unsound(Exception):
    """Raised if a bundle does not match its manifest, or if a party has already signed a different manifest of it."""

    def __init__(self, faults: tuple[BundleFault, ...]) -> None:
        self.faults = faults
        super().__init__("; ".join(map(str, faults)))


class NotPassed(Exception):
    """Raised if a bundle whose verdict is not PASS is to be signed without a reason; `outcome` is the verdict."""

    def __init__(self, outcome: str) -> None:
        self.outcome = outcome
        super().__init__(outcome)


def sign(folder: Path, key: Path, party: str, name: str, time: datetime, as_is: str = "") -> Signature:
    """Sign a bundle with a key file, or with a `.pub` file whose private key is in an SSH agent.

    `as_is` is the reason why a bundle is signed whose verdict is not PASS; it is part of what is signed. Raises
    NotPassed if there is no reason for such a bundle.

    `time` is the time of signing that the signer claims; it is stored in UTC, to the second. Raises Unsound if the
    bundle does not match its manifest, UserError if the party has already signed, if the profile is not reviewed, or if
    the key cannot sign.
    """
    if not statement.PARTY.fullmatch(party):
        raise UserError(f"a party's name has small letters, digits and dashes (integrator, customer), not {party!r}")
    if not statement.is_name(name):
        raise UserError(
            f"the signer's name has 1 to {statement.LONGEST} characters without control characters: not {name!r:.80}"
        )
    listed = manifest.read(folder)
    faults = manifest.compared(folder, listed) or _signed_otherwise(folder, listed.digest)
    if faults:
        raise Unsound(faults)
    try:
        head = bundles.head(folder)
    except ValueError as error:
        raise Unsound((BundleFault(bundles.HEAD, str(error)),)) from None
    wrong = bundles.record_fault(folder)
    if wrong is not None:
        raise Unsound((wrong,))
    places = [folder / path for path in paths(party)]
    if any(map(os.path.lexists, places)):
        raise UserError(f"{party} has signed {folder} already; a signature is never overwritten")
    waiting = reviewing.waiting(folder, listed.entries, head.full) or head.unreviewed
    if waiting:
        raise UserError(f"not signed: {reviewed.review_notice(waiting)}, audit again, and make the bundle of that run")
    as_is = _reason(folder, as_is)
    made = time.astimezone(UTC).strftime(statement.FORM)
    words = Statement(head.bundle, head.level, listed.digest, party, name, made, as_is).encode()
    statement.decode(words)
    armoured = keygen.signed(words, key)
    with keygen.bench(Signers(b"")) as bench:
        bench.put(armoured)
        found = bench.intact(words)
    try:
        sshsig.check(armoured)
    except ValueError:
        found = None
    if found is None:
        raise UserError(f"the signature of {key} is not valid; it was not written")
    _keep(places, (words, armoured))
    return Signature(party, name, made, "", found.fingerprint, found.kind, as_is=as_is)


def _reason(folder: Path, as_is: str) -> str:
    """Return the reason that a statement has: none if the verdict of the bundle is PASS; raises as `sign`."""
    try:
        outcome = bundles.outcome(folder).outcome
    except ValueError as error:
        raise Unsound((BundleFault(bundles.RECORD, str(error)),)) from None
    if outcome == Outcome.PASS.value:
        return ""
    if not as_is:
        raise NotPassed(outcome)
    if not statement.is_name(as_is):
        raise UserError(f"a reason has 1 to {statement.LONGEST} characters in one line: not {as_is!r:.80}")
    return as_is


def _signed_otherwise(folder: Path, digest: str) -> tuple[BundleFault, ...]:
    """Return faults: existing statements that are unreadable or for another manifest; signatures are not checked."""
    signed, faults = parties(folder)
    found = list(faults)
    for party in signed:
        place = paths(party)[0]
        try:
            words = statement.decode(files.content(folder, place, statement.SIZE))
        except (files.Unfit, FileNotFoundError, ValueError) as error:
            found.append(BundleFault(place, str(error)))
        else:
            if words.manifest != digest:
                found.append(BundleFault(manifest.NAME, f"is not the one that {party} signed"))
    return tuple(found)


def _keep(places: list[Path], contents: tuple[bytes, bytes]) -> None:
    """Write a statement and its signature, or neither of them; existing files are not overwritten."""
    written = []
    try:
        places[0].parent.mkdir(exist_ok=True)
        for path, data in zip(places, contents, strict=True):
            with path.open("xb") as file:
                written.append(path)
                file.write(data)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise UserError(f"cannot write {places[0]}: {error.strerror}") from None
