"""Modules that commands share: subjects, prepared jobs, stored runs, output."""
