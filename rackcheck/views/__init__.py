"""What the screens and their plain twins on the command line both show: pure views of what was read and judged."""
