"""From many texts to requests, with a provider that is a function."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memgrep.embeddings.batching import Batcher, cut, estimate
from memgrep.embeddings.http import TooLarge
from memgrep.embeddings.request import Limits, Refused
from memgrep.embeddings.vectors import unit
from memgrep.errors import ProviderError, ProviderRejected, ProviderUnavailable
from memgrep.testing import hash_vector

WIDE = Limits(items=8, tokens=10_000, item_tokens=10_000)


def vector(text):
    return unit(hash_vector(text, 8))


@given(st.text(max_size=2000), st.integers(12, 200))
def test_the_parts_of_a_text_are_the_text(text, tokens):
    assert "".join(cut(text, tokens)) == text


@given(st.text(alphabet="abc \n", min_size=1, max_size=3000), st.integers(12, 200))
def test_the_parts_of_a_text_are_about_equal_and_fit(text, tokens):
    parts = cut(text, tokens)

    assert all(parts)
    assert max(map(estimate, parts)) <= tokens * 1.5


@given(st.text(max_size=500))
def test_an_estimate_is_never_below_a_third_of_the_characters(text):
    assert estimate(text) > len(text) / 3


class Provider:
    """A provider with hidden limits and texts it refuses; watches that its rules are kept."""

    def __init__(self, *, items=8, item_tokens=10_000, poison=()):
        self.items, self.item_tokens, self.poison = items, item_tokens, set(poison)
        self.requests = []
        self.lock = threading.Lock()

    def __call__(self, texts, cancel, waiting):
        with self.lock:
            self.requests.append(list(texts))
        if len(texts) > self.items or max(map(estimate, texts)) > self.item_tokens:
            raise TooLarge("test", "too large")
        if self.poison & set(texts):
            raise ProviderRejected("test", "no")
        return [vector(text) for text in texts]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.text(alphabet="abcdefgh ", min_size=1, max_size=120), max_size=40),
    st.sets(st.integers(0, 39), max_size=5),
    st.integers(1, 8),
    st.integers(12, 60),
)
def test_every_text_gets_its_own_result_whatever_is_refused(texts, poisoned, items, item_tokens):
    """F099-F108 together: order, count, isolation, cutting, for any hidden limits."""
    poison = {texts[at] for at in poisoned if at < len(texts) and estimate(texts[at]) <= item_tokens}
    provider = Provider(items=items, item_tokens=item_tokens, poison=poison)

    results = list(Batcher("test", WIDE, provider).run(texts))

    assert len(results) == len(texts)
    for text, result in zip(texts, results, strict=True):
        if text in poison:
            assert result == Refused("no")
        elif estimate(text) <= item_tokens * 0.75:
            assert result == vector(text)
        else:
            assert isinstance(result, bytes | Refused)


def test_a_request_holds_no_more_bytes_than_allowed():
    provider = Provider()
    limits = Limits(items=100, tokens=10**6, item_tokens=10**6, bytes=100)

    list(Batcher("test", limits, provider).run(["ü" * 20] * 10))

    assert {len(request) for request in provider.requests} == {2}


def test_a_text_beyond_the_bytes_of_a_request_is_cut():
    provider = Provider()
    limits = Limits(items=100, tokens=10**6, item_tokens=10**6, bytes=90)

    (result,) = Batcher("test", limits, provider).run(["word " * 60])

    assert isinstance(result, bytes)
    assert max(sum(map(len, request)) for request in provider.requests) <= 90


def test_a_text_that_cannot_be_made_small_enough_is_refused():
    def always(texts, cancel, waiting):
        if texts == ["memory"]:
            return [vector("memory")]
        raise TooLarge("test", "too large")

    (result,) = Batcher("test", WIDE, always).run(["word " * 100])

    assert result == Refused("too large")


def test_the_first_request_goes_alone_and_then_two_run_at_once():
    running = []
    most = []
    gate = threading.Barrier(2, timeout=10)

    def ask(texts, cancel, waiting):
        running.append(1)
        most.append(len(running))
        if texts != ["0"]:
            gate.wait()
        running.pop()
        return [vector(text) for text in texts]

    texts = [str(number) for number in range(5)]
    results = list(Batcher("test", Limits(1, 10_000, 10_000), ask).run(texts))

    assert results == [vector(text) for text in texts]
    assert most[0] == 1
    assert max(most) == 2


def test_an_error_of_the_provider_is_raised_as_it_is():
    def ask(texts, cancel, waiting):
        raise ProviderUnavailable("test", "down")

    with pytest.raises(ProviderUnavailable, match="down"):
        list(Batcher("test", WIDE, ask).run(["a"]))


def test_an_unexpected_error_is_raised_as_it_is():
    """An internal error never becomes an empty answer."""

    def ask(texts, cancel, waiting):
        raise RuntimeError("a fault of ours")

    with pytest.raises(RuntimeError, match="a fault of ours"):
        list(Batcher("test", WIDE, ask).run(["a"]))


def test_who_stops_reading_stops_the_work():
    asked = []

    def ask(texts, cancel, waiting):
        asked.append(texts)
        return [vector(text) for text in texts]

    results = Batcher("test", Limits(1, 10_000, 10_000), ask, concurrency=1).run([str(n) for n in range(100)])
    next(results)
    results.close()

    assert len(asked) <= 2


def test_refusals_of_the_whole_are_not_blamed_on_texts():
    def ask(texts, cancel, waiting):
        raise ProviderRejected("test", "no such model")

    with pytest.raises(ProviderError, match="no such model"):
        list(Batcher("test", WIDE, ask).run(["a", "b"]))
