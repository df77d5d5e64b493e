"""Parsers for the kernel log and its messages."""
