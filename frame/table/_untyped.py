# SPDX-License-Identifier: Apache-2.0
"""Modules of other libraries without their types, where these lack what the modules have."""

from typing import Any

import pandas
import pyarrow.compute

untyped_pandas: Any = pandas
untyped_compute: Any = pyarrow.compute
