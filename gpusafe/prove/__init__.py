"""Obligations and their decision; the only package that imports a solver."""
