//! The measuring corpus: seeded Markdown notes of 2-4 kB, a year of them, with questions whose right note is known.
//!
//! Made, not fetched: whole-number arithmetic only, so that `benches/corpus.py` makes the same bytes (a test compares
//! the digests). The words are made up and as unevenly spread as real ones; half of the notes are dated, one in
//! twenty is a copy of an earlier one with a few lines changed, and every note carries an identifier of its own.

use std::fs;
use std::path::Path;

/// The seed of every recorded figure.
pub const SEED: u64 = 20_260_131;

/// Distinct words, the commonest first.
const WORDS: u64 = 9_000;
/// Words that belong to one topic.
const TOPIC_WORDS: u64 = 24;
/// Topics; a note is about one.
const TOPICS: u64 = 400;

const COMMON: [&str; 40] = [
    "the", "to", "and", "of", "is", "in", "for", "on", "with", "was", "at", "after", "from", "that", "it",
    "we", "not", "be", "before", "by", "now", "this", "again", "new", "all", "one", "until", "when", "still",
    "first", "as", "but", "more", "next", "time", "every", "needs", "works", "then", "old",
];
const ONSETS: [&str; 20] =
    ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "st", "tr", "pl", "sh"];
const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
const PEOPLE: [&str; 12] =
    ["Ada", "Bram", "Chandra", "Elif", "Farid", "Greta", "Hiro", "Ines", "Kofi", "Lena", "Noor", "Priya"];
const VERBS: [&str; 8] =
    ["moved", "restarted", "measured", "documented", "rolled back", "renamed", "reviewed", "handed over"];
const SLUGS: [&str; 8] =
    ["standup", "incident", "reading", "planning", "retro", "errands", "interview", "design"];

/// One Markdown file.
#[derive(Debug, Clone)]
pub struct Note {
    /// Below the workspace.
    pub path: String,
    /// Its content.
    pub text: String,
    topic: u64,
    /// Stands in this note and its copies only.
    identifier: String,
    copy: bool,
}

/// A question and the note that answers it.
#[derive(Debug, Clone)]
pub struct Question {
    /// `identifier`, `keywords` or `natural`.
    pub kind: &'static str,
    /// What is asked.
    pub text: String,
    /// The right note.
    pub path: String,
}

/// Notes and questions.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// In the order they were made; paths are distinct.
    pub notes: Vec<Note>,
    /// Three kinds in turn.
    pub questions: Vec<Question>,
}

/// SplitMix64 (Steele, Lea and Flood, 2014): eight lines that are the same in every language.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.roll() % n
    }
    /// Small numbers far more often than large ones.
    fn skewed(&mut self, n: u64) -> u64 {
        let outer = self.below(n) + 1;
        let inner = self.below(outer) + 1;
        self.below(inner)
    }
    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// The word of a rank: a common one, else two or three made-up syllables.
fn word(rank: u64) -> String {
    if rank < COMMON.len() as u64 {
        return COMMON[rank as usize].to_owned();
    }
    let mut rest = rank.wrapping_mul(7_919) % 1_000_003;
    let mut word = String::new();
    for _ in 0..3 {
        word.push_str(ONSETS[(rest % 20) as usize]);
        rest /= 20;
        word.push_str(VOWELS[(rest % 5) as usize]);
        rest /= 5;
    }
    word
}

/// A word of the topic: spread over the rarer part of the vocabulary.
fn topic_word(topic: u64, place: u64) -> String {
    word(200 + (topic * TOPIC_WORDS + place) * 37 % (WORDS - 200))
}

fn sentence(dice: &mut Dice, topic: u64) -> String {
    let length = 7 + dice.below(9);
    let words: Vec<String> = (0..length)
        .map(|_| {
            if dice.below(4) == 0 {
                let place = dice.skewed(TOPIC_WORDS);
                topic_word(topic, place)
            } else {
                word(dice.skewed(WORDS))
            }
        })
        .collect();
    let mut text = words.join(" ");
    text.replace_range(0..1, &text[0..1].to_uppercase());
    text.push('.');
    text
}

fn item(dice: &mut Dice, topic: u64) -> String {
    let (person, verb) = (dice.pick(&PEOPLE), dice.pick(&VERBS));
    let place = dice.below(TOPIC_WORDS);
    let what = topic_word(topic, place);
    match dice.below(3) {
        0 => format!("- {person} {verb} the {what} on 10.{}.{}.7", dice.below(200), dice.below(200)),
        1 => format!(
            "- {person} {verb} `{what}_{}` in version {}.{}",
            word(dice.below(900)),
            dice.below(9),
            dice.below(30)
        ),
        _ => format!("- [ ] {person}: {what}, see commit {:07x}", dice.below(0x0fff_ffff)),
    }
}

fn text(dice: &mut Dice, topic: u64, identifier: &str) -> String {
    let length = 2048 + dice.below(2000) as usize;
    let mut text = format!("# {} {}\n\nTicket {identifier}.\n", topic_word(topic, 0), topic_word(topic, 1));
    while text.len() < length {
        let place = dice.below(TOPIC_WORDS);
        text.push_str(&format!("\n## {} {}\n\n", topic_word(topic, place), word(dice.skewed(WORDS))));
        for _ in 0..2 + dice.below(4) {
            text.push_str(&sentence(dice, topic));
            text.push('\n');
        }
        text.push('\n');
        for _ in 0..1 + dice.below(4) {
            text.push_str(&item(dice, topic));
            text.push('\n');
        }
    }
    text
}

/// Days of a non-leap year as `2025-MM-DD`.
fn date(day: u64) -> String {
    let mut rest = day % 365;
    for (month, length) in [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().enumerate() {
        if rest < length {
            return format!("2025-{:02}-{:02}", month + 1, rest + 1);
        }
        rest -= length;
    }
    unreachable!("a year has 365 days")
}

fn path(number: u64, topic: u64) -> String {
    match number {
        0 => "MEMORY.md".to_owned(),
        _ if number.is_multiple_of(2) => format!("memory/topics/{}-{number}.md", topic_word(topic, 0)),
        _ if number / 2 < 365 => format!("memory/{}.md", date(number / 2)),
        _ => {
            let slug = SLUGS[(number / 2 / 365 % 8) as usize];
            format!("memory/{}-{slug}-{number}.md", date(number / 2))
        }
    }
}

/// `count` notes and 300 questions about them.
pub fn corpus(count: usize, seed: u64) -> Corpus {
    let mut dice = Dice(seed);
    let mut notes: Vec<Note> = Vec::with_capacity(count);
    for number in 0..count as u64 {
        let copied = number > 20 && dice.below(20) == 0;
        let note = if copied {
            let original = notes[dice.below(number) as usize].clone();
            let added = item(&mut dice, original.topic);
            Note {
                path: path(number, original.topic),
                text: format!("{}{added}\n", original.text),
                copy: true,
                ..original
            }
        } else {
            let topic = dice.below(TOPICS);
            let identifier = format!("OPS-{}", 10_000 + number);
            let text = text(&mut dice, topic, &identifier);
            Note { path: path(number, topic), text, topic, identifier, copy: false }
        };
        notes.push(note);
    }
    let questions = (0..300).filter_map(|number| question(&mut dice, &notes, number)).collect();
    Corpus { notes, questions }
}

/// A question about a note that is no copy (its copies are as right, and not counted).
fn question(dice: &mut Dice, notes: &[Note], number: u64) -> Option<Question> {
    let note = &notes[dice.below(notes.len() as u64) as usize];
    if note.copy {
        return None;
    }
    let lines: Vec<&str> = note.text.lines().filter(|line| line.ends_with('.') && line.len() > 60).collect();
    let line = lines.get(dice.below(lines.len().max(1) as u64) as usize)?;
    let words: Vec<&str> = line.trim_end_matches('.').split(' ').collect();
    let (kind, text) = match number % 3 {
        0 => ("identifier", note.identifier.clone()),
        1 => ("keywords", words[words.len() - 5..].join(" ")),
        _ => ("natural", format!("what do we know about {}?", words[1..].join(" "))),
    };
    Some(Question { kind, text, path: note.path.clone() })
}

impl Corpus {
    /// Writes the notes below `folder`.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        for note in &self.notes {
            let path = folder.join(&note.path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, &note.text)?;
        }
        Ok(())
    }
    /// FNV-1a over paths, texts and questions: equal for equal corpora, in both languages.
    pub fn digest(&self) -> String {
        let notes = self.notes.iter().flat_map(|note| [&note.path, &note.text]);
        let questions = self.questions.iter().flat_map(|question| [&question.text, &question.path]);
        let bytes = notes.chain(questions).flat_map(|text| text.bytes());
        format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, fnv))
    }
}

fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// A unit vector of the words in `text`: texts that share words are near. For costs, not for meaning.
pub fn vector(text: &str, dims: usize) -> Vec<f32> {
    let mut sums = vec![0f32; dims];
    for word in text.split_whitespace() {
        let mut dice = Dice(word.bytes().fold(0, fnv));
        for _ in 0..8 {
            let place = dice.below(dims as u64) as usize;
            sums[place] += if dice.below(2) == 0 { 1.0 } else { -1.0 };
        }
    }
    let length = sums.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sums.iter().map(|value| value / length).collect()
}
