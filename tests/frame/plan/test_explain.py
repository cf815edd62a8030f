# SPDX-License-Identifier: Apache-2.0
"""The text of plans, before and after the optimiser, and their drawing."""

import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest
from jaxframes.frame import JaxFrame, col, concat, scan_parquet

FLIGHTS = pd.DataFrame(
    {"carrier": ["UA", "AA"], "plane": [1, 2], "delay": [3.0, -1.0], "miles": [10, 20]}
)
PLANES = pd.DataFrame({"plane": [1, 2], "seats": [100, 200], "year": [1999, 2004]})


@pytest.fixture
def flights(tmp_path):
    FLIGHTS.to_parquet(tmp_path / "flights.parquet")
    return scan_parquet(tmp_path / "flights.parquet")


def tree(text):
    return text.strip("\n")


def test_filters_and_columns_move_to_the_scans(flights):
    planes = JaxFrame(PLANES).lazy()
    plan = flights.merge(planes, on="plane")
    plan = plan[(col("delay") > 60 * 2) & (col("seats") > 150)]
    plan = plan.groupby("carrier").agg(late=("delay", "mean")).reset_index()
    assert plan.explain(optimized=False) == tree("""
reset_index()
└─ groupby(by='carrier').agg(late=('delay', 'mean'))
   └─ filter((col('delay') > 120) & (col('seats') > 150))
      └─ merge(how='inner', on='plane')
         ├─ scan_parquet('flights.parquet')
         └─ frame(2 rows, 3 columns)
""")
    assert plan.explain() == tree("""
reset_index()
└─ groupby(by='carrier').agg(late=('delay', 'mean'))
   └─ merge(how='inner', on='plane')
      ├─ filter(col('delay') > 120)
      │  └─ scan_parquet('flights.parquet'): columns ['carrier', 'plane', 'delay'], \
row groups with col('delay') > 120
      └─ select(['plane'])
         └─ filter(col('seats') > 150)
            └─ frame(2 rows, 3 columns): columns ['plane', 'seats']
""")


def test_each_rule_can_be_switched_off(flights):
    plan = flights.sort_values("delay")[col("miles") > 5][["delay"]]
    assert plan.explain(optimizations={"predicate_pushdown": False}) == tree("""
select(['delay'])
└─ filter(col('miles') > 5)
   └─ sort_values(by='delay')
      └─ scan_parquet('flights.parquet'): columns ['delay', 'miles']
""")
    assert plan.explain(optimizations={"projection_pushdown": False}) == tree("""
select(['delay'])
└─ sort_values(by='delay')
   └─ filter(col('miles') > 5)
      └─ scan_parquet('flights.parquet'): row groups with col('miles') > 5
""")
    assert plan.explain() == tree("""
select(['delay'])
└─ sort_values(by='delay')
   └─ select(['delay'])
      └─ filter(col('miles') > 5)
         └─ scan_parquet('flights.parquet'): columns ['delay', 'miles'], row groups with \
col('miles') > 5
""")


def test_series_of_other_plans_are_steps(flights):
    seats = JaxFrame(PLANES).lazy()
    late = flights[flights.plane.isin(seats[seats.seats > 150].plane)]
    assert late[["miles"]].explain() == tree("""
select(['miles'])
└─ filter_by()
   ├─ scan_parquet('flights.parquet'): columns ['plane', 'miles'] [1]
   └─ isin of input 1, input 2
      ├─ column(col('plane'))
      │  └─ as in [1]
      └─ column(col('plane'))
         └─ select(['plane'])
            └─ filter(col('seats') > 150)
               └─ frame(2 rows, 3 columns): columns ['plane', 'seats']
""")


def test_a_step_that_is_used_twice_has_a_number(flights):
    late = flights[col("delay") > 0].sort_values("delay")
    plan = concat([late.head(1), late.tail(1)])
    assert plan.explain() == tree("""
concat()
├─ head(n=1)
│  └─ sort_values(by='delay') [1]
│     └─ filter(col('delay') > 0)
│        └─ scan_parquet('flights.parquet'): row groups with col('delay') > 0
└─ tail(n=1)
   └─ as in [1]
""")


def test_filters_stay_above_what_depends_on_all_rows(flights):
    for plan in (
        flights.head(1),
        flights.nlargest(1, "miles"),
        flights.drop_duplicates(["carrier"]),
        flights.merge(JaxFrame(PLANES), on="plane", how="outer"),
        flights.assign(delay=col("delay") - col("delay").mean()),
    ):
        assert plan[col("delay") > 0].explain().splitlines()[0].endswith("filter(col('delay') > 0)")


def test_the_drawing_is_an_svg_with_every_step(flights):
    plan = flights[col("carrier") < "B&<"].merge(flights, on="plane")
    drawing = ElementTree.fromstring(plan._repr_svg_())
    boxes = drawing.findall("{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == 3
    texts = [one.text or "" for one in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "filter(col('carrier') < 'B&<')" in texts
    assert plan._repr_svg_() in plan._repr_html_()


def test_an_explanation_is_text_that_a_notebook_draws(flights):
    plan = flights[col("delay") > 0][["miles"]]
    explanation = plan.explain()
    assert explanation == str(explanation)
    assert explanation._repr_svg_() == plan._repr_svg_()
    assert explanation._repr_svg_() in explanation._repr_html_()
    assert plan.explain(optimized=False)._repr_svg_() != plan._repr_svg_()
