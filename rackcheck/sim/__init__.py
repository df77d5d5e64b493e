"""Simulates a rack: SSH and HTTPS servers on loopback addresses return the recorded data of machines."""
