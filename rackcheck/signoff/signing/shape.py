"""What signing and verifying come to."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class BundleFault:
    """Something wrong with one file of a bundle; the path is relative to the bundle, as found there."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path} {self.what}".strip()


@dataclass(frozen=True, slots=True)
class Signature:
    """One party's signature; `trouble` says why it does not count, `time` is the signer's own claim.

    `principal` is the name that the verifier's own list gives the key, `kind` and `fingerprint` are ssh-keygen's words;
    they are empty where they could not be known.
    """

    party: str
    name: str = ""
    time: str = ""
    principal: str = ""
    fingerprint: str = ""
    kind: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of a bundle found: `files` counts the files that the manifest names."""

    bundle: str
    level: str
    files: int
    faults: tuple[BundleFault, ...]
    signatures: tuple[Signature, ...]

    @property
    def good(self) -> tuple[Signature, ...]:
        """Every signature that holds."""
        return tuple(signature for signature in self.signatures if not signature.trouble)

    @property
    def shared(self) -> Mapping[str, tuple[str, ...]]:
        """Keys with which several parties signed, and those parties: such signatures count once."""
        parties: dict[str, list[str]] = {}
        for signature in self.good:
            parties.setdefault(signature.fingerprint, []).append(signature.party)
        return {key: tuple(names) for key, names in parties.items() if len(names) > 1}

    @property
    def keys(self) -> int:
        """How many different keys have signed."""
        return len({signature.fingerprint for signature in self.good})

    def reason(self, require: int) -> str:
        """Say why the bundle is not verified, where `require` keys must have signed; empty where it is."""
        if self.faults:
            more = f" (and {len(self.faults) - 1} more)" if len(self.faults) > 1 else ""
            return f"{self.faults[0]}{more}"
        if not self.signatures:
            return "nobody has signed it"
        if not self.good:
            return f"no signature counts: {self.signatures[0].party}: {self.signatures[0].trouble}"
        if self.keys < require:
            have = "1 key has" if self.keys == 1 else f"{self.keys} keys have"
            return f"{have} signed it, and {require} are required"
        return ""


@dataclass(frozen=True, slots=True)
class BundleHead:
    """What `bundle.json` says of its bundle; a redacted copy names the digest of the full one's manifest in `full`.

    `unreviewed` are the profiles of its runs that nobody has answered for.
    """

    bundle: str
    level: str
    full: str = field(default="")
    unreviewed: tuple[str, ...] = ()
