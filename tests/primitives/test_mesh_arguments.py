# SPDX-License-Identifier: Apache-2.0
"""`axis=` and `transport=` of every global op, with a mesh and without one."""

import inspect

import op_cases
import pytest
from jaxframes import primitives
from on_shards import mesh_of

CASES = [case for case in op_cases.CASES if case.is_at("global")]


@pytest.mark.checks_arguments
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refuses_an_unknown_axis_or_transport(case):
    arrays = case.draw(0)
    refused = 0
    no_mesh = inspect.signature(getattr(primitives, case.name)).parameters["mesh"].default
    for mesh in (no_mesh, mesh_of(2)):
        # What an op does not take is left out of the call.
        for settings in ({"axis": "columns"}, {"transport": "pigeon"}):
            call = case.at("global", mesh=mesh, **settings)
            if mesh is inspect.Parameter.empty or not settings.keys() <= call.keywords.keys():
                continue
            (name,) = settings
            with pytest.raises(ValueError, match=rf"^\w+: {name} must ") as raised:
                call(*arrays)
            if mesh is None and name == "axis":
                rule = "axis must be None without a mesh, got 'columns'. Pass the mesh that has"
                assert f": {rule} this axis." in str(raised.value)
            refused += 1
    assert refused
