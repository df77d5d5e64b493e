"""Verifies a bundle without network access: whether every file is as it was signed, and who signed."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rackcheck.model.fact import visible
from rackcheck.signoff.signing import bundles, files, keygen, manifest, sshsig, statement
from rackcheck.signoff.signing.manifest import Manifest
from rackcheck.signoff.signing.parties import parties, paths
from rackcheck.signoff.signing.shape import BundleFault, BundleHead, BundleOutcome, Signature, Verification
from rackcheck.signoff.signing.signers import Signers
from rackcheck.signoff.signing.statement import Statement


@dataclass(frozen=True)
class _Checked:
    """The intermediate result of checking one party's signature.

    `statement` is None if it is not valid or is for another bundle; `fault` is an error in the party's statement file
    or signature file.
    """

    signature: Signature
    statement: Statement | None = None
    fault: BundleFault | None = None

    def broken(self, path: str, what: str) -> "_Checked":
        """Return a copy in which the signature is not accepted, because of a fault in the file `path`."""
        return replace(self, signature=replace(self.signature, trouble=f"{path} {what}"), fault=BundleFault(path, what))


def verify(folder: Path, signers: Signers, at: datetime | None = None, full: Path | None = None) -> Verification:
    """Check a bundle's files against the manifest, and its signatures against these signers.

    The signers' keys must be valid at the time that the statement claims and at `at` (default: now). If `full` is
    given, the bundle must be a redacted copy of this full bundle. Raises UserError if ssh-keygen is not installed.
    """
    listed = manifest.read(folder)
    head, head_fault = _head(folder)
    signed, faults = parties(folder)
    with keygen.bench(signers) as bench:
        checked = [_checked(folder, party, bench, signers, at or datetime.now(UTC)) for party in signed]
    checked = [_for_this(one, head, listed) for one in checked]
    others = _others(checked, listed)
    if others:
        found = [_manifest_changed(listed, others)]
        words = f"{manifest.NAME} is not the one that was signed"
        checked = [replace(c, signature=replace(c.signature, trouble=words)) if c in others else c for c in checked]
    else:
        checked = [_of_this_state(one, listed) for one in checked]
        found = list(manifest.compared(folder, listed))
        if head_fault is not None and head_fault.path not in {fault.path for fault in found} and not listed.damage:
            found.append(head_fault)
        wrong = bundles.record_fault(folder) if not found else None
        found += [wrong] if wrong is not None else []
    found += [*faults, *(one.fault for one in checked if one.fault is not None)]
    if full is not None and head_fault is None:
        found += _copy_of(full, head)
    named = next((c.statement.bundle for c in checked if c.statement and not c.signature.trouble), head.bundle)
    signatures = tuple(one.signature for one in checked)
    held = _outcome(folder) if not found else BundleOutcome()
    return Verification(
        named or folder.resolve().name, head.level, len(listed.entries), tuple(found), signatures, held,
    )  # fmt: skip


def _outcome(folder: Path) -> BundleOutcome:
    try:
        return bundles.outcome(folder)
    except ValueError:
        return BundleOutcome()


def _head(folder: Path) -> tuple[BundleHead, BundleFault | None]:
    try:
        return bundles.head(folder), None
    except ValueError as error:
        return BundleHead("", ""), BundleFault(bundles.HEAD, str(error))


def _checked(folder: Path, party: str, bench: keygen.SignerFolder, signers: Signers, at: datetime) -> _Checked:
    """Check a single signature: its form, whether it matches its statement, and whose key made it."""
    found = _Checked(Signature(party))
    where, where_sig = paths(party)
    try:
        words = files.content(folder, where, statement.SIZE)
        value = statement.decode(words)
    except (files.Unfit, FileNotFoundError, ValueError) as error:
        return found.broken(where, "is missing" if isinstance(error, FileNotFoundError) else str(error))
    try:
        armoured = files.content(folder, where_sig, sshsig.SIZE)
        sshsig.check(armoured)
    except (files.Unfit, FileNotFoundError) as error:
        return found.broken(where_sig, "is missing" if isinstance(error, FileNotFoundError) else str(error))
    except ValueError as error:
        return found.broken(where_sig, f"is {error}")
    bench.put(armoured)
    key = bench.intact(words)
    if key is None:
        return found.broken(where_sig, f"does not match {where}: one of the two files was changed")
    signature = Signature(party, value.name, value.time, "", key.fingerprint, key.kind, as_is=value.as_is)
    if value.party != party:
        return _Checked(signature).broken(where, f"contains the statement of {value.party}, not of {party}")
    return _Checked(_judged(signature, words, bench, signers, at), value)


def _judged(
    signature: Signature, words: bytes, bench: keygen.SignerFolder, signers: Signers, at: datetime
) -> Signature:
    """Check whether the key belongs to a signer, and is valid at both the time in the statement and the time `at`."""
    claimed = statement.moment(signature.time)
    ours, why = bench.principal(words, at)
    theirs, why_not = bench.principal(words, claimed)
    if ours and theirs:
        return replace(signature, principal=signers.shown(ours))
    if theirs:
        trouble = "its key was valid at the signature's stated time, but is not at the time of this check"
        return replace(signature, principal=signers.shown(theirs), trouble=f"{trouble}: {why}" if why else trouble)
    if ours:
        trouble = "its key is valid now, but was not at the signature's stated time"
        return replace(
            signature, principal=signers.shown(ours), trouble=f"{trouble}: {why_not}" if why_not else trouble
        )
    return replace(
        signature, trouble=f"its key is not among your signers: {why}" if why else "its key is not among your signers"
    )


def _for_this(one: _Checked, head: BundleHead, listed: Manifest) -> _Checked:
    """Add a fault to a signature whose statement was made for another bundle; return other signatures unchanged."""
    value = one.statement
    # A statement with the same manifest is for this bundle; a changed head is reported separately.
    if value is None or value.manifest == listed.digest or not head.bundle:
        return one
    if (value.bundle, value.level) == (head.bundle, head.level):
        return one
    what = f"was made for another bundle: {visible(value.bundle)} ({visible(value.level)})"
    return replace(one.broken(paths(value.party)[0], what), statement=None)


def _others(checked: list[_Checked], listed: Manifest) -> list[_Checked]:
    """Return the signatures for another manifest; empty if a valid signature is for the present manifest.

    If signatures are only for another manifest, the manifest was changed after it was signed.
    """
    stand = [one for one in checked if one.statement is not None]
    if any(one.statement and one.statement.manifest == listed.digest and not one.signature.trouble for one in stand):
        return []
    return [one for one in stand if one.statement and one.statement.manifest != listed.digest]


def _of_this_state(one: _Checked, listed: Manifest) -> _Checked:
    if one.statement is None or one.statement.manifest == listed.digest:
        return one
    return one.broken(paths(one.statement.party)[0], "signs another manifest of this bundle than the other signatures")


def _manifest_changed(listed: Manifest, others: list[_Checked]) -> BundleFault:
    """Return the fault for a changed manifest; the bundle's files are not compared with a changed manifest."""
    if not listed.digest:
        return BundleFault(manifest.NAME, listed.damage)
    who = " and ".join(one.signature.party for one in others)
    return BundleFault(manifest.NAME, f"changed since {who} signed it; so the other files were not compared with it")


def _copy_of(full: Path, head: BundleHead) -> list[BundleFault]:
    """Return a fault if a redacted copy does not contain the digest of the given full bundle's manifest."""
    if not head.full:
        return [BundleFault(bundles.HEAD, "names no full bundle: this is not a redacted copy")]
    other = manifest.read(full)
    if other.digest != head.full:
        wrong = f"its {manifest.NAME} {other.damage}" if not other.digest else "it is a different bundle"
        return [BundleFault(bundles.HEAD, f"belongs to a full bundle other than {full}: {wrong}")]
    return []
