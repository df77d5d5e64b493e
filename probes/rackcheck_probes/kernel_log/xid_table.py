"""Data about each Xid: number, name, and how tools classify it; `data/xid_sources.csv` lists the sources."""

from importlib.resources import files

from rackcheck.parse.host.kernel_log import xid

TABLE = xid.table((files("rackcheck_probes") / "data" / "xid.csv").read_text("utf-8"))
