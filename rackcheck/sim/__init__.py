"""A simulated rack: machines as data, served over real SSH and real HTTPS on loopback."""
