//! Which words may stand for one another: forms of a word, compounds and their parts share letters, whatever the language.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::fold::{Class, class};

/// Letters of a gram.
const GRAM: usize = 4;
/// Stand before and after a word in its grams: beginnings and ends tell more than middles.
const EDGES: [char; 2] = ['\u{2}', '\u{3}'];
/// The shortest and the longest word that has kin, in characters.
const SHORTEST: usize = 2;
const LONGEST: usize = 40;

/// Whether `term` is a word that can have kin: letters only, of a script that has words. Numbers and identifiers mean one
/// thing each, and scripts without spaces are indexed by grams anyway.
pub fn has_kin(term: &str) -> bool {
    let letters = |c| matches!(class(c), Class::Lower | Class::Mark);
    let length = if term.is_ascii() { term.len() } else { term.chars().count() };
    (SHORTEST..=LONGEST).contains(&length) && term.chars().all(letters)
}

/// Numbers of the distinct grams of `term`, in order: four letters each, its edges counted as letters; a shorter word is one
/// gram.
pub fn letter_grams(term: &str, keys: &mut Vec<u64>) {
    keys.clear();
    let mut last = ['\0'; GRAM];
    let mut count = 0;
    let [begin, end] = EDGES;
    for letter in std::iter::once(begin).chain(term.chars()).chain([end]) {
        last.rotate_left(1);
        last[GRAM - 1] = letter;
        count += 1;
        if count >= GRAM {
            keys.push(key(last));
        }
    }
    if keys.is_empty() {
        keys.push(key(last));
    }
    keys.sort_unstable();
    keys.dedup();
}

fn key(letters: [char; GRAM]) -> u64 {
    let mut hasher = FxHasher::default();
    letters.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(one: &str, other: &str) -> (usize, usize) {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        letter_grams(one, &mut left);
        letter_grams(other, &mut right);
        (left.iter().filter(|key| right.contains(key)).count(), left.len())
    }

    #[test]
    fn words_have_kin_and_identifiers_have_not() {
        for word in ["harbour", "fristen", "хранение", "ab"] {
            assert!(has_kin(word), "{word}");
        }
        for term in ["a", "", "a828e60", "2026", "retry_index", "東京", "สวัสดี", "한국", &"x".repeat(41)]
        {
            assert!(!has_kin(term), "{term}");
        }
    }

    #[test]
    fn grams_are_letters_with_their_edges() {
        // ^fri fris rist ist$ against ^ver … sfri fris rist ist$
        assert_eq!(shared("frist", "verjahrungsfrist"), (3, 4));
        assert_eq!(shared("frist", "fristen"), (3, 4));
        assert_eq!(shared("in", "in"), (1, 1));
        assert_eq!(shared("in", "ins"), (0, 1));
    }
}
