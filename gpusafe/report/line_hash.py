"""The hash of a source line that GitHub's code scanning computes itself where a log brings none.

Over the 100 characters that are not blank from the line's start on (line ends count as one line feed, the end of the
file as 0xFFFF, zeros behind it): a polynomial in 37 modulo 2^64, in hexadecimal, and how often that value has occurred
in the file so far. Characters are UTF-16 code units. The action that uploads a log
warns where a value differs from its own.
"""

from __future__ import annotations

import operator
import re
from collections import Counter

_BLOCK = 100
_MASK = (1 << 64) - 1
_END = 0xFFFF
_POWERS = [pow(37, _BLOCK - 1 - place, 1 << 64) for place in range(_BLOCK)]
_LINE_END = re.compile(r"\r\n|\r")


def line_hashes(text: str) -> list[str]:
    """The hash of each line; a text that ends with a line end has one more, of the end of the file."""
    lines = _LINE_END.sub("\n", text).split("\n")
    units: list[int] = []
    starts: list[int] = []
    for line in lines:
        starts.append(len(units))
        units += _code_units(line.replace(" ", "").replace("\t", ""))
        units.append(10)
    units[-1] = _END
    seen: Counter[int] = Counter()
    hashes: list[str] = []
    for start in starts:
        value = sum(map(operator.mul, units[start : start + _BLOCK], _POWERS)) & _MASK
        seen[value] += 1
        hashes.append(f"{value:x}:{seen[value]}")
    return hashes


def _code_units(text: str) -> list[int]:
    if text.isascii():
        return list(text.encode("ascii"))
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[place] | data[place + 1] << 8 for place in range(0, len(data), 2)]
