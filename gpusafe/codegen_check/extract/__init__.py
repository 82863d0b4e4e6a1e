"""One kernel with everything that it needs, cut out of its crate as a crate that stock rustc compiles by itself."""

from gpusafe.codegen_check.extract.emit import Extracted, extract

__all__ = ["Extracted", "extract"]
