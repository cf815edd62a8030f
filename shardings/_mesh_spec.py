# SPDX-License-Identifier: Apache-2.0
"""Descriptions of meshes of several axes, with sizes that the devices decide."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import jax
import numpy as np
from jax.sharding import AxisType, Mesh

from ._arguments import as_static_int, type_of
from ._compat import Device
from ._mesh import check_axis_type

AxisTypes = AxisType | Mapping[str, AxisType]


@dataclasses.dataclass(frozen=True)
class MeshSpec:
    """A description of a mesh: the names and sizes of its axes.

    Attributes:
        axes: pairs of a name and a size, the slowest first; a size of None follows from the number
            of devices.
        devices: the devices; None for all devices of all processes.
        axis_types: the type of every axis, in the order of `axes`.
    """

    axes: tuple[tuple[str, int | None], ...]
    devices: tuple[Device, ...] | None = None
    axis_types: tuple[AxisType, ...] = ()

    def __post_init__(self) -> None:
        names = [name for name, _ in self.axes]
        if not names or len(set(names)) < len(names):
            raise ValueError(
                f"mesh_spec: a mesh must have at least one axis, each with a name of its own, got "
                f"{tuple(names)}."
            )
        if self.devices is not None and not self.devices:
            raise ValueError(
                "mesh_spec: a mesh must have at least one device, got none. Leave devices out for "
                "all of them."
            )
        if self.devices is not None and len(set(self.devices)) < len(self.devices):
            raise ValueError(
                f"mesh_spec: devices must be distinct, got {len(self.devices)} with "
                f"{len(set(self.devices))} distinct ones. Leave the copies out."
            )
        if not self.axis_types:
            object.__setattr__(self, "axis_types", (AxisType.Auto,) * len(names))

    @property
    def shape(self) -> dict[str, int]:
        """The size of each axis on the devices.

        Raises:
            ValueError: the sizes do not multiply to the number of devices.
        """
        num_devices = len(self._all_devices)
        known = math.prod(size for _, size in self.axes if size is not None)
        num_unknown = sum(size is None for _, size in self.axes)
        described = ", ".join(f"{name}={size}" for name, size in self.axes)
        if num_unknown == 0 and known != num_devices:
            raise ValueError(
                f"mesh_spec: the sizes must multiply to the number of devices, got {described}, "
                f"which is {known}, for {num_devices} devices. Pass None for one of the sizes, or "
                "the devices to use."
            )
        if num_devices % known:
            raise ValueError(
                f"mesh_spec: the given sizes must divide the number of devices, got {described}, "
                f"which is {known}, for {num_devices} devices. Choose sizes that divide it, or "
                "pass the devices to use."
            )
        inferred = iter(_balanced(num_devices // known, num_unknown))
        return {name: next(inferred) if size is None else size for name, size in self.axes}

    def build(self) -> Mesh:
        """Makes the mesh. Every process makes the same, because JAX lists devices in one order.

        Raises:
            ValueError: the sizes do not multiply to the number of devices.
        """
        shape = self.shape
        return jax.make_mesh(
            tuple(shape.values()),
            tuple(shape),
            axis_types=self.axis_types,
            devices=self._all_devices,
        )

    def describe(self) -> str:
        """One line for a log: the size of each axis, and the devices."""
        devices = self._all_devices
        sizes = " x ".join(
            f"{name}={self.shape[name]}" + (" (inferred)" if size is None else "")
            for name, size in self.axes
        )
        num_processes = len({device.process_index for device in devices})
        return (
            f"{sizes}: {len(devices)} {devices[0].platform} devices of {num_processes} "
            f"process{'es' if num_processes > 1 else ''}"
        )

    @property
    def _all_devices(self) -> tuple[Device, ...]:
        return tuple(jax.devices()) if self.devices is None else self.devices


def mesh_spec(
    *,
    devices: Sequence[Device] | None = None,
    axis_types: AxisTypes = AxisType.Auto,
    **sizes: int | None,
) -> MeshSpec:
    """Describes a mesh of several axes.

    Args:
        devices: the devices; all devices of all processes by default.
        axis_types: one type for all axes, or the type of each axis by name; `Auto` for those that
            it leaves out.
        sizes: the size of each axis by name, the slowest first. One None is inferred from the
            number of devices; several get sizes as equal as possible, larger ones first.

    Returns:
        A `MeshSpec`; `build()` makes the mesh.

    Raises:
        TypeError: a size is not an integer, `devices` is not a list, or a type not an `AxisType`.
        ValueError: there is no axis, a size is less than one, or `axis_types` names another axis.

    Example:
        >>> import jax
        >>> from jaxframes import shardings
        >>> spec = shardings.mesh_spec(data=None, model=1, devices=jax.devices()[:1])
        >>> spec.describe()
        'data=1 (inferred) x model=1: 1 cpu devices of 1 process'
        >>> dict(spec.build().shape)
        {'data': 1, 'model': 1}
    """
    caller = "mesh_spec"
    axes = tuple(
        (name, None if size is None else as_static_int(size, caller, name, 1))
        for name, size in sizes.items()
    )
    if not isinstance(axis_types, Mapping):
        check_axis_type(axis_types, caller, "axis_types")
    types = axis_types if isinstance(axis_types, Mapping) else {}
    for name, axis_type in types.items():
        check_axis_type(axis_type, caller, f"the type of {name!r}")
    if devices is not None and not isinstance(devices, Sequence | np.ndarray):
        raise TypeError(
            f"{caller}: devices must be a list of devices, got {type_of(devices)}. Pass for "
            "example jax.devices()[:4]."
        )
    unknown = [name for name in types if name not in sizes]
    if unknown:
        raise ValueError(
            f"{caller}: axis_types must name axes of the mesh, {tuple(sizes)}, got {unknown[0]!r}."
        )
    default = axis_types if isinstance(axis_types, AxisType) else AxisType.Auto
    return MeshSpec(
        axes,
        None if devices is None else tuple(devices),
        tuple(types.get(name, default) for name in sizes),
    )


def _balanced(number: int, num_factors: int) -> tuple[int, ...]:
    """Factors of a number, as equal as possible, in descending order."""
    if num_factors == 0:
        return ()
    if num_factors == 1:
        return (number,)
    divisors = [d for d in range(1, number + 1) if number % d == 0]
    splits = [(d, *_balanced(number // d, num_factors - 1)) for d in divisors]
    return min(
        (tuple(sorted(split, reverse=True)) for split in splits), key=lambda s: (s[0], sum(s))
    )
