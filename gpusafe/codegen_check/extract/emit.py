"""Writing the extract: the crate's files with all that is not needed blanked out, so that line numbers stay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpusafe.codegen_check.extract.lex import Lines, opening_of, tokens, words
from gpusafe.codegen_check.extract.needed import Needed, Source, closure, flatten, keeps_leaf
from gpusafe.codegen_check.extract.shared import rewrite_shared
from gpusafe.parse.rust import ast

_KEPT_ATTRIBUTES = words(
    "repr inline cold allow link_section must_use track_caller cfg cfg_attr macro_use macro_export path non_exhaustive"
)
_DERIVES = words("Clone Copy PartialEq Eq PartialOrd Ord Default Hash Debug")
_CRATE_PREFIX = "#![no_std] "
_UNROLL = re.compile(r"#\[(?:\w+::)*unroll\b[^\]]*\]")
_FLOATS = " use gpusafe_ptx::float::GpuFloat as _;"
_FLOAT_METHODS = words(
    "floor ceil round trunc fract abs signum sqrt exp exp2 ln log2 log10 cbrt sin cos tan asin acos atan exp_m1 ln_1p "
    "sinh cosh tanh asinh acosh atanh copysign powf log hypot atan2 div_euclid rem_euclid powi mul_add sin_cos"
)
_DYNAMIC = re.compile(r"\b(?:DynamicSharedArray|dynamic_shared_mem)\b")
DYNAMIC_SYMBOL = "gpusafe_dynamic_shared"


@dataclass(frozen=True, slots=True)
class Extracted:
    """``files`` are to be written below ``folder`` as given; ``origin`` maps their names to the program's own files.

    ``features`` are the crate's own ``#![feature]``s; ``foreign`` the imports that no shim covers; ``shared`` the names
    of the shared variables that stand for the program's shared statics.
    """

    root: str
    files: Mapping[str, str]
    origin: Mapping[str, str]
    features: tuple[str, ...]
    foreign: tuple[str, ...]
    shared: tuple[str, ...]


class _Page:
    """A file's text, blank at first, into which pieces are copied or written at their places."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._cells = ["\n" if c == "\n" else " " for c in text]

    def copy(self, start: int, end: int) -> None:
        """Show ``text[start:end]``."""
        self._cells[start:end] = list(self._text[start:end])

    def write(self, start: int, end: int, new: str) -> None:
        """Put ``new`` (one line) where ``text[start:end]`` was; the lines below stay where they are."""
        self._cells[start:end] = ["\n" if c == "\n" else "" for c in self._text[start:end]]
        if end > start:
            self._cells[start] = new + ("\n" if self._text[start] == "\n" else "")

    def insert(self, at: int, new: str) -> None:
        """Put ``new`` before the character at ``at``."""
        if at < len(self._cells):
            self._cells[at] = new + self._cells[at]
        else:
            self._cells.append(new)

    def result(self) -> str:
        """The page as text."""
        return "".join(self._cells)


def extract(
    modules: Mapping[tuple[str, ...], tuple[ast.SourceFile, tuple[ast.Item, ...]]],
    kernel: ast.Fn,
    folder: Path,
    shared_bytes: Mapping[tuple[str, int], int],
) -> Extracted:
    """Cut the kernel out of the crate whose modules (by path, file modules only) are given.

    ``folder`` is where the files will be written. ``shared_bytes`` gives, by file and line of a shared static, its size
    where the kernel IR knows it.
    """
    sources = {path: Source(file, path, Lines(file.text)) for path, (file, _) in modules.items()}
    entries = [e for path, (_, items) in modules.items() for e in flatten(sources[path], items)]
    home = next(e for e in entries if e.item is kernel)
    needed = closure(entries, home)
    local = frozenset(e.item.name for e in entries if isinstance(e.item, ast.Mod))
    known = local | {e.item.name for e in entries if id(e.item) in needed.kept}
    known |= {leaf.alias for e in entries if isinstance(e.item, ast.Use) for leaf in e.item.leaves}
    names = {path: f"f{i}_{'_'.join(path) or 'root'}.rs" for i, path in enumerate(sources)}
    files: dict[str, str] = {}
    shared: list[str] = []
    for path, source in sources.items():
        writer = _Writer(source, needed, kernel, local, known, names, folder)
        text = _UNROLL.sub(lambda m: " " * len(m[0]), writer.write(modules[path][1]))
        text, made = rewrite_shared(text, source.file.path, shared_bytes, f"gpusafe_s{len(files)}")
        shared += made
        files[names[path]] = text
    root = names[()]
    if any(_DYNAMIC.search(text) for text in files.values()):
        files[root] += f'\ncore::arch::global_asm!(".extern .shared .align 128 .b8 {DYNAMIC_SYMBOL}[];");\n'
    files[root] = _CRATE_PREFIX + files[root]
    origin = {names[path]: source.file.path for path, source in sources.items()}
    features = _features(sources[()].file)
    return Extracted(root, files, origin, features, tuple(sorted(needed.foreign)), tuple(shared))


def _features(file: ast.SourceFile) -> tuple[str, ...]:
    found: list[str] = []
    for attribute in file.attributes:
        if attribute.path == "feature":
            found += [word.strip() for word in attribute.text.split(",") if word.strip()]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Writer:
    source: Source
    needed: Needed
    kernel: ast.Fn
    local: frozenset[str]
    known: frozenset[str]
    names: Mapping[tuple[str, ...], str]
    folder: Path

    def write(self, items: tuple[ast.Item, ...]) -> str:
        page = _Page(self.source.file.text)
        stack = [(item, self.source.module) for item in reversed(items)]
        while stack:
            item, module = stack.pop()
            if item.span.file != self.source.file.path:
                continue  # of an include!: not followed
            if isinstance(item, ast.Mod):
                if item.items is None:
                    self._file_module(page, item, (*module, item.name))
                else:
                    self._inline_module(page, item)
                    stack += [(inner, (*module, item.name)) for inner in reversed(item.items)]
            else:
                self._item(page, item)
        if self.needed.members & _FLOAT_METHODS:
            page.insert(0, _FLOATS)
        return page.result()

    def _file_module(self, page: _Page, item: ast.Mod, path: tuple[str, ...]) -> None:
        name = self.names.get(path)
        if name is not None:
            start, end = self.source.start(item), self.source.end(item)
            # beside this file; inside of an inline module rustc would look elsewhere
            where = name if path[:-1] == self.source.module else self.folder / name
            page.write(start, end, f'#[path = "{where}"] pub mod {item.name};')

    def _inline_module(self, page: _Page, item: ast.Mod) -> None:
        start, end = self.source.start(item), self.source.end(item)
        brace = opening_of(self.source.file.text, start, end)
        if brace is None:
            return
        self._attributes(page, item)
        page.copy(start, brace + 1)
        page.copy(end - 1, end)
        if self.needed.members & _FLOAT_METHODS:
            page.insert(brace + 1, _FLOATS)

    def _item(self, page: _Page, item: ast.Item) -> None:
        start, end = self.source.start(item), self.source.end(item)
        match item:
            case ast.Use():
                self._use(page, item)
            case ast.Impl() if id(item) in self.needed.kept:
                self._impl(page, item)
            case ast.Fn() if item is self.kernel:
                self._attributes(page, item)
                page.copy(start, end)
                self._entry(page, item, start)
                self._launch_context(page, item)
            case _ if id(item) in self.needed.kept:
                self._attributes(page, item)
                page.copy(start, end)

    def _entry(self, page: _Page, item: ast.Fn, start: int) -> None:
        """``pub unsafe fn k`` becomes a kernel in rustc's own terms."""
        text = self.source.file.text
        keyword = next((t for t in tokens(text, start) if t.text == "fn"), None)
        if keyword is None:
            return
        unsafe = "unsafe " if item.is_unsafe else ""
        page.write(start, keyword.start, f'#[unsafe(no_mangle)] pub {unsafe}extern "ptx-kernel" ') if (
            keyword.start > start
        ) else page.insert(start, f'#[unsafe(no_mangle)] pub {unsafe}extern "ptx-kernel" ')

    def _launch_context(self, page: _Page, item: ast.Fn) -> None:
        """``#[kernel(launch_context = lc)]`` binds ``lc`` in the body."""
        kernel = item.attribute("kernel")
        named = re.search(r"launch_context\s*=\s*(\w+)", kernel.text) if kernel is not None else None
        if named and item.body is not None:
            context = f" let {named[1]} = &cuda_device::thread::LaunchContext;"
            page.insert(self.source.start(item.body) + 1, context)

    def _impl(self, page: _Page, item: ast.Impl) -> None:
        start, end = self.source.start(item), self.source.end(item)
        brace = opening_of(self.source.file.text, start, end)
        if brace is None:
            return
        self._attributes(page, item)
        page.copy(start, brace + 1)
        page.copy(end - 1, end)
        chosen = self.needed.methods.get(id(item), set())
        for inner in item.items:
            if id(inner) in chosen:
                self._attributes(page, inner)
                page.copy(self.source.start(inner), self.source.end(inner))

    def _use(self, page: _Page, item: ast.Use) -> None:
        kept = [leaf for leaf in item.leaves if keeps_leaf(leaf, self.needed, self.local, self.known)]
        if not kept:
            return
        visible = "pub(crate) " if item.is_pub else ""
        self._attributes(page, item)
        page.write(self.source.start(item), self.source.end(item), " ".join(visible + _use_text(leaf) for leaf in kept))

    def _attributes(self, page: _Page, item: ast.Item) -> None:
        done: set[int] = set()
        for attribute in item.attributes:
            start, end = self.source.start(attribute), self.source.end(attribute)
            if start in done or attribute.span.file != self.source.file.path:
                continue
            if attribute.path == "derive":
                done.add(start)
                known = [d.strip() for d in attribute.text.split(",") if d.strip().rsplit("::", 1)[-1] in _DERIVES]
                page.write(start, end, f"#[derive({', '.join(k.rsplit('::', 1)[-1] for k in known)})]")
            elif attribute.path == "inline" and attribute.text.strip() == "never":
                done.add(start)  # what is inlined has its places in the kernel's own code
            elif attribute.path in _KEPT_ATTRIBUTES:
                done.add(start)
                page.copy(start, end)


def _use_text(leaf: ast.UseLeaf) -> str:
    path = "::".join(leaf.path)
    if leaf.alias == "*":
        return f"use {path}::*;"
    if leaf.path and leaf.path[-1] == leaf.alias:
        return f"use {path};"
    return f"use {path} as {leaf.alias};"
