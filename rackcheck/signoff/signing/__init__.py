"""Signatures over a report's bundle: a manifest of digests, statements of parties, and their check offline.

`SHA256SUMS` names every file; `signatures/PARTY.json` names who signs that manifest, `signatures/PARTY.json.sig` is
the SSH signature of it. The stock tools (sha256sum, ssh-keygen) read all three.
"""

from rackcheck.signoff.signing.checking import verify
from rackcheck.signoff.signing.making import Unsound, sign
from rackcheck.signoff.signing.shape import BundleFault, Signature, Verification
from rackcheck.signoff.signing.signers import Signers

__all__ = ["BundleFault", "Signature", "Signers", "Unsound", "Verification", "sign", "verify"]
