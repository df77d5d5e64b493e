"""Profiles: documents, schema, layers, library, lint, editor help."""
