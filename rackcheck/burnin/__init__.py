"""Short kernels that prove the hardware: what travels to a node, and how it is driven. Nothing is installed there."""
