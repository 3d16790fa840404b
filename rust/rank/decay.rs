//! Fading with age: what a note's date takes off its score.

use crate::calendar::iso;

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

impl Decay {
    /// The factor for a chunk of so many whole days, above 0 and at most 1.
    ///
    /// Evergreen (`None`), of today or of the future: 1. A half-life that is not above 0 fades nothing.
    ///
    /// ```
    /// use memgrep::rank::decay::Decay;
    ///
    /// let decay = Decay::Exponential { half_life_days: 30.0 };
    /// assert_eq!(decay.factor(Some(30)), 0.5);
    /// assert_eq!(decay.factor(None), 1.0);
    /// ```
    pub fn factor(self, age_days: Option<i64>) -> f64 {
        let Some(age) = age_days.filter(|&age| age > 0) else { return 1.0 };
        match self {
            Self::Off => 1.0,
            Self::Exponential { half_life_days } => halved(age, half_life_days),
            Self::Bounded { half_life_days, floor } => {
                let floor = if floor.is_nan() { 0.0 } else { f64::from(floor).clamp(0.0, 1.0) };
                floor + (1.0 - floor) * halved(age, half_life_days)
            }
        }
    }
}

/// `e^(-ln 2 * age / half_life)`.
fn halved(age: i64, half_life_days: f32) -> f64 {
    if half_life_days > 0.0 { (-(age as f64) / f64::from(half_life_days)).exp2() } else { 1.0 }
}

/// Days since 1970-01-01 of a daily note: `memory/**/YYYY-MM-DD.md` or `YYYY-MM-DD-anything.md` with a real date.
///
/// ```
/// use memgrep::rank::decay::dated;
///
/// assert_eq!(dated("memory/1970-01-31-standup.md"), Some(30));
/// assert_eq!(dated("memory/2026-02-30.md"), None);
/// assert_eq!(dated("MEMORY.md"), None);
/// ```
pub fn dated(path: &str) -> Option<i64> {
    let below = path.strip_prefix("memory/")?;
    let stem = below.rsplit('/').next()?.strip_suffix(".md")?;
    let (date, suffix) = stem.split_at_checked(10)?;
    (suffix.is_empty() || suffix.len() > 1 && suffix.starts_with('-')).then(|| iso(date)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEEDS: Decay = Decay::Exponential { half_life_days: 30.0 };

    #[test]
    fn a_score_halves_every_thirty_days() {
        for (age, factor) in [(0, 1.0), (7, 0.850_667_160_709), (30, 0.5), (90, 0.125), (180, 0.015_625)] {
            assert!((SEEDS.factor(Some(age)) - factor).abs() < 1e-9, "{age} days");
        }
    }

    #[test]
    fn f037_the_future_and_the_undated_do_not_fade() {
        for age in [None, Some(0), Some(-1), Some(i64::MIN)] {
            assert_eq!(SEEDS.factor(age), 1.0);
        }
    }

    #[test]
    fn a_bounded_decay_never_buries_a_fact() {
        let bounded = Decay::Bounded { half_life_days: 30.0, floor: 0.8 };
        assert_eq!(bounded.factor(Some(0)), 1.0);
        assert!((bounded.factor(Some(30)) - 0.9).abs() < 1e-7);
        assert!((bounded.factor(Some(100_000)) - 0.8).abs() < 1e-7);
    }

    #[test]
    fn a_half_life_that_cannot_be_meant_fades_nothing() {
        for half_life_days in [0.0, -5.0, f32::NAN] {
            assert_eq!(Decay::Exponential { half_life_days }.factor(Some(7)), 1.0);
        }
    }

    #[test]
    fn f033_a_leading_date_counts_at_any_depth_below_memory() {
        let day = dated("memory/2026-03-01.md").unwrap();
        assert_eq!(dated("memory/daily/2026-01-30.md"), Some(day - 30));
        assert_eq!(dated("memory/a/b/2026-01-30-x-y.md"), Some(day - 30));
        assert_eq!(dated("notes/2026-01-30.md"), None);
        assert_eq!(dated("notes/memory/2026-01-30.md"), None);
    }

    #[test]
    fn f034_a_suffix_after_the_date_does_not_stop_ageing() {
        let day = dated("memory/2026-03-30.md").unwrap();
        let age = day - dated("memory/2026-02-28-standup.md").unwrap();
        assert_eq!(SEEDS.factor(Some(age)), 0.5);
    }

    #[test]
    fn f035_an_impossible_date_is_an_undated_note() {
        for name in [
            "2026-02-30",
            "2026-13-01",
            "0000-00-00",
            "0000-01-01",
            "2026-00-10",
            "2026-01-00",
            "2023-02-29",
            "1900-02-29",
            "2026-2-3",
            "2026-02-03_x",
            "2026-02-03-",
            "x2026-02-03",
            "+026-02-03",
            "2026/02/03",
            "2026-02-03x",
            "２０２６-02-03",
            "2026-02-é",
            "",
            "\0 𐀀𐀀",
        ] {
            assert_eq!(dated(&format!("memory/{name}.md")), None, "{name}");
        }
    }

    #[test]
    fn only_markdown_notes_are_daily_notes() {
        assert_eq!(dated("memory/2026-02-03.MD"), None);
        assert_eq!(dated("memory/2026-02-03.txt"), None);
        assert_eq!(dated("memory/2026-02-03"), None);
        assert_eq!(dated("MEMORY.md"), None);
    }

    proptest! {
        #[test]
        fn any_path_is_dated_or_not(path in "(memory/)?.{0,20}(\\.md)?") {
            if let Some(days) = dated(&path) {
                prop_assert!(path.starts_with("memory/") && days < 2_932_897);
            }
        }

        #[test]
        fn older_is_never_better(age in 0i64..100_000, half_life_days in 0.1f32..1000.0, floor in 0f32..1.0) {
            for decay in [Decay::Off, Decay::Exponential { half_life_days }, Decay::Bounded { half_life_days, floor }] {
                let (younger, older) = (decay.factor(Some(age)), decay.factor(Some(age + 1)));
                prop_assert!((0.0..=1.0).contains(&older) && older <= younger);
            }
        }
    }
}
