//! The default engine: a scan over contiguous int8 codes, the best rescored with the exact vectors.
