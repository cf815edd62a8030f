# SPDX-License-Identifier: Apache-2.0
"""Plans of parallelism: their checks, their text, and their form in JSON."""

import json
import re

import pytest
from jax.sharding import PartitionSpec as P
from jaxframes import shardings

RULES = {"*wq": P(None, "model"), "*wo": P("model"), "*embedding": P(("data", "model"))}
PLANS = [
    shardings.Plan(),
    shardings.Plan("data"),
    shardings.Plan(tensor=("model", RULES)),
    shardings.Plan(pipeline=("stage", 8)),
    shardings.Plan("data", ("model", RULES), ("stage", 8)),
]


def mesh():
    return shardings.mesh_spec(data=2, model=2, stage=2).build()


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_is_a_value(plan):
    described = json.loads(json.dumps(plan.as_dict()))
    assert shardings.Plan.from_dict(described) == plan
    assert hash(shardings.Plan.from_dict(described)) == hash(plan)
    assert plan.validate(mesh(), 16) is plan
    with pytest.raises(AttributeError):
        plan.data = "rows"


def test_it_is_described():
    plan = PLANS[-1]
    assert plan.describe() == (
        "data      axis 'data'\n"
        "tensor    axis 'model', 3 rules\n"
        "pipeline  axis 'stage', 8 microbatches"
    )
    assert plan.describe(mesh()) == (
        "data      axis 'data' of 2\n"
        "tensor    axis 'model' of 2, 3 rules\n"
        "pipeline  axis 'stage' of 2, 8 microbatches, bubble 0.111"
    )
    assert shardings.Plan("data").describe() == (
        "data      axis 'data'\ntensor    none\npipeline  none"
    )
    assert plan.rules == {name: P(*spec) for name, spec in RULES.items()}
    assert (plan.microbatches, shardings.Plan().microbatches) == (8, 1)


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: shardings.Plan("model", ("model", {})),
            "Plan: each mesh axis must serve for one part, got 'model' for data and tensor. Give "
            "the mesh an axis for each.",
        ),
        (
            lambda: shardings.Plan(pipeline=("stage", 0)),
            "Plan: microbatches of pipeline must be at least 1, got 0.",
        ),
        (
            lambda: shardings.Plan(pipeline=("stage", 2.5)),
            "Plan: microbatches of pipeline must be a Python integer, got float.",
        ),
        (
            lambda: shardings.Plan(tensor="model"),
            "Plan: tensor must be a pair of a mesh axis and rules, got 'model'.",
        ),
        (lambda: shardings.Plan(data=3), "Plan: data must be the name of a mesh axis, got 3."),
        (
            lambda: shardings.Plan("dta").validate(mesh()),
            "Plan: the axis of data must be an axis of the mesh, ('data', 'model', 'stage'), got "
            "'dta'. Did you mean 'data'?",
        ),
        (
            lambda: shardings.Plan(tensor=("model", {"*": P("x")})).validate(mesh()),
            "Plan: the rule '*' must name axes of the mesh, ('data', 'model', 'stage'), got 'x' in "
            "P('x').",
        ),
        (
            lambda: PLANS[-1].validate(mesh(), 24),
            "Plan: the rows of a batch must be a multiple of 2 data shards times 8 microbatches, "
            "got 24. Take 32 rows.",
        ),
        (
            lambda: shardings.Plan(tensor=("model", {"*wq": "model"})),
            "Plan: the spec of '*wq' must be a partition spec, got 'model'. Write P('model').",
        ),
        (
            lambda: PLANS[-1].validate(None),
            "Plan: mesh must be a jax.sharding.Mesh, got NoneType. Make one with "
            "jaxframes.shardings.make_mesh().",
        ),
        (
            lambda: shardings.Plan.from_dict(None),
            "Plan.from_dict: a plan must be a dict, got NoneType.",
        ),
        (
            lambda: shardings.Plan.from_dict({"dat": "data"}),
            "Plan.from_dict: the keys of a plan must be among ('data', 'tensor', 'pipeline'), got "
            "'dat'. Did you mean 'data'?",
        ),
        (
            lambda: shardings.Plan.from_dict({"pipeline": {"axis": "stage"}}),
            "Plan.from_dict: pipeline must have the keys ('axis', 'microbatches'), got no "
            "'microbatches'.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        call()
