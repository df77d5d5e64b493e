"""A simulated rack: machines as data, answered over real SSH and real HTTPS on loopback."""
