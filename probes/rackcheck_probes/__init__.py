"""The probes of rackcheck: one small file each, registered under the entry point `rackcheck.probes`."""
