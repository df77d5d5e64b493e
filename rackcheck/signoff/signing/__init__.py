"""Signatures of a report's bundle: a manifest of digests, statements of parties, and their verification offline.

`SHA256SUMS` lists every file. `signatures/PARTY.json` is the statement: who signs this manifest.
`signatures/PARTY.json.sig` is the SSH signature of the statement. Standard tools (sha256sum, ssh-keygen) can read the
manifest, the statements and the signatures.
"""

from rackcheck.signoff.signing.checking import verify
from rackcheck.signoff.signing.making import NotPassed, Unsound, sign
from rackcheck.signoff.signing.shape import BundleFault, Signature, Verification
from rackcheck.signoff.signing.signers import Signers

__all__ = ["BundleFault", "NotPassed", "Signature", "Signers", "Unsound", "Verification", "sign", "verify"]
