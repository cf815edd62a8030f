# SPDX-License-Identifier: Apache-2.0
"""Input and output: constructor data, pandas, Arrow, CSV, Parquet, protocols and repr."""
