"""Modules that several commands use: prepared audits, stored runs, secrets and output."""
