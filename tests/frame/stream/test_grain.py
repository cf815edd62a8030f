# SPDX-License-Identifier: Apache-2.0
"""Datasets of grain over plans, with the real libraries."""

import json
import pickle
import sys

import grain
import numpy as np
import orbax.checkpoint as ocp
import pandas as pd
import pytest
from jaxframes.frame import col, from_pandas, scan_csv, scan_parquet

FRAME = pd.DataFrame(
    {"x": np.arange(500), "y": np.arange(500) % 7 / 4, "s": (np.arange(500) % 9).astype(str)}
)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("grain") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=90)
    return scan_parquet(path)


def rows_of(elements):
    """The rows of elements, and their number in each."""
    elements = list(elements)
    columns = {name: np.concatenate([one[name] for one in elements]) for name in elements[0]}
    return pd.DataFrame(columns), [len(one["x"]) for one in elements]


def test_a_stream_gives_the_batches_of_the_plan(plan):
    dataset = plan[plan.x % 2 == 1].to_grain(64, batch_rows=100)
    assert isinstance(dataset, grain.IterDataset)
    rows, sizes = rows_of(dataset)
    assert sizes == [64, 64, 64, 58]
    expected = FRAME[FRAME.x % 2 == 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(rows, expected, check_dtype=False)
    shuffled = plan.to_grain(50, shuffle_buffer=100, seed=3, epochs=2, batch_rows=100)
    batches = plan.batches(50, shuffle_buffer=100, seed=3, epochs=2, batch_rows=100)
    for element, batch in zip(shuffled, batches, strict=True):
        assert element["x"].tolist() == batch.x.tolist()


def test_the_state_is_that_of_batches_and_json_holds_it(plan):
    options = {"shuffle_buffer": 128, "seed": 1, "epochs": 2, "batch_rows": 100}
    dataset = plan.to_grain(32, **options).map(lambda batch: batch["x"] * 2)
    uninterrupted = [one.tolist() for one in dataset]
    shapes = set()
    for step in (0, 1, 7, 16, 31, len(uninterrupted)):
        iterator = iter(dataset)
        before = [next(iterator).tolist() for _ in range(step)]
        state = json.loads(json.dumps(iterator.get_state()))
        iterator.close()
        shapes.add(str({name: type(value) for name, value in state.items()}))
        resumed = iter(dataset)
        resumed.set_state(state)
        assert [*before, *(one.tolist() for one in resumed)] == uninterrupted
    assert len(shapes) == 1
    token = iter(plan.to_grain(32, **options))
    next(token)
    rest = plan.batches(32, state=token.get_state(), **options)
    assert (next(rest).x.to_numpy() * 2).tolist() == uninterrupted[1]
    with pytest.raises(ValueError, match="batches: the state must come from the same plan"):
        iter(plan.to_grain(16, **options)).set_state(token.get_state())


def test_orbax_saves_and_restores_the_iterator(plan, tmp_path):
    dataset = plan.to_grain(32, shuffle_buffer=64, epochs=2, batch_rows=100)
    iterator = iter(dataset)
    for _ in range(5):
        next(iterator)
    with ocp.CheckpointManager(tmp_path / "checkpoints") as manager:
        manager.save(5, args=ocp.args.Composite(data=grain.checkpoint.CheckpointSave(iterator)))
        manager.wait_until_finished()
        expected = [one["x"].tolist() for one in iterator]
        restored = iter(dataset)
        manager.restore(
            5, args=ocp.args.Composite(data=grain.checkpoint.CheckpointRestore(restored))
        )
    assert [one["x"].tolist() for one in restored] == expected


def test_elements_by_number(plan):
    changed = plan.assign(z=col("y") * 2)[["x", "z", "s"]]
    dataset = changed.to_grain(64, random_access=True)
    assert isinstance(dataset, grain.MapDataset)
    expected = FRAME.assign(z=FRAME.y * 2)[["x", "z", "s"]]
    assert len(dataset) == 8
    for number in (7, 0, 3, -1, 9):
        first = number % 8 * 64
        rows, _ = rows_of([dataset[number]])
        wanted = expected[first : first + 64].reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, wanted, check_dtype=False)
    assert len(changed.to_grain(64, random_access=True, drop_remainder=True)) == 7
    rows, sizes = rows_of(dataset.shuffle(seed=5))
    assert rows.x.tolist() != FRAME.x.tolist()
    assert sorted(rows.x) == list(range(500))
    assert sorted(sizes) == [52, *[64] * 7]
    in_epochs = dataset.shuffle(seed=5).repeat(2).to_iter_dataset()
    assert sorted(rows_of(in_epochs)[0].x) == sorted([*range(500)] * 2)
    pairs = dataset[:6].batch(2)
    (second,) = pairs[1:2]
    assert second["x"].tolist() == [list(range(128, 192)), list(range(192, 256))]
    copied = pickle.loads(pickle.dumps(dataset))
    assert rows_of([copied[2]])[0].equals(rows_of([dataset[2]])[0])


def test_elements_of_a_frame_in_memory():
    dataset = from_pandas(FRAME).lazy().to_grain(200, random_access=True)
    assert [len(one["x"]) for one in dataset] == [200, 200, 100]
    assert dataset[2]["x"].tolist() == list(range(400, 500))
    nothing = from_pandas(FRAME[:0]).lazy().to_grain(200, random_access=True)
    assert len(nothing) == 0
    assert list(nothing) == []


def test_a_plan_of_unknown_length_is_streamed_only(plan, tmp_path):
    for unknown in (plan[plan.x > 3], plan.sort_values("y"), plan.head(3), plan.dropna()):
        with pytest.raises(NotImplementedError, match=r"to_grain: the number of rows .* Omit"):
            unknown.to_grain(32, random_access=True)
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(NotImplementedError, match=r"scan_csv\('rows\.csv'\) cannot be read by pos"):
        scan_csv(tmp_path / "rows.csv").to_grain(32, random_access=True)


def test_wrong_arguments_raise(plan):
    with pytest.raises(ValueError, match="to_grain: size must be a positive integer, got 0"):
        plan.to_grain(0)
    with pytest.raises(ValueError, match=r"Call shuffle\(seed\) and repeat\(\) of the dataset"):
        plan.to_grain(8, random_access=True, epochs=2)
    with pytest.raises(ValueError, match=r"batches: seed must be an integer of at least 0, got -1"):
        plan.batches(8, seed=-1)


def test_a_file_that_changes_ends_the_reading(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=90)
    dataset = scan_parquet(path).to_grain(64, random_access=True)
    assert len(dataset[0]["x"]) == 64
    FRAME[:300].to_parquet(path, row_group_size=90)
    with pytest.raises(RuntimeError, match=r"rows\.parquet' has changed since the stream began"):
        dataset[5]


def test_without_grain_the_error_names_the_extra(plan, monkeypatch):
    monkeypatch.delitem(sys.modules, "jaxframes.frame.stream._grain", raising=False)
    monkeypatch.setitem(sys.modules, "grain", None)
    with pytest.raises(ImportError, match=r"to_grain: needs the library grain.*jaxframes\[grain\]"):
        plan.to_grain(8)


@pytest.mark.parametrize("random_access", [False, True])
def test_elements_have_the_dtypes_of_all_rows(tmp_path, random_access):
    rows = pd.DataFrame({"id": [1, 2, 3, 4], "u": np.array([200, 100, 200, 7], "uint8")})
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=2)
    plan = scan_parquet(tmp_path / "rows.parquet").assign(n=lambda f: -f.u.where(f.id > 1))[["n"]]
    options = {} if random_access else {"batch_rows": 2}
    dataset = plan.to_grain(2, random_access=random_access, **options)
    for elements in (list(dataset), list(pickle.loads(pickle.dumps(dataset)))):
        assert [element["n"].dtype for element in elements] == [np.float64] * 2
        np.testing.assert_array_equal(elements[0]["n"], [np.nan, -100])
        np.testing.assert_array_equal(elements[1]["n"], [-200, -7])
