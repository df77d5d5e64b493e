"""Probes of a BMC, over Redfish."""
