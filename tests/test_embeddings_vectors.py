"""The one form of a vector."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memgrep.embeddings.vectors import BadVector, mean, pack, unit, unit_from_packed, unpack

numbers = st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50)


@given(numbers)
def test_packed_numbers_come_back(values):
    assert unpack(pack(values)) == values


@given(numbers)
def test_packed_numbers_are_little_endian_f32(values):
    assert pack(values) == struct.pack(f"<{len(values)}f", *values)


@given(numbers.filter(lambda values: sum(value * value for value in values) > 1e-6))
def test_a_unit_vector_has_length_1_and_the_same_direction(values):
    vector = unpack(unit(values))

    assert math.isclose(math.hypot(*vector), 1, abs_tol=1e-5)
    scale = math.hypot(*values)
    assert all(
        math.isclose(got * scale, want, rel_tol=1e-4, abs_tol=1e-4 * scale)
        for got, want in zip(vector, values, strict=True)
    )


def test_a_unit_vector_is_left_bit_for_bit():
    """Most providers normalise already; scaling again would only blur the last bits."""
    vector = unit([0.1, 0.2, 0.3])

    assert unit_from_packed(vector) == vector


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([], "empty"),
        ([0.0, 0.0], "zero"),
        ([1.0, math.nan], "not finite"),
        ([1.0, math.inf], "not finite"),
        ([1e300], "not finite"),
        ([1.0, None], "no number"),
        ([1.0, "0.5"], "no number"),
    ],
)
def test_what_is_no_vector_is_said(values, what):
    """F104: NaN, null and zero never become a stored vector."""
    with pytest.raises(BadVector, match=what):
        unit(values)


def test_bytes_that_are_no_floats_are_said():
    with pytest.raises(BadVector, match="7 bytes"):
        unit_from_packed(b"1234567")


def test_a_cut_vector_has_length_1():
    """F087."""
    assert unpack(unit([3.0, 4.0, 12.0], 2)) == pytest.approx([0.6, 0.8])


def test_a_vector_cannot_be_cut_to_more_than_it_has():
    with pytest.raises(BadVector, match="3 dimensions, 4 were asked for"):
        unit([3.0, 4.0, 12.0], 4)


def test_an_average_is_weighted_and_has_length_1():
    assert unpack(mean([pack([1.0, 0.0]), pack([0.0, 1.0])], [3.0, 4.0])) == pytest.approx([0.6, 0.8])


def test_parts_that_cancel_out_have_no_average():
    with pytest.raises(BadVector, match="zero"):
        mean([pack([1.0, 0.0]), pack([-1.0, 0.0])], [1.0, 1.0])
