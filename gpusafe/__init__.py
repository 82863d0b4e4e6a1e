"""gpusafe: the borrow checker that Rust lacks at the GPU launch boundary."""

__version__ = "0.1.0"
