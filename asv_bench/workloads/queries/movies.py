# SPDX-License-Identifier: Apache-2.0
"""Questions about movies and those who made them: joins of many tables."""

from collections.abc import Mapping
from typing import Any

Tables = Mapping[str, Any]


def _cast_of(pd: Any, t: Tables, titles: Any) -> Any:
    return pd.merge(pd.merge(t["casts"], titles, on="movie_id"), t["people"], on="person_id")


def voices_of_recent_movies(pd: Any, t: Tables) -> Any:
    titles = t["titles"][t["titles"]["year"] > 2000]
    cast = _cast_of(pd, t, titles)
    cast = cast[cast["note"].isin(["(voice)"]) & (cast["gender"] == "f")]
    return cast[["name", "title"]].min()


def sequels(pd: Any, t: Tables) -> Any:
    words = t["keywords"][t["keywords"]["keyword"] == "sequel"]
    movies = pd.merge(t["titles"], words, on="movie_id")
    return movies[movies["year"].between(1990, 2015)]["title"].min()


def companies_of_champions(pd: Any, t: Tables) -> Any:
    titles = t["titles"][t["titles"]["title"].str.contains("Champion")]
    movies = pd.merge(titles, t["companies"], on="movie_id", suffixes=("", "_company"))
    return movies[movies["country"] == "[us]"][["company", "title"]].min()


def heroes(pd: Any, t: Tables) -> Any:
    words = t["keywords"][t["keywords"]["keyword"].isin(["hero", "revenge"])]
    cast = _cast_of(pd, t, pd.merge(t["titles"], words, on="movie_id"))
    cast = cast[cast["name"].str.startswith("Downey")]
    return cast.groupby("keyword")["title"].agg(["min", "count"])


def movies_by_decade(pd: Any, t: Tables) -> Any:
    titles = t["titles"].dropna(subset=["year"])
    return titles.groupby(titles["year"] // 10 * 10)["rating"].agg(["mean", "count"])


def best_rated(pd: Any, t: Tables) -> Any:
    titles = t["titles"][t["titles"]["votes"] > 100_000]
    return titles.sort_values(["rating", "movie_id"], ascending=[False, True]).head(25)


def busiest_people(pd: Any, t: Tables) -> Any:
    counts = t["casts"].groupby("person_id").size().rename("parts").reset_index()
    named = pd.merge(counts, t["people"], on="person_id")
    return named.sort_values(["parts", "person_id"], ascending=[False, True]).head(10)


def roles(pd: Any, t: Tables) -> Any:
    return t["casts"]["role"].value_counts(normalize=True)


def parts_by_gender(pd: Any, t: Tables) -> Any:
    cast = pd.merge(t["casts"], t["people"], on="person_id")
    return cast.groupby(["gender", "role"]).size().unstack(fill_value=0)


def genders_unknown(pd: Any, t: Tables) -> Any:
    return t["people"]["gender"].fillna("?").value_counts()


def ages_at_release(pd: Any, t: Tables) -> Any:
    cast = _cast_of(pd, t, t["titles"][["movie_id", "year"]])
    age = cast["year"] - cast["born"]
    return age[(age > 0) & (age < 110)].describe()


def costars(pd: Any, t: Tables) -> Any:
    leads = t["casts"][t["casts"]["place"] == 1][["movie_id", "person_id"]]
    pairs = pd.merge(leads, leads, on="movie_id", suffixes=("", "_other"))
    return pairs[pairs["person_id"] < pairs["person_id_other"]].groupby("person_id").size()


def directors_who_act(pd: Any, t: Tables) -> Any:
    casts = t["casts"]
    directors = casts[casts["role"] == "director"]["person_id"].unique()
    actors = casts[casts["role"] == "actor"]
    return actors[actors["person_id"].isin(directors)]["person_id"].nunique()


def countries(pd: Any, t: Tables) -> Any:
    movies = pd.merge(t["titles"], t["companies"], on="movie_id")
    return movies.groupby("country")["rating"].agg(["mean", "std", "count"])


def german_or_french(pd: Any, t: Tables) -> Any:
    makers = t["companies"].query("country in ['[de]', '[fr]'] and kind == 'production'")
    movies = pd.merge(makers, t["titles"], on="movie_id", suffixes=("_of", ""))
    return movies[(movies["rating"] < 4) | (movies["votes"] > 300_000)][["title", "rating"]]


def movies_without_companies(pd: Any, t: Tables) -> Any:
    joined = pd.merge(t["titles"], t["companies"], on="movie_id", how="left", indicator=True)
    return joined[joined["_merge"] == "left_only"].groupby("kind_x").size()


def keywords_of_kinds(pd: Any, t: Tables) -> Any:
    words = pd.merge(t["keywords"], t["titles"], on="movie_id")
    return words.pivot_table(index="keyword", columns="kind", values="movie_id", aggfunc="count")


def movies_with_two_words(pd: Any, t: Tables) -> Any:
    words = t["keywords"].drop_duplicates()
    counts = words.groupby("movie_id").size()
    return counts[counts >= 2].shape[0]


def love_and_war(pd: Any, t: Tables) -> Any:
    words = t["keywords"]
    love = words[words["keyword"] == "love"]["movie_id"]
    war = words[words["keyword"] == "war"]["movie_id"]
    titles = t["titles"]
    return titles[titles["movie_id"].isin(love) & titles["movie_id"].isin(war)]["title"]


def long_titles(pd: Any, t: Tables) -> Any:
    titles = t["titles"]
    return titles.assign(length=titles["title"].str.len()).groupby("kind")["length"].max()


def first_words(pd: Any, t: Tables) -> Any:
    return t["titles"]["title"].str.split(" ").str[0].value_counts()


def upper_titles(pd: Any, t: Tables) -> Any:
    titles = t["titles"]
    return titles[titles["title"].str.upper().str.endswith("ROAD 7")]["movie_id"]


def repeated_titles(pd: Any, t: Tables) -> Any:
    titles = t["titles"]
    return titles[titles.duplicated(["title", "kind"], keep=False)].sort_values("movie_id")


def latest_of_each_title(pd: Any, t: Tables) -> Any:
    titles = t["titles"].sort_values(["year", "movie_id"])
    return titles.drop_duplicates("title", keep="last")[["title", "year"]]


def votes_above_kind(pd: Any, t: Tables) -> Any:
    titles = t["titles"]
    return titles[titles["votes"] > titles.groupby("kind")["votes"].transform("median")]


def share_of_votes(pd: Any, t: Tables) -> Any:
    titles = t["titles"]
    return titles["votes"] / titles.groupby("kind")["votes"].transform("sum")


def place_in_kind(pd: Any, t: Tables) -> Any:
    titles = t["titles"].sort_values(["kind", "votes", "movie_id"], ascending=[True, False, True])
    titles = titles.assign(place=titles.groupby("kind").cumcount() + 1)
    return titles[titles["place"] <= 5]


def ratings_in_bins(pd: Any, t: Tables) -> Any:
    return pd.cut(t["titles"]["rating"], 9).value_counts(sort=False)


def quartiles_of_votes(pd: Any, t: Tables) -> Any:
    return t["titles"].groupby("kind")["votes"].quantile([0.25, 0.5, 0.75])


def rating_against_votes(pd: Any, t: Tables) -> Any:
    return t["titles"][["rating", "votes", "year"]].corr()


def years_without_movies(pd: Any, t: Tables) -> Any:
    return int(t["titles"]["year"].isna().sum())


def people_born_by_year(pd: Any, t: Tables) -> Any:
    return t["people"].groupby("born")["person_id"].count().rolling(5).mean()


def namesakes(pd: Any, t: Tables) -> Any:
    counts = t["people"]["name"].value_counts()
    return counts[counts > 12].sort_index()


def notes(pd: Any, t: Tables) -> Any:
    notes = t["casts"]["note"].dropna()
    return notes[notes.str.contains("producer|writer", regex=True)].value_counts()


def first_billed(pd: Any, t: Tables) -> Any:
    casts = t["casts"].sort_values(["movie_id", "place", "person_id"])
    return casts.groupby("movie_id").first()[["person_id", "role"]]


def sizes_of_casts(pd: Any, t: Tables) -> Any:
    sizes = t["casts"].groupby("movie_id")["person_id"].nunique()
    return sizes.describe()


def companies_per_movie(pd: Any, t: Tables) -> Any:
    counts = t["companies"].groupby(["movie_id", "kind"]).size().unstack().fillna(0)
    return counts.sum()


def top_companies(pd: Any, t: Tables) -> Any:
    movies = pd.merge(t["companies"], t["titles"], on="movie_id", suffixes=("", "_of_title"))
    votes = movies.groupby("company", as_index=False)["votes"].sum()
    return votes.sort_values(["votes", "company"], ascending=[False, True]).head(10)


def movies_and_cast(pd: Any, t: Tables) -> Any:
    titles = t["titles"].query("kind == 'movie' and 1995 <= year <= 2005")
    cast = pd.merge(titles, t["casts"], on="movie_id")
    words = pd.merge(cast, t["keywords"], on="movie_id")
    makers = pd.merge(words, t["companies"], on="movie_id", suffixes=("", "_company"))
    return makers.groupby("country")["votes"].agg(["count", "max"])


def updated_years(pd: Any, t: Tables) -> Any:
    titles = t["titles"].copy()
    titles.loc[titles["year"] > 2015, "rating"] = 0.0
    titles["year"] = titles["year"].fillna(titles["year"].median())
    return titles.groupby("kind")[["year", "rating"]].mean()
