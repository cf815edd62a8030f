# SPDX-License-Identifier: Apache-2.0
"""The type checker of the tests: beartype, without the annotations that it does not check."""

from typing import Any, Self

from beartype import BeartypeConf, BeartypeHintOverrides, beartype

# Functions are decorated one by one, so that beartype does not know their class.
enforced = beartype(conf=BeartypeConf(hint_overrides=BeartypeHintOverrides({Self: Any})))
