# SPDX-License-Identifier: Apache-2.0
"""Sampling from a model of words with top-p: from the likeliest tokens whose shares reach p."""

import re
from pathlib import Path
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import local

Array: TypeAlias = jax.Array


class Model(NamedTuple):
    """The words of a text, and the logits of the word after each of them."""

    words: list[str]
    logits: Array


class Nucleus(NamedTuple):
    """The logits of all tokens in descending order, minus infinity outside the nucleus, and ids."""

    logits: Array
    tokens: Array


def count_word_pairs() -> Model:
    """A model of Lincoln's address: the words that follow each word, and all others rarely."""
    text = Path(__file__).with_name("gettysburg.txt").read_text()
    split = re.findall(r"[\w']+|[.,;-]+", text)
    words, ids = np.unique(split, return_inverse=True)
    pairs = ids[:-1] * len(words) + ids[1:]
    counts = np.bincount(pairs, minlength=len(words) ** 2).reshape(len(words), -1)
    return Model(words.tolist(), jnp.log(jnp.asarray(counts + 0.002, jnp.float32)))


def nucleus(logits: Array, p: float) -> Nucleus:
    """The likeliest tokens of a row; a token is one of them if those before it do not reach p."""
    tokens = jnp.arange(len(logits), dtype=jnp.int32)
    ordered, tokens = local.radix_sort(logits, values=tokens, descending=True)
    before = local.exclusive_scan(jax.nn.softmax(ordered))
    return Nucleus(jnp.where(before < p, ordered, -jnp.inf), tokens)


def likeliest_nucleus(logits: Array, p: float, k: int) -> Nucleus:
    """The nucleus within the k likeliest tokens; `top_k` orders no others."""
    top = local.top_k(logits, k)
    shares = jnp.exp(top.values - jax.nn.logsumexp(logits))
    before = local.exclusive_scan(shares)
    return Nucleus(jnp.where(before < p, top.values, -jnp.inf), top.row_ids)


def draw(key: Array, of_row: Nucleus) -> Array:
    """One token: the largest sum of a logit and Gumbel noise."""
    noise = jax.random.gumbel(key, of_row.logits.shape)
    return of_row.tokens[jnp.argmax(of_row.logits + noise)]


def generate(keys: Array, first: Array, logits: Array, num_tokens: int, p: float) -> Array:
    """Texts of tokens, one for each key.

    Args:
        keys: a key for each text.
        first: the first token of each text.
        logits: the logits of the token after each token.
        num_tokens: the number of tokens of a text. Static.
        p: the share of the nucleus.
    """

    def sample(key: Array, token: Array) -> Array:
        return draw(key, nucleus(logits[token], p))

    def step(tokens: Array, i: Array) -> tuple[Array, Array]:
        tokens = jax.vmap(sample)(jax.vmap(jax.random.fold_in, (0, None))(keys, i), tokens)
        return tokens, tokens

    texts = jax.lax.scan(step, first, jnp.arange(num_tokens))[1]
    return texts.T


def plain_nucleus(logits: Array, p: float) -> Nucleus:
    """`nucleus` of `jax.numpy` alone."""
    tokens = jnp.argsort(logits, descending=True, stable=True)
    ordered = logits[tokens]
    shares = jax.nn.softmax(ordered)
    before = jnp.cumsum(shares) - shares
    return Nucleus(jnp.where(before < p, ordered, -jnp.inf), tokens)


def plain_likeliest_nucleus(logits: Array, p: float, k: int) -> Nucleus:
    """`likeliest_nucleus` of `jax.lax` alone."""
    values, tokens = jax.lax.top_k(logits, k)
    shares = jnp.exp(values - jax.nn.logsumexp(logits))
    before = jnp.cumsum(shares) - shares
    return Nucleus(jnp.where(before < p, values, -jnp.inf), tokens)
