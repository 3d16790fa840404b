"""Writes and reads the model file; the layout is described in `rust/embed.rs`."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from blake3 import blake3

MAGIC = b"MGMSTAT1"
ALIGN = 64
ROW = 1 << 31
"""Marks a unit that is a row, which then no label equals."""


def double_array(pieces: Sequence[bytes]) -> np.ndarray:
    """The trie of `pieces` as units; the row of a piece is its place in `pieces`."""
    order = sorted(range(len(pieces)), key=lambda row: pieces[row])
    units = np.zeros(1 << 24, dtype=np.uint32)
    used = np.zeros(1 << 24, dtype=bool)
    taken_offsets: set[int] = set()
    used[0] = True
    first_free, end = 1, 1
    stack = [(0, len(order), 0, 0)]
    while stack:
        low, high, depth, node = stack.pop()
        children, ends_here = [], None
        at = low
        while at < high:
            piece = pieces[order[at]]
            if len(piece) == depth:
                ends_here = order[at]
                at += 1
                continue
            label, start = piece[depth], at
            while at < high and pieces[order[at]][depth] == label:
                at += 1
            children.append((label, start, at))
        labels = ([0] if ends_here is not None else []) + [label for label, _, _ in children]
        while used[first_free]:
            first_free += 1
        free = first_free
        while True:
            offset = free ^ labels[0]
            if offset and offset not in taken_offsets and not any(used[offset ^ label] for label in labels):
                break
            free += 1
            while used[free]:
                free += 1
        taken_offsets.add(offset)
        units[node] |= np.uint32(offset << 9)
        if ends_here is not None:
            units[node] |= np.uint32(0x100)
            units[offset], used[offset] = ROW | ends_here, True
            end = max(end, offset + 1)
        for label, start, stop in children:
            child = offset ^ label
            units[child], used[child] = label, True
            end = max(end, child + 1)
            stack.append((start, stop, depth + 1, child))
    return units[:end].copy()


def quantise(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`rows` as int8 with one scale per row, so that scale x int8 is the nearest value."""
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def write(
    path: Path,
    name: str,
    pieces: Sequence[str],
    costs: Sequence[int],
    rows: np.ndarray,
    *,
    skip_cost: int,
    prefix_cost: int,
) -> None:
    """Writes the model file of `rows` (one per piece, f32)."""
    table, scales = quantise(rows)
    trie = double_array([piece.encode() for piece in pieces])
    sections = [
        name.encode(), trie.astype("<u4").tobytes(), np.asarray(costs, "<u4").tobytes(),
        scales.astype("<f4").tobytes(), table.tobytes(),
    ]  # fmt: skip
    head = MAGIC + struct.pack(
        "<7I", rows.shape[1], len(pieces), len(trie), len(sections[0]), skip_cost, prefix_cost, 0
    )
    body, at = b"", len(head) + 32
    for section in sections:
        padding = bytes(-at % ALIGN)
        body += padding + section
        at += len(padding) + len(section)
    path.write_bytes(head + blake3(head + body).digest() + body)


class Model:
    """A model file, read back."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        if data[:8] != MAGIC or blake3(data[:36] + data[68:]).digest() != data[36:68]:
            raise ValueError(f"{path}: not a model file, or damaged")
        dims, rows, units, id_length, self.skip_cost, self.prefix_cost, _ = struct.unpack_from("<7I", data, 8)
        at = 68
        sections = []
        for length in (id_length, 4 * units, 4 * rows, 4 * rows, dims * rows):
            at += -at % ALIGN
            sections.append(data[at : at + length])
            at += length
        self.name = sections[0].decode()
        self.costs = np.frombuffer(sections[2], "<u4")
        scales = np.frombuffer(sections[3], "<f4")
        self.rows = np.frombuffer(sections[4], np.int8).reshape(rows, dims) * scales[:, None]
        self.pieces = _pieces(np.frombuffer(sections[1], "<u4"), rows)


def _pieces(units: np.ndarray, rows: int) -> list[str]:
    found = [""] * rows
    trie = units.tolist()
    stack = [(trie[0], b"")]
    while stack:
        unit, piece = stack.pop()
        offset = (unit & (ROW - 1)) >> 9
        if unit & 0x100:
            found[trie[offset] & (ROW - 1)] = piece.decode()
        for label in range(1, 256):
            child = offset ^ label
            if child < len(trie) and trie[child] & (ROW | 0xFF) == label:
                stack.append((trie[child], piece + bytes([label])))
    return found
