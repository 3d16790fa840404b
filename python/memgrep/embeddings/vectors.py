"""The one form of a vector: packed little-endian `f32`, of length 1.

A provider's numbers are packed once, here; SQLite keeps them and the engines read them as they are. Length 1
makes vectors of all providers alike, and averages and cuts of them too. Nothing here needs numpy.
"""

import sys
from array import array
from collections.abc import Iterable, Sequence
from math import isfinite, sqrt
from operator import mul

# A vector this close to length 1 is left bit for bit as it came.
_UNIT_TOLERANCE = 1e-6


class BadVector(ValueError):
    """Numbers that cannot be a vector; the message says what is wrong with them."""


def pack(values: Iterable[float]) -> bytes:
    """The numbers as little-endian `f32`, unchecked and not scaled."""
    return _little_endian(array("f", values)).tobytes()


def unpack(vector: bytes) -> list[float]:
    """The numbers of a packed vector."""
    values = array("f")
    values.frombytes(vector)
    return _little_endian(values).tolist()


def unit(values: Iterable[float], dims: int | None = None) -> bytes:
    """The numbers scaled to length 1 and packed; with `dims`, only the first `dims` of them.

    Cutting is meant for models trained so that the front of a vector is a vector too (Matryoshka).

    Raises:
        BadVector: empty, too short for `dims`, zero, or with something that is no finite number in it.
    """
    try:
        numbers = array("f", values)
    except (TypeError, OverflowError) as error:
        raise BadVector("holds something that is no number") from error
    if dims is not None:
        if len(numbers) < dims:
            raise BadVector(f"has {len(numbers)} dimensions, {dims} were asked for")
        numbers = numbers[:dims]
    return _little_endian(_scaled(numbers)).tobytes()


def unit_from_packed(vector: bytes, dims: int | None = None) -> bytes:
    """`unit` of a vector that came packed."""
    if len(vector) % 4:
        raise BadVector(f"{len(vector)} bytes are no list of 32-bit floats")
    return unit(unpack(vector), dims)


def mean(vectors: Sequence[bytes], weights: Sequence[float]) -> bytes:
    """The weighted average of packed vectors of one length, scaled to length 1.

    Raises:
        BadVector: they cancel each other out.
    """
    columns = zip(*(unpack(vector) for vector in vectors), strict=True)
    return unit(sum(map(mul, column, weights)) for column in columns)


def _scaled(numbers: "array[float]") -> "array[float]":
    if not numbers:
        raise BadVector("is empty")
    square = sum(map(mul, numbers, numbers))
    if not isfinite(square):
        raise BadVector("holds a number that is not finite")
    if square == 0:
        raise BadVector("is zero")
    if abs(square - 1) < _UNIT_TOLERANCE:
        return numbers
    length = sqrt(square)
    return array("f", [number / length for number in numbers])


def _little_endian(values: "array[float]") -> "array[float]":
    if sys.byteorder == "big":
        values = array("f", values)
        values.byteswap()
    return values
