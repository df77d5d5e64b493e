"""What is known of each Xid: numbers, names, and who makes what of them; `data/xid_sources.csv` says where from."""

from importlib.resources import files

from rackcheck.parse.host.kernel_log import xid

TABLE = xid.table((files("rackcheck_probes") / "data" / "xid.csv").read_text("utf-8"))
