"""What is concluded from a burn-in: its records read, its figures judged among their peers. Pure."""
