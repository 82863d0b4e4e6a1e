"""Text to syntax to typed trees to the kernel IR."""
