"""Engines that run shards elsewhere, by name."""

from rackcheck.base.user_error import UserError
from rackcheck.profile.layers import did_you_mean
from rackcheck.shard.engines.contract import Engine

NAMES = ("local", "local:COUNT", "slurm", "slurm:PARTITION", "dask://HOST:PORT", "dask+tls://HOST:PORT")
"""The forms of an engine's name."""


def engine(name: str) -> Engine:
    """Return the engine of a name; raises UserError if there is none."""
    kind, mark, rest = name.partition(":")
    if kind == "local" and (not mark or (rest.isdecimal() and 0 < int(rest) <= 1000)):
        from rackcheck.shard.engines.local import LocalEngine  # noqa: PLC0415  only the engine in use is loaded

        return LocalEngine(int(rest) if rest else None)
    if kind == "slurm" and (not mark or rest):
        from rackcheck.shard.engines.slurm import SlurmEngine  # noqa: PLC0415

        return SlurmEngine(rest)
    if kind in {"dask", "dask+tls"} and rest.startswith("//") and len(rest) > 2:
        from rackcheck.shard.engines.dask import DaskEngine  # noqa: PLC0415

        return DaskEngine(f"{'tls' if kind == 'dask+tls' else 'tcp'}:{rest}")
    hint = did_you_mean(name, NAMES)
    raise UserError(f"no engine {name!r:.80}{hint}; there are {', '.join(NAMES)}")
