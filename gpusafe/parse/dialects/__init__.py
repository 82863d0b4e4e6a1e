"""API knowledge, as data."""
