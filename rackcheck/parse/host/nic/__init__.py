"""Parsers for network adapters, RDMA and their tools."""
