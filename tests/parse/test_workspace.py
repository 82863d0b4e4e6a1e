"""Loading files, folders, packages and workspaces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpusafe.errors import UsageError
from gpusafe.parse.workspace import Crate, Workspace, load
from gpusafe.results import FileStatus

GPU = "use cudarc::driver::CudaStream;\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def loaded(folder: Path, files: dict[str, str]) -> Workspace:
    write(folder, files)
    return load([folder])


def crate(workspace: Workspace, name: str, kind: str | None = None) -> Crate:
    everything = (*workspace.crates, *workspace.libraries)
    (found,) = [c for c in everything if c.name == name and kind in (None, c.kind)]
    return found


def statuses(workspace: Workspace, folder: Path) -> dict[str, str]:
    return {os.path.relpath(record.path, folder): record.status.value for record in workspace.files}


def test_a_path_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        load([tmp_path / "missing.rs"])


def test_a_lone_file_with_the_modules_that_it_declares(tmp_path: Path) -> None:
    write(tmp_path, {"a.rs": "mod b; mod gone;", "b.rs": GPU, "other.rs": GPU})
    workspace = load([tmp_path / "a.rs"])
    (only,) = workspace.crates
    assert set(only.modules) == {(), ("b",)}
    assert only.kind == "loose" and only.manifest is None
    assert statuses(workspace, tmp_path) == {"a.rs": "no GPU code", "b.rs": "analysed"}
    assert any("gone" in notice for notice in workspace.notices)


def test_files_given_one_by_one_are_one_crate_where_one_declares_the_other(tmp_path: Path) -> None:
    write(tmp_path, {"b.rs": GPU, "main.rs": "mod b; fn main() {}"})
    workspace = load([tmp_path / "b.rs", tmp_path / "main.rs"])
    assert [c.name for c in workspace.crates] == ["main"]


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    files = {"main.rs": "mod gpu;", "gpu/mod.rs": GPU + "mod deep;", "gpu/deep.rs": "", "x.rs": GPU, "plain.rs": ""}
    workspace = loaded(tmp_path, files)
    assert {c.name for c in workspace.crates} == {"main", "x"}
    assert set(crate(workspace, "main").modules) == {(), ("gpu",), ("gpu", "deep")}
    assert statuses(workspace, tmp_path)["plain.rs"] == "no GPU code"
    assert len(workspace.files) == len(files)


def test_all_targets_of_a_package_are_crates(tmp_path: Path) -> None:
    manifest = """
        [package]
        name = "my-app"
        edition = "2024"
        [lib]
        name = "applib"
        [[bin]]
        name = "tool"
        path = "tools/main.rs"
    """
    roots = ["src/lib.rs", "src/main.rs", "src/bin/one.rs", "src/bin/two/main.rs", "tools/main.rs"]
    roots += ["examples/show.rs", "tests/it.rs", "benches/fast.rs", "build.rs", "scratch/loose.rs"]
    workspace = loaded(tmp_path, {"Cargo.toml": manifest, **dict.fromkeys(roots, GPU)})
    assert {(c.kind, c.name) for c in workspace.crates} == {
        *[("lib", "applib"), ("bin", "my_app"), ("bin", "one"), ("bin", "two"), ("bin", "tool")],
        *[("example", "show"), ("test", "it"), ("bench", "fast"), ("build", "build_script"), ("loose", "loose")],
    }
    assert {c.edition for c in workspace.crates} == {"2024"}
    assert crate(workspace, "tool").locals == {"applib": str(tmp_path / "src/lib.rs")}


def test_versions_come_from_the_lock_file_then_from_the_manifests(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["app"]\n[workspace.package]\nedition = "2021"\n'
        '[workspace.dependencies]\ncudarc = "0.16"\nhalf = { version = "2" }',
        "Cargo.lock": '[[package]]\nname = "cudarc"\nversion = "0.12.1"\n\n[[package]]\nname = "cudarc"\n'
        'version = "0.16.4"\n\n[[package]]\nname = "app"\nversion = "1.0.0"\ndependencies = [\n "cudarc 0.16.4",\n]\n',
        "app/Cargo.toml": '[package]\nname = "app"\nedition.workspace = true\n[dependencies]\n'
        'cudarc = { workspace = true }\nhalf.workspace = true\nmy-own = { path = "own" }\n'
        '[target.\'cfg(unix)\'.dev-dependencies]\nold = { package = "cust-old", version = "0.3" }\n'
        '[build-dependencies]\nfrom-git = { git = "https://example.org/x" }',
        "app/src/main.rs": GPU,
        "app/own/Cargo.toml": '[package]\nname = "my-own"\nversion = "7.1.0"',
        "app/own/src/lib.rs": "",
    }
    app = crate(loaded(tmp_path, files), "app")
    assert app.dependencies == {
        "cudarc": "0.16.4",
        "half": "2",
        "my_own": "7.1.0",
        "cust_old": "0.3",
        "from_git": "*",
    }
    assert app.renames == {"old": "cust_old"} and app.edition == "2021"


@pytest.mark.parametrize(
    ("requirement", "version"),
    [("0.12", "0.12.9"), ("^0.13.0", "0.13.4"), ("=0.13.2", "0.13.2"), (">=0.12, <0.13", "0.12.9"), ("1", "1.4.0")],
)
def test_of_several_locked_versions_the_one_that_fits(tmp_path: Path, requirement: str, version: str) -> None:
    locked = "".join(
        f'[[package]]\nname = "cudarc"\nversion = "{v}"\n\n' for v in ("0.12.9", "0.13.2", "0.13.4", "1.4.0")
    )
    manifest = f'[package]\nname = "app"\n[dependencies]\ncudarc = "{requirement}"'
    files = {"Cargo.toml": manifest, "Cargo.lock": locked, "src/main.rs": GPU}
    assert crate(loaded(tmp_path, files), "app").dependencies["cudarc"] == version


def test_a_lone_file_in_a_package_knows_the_versions(tmp_path: Path) -> None:
    files = {"Cargo.toml": '[package]\nname = "app"\n[dependencies]\ncudarc = "0.13"', "src/main.rs": GPU}
    write(tmp_path, files)
    (only,) = load([tmp_path / "src/main.rs"]).crates
    assert only.dependencies == {"cudarc": "0.13"}


def test_a_package_without_gpu_code_is_parsed_only_when_asked(tmp_path: Path) -> None:
    files = {
        "app/Cargo.toml": '[package]\nname = "app"\n[dependencies]\ncommon = { path = "../common" }',
        "app/src/main.rs": GPU,
        "common/Cargo.toml": '[package]\nname = "common"',
        "common/src/lib.rs": "mod sizes;",
        "common/src/sizes.rs": "pub const N: usize = 1;",
    }
    workspace = loaded(tmp_path, files)
    assert [c.name for c in workspace.crates] == ["app"]
    assert set(crate(workspace, "common").modules) == {(), ("sizes",)}


def test_a_package_that_handles_streams_of_another_counts_as_gpu_code(tmp_path: Path) -> None:
    files = {
        "app/Cargo.toml": '[package]\nname = "app"\n[dependencies]\nwrap = { path = "../wrap" }',
        "app/src/main.rs": "fn main() { let stream = wrap::go(); }",
        "wrap/Cargo.toml": '[package]\nname = "wrap"',
        "wrap/src/lib.rs": GPU + "pub fn go() {}",
    }
    workspace = loaded(tmp_path, files)
    assert {c.name for c in workspace.crates} == {"app", "wrap"}
    assert crate(workspace, "app").locals == {"wrap": crate(workspace, "wrap").key}
    write(tmp_path, {"app/src/main.rs": "fn main() { wrap::go() /* stream */ }"})
    assert {c.name for c in load([tmp_path]).crates} == {"wrap"}


def test_a_procedural_macro_holds_no_gpu_code_of_its_own(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "m"\n[lib]\nproc-macro = true',
        "src/lib.rs": "fn f() { quote! { cudarc::driver::x() } }",
        "tests/pass/uses_it.rs": GPU,
    }
    workspace = loaded(tmp_path, files)
    assert [c.name for c in workspace.crates] == ["uses_it"]
    record = workspace.files[0]
    assert record.status is FileStatus.NO_GPU and "procedural macro" in record.detail


def test_module_files_and_paths(tmp_path: Path) -> None:
    workspace = loaded(
        tmp_path,
        {
            "Cargo.toml": '[package]\nname = "app"',
            "src/main.rs": GPU
            + 'mod a; mod inline { mod b; #[path = "c_file.rs"] mod c; } #[path = "odd/d.rs"] mod d;',
            "src/a.rs": "mod x; mod inner { mod y; }",
            "src/a/x.rs": "",
            "src/a/inner/y.rs": "",
            "src/inline/b.rs": "",
            "src/inline/c_file.rs": "",
            "src/odd/d.rs": "mod e;",
            "src/odd/e.rs": "",
        },
    )
    assert workspace.notices == ()
    assert set(crate(workspace, "app").modules) == {
        *[(), ("a",), ("a", "x"), ("a", "inner"), ("a", "inner", "y"), ("inline",), ("inline", "b"), ("inline", "c")],
        *[("d",), ("d", "e")],
    }


def test_cfg_alternatives_of_a_module_are_both_kept(tmp_path: Path) -> None:
    text = GPU + '#[cfg(target_os = "cuda")] mod imp { fn d() {} mod deep {} } #[cfg(not(target_os = "cuda"))] mod imp;'
    workspace = loaded(tmp_path, {"lone.rs": text, "imp.rs": "fn h() {}"})
    module = crate(workspace, "lone").modules["imp",]
    assert [i.name for i in module.items] == ["d", "deep"] and module.sets == {"device"}
    assert [(m.items[0].name, m.sets) for m in module.others] == [("h", {"host"})]
    assert crate(workspace, "lone").modules["imp", "deep"].sets == {"device"}


def test_included_items_stand_in_the_module(tmp_path: Path) -> None:
    files = {
        "main.rs": GPU + 'include!("part.rs"); include!(concat!(env!("OUT_DIR"), "/x.rs"));',
        "part.rs": "fn p() {}",
    }
    workspace = loaded(tmp_path, files)
    (only,) = workspace.crates
    assert [i.name for i in only.modules[()].items] == ["CudaStream", "p", "include"]
    assert only.modules[()].items[1].span.file.endswith("part.rs")


@pytest.mark.parametrize(
    "files",
    [
        {"main.rs": GPU + '#[path = "main.rs"] mod again;'},
        {"main.rs": GPU + "mod a;", "a.rs": '#[path = "main.rs"] mod back;'},
        {"main.rs": GPU + 'include!("main.rs");'},
        {"main.rs": GPU + 'include!("a.rs");', "a.rs": 'include!("main.rs");'},
    ],
)
def test_modules_in_circles_are_reported_and_end(tmp_path: Path, files: dict[str, str]) -> None:
    workspace = loaded(tmp_path, files)
    assert any("cycle" in notice or "into itself" in notice for notice in workspace.notices)
    assert len(workspace.files) == len(files)


def test_manifests_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["good", "missing", "glob-*"]',
        "good/Cargo.toml": '[package]\nname = "good"',
        "good/src/main.rs": GPU,
        "bad/Cargo.toml": "[package\nname = ",
        "bad/src/main.rs": GPU,
        "odd/Cargo.toml": 'package = 3\ndependencies = ["x"]\nlib = "y"\nbin = 4',
    }
    workspace = loaded(tmp_path, files)
    assert {c.kind for c in workspace.crates} == {"bin", "loose"}
    assert len([n for n in workspace.notices if "missing" in n]) == 1
    (bad,) = [record for record in workspace.files if record.status is FileStatus.SKIPPED]
    assert bad.path.endswith("bad/Cargo.toml")
    assert bad.detail.startswith("not valid TOML")


def test_every_file_is_accounted_for(tmp_path: Path) -> None:
    outside = tmp_path / "outside.rs"
    outside.write_text(GPU)
    folder = tmp_path / "in"
    files = {
        "a.rs": GPU,
        "broken.rs": GPU + "fn f( {",
        "k.cu": "__global__ void k() {}",
        "target/t.rs": GPU,
        ".h/h.rs": GPU,
    }
    write(folder, files)
    (folder / "latin.rs").write_bytes(GPU.encode() + b'const A: &str = "\xff";')
    (folder / "link.rs").symlink_to(outside)
    (folder / "dangling.rs").symlink_to(tmp_path / "nothing.rs")
    (folder / "big.rs").write_text("//" + "x" * (9 * 1024 * 1024))
    (folder / "folder.rs").mkdir()
    workspace = load([folder])
    records = {os.path.relpath(r.path, folder): r for r in workspace.files}
    assert {name: r.status.value for name, r in records.items()} == {
        "a.rs": "analysed",
        "broken.rs": "syntax error",
        "k.cu": "analysed",
        "latin.rs": "analysed",
        "link.rs": "skipped",
        "dangling.rs": "skipped",
        "big.rs": "skipped",
    }
    assert "outside" in records["link.rs"].detail
    assert "not UTF-8" in records["latin.rs"].detail
    assert "too large" in records["big.rs"].detail
    assert records["broken.rs"].span is not None
    assert workspace.cuda_files == (str(folder / "k.cu"),)


def test_a_cuda_file_alone_and_a_file_of_another_kind(tmp_path: Path) -> None:
    write(tmp_path, {"k.cu": "", "notes.txt": ""})
    workspace = load([tmp_path / "k.cu", tmp_path / "notes.txt"])
    assert workspace.cuda_files == (str(tmp_path / "k.cu"),)
    assert {r.status for r in workspace.files} == {FileStatus.ANALYSED, FileStatus.SKIPPED}


def test_untrusted_input_stays_inside(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "Cargo.toml": '[workspace]\n[workspace.dependencies]\ncudarc = "0.16"',
            "app/Cargo.toml": '[package]\nname = "app"\n[dependencies]\ncudarc.workspace = true\n'
            'secret = { path = "../secret" }',
            "app/src/main.rs": GPU + '#[path = "../../secret/src/lib.rs"] mod stolen;',
            "secret/Cargo.toml": '[package]\nname = "secret"',
            "secret/src/lib.rs": "pub fn s() {}",
        },
    )
    trusted, untrusted = load([tmp_path / "app"]), load([tmp_path / "app"], untrusted=True)
    assert crate(trusted, "app").dependencies["cudarc"] == "0.16"
    assert crate(untrusted, "app").dependencies["cudarc"] == "*"
    assert "secret" in {c.name for c in trusted.libraries}
    assert set(crate(untrusted, "app").modules) == {()}
    assert not any("secret" in path for path in untrusted.sources)
    assert any("secret" in notice for notice in untrusted.notices)


def test_the_source_folder_of_a_package_knows_the_versions(tmp_path: Path) -> None:
    manifest = '[package]\nname = "app"\n[dependencies]\ncudarc = "0.13"'
    write(tmp_path, {"Cargo.toml": manifest, "src/main.rs": "mod gpu;", "src/gpu.rs": GPU})
    (only,) = load([tmp_path / "src"]).crates
    assert only.dependencies == {"cudarc": "0.13"} and set(only.modules) == {(), ("gpu",)}


def test_a_lone_file_reads_modules_of_its_package_and_no_further(tmp_path: Path) -> None:
    text = GPU + '#[path = "../common.rs"] mod common; #[path = "../../../far.rs"] mod far;'
    files = {"p/Cargo.toml": '[package]\nname = "p"', "p/src/common.rs": "", "p/src/bin/x.rs": text, "far.rs": ""}
    write(tmp_path, files)
    workspace = load([tmp_path / "p/src/bin/x.rs"])
    assert set(crate(workspace, "x").modules) == {(), ("common",)}
    assert any("`far` lies outside" in notice for notice in workspace.notices)


def test_cuda_sources_that_a_lone_file_includes(tmp_path: Path) -> None:
    text = (
        GPU + 'const A: &str = include_str!("k/a.cu"); const B: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"),'
    )
    text += ' "/b.cu"));'
    files = {"Cargo.toml": '[package]\nname = "p"', "src/main.rs": text, "src/k/a.cu": "", "b.cu": "", "c.cu": ""}
    write(tmp_path, files)
    workspace = load([tmp_path / "src/main.rs"])
    assert workspace.cuda_files == (str(tmp_path / "src/k/a.cu"), str(tmp_path / "b.cu"))


def test_overlapping_paths_count_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.rs": GPU})
    workspace = load([tmp_path, tmp_path / "a", tmp_path / "a/x.rs", tmp_path / "a/../a/x.rs"])
    assert len(workspace.crates) == 1 and len(workspace.files) == 1
