"""The one door to the network, against a real server and a clock that only moves when somebody sleeps."""

import json
import logging
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from memgrep.embeddings.http import (
    INDEX,
    QUERY,
    Cancelled,
    Http,
    TooLarge,
    identifying,
    is_loopback,
    is_secret,
)
from memgrep.errors import (
    ProviderAuth,
    ProviderBadAnswer,
    ProviderError,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
)
from memgrep.testing import Answer, FakeClock, FakeEmbeddings

KEY = "sk-very-secret-0123456789"
BODY = {"model": "m", "input": ["router"]}


def http(fake, **options):
    options = {"clock": FakeClock(), "jitter": lambda: 1.0} | options
    return Http("openai-compatible", options.pop("url", None) or fake.url, **options)


def error_of(fake, patience=QUERY, **options):
    door = http(fake, **options)
    with pytest.raises(ProviderError) as caught:
        door.post("embeddings", BODY, patience=patience)
    door.close()
    return caught.value


def test_a_request_goes_below_the_base_url_as_json():
    with FakeEmbeddings() as fake:
        door = http(fake, headers={"Authorization": f"Bearer {KEY}"})
        answer = door.post("embeddings", BODY, patience=QUERY)
        door.close()

    assert len(answer["data"]) == 1
    assert fake.paths == ["/v1/embeddings"]
    assert fake.bodies == [BODY]
    assert fake.headers[0]["authorization"] == f"Bearer {KEY}"


def test_connections_are_used_again():
    with FakeEmbeddings() as fake:
        door = http(fake)
        for _ in range(3):
            door.post("embeddings", BODY, patience=QUERY)
        pool = door._connections()._transport._pool
        connections = len(pool.connections)
        door.close()

    assert connections == 1


@pytest.mark.parametrize("status", [500, 502, 503, 529, 408])
def test_a_server_error_is_tried_again(status):
    with FakeEmbeddings(script=[Answer(status), Answer(status)]) as fake:
        clock = FakeClock()
        door = http(fake, clock=clock)
        door.post("embeddings", BODY, patience=QUERY)
        door.close()

    assert fake.requests == 3
    assert sum(clock.slept) == 0.5 + 1


def test_a_server_that_stays_broken_is_said():
    with FakeEmbeddings(script=[Answer(503, b"<html><b>down</b></html>")] * 9) as fake:
        error = error_of(fake)

    assert isinstance(error, ProviderUnavailable)
    assert str(error) == "openai-compatible: server error (503: down); try again later"
    assert (error.status, fake.requests) == (503, 3)


def test_a_dropped_connection_is_tried_again():
    with FakeEmbeddings(script=[Answer(drop=True)]) as fake:
        door = http(fake)
        door.post("embeddings", BODY, patience=QUERY)
        door.close()

    assert fake.requests == 2


def test_nobody_listens():
    """F119: the message names what could not be reached."""
    with FakeEmbeddings() as fake:
        port = fake.port

    error = error_of(None, url=f"http://127.0.0.1:{port}/v1")

    assert isinstance(error, ProviderUnavailable)
    assert f"cannot reach 127.0.0.1:{port}" in str(error)


@pytest.mark.parametrize("header", ["7", None])
def test_a_rate_limit_is_waited_out(header):
    """F109: the header says how long, or the wait grows."""
    limited = Answer(429, {"error": {"message": "slow down"}}, {"Retry-After": header} if header else {})
    with FakeEmbeddings(script=[limited]) as fake:
        clock = FakeClock()
        told = []
        door = http(fake, clock=clock)
        door.post("embeddings", BODY, patience=INDEX, waiting=lambda seconds, why: told.append(seconds))
        door.close()

    assert sum(clock.slept) == pytest.approx(8 if header else 5)
    assert told == [pytest.approx(8 if header else 5)]


def test_a_date_says_when_to_come_back():
    clock = FakeClock()
    when = formatdate(clock.wall() + 20, usegmt=True)
    with FakeEmbeddings(script=[Answer(429, {}, {"Retry-After": when})]) as fake:
        door = http(fake, clock=clock)
        door.post("embeddings", BODY, patience=INDEX)
        door.close()

    assert sum(clock.slept) == pytest.approx(21)


def test_a_question_does_not_wait_for_minutes():
    with FakeEmbeddings(script=[Answer(429, {}, {"Retry-After": "90"})]) as fake:
        clock = FakeClock()
        error = error_of(fake, clock=clock)

    assert isinstance(error, ProviderRateLimited)
    assert (error.retry_after, clock.slept, fake.requests) == (90, [], 1)


def test_one_rate_limit_makes_all_wait():
    """One budget: what one thread learns, the next request of any thread respects."""
    clock = FakeClock()
    with FakeEmbeddings(script=[Answer(429, {}, {"Retry-After": "60"})]) as fake:
        door = http(fake, clock=clock)
        with pytest.raises(ProviderRateLimited):
            door.post("embeddings", BODY, patience=QUERY)
        with pytest.raises(ProviderRateLimited, match="60 s are left"):
            door.post("embeddings", BODY, patience=QUERY)
        assert (clock.monotonic(), fake.requests) == (0, 1)
        door.post("embeddings", BODY, patience=INDEX)
        door.close()

    assert clock.monotonic() == pytest.approx(60)
    assert fake.requests == 2


def test_waits_are_jittered_over_the_whole_range():
    clock = FakeClock()
    with FakeEmbeddings(script=[Answer(500)]) as fake:
        door = http(fake, clock=clock, jitter=lambda: 0.25)
        door.post("embeddings", BODY, patience=QUERY)
        door.close()

    assert sum(clock.slept) == pytest.approx(0.125)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
        Answer(402, {"detail": "no credits"}),
        Answer(403, {"error": {"message": "Billing is not active"}}),
    ],
)
def test_a_used_up_quota_stops_at_once(answer):
    """F110."""
    with FakeEmbeddings(script=[answer] * 5) as fake:
        error = error_of(fake, INDEX)

    assert isinstance(error, ProviderRateLimited)
    assert "quota" in error.cause
    assert fake.requests == 1


@pytest.mark.parametrize(("status", "word"), [(401, "key rejected"), (403, "access denied")])
def test_a_rejected_key_names_the_remedy(status, word):
    """F117, F118: the cause holds what the server said, such as a missing scope."""
    with FakeEmbeddings(
        script=[Answer(status, {"error": {"message": "missing scope embeddings.write"}})]
    ) as fake:
        error = error_of(fake, key_remedy="set OPENAI_API_KEY or remote.apiKey")

    assert isinstance(error, ProviderAuth)
    assert str(error) == (
        f"openai-compatible: {word} ({status}: missing scope embeddings.write);"
        " set OPENAI_API_KEY or remote.apiKey"
    )
    assert fake.requests == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(413, b""), TooLarge),
        (Answer(400, {"error": {"message": "This model's maximum context length is 8192 tokens"}}), TooLarge),
        (Answer(400, {"message": "Too many inputs in request, split into more batches."}), TooLarge),
        (Answer(422, {"error": "batch size 64 > maximum allowed batch size 32"}), TooLarge),
        (Answer(500, {"error": "input is too large to process"}), TooLarge),
        (Answer(429, {"error": {"message": "Request too large for m on tokens per min"}}), TooLarge),
        (Answer(400, {"error": {"message": "invalid input"}}), ProviderRejected),
        (Answer(422, {"detail": [{"msg": "no"}]}), ProviderRejected),
        (Answer(500, {"error": "failed to encode: json: unsupported value: NaN"}), ProviderRejected),
    ],
)
def test_what_the_texts_are_at_fault_for_is_not_tried_again(answer, kind):
    with FakeEmbeddings(script=[answer]) as fake:
        error = error_of(fake, INDEX)

    assert type(error) is kind
    assert fake.requests == 1


def test_a_missing_address_is_not_tried_again():
    with FakeEmbeddings(script=[Answer(404, {"error": {"message": "model m not found"}})]) as fake:
        error = error_of(fake)

    assert isinstance(error, ProviderUnavailable)
    assert "model m not found" in str(error)
    assert "check remote.baseUrl and model" in str(error)
    assert fake.requests == 1


def test_a_slow_answer_ends_in_a_timeout():
    patience = type(QUERY)(0.2, 3, 3, 0.5, 1, 8, 8)
    with FakeEmbeddings(script=[Answer(delay=1.0)]) as fake:
        error = error_of(fake, patience)

    assert isinstance(error, ProviderTimeout)
    assert "within 0.2 s" in str(error)


def test_a_page_of_html_is_no_answer():
    with FakeEmbeddings(script=[Answer(200, b"<html>Please log in to the Wi-Fi</html>")]) as fake:
        error = error_of(fake)

    assert isinstance(error, ProviderBadAnswer)
    assert "no JSON" in str(error)


def test_an_endless_answer_is_cut_off():
    with FakeEmbeddings(script=[Answer(200, b" " * 100_000)]) as fake:
        error = error_of(fake, max_answer=10_000)

    assert isinstance(error, ProviderBadAnswer)
    assert "10,000 bytes" in str(error)


def test_a_redirect_on_the_same_host_keeps_the_body():
    with FakeEmbeddings(script=[Answer(307, b"", {"Location": "/v2/embeddings"})]) as fake:
        door = http(fake)
        door.post("embeddings", BODY, patience=QUERY)
        door.close()

    assert fake.paths == ["/v1/embeddings", "/v2/embeddings"]
    assert fake.bodies == [BODY, BODY]


def test_a_redirect_to_another_host_is_refused():
    """F113: neither texts nor the key follow it."""
    with FakeEmbeddings() as other, FakeEmbeddings() as fake:
        fake.script.append(Answer(307, b"", {"Location": f"{other.url}/embeddings"}))
        error = error_of(fake, headers={"Authorization": f"Bearer {KEY}"})

    assert isinstance(error, ProviderUnavailable)
    assert "redirects to http://127.0.0.1" in str(error)
    assert "refused" in str(error)
    assert (fake.requests, other.requests) == (1, 0)


def test_a_circle_of_redirects_ends():
    with FakeEmbeddings(script=[Answer(308, b"", {"Location": "/v1/embeddings"})] * 20) as fake:
        error = error_of(fake)

    assert "circle" in str(error)
    assert fake.requests == 4


def test_a_cancel_is_heard_while_waiting():
    clock = FakeClock()
    with FakeEmbeddings(script=[Answer(429, {}, {"Retry-After": "60"})] * 3) as fake:
        door = http(fake, clock=clock)
        with pytest.raises(Cancelled):
            door.post("embeddings", BODY, patience=INDEX, cancel=lambda: clock.monotonic() > 10)
        door.close()

    assert clock.monotonic() < 12
    assert fake.requests == 1


# What may be said


def test_a_key_is_in_no_message(caplog):
    caplog.set_level(logging.DEBUG)
    with FakeEmbeddings(
        script=[Answer(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})]
    ) as fake:
        door = http(fake, headers={"Authorization": f"Bearer {KEY}"}, secrets=[KEY])
        with pytest.raises(ProviderAuth) as caught:
            door.post("embeddings", BODY, patience=QUERY)
        shown = [str(caught.value), repr(caught.value), repr(door), caplog.text]
        door.close()

    assert all(KEY not in text for text in shown)
    assert "provided: ***" in shown[0]
    assert "127.0.0.1" in caplog.text, "the log was looked at and not empty"


def test_a_password_in_the_address_is_sent_but_not_shown(caplog):
    caplog.set_level(logging.DEBUG)
    with FakeEmbeddings() as fake:
        door = http(fake, url=f"http://rod:{KEY}@127.0.0.1:{fake.port}/v1")
        door.post("embeddings", BODY, patience=QUERY)
        shown = [repr(door), door.endpoint, caplog.text]
        door.close()

    assert fake.headers[0]["authorization"].startswith("Basic ")
    assert all(KEY not in text and "rod" not in text for text in shown)


def test_a_key_in_the_query_of_the_address_is_refused():
    """It would stand in every line of a log that names the address."""
    with pytest.raises(ProviderUnavailable, match="key in its query") as caught:
        Http("openai-compatible", f"https://host.example/v1?api_key={KEY}")

    assert KEY not in str(caught.value)


@pytest.mark.parametrize("url", ["", "host.example/v1", "ftp://host.example", "http://", "http://host:port/"])
def test_what_is_no_address_is_said(url):
    with pytest.raises(ProviderUnavailable, match=r"remote\.baseUrl"):
        Http("openai-compatible", url)


def test_control_characters_of_a_server_do_not_reach_the_terminal():
    with FakeEmbeddings(script=[Answer(400, {"error": {"message": "bad \x1b[31m\nred\x07"}})]) as fake:
        error = error_of(fake)

    assert "\x1b" not in str(error)
    assert "\n" not in str(error)


def test_a_long_message_is_shortened():
    with FakeEmbeddings(script=[Answer(400, {"error": {"message": "x" * 5000}})]) as fake:
        error = error_of(fake)

    assert len(str(error)) < 400


@pytest.mark.parametrize(
    "name",
    ["Authorization", "X-Api-Key", "api-key", "x-goog-api-key", "Cookie", "X-Auth-Token", "x-session-id"],
)
def test_credentials_are_known_by_their_header(name):
    assert is_secret(name)


def test_only_tenant_headers_identify():
    """F085."""
    headers = {
        "Authorization": "a",
        "X-Api-Key": "b",
        "X-Tenant": "one",
        "User-Agent": "x",
        "Content-Type": "y",
    }

    assert identifying(headers) == {"x-tenant": "one"}


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
    ],
)
def test_this_machine_is_known_by_its_name(host, here):
    assert is_loopback(host) is here


# Proxies


class Proxy(BaseHTTPRequestHandler):
    """Answers every request itself and remembers what it was asked for."""

    protocol_version = "HTTP/1.1"
    seen: list[str]

    def do_POST(self):
        self.seen.append(self.path)
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"data": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def proxy(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    handler = type("Handler", (Proxy,), {"seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.server_address[1]}")
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_proxy_of_the_environment_is_used(proxy):
    """F111."""
    door = Http("openai-compatible", "http://embeddings.example/v1")
    answer = door.post("embeddings", BODY, patience=QUERY)
    door.close()

    assert answer == {"data": []}
    assert proxy.seen == ["http://embeddings.example/v1/embeddings"]


def test_no_proxy_is_obeyed(proxy, monkeypatch):
    """F112."""
    monkeypatch.setenv("NO_PROXY", "embeddings.invalid")

    error = error_of(None, url="http://embeddings.invalid/v1")

    assert isinstance(error, ProviderUnavailable)
    assert proxy.seen == []


def test_this_machine_is_reached_directly(monkeypatch):
    """F112: a dead proxy does not matter for loopback, with or without NO_PROXY."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with FakeEmbeddings() as fake:
        door = http(fake)
        door.post("embeddings", BODY, patience=QUERY)
        door.close()

    assert fake.requests == 1
