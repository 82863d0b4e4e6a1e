"""Shared-memory statics, which stock rustc would put into global memory, as real shared variables.

``static mut TILE: SharedArray<f32, 256> = ...;`` becomes a function of the same name that gives the address of a
``.shared`` variable, and each mention of ``TILE`` becomes ``(*TILE())``. The variable itself is declared by
module-level assembly in the same module. Everything stays on its line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpusafe.codegen_check.extract.lex import Lines, Token, tokens

_TYPES = frozenset({"SharedArray", "Barrier", "TmemSlot"})


@dataclass(frozen=True, slots=True)
class _Static:
    """Offsets of the whole item; ``scope_end`` is the brace that closes the block or module around it."""

    name: str
    type: str
    start: int
    end: int
    scope_start: int
    scope_end: int
    module_end: int


def rewrite_shared(
    text: str, path: str, shared_bytes: Mapping[tuple[str, int], int], prefix: str
) -> tuple[str, list[str]]:
    """The text with its shared statics rewritten, and the names of the variables that stand for them."""
    found = _statics(text)
    if not found:
        return text, []
    lines = Lines(text)
    edits: list[tuple[int, int, str]] = []
    made: list[str] = []
    declarations: dict[int, list[str]] = {}
    for i, static in enumerate(found):
        symbol = f"{prefix}_{i}_{static.name}"
        made.append(symbol)
        size = shared_bytes.get((path, lines.line(static.start)))
        newlines = "\n" * text.count("\n", static.start, static.end)
        edits.append((static.start, static.end, _accessor(static, symbol) + newlines))
        declarations.setdefault(static.module_end, []).append(_declaration(static, symbol, size))
        edits += _mentions(text, static)
    edits += [(at, at, " ".join(texts)) for at, texts in declarations.items()]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text, made


def _accessor(static: _Static, symbol: str) -> str:
    return (
        f"#[inline(always)] #[allow(non_snake_case)] pub fn {static.name}() -> *mut {static.type} {{ let p: u64; "
        f'unsafe {{ core::arch::asm!("cvta.shared.u64 {{0}}, {symbol};", out(reg64) p, '
        f"options(pure, nomem, nostack, preserves_flags)) }}; p as *mut _ }}"
    )


def _declaration(static: _Static, symbol: str, size: int | None) -> str:
    if size:
        return f' core::arch::global_asm!(".shared .align 128 .b8 {symbol}[{size}];");'
    return (
        f' core::arch::global_asm!(".shared .align {{a}} .b8 {symbol}[{{n}}];", '
        f"a = const core::mem::align_of::<{static.type}>(), n = const core::mem::size_of::<{static.type}>());"
    )


def _statics(text: str) -> list[_Static]:
    listed = list(tokens(text))
    ends = _scope_ends(listed, len(text))
    found = []
    for i, token in enumerate(listed):
        if token.text == "static" and token.kind == "name":
            static = _read(text, listed, i, ends)
            if static is not None:
                found.append(static)
    return found


def _scope_ends(listed: list[Token], length: int) -> list[tuple[int, int, bool]]:
    """Braces as (start, end, opens a module), outermost first; the file itself is one."""
    found = [(0, length, True)]
    stack: list[tuple[int, bool]] = []
    for i, token in enumerate(listed):
        if token.text == "{":
            is_module = i >= 2 and listed[i - 2].text == "mod" and listed[i - 1].kind == "name"
            stack.append((token.start, is_module))
        elif token.text == "}" and stack:
            start, is_module = stack.pop()
            found.append((start, token.start, is_module))
    return sorted(found)


def _read(text: str, listed: list[Token], at: int, scopes: list[tuple[int, int, bool]]) -> _Static | None:
    """``static [mut] NAME: TYPE = ...;`` at a token, if the type is one of shared memory."""
    i = at + 1
    if i < len(listed) and listed[i].text == "mut":
        i += 1
    if i + 2 >= len(listed) or listed[i].kind != "name" or listed[i + 1].text != ":":
        return None
    name, depth = listed[i].text, 0
    equals = end = None
    for token in listed[i + 2 :]:
        depth += (token.text in "([{<") - (token.text in ")]}>")
        if token.text == "=" and depth == 0 and equals is None:
            equals = token.start
        if token.text == ";" and depth <= 0:
            end = token.end
            break
    if equals is None or end is None:
        return None
    type_text = text[listed[i + 1].end : equals].strip()
    head = type_text.split("<", 1)[0].strip().rsplit("::", 1)[-1]
    if head not in _TYPES:
        return None
    start = listed[at].start
    for token in reversed(listed[max(0, at - 4) : at]):  # a visibility in front
        if token.text not in ("pub", "(", ")", "crate", "super"):
            break
        start = token.start if token.text == "pub" else start
    around = [s for s in scopes if s[0] <= start < s[1]]
    module = [s for s in around if s[2]][-1]
    return _Static(name, " ".join(type_text.split()), start, end, around[-1][0], around[-1][1], module[1])


def _mentions(text: str, static: _Static) -> list[tuple[int, int, str]]:
    """Uses of the name inside its scope as dereferenced calls; a path in front goes into the parentheses."""
    edits = []
    listed = list(tokens(text, static.scope_start, static.scope_end))
    for i, token in enumerate(listed):
        inside = static.start <= token.start < static.end
        if token.text != static.name or token.kind != "name" or inside:
            continue
        first = i
        while first >= 2 and listed[first - 1].text == "::" and listed[first - 2].kind == "name":
            first -= 2
        if first > 0 and listed[first - 1].text in (".", "fn", "mod", "let", "use"):
            continue
        path = text[listed[first].start : token.end]
        edits.append((listed[first].start, token.end, f"(*{path}())"))
    return edits
