# SPDX-License-Identifier: Apache-2.0
"""Cleaning, reshaping and joining of tables."""

import io

import numpy as np


def string_cleaning(pd):
    df = pd.DataFrame(
        {
            "Full Name ": ["  alice SMITH", "Bob  jones ", None, "CAROL o'neil", "dave"],
            "E-Mail": ["alice@x.org", "bob(at)y.com", "nobody", "carol@z.net", None],
            "Phone": ["(555) 123-4567", "555.987.6543", "n/a", "5551112222", ""],
            "Amount": ["$1,200.50", "300", "-", "€45.10", None],
        }
    )
    df.columns = df.columns.str.strip().str.lower().str.replace("[ -]", "_", regex=True)
    df["full_name"] = df["full_name"].str.strip().str.replace(r"\s+", " ", regex=True).str.title()
    df["phone"] = df["phone"].str.replace(r"\D", "", regex=True)
    df.loc[df["phone"].str.len() != 10, "phone"] = None
    df["valid"] = df["e_mail"].str.contains("@", na=False)
    df["domain"] = df["e_mail"].str.extract(r"@(.+)$", expand=False)
    df["amount"] = pd.to_numeric(df["amount"].str.replace("[$€,]", "", regex=True), errors="coerce")
    df["initial"] = df["full_name"].str[0].fillna("?")
    first = df["full_name"].str.split(" ", n=1, expand=True)
    df[["first", "last"]] = first
    return df, df["domain"].value_counts(dropna=False), df["amount"].sum()


def survey(pd):
    answers = pd.DataFrame(
        {
            "id": range(1, 7),
            "age": [23, 35, 41, 58, 64, 29],
            "q1": ["agree", "disagree", "neutral", "agree", None, "strongly agree"],
            "q2": [4, 5, np.nan, 3, 2, 5],
            "q3": ["yes", "no", "yes", "yes", "no", "no"],
        }
    )
    scale = {"disagree": 2, "neutral": 3, "agree": 4, "strongly agree": 5}
    answers["q1_score"] = answers["q1"].map(scale)
    answers["group"] = pd.cut(
        answers["age"], bins=[0, 30, 50, 100], labels=["young", "middle", "older"]
    )
    answers["q3"] = answers["q3"].map({"yes": True, "no": False})
    long = answers.melt(
        id_vars=["id", "group"],
        value_vars=["q1_score", "q2"],
        var_name="question",
        value_name="score",
    )
    summary = long.groupby(["question", "group"], observed=False)["score"].agg(["mean", "count"])
    missing = answers.isna().sum()
    yes = answers.groupby("group", observed=False)["q3"].mean()
    answers["q2"] = answers["q2"].fillna(answers["q2"].median())
    return answers, long, summary, missing, yes


def json_lines(pd):
    lines = "\n".join(
        [
            '{"id": 1, "user": "ann", "tags": "a,b", "score": 1.5, "ok": true}',
            '{"id": 2, "user": "bob", "tags": "b", "score": null, "ok": false}',
            '{"id": 3, "user": "ann", "tags": "", "score": 4.0, "ok": true}',
        ]
    )
    df = pd.read_json(io.StringIO(lines), lines=True)
    df["n_tags"] = df["tags"].str.count(",") + (df["tags"] != "").astype(int)
    dummies = df["tags"].str.get_dummies(sep=",")
    wide = pd.concat([df[["id", "user"]], dummies], axis=1)
    per_user = df.groupby("user", as_index=False).agg(
        n=("id", "size"), mean=("score", "mean"), ok=("ok", "all")
    )
    nested = pd.json_normalize(
        [{"id": 1, "who": {"name": "ann", "city": "Oslo"}}, {"id": 2, "who": {"name": "bob"}}]
    )
    back = per_user.to_json(orient="records", lines=True)
    return df, wide, per_user, nested, back


def ledger(pd):
    entries = pd.DataFrame(
        {
            "date": [
                "2024-01-31",
                "2024-01-31",
                "2024-02-15",
                "2024-02-29",
                "2024-03-31",
                "2024-03-31",
            ],
            "account": ["cash", "sales", "cash", "rent", "cash", "sales"],
            "cents": [10_050, -10_050, -4_000, 4_000, 99, -99],
        }
    )
    entries["date"] = pd.to_datetime(entries["date"])
    assert entries["cents"].sum() == 0
    entries["balance"] = entries.groupby("account")["cents"].cumsum() / 100
    entries["quarter"] = "Q" + entries["date"].dt.quarter.astype(str)
    entries["side"] = np.where(entries["cents"] >= 0, "debit", "credit")
    trial = entries.pivot_table(
        index="account", columns="side", values="cents", aggfunc="sum", fill_value=0
    )
    trial["net"] = trial["debit"] + trial["credit"]
    monthly = entries.set_index("date").groupby("account")["cents"].resample("ME").sum()
    return entries, trial.sort_values("net"), monthly, entries["cents"].abs().describe()


def web_log(pd):
    text = """10.0.0.1 - [01/Feb/2024:10:00:01] "GET /index.html" 200 512
10.0.0.2 - [01/Feb/2024:10:00:03] "POST /login" 302 20
10.0.0.1 - [01/Feb/2024:10:01:10] "GET /img/a.png" 404 0
10.0.0.3 - [01/Feb/2024:10:07:00] "GET /index.html" 500 12
10.0.0.2 - [01/Feb/2024:10:09:59] "GET /img/b.png" 200 2048"""
    lines = pd.Series(text.split("\n"))
    pattern = (
        r'^(?P<ip>\S+) - \[(?P<at>[^\]]+)\] "(?P<verb>\w+) (?P<path>\S+)" '
        r"(?P<status>\d+) (?P<size>\d+)$"
    )
    log = lines.str.extract(pattern)
    log["at"] = pd.to_datetime(log["at"], format="%d/%b/%Y:%H:%M:%S")
    log = log.astype({"status": int, "size": int})
    log["ext"] = log["path"].str.extract(r"\.(\w+)$", expand=False)
    log["error"] = log["status"] >= 400
    per_ip = log.groupby("ip").agg(
        hits=("path", "count"), bytes=("size", "sum"), errors=("error", "sum")
    )
    per_5min = log.set_index("at").resample("5min")["status"].count()
    classes = (log["status"] // 100).astype(str) + "xx"
    return log, per_ip.sort_values("bytes", ascending=False), per_5min, classes.value_counts()


def titanic(pd):
    df = pd.read_csv(
        io.StringIO("""PassengerId,Survived,Pclass,Name,Sex,Age,Fare,Embarked
1,0,3,"Braund, Mr. Owen",male,22,7.25,S
2,1,1,"Cumings, Mrs. John",female,38,71.2833,C
3,1,3,"Heikkinen, Miss. Laina",female,26,7.925,S
4,1,1,"Futrelle, Mrs. Jacques",female,35,53.1,S
5,0,3,"Moran, Mr. James",male,,8.4583,Q
6,0,1,"McCarthy, Mr. Timothy",male,54,51.8625,
""")
    )
    df["Title"] = df["Name"].str.extract(r", (\w+)\.", expand=False)
    df["Age"] = df["Age"].fillna(df.groupby("Title")["Age"].transform("median"))
    df["Embarked"] = df["Embarked"].fillna(df["Embarked"].mode()[0])
    df["Sex"] = df["Sex"].replace({"male": 0, "female": 1}).astype(int)
    df["AgeBand"] = pd.cut(df["Age"], 3, labels=False)
    df["FareBin"] = pd.qcut(df["Fare"], 2, labels=["low", "high"])
    features = pd.get_dummies(
        df[["Pclass", "Embarked", "FareBin"]], columns=["Embarked", "FareBin"], drop_first=True
    )
    rates = df.groupby(["Sex", "Pclass"])["Survived"].mean()
    X = df.drop(["PassengerId", "Name", "Title", "Embarked", "FareBin"], axis=1)
    return (
        df,
        features,
        rates,
        X.corr()["Survived"].sort_values(ascending=False),
        X.dtypes.astype(str).to_dict(),
    )


def joins(pd):
    emp = pd.DataFrame(
        {
            "emp_id": [1, 2, 3, 4],
            "name": ["a", "b", "c", "d"],
            "dept": [10, 20, 20, 40],
            "boss": [np.nan, 1, 1, 2],
        }
    )
    dept = pd.DataFrame(
        {"dept": [10, 20, 30], "title": ["it", "hr", "ops"], "budget": [1.0, 2.5, 3.0]}
    )
    both = emp.merge(dept, on="dept", how="outer", indicator=True)
    lost = both[both["_merge"] != "both"]
    bosses = emp.merge(
        emp[["emp_id", "name"]],
        left_on="boss",
        right_on="emp_id",
        how="left",
        suffixes=("", "_boss"),
    )
    joined = emp.set_index("dept").join(dept.set_index("dept"), how="inner")
    cost = joined.groupby("title")["budget"].agg(["first", "size"])
    cross = emp[["name"]].merge(dept[["title"]], how="cross")
    only = emp[~emp["dept"].isin(dept["dept"])]
    stacked = pd.concat([emp.assign(src="x"), emp.head(1).assign(src="y")], ignore_index=True)
    return (
        both,
        lost,
        bosses,
        joined,
        cost,
        cross,
        only,
        stacked,
        pd.concat({"l": emp.name, "r": dept.title}),
    )


def grades(pd):
    df = pd.DataFrame(
        {
            "student": ["ann", "bob", "cid", "dee"],
            "math": [90.0, 67, 75, 82],
            "art": [80.0, 95, 61, 70],
            "bio": [85, np.nan, 77, 64],
        }
    ).set_index("student")
    df["mean"] = df.mean(axis=1)
    df["best"] = df[["math", "art", "bio"]].idxmax(axis=1)
    df["letter"] = df["mean"].apply(lambda m: "A" if m >= 85 else "B" if m >= 75 else "C")
    df["passed"] = (df[["math", "art", "bio"]] >= 65).all(axis=1)
    means = df[["math", "art", "bio", "mean"]].mean()
    df.loc["dee", "letter"] = "B+"
    df.at["bob", "bio"] = 71
    curved = df[["math", "art"]].apply(lambda col: (col - col.mean()) / col.std())
    span = df[["math", "art"]].apply(lambda row: row.max() - row.min(), axis=1)
    return (
        df,
        means,
        curved,
        span,
        df["letter"].value_counts().sort_index(),
        df.nlargest(2, "math").index.tolist(),
    )


def wide_years(pd):
    gdp = pd.DataFrame(
        {
            "country": ["NO", "SE", "FI"],
            "gdp_2020": [1.0, 2.0, np.nan],
            "gdp_2021": [1.1, 2.2, 3.3],
            "pop_2020": [5, 10, 5],
            "pop_2021": [6, 11, 5],
        }
    )
    long = pd.wide_to_long(
        gdp, stubnames=["gdp", "pop"], i="country", j="year", sep="_"
    ).sort_index()
    long["per_head"] = long["gdp"] / long["pop"]
    change = long.groupby(level="country")["gdp"].pct_change()
    wide = long["per_head"].unstack("year")
    wide.columns = ["y" + str(c) for c in wide.columns]
    latest = long.xs(2021, level="year")
    order = latest["gdp"].rank(ascending=False).astype(int)
    return (
        long,
        change,
        wide,
        latest,
        order,
        long.reset_index().groupby("year")[["gdp", "pop"]].sum(),
    )


def outliers(pd):
    rng = np.random.default_rng(11)
    df = pd.DataFrame({"g": rng.integers(0, 3, 40), "v": rng.normal(10, 2, 40).round(3)})
    df.loc[[4, 20], "v"] = [100.0, -50.0]
    q1, q3 = df["v"].quantile([0.25, 0.75])
    iqr = q3 - q1
    keep = df["v"].between(q1 - 1.5 * iqr, q3 + 1.5 * iqr)
    clean = df[keep].reset_index(drop=True)
    capped = df["v"].clip(df["v"].quantile(0.05), df["v"].quantile(0.95))
    clean["z"] = clean.groupby("g")["v"].transform(lambda x: (x - x.mean()) / x.std())
    stats = clean.groupby("g")["v"].agg(["mean", "std", lambda x: x.quantile(0.9)])
    stats.columns = ["mean", "std", "p90"]
    return (
        clean,
        capped,
        stats,
        df[~keep].index.tolist(),
        clean["v"].skew(),
        clean.describe().loc["50%"],
    )


def movies(pd):
    ratings = pd.DataFrame(
        {
            "user": [1, 1, 2, 2, 3, 3, 3],
            "movie": [10, 20, 10, 30, 10, 20, 30],
            "rating": [4.0, 3.5, 5.0, 2.0, 4.5, 4.0, 1.0],
        }
    )
    films = pd.DataFrame(
        {
            "movie": [10, 20, 30],
            "title": ["Heat (1995)", "Alien (1979)", "Cats (2019)"],
            "genres": ["Crime|Drama", "Horror|SciFi", "Musical"],
        }
    )
    films["year"] = films["title"].str.extract(r"\((\d{4})\)", expand=False).astype(int)
    films["title"] = films["title"].str.replace(r" \(\d{4}\)", "", regex=True)
    films["decade"] = films["year"] // 10 * 10
    df = ratings.merge(films, on="movie", how="left", validate="many_to_one")
    matrix = df.pivot_table(index="user", columns="title", values="rating")
    centered = matrix.sub(matrix.mean(axis=1), axis=0)
    similar = matrix.corr(min_periods=2)
    popular = (
        df.groupby("title")["rating"]
        .agg(["count", "mean"])
        .query("count >= 2")
        .sort_values("mean", ascending=False)
    )
    genres = films["genres"].str.get_dummies("|")
    return matrix, centered, similar, popular, films.join(genres), films.groupby("decade").size()


def monthly_files(pd):
    parts = {}
    for month, rows in {"jan": "1,10\n2,20\n", "feb": "2,25\n3,5\n", "mar": "1,7\n"}.items():
        parts[month] = pd.read_csv(io.StringIO("id,amount\n" + rows))
    everything = (
        pd.concat(parts, names=["month", "row"]).reset_index(level="month").reset_index(drop=True)
    )
    everything.loc[everything["amount"] < 6, "amount"] = 0
    per_id = everything.groupby("id")["amount"].agg(["sum", "count", "max"])
    per_id.columns = ["total", "months", "largest"]
    wide = everything.pivot_table(index="id", columns="month", values="amount", aggfunc="sum")
    wide = wide[["jan", "feb", "mar"]]
    wide.fillna(0, inplace=True)
    wide["trend"] = np.sign(wide["mar"] - wide["jan"]).astype(int)
    text = per_id.to_csv()
    again = pd.read_csv(io.StringIO(text), index_col="id")
    return everything, per_id, wide, again.equals(per_id)


def employees(pd):
    staff = pd.DataFrame(
        {
            "name": ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay"],
            "team": ["x", "y", "x", "y", "z", "x"],
            "salary": [100, 80, 120, 95, 70, 60],
            "hired": pd.to_datetime(
                ["2015-03-01", "2018-07-15", "2012-01-10", "2020-11-30", "2021-05-05", "2023-02-02"]
            ),
        }
    )
    staff["years"] = (pd.Timestamp("2024-01-01") - staff["hired"]).dt.days / 365.25
    staff["level"] = pd.cut(staff["years"], [0, 3, 6, 20], labels=["junior", "mid", "senior"])
    staff.loc[staff["team"] == "y", "salary"] *= 2
    staff["of_team"] = staff["salary"] / staff.groupby("team")["salary"].transform("sum")
    staff["bonus"] = 0.0
    staff.loc[(staff["level"] == "senior") & (staff["salary"] > 90), "bonus"] = 10.0
    best = (
        staff.sort_values("salary").drop_duplicates("team", keep="last").set_index("team")["name"]
    )
    by_level = staff.groupby("level", observed=False).agg(
        {"salary": ["mean", "max"], "name": "count"}
    )
    by_level.columns = ["_".join(c) for c in by_level.columns]
    renamed = staff.rename(columns=str.upper).set_index("NAME")
    above = staff.query("salary > salary.mean()")["name"].tolist()
    return staff, best, by_level.reset_index(), renamed, above


def weather(pd):
    days = pd.date_range("2023-01-01", "2023-12-31", freq="D")
    temp = 10 - 12 * np.cos(2 * np.pi * (days.day_of_year - 15) / 365)
    df = pd.DataFrame(
        {"temp": temp.round(1), "rain": (np.arange(len(days)) % 5 == 0) * 2.5}, index=days
    )
    monthly = df.resample("MS").agg({"temp": "mean", "rain": "sum"})
    monthly["season"] = monthly.index.month.map(lambda m: "warm" if 4 <= m <= 9 else "cold")
    by_season = monthly.groupby("season").mean(numeric_only=True)
    summer = df.loc["2023-06":"2023-08"]
    hot = (summer["temp"] > 20).sum()
    streaks = (df["rain"] == 0).astype(int)
    block = (streaks.diff() != 0).cumsum()
    longest = streaks.groupby(block).sum().max()
    weekly = df["temp"].resample("W-MON").max().head(4)
    anomaly = df["temp"] - df.groupby(df.index.month)["temp"].transform("mean")
    return (
        monthly.round(6),
        by_season,
        summer.describe(),
        int(hot),
        int(longest),
        weekly,
        anomaly.abs().nlargest(3),
    )


def dicts_in_a_column(pd):
    df = pd.DataFrame({"k": ["a", "b"], "v": [{"z": 1}, {"z": 2, "w": 3}]})
    wide = pd.concat([df["k"], df["v"].apply(pd.Series)], axis=1)
    names = pd.Series(["Ann Lee", "Bob Ray"], name="name")
    parts = names.apply(lambda n: pd.Series(n.split(), index=["first", "last"]))
    sizes = names.str.split().apply(pd.Series)
    named = parts.set_index(pd.Index(["y", "x"]))
    lengths = named["last"].str.len().rename("n")
    side = pd.concat([named, lengths], axis=1, sort=True)
    wide["total"] = wide[["z", "w"]].sum(axis=1)
    long = wide.melt("k", value_vars=["z", "w"]).dropna()
    return wide, parts, sizes, side, long, parts.to_dict("records")
