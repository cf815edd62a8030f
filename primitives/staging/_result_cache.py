# SPDX-License-Identifier: Apache-2.0
"""Results of a host function, each calculated once."""

import threading
from collections.abc import Callable, Hashable, MutableMapping
from concurrent.futures import Future
from types import MethodType
from typing import Any

import jax
import numpy as np


class ResultCache:
    """Calls a function once for each key, from any number of threads."""

    def __init__(self, results: MutableMapping[Any, Any], key: Callable[[Any], Hashable] | None):
        self._results = results
        # Caches of one mapping and one function of keys stand for each other.
        self.identity = id(results), identity_of(key)
        self._key = key or bytes_of
        self._lock = threading.Lock()
        self._in_flight: dict[Hashable, Future[Any]] = {}

    def result_of(self, function: Callable[[Any], Any], x: Any) -> Any:
        """The result for `x`: a stored one, that of another thread, or a new one."""
        key = self._key(x)
        with self._lock:
            if key in self._results:
                return self._results[key]
            future = self._in_flight.get(key)
            is_first = future is None
            if future is None:
                future = self._in_flight[key] = Future()
        if not is_first:
            return future.result()
        try:
            # A copy, because `function` may fill one buffer again and again, or return its item.
            value = jax.tree.map(_copied, function(x))
        except BaseException as error:
            with self._lock:
                del self._in_flight[key]
            future.set_exception(error)
            raise
        with self._lock:
            self._results[key] = value
            del self._in_flight[key]
        future.set_result(value)
        return value


def identity_of(function: Any) -> Hashable:
    """A function by identity, because a callable object need not be hashable.

    Each look-up of a method gives a new object, so a method counts by its object and its function.
    """
    if isinstance(function, MethodType):
        return id(function.__self__), id(function.__func__)
    return id(function)


def _copied(leaf: Any) -> Any:
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def bytes_of(x: Any) -> Hashable:
    """A key of an item: the bytes of its arrays, with their dtypes and shapes."""
    arrays = [np.asarray(leaf) for leaf in jax.tree.leaves(x)]
    return tuple((array.dtype.str, array.shape, array.tobytes()) for array in arrays)
