//! The time a question names: notes of that time rise, and none is left out.

/// How far notes of the asked time rise: so much where the time is a small part of the question …
const LEAST_LIFT: f32 = 0.2;
/// … and so much where nothing but the time is asked for.
const MOST_LIFT: f32 = 0.7;
/// What is left of it on the first day outside.
const OUTSIDE: f32 = 0.5;
/// Days outside that still count: a quarter of the asked time, within these bounds.
const NEAR_DAYS: (i64, i64) = (3, 7);

/// What the notes of the asked time are lifted by, `share` being the part of the question's words that name the time.
///
/// The words of a date stand in few notes of that day. The more of a question they make up, the less the other words can
/// say which notes are meant: "what did we decide last Tuesday" asks for all of Tuesday's.
pub fn most_lift(share: f32) -> f32 {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    LEAST_LIFT + (MOST_LIFT - LEAST_LIFT) * share
}

/// How near a note is to a time of `days` days, `distance` days outside of it: 1 inside, falling from a half to 0 in the
/// days around it, since what happened is often written down a little later.
///
/// ```
/// use memgrep::rank::temporal::nearness;
///
/// assert_eq!([0, 1, 3, 4].map(|distance| nearness(distance, 1)), [1.0, 0.375, 0.125, 0.0]);
/// ```
pub fn nearness(distance: i64, days: i64) -> f32 {
    if distance <= 0 {
        return 1.0;
    }
    let near = (days / 4).clamp(NEAR_DAYS.0, NEAR_DAYS.1) as f32;
    OUTSIDE * (1.0 - distance as f32 / (near + 1.0)).max(0.0)
}

/// `score + lift · (1 − score)`: the way from a score of 0..1 to 1, so that a note without any word of the question rises too
/// and none gets beyond 1.
pub(super) fn lifted(score: f64, lift: f64) -> f64 {
    let lift = if lift.is_nan() { 0.0 } else { lift.clamp(0.0, 1.0) };
    score + lift * (1.0 - score).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_more_of_a_question_is_its_time_the_more_the_time_counts() {
        assert_eq!([0.0, -1.0, f32::NAN].map(most_lift), [LEAST_LIFT; 3]);
        assert!([1.0, 7.0].map(most_lift).iter().all(|lift| (lift - MOST_LIFT).abs() < 1e-6));
        assert!(most_lift(0.2) < most_lift(0.3));
    }

    #[test]
    fn a_longer_time_has_wider_edges() {
        assert_eq!(nearness(5, 1), 0.0);
        assert!(nearness(5, 31) > 0.0);
        assert_eq!(nearness(8, i64::MAX), 0.0);
    }

    proptest! {
        #[test]
        fn a_lifted_score_is_never_lower_and_never_above_one(score in 0f64..=1.0, lift in 0f64..=1.0) {
            let lifted = lifted(score, lift);
            prop_assert!((score..=1.0).contains(&lifted));
        }

        #[test]
        fn farther_is_never_nearer(distance in any::<i64>(), days in 1i64..4000) {
            prop_assume!(distance < i64::MAX);
            let (nearer, farther) = (nearness(distance, days), nearness(distance + 1, days));
            prop_assert!((0.0..=1.0).contains(&farther) && farther <= nearer);
        }
    }
}
