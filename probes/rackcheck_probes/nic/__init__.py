"""Probes of network adapters and RDMA."""
