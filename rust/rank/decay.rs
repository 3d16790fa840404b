//! Fading with age.

/// The rule of fading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decay {
    /// Age does not count.
    Off,
    /// `e^(-ln 2 * age / half_life)`, the seeds' formula to the letter.
    Exponential {
        /// Days until a score has halved, above 0.
        half_life_days: f32,
    },
    /// The same, but never below `floor`: `floor + (1 - floor) * e^(-ln 2 * age / half_life)`.
    Bounded {
        /// Days until half of the way to the floor.
        half_life_days: f32,
        /// 0..1.
        floor: f32,
    },
}

/// Days since 1970-01-01 of a daily note: `memory/**/YYYY-MM-DD.md` or `YYYY-MM-DD-anything.md` with a real date.
pub fn dated(_path: &str) -> Option<i64> {
    todo!()
}
