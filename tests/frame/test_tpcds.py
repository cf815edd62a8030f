# SPDX-License-Identifier: Apache-2.0
"""Questions of TPC-DS in the style of pandas have DuckDB's answers, on pandas and here."""

import os

import duckdb
import jaxframes.frame as jf
import numpy as np
import pandas as pd
import pytest
from tpcds_questions import QUESTIONS
from tpcds_tables import make_tables

# A few kinds of questions always: a rollup, windows, functions of rows and joins by conditions.
SLICE = ("q12", "q36", "q51", "q89", "q93")
IS_LONG = os.environ.get("JAXFRAMES_HYPOTHESIS") == "long"


@pytest.fixture(scope="module")
def tables():
    return make_tables()


@pytest.fixture(scope="module")
def database(tables):
    connection = duckdb.connect()
    for name, table in tables.items():
        # A missing key is NULL, as SQL has it.
        shown = table.astype({key: "Int64" for key in table if table[key].isna().any()})
        connection.register(name, shown)
    return connection


def in_order(answer):
    """The rows as a set: sorted by all columns, with one value for what is missing."""
    answer = answer.reset_index(drop=True)
    columns = {
        label: answer[label].astype(float)
        if pd.api.types.is_numeric_dtype(answer[label])
        else answer[label].astype(object).where(answer[label].notna(), "").astype(str)
        for label in answer
    }
    columns = pd.DataFrame(columns)
    texts = [name for name in columns if columns[name].dtype == "str"]
    rounded = columns.round(6)
    order = rounded.sort_values([*texts, *(n for n in columns if n not in texts)]).index
    return columns.loc[order].reset_index(drop=True)


@pytest.mark.parametrize("name", QUESTIONS if IS_LONG else SLICE)
def test_an_answer_is_that_of_sql(name, tables, database):
    sql, program = QUESTIONS[name]
    expected = in_order(database.execute(sql).df())
    assert len(expected)
    for module, make in ((pd, lambda table: table), (jf, jf.JaxFrame)):
        answer = program(module, {name: make(table) for name, table in tables.items()})
        got = in_order(answer.to_pandas() if module is jf else answer)
        assert set(expected) <= set(got)
        np.testing.assert_equal(len(got), len(expected))
        pd.testing.assert_frame_equal(got[list(expected)], expected, check_dtype=False)
