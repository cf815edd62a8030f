# SPDX-License-Identifier: Apache-2.0
"""Two hundred questions in the manner of public programs: shops, movies, visits, sensors, trips.

Both libraries run the same text. Each question is called three times in a row in a fresh process,
because that is how a program meets it.
"""

from ..workload import Workload
from .pandas_style import QUESTIONS

_TABLES = {
    "stars": ("sales", "returned", "items", "stores", "customers", "days"),
    "movies": ("titles", "casts", "people", "keywords", "companies"),
    "hits": ("hits",),
    "sensors": ("readings", "sensors", "repairs"),
    "trips": ("trips", "zones", "weather"),
}
WORKLOADS = tuple(
    Workload(
        package="queries",
        name=f"queries of {domain}",
        tables=tables,
        prefix=f"{domain} ",
        size_unit="scale",
        in_place=frozenset(QUESTIONS),
        engines=("jaxframes", "pandas"),
        num_first_calls=3,
        num_settling_calls=8,
    )
    for domain, tables in _TABLES.items()
)
SIZES = (1.0,)
SMOKE_SIZES = (0.01,)
