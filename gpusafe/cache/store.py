"""Bytes by key in one SQLite file that many runs may use at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

FILE = "verdicts.sqlite"
LIMIT = 256 * 1024 * 1024
"""Bytes of values; beyond them the entries go that were used least recently, down to four fifths."""

_FORMAT = 1
_WAIT = 2.0  # seconds for another run that writes
_AT_ONCE = 400  # keys in one query
_TABLES = """
CREATE TABLE entry (
    key BLOB PRIMARY KEY, kind TEXT NOT NULL, value BLOB NOT NULL, size INTEGER NOT NULL,
    used REAL NOT NULL, hits INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX entry_used ON entry (used, size);
CREATE TABLE counter (name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a cache holds: entries by kind, bytes of the values, and how often a key was found and not found."""

    entries: Mapping[str, int]
    size: int
    hits: int
    misses: int


@dataclass(slots=True)
class Store:
    """The cache in ``folder``. A connection is open only while it is used, so that processes may fork in between.

    A damaged file is made anew; one that cannot be used is left alone, and there is no cache. Both are told in
    ``notices``.
    """

    folder: Path
    limit: int = LIMIT
    notices: list[str] = field(default_factory=list)
    _off: bool = False

    @property
    def file(self) -> Path:
        """The file of the cache."""
        return self.folder / FILE

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are known; counts found and not found."""
        return self._guarded(lambda: self._get(keys), {}) if keys else {}

    def put(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        """Keep values under keys: all of them, or none where the run is ended meanwhile."""
        if values:
            self._guarded(lambda: self._put(kind, values), None)

    def statistics(self) -> Statistics:
        """What there is now."""
        return self._guarded(self._statistics, Statistics({}, 0, 0, 0)) if self.file.exists() else _NOTHING

    def clear(self) -> None:
        """Remove everything; raises OSError where that cannot be done."""
        for file in _files(self.file):
            file.unlink(missing_ok=True)

    def _guarded(self, work: Callable[[], T], otherwise: T) -> T:
        if self._off:
            return otherwise
        for last in (False, True):
            try:
                return work()
            except sqlite3.OperationalError as problem:  # locked, read-only, no space: no fault of the content
                self._give_up(str(problem))
                return otherwise
            except (sqlite3.DatabaseError, _OtherFormat) as problem:
                if last or not self._renew(problem):
                    self._give_up(str(problem))
                    return otherwise
            except OSError as problem:
                self._give_up(problem.strerror or str(problem))
                return otherwise
        return otherwise

    def _give_up(self, why: str) -> None:
        self._off = True
        self.notices.append(f"the cache {self.file} is not used: {why}")

    def _renew(self, problem: Exception) -> bool:
        if not isinstance(problem, _OtherFormat):
            self.notices.append(f"the cache {self.file} was damaged and is made anew: {problem}")
        try:
            self.clear()
        except OSError:
            return False
        return True

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self.folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.file, timeout=_WAIT, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if _version(connection) != _FORMAT:
                with _transaction(connection):
                    _make(connection)
            yield connection
        finally:
            connection.close()

    def _get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        with self._open() as connection:
            for start in range(0, len(keys), _AT_ONCE):
                part = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                found |= connection.execute(f"SELECT key, value FROM entry WHERE key IN ({marks})", part).fetchall()
            with contextlib.suppress(sqlite3.OperationalError), _transaction(connection):
                now = time.time()
                connection.executemany(
                    "UPDATE entry SET used = ?, hits = hits + 1 WHERE key = ?", [(now, key) for key in found]
                )
                _count(connection, "hits", len(found))
                _count(connection, "misses", len(keys) - len(found))
        return found

    def _put(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        now = time.time()
        with self._open() as connection, _transaction(connection):
            connection.executemany(
                "INSERT OR REPLACE INTO entry (key, kind, value, size, used) VALUES (?, ?, ?, ?, ?)",
                [(key, kind, value, len(value), now) for key, value in values.items()],
            )
            _prune(connection, self.limit)

    def _statistics(self) -> Statistics:
        with self._open() as connection:
            entries = dict(connection.execute("SELECT kind, count(*) FROM entry GROUP BY kind ORDER BY kind"))
            counts = dict(connection.execute("SELECT name, count FROM counter"))
            return Statistics(entries, _size(connection), counts.get("hits", 0), counts.get("misses", 0))


_NOTHING = Statistics({}, 0, 0, 0)


class _OtherFormat(Exception):
    """The file is of another version of gpusafe."""


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _make(connection: sqlite3.Connection) -> None:
    """The tables of a new file, unless another run was faster."""
    match _version(connection):
        case 0:
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
        case version if version != _FORMAT:
            raise _OtherFormat(f"format {version}")


def _count(connection: sqlite3.Connection, name: str, more: int) -> None:
    if more:
        connection.execute(
            "INSERT INTO counter VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET count = count + excluded.count",
            (name, more),
        )


def _size(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(sum(size), 0) FROM entry").fetchone()[0])


def _prune(connection: sqlite3.Connection, limit: int) -> None:
    excess = _size(connection) - limit
    if excess <= 0:
        return
    excess += limit // 5
    gone = []
    for key, size in connection.execute("SELECT key, size FROM entry ORDER BY used"):
        if excess <= 0:
            break
        gone.append((key,))
        excess -= size
    connection.executemany("DELETE FROM entry WHERE key = ?", gone)


def _files(file: Path) -> list[Path]:
    return [file, *(Path(f"{os.fspath(file)}{end}") for end in ("-wal", "-shm", "-journal"))]
