"""Names under `rackcheck.core` that the guide for authors of probes uses; they live in `rackcheck.model`."""

from rackcheck.model import text as read

__all__ = ["read"]
