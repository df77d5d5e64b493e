"""Parsers for the operating system, its services and its firmware tables."""
