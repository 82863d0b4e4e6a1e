"""Results as bytes and back. Reading makes data of gpusafe's own classes only, whatever the bytes say."""

from __future__ import annotations

import hashlib
import io
import pickle
import zlib
from enum import Enum
from typing import Any

_MODULES = (
    "gpusafe.app",
    "gpusafe.verdict",
    "gpusafe.span",
    "gpusafe.results",
    "gpusafe.dataflow.contracts",
    "gpusafe.ir.expr",
    "gpusafe.ir.kernel",
    "gpusafe.ir.host",
)
_DIGEST = 32  # bytes
_MOST = 64 * 1024 * 1024  # bytes of one result


def pack(value: Any) -> bytes | None:
    """``value`` with a checksum; None for what cannot be written or would not be read again."""
    try:
        plain = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except (RecursionError, pickle.PicklingError, TypeError, AttributeError):
        return None
    if len(plain) > _MOST:
        return None
    data = hashlib.sha256(plain).digest() + zlib.compress(plain, 1)
    try:
        unpack(data)
    except ValueError:
        return None
    return data


def unpack(data: bytes) -> Any:
    """The value that was packed; raises ValueError for everything else."""
    try:
        inflate = zlib.decompressobj()
        plain = inflate.decompress(data[_DIGEST:], _MOST)
        if not inflate.eof or hashlib.sha256(plain).digest() != data[:_DIGEST]:
            raise ValueError("the checksum is wrong")
        return _Reader(io.BytesIO(plain)).load()
    except ValueError:
        raise
    except Exception as problem:  # what damaged bytes lead to has no limits
        raise ValueError(f"cannot be read: {problem}") from None


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module in _MODULES:
            found = super().find_class(module, name)
            own = isinstance(found, type) and found.__module__ == module
            if own and (issubclass(found, Enum) or hasattr(found, "__dataclass_fields__")):
                return found
        raise ValueError(f"{module}.{name} does not belong into a cache")
