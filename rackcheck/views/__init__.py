"""Pure views of collected and judged data, used by both the screens and the command line."""
