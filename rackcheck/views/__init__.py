"""Views of collected and judged data for the screens and the command line; no view reads files or contacts nodes."""
