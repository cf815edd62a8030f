# SPDX-License-Identifier: Apache-2.0
"""Jobs that go on from their last finished batch, and give the same bytes."""

import functools
import itertools
import os
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col, from_pandas, scan_arrow, scan_csv, scan_parquet
from jaxframes.frame.stream import _checkpoint, _plan_stage, _reader, _steps, _streams
from jaxframes.frame.stream._spilling_groups import SpillingGroups

FRAME = pd.DataFrame(
    {
        "k": np.arange(300) * 7 % 11,
        "x": np.where(np.arange(300) % 13 == 0, np.nan, np.arange(300) / 8),
        "s": np.where(np.arange(300) % 17 == 0, None, (np.arange(300) % 5).astype(str)),
        "c": pd.Categorical(
            np.array(["b", "a"])[np.arange(300) % 2], ["b", "a", "z"], ordered=True
        ),
        "t": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(300), "h"),
        "b": np.arange(300) % 3 == 0,
    }
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=50)
    return path


class Interrupted(Exception):
    pass


def interrupted_after(num_batches, run, monkeypatch):
    """Runs until some batches were finished."""
    save = _checkpoint.Checkpoint._save

    def counted(self, number, batch):
        if number == num_batches:
            raise Interrupted
        save(self, number, batch)

    with monkeypatch.context() as patched:
        patched.setattr(_checkpoint.Checkpoint, "_save", counted)
        with pytest.raises(Interrupted):
            run()


def interrupted_in_groups(num_batches, run, monkeypatch):
    """Runs until some batches were added to groups."""
    add, numbers = SpillingGroups.add, itertools.count()

    def counted(self, batch):
        if next(numbers) == num_batches:
            raise Interrupted
        add(self, batch)

    with monkeypatch.context() as patched:
        patched.setattr(SpillingGroups, "add", counted)
        with pytest.raises(Interrupted):
            run()


def starts_of(monkeypatch):
    """Records the batch that each reading of a source starts from."""
    starts = []

    def recorded(scan, batch_rows, start=0):
        starts.append(start)
        return _reader.batches_of(scan, batch_rows, start)

    monkeypatch.setattr(_plan_stage, "batches_of", recorded)
    return starts


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


PLANS = {
    "rows": lambda plan: plan[plan.k > 2].assign(y=col("x") * 2),
    "labels": lambda plan: plan.dropna().reset_index(drop=True),
    "sort": lambda plan: plan[["k", "x", "s"]].sort_values(["s", "k"]),
    "groups": lambda plan: plan.groupby("k", as_index=False).x.mean(),
}
OPTIONS = {
    "file": {},
    "parts": {"max_rows_per_file": 70},
    "folders": {"partition_cols": ["k"]},
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_the_bytes_are_those_of_a_job_without_interruption(
    name, options, file, tmp_path, monkeypatch
):
    plan = PLANS[name](scan_parquet(file))
    batch_rows = 4 if name == "groups" else 40
    outputs = [tmp_path / output / "out" for output in ("plain", "whole", "resumed")]
    for output in outputs:
        output.parent.mkdir()
    plain, whole, resumed = outputs
    plan.to_parquet(plain, batch_rows=batch_rows, **options)
    plan.to_parquet(whole, batch_rows=batch_rows, checkpoint=tmp_path / "whole.job", **options)
    folder = tmp_path / "resumed.job"

    def run():
        plan.to_parquet(resumed, batch_rows=batch_rows, checkpoint=folder, **options)

    for num_batches in (0, 1, 2):
        interrupted_after(num_batches, run, monkeypatch)
        assert not resumed.exists()
        assert len(list(folder.glob("batch-*"))) == num_batches
    starts = starts_of(monkeypatch)
    run()
    # Batches of finished rows, sorted runs and groups are not read again.
    assert starts == ([2] if name == "rows" else [] if name in ("sort", "groups") else [0])
    assert contents(resumed.parent) == contents(whole.parent) == contents(plain.parent)
    assert not folder.exists()


def test_csv_and_collect_go_on(file, tmp_path, monkeypatch):
    plan = scan_parquet(file)[["k", "x", "s", "c", "t", "b"]]
    folder, target = tmp_path / "job", tmp_path / "out.csv"

    def run():
        plan.to_csv(target, batch_rows=40, checkpoint=folder, index=False)

    interrupted_after(3, run, monkeypatch)
    run()
    # Batches write all digits of times.
    assert target.read_text() == FRAME.to_csv(index=False, date_format="%Y-%m-%d %H:%M:%S.%f")

    def collected():
        return plan.collect(batch_rows=40, checkpoint=folder)

    interrupted_after(5, collected, monkeypatch)
    assert_same(collected(), FRAME)
    column = plan.x
    interrupted_after(5, lambda: column.collect(batch_rows=40, checkpoint=folder), monkeypatch)
    assert_same(column.collect(batch_rows=40, checkpoint=folder), FRAME.x)
    total = plan.x.sum().collect(batch_rows=40, checkpoint=folder)
    np.testing.assert_allclose(total.item(), FRAME.x.sum())
    assert not folder.exists()


def test_frames_and_csv_files_are_sources_too(tmp_path, monkeypatch):
    plain = FRAME[["k", "x"]]
    plain.to_csv(tmp_path / "rows.csv", index=False)
    sources = [
        lambda: from_pandas(plain).lazy(),
        lambda: scan_csv(tmp_path / "rows.csv"),
        lambda: scan_arrow(from_pandas(plain).to_arrow()),
    ]
    for source in sources:

        def run(source=source):
            return source().collect(batch_rows=40, checkpoint=tmp_path / "job")

        interrupted_after(4, run, monkeypatch)
        assert_same(run(), plain)


def test_a_checkpoint_of_another_job_is_refused(file, tmp_path, monkeypatch):
    plan, folder, target = (
        scan_parquet(file)[["k", "x"]],
        tmp_path / "job",
        tmp_path / "out.parquet",
    )

    def run(plan=plan, target=target, **options):
        plan.to_parquet(target, **{"batch_rows": 40, "checkpoint": folder, **options})

    interrupted_after(2, run, monkeypatch)
    refused = r"checkpoint: the folder .*job' is of another job\. It was made "
    for other in (plan[plan.k > 1], plan[["x", "k"]], scan_parquet(file), plan.head(5)):
        with pytest.raises(ValueError, match=refused + r"by another plan\. Give another folder"):
            run(other)
    with pytest.raises(ValueError, match=refused + "with other options: 'batch_rows': 40 b"):
        run(batch_rows=50)
    with pytest.raises(ValueError, match=refused + "with other options: 'compression'"):
        run(compression="zstd")
    with pytest.raises(ValueError, match=refused + "with other options: 'path'"):
        run(target=tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=refused + "with other options: 'call'"):
        plan.collect(batch_rows=40, checkpoint=folder)
    before, changed = file.read_bytes(), r"files that it read have changed: '.*rows\.parquet'"
    os.utime(file, ns=(1, 1))
    with pytest.raises(ValueError, match=changed):
        run()
    FRAME.to_parquet(file, row_group_size=60)
    with pytest.raises(ValueError, match=changed):
        run()
    assert len(list(folder.glob("batch-*"))) == 2
    file.write_bytes(before)
    facts = os.stat(file)
    text = (folder / "job.json").read_text()
    saved = text.split('"modified": ')[1].split(",")[0]
    os.utime(file, ns=(facts.st_atime_ns, int(saved)))
    run()
    assert pq.read_table(target).num_rows == 300


def test_a_frame_with_other_rows_is_another_plan(tmp_path, monkeypatch):
    folder = tmp_path / "job"
    first = JaxFrame({"x": [1, 2, 3]}).lazy()
    interrupted_after(1, lambda: first.collect(batch_rows=2, checkpoint=folder), monkeypatch)
    with pytest.raises(ValueError, match="It was made by another plan"):
        JaxFrame({"x": [1, 2, 4]}).lazy().collect(batch_rows=2, checkpoint=folder)
    again = JaxFrame({"x": [1, 2, 3]}).lazy()
    assert again.collect(batch_rows=2, checkpoint=folder).x.tolist() == [1, 2, 3]


FUNCTIONS = {
    "constant": ("lambda v: v * 2", "lambda v: v * 3"),
    "name": ("lambda v: jnp.floor(v)", "lambda v: jnp.ceil(v)"),
    "global": ("lambda v: v * factor", "lambda v: v * factor", {"factor": 2}, {"factor": 3}),
    "closure": ("(lambda n: lambda v: v * n)(2)", "(lambda n: lambda v: v * n)(3)"),
    "default": ("lambda v, n=2: v * n", "lambda v, n=3: v * n"),
    "inner": ("lambda v: (lambda w: w * 2)(v)", "lambda v: (lambda w: w * 3)(v)"),
    "called": ("lambda v: f(v)", "lambda v: f(v)", {"f": jnp.floor}, {"f": jnp.ceil}),
    "array": ("lambda v: a.sum() * v", "lambda v: a.sum() * v",
              {"a": np.zeros(5000)}, {"a": np.arange(5000) // 2500 % 2}),
    "partial": ("partial(jnp.maximum, 2)", "partial(jnp.maximum, 3)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_changed_function_is_another_plan(name, tmp_path, monkeypatch):
    old, new, *names = FUNCTIONS[name]
    first, second = names or ({}, {})

    def run(text, names):
        function = eval(text, {"jnp": jnp, "partial": functools.partial, **names})
        plan = JaxFrame({"x": [1.5, 2.5, 3.5]}).lazy().assign(y=col("x").map(function))
        return plan.collect(batch_rows=2, checkpoint=tmp_path / "job").y.tolist()

    interrupted_after(1, lambda: run(old, first), monkeypatch)
    with pytest.raises(ValueError, match="It was made by another plan"):
        run(new, second)
    function = eval(old, {"jnp": jnp, "partial": functools.partial, **first})
    assert run(old, first) == pd.Series([1.5, 2.5, 3.5]).map(function).tolist()


def test_the_text_of_a_function_is_the_same_in_every_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from jaxframes.frame.plan._function_text import function_text\n"
        "def outer(v):\n    return outer(v - 1) if v in {'a', 'b', 'c'} else helper(v)\n"
        "def helper(v):\n    return [v, {'x', 'y'}, 2.5]\n"
        "print(function_text(outer))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    assert len(texts) == 1


def test_wrong_folders_raise(file, tmp_path, monkeypatch):
    plan = scan_parquet(file)
    with pytest.raises(ValueError, match=r"collect: checkpoint= is for plans over batches"):
        plan.collect(checkpoint=tmp_path / "job")
    with pytest.raises(FileExistsError, match=r"has other files, such as 'rows\.parquet'"):
        plan.collect(batch_rows=40, checkpoint=tmp_path)
    assert file.exists()

    def run():
        return plan.collect(batch_rows=40, checkpoint=tmp_path / "job")

    interrupted_after(3, run, monkeypatch)
    second = tmp_path / "job" / "batch-00000001.arrow"
    second.write_bytes(second.read_bytes()[:100])
    with pytest.raises(OSError, match=r"batch-00000001\.arrow' cannot be read: it is truncated"):
        run()
    (tmp_path / "job" / "job.json").write_text("{")
    with pytest.raises(OSError, match=r"job\.json' is corrupted.*Remove the folder"):
        run()


def test_a_checkpoint_serves_one_process_at_a_time(file, tmp_path, monkeypatch):
    plan, folder = scan_parquet(file), tmp_path / "job"
    with _streams.running("collect", plan._plan, None, folder, {}, {"batch_rows": 40}) as stage:
        batches = stage.batches()
        next(batches)
        with pytest.raises(BlockingIOError, match="another process runs the job"):
            plan.collect(batch_rows=40, checkpoint=folder)
        batches.close()


def test_types_that_a_file_does_not_hold_raise(tmp_path):
    plan = JaxFrame({"x": jnp.arange(3, dtype=jnp.bfloat16)}).lazy()
    with pytest.raises(NotImplementedError, match="checkpoint: columns of bfloat16 become fl"):
        plan.collect(batch_rows=2, checkpoint=tmp_path / "job")


GROUPED = {
    "mean": lambda plan: plan[plan.b].groupby("s", as_index=False).x.mean(),
    "several": lambda plan: (
        plan.assign(y=col("x") * 2)
        .groupby(["s", "b"], dropna=False)
        .agg(n=("y", "count"), var=("y", "var"), first=("t", "min"))
    ),
    "unsorted": lambda plan: plan.groupby("k", sort=False)[["x"]].sum(),
    "rows after": lambda plan: plan.groupby("k", as_index=False).x.max().sort_values("x"),
}


@pytest.mark.parametrize("name", GROUPED)
def test_groups_go_on_from_their_state(name, file, tmp_path, monkeypatch):
    monkeypatch.setattr(_steps, "EVERY", 4)
    plan = GROUPED[name](scan_parquet(file))
    settings = {"batch_rows": 12, "checkpoint": tmp_path / "job"}
    whole = plan.collect(**settings)
    starts = starts_of(monkeypatch)
    interrupted_in_groups(14, lambda: plan.collect(**settings), monkeypatch)
    assert starts == [0]
    resumed = plan.collect(**settings)
    # After 14 batches, the state of the first 12 is there.
    assert starts == [0, 12]
    pd.testing.assert_frame_equal(resumed.to_pandas(), whole.to_pandas(), check_exact=True)
    expected = GROUPED[name](from_pandas(FRAME).lazy()).collect().to_pandas()
    assert_same(resumed, expected, ulps=4)
    assert not (tmp_path / "job").exists()


def test_groups_on_disk_are_kept_too(file, tmp_path, monkeypatch):
    monkeypatch.setattr(_steps, "EVERY", 1)
    plan = scan_parquet(file).groupby("t", as_index=False).x.sum()
    settings = {"batch_rows": 16, "checkpoint": tmp_path / "job"}
    starts = starts_of(monkeypatch)
    interrupted_in_groups(10, lambda: plan.collect(**settings), monkeypatch)
    assert_same(plan.collect(**settings), FRAME.groupby("t", as_index=False).x.sum())
    assert starts == [0, 10]
