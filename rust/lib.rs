//! The core of memgrep: text and numbers in, ranked hits out.
//!
//! ```text
//! files ── scan ──> note ── chunk ──> store ──> lexical, vector      (writing)
//! question ── text ──> lexical ┐
//!          ── vector ──────────┼─> rank ──> snippet ──> hits         (reading)
//!          ── when ────────────┘
//! ```
//!
//! No clock, environment, network or home directory in here: today's date, paths, vectors and settings are arguments.
#![warn(missing_docs)]

pub mod calendar;
pub mod chunk;
pub mod embed;
pub mod error;
pub mod index;
pub mod lexical;
pub mod note;
pub mod rank;
pub mod scan;
pub mod snippet;
pub mod store;
pub mod syntax;
pub mod text;
pub mod vector;
pub mod when;

#[cfg(feature = "python")]
mod python;
