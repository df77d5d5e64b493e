"""Parsers for processors and interrupts."""
