"""Parsers for memory and NUMA nodes."""
