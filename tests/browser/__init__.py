"""A real browser for the HTML report, spoken to without a library."""
