# SPDX-License-Identifier: Apache-2.0
"""How every test runs: 8 CPU devices, x64 on, nothing promoted that was not asked for.

Environment:
    JAX_PLATFORMS: `cpu` (the default), or another platform of JAX's. Where it has fewer than 8
        devices, what takes a larger mesh is skipped.
    JAXFRAMES_KERNELS: `native` (the default) or `xla`; the suite passes with either.
    JAXFRAMES_CACHE: `off` (the default), as no test may get the program of one that patched it.
    JAXFRAMES_TYPECHECK: `1` enforces the annotations of the package (jaxtyping and beartype). The
        hook does not find the kernels of an editable install: set JAXFRAMES_KERNELS=xla with it.
    JAXFRAMES_HYPOTHESIS: `long` draws many random examples in place of few fixed ones.
    JAXFRAMES_TESTS: `covering` (the default) runs each file with a covering array, in which every
        test and every value of a parameter occurs, as far as the budget of the file goes. `all`
        runs every combination.
    JAXFRAMES_SHARED_MEMORY: `auto` or `off`, for all tests. Otherwise each takes one of the ways,
        by its name.
"""

import gc
import math
import os
import re
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jax
import pytest
from budget import affordable, stored_costs
from covering import RUNS_ALL, covering_items
from processor_time import ProcessorTime

os.environ.setdefault("JAXFRAMES_CACHE", "off")
TYPECHECK = os.environ.get("JAXFRAMES_TYPECHECK") == "1"

# The hook rewrites modules while they are imported, so it comes before the first import of ours.
if TYPECHECK:
    from jaxtyping import install_import_hook

    install_import_hook("jaxframes", "type_checks.enforced")

if not os.environ.get("JAX_PLATFORMS"):
    jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# An example may compile a program, so examples have no deadline.
hypothesis.settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=25
)
hypothesis.settings.register_profile("long", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("JAXFRAMES_HYPOTHESIS", "ci"))


# Of a worker; two of them, and what else a machine of 8 GiB runs, have room.
_MOST_RESIDENT_BYTES = 2_500_000_000


@pytest.fixture(autouse=True)
def way_over_meshes(request: pytest.FixtureRequest) -> Iterator[None]:
    """How eager calls over a mesh in one memory run: half of the tests takes each way."""
    from jaxframes.primitives.tiers._signature import shared_memory

    name = ("auto", "off")[zlib.crc32(request.node.nodeid.encode()) % 2]
    with shared_memory(os.environ.get("JAXFRAMES_SHARED_MEMORY", name)):
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--most-processor-seconds",
        type=float,
        help="fails a run that takes a quarter more processor time than this",
    )
    parser.addoption(
        "--store-processor-seconds",
        action="store_true",
        help="writes what each test takes into the table that the budget of the files uses",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(
        ProcessorTime(
            config.getoption("most_processor_seconds"),
            # The second pass, without the C++ kernels, has other times.
            config.getoption("store_processor_seconds") and _has_native_kernels(),
        )
    )
    config.addinivalue_line(
        "markers", "checks_arguments: breaks the annotations on purpose, to read our own message"
    )
    config.addinivalue_line(
        "markers", "covered_together(name): the tests of a file that share one covering array"
    )
    config.addinivalue_line(
        "markers", "covered_apart: each of these tests runs with its own covering array"
    )
    config.addinivalue_line("markers", "runs_always: whatever the budget of the file says")
    from jaxframes import primitives

    serving = primitives.backend()
    if serving.cpu == "xla" and _has_native_kernels():
        raise pytest.UsageError(
            f"{serving.reason} Set JAXFRAMES_KERNELS=xla to test the XLA path alone."
        )


def _has_native_kernels() -> bool:
    return os.environ.get("JAXFRAMES_KERNELS", "native") == "native"


def pytest_report_header() -> str:
    from jaxframes import primitives

    return f"jaxframes: {primitives.backend().cpu} kernels, jax {jax.__version__}"


# Last, so that what -k deselects is not counted as covered.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not RUNS_ALL:
        chosen = covering_items(items)
        # A test that is asked for by name runs.
        if not any("::" in argument for argument in config.args):
            chosen = affordable(chosen, stored_costs())
        config.hook.pytest_deselected(items=list(set(items).difference(chosen)))
        items[:] = chosen
    if not TYPECHECK:
        return
    reason = "enforced annotations speak before our own check of the arguments"
    for item in items:
        if item.get_closest_marker("checks_arguments"):
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    # The collector need not visit thousands of tests, nor every module, again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    return (yield from _skipped_without_devices())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    return (yield from _skipped_without_devices())


def _skipped_without_devices() -> Generator[None, Any, Any]:
    try:
        return (yield)
    except (ValueError, AssertionError) as error:
        # Of our own make_mesh, and of jax.make_mesh, where another error was expected too.
        is_too_large = re.search("devices that JAX sees|Number of devices", str(error))
        if is_too_large and jax.device_count() < 8:
            pytest.skip(f"the platform has too few devices: {error}")
        raise


@pytest.fixture
def x64_off() -> Iterator[None]:
    """Runs a test as JAX is by default: without 64-bit types."""
    with jax.enable_x64(False):
        yield


@pytest.fixture(scope="module", autouse=True)
def compiled_programs_are_bounded() -> Iterator[None]:
    """Frees what the tests compiled once it fills some memory: that of the whole suite is too much.

    Each module would compile again what most of them need.
    """
    yield
    if _resident_bytes() > _MOST_RESIDENT_BYTES:
        jax.clear_caches()


def _resident_bytes() -> float:
    """Memory of this process; where only Linux' way would tell, infinite."""
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return math.inf
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
