# SPDX-License-Identifier: Apache-2.0
"""The questions in the words of pandas, each under the name of its domain."""

from collections.abc import Callable
from typing import Any

from . import hits, movies, sensors, stars, trips

DOMAINS = (stars, movies, hits, sensors, trips)


def _questions_of(domain: Any) -> dict[str, Callable[..., Any]]:
    name = domain.__name__.rpartition(".")[2]
    return {
        f"{name} {label}": value
        for label, value in vars(domain).items()
        if callable(value) and value.__module__ == domain.__name__ and label[0] != "_"
    }


QUESTIONS = {name: one for domain in DOMAINS for name, one in _questions_of(domain).items()}
