"""Macros that the program defines itself with ``macro_rules!``: expanded as text, reported at the call."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build import parse_wrapped
from gpusafe.parse.rust.device.frames import Scope
from gpusafe.parse.rust.device.lowering import Gap, Lowering
from gpusafe.parse.rust.device.program import Module
from gpusafe.parse.rust.device.types import Ty
from gpusafe.parse.rust.device.values import Value
from gpusafe.parse.rust.macro_text import tokens

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_STOPS = frozenset({",", ";"})
_MAX_DEPTH = 8
_MAX_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Tree:
    """A token, or a bracketed group (``inner`` set); ``spaced``: white space stands before it."""

    text: str
    spaced: bool
    inner: tuple[Tree, ...] | None = None


@dataclass(slots=True)
class Binding:
    """What a fragment matched: its trees, or one binding for each repetition."""

    kind: str
    trees: tuple[Tree, ...] = ()
    many: list[dict[str, Binding]] | None = None


Bound = dict[str, Binding]


@dataclass(eq=False, slots=True)
class _Frame:
    trees: list[Tree] = field(default_factory=list)
    opener: str = ""
    spaced: bool = False


def trees_of(text: str) -> tuple[Tree, ...] | None:
    """The token trees of a text; None when its brackets do not pair up."""
    stack = [_Frame()]
    end = 0
    for found in tokens(text):
        token, spaced = found[0], found.start() > end
        end = found.end()
        if token in _CLOSING:
            stack.append(_Frame([], token, spaced))
        elif token in _CLOSING.values():
            frame = stack.pop()
            if not stack or _CLOSING[frame.opener] != token:
                return None
            stack[-1].trees.append(Tree(frame.opener, frame.spaced, tuple(frame.trees)))
        else:
            stack[-1].trees.append(Tree(token, spaced))
    return tuple(stack[0].trees) if len(stack) == 1 else None


def _text(trees: tuple[Tree, ...] | list[Tree]) -> str:
    out: list[str] = []
    for tree in trees:
        out.append(" " if tree.spaced else "")
        out.append(tree.text)
        if tree.inner is not None:
            out += [_text(tree.inner), _CLOSING[tree.text]]
    return "".join(out)


# -- matching --------------------------------------------------------------------------------------------------------


def _match(pattern: tuple[Tree, ...], given: tuple[Tree, ...]) -> Bound | None:
    """Match a whole input against a whole matcher."""
    made = _match_some(pattern, given, 0)
    return made[0] if made is not None and made[1] == len(given) else None


def _match_some(pattern: tuple[Tree, ...], given: tuple[Tree, ...], at: int) -> tuple[Bound, int] | None:
    """Match a matcher at a place of the input; the bindings, and where it ended."""
    bound: Bound = {}
    i = 0
    while i < len(pattern):
        tree = pattern[i]
        if tree.text == "$" and i + 1 < len(pattern):
            following = pattern[i + 1]
            if following.inner is not None:
                separator, i = _repetition(pattern, i + 2)
                at, rounds = _match_many(following.inner, separator, given, at)
                for name in _names(following.inner):
                    bound[name] = Binding("many", many=rounds)
                continue
            kind = pattern[i + 3].text if i + 3 < len(pattern) and pattern[i + 2].text == ":" else ""
            i += 4
            end = _fragment(kind, given, at, pattern[i].text if i < len(pattern) else None)
            if end is None:
                return None
            bound[following.text] = Binding(kind, given[at:end])
            at = end
            continue
        if at >= len(given) or given[at].text != tree.text:
            return None
        if tree.inner is not None:
            inner = _match(tree.inner, given[at].inner or ())
            if inner is None:
                return None
            bound.update(inner)
        at += 1
        i += 1
    return bound, at


def _repetition(pattern: tuple[Tree, ...], at: int) -> tuple[str | None, int]:
    """The separator of ``$(..) sep op`` and where the pattern goes on."""
    if pattern[at].text in "*+?":
        return None, at + 1
    return pattern[at].text, at + 2


def _match_many(
    pattern: tuple[Tree, ...], separator: str | None, given: tuple[Tree, ...], at: int
) -> tuple[int, list[Bound]]:
    rounds: list[Bound] = []
    while at <= len(given):
        start = at
        if rounds and separator is not None:
            if at >= len(given) or given[at].text != separator:
                break
            start = at + 1
        made = _match_some(pattern, given, start)
        if made is None or made[1] == start:
            break
        rounds.append(made[0])
        at = made[1]
    return at, rounds


def _fragment(kind: str, given: tuple[Tree, ...], at: int, stop: str | None) -> int | None:
    """Where a fragment of a kind ends."""
    if at >= len(given):
        return None
    match kind:
        case "ident" | "lifetime":
            return at + 1 if given[at].text[:1].isalpha() or given[at].text[:1] in "_'" else None
        case "tt" | "block":
            return at + 1
        case "literal":
            return at + 2 if given[at].text == "-" else at + 1
        case _:
            end = at
            while end < len(given) and given[end].text not in _STOPS and given[end].text != stop:
                if given[end].text == "=" and end + 1 < len(given) and given[end + 1].text == ">":
                    break
                end += 1
            return end if end > at else None


def _names(pattern: tuple[Tree, ...]) -> list[str]:
    out: list[str] = []
    todo = [pattern]
    while todo:
        here = todo.pop()
        for i, tree in enumerate(here):
            if tree.inner is not None:
                todo.append(tree.inner)
            elif tree.text == "$" and i + 1 < len(here) and here[i + 1].inner is None:
                out.append(here[i + 1].text)
    return out


# -- transcribing ----------------------------------------------------------------------------------------------------


def _transcribe(body: tuple[Tree, ...], bound: Bound) -> list[Tree]:
    out: list[Tree] = []
    i = 0
    while i < len(body):
        tree = body[i]
        if tree.text == "$" and i + 1 < len(body):
            following = body[i + 1]
            if following.inner is not None:
                separator, i = _repetition(body, i + 2)
                out += _transcribe_many(following.inner, separator, bound)
                continue
            i += 2
            binding = bound.get(following.text)
            if binding is None or binding.many is not None:
                out += [tree, following] if following.text != "crate" else [Tree("crate", tree.spaced)]
            elif binding.kind == "expr" and len(binding.trees) > 1:
                out.append(Tree("(", tree.spaced, binding.trees))
            else:
                first, *rest = binding.trees or (Tree("", False),)
                out += [Tree(first.text, tree.spaced, first.inner), *rest]
            continue
        inner = tuple(_transcribe(tree.inner, bound)) if tree.inner is not None else None
        out.append(Tree(tree.text, tree.spaced, inner))
        i += 1
    return out


def _transcribe_many(body: tuple[Tree, ...], separator: str | None, bound: Bound) -> list[Tree]:
    names = [n for n in _names(body) if n in bound and bound[n].many is not None]
    if not names:
        return []
    rounds = bound[names[0]].many or []
    out: list[Tree] = []
    for number, one in enumerate(rounds):
        if number and separator is not None:
            out.append(Tree(separator, False))
        out += [Tree(t.text, True, t.inner) if i == 0 else t for i, t in enumerate(_transcribe(body, {**bound, **one}))]
    return out


# -- expanding -------------------------------------------------------------------------------------------------------


def _definition(lw: Lowering, path: ast.Path) -> ast.MacroRules | None:
    module: Module | None = lw.scope.module
    while module is not None:
        if path.last in module.macros:
            return module.macros[path.last]
        module = module.parent
    for root in lw.program.roots.values():
        for module in lw.program.walk(root):
            found = module.macros.get(path.last)
            if found is not None and (found.attribute("macro_export") or len(path.names) > 1 or found.is_pub):
                return found
    return None


def expanded_text(definition: ast.MacroRules, text: str) -> str | None:
    """The text that a call stands for; None when no rule matches."""
    given = trees_of(text)
    if given is None:
        return None
    for matcher, transcriber in definition.rules:
        pattern, body = trees_of(matcher), trees_of(transcriber)
        if pattern is None or body is None:
            continue
        bound = _match(pattern, given)
        if bound is not None:
            made = _text(_transcribe(body, bound))
            return made if len(made) <= _MAX_TEXT else None
    return None


def expand_items(item: ast.MacroItem, module: Module) -> tuple[ast.Item, ...]:
    """The items that a call in item position makes, empty for macros of other crates."""
    here: Module | None = module
    while here is not None:
        definition = here.macros.get(item.call.path.last)
        if definition is not None:
            depth = sum(1 for part in module.path if part.startswith("{"))
            text = expanded_text(definition, item.call.text) if depth <= _MAX_DEPTH else None
            return parse_wrapped("", text.strip(), "\n", item.call.span) or () if text is not None else ()
        here = here.parent
    return ()


def expand(lw: Lowering, node: ast.MacroCall, want: Ty | None) -> Value | None:
    """Expand a call of a macro of the program; None when it is not one."""
    definition = _definition(lw, node.path)
    if definition is None:
        return None
    text = expanded_text(definition, node.text)
    if text is None:
        raise Gap(f"the macro `{node.path.last}!`, whose call is not understood")
    items = parse_wrapped("fn __gpusafe(){", text.strip(), "\n}", node.span)
    item = items[0] if items else None
    if not isinstance(item, ast.Fn) or item.body is None:
        raise Gap(f"the expansion of the macro `{node.path.last}!`")
    if lw.expanding >= _MAX_DEPTH:
        raise Gap(f"the macro `{node.path.last}!`, which expands too deeply")
    site, lw.frame.site = lw.frame.site, lw.at(node.span)
    lw.expanding += 1
    outer = lw.scope
    lw.scope = Scope(outer, outer.module)
    try:
        return lw.hooks.block(lw, item.body, want)
    finally:
        lw.expanding -= 1
        lw.frame.site = site
        lw.scope = outer
