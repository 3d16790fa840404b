"""Providers with OpenAI's wire format, against a server on loopback that can be made to misbehave."""

import math
from dataclasses import replace

import pytest
from memgrep.embeddings import Refused
from memgrep.embeddings.http import INDEX, Http
from memgrep.embeddings.openai_like import SERVICES, OpenAILike
from memgrep.embeddings.vectors import unit, unpack
from memgrep.errors import (
    ProviderAuth,
    ProviderBadAnswer,
    ProviderError,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
)
from memgrep.testing import Answer, FakeClock, FakeEmbeddings, hash_vector

TEXTS = ["router: VLAN 10", "dns: 192.168.10.2", "Rod works on Tuesdays", "the cat is called Miso"]
NOTES = [f"note {number} about topic {number * 7}" for number in range(100)]


def embedder(fake, service="openai-compatible", *, http=None, limits=None, **options):
    row = SERVICES[service]
    door = Http(row.id, fake.url, **({"clock": FakeClock(), "jitter": lambda: 1.0} | (http or {})))
    return OpenAILike(
        replace(row, limits=limits) if limits else row, door, options.pop("model", "m"), **options
    )


def embedded(fake, texts, **options):
    """The results for some texts, and the embedder that gave them."""
    with fake:
        made = embedder(fake, **options)
        try:
            return list(made.embed_documents(texts)), made
        finally:
            made.close()


def right(text, dims=32):
    return unit(hash_vector(text, dims))


def test_every_text_gets_its_own_vector():
    """F103, the plain case."""
    results, made = embedded(FakeEmbeddings(), NOTES)

    assert results == [right(text) for text in NOTES]
    assert made.dims == 32


def test_the_order_is_that_of_the_index_numbers():
    """F103: rows come in reverse order with right indices."""
    results, _ = embedded(FakeEmbeddings(shuffle=True), NOTES)

    assert results == [right(text) for text in NOTES]


def test_rows_without_index_numbers_are_in_order():
    results, _ = embedded(
        FakeEmbeddings(rewrite=lambda rows, texts: [{"embedding": r["embedding"]} for r in rows]), TEXTS
    )

    assert results == [right(text) for text in TEXTS]


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda rows, texts: rows[:1],
        lambda rows, texts: rows[:-1] if len(rows) > 1 else rows,
        lambda rows, texts: [*rows, rows[0]] if len(rows) > 1 else rows,
        lambda rows, texts: [row | {"index": 0} for row in rows],
    ],
    ids=["only the first", "one missing", "one too many", "all numbered 0"],
)
def test_a_miscounted_answer_is_asked_for_one_by_one(rewrite):
    """F101, F102: no text ever gets another text's vector."""
    fake = FakeEmbeddings(rewrite=rewrite)

    results, made = embedded(fake, TEXTS)

    assert results == [right(text) for text in TEXTS]
    assert fake.requests == 1 + len(TEXTS)
    assert made.limits.items == 1, "the next texts are sent one by one at once"


def test_a_single_text_without_a_vector_is_an_error():
    """F101."""
    with pytest.raises(ProviderBadAnswer, match="sent 1 texts, got 0 vectors"):
        embedded(FakeEmbeddings(rewrite=lambda rows, texts: []), TEXTS)


def test_an_answer_without_vectors_is_an_error():
    with pytest.raises(ProviderBadAnswer, match="no list of vectors"):
        embedded(FakeEmbeddings(script=[Answer(200, {"object": "list"})]), TEXTS)


def test_an_error_inside_a_good_status_is_said():
    with pytest.raises(ProviderBadAnswer, match="model is loading"):
        embedded(FakeEmbeddings(script=[Answer(200, {"error": {"message": "model is loading"}})]), TEXTS)


@pytest.mark.parametrize("bad", [math.nan, None, math.inf, "x"], ids=["NaN", "null", "infinity", "text"])
def test_a_bad_number_costs_one_text(bad):
    """F104: nine of ten get their vectors."""

    def spoil(rows, texts):
        return [
            row | {"embedding": [bad, *row["embedding"][1:]]} if "topic 21" in text else row
            for row, text in zip(rows, texts, strict=True)
        ]

    results, _ = embedded(FakeEmbeddings(rewrite=spoil), NOTES[:10])

    assert [isinstance(result, bytes) for result in results] == [number != 3 for number in range(10)]
    assert isinstance(results[3], Refused)
    assert "vector" in results[3].reason


def test_a_zero_vector_costs_one_text():
    def spoil(rows, texts):
        return [
            row | {"embedding": [0.0] * 32} if "topic 21" in text else row
            for row, text in zip(rows, texts, strict=True)
        ]

    results, _ = embedded(FakeEmbeddings(rewrite=spoil), NOTES[:10])

    assert results[3] == Refused("the vector is zero")
    assert sum(isinstance(result, bytes) for result in results) == 9


def test_a_server_that_fails_on_one_text_costs_that_text():
    """F104: status 500 with a text about NaN."""
    nan = Answer(500, {"error": "failed to encode response: json: unsupported value: NaN"})
    fake = FakeEmbeddings(
        decide=lambda texts, body: nan if any("topic 21" in text for text in texts) else None
    )

    results, _ = embedded(fake, NOTES[:10])

    assert [number for number, result in enumerate(results) if isinstance(result, Refused)] == [3]
    assert results[4] == right(NOTES[4])
    assert fake.requests < 10


def test_a_vector_of_another_length_costs_one_text():
    def spoil(rows, texts):
        return [
            row | {"embedding": row["embedding"][:8]} if "topic 21" in text else row
            for row, text in zip(rows, texts, strict=True)
        ]

    with FakeEmbeddings() as fake:
        made = embedder(fake)
        list(made.embed_documents(TEXTS))
        fake.rewrite = spoil
        results = list(made.embed_documents(NOTES[:10]))
        made.close()

    assert results[3] == Refused("a vector of 8 instead of 32 dimensions")
    assert results[4] == right(NOTES[4])


def test_a_model_that_changed_behind_the_name_is_an_error():
    with FakeEmbeddings() as fake:
        made = embedder(fake)
        list(made.embed_documents(TEXTS))
        fake.dims = 48
        with pytest.raises(ProviderBadAnswer, match="vectors of 48 dimensions, had 32 before"):
            list(made.embed_documents(TEXTS))
        made.close()


def test_floats_and_base64_give_the_same_bits():
    """F105."""
    floats, _ = embedded(FakeEmbeddings(), TEXTS)
    packed, _ = embedded(FakeEmbeddings(base64=True), TEXTS)

    assert floats == packed


def test_numbers_are_never_asked_for_as_base64():
    """F106."""
    fake = FakeEmbeddings(
        decide=lambda texts, body: (
            Answer(400, {"error": "base64?"}) if body.get("encoding_format") == "base64" else None
        )
    )
    results, _ = embedded(fake, TEXTS)

    assert all(isinstance(result, bytes) for result in results)
    assert fake.refused == 0
    assert "encoding_format" not in fake.bodies[0]


# Dimensions


def test_the_length_is_learnt():
    """F088."""
    with FakeEmbeddings(dims=1000) as fake:
        made = embedder(fake, model="house-embed-x")
        before = made.dims
        made.embed_query("router")
        made.close()

    assert (before, made.dims) == (None, 1000)
    assert "dimensions" not in fake.bodies[0]


def test_dimensions_are_asked_for():
    """F087."""
    fake = FakeEmbeddings(dims=1024)

    results, made = embedded(fake, TEXTS, dims=256)

    assert fake.bodies[0]["dimensions"] == 256
    assert {len(result) for result in results} == {1024}
    assert math.hypot(*unpack(results[0])) == pytest.approx(1)
    assert made.dims == 256


@pytest.mark.parametrize("given", [256, 2048])
def test_other_dimensions_than_asked_for_are_an_error(given):
    """F089: nothing of it is given out."""
    with FakeEmbeddings(dims=given, honours_dims=False) as fake:
        made = embedder(fake, dims=1024)
        out = []
        with pytest.raises(ProviderBadAnswer, match=f"vectors of {given} dimensions, asked for 1024"):
            out.extend(made.embed_documents(TEXTS))
        made.close()

    assert out == []


def test_a_service_without_the_parameter_has_its_vectors_cut():
    """F087: cut and normalised again."""
    fake = FakeEmbeddings(dims=64)

    results, _ = embedded(fake, TEXTS, service="lmstudio", dims=16)

    assert "dimensions" not in fake.bodies[0]
    assert {len(result) for result in results} == {64}
    assert math.hypot(*unpack(results[0])) == pytest.approx(1)


def test_vectors_cannot_be_cut_to_more_than_they_have():
    """F089."""
    with pytest.raises(ProviderBadAnswer, match="64 dimensions, 100 were asked for"):
        embedded(FakeEmbeddings(dims=64), TEXTS, service="lmstudio", dims=100)


# Limits


def test_requests_stay_within_the_known_limits():
    """F099: 300,000 tokens, 2048 items, 8192 an item."""
    fake = FakeEmbeddings(max_tokens=300_000, max_items=2048, max_item_tokens=8192, dims=8)
    text = "x" * 1600

    results, _ = embedded(fake, [f"{number} {text}" for number in range(1000)], service="openai")

    assert all(isinstance(result, bytes) for result in results)
    assert fake.refused == 0
    assert fake.requests < 10


def test_the_lower_limit_of_items_and_tokens_counts():
    """F115, of the Voyage kind."""
    fake = FakeEmbeddings(max_tokens=120_000, max_items=128, dims=8)

    results, _ = embedded(fake, [f"{number} {'x' * 1600}" for number in range(1000)], service="voyage")

    assert all(isinstance(result, bytes) for result in results)
    assert fake.refused == 0


def test_an_unknown_limit_of_items_is_learnt():
    """F100: a service that takes 10 texts at most; vectors in the right order."""
    fake = FakeEmbeddings(max_items=10)

    results, made = embedded(fake, NOTES)

    assert results == [right(text) for text in NOTES]
    assert made.limits.items <= 12
    assert fake.refused <= 4


def test_a_text_that_is_too_long_is_cut_and_averaged():
    """F107: status 500 "too large" above 512 tokens; the rest is not touched."""
    long = " ".join(f"word{number}" for number in range(900))
    too_large = Answer(500, {"error": {"message": "input is too large to process"}})
    fake = FakeEmbeddings(
        max_item_tokens=512, too_large=too_large, count_tokens=lambda text: len(text.split())
    )

    results, _ = embedded(fake, [*TEXTS, long, *NOTES])

    assert all(isinstance(result, bytes) for result in results)
    assert [*results[:4], *results[5:]] == [right(text) for text in [*TEXTS, *NOTES]]
    near = sum(a * b for a, b in zip(unpack(results[4]), unpack(right(long)), strict=True))
    assert near > 0.95, "the average of the parts is near the vector of the whole"


def test_a_wrong_estimate_is_learnt_from():
    """F108: links and code cost 1.9 times what we think; fewer than 5 % of the requests are refused."""
    prose = "we talked about the garden and the new fence there " * 6
    links = "https://example.org/a/b?c=d&e=f " * 9
    texts = [f"{number} {links if number % 3 == 0 else prose}" for number in range(1500)]

    def tokens(text):
        return int(len(text) / 3 * (1.9 if "https" in text else 1))

    fake = FakeEmbeddings(max_item_tokens=120, count_tokens=tokens, dims=8)
    results, _ = embedded(fake, texts, limits=replace_limits(items=8))

    assert all(isinstance(result, bytes) for result in results)
    assert fake.refused / fake.requests < 0.05


def replace_limits(**changes):
    row = SERVICES["openai-compatible"].limits
    values = {
        "items": row.items,
        "tokens": row.tokens,
        "item_tokens": row.item_tokens,
        "bytes": row.bytes,
    } | changes
    return type(row)(**values)


def test_a_poisoned_text_costs_only_itself():
    """F102, F104: a text the server always refuses."""
    no = Answer(400, {"error": {"message": "content not allowed"}})
    fake = FakeEmbeddings(decide=lambda texts, body: no if any("Miso" in text for text in texts) else None)

    results, _ = embedded(fake, [*TEXTS, *NOTES])

    assert results[3] == Refused("refused (400: content not allowed)")
    assert sum(isinstance(result, bytes) for result in results) == len(results) - 1


def test_a_poisoned_first_text_does_not_stop_the_rest():
    no = Answer(400, {"error": {"message": "content not allowed"}})
    fake = FakeEmbeddings(decide=lambda texts, body: no if any("router" in text for text in texts) else None)

    results, _ = embedded(fake, TEXTS)

    assert isinstance(results[0], Refused)
    assert results[1:] == [right(text) for text in TEXTS[1:]]


def test_a_request_that_is_always_refused_is_not_blamed_on_the_texts():
    """A wrong model name answered with 400: one clear error, few requests, no text marked."""
    fake = FakeEmbeddings(decide=lambda texts, body: Answer(400, {"error": {"message": "no such model"}}))

    with pytest.raises(ProviderRejected, match="no such model"):
        embedded(fake, NOTES)

    assert fake.requests <= 8


# Failing as a whole


def test_a_used_up_quota_stops_the_run():
    """F110: at most two requests."""
    gone = Answer(
        429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    )
    fake = FakeEmbeddings(decide=lambda texts, body: gone)

    with pytest.raises(ProviderRateLimited, match="quota"):
        embedded(fake, NOTES)

    assert fake.requests == 1


def test_what_came_before_a_failure_stands():
    """Paid work is kept: results are given out as they come, then the error."""
    gone = Answer(
        429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    )
    with FakeEmbeddings() as fake:
        fake.decide = lambda texts, body: gone if NOTES[64] in texts else None
        made = embedder(fake)
        out = []
        with pytest.raises(ProviderRateLimited):
            out.extend(made.embed_documents(NOTES))
        made.close()

    assert out == [right(text) for text in NOTES[: len(out)]]
    assert len(out) == 64
    assert fake.requests <= 4


def test_rate_limits_are_waited_out():
    """F109: ten requests a minute, thirty needed, no header."""
    clock = FakeClock()
    told = []
    with FakeEmbeddings(rate=(10, 60.0, clock), dims=8) as fake:
        made = embedder(fake, http={"clock": clock}, limits=replace_limits(items=4))
        results = list(
            made.embed_documents(NOTES * 2, progress=lambda stage, done, total: told.append(stage))
        )
        made.close()

    assert all(isinstance(result, bytes) for result in results)
    assert clock.monotonic() < 60 * 60
    assert any(stage.startswith("waiting") and "rate limit" in stage for stage in told)


def test_a_dead_server_is_found_out_soon():
    with FakeEmbeddings(decide=lambda texts, body: Answer(delay=2.0)) as fake:
        made = embedder(fake, index_patience=replace(INDEX, timeout=0.2))
        with pytest.raises(ProviderTimeout):
            list(made.embed_documents(NOTES))
        made.close()

    assert fake.requests == 2


def test_a_slow_server_gets_less_at_a_time():
    with FakeEmbeddings(dims=8) as fake:
        fake.decide = lambda texts, body: Answer(delay=1.5) if len(texts) > 8 else None
        made = embedder(fake, index_patience=replace(INDEX, timeout=0.7))
        results = list(made.embed_documents(NOTES))
        made.close()

    assert results == [right(text, 8) for text in NOTES]
    assert made.limits.items == 8


def test_a_refused_question_is_an_error():
    with FakeEmbeddings(
        decide=lambda texts, body: Answer(400, {"error": "no"}) if "Miso" in texts[0] else None
    ) as fake:
        made = embedder(fake)
        with pytest.raises(ProviderRejected, match="400: no"):
            made.embed_query("Miso?")
        made.close()


def test_a_rejected_key_is_an_error_of_the_run():
    """F117."""
    fake = FakeEmbeddings(decide=lambda texts, body: Answer(401, {"error": {"message": "bad key"}}))

    with pytest.raises(ProviderAuth, match="401"):
        embedded(fake, NOTES)

    assert fake.requests == 1


# Progress, stopping


def test_progress_counts_the_texts():
    told = []
    with FakeEmbeddings() as fake:
        made = embedder(fake)
        list(made.embed_documents(NOTES, progress=lambda *what: told.append(what)))
        made.close()

    assert told == [("embed", 32, 100), ("embed", 64, 100), ("embed", 96, 100), ("embed", 100, 100)]


def test_progress_can_stop():
    with FakeEmbeddings() as fake:
        made = embedder(fake)
        results = list(made.embed_documents(NOTES, progress=lambda stage, done, total: done < 64))
        made.close()

    assert results == [right(text) for text in NOTES[:64]]


def test_a_cancel_stops_a_wait():
    clock = FakeClock()
    with FakeEmbeddings(decide=lambda texts, body: Answer(429, {}, {"Retry-After": "100"})) as fake:
        made = embedder(fake, http={"clock": clock})
        results = list(made.embed_documents(NOTES, cancel=lambda: clock.monotonic() > 5))
        made.close()

    assert results == []
    assert clock.monotonic() < 1000


def test_no_texts_need_no_request():
    fake = FakeEmbeddings()

    assert embedded(fake, [])[0] == []
    assert fake.requests == 0


# Identity


def fingerprint(service="openai-compatible", url="http://127.0.0.1:9/v1", headers=None, **options):
    door = Http(service, url, headers=headers or {})
    return OpenAILike(
        SERVICES[service], door, options.pop("model", "m"), headers=headers, **options
    ).fingerprint


def test_credentials_are_no_part_of_the_identity():
    """F085: change both keys, nothing is embedded again."""
    one = {"Authorization": "Bearer A", "X-Api-Key": "B"}
    other = {"Authorization": "Bearer C", "X-Api-Key": "D"}

    assert fingerprint(headers=one) == fingerprint(headers=other) == fingerprint()
    assert fingerprint(url="http://rod:pw@127.0.0.1:9/v1/") == fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        {"headers": {"X-Tenant": "two"}},
        {"headers": {"X-Deployment": "blue"}},
        {"url": "http://127.0.0.1:9/v2"},
        {"url": "http://127.0.0.1:10/v1"},
        {"url": "http://127.0.0.1:9/v1?api-version=2"},
        {"model": "n"},
        {"dims": 256},
        {"document_type": "passage"},
        {"query_type": "question"},
        {"service": "lmstudio"},
        {"named": "house"},
    ],
    ids=str,
)
def test_what_changes_vectors_changes_the_identity(change):
    """F084, F085: same length, other vectors."""
    assert fingerprint(**change) != fingerprint()


def test_the_identity_holds_no_secret():
    assert "sekret" not in fingerprint(
        headers={"X-Api-Key": "sekret"}, url="http://rod:sekret@127.0.0.1:9/v1"
    )


# The services' own ways


def test_every_service_says_what_its_documentation_says():
    """The request shapes of the services: body of documents, body of a query."""
    bodies = {}
    for name in SERVICES:
        with FakeEmbeddings(dims=8) as fake:
            made = embedder(fake, name, model="m", dims=None if name == "lmstudio" else 4)
            list(made.embed_documents(["d"]))
            made.embed_query("q")
            made.close()
        assert fake.paths == ["/v1/embeddings"] * 2
        bodies[name] = fake.bodies

    assert bodies == {
        "openai-compatible": [
            {"model": "m", "input": ["d"], "dimensions": 4},
            {"model": "m", "input": ["q"], "dimensions": 4},
        ],
        "openai": [
            {"model": "m", "input": ["d"], "dimensions": 4},
            {"model": "m", "input": ["q"], "dimensions": 4},
        ],
        "voyage": [
            {"model": "m", "input": ["d"], "input_type": "document", "output_dimension": 4},
            {"model": "m", "input": ["q"], "input_type": "query", "output_dimension": 4},
        ],
        "mistral": [
            {"model": "m", "input": ["d"], "output_dimension": 4},
            {"model": "m", "input": ["q"], "output_dimension": 4},
        ],
        "deepinfra": [
            {"model": "m", "input": ["d"], "dimensions": 4, "encoding_format": "float"},
            {"model": "m", "input": ["q"], "dimensions": 4, "encoding_format": "float"},
        ],
        "lmstudio": [{"model": "m", "input": ["d"]}, {"model": "m", "input": ["q"]}],
    }


def test_input_types_can_be_set():
    with FakeEmbeddings() as fake:
        made = embedder(fake, document_type="passage", query_type="question")
        list(made.embed_documents(["d"]))
        made.embed_query("q")
        made.close()

    assert [body["input_type"] for body in fake.bodies] == ["passage", "question"]


def test_a_models_provider_prefix_is_taken_off():
    with FakeEmbeddings() as fake:
        made = embedder(fake, "openai", model="openai/text-embedding-3-small")
        made.embed_query("q")
        made.close()

    assert fake.bodies[0]["model"] == made.model == "text-embedding-3-small"


def test_a_text_that_is_no_unicode_is_still_sent():
    """An argument of the command line may hold a lone surrogate."""
    results, _ = embedded(FakeEmbeddings(), ["caf\udce9"])

    assert isinstance(results[0], bytes)


def test_a_server_of_another_kind_is_an_error():
    fake = FakeEmbeddings(script=[Answer(405, b"")])

    with pytest.raises(ProviderUnavailable, match=r"check remote\.baseUrl and model"):
        embedded(fake, TEXTS)


def test_every_failure_is_a_provider_error():
    """Whatever a server does, callers catch one class."""
    for answer in (
        Answer(418),
        Answer(200, b"\xff\xfe"),
        Answer(200, []),
        Answer(302, b"", {"Location": "//"}),
        Answer(500),
    ):
        fake = FakeEmbeddings(decide=lambda texts, body, answer=answer: answer)
        with pytest.raises(ProviderError):
            embedded(fake, TEXTS)
