# SPDX-License-Identifier: Apache-2.0
"""Loading of the CUDA kernels, the messages without them, and what their sources export."""

import re
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jaxframes.primitives import backend, kernels, local

cuda = kernels.base._cuda
loading = kernels.base._loading
load = cuda.load_cuda.__wrapped__
ROOT = Path(__file__).parents[4]
SOURCES = ROOT / "primitives/kernels"


@pytest.fixture(autouse=True)
def kernels_are_asked_for(monkeypatch):
    monkeypatch.delenv("JAXFRAMES_KERNELS", raising=False)


def test_backend_says_whether_the_kernels_serve_and_why():
    assert backend().cuda in ("native", "xla")
    assert backend().cuda_reason


def test_the_switch_turns_the_kernels_off(monkeypatch):
    monkeypatch.setenv("JAXFRAMES_KERNELS", "xla")
    found = load()
    assert found.library is None
    assert not found.is_wanted
    assert found.reason == "JAXFRAMES_KERNELS=xla disables the CUDA kernels."


def test_without_the_package_the_message_names_it(monkeypatch):
    monkeypatch.setattr(cuda, "PACKAGES", ("a_package_that_is_not_there",))
    found = load()
    assert found.library is None
    assert found.is_wanted
    assert found.reason == "jaxframes-cuda13 is not installed. Install jaxframes[cuda13]."


def test_a_library_that_does_not_load_is_named(monkeypatch, tmp_path):
    broken = tmp_path / "jaxframes_cuda13" / cuda.LIBRARY_NAME
    broken.parent.mkdir()
    broken.write_text("not a library")
    (broken.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    found = load()
    assert found.library is None
    assert found.is_wanted
    assert found.reason.startswith(f"{cuda.LIBRARY_NAME} of jaxframes_cuda13 does not load: ")
    assert found.reason.endswith(" Reinstall it.")


def test_a_gpu_without_kernels_warns_once(monkeypatch):
    reason = "jaxframes-cuda13 is not installed."
    monkeypatch.setattr(cuda, "load_cuda", lambda: cuda.CudaKernels(None, reason, True))
    monkeypatch.setattr(cuda, "_runs_on_cuda", lambda: True)
    loading.warn_once.cache_clear()
    with pytest.warns(RuntimeWarning) as warned:
        assert not cuda.has_cuda_kernels()
    assert [str(warning.message) for warning in warned] == [
        f"jaxframes: the portable XLA versions replace the CUDA kernels. {reason} "
        "Set JAXFRAMES_KERNELS=xla to choose this and silence the warning."
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not cuda.has_cuda_kernels()


def test_other_platforms_do_without_silently(monkeypatch):
    monkeypatch.setattr(cuda, "load_cuda", lambda: cuda.CudaKernels(None, "", True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cuda.on_cuda(len) == {}


@pytest.fixture
def a_library(monkeypatch):
    """A library whose kernels need no scratch memory, for programs that are not compiled."""

    class Sizes:
        def __getattr__(self, name):
            assert name in cuda.LIBRARY.functions
            return lambda *arguments: 1024

    monkeypatch.setattr(cuda, "load_cuda", lambda: cuda.CudaKernels(Sizes(), "", False))


CALLS = {
    "radix_sort_keys": lambda x, ids, mask: local.radix_sort(ids, num_valid=900),
    "radix_sort_rows": lambda x, ids, mask: local.radix_sort(ids, values=x),
    "radix_argsort": lambda x, ids, mask: local.radix_argsort(x),
    "bucket_order": lambda x, ids, mask: local.bucket_order(ids, 64),
    "count_flags": lambda x, ids, mask: local.compact(mask, x),
    "flagged_rows": lambda x, ids, mask: local.compact(mask, x),
    "repeat_rows": lambda x, ids, mask: local.repeat_rows(ids, capacity=2000),
    "segmented_scan": lambda x, ids, mask: local.segmented_scan(x, head_flags=mask),
    "reduce_by_key": lambda x, ids, mask: local.reduce_by_key(ids, x, "sum"),
    "segment_sum": lambda x, ids, mask: local.segment_sum(x, ids, 5000),
    "segment_statistic": lambda x, ids, mask: local.segment_var(x, ids, 50),
    "segment_reduce": lambda x, ids, mask: local.segment_max(x, ids, 50),
    "pairwise_sum": lambda x, ids, mask: local.reduce(x, "var"),
    "histogram": lambda x, ids, mask: local.histogram(x, bins=10),
    "top_k": lambda x, ids, mask: local.top_k(x, 10),
    "merge": lambda x, ids, mask: local.merge(x, x),
    "search": lambda x, ids, mask: local.searchsorted(ids, ids),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("is_batch", [False, True])
def test_programs_for_cuda_call_the_kernel(a_library, name, is_batch):
    shape = (3, 1000) if is_batch else (1000,)
    dtypes = (jnp.float32, jnp.int32, jnp.bool_)
    arguments = [jax.ShapeDtypeStruct(shape, dtype) for dtype in dtypes]
    call = jax.vmap(CALLS[name]) if is_batch else CALLS[name]
    program = jax.jit(lambda *given: call(*given)).trace(*arguments)
    assert f"jaxframes_cuda_{name}_v" in program.lower(lowering_platforms=("cuda",)).as_text()
    assert "jaxframes_cuda" not in program.lower(lowering_platforms=("cpu",)).as_text()


def test_one_row_of_keys_is_left_to_xla_and_a_batch_is_not(a_library):
    def text(call, shape):
        program = jax.jit(lambda keys: call(keys)).trace(jax.ShapeDtypeStruct(shape, jnp.int32))
        return program.lower(lowering_platforms=("cuda",)).as_text()

    assert "jaxframes_cuda" not in text(local.radix_sort, (1000,))
    assert "jaxframes_cuda_radix_sort_keys_v1" in text(jax.vmap(local.radix_sort), (3, 1000))


def test_programs_without_kernels_are_xlas(a_library):
    x = jax.ShapeDtypeStruct((1000,), jnp.float32)
    with cuda.without_cuda_kernels(True):
        program = jax.jit(lambda x: local.inclusive_scan(x)).trace(x)
    assert "jaxframes_cuda" not in program.lower(lowering_platforms=("cuda",)).as_text()


def exported(pattern):
    text = "".join(path.read_text() for path in sorted(SOURCES.glob("*/cuda_*.cc")))
    return sorted(re.findall(pattern, text))


def test_the_sources_export_what_the_loader_asks_for():
    targets = exported(r"JAXFRAMES_DEFINE_CUDA_TARGET\((\w+),")
    assert targets == sorted(cuda.LIBRARY.targets)
    functions = exported(r'extern "C" JAXFRAMES_EXPORT \w+\s+(\w+)\(')
    assert functions == sorted([*cuda.LIBRARY.functions, cuda.LIBRARY.version_function])


def test_the_host_test_calls_every_target():
    source = (Path(__file__).parents[1] / "cuda/test_cuda_targets.cc").read_text()
    assert re.findall(r"^  X\((\w+), \w+\)", source, re.MULTILINE) == list(cuda.LIBRARY.targets)
