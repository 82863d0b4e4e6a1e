"""From compiled PTX to a status and to obligations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpusafe.codegen_check.assemble import Assembled, assemble, needs_newer_target
from gpusafe.codegen_check.build import Built
from gpusafe.codegen_check.compare import Weaker, compare
from gpusafe.codegen_check.compare.operations import statements
from gpusafe.codegen_check.compile import Complaint
from gpusafe.codegen_check.extract.lex import Lines, tokens
from gpusafe.codegen_check.flags import Target
from gpusafe.codegen_check.kept import Kept
from gpusafe.codegen_check.ptx import Function, PtxError, Unit, read
from gpusafe.codegen_check.race_proof import PTX, race_proof
from gpusafe.codegen_check.stages import Lost, Stages, first_without, kind_of
from gpusafe.codegen_check.toolchain import Ptxas
from gpusafe.ir.host import LaunchSite
from gpusafe.ir.kernel import Atomic, Fence, Kernel, Order, Stmt
from gpusafe.prove.again import Again
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Obligation, PtxStatus, Site, Verdict

_SHARED_LIMIT = 48 * 1024  # of static shared memory, on all targets
_ORDERED = frozenset({Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST})


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the PTX stage says about one kernel: a status for each target, and refuted obligations."""

    statuses: tuple[PtxStatus, ...]
    obligations: tuple[Obligation, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A refutation for one target."""

    rule: str
    message: str
    primary: Site
    related: tuple[Site, ...]
    notes: tuple[str, ...]
    help: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The outcome for one target."""

    status: PtxStatus
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges one kernel's PTX.

    ``text`` is the file that the kernel stands in; ``with_host`` are the regions that the host uses while it runs,
    ``meant_shared`` the statics that an attribute asks to be in shared memory. ``sites`` are its launches; with
    ``again`` its races are proved once more on the PTX; a race there is a fault where the source is ``proved``.
    """

    kernel: Kernel
    ptxas: Ptxas | None
    text: str
    with_host: frozenset[str] = frozenset()
    meant_shared: frozenset[str] = frozenset()
    sites: Sequence[LaunchSite] = ()
    again: bool = False
    proved: bool = False
    _proofs: dict[tuple[str, ...], Again] = field(default_factory=dict)
    _stages: list[Stages] = field(default_factory=list)
    _told: set[tuple[str, str, int]] = field(default_factory=set)

    def judge(self, built: Built, target: Target, folder: Path, kept: Kept) -> Judged:
        """What is to be said about one target."""
        compiled = built.compiled
        if compiled.ptx is None:
            return self._not_compiled(built, target)
        try:
            unit = read(compiled.ptx)
        except PtxError as error:
            return _skip(target, f"the PTX could not be read: {error}")
        function = unit.function(self.kernel.path.rsplit("::", 1)[-1]) or unit.function(self.kernel.name)
        if function is None or function.kind != "entry":
            return _skip(target, f"the PTX has no entry `{self.kernel.name}`")
        assembled = None if self.ptxas is None else assemble(self.ptxas, compiled.ptx, target, folder, kept)
        if assembled is not None and not assembled.ok:
            return self._not_assembled(built, unit, assembled, target)
        used = _static_shared(unit, function)
        if used > _SHARED_LIMIT and built.as_is:
            reason = f"{used} bytes of static shared memory; a block has {_SHARED_LIMIT}"
            fault = Fault("GS308", "this kernel needs more shared memory than there is", self._site(reason), (), (), ())
            return Judged(PtxStatus(target.name, "rejected", reason), (fault,))
        return self._compared(built, unit, function, assembled, target)

    def _not_compiled(self, built: Built, target: Target) -> Judged:
        compiled = built.compiled
        ours = self.kernel.dialect != "ptx-kernel"
        if compiled.kind != "backend" or ours:
            if compiled.kind == "backend" and "Cannot select" in compiled.reason:
                return _skip(target, f"not for this target: {compiled.reason}")
            missing = _missing_name(compiled.complaints, built.foreign)
            why = f"unconfirmed: api not stubbed: {missing}" if missing and not built.as_is else compiled.reason
            return _skip(target, why if missing else f"not compiled: {why}")
        fault = Fault(
            "GS308",
            f"rustc cannot compile this kernel for {target.name}",
            Site(self._place_of(compiled.reason), compiled.reason),
            (),
            (f"{target.name}: {compiled.reason}",),
            _backend_help(compiled.reason),
        )
        return Judged(PtxStatus(target.name, "rejected", compiled.reason), (fault,))

    def _place_of(self, reason: str) -> Span:
        """The operation that LLVM's message is about, where it can be told; else the kernel."""
        found: Span | None = None
        if 'scope "Thread"' in reason:
            found = _mention(self.kernel.span.file, self.text, "compiler_fence")
        elif "atomic" in reason or "ordering" in reason:
            found = next((s.span for s in self._statements() if isinstance(s, Atomic) and s.order in _ORDERED), None)
        elif "fence" in reason:
            found = next((s.span for s in self._statements() if isinstance(s, Fence)), None)
        return found or self.kernel.span

    def _site(self, label: str) -> Site:
        """The kernel's name, as far as the span tells it."""
        return Site(self.kernel.span, label)

    def _statements(self) -> Iterator[Stmt]:
        return statements(self.kernel.body)

    def _not_assembled(self, built: Built, unit: Unit, assembled: Assembled, target: Target) -> Judged:
        if assembled.problem:
            return _skip(target, f"not assembled: {assembled.problem}")
        if not (target.asked and built.as_is) and all(needs_newer_target(e) for e in assembled.errors):
            return _skip(target, f"not for this target: {assembled.errors[0].message}")
        faults = []
        for error in assembled.errors:
            span = _user_place(built, unit, error.line)
            if span is not None:
                message = f"ptxas rejects this for {target.name}"
                notes = (f"{target.name}: {error.message}",)
                faults.append(Fault("GS308", message, Site(span, error.message), (), notes, ()))
        first = assembled.errors[0].message
        if not faults:
            if not built.as_is:
                return _skip(target, f"not assembled: {first}")
            site = Site(self.kernel.span, first)
            faults = [Fault("GS308", f"ptxas rejects this kernel for {target.name}", site, (), (first,), ())]
        return Judged(PtxStatus(target.name, "rejected", first), tuple(faults))

    def _compared(
        self, built: Built, unit: Unit, function: Function, assembled: Assembled | None, target: Target
    ) -> Judged:
        comparison = compare(self.kernel, unit, function, built.files, self.with_host, self.meant_shared)
        open_ = () if assembled else ("not assembled: no ptxas",)
        detail = "; ".join((f"{comparison.checked} operations", *open_))
        if not built.as_is:
            detail += "; built from an extract" + (
                "" if self.kernel.dialect == "ptx-kernel" else " with stand-in crates"
            )
        if comparison.notes:
            detail += "; " + "; ".join(comparison.notes)
        if comparison.weaker and not built.as_is and self.kernel.dialect != "ptx-kernel":
            # another compiler builds this: what rustc does to a stand-in is no finding about the program
            return _skip(target, f"unconfirmed: {comparison.weaker[0].message}, in a stand-in that stock rustc built")
        if comparison.weaker:
            faults = tuple(_fault(w, target, self._stage(built, w)) for w in comparison.weaker)
            return Judged(PtxStatus(target.name, "weaker", comparison.weaker[0].message), faults)
        if comparison.unclear:
            return _skip(target, "unconfirmed: " + "; ".join(comparison.unclear[:3]))
        if self.again:
            return self._proved_again(built, function, target, detail, open_)
        return Judged(
            PtxStatus(target.name, "confirmed", detail, (*open_, "the race proof was not repeated on the PTX"))
        )

    def _stage(self, built: Built, weaker: Weaker) -> str:
        """The first stage of the compiler that lost it, in words; asked for one target."""
        at = weaker.primary.span
        key = (weaker.lost, at.file, at.line)
        if not weaker.lost or built.stages is None or key in self._told:
            return ""
        self._told.add(key)
        if not self._stages:
            self._stages.append(built.stages())
        named = next((name for name, file in built.files.items() if file == at.file), at.file)
        return first_without(self._stages[0], Lost(kind_of(weaker.lost), named, at.line, weaker.cloned))

    def _proved_again(
        self, built: Built, function: Function, target: Target, detail: str, open_: tuple[str, ...]
    ) -> Judged:
        """The race proof on the PTX itself; targets with the same instructions share one."""
        code = tuple(i.text for i in function.instrs)
        if code not in self._proofs:
            ptx = built.compiled.ptx or ""
            self._proofs[code] = race_proof(self.kernel, ptx, function.name, built.files, self.sites)
        found = self._proofs[code]
        if found.race is not None and self.proved and built.as_is and self.kernel.dialect == "ptx-kernel":
            example = found.race.example
            at = example.primary.span if example.primary.span.file != PTX else self.kernel.span
            related = tuple(s for s in example.related if s.span.file != PTX)
            message = "the compiled kernel races where its source does not"
            notes = (f"{target.name}: {example.message}", *example.notes)
            fault = Fault("GS307", message, Site(at, example.primary.label), related, notes, ())
            return Judged(PtxStatus(target.name, "weaker", message), (fault,))
        said = "yes" if found.proved else f"open ({found.reason})"
        detail = f"{detail}; race proof on PTX: {said}"
        more = () if found.proved else (f"the race proof on the PTX is open: {found.reason}",)
        return Judged(PtxStatus(target.name, "confirmed", detail, (*open_, *more)))


def merge(kernel: Kernel, judged: Sequence[Judged]) -> Confirmation:
    """One refutation for each place, with the targets that it holds for."""
    faults: dict[tuple[str, Span], list[Fault]] = {}
    for one in judged:
        for fault in one.faults:
            faults.setdefault((fault.rule, fault.primary.span), []).append(fault)
    obligations = []
    for (rule, span), same in faults.items():
        first = same[0]
        notes = tuple(dict.fromkeys(note for fault in same for note in fault.notes))
        counterexample = Counterexample(first.message, first.primary, first.related, notes, first.help)
        question = (
            "the compiled PTX orders at least what the source asks"
            if rule == "GS307"
            else "the kernel compiles and assembles for its targets"
        )
        obligations.append(Obligation(rule, question, Verdict.REFUTED, span, counterexample=counterexample))
    return Confirmation(tuple(one.status for one in judged), tuple(obligations))


def _fault(weaker: Weaker, target: Target, stage: str) -> Fault:
    shown = [*weaker.declarations, *((i.line, i.text) for i in weaker.instrs[:6])]
    notes = tuple(f"{target.name}, line {line} of the PTX: {text}" for line, text in shown)
    notes = (*notes, f"{target.name}: {stage}") if stage else notes
    return Fault("GS307", weaker.message, weaker.primary, weaker.related, notes, weaker.help)


def _static_shared(unit: Unit, function: Function) -> int:
    """Bytes of the shared variables that a kernel mentions (ptxas checks the limit only when it links)."""
    text = " ".join(operand for instr in function.instrs for operand in instr.operands)
    names = set(re.findall(r"[\w$]+", text))
    return sum(s.bytes for s in (*unit.symbols, *function.symbols) if s.space == "shared" and s.name in names)


def _skip(target: Target, why: str) -> Judged:
    return Judged(PtxStatus(target.name, "skipped", why))


def _user_place(built: Built, unit: Unit, line: int) -> Span | None:
    """The place in the program that an instruction of the PTX comes from, if the program wrote it itself."""
    for function in unit.functions:
        for instr in function.instrs:
            if instr.line == line and instr.in_asm and instr.chain:
                place = instr.chain[0]
                file = built.files.get(place.file)
                return Span(file, place.line, max(1, place.col), place.line, max(1, place.col) + 1) if file else None
    return None


_MISSING = re.compile(
    r"(?:unresolved import|no external crate|failed to resolve|use of unresolved) .*?`([\w:]+)`"
    r"|cannot find (?:function|type|value|macro|struct|trait|module|crate|method|attribute)[\w ,/-]* `([\w:!]+)`"
    r"|no (?:method|function or associated item|variant or associated item|associated item|field) named `(\w+)`"
    r"|could not find `(\w+)`|can't find crate for `(\w+)`"
)


def _missing_name(complaints: Sequence[Complaint], foreign: Sequence[str]) -> str:
    for complaint in complaints:
        match = _MISSING.search(complaint.message)
        if match:
            name = next(g for g in match.groups() if g)
            return next((path for path in foreign if path.split("::")[-1] == name), name)
    return ""


def _mention(file: str, text: str, name: str) -> Span | None:
    """The first call of a function of that name in a file."""
    lines = Lines(text)
    for token in tokens(text):
        if token.text == name and text[token.end : token.end + 1] == "(":
            line = lines.line(token.start)
            col = token.start - lines.offset(line, 1) + 1
            return Span(file, line, col, line, col + len(name))
    return None


def _backend_help(reason: str) -> tuple[str, ...]:
    if 'scope "Thread"' in reason:
        return ("LLVM before version 23 has no `compiler_fence` for nvptx64: use `fence`, or leave it out",)
    return ()
