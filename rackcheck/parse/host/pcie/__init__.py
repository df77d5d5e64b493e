"""Parsers for PCIe devices and links."""
