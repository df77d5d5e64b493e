"""The results of signing and verifying."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rackcheck.signoff.removed_run import RemovedRun


@dataclass(frozen=True, slots=True)
class BundleFault:
    """An error of one file of a bundle; the path is relative to the bundle."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path} {self.what}".strip()


@dataclass(frozen=True, slots=True)
class Signature:
    """One party's signature; `trouble` is why the signature does not count, `time` is the time that the signer claims.

    `principal` is the key's name in the verifier's list of signers; `kind` and `fingerprint` are as ssh-keygen prints
    them. `principal`, `kind` and `fingerprint` are empty if not known. `as_is` is why the party signed a bundle whose
    verdict is not PASS.
    """

    party: str
    name: str = ""
    time: str = ""
    principal: str = ""
    fingerprint: str = ""
    kind: str = ""
    trouble: str = ""
    as_is: str = ""


@dataclass(frozen=True, slots=True)
class BundleOutcome:
    """The verdict in a bundle's report (PASS, FAIL, INCOMPLETE or empty), and what a reader of the verdict must know.

    `simulated` is set if the report is of a simulation; `removed` are the runs that were removed from the acceptance.
    `minor` is the number of failing verdicts that do not decide the verdict.
    """

    outcome: str = ""
    simulated: bool = False
    removed: tuple[RemovedRun, ...] = ()
    minor: int = 0


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a bundle; `files` is the number of files in the manifest.

    `stated` is the verdict in the bundle's report, empty if it could not be read.
    """

    bundle: str
    level: str
    files: int
    faults: tuple[BundleFault, ...]
    signatures: tuple[Signature, ...]
    stated: BundleOutcome = BundleOutcome()

    @property
    def good(self) -> tuple[Signature, ...]:
        """The valid signatures."""
        return tuple(signature for signature in self.signatures if not signature.trouble)

    @property
    def shared(self) -> Mapping[str, tuple[str, ...]]:
        """For each key with which several parties signed: its fingerprint, and the parties; the key counts once."""
        parties: dict[str, list[str]] = {}
        for signature in self.good:
            parties.setdefault(signature.fingerprint, []).append(signature.party)
        return {key: tuple(names) for key, names in parties.items() if len(names) > 1}

    @property
    def keys(self) -> int:
        """The number of different keys that made valid signatures."""
        return len({signature.fingerprint for signature in self.good})

    def reason(self, require: int) -> str:
        """Return why the bundle is not verified if `require` keys must have signed; empty if it is verified."""
        if self.faults:
            more = f" (and {len(self.faults) - 1} more)" if len(self.faults) > 1 else ""
            return f"{self.faults[0]}{more}"
        if not self.signatures:
            return "the bundle is not signed"
        if not self.good:
            return f"no signature is accepted: {self.signatures[0].party}: {self.signatures[0].trouble}"
        if self.keys < require:
            have = "1 key has" if self.keys == 1 else f"{self.keys} keys have"
            return f"{have} signed the bundle, and {require} are required"
        return ""


@dataclass(frozen=True, slots=True)
class BundleHead:
    """The content of `bundle.json`; in a redacted copy, `full` is the digest of the full bundle's manifest.

    `unreviewed` are the profiles of the bundle's runs that no person has reviewed.
    """

    bundle: str
    level: str
    full: str = field(default="")
    unreviewed: tuple[str, ...] = ()
