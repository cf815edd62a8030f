# SPDX-License-Identifier: Apache-2.0
"""Programs for platforms that are not here: run on the CPU, or lowered and counted."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jax
from jax.extend.mlir import passmanager
from jaxframes.primitives.contract._platform import traced_for
from jaxframes.primitives.kernels.base import _cuda, _pallas
from on_shards import compiled

# Each has a portable way of its own.
ACCELERATORS = ("tpu", "cuda")


def traced_as(platform: str, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compiles a function for the CPU, as it is traced for a platform."""
    program = compiled(function, **options)

    def call(*arguments: Any, **keywords: Any) -> Any:
        with traced_for(platform), without_kernels():
            return program(*arguments, **keywords)

    return call


@contextlib.contextmanager
def without_kernels() -> Iterator[None]:
    """Leaves the kernels for TPU and GPU out of what is traced."""
    none = _cuda.CudaKernels(None, "", False)
    with (
        mock.patch.object(_pallas, "switch", return_value="xla"),
        mock.patch.object(_cuda, "load_cuda", return_value=none),
    ):
        yield


def lowered(function: Callable[..., Any], platform: str, *arguments: Any) -> str:
    """The StableHLO of a function for a platform, without what nobody reads."""
    with without_kernels():
        traced = jax.jit(function).trace(*arguments)
        module = traced.lower(lowering_platforms=(platform,)).compiler_ir()
    passes = "builtin.module(inline,cse,canonicalize,symbol-dce)"
    with module.context:
        passmanager.PassManager.parse(passes).run(module.operation)
    return str(module)


def operands_of_sorts(text: str) -> list[int]:
    """The number of operands of each sort of a program."""
    sorts = re.findall(r'"stablehlo\.sort"\(([^)]*)\)', text)
    assert len(sorts) == text.count("stablehlo.sort")
    return [len(operands.split(",")) for operands in sorts]
