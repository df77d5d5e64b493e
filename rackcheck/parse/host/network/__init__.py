"""Parsers for the network stack and its devices."""
