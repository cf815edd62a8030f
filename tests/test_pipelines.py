# SPDX-License-Identifier: Apache-2.0
"""The pipelines of the tutorials equal NumPy, on one device and on four, and so do plain forms."""

import functools
import itertools
from collections import Counter

import boosted_trees
import click_model
import graph_network
import jax
import jax.numpy as jnp
import mixture_of_experts
import near_duplicates
import numpy as np
import pandas as pd
import pytest
import ragged_attention
import tokenizer
import top_p
from jaxframes import shardings
from jaxframes.primitives import local

pytestmark = pytest.mark.usefixtures("x64_off", "promotion_of_programs")


@pytest.fixture
def promotion_of_programs():
    """Programs are written with JAX's own settings."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def softmax(x):
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def of_experts(params, tokens, capacity):
    """The layer, one copy of a token after the other."""
    probabilities = softmax(tokens @ params["router"])
    experts = np.argsort(-probabilities, axis=1, kind="stable")[:, :2]
    weights = np.take_along_axis(probabilities, experts, axis=1)
    weights /= weights.sum(axis=1, keepdims=True)
    results, counts = np.zeros_like(tokens), np.zeros(params["up"].shape[0], int)
    for i, token in enumerate(tokens):
        for expert, weight in zip(experts[i], weights[i], strict=True):
            if counts[expert] < capacity:
                h = token @ params["up"][expert]
                h *= 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
                results[i] += weight * (h @ params["down"][expert])
            counts[expert] += 1
    return results, counts


@pytest.mark.parametrize("form", ["one device", "four devices", "plain"])
def test_mixture_of_experts(form):
    params = mixture_of_experts.new_parameters(6, 8)
    rng = np.random.default_rng(1)
    tokens = rng.normal(size=(48, 6)).astype(np.float32)
    # A shard has room for what both of its experts have room for, so only their own room matters.
    capacity = {"one device": 11, "four devices": 48, "plain": 11}[form]
    layer = {"one device": mixture_of_experts.layer, "plain": mixture_of_experts.plain_layer}.get(
        form
    )
    if layer is None:
        layer = mixture_of_experts.over_mesh(shardings.make_mesh(4))

    def loss(params, tokens):
        mixed = layer(params, tokens, capacity)
        return (mixed.tokens**2).sum(), mixed

    gradient = jax.jit(jax.grad(loss, argnums=(0, 1), has_aux=True))
    slopes, mixed = jax.device_get(gradient(params, tokens))
    wide = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), (params, tokens))
    expected, counts = of_experts(*wide, capacity)
    assert (counts.max() > capacity) == (form != "four devices")
    np.testing.assert_array_equal(mixed.counts, counts)
    np.testing.assert_allclose(mixed.tokens, expected, rtol=1e-4, atol=1e-5)

    # Along a random direction the gradient is the slope of the oracle.
    direction = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), wide)

    def moved(step):
        at = jax.tree.map(lambda leaf, along: leaf + step * along, wide, direction)
        return (of_experts(*at, capacity)[0] ** 2).sum()

    slope = sum(jax.tree.leaves(jax.tree.map(lambda a, b: (a * b).sum(), slopes, direction)))
    np.testing.assert_allclose(slope, (moved(1e-6) - moved(-1e-6)) / 2e-6, rtol=1e-3)


def merged_by_hand(word, pair, token):
    tokens, i = [], 0
    while i < len(word):
        is_pair = tuple(word[i : i + 2]) == pair
        tokens.append(token if is_pair else word[i])
        i += 2 if is_pair else 1
    return tokens


def byte_pairs(words, num_merges):
    """The merges of a list of words, and the tokens of each word, by loops."""
    merges = []
    for token in range(256, 256 + num_merges):
        pairs = Counter(pair for word in words for pair in itertools.pairwise(word))
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append((*best, pairs[best]))
        words = [merged_by_hand(word, best, token) for word in words]
    return merges, words


def test_tokenizer():
    documents = [*tokenizer.write_documents(12, seed=3), "aaaa aaa aaaaa", "ab"]
    given, words_of_document = tokenizer.split_words(documents)
    words = tokenizer.count_words(given)
    offsets, values = np.asarray(given.offsets), np.asarray(given.values)
    split = [values[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    assert bytes(itertools.chain(*split)).decode() == "".join(documents)
    assert words.words.num_segments == len({tuple(word) for word in split}) < len(split)

    expected, tokens = byte_pairs(split, 24)
    merges = jax.jit(tokenizer.train, static_argnums=2)(words.words, words.counts, 24)
    np.testing.assert_array_equal(np.stack(merges, axis=1), expected)
    on_four = tokenizer.train_over_mesh(words, 24, shardings.make_mesh(4))
    np.testing.assert_array_equal(np.stack(on_four, axis=1), expected)
    state = given.values, given.segment_ids, jnp.ones(given.capacity, jnp.int32)
    key, count = tokenizer.plain_best_pair(*state, 300)
    assert (int(key) // 300, int(key) % 300, int(count)) == expected[0]

    encoded = tokenizer.encode_documents(words, words_of_document, merges)
    np.testing.assert_array_equal(encoded.values, list(itertools.chain(*tokens)))
    ends = np.cumsum([0, *words_of_document])
    lengths = [sum(map(len, tokens[a:b])) for a, b in itertools.pairwise(ends)]
    np.testing.assert_array_equal(encoded.lengths, lengths)


def similar_by_hand(documents, least):
    """The first document that each is connected to by a Jaccard similarity of at least `least`."""
    sets = [set(zip(words, words[1:], words[2:], strict=False)) for words in documents]
    first = list(range(len(sets)))
    for i, j in itertools.combinations(range(len(sets)), 2):
        if len(sets[i] & sets[j]) >= least * len(sets[i] | sets[j]) > 0:
            smaller, larger = sorted((first[i], first[j]))
            first = [smaller if label == larger else label for label in first]
    return first


def test_near_duplicates():
    documents, originals = near_duplicates.write_documents(62, seed=5)
    offsets, words = np.asarray(documents.offsets), np.asarray(documents.values)
    split = [words[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    expected = similar_by_hand(split, near_duplicates.LEAST_SIMILARITY)
    np.testing.assert_array_equal(expected, originals)
    assert len(set(expected)) < len(split) - 10

    np.testing.assert_array_equal(jax.jit(near_duplicates.first_copies)(documents), expected)
    mesh = shardings.make_mesh(4)
    on_four = near_duplicates.first_copies_over_mesh(documents, mesh)
    np.testing.assert_array_equal(on_four, expected)

    signatures = near_duplicates.signatures_of(documents)
    edges = near_duplicates.plain_candidates(near_duplicates.band_keys(signatures))
    edges = near_duplicates.similar(edges, signatures)
    plain = near_duplicates.plain_components(edges, len(split))
    np.testing.assert_array_equal(plain, expected)


def gains_by_hand(bins, gradients):
    """The gain of each feature and last left bin for the rows of one node."""

    def score(rows):
        return rows[:, 0].sum() ** 2 / (rows[:, 1].sum() + boosted_trees.PENALTY)

    gains = np.zeros((bins.shape[1], boosted_trees.NUM_CELLS))
    for feature, last in np.ndindex(gains.shape):
        is_left = bins[:, feature] <= last
        gains[feature, last] = score(gradients[is_left]) + score(gradients[~is_left])
    return gains - score(gradients)


def check_tree(tree, bins, gradients):
    """Every split has the largest gain for its rows, and leaves have the values of theirs."""
    leaves = np.zeros(len(bins), int)
    for features, last_left in zip(tree.features, tree.bins, strict=True):
        for node in np.unique(leaves):
            rows = leaves == node
            gains = gains_by_hand(bins[rows], gradients[rows])
            chosen = gains[features[node], last_left[node]]
            np.testing.assert_allclose(chosen, gains.max(), rtol=1e-4, atol=1e-4)
        is_right = bins[np.arange(len(bins)), features[leaves]] > last_left[leaves]
        leaves = 2 * leaves + is_right
    for leaf in np.unique(leaves):
        slopes, curvatures = gradients[leaves == leaf].sum(axis=0)
        value = -boosted_trees.RATE * slopes / (curvatures + boosted_trees.PENALTY)
        np.testing.assert_allclose(tree.leaves[leaf], value, rtol=1e-3, atol=1e-5)
    return tree.leaves[leaves]


@pytest.mark.parametrize("form", ["one device", "four devices", "plain"])
def test_boosted_trees(form):
    x, y = boosted_trees.make_rows(400, 3)
    x[::40, 1] = np.nan
    steps = np.arange(1, boosted_trees.NUM_BINS) / boosted_trees.NUM_BINS
    expected = np.full(x.shape, boosted_trees.NUM_BINS)
    for column, bins in zip(x.T, expected.T, strict=True):
        rows = ~np.isnan(column)
        edges = np.quantile(column[rows], steps, method="lower")
        bins[rows] = np.searchsorted(edges, column[rows])

    if form == "four devices":
        mesh = shardings.make_mesh(4)
        trees, predictions = boosted_trees.boost_over_mesh(x, y, 2, 3, mesh)
    else:
        bins = jax.jit(boosted_trees.bin_features)(x)
        np.testing.assert_array_equal(bins, expected)
        sums = {"plain": boosted_trees.plain_histograms}.get(form, boosted_trees.histograms)
        trees, predictions = jax.jit(boosted_trees.boost, static_argnums=(2, 3, 4))(
            bins, y, 2, 3, sums
        )
    trees = jax.device_get(trees)
    prediction = np.zeros(len(y))
    for i in range(2):
        gradients = np.stack([prediction - y, np.ones(len(y))], axis=1)
        tree = jax.tree.map(lambda leaf, i=i: leaf[i], trees)
        prediction = prediction + check_tree(tree, expected, gradients)
    np.testing.assert_allclose(predictions, prediction, rtol=1e-4, atol=1e-5)
    assert ((predictions - y) ** 2).mean() < 0.8 * y.var()
    of_rows = boosted_trees.predict(trees, jnp.asarray(expected, jnp.int32))
    np.testing.assert_allclose(of_rows, predictions, rtol=1e-5, atol=1e-6)


def test_plain_bins():
    x, _ = boosted_trees.make_rows(300, 3)
    bins = boosted_trees.bin_features(jnp.asarray(x))
    np.testing.assert_array_equal(boosted_trees.plain_bin_features(x), bins)


def nucleus_by_hand(logits, p, k):
    """The logits of a row in descending order, those outside the nucleus minus infinity."""
    tokens = np.argsort(-logits, kind="stable")[:k]
    shares = softmax(logits.astype(np.float64))[tokens]
    before = np.cumsum(shares) - shares
    return np.where(before < p, logits[tokens], -np.inf), tokens


@pytest.mark.parametrize(
    ("form", "k"),
    [
        (top_p.nucleus, None),
        (top_p.plain_nucleus, None),
        (top_p.likeliest_nucleus, 9),
        (top_p.plain_likeliest_nucleus, 9),
    ],
)
def test_nucleus(form, k):
    # Many logits are equal: the token of the lower number comes first.
    logits = np.random.default_rng(2).integers(-3, 4, (5, 40)).astype(np.float32)
    arguments = (0.7,) if k is None else (0.7, k)
    found = jax.jit(jax.vmap(lambda row: form(row, *arguments)))(logits)
    expected = [nucleus_by_hand(row, 0.7, k) for row in logits]
    np.testing.assert_array_equal(found.logits, [row for row, _ in expected])
    np.testing.assert_array_equal(found.tokens, [tokens for _, tokens in expected])
    assert np.isinf(found.logits).any()


@pytest.mark.parametrize("num_devices", [1, 4])
def test_texts_of_top_p(num_devices):
    model = top_p.count_word_pairs()
    keys = jax.random.split(jax.random.key(4), 4)
    first = np.arange(4, dtype=np.int32)
    placed = jax.device_put((keys, first), shardings.row_sharded(shardings.make_mesh(num_devices)))
    texts = jax.jit(top_p.generate, static_argnums=3)(*placed, model.logits, 6, 0.9)

    logits = np.asarray(model.logits)
    for key, token, text in zip(keys, first, np.asarray(texts), strict=True):
        for i, drawn in enumerate(text):
            ordered, tokens = nucleus_by_hand(logits[token], 0.9, None)
            noise = np.asarray(jax.random.gumbel(jax.random.fold_in(key, i), ordered.shape))
            token = tokens[np.argmax(ordered + noise)]
            assert drawn == token


def attention_by_hand(documents, window):
    results = []
    offsets = np.asarray(documents.offsets)
    values = [np.asarray(leaf, np.float64) for leaf in documents.values]
    for start, end in itertools.pairwise(offsets):
        query, key, value = (leaf[start:end] for leaf in values)
        for i, row in enumerate(query):
            seen = slice(max(0, i + 1 - window), i + 1)
            scores = key[seen] @ row / np.sqrt(len(row))
            results.append(softmax(scores) @ value[seen])
    return np.array(results)


@pytest.mark.parametrize("form", ["edges", "packed", "padded"])
def test_ragged_attention(form):
    documents = ragged_attention.make_documents(7, 4, seed=1)
    lengths = np.minimum(np.diff(documents.offsets), 40)
    documents = local.Ragged.from_lengths(
        jax.tree.map(lambda leaf: leaf[: lengths.sum() + 3], documents.values), lengths
    )
    window, longest = 9, int(lengths.max())
    packed = local.pack(lengths, longest)
    num_edges = ragged_attention.num_edges_of(lengths, window)
    attend = {
        "edges": lambda documents: ragged_attention.attend(documents, window, num_edges),
        "packed": lambda documents: ragged_attention.attend_packed(documents, packed, window),
        "padded": lambda documents: ragged_attention.attend_padded(documents, longest, window),
    }[form]
    target = np.random.default_rng(3).normal(size=(documents.capacity, 4)).astype(np.float32)

    def loss(values):
        results = attend(documents.with_values(values))
        return (results * target).sum(), results

    slopes, results = jax.jit(jax.grad(loss, has_aux=True))(documents.values)
    num_tokens = lengths.sum()
    expected = attention_by_hand(documents, window)
    np.testing.assert_allclose(results[:num_tokens], expected, rtol=1e-4, atol=1e-5)
    # The last three tokens are padding.
    assert not np.asarray(results[num_tokens:]).any()

    rng = np.random.default_rng(4)
    values = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), documents.values)
    direction = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), values)

    def moved(step):
        at = jax.tree.map(lambda leaf, along: leaf + step * along, values, direction)
        at = local.Ragged(at, documents.offsets)
        return (attention_by_hand(at, window) * target[:num_tokens]).sum()

    slope = sum(jax.tree.leaves(jax.tree.map(lambda a, b: (a * b).sum(), slopes, direction)))
    np.testing.assert_allclose(slope, (moved(1e-6) - moved(-1e-6)) / 2e-6, rtol=1e-3)


def test_ragged_attention_over_four_devices():
    documents = ragged_attention.make_documents(10, 4, seed=2)
    on_four = ragged_attention.attend_over_mesh(documents, 5, shardings.make_mesh(4))
    # The shards' offsets, and values with padding.
    offsets = np.asarray(on_four.offsets).reshape(4, -1)
    values = np.asarray(on_four.values).reshape(4, -1, 4)
    found = [of_shard[: ends[-1]] for of_shard, ends in zip(values, offsets, strict=True)]
    expected = attention_by_hand(documents, 5)
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-4, atol=1e-5)


def graph_logits_by_hand(params, receivers, senders, features):
    """The logits of all nodes, from the mean over the senders of each node's edges."""
    rows = np.asarray(features, np.float64)
    for name in ("in", "out"):
        means = np.zeros_like(rows)
        for node in range(len(rows)):
            neighbours = rows[senders[receivers == node]]
            means[node] = neighbours.sum(axis=0) / max(len(neighbours), 1)
        rows = np.concatenate([rows, means], axis=1) @ np.asarray(params[name], np.float64)
        rows = np.maximum(rows, 0) if name == "in" else rows
    return rows


def test_graph_network():
    receivers, senders, of_nodes = graph_network.make_graph(30, 3)
    # One node has no edge.
    receivers[receivers == 7] = 8
    graph = local.csr_from_coo(receivers, senders, 30)
    most = int(graph.lengths.max())
    params = graph_network.new_parameters()
    expected = graph_logits_by_hand(params, receivers, senders, of_nodes.features)
    all_logits = jax.jit(graph_network.all_logits)(params, graph, of_nodes.features)
    np.testing.assert_allclose(all_logits, expected, rtol=1e-4, atol=1e-5)
    mesh = shardings.make_mesh(4)
    on_four = graph_network.all_logits_over_mesh(params, graph, of_nodes.features, mesh)
    np.testing.assert_allclose(on_four, expected, rtol=1e-4, atol=1e-5)

    # A sample of as many neighbours as there are has all of them.
    nodes = np.array([3, 7, 8, 8, 21, 29, 0, 12], np.int32)
    labels = np.asarray(of_nodes.labels)[nodes]
    expected_loss = -np.log(softmax(expected[nodes]))[np.arange(8), labels].mean()
    one = functools.partial(graph_network.loss, k=most)
    four = graph_network.loss_over_mesh(mesh, most)
    slopes = []
    for loss in (one, four):
        arguments = params, jax.random.key(0), graph, of_nodes, nodes
        value, slope = jax.jit(jax.value_and_grad(loss))(*arguments)
        np.testing.assert_allclose(value, expected_loss, rtol=1e-5)
        slopes.append(slope)
    for name, slope in slopes[0].items():
        np.testing.assert_allclose(slopes[1][name], slope, rtol=1e-4, atol=1e-6)
        direction = np.random.default_rng(1).normal(size=slope.shape)

        def moved(step, name=name, direction=direction):
            at = {**params, name: np.asarray(params[name], np.float64) + step * direction}
            logits = graph_logits_by_hand(at, receivers, senders, of_nodes.features)
            return -np.log(softmax(logits[nodes]))[np.arange(8), labels].mean()

        expected_slope = (moved(1e-6) - moved(-1e-6)) / 2e-6
        np.testing.assert_allclose((slope * direction).sum(), expected_slope, rtol=1e-3)


def test_plain_forms_of_graphs():
    receivers, senders, of_nodes = graph_network.make_graph(30, 3)
    graph = local.csr_from_coo(receivers, senders, 30)
    offsets, ordered = graph_network.plain_csr(receivers, senders, 30)
    order = np.lexsort((senders, receivers))
    np.testing.assert_array_equal(ordered, senders[order])
    np.testing.assert_array_equal(graph.values[0], senders[order])
    np.testing.assert_array_equal(offsets, graph.offsets)
    sums = graph_network.plain_spmm(receivers, senders, of_nodes.features)
    np.testing.assert_allclose(sums, local.spmm(graph, of_nodes.features), rtol=1e-5, atol=1e-5)

    nodes, most = np.arange(30, dtype=np.int32), int(graph.lengths.max())
    key = jax.random.key(2)
    plain = graph_network.plain_neighbours(key, offsets, ordered, nodes, 2, most)
    for drawn in (plain, graph_network.draw_neighbours(key, graph, nodes, 2)[0]):
        for node, found in enumerate(np.asarray(drawn)):
            neighbours = Counter(senders[receivers == node].tolist())
            found = Counter(found[found >= 0].tolist())
            assert found <= neighbours
            assert found.total() == min(2, neighbours.total())


def stepped_by_hand(state, examples):
    """A step of Adagrad from slopes of the loss by differences, one entry of a row at a time."""
    table, squares = (np.asarray(leaf, np.float64) for leaf in state)
    ids, clicked = np.asarray(examples.ids), np.asarray(examples.clicked)

    def loss(table):
        rows = table[ids]
        logits = rows[:, :, 0].sum(axis=1)
        for i, j in itertools.combinations(range(ids.shape[1]), 2):
            logits = logits + (rows[:, i, 1:] * rows[:, j, 1:]).sum(axis=1)
        return (np.log1p(np.exp(logits)) - clicked * logits).mean()

    slopes = np.zeros_like(table)
    for row in np.unique(ids):
        for entry in range(table.shape[1]):
            moved = [table.copy(), table.copy()]
            moved[0][row, entry] += 1e-5
            moved[1][row, entry] -= 1e-5
            slopes[row, entry] = (loss(moved[0]) - loss(moved[1])) / 2e-5
    squares = squares + slopes**2
    return table - click_model.RATE * slopes / np.sqrt(squares), squares, loss(table)


def test_click_model(tmp_path):
    path = tmp_path / "views.parquet"
    click_model.write_views(path, 60)
    frame = pd.read_parquet(path)
    frame = frame[~frame["is_robot"]]
    views = click_model.read_views(path)
    assert len(views) == len(frame) < 60
    examples = click_model.hash_features(views, 64)
    np.testing.assert_array_equal(examples.clicked, frame["clicked"])
    # Equal features have equal rows, and different ones mostly have others.
    for feature, columns in enumerate((["user"], ["site"], ["hour"], ["user", "site"])):
        ids = np.asarray(examples.ids[:, feature])
        groups = frame.groupby(columns).ngroup().to_numpy()
        num_groups = len(np.unique(groups))
        assert len(set(zip(groups.tolist(), ids.tolist(), strict=True))) == num_groups
        assert 0.5 * num_groups < len(np.unique(ids)) <= num_groups

    examples = jax.tree.map(lambda leaf: leaf[:24], examples)
    state = click_model.new_state(64, 3)
    table, squares, loss = stepped_by_hand(state, examples)
    mesh = shardings.make_mesh(4)
    for step in (click_model.step, click_model.step_over_mesh(mesh), click_model.plain_step):
        stepped, value = jax.jit(step)(state, examples)
        np.testing.assert_allclose(value, loss, rtol=1e-5)
        np.testing.assert_allclose(stepped.table, table, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(stepped.squares, squares, rtol=1e-3, atol=1e-6)
