"""Walks small host programs and writes their paths as short lines, for the tests of the host executor."""

from __future__ import annotations

from gpusafe.dataflow.host.execute import execute_units
from gpusafe.dataflow.host.program import SourceUnit
from gpusafe.ir.host import (
    Alloc,
    Enqueue,
    ForeignContext,
    Free,
    Gap,
    HostAccess,
    HostOp,
    HostPath,
    HostProgram,
    Join,
    Record,
    Spawn,
    Sync,
    Wait,
)
from gpusafe.ir.kernel import Kernel
from gpusafe.parse.rust.build import parse_file

CUDARC = """
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, CudaEvent, CudaFunction, DriverError};
use cudarc::driver::{LaunchConfig, PushKernelArg};
use std::sync::Arc;
"""
CUST = "use cust::prelude::*;\nuse cust::memory::*;\n"
OXIDE = "use cuda_core::{CudaContext, CudaStream, DeviceBuffer, LaunchConfig, PinnedHostBuffer};\n"


def program_of(text: str, kernels: tuple[Kernel, ...] = ()) -> HostProgram:
    """The host program of one file; internal errors are not caught."""
    return execute_units((SourceUnit(parse_file("main.rs", text)),), kernels, strict=True)


def main_paths(text: str) -> list[HostPath]:
    """The paths of ``main``."""
    return [p for p in program_of(text).paths if p.root == "main"]


def lines(text: str) -> list[str]:
    """The operations of the only path of ``main``, one short line each."""
    (path,) = main_paths(text)
    return [line(path, op) for op in path.ops]


def line(path: HostPath, op: HostOp) -> str:
    """One operation with the user's names."""
    match op:
        case Enqueue(stream=stream, what=what, accesses=accesses, kernel_name=kernel, args=args):
            touched = [f"{a.mode} {path.memory[a.range.memory].name}" for a in accesses]
            passed = [f"{a.passed} {path.memory[a.range.memory].name}" for a in args if a.range is not None]
            return " ".join([path.streams[stream].name, what, *([kernel] if kernel else []), *touched, *passed])
        case Alloc(memory=memory):
            return f"alloc {path.memory[memory].name}"
        case Free(memory=memory, waits=waits):
            return f"free {path.memory[memory].name} {waits}"
        case HostAccess(access=access):
            return f"host {access.mode} {path.memory[access.range.memory].name}"
        case Record(event=event, stream=stream):
            return f"record {event} {path.streams[stream].name}"
        case Wait(stream=stream, event=event):
            return f"wait {path.streams[stream].name} {event}"
        case Sync(target=target, ident=ident):
            return f"sync {path.streams[ident].name if target == 'stream' else ident}"
        case Spawn(thread=thread):
            return f"spawn {thread}"
        case Join(thread=thread):
            return f"join {thread}"
        case ForeignContext():
            return "foreign context"
        case Gap(reason=reason):
            return f"gap {reason}"
    raise AssertionError(type(op))


def work(found: list[str]) -> list[str]:
    """Without the events, for tests that are not about them."""
    return [text for text in found if not text.startswith(("record ", "wait "))]
