"""Parsers for GPUs, their drivers and their fabric."""
