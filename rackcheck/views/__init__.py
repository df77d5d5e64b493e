"""Pure views of collected and judged data, shown by the screens and by the command line alike."""
