"""The questions rackcheck asks of a node: one small file each, found by the entry point `rackcheck.probes`."""
