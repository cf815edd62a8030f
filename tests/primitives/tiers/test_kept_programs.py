# SPDX-License-Identifier: Apache-2.0
"""Interpreted programs on disk: the same answers in another process, without a trace."""

import functools
import io
import itertools
import json
import logging
import operator
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import backend, staging
from jaxframes.primitives.local import compact
from jaxframes.primitives.tiers import _kept_programs, _tiered
from jaxframes.primitives.tiers._background import wait_until_compiled
from jaxframes.primitives.tiers._entry import Entry
from jaxframes.primitives.tiers._kept_programs import keep, name_of, read
from jaxframes.primitives.tiers._program import Program
from jaxframes.primitives.tiers._recent import compiled_entries, interpreted_entries
from jaxframes.primitives.tiers._tiered import Tiered

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")

# Prints the digest of the answers, and the number of traces.
_PROCESS = """
import json, hashlib
import jax
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
import numpy as np, pandas as pd
from jaxframes.frame import JaxFrame
from jaxframes.primitives.tiers._tiered import Tiered

traces, trace = [], Tiered._trace
def traced(self, *args):
    traces.append(self.__qualname__)
    return trace(self, *args)
Tiered._trace = traced

n = 20_000
rng = np.random.default_rng(0)
pandas = pd.DataFrame({
    "k": rng.integers(0, 50, n), "s": rng.choice(["a", "b", None], n),
    "x": rng.normal(size=n), "i": rng.integers(0, 9, n),
})
pandas.loc[::7, "x"] = np.nan
frame = JaxFrame(pandas)
answers = [
    frame.groupby("k").agg({"x": ["mean", "std", "median"], "i": "sum"}).to_pandas(),
    frame.sort_values(["s", "x"]).to_pandas(),
    frame[frame.x > 0].merge(frame.drop_duplicates("k")[["k", "i"]], on="k").to_pandas(),
    frame.x.rolling(5).mean().to_pandas(), frame.i.value_counts().to_pandas(),
]
digest = hashlib.sha256(b"".join(one.to_csv().encode() for one in answers)).hexdigest()
print(json.dumps([digest, len(traces)]))
"""


def _in_process(program=_PROCESS):
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


_ON_MESH = """
import json, os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax
jax.config.update("jax_platforms", "cpu")
import numpy as np
from jaxframes import primitives, shardings
from jaxframes.primitives.tiers._tiered import Tiered

traces, trace = [], Tiered._trace
def traced(self, *args):
    traces.append(self.__qualname__)
    return trace(self, *args)
Tiered._trace = traced

mesh = shardings.make_mesh(4)
keys = np.random.default_rng(0).integers(0, 30, 64).astype(np.int32)
rows, ids = np.arange(64, dtype=np.float32), np.arange(64, dtype=np.int32)[::-1].copy()
sorted_keys, sorted_rows = primitives.radix_sort(keys, mesh, values=rows)
taken = primitives.gather_rows(rows, ids, mesh)
order = np.argsort(keys, kind="stable")
is_right = [
    np.array_equal(sorted_keys, keys[order]), np.array_equal(sorted_rows, rows[order]),
    np.array_equal(taken, rows[::-1]),
]
print(json.dumps([is_right, len(traces)]))
"""


def test_another_process_has_the_programs_of_a_mesh():
    first, second = (_in_process(_ON_MESH) for _ in range(2))
    assert first[0] == second[0] == [True] * 3
    assert first[1] == 2
    assert second[1] == 0


def test_programs_of_meshes_have_names_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setenv("JAXFRAMES_CACHE", str(tmp_path))
    tree = jax.tree.structure([0])
    kinds = jax.sharding.AxisType.Auto, jax.sharding.AxisType.Explicit
    names = set()
    for size, kind in itertools.product((2, 4), kinds):
        mesh = jax.make_mesh((size,), ("a",), axis_types=(kind,))
        for spec in (P(), P("a")):
            x = jax.device_put(np.zeros(8), NamedSharding(mesh, spec))
            names.add(name_of("f", (), mesh, [x], tree))
    assert len(names) == 8
    assert "" not in names
    # The devices do not matter.
    devices = jax.devices()
    others = (Mesh(devices[:2], "a"), Mesh(devices[1:3], "a"))
    arrays = (jax.device_put(np.zeros(8), NamedSharding(mesh, P("a"))) for mesh in others)
    assert len({name_of("f", (), None, [x], tree) for x in arrays}) == 1


def test_another_process_has_the_answers_without_traces():
    first, second = (_in_process() for _ in range(2))
    assert first[0] == second[0]
    assert first[1] > 20
    # What is compiled is traced again.
    assert second[1] <= first[1] // 4


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("JAXFRAMES_CACHE", str(tmp_path))
    _kept_programs._room.cache_clear()
    assert _name()
    yield tmp_path
    _kept_programs._room.cache_clear()


def _program(function, *arguments):
    traced = jax.jit(function).trace(*arguments)
    return Program(traced.jaxpr), jax.tree.structure(traced.out_info)


def _name(static=(), leaves=(1,), function="jaxframes.f", options=()):
    return name_of(function, options, static, leaves, jax.tree.structure(leaves))


def test_a_program_is_kept(folder):
    x = np.arange(5)
    keep("one", *_program(lambda x: {"sum": x + 1, "all": (x, None)}, x))
    _kept_programs._write_all()
    found = read("one")
    assert found is not None
    program, tree = found
    results = jax.tree.unflatten(tree, program([x]))
    np.testing.assert_array_equal(results["sum"], x + 1)
    assert results["all"][1] is None
    assert read("two") is None


def test_what_a_name_depends_on():
    leaves = np.zeros(3), jnp.zeros(3, jnp.int32), 1, np.int8(1), True
    names = [_name(leaves=(leaf,)) for leaf in leaves]
    names += [_name(leaves=(np.zeros(4),)), _name(leaves=([np.zeros(3)],)), _name(static=(1,))]
    names += [_name(static=(1.0,)), _name(function="jaxframes.g"), _name(options=(True,))]
    names += [_name(static=(np.add,)), _name(static=(np.multiply,))]
    assert len(set(names)) == len(names)
    assert _name() == _name()


def test_functions_of_the_user_have_no_name():
    def f(x):
        return x

    class Rows(tuple):
        pass

    for static in (f, jax.jit(f), Rows, Rows(), staging.tiered(f), lambda x: x, [{"f": f}]):
        assert not _name(static=(static,))


def test_which_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("JAXFRAMES_CACHE", "off")
    assert _kept_programs.folder() is None
    assert not _name()
    monkeypatch.delenv("JAXFRAMES_CACHE")
    before = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", str(tmp_path))
        assert _kept_programs.folder() == tmp_path / "jaxframes"
        jax.config.update("jax_compilation_cache_dir", "gs://bucket/programs")
        assert _kept_programs.folder() is None
        jax.config.update("jax_compilation_cache_dir", None)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        _kept_programs._of_home.cache_clear()
        if sys.platform == "linux":
            assert _kept_programs.folder() == tmp_path / "cache" / "jaxframes"
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
        _kept_programs._of_home.cache_clear()


def test_nothing_but_known_classes_is_read(folder):
    keep("one", *_program(lambda x: x, np.arange(3)))
    _kept_programs._write_all()
    (path,) = folder.rglob("one")
    marker = folder / "called"

    # What a module imports, what is found through a dot, and what calls anything.
    dotted = b"\x80\x04\x8c\x1ajaxframes.shardings.launch\x8c\x10subprocess.Popen\x93."
    imported = b"\x80\x04\x8c\x1ajaxframes.shardings.launch\x8c\x0asubprocess\x93."
    for text in (dotted, imported):
        with pytest.raises(pickle.UnpicklingError):
            _kept_programs._KnownUnpickler(io.BytesIO(text)).load()

    class Harm:
        def __init__(self, function, *arguments):
            self.call = function, arguments

        def __reduce__(self):
            return self.call

    harms = (
        Harm(os.mkdir, marker), Harm(eval, "1"), Harm(np.save, marker, 1), os.path.join,
        Harm(operator.attrgetter, "__call__"), Harm(functools.partial, Program),
    )  # fmt: skip
    for harm in harms:
        path.write_bytes(pickle.dumps((harm, ())))
        assert read("one") is None
        assert not marker.exists()


def test_a_file_that_cannot_be_read_is_traced(folder, caplog):
    x = jnp.arange(7) % 2 == 0
    name = "one"
    keep(name, *_program(lambda x: x, x))
    _kept_programs._write_all()
    (path,) = folder.rglob(name)
    for text in (b"", path.read_bytes()[:-5], pickle.dumps((1, 2, 3)), b"not a pickle"):
        path.write_bytes(text)
        with caplog.at_level(logging.DEBUG, _kept_programs.__name__):
            assert read(name) is None
    path.unlink()
    path.mkdir()
    assert read(name) is None


def test_a_folder_that_cannot_be_written_is_left(folder):
    folder.rmdir()
    folder.write_text("no folder")
    keep("one", *_program(lambda x: x, np.arange(3)))
    _kept_programs._write_all()
    assert read("one") is None
    assert compact(jnp.array([True, False]), None, capacity=2).count == 1


def test_large_constants_are_not_kept(folder):
    table = np.random.default_rng(0).normal(size=1 << 16)
    keep("large", *_program(lambda x: x + table, np.zeros(1 << 16)))
    keep("repeated", *_program(lambda x: x + jnp.zeros(1 << 16), np.zeros(1 << 16)))
    _kept_programs._write_all()
    assert read("large") is None
    assert read("repeated") is not None


def test_a_folder_takes_so_many_programs(folder, monkeypatch):
    monkeypatch.setattr(_kept_programs, "_MOST_PROGRAMS", 3)
    for number in range(5):
        keep(str(number), *_program(lambda x: x, np.arange(3)))
    _kept_programs._write_all()
    assert [read(str(number)) is not None for number in range(5)] == [True] * 3 + [False] * 2


def test_old_versions_go(folder):
    for number in range(9):
        (folder / f"{number}-programs").mkdir(parents=True)
    keep("one", *_program(lambda x: x, np.arange(3)))
    _kept_programs._write_all()
    assert len(list(folder.iterdir())) == _kept_programs._MOST_VERSIONS
    assert read("one") is not None


def test_a_kept_program_is_compiled_when_that_pays(folder):
    flags = jnp.arange(3000) % 3 == 0

    def calls():
        for _ in range(40):
            taken = compact(flags, None, capacity=1000)
            np.testing.assert_array_equal(taken.row_ids, np.arange(0, 3000, 3))
        wait_until_compiled()
        entries = [one for one in compiled_entries if isinstance(one, Entry)]
        return [one for one in entries if one.owner.__name__ == "_compact"]

    for entry in calls():
        entry.owner.forget(entry)
    _kept_programs._write_all()
    assert list(folder.rglob("*-programs/*"))
    assert calls()


def test_no_retrace_holds_for_kept_programs():
    flags = jnp.arange(2500) % 2 == 0
    compact(flags, None, capacity=100)
    _kept_programs._write_all()
    for entry in [one for one in interpreted_entries if one.owner.__name__ == "_compact"]:
        entry.owner.forget(entry)
    compact(flags, None, capacity=100)
    with staging.no_retrace():
        for _ in range(40):
            compact(flags, None, capacity=100)
    wait_until_compiled()


def test_threads_that_find_a_kept_program_get_its_bits(monkeypatch):
    # A product and a sum that XLA would contract, and a branch that it alone can calculate.
    @staging.tiered
    def f(x):
        y = jax.lax.cond(x[0] > 0, jnp.exp, lambda x: x, x)
        return y * y + x / np.float64(3)

    x = -np.abs(np.random.default_rng(0).normal(size=500)) - 0.1
    positive = -x
    expected = np.asarray(f(jnp.asarray(positive)))
    f._entries.clear()
    f(jnp.asarray(x))
    (entry,) = f._entries.values()
    kept = pickle.loads(pickle.dumps(entry.program)), entry.out_tree
    f._entries.clear()
    monkeypatch.setattr(_tiered, "name_of", lambda *args: "one")
    monkeypatch.setattr(_tiered, "read", lambda name: kept)
    monkeypatch.setattr(Tiered, "_is_kept", True)
    program_of = Tiered._program_of

    def slowly(self, *args):
        time.sleep(0.05)
        return program_of(self, *args)

    monkeypatch.setattr(Tiered, "_program_of", slowly)
    f(jnp.asarray(x))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(f, [jnp.asarray(positive)] * 4))
    for one in (*found, f(jnp.asarray(positive))):
        np.testing.assert_array_equal(one, expected)


def test_functions_without_a_name_are_called():
    add = staging.tiered(functools.partial(operator.add, 3))
    np.testing.assert_array_equal(add(np.arange(3)), [3, 4, 5])


def test_a_thread_that_cannot_start_costs_nothing(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    _kept_programs._start.cache_clear()
    monkeypatch.setattr(threading.Thread, "start", refuse)
    keep("one", *_program(lambda x: x, np.arange(3)))
    _kept_programs._start.cache_clear()


def test_a_failed_write_leaves_nothing(folder, monkeypatch):
    def fail(self, text):
        with open(self, "wb") as file:
            file.write(text[:5])
        raise OSError("no space left")

    monkeypatch.setattr(pathlib.Path, "write_bytes", fail)
    keep("one", *_program(lambda x: x, np.arange(3)))
    _kept_programs._write_all()
    assert not list(folder.rglob("one*"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_a_forked_child_ends():
    with _kept_programs._writing:
        child = os.fork()
        if child == 0:
            _kept_programs._write_all()
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_what_was_kept_is_as_quick_as_what_was_traced():
    program, _ = _program(lambda x: (x + 1, x * 2), np.arange(3))
    kept = pickle.loads(pickle.dumps(program))
    for (_, *ours), (_, *theirs) in zip(kept._steps, program._steps, strict=True):
        assert all(one is other for one, other in zip(ours[2], theirs[2], strict=True))


def test_constants_cannot_be_changed():
    table = np.arange(4096.0)
    take = staging.tiered(lambda flags, x: jnp.where(flags, table, x))
    result = take(jnp.ones(4096, bool), jnp.zeros(4096))
    table += 1
    np.testing.assert_array_equal(result, np.arange(4096.0))
    np.testing.assert_array_equal(take(jnp.ones(4096, bool), jnp.zeros(4096)), np.arange(4096.0))
