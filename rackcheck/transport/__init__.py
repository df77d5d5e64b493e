"""Transports to nodes and BMCs: SSH, local, Redfish."""
