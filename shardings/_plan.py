# SPDX-License-Identifier: Apache-2.0
"""A plan of the parallelism of a program: which mesh axis serves for what."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from jax.sharding import PartitionSpec

from ._arguments import as_static_int, did_you_mean, type_of
from ._compat import MeshLike
from ._mesh import check_mesh
from ._rules import Rules
from ._specs import as_spec, check_axes


@dataclasses.dataclass(frozen=True)
class Plan:
    """The mesh axes of data, tensor and pipeline parallelism. Hashable: static under `jit`.

    Attributes:
        data: mesh axis of the rows of a batch; None without data parallelism.
        tensor: mesh axis of the weights and the rules for `match_specs`; None without.
        pipeline: mesh axis of the stages and the number of microbatches; None without.

    Raises:
        TypeError: a part has another form.
        ValueError: an axis serves twice, or there are no microbatches.

    Example:
        >>> from jax.sharding import PartitionSpec as P
        >>> from jaxframes import shardings
        >>> plan = shardings.Plan(data="data", tensor=("model", {"*w": P(None, "model")}))
        >>> print(plan.describe())
        data      axis 'data'
        tensor    axis 'model', 1 rule
        pipeline  none
        >>> shardings.Plan.from_dict(plan.as_dict()) == plan
        True
    """

    data: str | None = None
    tensor: tuple[str, Any] | None = None
    pipeline: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        if self.data is not None and not isinstance(self.data, str):
            raise TypeError(f"Plan: data must be the name of a mesh axis, got {self.data!r}.")
        if self.tensor is not None:
            axis, rules = _pair(self.tensor, "tensor", "rules")
            pairs = rules.items() if isinstance(rules, Mapping) else rules
            specs = tuple(
                (str(glob), as_spec(spec, "Plan", f"the spec of {glob!r}")) for glob, spec in pairs
            )
            object.__setattr__(self, "tensor", (axis, specs))
        if self.pipeline is not None:
            axis, microbatches = _pair(self.pipeline, "pipeline", "microbatches")
            microbatches = as_static_int(microbatches, "Plan", "microbatches of pipeline", 1)
            object.__setattr__(self, "pipeline", (axis, microbatches))
        axes = list(self.axes.values())
        repeated = [axis for axis in axes if axes.count(axis) > 1]
        if repeated:
            roles = " and ".join(role for role, axis in self.axes.items() if axis == repeated[0])
            raise ValueError(
                f"Plan: each mesh axis must serve for one part, got {repeated[0]!r} for {roles}. "
                "Give the mesh an axis for each."
            )

    @property
    def axes(self) -> dict[str, str]:
        """The mesh axis of each part of the plan."""
        found = {"data": self.data}
        found |= {"tensor": self.tensor and self.tensor[0]}
        found |= {"pipeline": self.pipeline and self.pipeline[0]}
        return {role: axis for role, axis in found.items() if axis is not None}

    @property
    def rules(self) -> dict[str, PartitionSpec]:
        """The rules of tensor parallelism, for `match_specs`."""
        return {} if self.tensor is None else dict(self.tensor[1])

    @property
    def microbatches(self) -> int:
        """The number of microbatches; 1 without a pipeline."""
        return 1 if self.pipeline is None else self.pipeline[1]

    def validate(self, mesh: MeshLike, batch_rows: int | None = None) -> "Plan":
        """Checks the plan against a mesh, before anything is traced.

        Args:
            mesh: the mesh.
            batch_rows: number of rows of a batch, to be divided over data and microbatches.

        Returns:
            The plan.

        Raises:
            ValueError: the mesh lacks an axis of the plan or its rules, or `batch_rows` is not a
                multiple of the number of data shards and microbatches.
        """
        check_mesh(mesh, "Plan")
        for role, axis in self.axes.items():
            if axis not in mesh.axis_names:
                raise ValueError(
                    f"Plan: the axis of {role} must be an axis of the mesh, "
                    f"{tuple(mesh.axis_names)}, got {axis!r}." + did_you_mean(axis, mesh.axis_names)
                )
        for pattern, spec in self.rules.items():
            check_axes(spec, mesh, "Plan", f"the rule {pattern!r}")
        if batch_rows is not None:
            shards = 1 if self.data is None else mesh.shape[self.data]
            parts = shards * self.microbatches
            if batch_rows % parts:
                raise ValueError(
                    f"Plan: the rows of a batch must be a multiple of {shards} data shards times "
                    f"{self.microbatches} microbatches, got {batch_rows}. Take "
                    f"{-(-batch_rows // parts) * parts} rows."
                )
        return self

    def describe(self, mesh: MeshLike | None = None) -> str:
        """Three lines for a log; with a mesh also the sizes, and the bubble of the pipeline."""

        def axis_of(role: str) -> str:
            axis = self.axes[role]
            return f"axis {axis!r}" + ("" if mesh is None else f" of {mesh.shape[axis]}")

        lines = {"data": "none", "tensor": "none", "pipeline": "none"}
        if self.data is not None:
            lines["data"] = axis_of("data")
        if self.tensor is not None:
            count = len(self.rules)
            lines["tensor"] = f"{axis_of('tensor')}, {count} rule{'s' * (count != 1)}"
        if self.pipeline is not None:
            lines["pipeline"] = f"{axis_of('pipeline')}, {self.microbatches} microbatches"
            if mesh is not None:
                waiting = mesh.shape[self.pipeline[0]] - 1
                lines["pipeline"] += f", bubble {waiting / (self.microbatches + waiting):.3f}"
        return "\n".join(f"{role:<8}  {line}" for role, line in lines.items())

    def as_dict(self) -> dict[str, Any]:
        """The plan as values that JSON has."""
        described: dict[str, Any] = {"data": self.data, "tensor": None, "pipeline": None}
        if self.tensor is not None:
            rules = {glob: [_listed(entry) for entry in spec] for glob, spec in self.rules.items()}
            described["tensor"] = {"axis": self.tensor[0], "rules": rules}
        if self.pipeline is not None:
            axis, microbatches = self.pipeline
            described["pipeline"] = {"axis": axis, "microbatches": microbatches}
        return described

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> "Plan":
        """Inverts `as_dict`.

        Args:
            described: the parts of a plan; missing ones are None.

        Returns:
            The plan.

        Raises:
            ValueError: a key is unknown or missing.
        """
        _check_keys(described, ("data", "tensor", "pipeline"), "a plan")
        tensor, pipeline = described.get("tensor"), described.get("pipeline")
        if tensor is not None:
            _check_keys(tensor, ("axis", "rules"), "tensor", are_needed=True)
            rules: Rules = {
                glob: PartitionSpec(*(tuple(e) if isinstance(e, list) else e for e in spec))
                for glob, spec in tensor["rules"].items()
            }
            tensor = (tensor["axis"], rules)
        if pipeline is not None:
            _check_keys(pipeline, ("axis", "microbatches"), "pipeline", are_needed=True)
            pipeline = (pipeline["axis"], pipeline["microbatches"])
        return cls(described.get("data"), tensor, pipeline)


def _pair(part: Any, role: str, second: str) -> tuple[str, Any]:
    if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], str):
        shown = repr(part) if isinstance(part, (str, tuple)) else type_of(part)
        raise TypeError(f"Plan: {role} must be a pair of a mesh axis and {second}, got {shown}.")
    return part


def _listed(entry: Any) -> Any:
    return list(entry) if isinstance(entry, tuple) else entry


def _check_keys(
    described: Mapping[str, Any], known: tuple[str, ...], what: str, are_needed: bool = False
) -> None:
    if not isinstance(described, Mapping):
        raise TypeError(f"Plan.from_dict: {what} must be a dict, got {type_of(described)}.")
    for key in described:
        if key not in known:
            raise ValueError(
                f"Plan.from_dict: the keys of {what} must be among {known}, got {key!r}."
                + did_you_mean(str(key), known)
            )
    missing = [key for key in known if key not in described]
    if are_needed and missing:
        raise ValueError(
            f"Plan.from_dict: {what} must have the keys {known}, got no {missing[0]!r}."
        )
