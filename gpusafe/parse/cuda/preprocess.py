"""The preprocessor: directives, includes of files in the tree, conditions, macros."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from gpusafe.parse.cuda import condition
from gpusafe.parse.cuda.lex import Kind, Starts, Token, tokenize
from gpusafe.parse.cuda.literals import string_value
from gpusafe.parse.cuda.macros import Expander, Macro, TooManyTokens
from gpusafe.span import Span

Includes = Callable[[str, str], "tuple[str, str] | None"]
"""``(file that includes, name as written) -> (file, text)``, or None when the file is not in the tree."""

MAX_INCLUDE_DEPTH = 40

PREDEFINED: dict[str, str] = {
    "__CUDACC__": "1",
    "__NVCC__": "1",
    "__CUDA_ARCH__": "800",
    "__cplusplus": "201703L",
    "__CUDACC_VER_MAJOR__": "12",
    "__CUDACC_VER_MINOR__": "4",
    "CUDART_VERSION": "12040",
    "CUDA_VERSION": "12040",
    "__x86_64__": "1",
    "__linux__": "1",
    "__GNUC__": "11",
    "NULL": "nullptr",
    "CHAR_BIT": "8",
    "SCHAR_MIN": "(-128)",
    "SCHAR_MAX": "127",
    "UCHAR_MAX": "255",
    "SHRT_MIN": "(-32768)",
    "SHRT_MAX": "32767",
    "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647 - 1)",
    "INT_MAX": "2147483647",
    "UINT_MAX": "4294967295U",
    "LONG_MIN": "(-9223372036854775807L - 1L)",
    "LONG_MAX": "9223372036854775807L",
    "ULONG_MAX": "18446744073709551615UL",
    "LLONG_MIN": "(-9223372036854775807LL - 1LL)",
    "LLONG_MAX": "9223372036854775807LL",
    "ULLONG_MAX": "18446744073709551615ULL",
    "INT8_MIN": "(-128)",
    "INT8_MAX": "127",
    "UINT8_MAX": "255",
    "INT16_MIN": "(-32768)",
    "INT16_MAX": "32767",
    "UINT16_MAX": "65535",
    "INT32_MIN": "(-2147483647 - 1)",
    "INT32_MAX": "2147483647",
    "UINT32_MAX": "4294967295U",
    "INT64_MIN": "(-9223372036854775807L - 1L)",
    "INT64_MAX": "9223372036854775807L",
    "UINT64_MAX": "18446744073709551615UL",
    "SIZE_MAX": "18446744073709551615UL",
    "INFINITY": "(1e39f)",
    "NAN": "(0.0f / 0.0f)",
    "CUDART_NAN_F": "(0.0f / 0.0f)",
    "HUGE_VALF": "(1e39f)",
    "HUGE_VAL": "(1e309)",
    "__NV_E4M3": "0",
    "__NV_E5M2": "1",
    "__NV_NOSAT": "0",
    "__NV_SATFINITE": "1",
    "CUDART_INF_F": "(1e39f)",
    "CUDART_INF": "(1e309)",
    "FLT_MAX": "3.402823466e+38f",
    "FLT_MIN": "1.175494351e-38f",
    "FLT_EPSILON": "1.192092896e-07f",
    "DBL_MAX": "1.7976931348623158e+308",
    "DBL_MIN": "2.2250738585072014e-308",
    "DBL_EPSILON": "2.2204460492503131e-16",
    "M_PI": "3.14159265358979323846",
    "M_PI_F": "3.14159265358979323846f",
    "M_E": "2.7182818284590452354",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_LN2": "0.69314718055994530942",
    "M_LOG2E": "1.4426950408889634074",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that the preprocessor could not follow, and where."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """The tokens of the translation unit, the problems met, and the system headers it asks for.

    ``packed``: a ``#pragma pack`` changes the layout of structs somewhere.
    """

    tokens: tuple[Token, ...]
    problems: tuple[Problem, ...]
    headers: tuple[str, ...]
    packed: bool = False


@dataclass(slots=True)
class _Branch:
    """One open ``#if``: whether its present part is active, whether a part was taken, whether the outside is active."""

    active: bool
    taken: bool
    outer: bool


@dataclass(slots=True)
class _State:
    includes: Includes
    macros: dict[str, Macro]
    expander: Expander
    out: list[Token] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    once: set[str] = field(default_factory=set)
    branches: list[_Branch] = field(default_factory=list)
    packed: bool = False

    @property
    def active(self) -> bool:
        return not self.branches or self.branches[-1].active


def preprocess(
    file: str,
    text: str,
    *,
    line: int = 1,
    col: int = 1,
    defines: Mapping[str, str] | None = None,
    includes: Includes | None = None,
    line_starts: Starts | None = None,
) -> Preprocessed:
    """All of ``text`` after preprocessing; never raises for what the text says."""
    macros = {}
    for name, value in {**PREDEFINED, **(defines or {})}.items():
        macros[name] = Macro(name, None, tuple(tokenize(file, value)))
    state = _State(includes or (lambda _file, _name: None), macros, Expander(macros))
    try:
        _file(state, file, tokenize(file, text, line, col, line_starts), 0)
    except TooManyTokens:
        state.problems.append(Problem(Span(file, line, col, line, col + 1), "macro expansion does not end"))
    return Preprocessed(tuple(state.out), tuple(state.problems), tuple(state.headers), state.packed)


def _file(state: _State, file: str, tokens: list[Token], depth: int) -> None:
    outer, state.branches = state.branches, []
    run: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if not (token.first and token.text == "#"):
            if state.active:
                run.append(token)
            at += 1
            continue
        end = at + 1
        while end < len(tokens) and not tokens[end].first:
            end += 1
        directive = tokens[at + 1 : end]
        at = end
        if directive and directive[0].text == "pragma" and len(directive) > 1 and directive[1].text == "pack":
            state.packed = True
        if directive and directive[0].text == "pragma" and not (len(directive) > 1 and directive[1].text == "once"):
            continue  # does not end a run: `#pragma unroll` stands between the arguments of macros
        _flush(state, run)
        if directive:
            _directive(state, file, directive, depth)
    _flush(state, run)
    state.branches = outer


def _flush(state: _State, run: list[Token]) -> None:
    if run:
        state.out.extend(state.expander.expand(run, track=True))
        run.clear()


def _directive(state: _State, file: str, words: list[Token], depth: int) -> None:
    name, rest = words[0].text, words[1:]
    match name:
        case "ifdef" | "ifndef":
            known = bool(rest) and rest[0].text in state.macros
            _open(state, known == (name == "ifdef"))
        case "if":
            _open(state, state.active and _holds(state, words[0], rest))
        case "elif" | "elifdef" | "elifndef":
            _elif(state, name, words[0], rest)
        case "else":
            if state.branches:
                branch = state.branches[-1]
                branch.active = branch.outer and not branch.taken
                branch.taken = True
        case "endif":
            if state.branches:
                state.branches.pop()
        case _ if not state.active:
            pass
        case "define":
            _define(state, rest)
        case "undef":
            if rest:
                state.macros.pop(rest[0].text, None)
        case "include":
            _include(state, file, words[0], rest, depth)
        case "pragma":
            state.once.add(file)
        case "error":
            state.problems.append(Problem(words[0].place, "#error " + " ".join(t.text for t in rest)))
        case _:
            pass


def _open(state: _State, holds: bool) -> None:
    outer = state.active
    state.branches.append(_Branch(outer and holds, holds, outer))


def _elif(state: _State, name: str, word: Token, rest: list[Token]) -> None:
    if not state.branches:
        return
    branch = state.branches[-1]
    if branch.taken or not branch.outer:
        branch.active = False
        return
    holds = _holds(state, word, rest) if name == "elif" else (rest[0].text in state.macros) == (name == "elifdef")
    branch.active = branch.taken = holds


def _holds(state: _State, word: Token, rest: list[Token]) -> bool:
    ready: list[Token] = []
    at = 0
    while at < len(rest):
        if rest[at].text == "defined":
            paren = at + 1 < len(rest) and rest[at + 1].text == "("
            name = rest[at + 2 if paren else at + 1].text if at + (2 if paren else 1) < len(rest) else ""
            ready.append(replace(rest[at], kind=Kind.NUMBER, text=str(int(name in state.macros))))
            at += 4 if paren else 2
        else:
            ready.append(rest[at])
            at += 1
    try:
        return condition.evaluate(Expander(state.macros).expand(ready))
    except condition.BadCondition as problem:
        state.problems.append(Problem(word.place, f"condition of `#{word.text}` not understood: {problem}"))
        return False


def _define(state: _State, rest: list[Token]) -> None:
    if not rest or rest[0].kind is not Kind.IDENT:
        return
    name, body = rest[0].text, rest[1:]
    if not (body and body[0].text == "(" and not body[0].spaced):
        state.macros[name] = Macro(name, None, tuple(body))
        return
    params: list[str] = []
    variadic = False
    for at in range(1, len(body)):
        token = body[at]
        if token.text == ")":
            state.macros[name] = Macro(name, tuple(params), tuple(body[at + 1 :]), variadic)
            return
        if token.kind is Kind.IDENT:
            params.append(token.text)
        elif token.text == "...":
            variadic = True
            if body[at - 1].kind is not Kind.IDENT:
                params.append("__VA_ARGS__")


def _include(state: _State, file: str, word: Token, rest: list[Token], depth: int) -> None:
    if rest and rest[0].kind is Kind.IDENT:
        rest = Expander(state.macros).expand(rest)
    if not rest:
        return
    if rest[0].text == "<":
        name = "".join(t.text for t in rest[1:] if t.text != ">")
    elif rest[0].kind is Kind.STRING:
        name = string_value(rest[0].text)
    else:
        return
    found = state.includes(file, name)
    if found is None:
        state.headers.append(name)
        return
    path, text = found
    if path in state.once:
        return
    if depth >= MAX_INCLUDE_DEPTH:
        state.problems.append(Problem(word.place, f"`{name}` is included too deeply"))
        return
    _file(state, path, tokenize(path, text), depth + 1)
