"""How local models get here, with a hub on loopback."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from memgrep.embeddings import download
from memgrep.embeddings.download import hub_plan, installed, pull, remove, verify
from memgrep.embeddings.models import File, Known, Wanted, locate, parse
from memgrep.errors import ProviderUnavailable

FILES = {
    "onnx/model_quantized.onnx": b"graph" * 1000,
    "tokenizer.json": b"{}",
    "config.json": b'{"max_position_embeddings": 64}',
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def known(files=FILES):
    rows = tuple(
        File(name, hashlib.sha256(data).hexdigest(), len(data))
        for name, data in files.items()
        if name != "config.json"
    )
    return Known("tiny", "org/tiny", "org/tiny-onnx", COMMIT, rows, "MIT", 8, 64, "mean")


def wanted(row=None):
    row = row or known()
    return Wanted(row.name, repo=row.repo, revision=row.revision, known=row)


class Source:
    """A place to download from; counts, and may give wrong bytes or break off."""

    def __init__(self, files=FILES):
        self.files = dict(files)
        self.asked = []
        self.breaks_at = None

    def __call__(self, repo, file, revision, folder):
        self.asked.append((repo, file, revision))
        if file == self.breaks_at:
            raise ProviderUnavailable("local", "cut off")
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.files[file])


def test_a_pulled_model_is_found(tmp_path):
    source, said = Source(), []

    model = pull(wanted(), tmp_path, environ={}, download=source, announce=said.append)

    assert (model.name, model.revision, model.problems) == ("tiny", COMMIT, ())
    assert locate(wanted(), tmp_path, {}).graph.read_bytes() == FILES["onnx/model_quantized.onnx"]
    assert {revision for _, _, revision in source.asked} == {COMMIT}
    assert said == ["org/tiny-onnx at 0123456789ab: 2 files, 0.0 MB"]
    assert [entry.name for entry in installed(tmp_path)] == ["tiny"]


def test_a_model_that_is_there_is_not_pulled_again(tmp_path):
    pull(wanted(), tmp_path, environ={}, download=Source())
    again = Source()

    pull(wanted(), tmp_path, environ={"HF_HUB_OFFLINE": "1"}, download=again)

    assert again.asked == []


def test_wrong_bytes_are_thrown_away(tmp_path):
    source = Source(FILES | {"tokenizer.json": b"[]"})

    with pytest.raises(ProviderUnavailable, match=r"tokenizer\.json: not the file we know"):
        pull(wanted(), tmp_path, environ={}, download=source)

    assert installed(tmp_path) == []
    assert not list(tmp_path.rglob("tokenizer.json"))


def test_an_interrupted_pull_is_no_model_and_goes_on(tmp_path):
    source = Source()
    source.breaks_at = "tokenizer.json"
    with pytest.raises(ProviderUnavailable, match="cut off"):
        pull(wanted(), tmp_path, environ={}, download=source)
    assert installed(tmp_path) == []

    source.breaks_at = None
    assert pull(wanted(), tmp_path, environ={}, download=source).problems == ()


def test_offline_is_obeyed(tmp_path):
    source = Source()

    with pytest.raises(ProviderUnavailable, match="HF_HUB_OFFLINE is set"):
        pull(wanted(), tmp_path, environ={"HF_HUB_OFFLINE": "1"}, download=source)

    assert source.asked == []


def test_too_little_room_is_said_before_anything_is_loaded(tmp_path):
    huge = known()
    files = (File("onnx/model_quantized.onnx", "0" * 64, 10**18), *huge.files[1:])
    row = Known("tiny", "org/tiny", "org/tiny-onnx", COMMIT, files, "MIT", 8, 64, "mean")
    source = Source()

    with pytest.raises(ProviderUnavailable, match="MB are free"):
        pull(wanted(row), tmp_path, environ={}, download=source)

    assert source.asked == []


def test_damage_is_seen_and_mended(tmp_path):
    model = pull(wanted(), tmp_path, environ={}, download=Source())
    graph = model.folder / "onnx" / "model_quantized.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"!")
    (model.folder / "tokenizer.json").unlink()

    assert set(verify(model.folder).problems) == {
        "onnx/model_quantized.onnx is damaged",
        "tokenizer.json is missing",
    }

    said = []
    assert pull(wanted(), tmp_path, environ={}, download=Source(), announce=said.append).problems == ()
    assert "downloading it again" in said[0]


def test_a_removed_model_is_gone(tmp_path):
    model = pull(wanted(), tmp_path, environ={}, download=Source())

    remove(model)

    assert installed(tmp_path) == []
    assert not model.folder.exists()


def test_only_a_model_of_ours_is_removed(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()

    with pytest.raises(ProviderUnavailable, match="no model of ours"):
        remove(download.Installed("notes", folder, "", 0))

    assert folder.is_dir()


def test_a_path_cannot_be_pulled(tmp_path):
    with pytest.raises(ProviderUnavailable, match="is a path"):
        pull(parse(str(tmp_path)), tmp_path)


# The hub's own library, against a hub on loopback


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as a download needs."""

    protocol_version = "HTTP/1.1"
    files = FILES
    seen: list[str]

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.seen.append(f"{self.command} {self.path}")
        if self.path.startswith("/api/models/org/tiny-onnx"):
            siblings = [
                {
                    "rfilename": name,
                    "size": len(data),
                    "lfs": {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 1},
                }
                for name, data in self.files.items()
            ]
            self._answer(
                json.dumps({"id": "org/tiny-onnx", "sha": COMMIT, "siblings": siblings}).encode(), {}
            )
            return
        name = self.path.partition(f"/resolve/{COMMIT}/")[2]
        if name not in self.files:
            self._answer(b"no such file", {"X-Error-Code": "EntryNotFound"}, 404)
            return
        data = self.files[name]
        digest = hashlib.sha256(data).hexdigest()
        self._answer(data, {"ETag": f'"{digest}"', "X-Repo-Commit": COMMIT})

    def _answer(self, body, headers, status=200):
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def hub(monkeypatch):
    library = pytest.importorskip(
        "huggingface_hub", reason="huggingface-hub is not installed (memgrep[local])"
    )
    handler = type("Handler", (Hub,), {"seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    yield handler
    library.close_session()
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_hubs_library_fetches_the_pinned_files(hub, tmp_path):
    model = pull(wanted(), tmp_path / "cache", environ={})

    assert model.problems == ()
    assert (model.folder / "tokenizer.json").read_bytes() == b"{}"
    assert sorted(path.name for path in model.folder.iterdir()) == [
        "memgrep-model.json",
        "onnx",
        "tokenizer.json",
    ]
    assert hub.seen
    assert [line for line in hub.seen if "/org/tiny-onnx/resolve/" not in line] == []


def test_any_repository_can_be_pulled(hub, tmp_path):
    """Its files are pinned to the commit the hub names, and to the digests it gives."""
    model = pull(parse("hf:org/tiny-onnx"), tmp_path / "cache", environ={})

    assert (model.revision, model.problems) == (COMMIT, ())
    assert locate(parse("hf:org/tiny-onnx"), tmp_path / "cache", {}).window == 64


def test_a_file_the_hub_does_not_have_is_said(hub, tmp_path):
    row = known(FILES | {"onnx/other.onnx": b"x"})

    with pytest.raises(ProviderUnavailable, match=r"org/tiny-onnx/onnx/other\.onnx"):
        pull(wanted(row), tmp_path / "cache", environ={})


def test_a_repository_without_a_model_is_said(hub):
    hub.files = {"README.md": b"x"}

    with pytest.raises(ProviderUnavailable, match="holds no ONNX model"):
        hub_plan(parse("hf:org/tiny-onnx"))
