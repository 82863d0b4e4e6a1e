"""The file of the cache: many runs at once, a bound on its size, and nothing but data in it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from gpusafe.cache.pack import pack, unpack
from gpusafe.cache.store import Store
from gpusafe.span import Span

WRITER = """
import sys
from pathlib import Path
from gpusafe.cache.store import Store
for n in range(50):
    Store(Path(sys.argv[1])).put("kernel", {f"{sys.argv[2]} {n}".encode(): b"x" * 100})
"""


def test_runs_at_once_lose_nothing(tmp_path: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(who)], env={**os.environ})
        for who in range(3)
    ]
    assert [p.wait(60) for p in started] == [0, 0, 0]
    keys = [f"{who} {n}".encode() for who in range(3) for n in range(50)]
    assert Store(tmp_path).get(keys) == dict.fromkeys(keys, b"x" * 100)


def test_what_was_used_last_stays(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=1000)
    for n in range(9):
        store.put("kernel", {bytes([n]): bytes(100)})
    store.get([b"\0"])
    store.put("kernel", {b"new": bytes(300)})
    kept = Store(tmp_path).get([*(bytes([n]) for n in range(9)), b"new"])
    assert b"new" in kept and b"\0" in kept and b"\1" not in kept
    assert Store(tmp_path).statistics().size <= 1000


def test_bytes_make_data_and_nothing_else() -> None:
    span = Span("a.rs", 1, 2, 3, 4)
    data = pack(span)
    assert data is not None and unpack(data) == span
    assert pack(os.system) is None
    with pytest.raises(ValueError, match=r"checksum|cannot be read"):
        unpack(data[:-3] + b"abc")
    with pytest.raises(ValueError):
        unpack(pickle.dumps(span))
