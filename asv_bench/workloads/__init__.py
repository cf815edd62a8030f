# SPDX-License-Identifier: Apache-2.0
"""Workloads: lists of questions about tables, asked of this library, pandas, Polars and DuckDB.

A workload is a package with these modules:

- `tables` writes its tables to Parquet files, by size;
- `pandas_style` holds the questions as functions of a module (`pandas` or `jaxframes.frame`) and of
  the tables, so that both libraries run the same text; `OWN_QUESTIONS`, if any, replace some of
  them for this library;
- `polars_style` and `sql` hold the same questions for Polars and DuckDB.

`workload.py` describes a workload, `engines` runs one library, `process.py` measures an engine in a
process of its own, `answers.py` compares answers, and `report.py` prints, stores and draws them.
`python asv_bench/run_workload.py --help` runs them.
"""
