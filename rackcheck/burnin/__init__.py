"""Burn-in: short compute kernels that test a node's hardware, and their control. Nothing is installed on the node."""
