"""A clockwork solar system for the terminal."""
