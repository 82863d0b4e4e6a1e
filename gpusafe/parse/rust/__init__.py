"""Rust syntax."""
