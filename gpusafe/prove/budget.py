"""How much of the solver one kernel may use: resource counts, so that the same input ends the same way everywhere.

Every proof in the corpora takes a query far less than ``QUERY``; most take a thousandth of it. A kernel whose queries
are all hard ends when its account is empty: what it still asks is then answered only if it is cheap (``CHEAP``).
"""

from __future__ import annotations

from dataclasses import dataclass

QUERY = 1_000_000  # units of Z3's `rlimit` for one query (about half a second)
SEARCH = 4_000_000  # for the search for a contract of one kernel
LAUNCHES = 8_000_000  # for all launches of one kernel together
OVERDRAFT = 2_000_000  # what an empty account still grants, in cheap queries
RECHECK = 400_000  # for the proof repeated on PTX: what takes longer is left open, since the source has its proof
CHEAP = 30_000
ENCODING = 8_000  # what each query is charged for being written down


@dataclass(slots=True)
class Budget:
    """An account of solver resources."""

    left: int

    def grant(self, wanted: int) -> int:
        """The limit of a query that would like ``wanted`` units; 0: it may not be asked at all."""
        if self.left > CHEAP:
            return min(wanted, self.left)
        return min(wanted, CHEAP) if self.left > -OVERDRAFT else 0

    def charge(self, used: int) -> None:
        """Takes what a query used from the account."""
        self.left -= used + ENCODING


def for_search() -> Budget:
    """The account of the search for a contract."""
    return Budget(SEARCH)


def for_recheck() -> Budget:
    """The account of the proof that is repeated on what a kernel was compiled to."""
    return Budget(RECHECK)


def for_launches() -> Budget:
    """The account of all launches of a kernel."""
    return Budget(LAUNCHES)
