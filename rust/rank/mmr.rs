//! See the module head of `rank`.
