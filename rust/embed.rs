//! The built-in embedding model: a text's vector is the weighted sum of one row per piece of its words.
//!
//! No network is run: the model is a table made once from a transformer (`models/static/`). The file is mapped and
//! read in place, so opening it costs its checksum and nothing is parsed. All numbers of the file are little endian:
//!
//! ```text
//! 0    8 bytes  magic "MGMSTAT1"
//! 8    7 x u32  dimensions, rows, trie units, length of the id, skip cost, prefix cost, reserved (0)
//! 36   32 bytes BLAKE3 of the whole file with these 32 bytes left out
//! 68   sections, each padded with zeros to a multiple of 64 bytes from the start of the file:
//!      id (UTF-8); trie (u32); piece costs (u32 per row); row scales (f32 per row); rows (i8, dimensions per row)
//! ```
//!
//! A text becomes words and a word becomes pieces by rules that `models/static/tokenise.py` states a second time;
//! `tests/data/static-pieces.json` holds both to the same answer.

mod pieces;
mod words;

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

use self::pieces::{Pieces, Scratch};
use self::words::for_each_word;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"MGMSTAT1";
const HEADER: usize = 68;
const DIGEST: Range<usize> = 36..68;
const ALIGN: usize = 64;
/// More would be a foreign file whose sizes happen to fit.
const MAX_DIMS: usize = 4096;

/// A static token-embedding model.
pub struct StaticModel {
    map: Mmap,
    id: String,
    dims: usize,
    pieces: Pieces,
    scales: Range<usize>,
    rows: Range<usize>,
    /// Buffers of finished calls; each call takes one, so threads never wait for each other's text.
    idle: Mutex<Vec<Scratch>>,
}

impl StaticModel {
    /// Maps the model file and checks its header and its checksum.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is no model of this format or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        #[allow(unsafe_code, reason = "a mapping is only as constant as its file")]
        // SAFETY: the file is package data or a user's model, mapped read-only and replaced only by renaming.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io("read", path))?;
        Self::from_map(map).map_err(|message| Error::Model { path: path.to_owned(), message })
    }

    fn from_map(map: Mmap) -> Result<Self, String> {
        if map.get(..MAGIC.len()) != Some(MAGIC) {
            return Err("not a static embedding model of this version; install memgrep again".into());
        }
        if map.len() < HEADER {
            return Err("the file is cut off; install memgrep again".into());
        }
        let field = |n: usize| u32_at(&map, 8 + 4 * n);
        let [dims, rows, units, id_length] = [0, 1, 2, 3].map(|n| field(n) as usize);
        if !(1..=MAX_DIMS).contains(&dims) {
            return Err(format!("{dims} dimensions are not between 1 and {MAX_DIMS}; install memgrep again"));
        }
        let mut end = HEADER;
        let mut section = |length: Option<usize>| -> Option<Range<usize>> {
            let start = end.checked_next_multiple_of(ALIGN)?;
            end = start.checked_add(length?)?;
            Some(start..end)
        };
        let sections = [
            section(Some(id_length)),
            section(units.checked_mul(4)),
            section(rows.checked_mul(4)),
            section(rows.checked_mul(4)),
            section(rows.checked_mul(dims)),
        ];
        let [Some(id), Some(trie), Some(costs), Some(scales), Some(table)] = sections else {
            return Err("its header states impossible sizes; install memgrep again".into());
        };
        if table.end != map.len() {
            let (is, should) = (map.len(), table.end);
            return Err(format!("{is} bytes long where its header states {should}; install memgrep again"));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&map[..DIGEST.start]).update(&map[DIGEST.end..]);
        if hasher.finalize().as_bytes() != &map[DIGEST] {
            return Err("its checksum does not match, the file is damaged; install memgrep again".into());
        }
        let id = String::from_utf8(map[id].to_vec()).map_err(|_| "its id is not UTF-8".to_owned())?;
        let pieces = Pieces { trie, costs, rows, skip_cost: field(4), prefix_cost: field(5) };
        Ok(Self { map, id, dims, pieces, scales, rows: table, idle: Mutex::default() })
    }

    /// Length of a vector.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Name and revision, for the fingerprint.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Appends the unit vector of `text` to `out`; false (and nothing appended) for a text without a known token.
    ///
    /// The vector is the same to the bit on every call and machine: the rows are added in the order of the text,
    /// and no operation is fused or reordered.
    pub fn embed(&self, text: &str, out: &mut Vec<f32>) -> bool {
        let mut scratch = self.lock_idle().pop().unwrap_or_default();
        let start = out.len();
        out.resize(start + self.dims, 0.0);
        let sum = &mut out[start..];
        for_each_word(text, &mut scratch.word, |word| {
            for &row in self.pieces.of_word(&self.map, word, &mut scratch.cut) {
                self.add_row(row as usize, sum);
            }
        });
        let known = normalise(sum);
        if !known {
            out.truncate(start);
        }
        self.lock_idle().push(scratch);
        known
    }

    /// The rows of the pieces of `text`, in order: what the tokeniser does, for its tests.
    #[cfg(test)]
    fn piece_rows(&self, text: &str) -> Vec<u32> {
        let mut scratch = Scratch::default();
        let mut rows = Vec::new();
        for_each_word(text, &mut scratch.word, |word| {
            rows.extend_from_slice(self.pieces.of_word(&self.map, word, &mut scratch.cut));
        });
        rows
    }

    fn add_row(&self, row: usize, sum: &mut [f32]) {
        let scale = f32::from_bits(u32_at(&self.map, self.scales.start + 4 * row));
        let start = self.rows.start + row * self.dims;
        for (sum, &byte) in sum.iter_mut().zip(&self.map[start..start + self.dims]) {
            *sum += scale * f32::from(byte as i8);
        }
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
        // A panic elsewhere cannot leave a half-written list: it is only pushed to and popped from.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scales `sum` to length 1; false if it has no direction.
fn normalise(sum: &mut [f32]) -> bool {
    let squares: f64 = sum.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let factor = squares.sqrt().recip() as f32;
    if !(squares > 0.0 && factor.is_finite()) {
        return false;
    }
    sum.iter_mut().for_each(|x| *x *= factor);
    true
}

/// The little-endian number at `at`, which must lie inside `bytes`.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    static MODEL: LazyLock<StaticModel> = LazyLock::new(|| StaticModel::open(&shipped()).unwrap());

    fn shipped() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("python/memgrep/data/static.mgm")
    }

    fn vector(text: &str) -> Vec<f32> {
        let mut vector = Vec::new();
        assert!(MODEL.embed(text, &mut vector), "{text:?} has no known piece");
        vector
    }

    fn cosine(left: &str, right: &str) -> f32 {
        vector(left).iter().zip(vector(right)).map(|(left, right)| left * right).sum()
    }

    /// The answer of `answers` that is nearest to the question.
    fn nearest<'a>(question: &str, answers: &[&'a str]) -> &'a str {
        answers.iter().max_by(|a, b| cosine(question, a).total_cmp(&cosine(question, b))).unwrap()
    }

    fn refusal(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.mgm");
        fs::write(&path, bytes).unwrap();
        match StaticModel::open(&path) {
            Ok(_) => panic!("a damaged file was opened"),
            Err(Error::Model { message, .. }) => message,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_question_is_nearest_to_its_answer_in_five_languages() {
        for (question, answers) in [
            (
                "Which database do we use for the billing service?",
                [
                    "Invoices are stored in PostgreSQL.",
                    "Anna's birthday is in June.",
                    "The office moved to Hamburg.",
                ],
            ),
            (
                "Wann hat Oma Geburtstag?",
                [
                    "Großmutter ist am 3. Mai geboren.",
                    "Der Drucker steht im Keller.",
                    "Das Auto braucht neue Reifen.",
                ],
            ),
            ("谁负责数据库备份？", ["备份任务由李雷每周执行。", "午饭吃了面条。", "下周去北京旅游。"]),
            (
                "プリンターの設定方法は？",
                ["印刷装置を設定する手順を書いた。", "昼にラーメンを食べた。", "来週は京都へ旅行する。"],
            ),
            (
                "데이터베이스 백업은 어떻게 하나요?",
                [
                    "데이터베이스를 백업하려면 내보내기를 선택합니다.",
                    "점심에 국수를 먹었다.",
                    "다음 주에 부산으로 여행을 간다.",
                ],
            ),
        ] {
            assert_eq!(nearest(question, &answers), answers[0], "{question}");
        }
    }

    #[test]
    fn a_german_question_finds_the_english_note() {
        let notes =
            ["The printer is on the second floor.", "Lunch is at noon.", "The train to Berlin was late."];
        assert_eq!(nearest("Wo steht der Drucker?", &notes), notes[0]);
    }

    #[test]
    fn case_width_and_composition_do_not_matter() {
        let plain = vector("Über Router");
        for same in ["über router", "ÜBER ROUTER", "U\u{308}ber Router", "Über Ｒｏｕｔｅｒ", "…über—router!"]
        {
            assert_eq!(vector(same), plain, "{same}");
        }
    }

    #[test]
    fn an_identifier_is_its_parts() {
        assert_eq!(vector("memorySearch"), vector("memory search"));
        assert_eq!(vector("retry_index"), vector("retry index"));
    }

    #[test]
    fn a_text_without_a_known_piece_has_no_vector() {
        for text in ["", " \n\t", "!?…", "\0", "🦀", "\u{200b}"] {
            let mut vectors = vec![1.0];
            assert!(!MODEL.embed(text, &mut vectors), "{text:?}");
            assert_eq!(vectors, [1.0], "{text:?}");
        }
    }

    #[test]
    fn pieces_are_those_of_the_reference() {
        let sample =
            fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/static-pieces.json")).unwrap();
        let sample: serde_json::Value = serde_json::from_slice(&sample).unwrap();
        assert_eq!(
            sample["model"],
            MODEL.id(),
            "the sample is of another model: run models/static/golden.py"
        );
        let texts = sample["texts"].as_array().unwrap();
        assert!(texts.len() >= 20);
        for text in texts {
            let rows: Vec<u64> =
                text["rows"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap()).collect();
            let ours: Vec<u64> =
                MODEL.piece_rows(text["text"].as_str().unwrap()).into_iter().map(u64::from).collect();
            assert_eq!(ours, rows, "{}", text["text"]);
        }
    }

    #[test]
    fn threads_and_earlier_texts_change_nothing() {
        let texts =
            ["router VLAN 10", "Verjährungsfrist", "数据库备份", "e\u{301}te\u{301}", &"word ".repeat(500)];
        let alone = texts.map(|text| {
            let mut vector = Vec::new();
            StaticModel::open(&shipped()).unwrap().embed(text, &mut vector);
            vector
        });
        std::thread::scope(|scope| {
            for shift in 0..4 {
                let (texts, alone) = (&texts, &alone);
                scope.spawn(move || {
                    for n in 0..50 {
                        let n = (n + shift) % texts.len();
                        assert_eq!(vector(texts[n]), alone[n]);
                    }
                });
            }
        });
    }

    #[test]
    fn a_missing_file_is_an_io_error() {
        let result = StaticModel::open(Path::new("no/such/model.mgm"));
        assert!(matches!(result, Err(Error::Io { action: "open", .. })));
    }

    #[test]
    fn a_foreign_file_is_refused() {
        for foreign in [&b""[..], b"MGM", b"PK\x03\x04 a wheel, perhaps", b"MGMSTAT2 of the future"] {
            assert!(refusal(foreign).contains("not a static embedding model"));
        }
    }

    #[test]
    fn a_truncated_file_is_refused() {
        let bytes = fs::read(shipped()).unwrap();
        for length in [8, 20, HEADER - 1, HEADER, 1000, bytes.len() / 2, bytes.len() - 1] {
            let message = refusal(&bytes[..length]);
            assert!(message.contains("cut off") || message.contains("bytes long"), "{length}: {message}");
        }
    }

    #[test]
    fn one_flipped_bit_anywhere_is_noticed() {
        let bytes = fs::read(shipped()).unwrap();
        let last = bytes.len() - 1;
        for at in [8, 13, 21, 28, 36, 67, 70, 130, 500_000, last / 2, last] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(refusal(&damaged).contains("install memgrep again"), "byte {at}");
        }
    }

    #[test]
    fn wrong_numbers_under_a_right_checksum_do_not_panic() {
        let bytes = fs::read(shipped()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.mgm");
        for seed in 1..5_usize {
            let mut wild = bytes.clone();
            // The trie and the costs lie in the first part of the file.
            for (n, byte) in wild[128..900_000].iter_mut().enumerate().filter(|(n, _)| n % 7 == seed) {
                *byte ^= (n * seed) as u8;
            }
            let mut hasher = blake3::Hasher::new();
            hasher.update(&wild[..DIGEST.start]).update(&wild[DIGEST.end..]);
            wild[DIGEST].copy_from_slice(hasher.finalize().as_bytes());
            fs::write(&path, wild).unwrap();
            let model = StaticModel::open(&path).unwrap();
            let mut vector = Vec::new();
            let known = model.embed("Wo steht der Drucker? 数据库备份 memorySearch 2026-02-10", &mut vector);
            assert_eq!(vector.len(), if known { model.dims() } else { 0 });
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_unit_vector_or_none(text in ".{0,200}") {
            let mut vectors = vec![7.0];
            let known = MODEL.embed(&text, &mut vectors);
            prop_assert_eq!(vectors[0], 7.0);
            if known {
                let squares: f32 = vectors[1..].iter().map(|x| x * x).sum();
                prop_assert_eq!(vectors.len(), 1 + MODEL.dims());
                prop_assert!((squares - 1.0).abs() < 1e-4, "{}", squares);
            } else {
                prop_assert_eq!(vectors.len(), 1);
            }
        }

        #[test]
        fn the_order_of_sentences_hardly_matters(words in proptest::collection::vec("[a-z]{1,8}", 1..20)) {
            let mut reversed = words.clone();
            reversed.reverse();
            let (there, back) = (words.join(" "), reversed.join(" "));
            prop_assert!(cosine(&there, &back) > 0.999);
        }
    }
}
