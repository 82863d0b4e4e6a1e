"""The tables by which users describe the API of their own wrappers (``[[api]]``), once they are checked."""

from __future__ import annotations

from dataclasses import dataclass, field

Place = int | str
"""Which argument of a call: its number (from 0, without ``self``), or ``self``."""

KINDS = ("stream", "event", "device", "pinned", "unified")
"""What a type can be: a handle, or an owner of memory."""

EFFECTS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "new-stream": (frozenset(), frozenset({"kind"})),
    "new-event": (frozenset(), frozenset()),
    "alloc": (frozenset({"of"}), frozenset({"length", "from", "release", "zero", "stream"})),
    "copy": (frozenset({"to", "from"}), frozenset({"stream"})),
    "memset": (frozenset({"to"}), frozenset({"stream"})),
    "synchronize": (frozenset({"what"}), frozenset({"target"})),
    "record": (frozenset({"event", "stream"}), frozenset()),
    "wait": (frozenset({"event", "stream"}), frozenset()),
    "enqueue": (frozenset({"stream"}), frozenset({"reads", "writes"})),
    "free": (frozenset({"target"}), frozenset()),
    "same": (frozenset({"target"}), frozenset()),
    "nothing": (frozenset(), frozenset()),
}
"""Each effect with the keys that it needs and those that it may have."""

WORDS: dict[str, tuple[str, ...]] = {
    "kind": ("blocking", "nonblocking", "legacy"),
    "of": ("device", "pinned", "unified"),
    "release": ("context", "now", "none"),
    "what": ("stream", "event", "context"),
}
"""The keys whose values are words."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One function or method: its effect, with the words and the argument places that it needs.

    ``owner`` is the type before ``::`` or ``.`` (None: a free function). ``method``: called on a value. ``result``:
    what it gives is in an ``Ok``.
    """

    owner: str | None
    name: str
    method: bool
    effect: str
    words: dict[str, str] = field(default_factory=dict)
    places: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    zero: bool = False
    result: bool = False


@dataclass(frozen=True, slots=True)
class ApiTable:
    """The API of one crate in a range of versions. ``where`` is the file and line of the table."""

    crate: str
    versions: str
    source: str
    types: dict[str, str]
    calls: tuple[ApiCall, ...]
    where: str

    def describes(self, owner: str | None, name: str) -> bool:
        """Whether a function of the crate is among the calls."""
        return any(call.owner == owner and call.name == name for call in self.calls)
