# SPDX-License-Identifier: Apache-2.0
"""Small seeded tables with the schema of TPC-DS, or the part of it that the questions read.

Money is in quarters, so that sums of floats are exact.
"""

from typing import Any

import numpy as np
import pandas as pd

NUM_SALES, NUM_ITEMS, NUM_STORES, NUM_CUSTOMERS, FIRST_DAY = 500, 24, 4, 40, 1000
STATES = ["TN", "CA", "WA"]


def make_tables(seed: int = 0) -> dict[str, pd.DataFrame]:
    """The tables by name."""
    rng = np.random.default_rng(seed)
    days = pd.date_range("2000-01-01", "2001-12-31", freq="D")
    tables = {
        "date_dim": pd.DataFrame(
            {
                "d_date_sk": FIRST_DAY + np.arange(len(days)),
                "d_date": days,
                "d_year": days.year.astype("int64"),
                "d_moy": days.month.astype("int64"),
                "d_dom": days.day.astype("int64"),
                "d_qoy": days.quarter.astype("int64"),
                "d_day_name": days.day_name(),
                "d_month_seq": ((days.year - 2000) * 12 + days.month - 1).astype("int64"),
                "d_week_seq": (np.arange(len(days)) + 5) // 7,
            }
        ),
        "time_dim": pd.DataFrame(
            {
                "t_time_sk": np.arange(96),
                "t_hour": np.arange(96) // 4,
                "t_minute": np.arange(96) % 4 * 15,
            }
        ),
        "item": _items(rng),
        "store": pd.DataFrame(
            {
                "s_store_sk": np.arange(NUM_STORES),
                "s_store_name": ["ought", "able", "ese", "anti"],
                "s_state": ["TN", "TN", "CA", "WA"],
                "s_county": ["Ziebach", "Walker", "Walker", "Daviess"],
                "s_city": ["Midway", "Fairview", "Midway", "Oak"],
            }
        ),
        "customer": _customers(rng),
        "customer_address": pd.DataFrame(
            {
                "ca_address_sk": np.arange(20),
                "ca_state": rng.choice(STATES, 20),
                "ca_city": rng.choice(["Midway", "Fairview", "Oak"], 20),
                "ca_zip": rng.choice(["85669", "86197", "10000", "20000"], 20),
            }
        ),
        "customer_demographics": pd.DataFrame(
            {
                "cd_demo_sk": np.arange(12),
                "cd_gender": np.tile(["M", "F"], 6),
                "cd_marital_status": np.repeat(["S", "M", "D"], 4),
                "cd_education_status": np.tile(["College", "Primary", "Unknown"], 4),
            }
        ),
        "household_demographics": pd.DataFrame(
            {
                "hd_demo_sk": np.arange(8),
                "hd_dep_count": np.arange(8) % 5,
                "hd_vehicle_count": np.arange(8) % 4,
                "hd_buy_potential": np.tile([">10000", "unknown"], 4),
            }
        ),
        "promotion": pd.DataFrame(
            {
                "p_promo_sk": np.arange(4),
                "p_channel_email": ["N", "Y", "N", "Y"],
                "p_channel_event": ["N", "N", "Y", "Y"],
            }
        ),
        "warehouse": pd.DataFrame(
            {"w_warehouse_sk": [0, 1], "w_warehouse_name": ["north", "south"]}
        ),
    }
    for prefix in ("ss", "cs", "ws"):
        tables[_NAMES[prefix]] = _sales(rng, prefix, len(days))
    tables["store_returns"] = _returns(rng, tables["store_sales"])
    tables["inventory"] = pd.DataFrame(
        {
            "inv_date_sk": FIRST_DAY + np.repeat(np.arange(0, 364, 28), NUM_ITEMS),
            "inv_item_sk": np.tile(np.arange(NUM_ITEMS), 13),
            "inv_warehouse_sk": rng.integers(0, 2, 13 * NUM_ITEMS),
            "inv_quantity_on_hand": rng.integers(0, 500, 13 * NUM_ITEMS),
        }
    )
    return tables


_NAMES = {"ss": "store_sales", "cs": "catalog_sales", "ws": "web_sales"}


def _items(rng: Any) -> pd.DataFrame:
    number = np.arange(NUM_ITEMS)
    return pd.DataFrame(
        {
            "i_item_sk": number,
            "i_item_id": [f"item{one // 2:02d}" for one in number],
            "i_brand_id": number % 7,
            "i_brand": [f"brand{one % 7}" for one in number],
            "i_class": np.tile(["pants", "dresses", "audio", "rock"], NUM_ITEMS // 4),
            "i_category": np.tile(["Men", "Women", "Electronics", "Music"], NUM_ITEMS // 4),
            "i_manufact_id": number % 5,
            "i_manager_id": number % 6,
            "i_current_price": rng.integers(4, 400, NUM_ITEMS) / 4,
        }
    )


def _customers(rng: Any) -> pd.DataFrame:
    number = np.arange(NUM_CUSTOMERS)
    return pd.DataFrame(
        {
            "c_customer_sk": number,
            "c_customer_id": [f"c{one:03d}" for one in number],
            "c_first_name": rng.choice(["Ann", "Bob", "Cid", "Dee"], NUM_CUSTOMERS),
            "c_last_name": [f"name{one % 23}" for one in number],
            "c_current_addr_sk": rng.integers(0, 20, NUM_CUSTOMERS),
            "c_current_cdemo_sk": rng.integers(0, 12, NUM_CUSTOMERS),
            "c_birth_month": rng.integers(1, 13, NUM_CUSTOMERS),
            "c_birth_year": rng.integers(1940, 1990, NUM_CUSTOMERS),
        }
    )


def _sales(rng: Any, prefix: str, num_days: int) -> pd.DataFrame:
    day = rng.integers(0, num_days, NUM_SALES)
    quantity = rng.integers(1, 100, NUM_SALES)
    price = rng.integers(4, 400, NUM_SALES) / 4
    customer = "customer_sk" if prefix == "ss" else "bill_customer_sk"
    columns: dict[str, Any] = {
        "sold_date_sk": FIRST_DAY + day,
        "sold_time_sk": rng.integers(0, 96, NUM_SALES),
        "ship_date_sk": FIRST_DAY + day + rng.integers(1, 140, NUM_SALES),
        "item_sk": rng.integers(0, NUM_ITEMS, NUM_SALES),
        customer: _with_holes(rng, rng.integers(0, NUM_CUSTOMERS, NUM_SALES)),
        "cdemo_sk": rng.integers(0, 12, NUM_SALES),
        "hdemo_sk": rng.integers(0, 8, NUM_SALES),
        "addr_sk": rng.integers(0, 20, NUM_SALES),
        "store_sk": _with_holes(rng, rng.integers(0, NUM_STORES, NUM_SALES)),
        "promo_sk": rng.integers(0, 4, NUM_SALES),
        "ticket_number": rng.integers(0, 120, NUM_SALES),
        "quantity": quantity,
        "list_price": price * 2,
        "sales_price": price,
        "coupon_amt": rng.integers(0, 40, NUM_SALES) / 4,
        "ext_sales_price": price * quantity,
        "net_paid": price * quantity - 1,
        "net_profit": rng.integers(-4000, 8000, NUM_SALES) / 4,
    }
    return pd.DataFrame({f"{prefix}_{name}": values for name, values in columns.items()})


def _returns(rng: Any, sales: pd.DataFrame) -> pd.DataFrame:
    sold = sales.iloc[rng.choice(NUM_SALES, 150, replace=False)]
    return pd.DataFrame(
        {
            "sr_returned_date_sk": sold.ss_sold_date_sk.to_numpy() + rng.integers(1, 150, 150),
            "sr_item_sk": sold.ss_item_sk.to_numpy(),
            "sr_customer_sk": sold.ss_customer_sk.to_numpy(),
            "sr_ticket_number": sold.ss_ticket_number.to_numpy(),
            "sr_store_sk": sold.ss_store_sk.to_numpy(),
            "sr_return_quantity": rng.integers(1, 50, 150),
            "sr_return_amt": rng.integers(4, 4000, 150) / 4,
        }
    )


def _with_holes(rng: Any, keys: np.ndarray) -> np.ndarray:
    return np.where(rng.random(len(keys)) < 0.04, np.nan, keys)
