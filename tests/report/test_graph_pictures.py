"""Launch graphs as pictures: what is drawn, and that each format holds it."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gpusafe.app import graph
from gpusafe.cli import main
from gpusafe.config import Options
from gpusafe.report.graph import FORMATS, Picture, draw

RACY = """
use cudarc::driver::{CudaContext, DriverError};

fn main() -> Result<(), DriverError> {
    let ctx = CudaContext::new(0)?;
    unsafe { ctx.disable_event_tracking() };
    let upload = ctx.new_stream()?;
    let work = ctx.new_stream()?;
    let host = vec![1.0f32; 64];
    let a = upload.clone_htod(&host)?;
    SYNC
    let mut b = work.alloc_zeros::<f32>(64)?;
    work.memcpy_dtod(&a, &mut b)?;
    work.synchronize()?;
    upload.synchronize()?;
    Ok(())
}
"""


def pictures_of(text: str, folder: Path, function: str | None = None) -> tuple[Picture, ...]:
    file = folder / "main.rs"
    file.write_text(text)
    return graph(Options(paths=(str(file),)), function)[0]


@pytest.fixture
def racy(tmp_path: Path) -> Picture:
    (picture,) = pictures_of(RACY.replace("SYNC", ""), tmp_path)
    return picture


@pytest.fixture
def ordered(tmp_path: Path) -> Picture:
    text = RACY.replace("SYNC", "let done = upload.record_event(None)?; work.wait(&done)?;")
    (picture,) = pictures_of(text, tmp_path)
    return picture


def test_the_host_and_each_stream_have_a_lane(racy: Picture) -> None:
    assert [lane.title for lane in racy.lanes] == ["host", "stream upload", "stream work"]
    assert [b.row for b in racy.boxes] == list(range(len(racy.boxes)))


def test_a_race_joins_the_two_operations_that_nothing_orders(racy: Picture) -> None:
    assert racy.verdict == "refuted"
    lines = {b.ident: b.span.line for b in racy.boxes}
    assert {(lines[r.first], lines[r.second], r.rule) for r in racy.races} == {(10, 13, "GS101")}


def test_an_event_is_an_edge_and_takes_the_race_away(ordered: Picture) -> None:
    assert (ordered.verdict, ordered.races) == ("proved", ())
    lanes = {b.ident: ordered.lanes[b.lane].title for b in ordered.boxes}
    assert ("stream upload", "stream work") in {
        (lanes[e.source], lanes[e.target]) for e in ordered.edges if e.reason == "event"
    }


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_names_the_race_and_its_sides(format: str, racy: Picture) -> None:
    text = draw((racy,), format, {})
    assert "GS101" in text
    assert "upload" in text and "work" in text
    assert text.endswith("\n")


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_something_of_nothing(format: str) -> None:
    assert draw((), format, {}).strip()


def test_the_table_marks_the_racing_rows(racy: Picture) -> None:
    rows = [line for line in draw((racy,), "text", {}).splitlines() if line.lstrip().startswith("!")]
    assert [line.rsplit(":", 1)[1] for line in rows] == ["10", "13"]


def test_many_lanes_share_one_column(tmp_path: Path) -> None:
    streams = "".join(f"let s{i} = ctx.new_stream()?; let b{i} = s{i}.alloc_zeros::<u8>(4)?;" for i in range(9))
    text = RACY.replace("SYNC", streams)
    drawn = draw(pictures_of(text, tmp_path), "text", {})
    assert "lane" in drawn.split("operation")[0]


class Page(HTMLParser):
    """The ids and inner links of a page, and everything that it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: set[str] = set()
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            elif name == "href" and value:
                self.links.add(value)
            elif name == "src":
                self.loaded.append(value or "")


def test_the_page_needs_no_network_and_its_links_lead_somewhere(racy: Picture, tmp_path: Path) -> None:
    file = racy.span.file
    source = RACY.replace("SYNC", "// </pre><script>alert(1)</script>")
    text = draw((racy,), "html", {file: source})
    page = Page(text)
    assert not page.loaded
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "<script>alert" not in text


def test_the_page_runs_in_a_browser(racy: Picture, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no chromium here")
    page = tmp_path / "graph.html"
    page.write_text(draw((racy,), "html", {racy.span.file: RACY}), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    ran = subprocess.run([browser, *flags, page.as_uri()], capture_output=True, text=True, timeout=120)
    assert 'data-ready="yes"' in ran.stdout


def test_the_command_writes_the_page_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.rs").write_text(RACY.replace("SYNC", ""))
    out = tmp_path / "graph.html"
    assert main(["graph", str(tmp_path / "main.rs"), "--format", "html", "--output", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert "<svg" in out.read_text(encoding="utf-8")


def test_a_function_without_gpu_work_is_said_to_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.rs").write_text(RACY.replace("SYNC", ""))
    assert main(["graph", str(tmp_path / "main.rs"), "--function", "nobody"]) == 2
    assert "no GPU work leads through a function `nobody`" in capsys.readouterr().err
