"""Probes of PCIe devices, links and slots."""
