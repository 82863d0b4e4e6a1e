"""The PTX stage."""
