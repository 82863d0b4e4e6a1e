"""A small program with its findings, made by hand: what the renderers are tested on."""

from __future__ import annotations

from gpusafe.results import FileRecord, FileStatus, Finding, Level, Report, Suppressed
from gpusafe.span import Span
from gpusafe.verdict import Counterexample, Obligation, PtxStatus, Site, Unit, Verdict

HOST = "src/main.rs"
KERNEL = "src/k.rs"

SOURCES = {
    HOST: """fn pipeline(s1: &S, s2: &S) {
    let buf = s1.alloc(n);
    s1.launch(&scale, &buf);
    one();
    two();
    s2.copy(&buf, &mut host);
    launch(
        a,
        b,
    )?;
}
""",
    KERNEL: "fn k() {\n    tile[t] = x[i];\n\tlet 全 = tile[t\t- 1];\n}\n",
}


def span(file: str, text: str) -> Span:
    """The span of the first place that holds ``text`` (which may run over several lines)."""
    source = SOURCES[file]
    start = source.index(text)
    end = start + len(text)
    return Span(file, *position(source, start), *position(source, end))


def position(source: str, offset: int) -> tuple[int, int]:
    before = source[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def whole(file: str) -> Span:
    return span(file, SOURCES[file].rstrip("\n"))


RACE = Finding(
    "GS101",
    Level.ERROR,
    "`copy` reads `buf` on stream `s2` while `scale` may still write it",
    Site(span(HOST, "s2.copy(&buf, &mut host)"), "read here, on stream `s2`"),
    (
        Site(span(HOST, "s1.launch(&scale, &buf)"), "written here, on stream `s1`"),
        Site(span(KERNEL, "tile[t] = x[i]"), "by this store"),
    ),
    ("no event orders `s2` behind `s1`",),
    ("record an event on `s1` and let `s2` wait for it",),
    "pipeline",
)

OPEN = Finding(
    "GS901",
    Level.NOTE,
    "kernel `k` is neither proved nor refuted: the index [i] comes from memory",
    Site(span(KERNEL, "x[i]"), "not settled here"),
    unit="k",
)

PROVED = Obligation("GS202", "no two threads meet on `tile`", Verdict.PROVED, span(KERNEL, "tile[t]"))
REFUTED = Obligation(
    "GS101",
    "the uses of `buf` are ordered",
    Verdict.REFUTED,
    RACE.primary.span,
    counterexample=Counterexample(RACE.message, RACE.primary, RACE.related, RACE.notes, RACE.help),
)
UNKNOWN = Obligation("GS201", "no two threads meet on `x`", Verdict.UNKNOWN, OPEN.primary.span, "no model of `[i]`")


def unit(kind: str, name: str, *obligations: Obligation, ptx: tuple[PtxStatus, ...] = ()) -> Unit:
    return Unit(kind, name, whole(HOST if kind == "host" else KERNEL), obligations, ptx=ptx)


REPORT = Report(
    units=(
        unit("kernel", "k", PROVED, UNKNOWN),
        unit(
            "kernel", "scale", PROVED, ptx=(PtxStatus("sm_80", "confirmed"), PtxStatus("sm_90", "skipped", "no rustc"))
        ),
        unit("host", "pipeline", REFUTED),
    ),
    findings=(RACE, OPEN),
    files=(
        FileRecord(HOST, FileStatus.ANALYSED),
        FileRecord(KERNEL, FileStatus.ANALYSED),
        FileRecord("src/plain.rs", FileStatus.NO_GPU),
        FileRecord("src/odd name.rs", FileStatus.SYNTAX_ERROR, "expected `)`", Span("src/odd name.rs", 3, 7, 3, 8)),
        FileRecord("src/big.rs", FileStatus.SKIPPED, "larger than 8 MB"),
    ),
    notices=("ptxas was not found",),
    sources=SOURCES,
    suppressed=(Suppressed(RACE, "the caller orders them", span(HOST, "one()")),),
)
