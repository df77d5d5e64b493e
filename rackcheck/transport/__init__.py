"""Transports to nodes and BMCs: SSH, a local shell, and Redfish."""
