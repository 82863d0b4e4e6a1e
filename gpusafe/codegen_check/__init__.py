"""The PTX stage: kernels compiled with stock rustc, and their PTX held against what their source asks for.

Nothing of the analysed program runs: no build scripts, no procedural macros; the compiler itself runs in a folder of
its own with limits. What the stage cannot do is said in a status (``skipped``, with the reason), never by an exception.
"""

from gpusafe.codegen_check.confirm import confirm
from gpusafe.codegen_check.core_library import setup_core
from gpusafe.codegen_check.judge import Confirmation
from gpusafe.codegen_check.toolchain import Toolchain, find
from gpusafe.codegen_check.unconfirmed import unconfirmed

__all__ = ["Confirmation", "Toolchain", "confirm", "find", "setup_core", "unconfirmed"]
