# SPDX-License-Identifier: Apache-2.0
"""The engines, one module each, so that a process imports only the one that it measures.

A module has four functions:

- `questions(package)` returns the engine's form of the questions, by name;
- `load(paths, categories)` reads tables from Parquet, with some columns as categories;
- `prepare(question, tables)` returns a call that waits for its answer;
- `to_pandas(answer)` converts an answer.
"""

# Engines with a type for categories, and their second run. Strings are codes in jaxframes anyway.
WITH_CATEGORIES = ("pandas", "polars")
ENGINES = ("jaxframes", "pandas", "polars", "duckdb")
