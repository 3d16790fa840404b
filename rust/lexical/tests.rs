use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use tantivy::fieldnorm::FieldNormReader;

use super::*;
use crate::text::{characters, for_each_term, is_ideographic, query_terms};

const EVERYWHERE: &dyn Fn(u64, Facts) -> bool = &|_, _| true;

/// A chunk of the tests: id, text, context, path, source.
#[derive(Debug, Clone)]
struct Entry(u64, String, String, String, u8);

impl Entry {
    fn new(id: u64, text: &str) -> Self {
        Self(id, text.to_owned(), String::new(), format!("memory/{id}.md"), 0)
    }

    fn chunk(&self) -> LexicalChunk<'_> {
        let facts = Facts { source: self.4, ..Facts::default() };
        LexicalChunk { id: self.0, text: &self.1, context: &self.2, path: &self.3, facts }
    }
}

fn add(lexical: &mut Lexical, entries: &[Entry]) {
    lexical.add(&entries.iter().map(Entry::chunk).collect::<Vec<_>>()).unwrap();
}

/// An index of `texts`, whose ids are their places.
fn index(folder: &Path, texts: &[&str]) -> Lexical {
    let mut lexical = Lexical::open(folder).unwrap();
    let entries: Vec<Entry> =
        texts.iter().enumerate().map(|(id, text)| Entry::new(id as u64, text)).collect();
    add(&mut lexical, &entries);
    lexical.commit(1).unwrap();
    lexical
}

fn search(lexical: &Lexical, query: &str) -> Vec<LexicalHit> {
    lexical.pass(&query_terms(query)).unwrap().top(1000, EVERYWHERE)
}

fn ids(hits: &[LexicalHit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.id).collect()
}

/// Ids of the hits for `query` among `texts`, best first.
fn found(texts: &[&str], query: &str) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    ids(&search(&index(folder.path(), texts), query))
}

/// How often `term` stands in `text`: as a word, as a piece of an identifier.
fn occurrences(text: &str, term: &str) -> (f64, f64) {
    let (mut words, mut pieces) = (0.0, 0.0);
    for_each_term(text, &mut |found| match found.text == term {
        true if found.piece => pieces += 1.0,
        true => words += 1.0,
        false => {}
    });
    (words, pieces)
}

/// The score written down a second time, from the texts alone: BM25 of every chunk, weighed by what its note covers.
fn reference(entries: &[Entry], query: &[QueryTerm]) -> BTreeMap<u64, f64> {
    let length = |entry: &Entry| {
        let mut terms = 0;
        for_each_term(&entry.1, &mut |_| terms += 1);
        f64::from(FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(terms)))
    };
    let count = |entry: &Entry, term: &str| {
        let Entry(_, text, context, path, _) = entry;
        let (words, pieces) = occurrences(text, term);
        let all = |text: &str| {
            let (words, pieces) = occurrences(text, term);
            words + pieces
        };
        words
            + f64::from(bm25::PIECE_WEIGHT) * pieces
            + f64::from(bm25::CONTEXT_WEIGHT) * all(context)
            + f64::from(bm25::PATH_WEIGHT) * all(path.strip_suffix(".md").unwrap_or(path))
    };
    let total = entries.len() as f64;
    let average = (entries.iter().map(length).sum::<f64>() / total).max(1.0);
    let holding = |term: &str| entries.iter().filter(|entry| count(entry, term) > 0.0).count() as f64;
    let more = characters(query);
    let known: Vec<(&str, f64)> = query
        .iter()
        .chain(&more)
        .map(|term| {
            let gram = if is_ideographic(&term.text) { 0.6 } else { 1.0 };
            (&term.text[..], holding(&term.text), gram * f64::from(term.weight))
        })
        .filter(|&(_, holding, _)| holding > 0.0)
        .map(|(term, holding, weight)| {
            (term, weight * (1.0 + (total - holding + 0.5) / (holding + 0.5)).ln())
        })
        .collect();
    let covered = |path: &String| {
        let note: Vec<&Entry> = entries.iter().filter(|entry| entry.3 == *path).collect();
        let held = |term: &str| note.iter().any(|entry| count(entry, term) >= 1.0);
        let held: f64 = known.iter().filter(|(term, _)| held(term)).map(|(_, idf)| idf).sum();
        held / known.iter().map(|(_, idf)| idf).sum::<f64>()
    };
    let gain = f64::from(bm25::COVERAGE);
    let mut scores = BTreeMap::new();
    for entry in entries {
        let norm = 1.2 * (1.0 - 0.8 + 0.8 * length(entry) / average);
        let share = |term| count(entry, term) / (count(entry, term) + norm);
        let bm25: f64 = known.iter().map(|&(term, idf)| idf * share(term)).sum();
        if bm25 > 0.0 {
            scores.insert(entry.0, bm25 * (1.0 + gain * covered(&entry.3).powi(4)));
        }
    }
    scores
}

#[track_caller]
fn assert_agrees(lexical: &Lexical, entries: &[Entry], query: &str) {
    let terms = query_terms(query);
    let expected = reference(entries, &terms);
    let mut pass = lexical.pass(&terms).unwrap();
    let hits = pass.top(usize::MAX, EVERYWHERE);
    assert_eq!(hits.len(), expected.len(), "{query}");
    assert!(hits.is_sorted_by(|one, next| one.bm25 > next.bm25 || one.bm25 == next.bm25 && one.id < next.id));
    for hit in &hits {
        let right = expected[&hit.id];
        assert!(
            (f64::from(hit.bm25) - right).abs() < 1e-4 * right.max(1.0),
            "{query}: {hit:?} is not {right}"
        );
        assert!(hit.bm25 > 0.0 && hit.bm25 <= pass.ceiling() * (1.0 + bm25::COVERAGE));
    }
    let all: Vec<u64> = entries.iter().map(|entry| entry.0).collect();
    for (id, score) in all.iter().zip(pass.scores(&all).unwrap()) {
        let none = LexicalHit { id: *id, bm25: 0.0, held: false };
        assert_eq!(score, hits.iter().find(|hit| hit.id == *id).copied().unwrap_or(none));
    }
    for limit in [0, 1, 3, 40] {
        assert_eq!(pass.top(limit, EVERYWHERE), hits[..limit.min(hits.len())]);
    }
}

fn corpus(size: usize) -> impl Strategy<Value = Vec<(String, String)>> {
    let words = || {
        proptest::collection::vec(
            prop_oneof!["[abc]", "[a-f]{2}", "[abc]_[a-f]{2}", "x_y", "東京都", "Zed"],
            0..30,
        )
        .prop_map(|words| words.join(" "))
    };
    proptest::collection::vec((words(), prop_oneof![Just(String::new()), words()]), 1..size)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn scores_are_those_of_the_formula_after_every_change(
        corpus in corpus(60), removed in proptest::collection::vec(0_usize..60, 0..40), query in "[abc]( [a-f]{2}){0,3} x_y 京都 zed memory nowhere"
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut lexical = Lexical::open(folder.path()).unwrap();
        let mut entries = Vec::new();
        for (number, (text, context)) in corpus.into_iter().enumerate() {
            entries.push(Entry(number as u64 * 3, text, context, format!("memory/a{}.md", number % 5), 0));
            add(&mut lexical, &entries[number..]);
            if number % 20 == 19 {
                lexical.commit(number as u64).unwrap();
            }
        }
        lexical.commit(100).unwrap();
        assert_agrees(&lexical, &entries, &query);

        let gone: Vec<u64> = removed.iter().map(|&number| number as u64 * 3).collect();
        lexical.remove(&gone).unwrap();
        lexical.commit(101).unwrap();
        entries.retain(|entry| !gone.contains(&entry.0));
        assert_eq!(lexical.len(), entries.len());
        if entries.is_empty() {
            assert!(search(&lexical, &query).is_empty());
        } else {
            assert_agrees(&lexical, &entries, &query);
            assert_agrees(&Lexical::open(folder.path()).unwrap(), &entries, &query);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_followed_scores_as_if_it_were_committed(
        corpus in corpus(40),
        changes in proptest::collection::vec((proptest::collection::vec(0_usize..60, 0..9), corpus(6)), 1..5),
        query in "[abc]( [a-f]{2}){0,3} x_y 京都 zed memory nowhere"
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut lexical = Lexical::open(folder.path()).unwrap();
        let mut next = 0;
        let mut made = |texts: Vec<(String, String)>, note: &str| -> Vec<Entry> {
            let one = |(text, context)| {
                next += 1;
                Entry(next, text, context, format!("memory/{note}{}.md", next % 3), 0)
            };
            texts.into_iter().map(one).collect()
        };
        let mut entries = made(corpus, "a");
        for half in entries.chunks(entries.len().div_ceil(2)) {
            add(&mut lexical, half);
            lexical.commit(1).unwrap();
        }
        let total = entries.len();
        for (number, (gone, texts)) in changes.into_iter().enumerate() {
            // Also some that came only a change ago, some that are gone already and some that never were.
            let gone: Vec<u64> = gone.iter().map(|&place| place as u64).collect();
            let came = made(texts, "b");
            let chunks: Vec<LexicalChunk<'_>> = came.iter().map(Entry::chunk).collect();
            lexical.follow(&gone, &chunks, 2 + number as u64);
            entries.retain(|entry| !gone.contains(&entry.0));
            entries.extend(came);
            assert_eq!(lexical.generation(), Some(2 + number as u64));
            assert_eq!(lexical.len(), entries.len());
            assert_agrees(&lexical, &entries, &query);
            for entry in &entries {
                assert_eq!(lexical.facts(entry.0).map(|(note, _)| note), Some(note_key(&entry.3)));
            }
            // An id that was not there yet may be among those that came.
            for id in gone.iter().filter(|id| entries.iter().all(|entry| entry.0 != **id)) {
                assert_eq!(lexical.facts(*id), None);
            }
        }
        // The commit knows nothing of all that.
        let again = Lexical::open(folder.path()).unwrap();
        assert_eq!((again.generation(), again.len()), (Some(1), total));
    }
}

/// A word in a third of many chunks takes a way of its own; so does one that was as common before much was deleted.
#[test]
fn common_words_score_by_the_same_formula() {
    let folder = tempfile::tempdir().unwrap();
    let mut lexical = Lexical::open(folder.path()).unwrap();
    let entry = |id: u64| {
        let text = if id.is_multiple_of(3) { "a boat" } else { "the boat and the mast of retry_the" };
        let context = if id.is_multiple_of(7) { "the harbour" } else { "" };
        let note = if id.is_multiple_of(11) { "the" } else { "x" };
        Entry(id, text.into(), context.into(), format!("memory/{note}-{}.md", id / 2), 0)
    };
    let mut entries: Vec<Entry> = (0..900).map(entry).collect();
    for half in entries.chunks(450) {
        add(&mut lexical, half);
        lexical.commit(1).unwrap();
    }
    let query = "the boat harbour";
    assert_agrees(&lexical, &entries, query);

    let mut drop_some =
        |lexical: &mut Lexical, gone: &dyn Fn(u64) -> bool, more: std::ops::Range<u64>, at| {
            let ids: Vec<u64> = entries.iter().map(|entry| entry.0).filter(|&id| gone(id)).collect();
            let came: Vec<Entry> = more.map(entry).collect();
            lexical.follow(&ids, &came.iter().map(Entry::chunk).collect::<Vec<_>>(), at);
            entries.retain(|entry| !ids.contains(&entry.0));
            entries.extend(came);
            assert_agrees(lexical, &entries, query);
        };
    drop_some(&mut lexical, &|id| id.is_multiple_of(10), 900..940, 2);
    // What is left of it is not common any more.
    drop_some(&mut lexical, &|id| !id.is_multiple_of(3) && id > 20, 940..943, 3);
}

/// A followed chunk is scored as a committed one, its new words and their kin too.
#[test]
fn kin_that_is_followed_scores_as_if_it_were_committed() {
    let folder = tempfile::tempdir().unwrap();
    let mut texts = vec!["the lighthouse keeper asked about the weather"; 500];
    texts[17] = "eine verjahrungsfrist von drei jahren";
    let mut followed = index(&folder.path().join("one"), &texts);
    let new = "die ladefrist und der fristenkalender";
    followed.follow(&[], &[Entry::new(500, new).chunk()], 2);
    texts.push(new);
    let committed = index(&folder.path().join("two"), &texts);
    let (one, other) = (search(&followed, "frist"), search(&committed, "frist"));
    assert_eq!(ids(&one), ids(&other));
    // How rare a gram is stays as the commit knew it, which is all that may differ.
    for (one, other) in one.iter().zip(&other) {
        assert!((one.bm25 / other.bm25 - 1.0).abs() < 0.15, "{one:?} {other:?}");
    }
}

/// Words are found by their kin wherever they stand: in the table of words, in a segment that came later, in what is followed.
#[test]
fn kin_is_found_in_every_part_of_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let mut texts = vec!["the lighthouse keeper asked"; 600];
    texts[17] = "eine verjahrungsfrist von drei jahren";
    let mut lexical = index(folder.path(), &texts);
    assert!(folder.path().join(vocabulary::FILE).is_file());
    assert_eq!(ids(&search(&lexical, "frist")), [17]);

    add(&mut lexical, &[Entry::new(700, "die kundigungsfrist")]);
    lexical.commit(2).unwrap();
    let both = |lexical: &Lexical| {
        let mut found = ids(&search(lexical, "frist"));
        found.sort_unstable();
        found
    };
    assert_eq!(both(&lexical), [17, 700]);
    lexical.follow(&[700], &[Entry::new(800, "die ladefrist und die verjahrungsfrist").chunk()], 3);
    assert_eq!(both(&lexical), [17, 800]);

    let mut reader = Lexical::open(folder.path()).unwrap();
    assert_eq!(both(&reader), [17, 700]);
    // Without the file, or with a damaged one, the words are read from the segments: the same answer.
    let before = search(&reader, "frist asking");
    for damage in [None, Some("rubbish")] {
        let file = folder.path().join(vocabulary::FILE);
        match damage {
            None => std::fs::remove_file(&file).unwrap(),
            Some(rubbish) => std::fs::write(&file, rubbish).unwrap(),
        }
        reader = Lexical::open(folder.path()).unwrap();
        let after = search(&reader, "frist asking");
        assert_eq!(ids(&before), ids(&after));
    }
    lexical.clear().unwrap();
    lexical.commit(4).unwrap();
    assert!(search(&Lexical::open(folder.path()).unwrap(), "frist").is_empty());
}

#[test]
fn a_form_of_a_word_is_held_and_a_look_alike_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let lexical = index(folder.path(), &["she decided", "they decide", "the decimals", "nothing"]);
    let mut pass = lexical.pass(&query_terms("deciding decimal")).unwrap();
    let held: Vec<(u64, bool)> =
        pass.scores(&[0, 1, 2, 3]).unwrap().iter().map(|hit| (hit.id, hit.held)).collect();
    assert_eq!(held, [(0, true), (1, true), (2, true), (3, false)]);
    assert_eq!(pass.words(), ["deciding", "decide", "decided", "decimal", "decimals"]);
    let look_alikes = index(
        &folder.path().join("two"),
        &["the printer", "winter", "boat", "berth", "harbour", "fee", "toner", "mast"],
    );
    let mut pass = look_alikes.pass(&query_terms("winter")).unwrap();
    assert_eq!(
        pass.top(5, EVERYWHERE).iter().map(|hit| (hit.id, hit.held)).collect::<Vec<_>>(),
        [(1, true), (0, false)]
    );
}

#[test]
fn a_commit_takes_the_place_of_what_was_followed() {
    let folder = tempfile::tempdir().unwrap();
    let mut reader = index(folder.path(), &["boat"]);
    let (berth, harbour) = (Entry::new(7, "boat at the berth"), Entry::new(8, "boat in the harbour"));
    reader.follow(&[0], &[berth.chunk()], 2);
    assert_eq!(ids(&search(&reader, "boat")), [7]);

    let mut writer = Lexical::open_to_write(folder.path()).unwrap();
    assert_eq!((writer.generation(), writer.len()), (Some(1), 1));
    writer.remove(&[0]).unwrap();
    add(&mut writer, &[berth, harbour]);
    writer.commit(3).unwrap();
    assert!(search(&writer, "boat").is_empty(), "nobody searches here");

    assert!(reader.refresh().unwrap());
    assert_eq!((reader.generation(), reader.len()), (Some(3), 2));
    assert_eq!(ids(&search(&reader, "boat")), [7, 8]);
}

#[test]
fn a_folder_that_does_not_exist_is_an_empty_index_and_is_made_by_the_first_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/lexical");
    let mut lexical = Lexical::open(&path).unwrap();
    assert_eq!((lexical.generation(), lexical.len(), path.exists()), (None, 0, false));
    let mut pass = lexical.pass(&query_terms("boat berth")).unwrap();
    assert_eq!((pass.top(5, EVERYWHERE), pass.scores(&[1]).unwrap()[0].bm25), (vec![], 0.0));
    assert!((pass.ceiling() - 2.0 * 2_f32.ln()).abs() < 1e-6);
    drop(pass);
    lexical.commit(4).unwrap();
    assert_eq!((lexical.generation(), lexical.is_empty()), (Some(4), true));
}

#[test]
fn a_commit_outlives_its_process() {
    let folder = tempfile::tempdir().unwrap();
    drop(index(folder.path(), &["grafana moved to port 3300", "another note"]));
    let lexical = Lexical::open(folder.path()).unwrap();
    assert_eq!(lexical.generation(), Some(1));
    assert_eq!(ids(&search(&lexical, "grafana")), [0]);
}

#[test]
fn what_was_not_committed_is_not_seen_and_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut lexical = index(folder.path(), &["boat"]);
    add(&mut lexical, &[Entry::new(7, "berth")]);
    lexical.remove(&[0]).unwrap();
    assert_eq!((ids(&search(&lexical, "boat berth")), lexical.len()), (vec![0], 1));
    drop(lexical);
    assert_eq!(ids(&search(&Lexical::open(folder.path()).unwrap(), "boat berth")), [0]);
}

#[test]
fn two_handles_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = index(folder.path(), &["boat"]);
    let mut other = Lexical::open(folder.path()).unwrap();
    for round in 1..30 {
        let (writer, reader) = if round % 2 == 0 { (&mut one, &mut other) } else { (&mut other, &mut one) };
        add(writer, &[Entry::new(round, "boat at the berth")]);
        writer.remove(&[round - 1]).unwrap();
        writer.commit(round + 1).unwrap();

        assert_eq!(ids(&search(reader, "boat")), [round - 1], "a snapshot stays as it is");
        assert!(reader.refresh().unwrap());
        assert!(!reader.refresh().unwrap());
        assert_eq!(reader.generation(), Some(round + 1));
        assert_eq!(ids(&search(reader, "boat")), [round]);
    }
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert!(files < 60, "{files} files are left");
}

#[test]
fn a_cleared_index_holds_only_what_came_after() {
    let folder = tempfile::tempdir().unwrap();
    let mut lexical = index(folder.path(), &["boat", "berth"]);
    add(&mut lexical, &[Entry::new(8, "boat forgotten")]);
    lexical.clear().unwrap();
    add(&mut lexical, &[Entry::new(9, "boat anew")]);
    assert_eq!(ids(&search(&lexical, "boat")), [0]);
    lexical.commit(1).unwrap();
    assert_eq!((ids(&search(&lexical, "boat berth")), lexical.len()), (vec![9], 1));
}

#[test]
fn an_index_of_another_version_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    drop(index(folder.path(), &["boat"]));
    let index = Index::open(Folder::open(folder.path()).unwrap()).unwrap();
    fields::register(&index);
    let mut writer: IndexWriter = index.writer_with_num_threads(1, SMALL_BUDGET).unwrap();
    let mut commit = writer.prepare_commit().unwrap();
    commit.set_payload(&format!("memgrep {SCHEMA_VERSION} {} 1", ANALYSER_VERSION + 1));
    commit.commit().unwrap();
    drop(writer);
    let mut lexical = Lexical::open(folder.path()).unwrap();
    assert_eq!((lexical.generation(), lexical.len()), (None, 0));
    add(&mut lexical, &[Entry::new(5, "boat")]);
    lexical.commit(2).unwrap();
    assert_eq!(ids(&search(&lexical, "boat")), [5]);
}

#[test]
fn files_of_others_in_the_folder_stay() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.md"), "mine").unwrap();
    std::fs::write(folder.path().join("meta.json"), "{}").unwrap();
    drop(index(folder.path(), &["boat"]));
    assert_eq!(std::fs::read_to_string(folder.path().join("notes.md")).unwrap(), "mine");
}

/// Every file shortened to every length and with a bit flipped at every seventh place: right answers or none, no panic.
#[test]
fn a_damaged_index_is_right_or_empty() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["boat at the berth", "harbour boat boat", "nothing here", "the harbour"];
    let mut lexical = index(folder.path(), &texts.repeat(4));
    lexical.remove(&[2]).unwrap();
    lexical.commit(2).unwrap();
    let right = search(&lexical, "boat harbour nothing");
    drop(lexical);
    let files: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.iter().any(|file| file.extension().is_some_and(|kind| kind == "del")), "{files:?}");
    let mut seen = 0;
    for file in files {
        let whole = std::fs::read(&file).unwrap();
        let mut check = |damaged: &[u8], what: &str| {
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, damaged).unwrap();
            let lexical = Lexical::open(folder.path()).unwrap();
            let hits = search(&lexical, "boat harbour nothing");
            match lexical.generation() {
                Some(2) => assert_eq!(hits, right, "{} {what}", file.display()),
                None => assert!(hits.is_empty() && lexical.is_empty()),
                Some(other) => panic!("generation {other}: {} {what}", file.display()),
            }
            seen += usize::from(lexical.generation().is_none());
        };
        for length in 0..whole.len() {
            check(&whole[..length], &format!("cut to {length}"));
        }
        for at in (0..whole.len()).step_by(7) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            check(&flipped, &format!("flipped at {at}"));
        }
        std::fs::write(&file, &whole).unwrap();
    }
    assert!(seen > 1000, "only {seen} cases of damage were noticed");
    assert_eq!(search(&Lexical::open(folder.path()).unwrap(), "boat harbour nothing"), right);
}

#[test]
fn a_damaged_index_is_made_anew_by_the_next_change() {
    let folder = tempfile::tempdir().unwrap();
    drop(index(folder.path(), &["boat"]));
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "idx") {
            std::fs::write(path, "rubbish").unwrap();
        }
    }
    let mut lexical = Lexical::open(folder.path()).unwrap();
    assert_eq!(lexical.generation(), None);
    add(&mut lexical, &[Entry::new(3, "berth")]);
    lexical.commit(2).unwrap();
    assert_eq!((ids(&search(&lexical, "boat berth")), lexical.generation()), (vec![3], Some(2)));
}

#[test]
fn only_the_sources_asked_for_are_searched_and_every_chunk_has_a_score() {
    let folder = tempfile::tempdir().unwrap();
    let mut lexical = Lexical::open(folder.path()).unwrap();
    let entries: Vec<Entry> = (0..3)
        .map(|source| Entry(source.into(), "boat".into(), String::new(), "a.md".into(), source))
        .collect();
    add(&mut lexical, &entries);
    lexical.commit(1).unwrap();
    for (sources, right) in [(0b001, vec![0]), (0b010, vec![1]), (0b101, vec![0, 2]), (0, vec![])] {
        let mut pass = lexical.pass(&query_terms("boat")).unwrap();
        assert_eq!(ids(&pass.top(9, &|_, facts| sources >> facts.source & 1 == 1)), right);
        assert!(pass.scores(&[0, 1, 2]).unwrap().iter().all(|hit| hit.bm25 > 0.0));
    }
}

#[test]
fn a_word_that_stands_nowhere_counts_in_the_ceiling_as_the_rarest() {
    let folder = tempfile::tempdir().unwrap();
    let lexical = index(folder.path(), &["boat", "boat", "berth"]);
    let ceiling = |query: &str| lexical.pass(&query_terms(query)).unwrap().ceiling();
    assert!(ceiling("boat") < ceiling("berth") && ceiling("berth") < ceiling("absent"));
    assert!((ceiling("absent") - (1.0 + 3.5 / 0.5_f32).ln()).abs() < 1e-6);
    assert!((ceiling("boat absent") - ceiling("boat") - ceiling("absent")).abs() < 1e-6);
}

#[test]
fn a_word_beats_the_same_word_inside_an_identifier() {
    // Every text is six terms long, so only the kind of the occurrence tells them apart.
    for identifier in ["retry_index", "retryIndex", "retry.index", "retry::index"] {
        let inside = format!("rebuild the {identifier} nightly");
        assert_eq!(found(&[&inside, "rebuild the small old index nightly"], "index"), [1, 0], "{identifier}");
    }
    assert_eq!(
        found(&["rebuild the retry-index nightly", "rebuild the small old index nightly"], "index"),
        [0, 1]
    );
}

#[test]
fn a_note_with_every_word_comes_before_one_that_repeats_three_of_four() {
    let texts = [
        "berth harbour winter berth harbour winter berth harbour winter",
        "the berth fee at the harbour in winter",
        "groceries and the fee of the car",
        "the printer is out of toner again",
    ];
    // The printer only looks like winter.
    assert_eq!(found(&texts, "berth fee harbour winter"), [1, 0, 2, 3]);
}

#[test]
fn a_word_counts_for_every_chunk_of_its_note() {
    let folder = tempfile::tempdir().unwrap();
    let mut lexical = Lexical::open(folder.path()).unwrap();
    let entry = |id, text: &str, path: &str| Entry(id, text.into(), String::new(), path.into(), 0);
    let entries = [
        entry(1, "berth at the harbour", "alone.md"),
        entry(2, "berth at the harbour", "both.md"),
        entry(3, "the fee is due in winter", "both.md"),
    ];
    add(&mut lexical, &entries);
    lexical.commit(1).unwrap();
    let query = query_terms("berth harbour winter fee");
    let scores_of = |lexical: &Lexical| -> Vec<f32> {
        let hits = lexical.pass(&query).unwrap().scores(&[1, 2]).unwrap();
        hits.iter().map(|hit| hit.bm25).collect()
    };
    let scores = scores_of(&lexical);
    assert!(scores[1] > scores[0], "{scores:?}");

    lexical.remove(&[3]).unwrap();
    lexical.commit(2).unwrap();
    let scores = scores_of(&lexical);
    assert_eq!(scores[0], scores[1], "what is deleted covers nothing");
}

#[test]
fn a_piece_of_an_identifier_in_the_query_counts_less_than_the_words_beside_it() {
    let texts = ["the index is rebuilt nightly", "the harbour is rebuilt nightly"];
    assert_eq!(found(&texts, "retry_index harbour"), [1, 0]);
    assert_eq!(found(&texts, "index harbour"), [0, 1], "as words they are equal");
}

#[test]
fn a_word_that_stands_nowhere_is_missed_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let lexical = index(folder.path(), &["boat at the berth", "berth"]);
    let score = |query: &str| search(&lexical, query)[0].bm25;
    assert_eq!(score("boat berth nowhere"), score("boat berth"));
}

/// F004, F005, F006, F007: nothing a user types is an operator.
#[test]
fn f004_every_query_is_words() {
    let texts =
        ["text secret plan", "status: blocked on vendor", "Rust borrow rules", "The C++ build uses clang 18"];
    assert_eq!(found(&texts, "NEAR(secret plan)"), [0]);
    assert_eq!(found(&texts, "path:memory NOT secret")[0], 0);
    assert_eq!(found(&texts, "status: blocked"), [1]);
    assert_eq!(found(&texts, "blocked OR"), found(&texts, "blocked"));
    for query in ["(rust", "say \"rust", "rust)", "\"rust"] {
        assert_eq!(found(&texts, query), [2], "{query}");
    }
    assert_eq!(found(&texts, "which compiler builds the C++ part?")[0], 3);
    assert_eq!(found(&texts, ">>> \n"), [0; 0]);
}

#[test]
fn f009_a_version_ranks_before_its_numbers() {
    assert_eq!(found(&["version 14 of the plan", "Rolled back to 7.14.2 last night"], "7.14.2"), [1, 0]);
}

#[test]
fn f010_the_whole_name_ranks_first() {
    let texts = ["B731 spare part", "POL-B731 covers retention"];
    assert_eq!(found(&texts, "B731").len(), 2);
    assert_eq!(found(&texts, "POL-B731"), [1, 0]);
    assert_eq!(
        found(&["rebuild the shadow index", "call rebuildShadowIndex() after import"], "rebuildShadowIndex"),
        [1, 0]
    );
}

#[test]
fn f015_words_in_text_without_spaces_are_found_first() {
    let texts = [
        "昨日は図書館で会議録を整理した",
        "내일 도서관에서 회의록을 정리한다",
        "下周二在图书馆整理会议纪要",
        "东京的银行周一关门",
    ];
    for (query, right) in
        [("会議録", 0), ("회의록", 1), ("会议纪要", 2), ("银行", 3), ("关", 3), ("东京的银行 周一", 3)]
    {
        assert_eq!(found(&texts, query)[0], right, "{query}");
    }
}

#[test]
fn f024_more_of_a_word_in_less_text_scores_higher() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{} harbour", "filler words ".repeat(150));
    let lexical = index(folder.path(), &[&long, "harbour harbour harbour plan"]);
    let hits = search(&lexical, "harbour");
    assert_eq!(ids(&hits), [1, 0]);
    assert!(hits[0].bm25 > hits[1].bm25);
}

#[test]
fn f029_a_file_is_found_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut lexical = Lexical::open(folder.path()).unwrap();
    let entry = |id: u64, path: &str| Entry(id, "lunch order".into(), String::new(), path.into(), 0);
    add(
        &mut lexical,
        &[
            entry(1, "memory/2026-05-03-1100.md"),
            entry(2, "memory/2026-05-04-0915.md"),
            entry(3, "memory/x.md"),
        ],
    );
    lexical.commit(1).unwrap();
    assert_eq!(ids(&search(&lexical, "2026-05-04-0915"))[0], 2);
}

#[test]
fn f045_the_headings_above_a_text_are_searched() {
    let folder = tempfile::tempdir().unwrap();
    let mut lexical = Lexical::open(folder.path()).unwrap();
    let entries = [
        Entry(1, "cut-off is the 23rd".into(), "Payroll".into(), "memory/office.md".into(), 0),
        Entry(2, "the cut-off of the hedge".into(), "Garden".into(), "memory/home.md".into(), 0),
        Entry(3, "payroll is run by Ada".into(), "People".into(), "memory/people.md".into(), 0),
    ];
    add(&mut lexical, &entries);
    lexical.commit(1).unwrap();
    assert_eq!(ids(&search(&lexical, "payroll cut-off"))[0], 1);
}

/// A commit that lands while another handle opens the index: it sees one commit or the next, whole.
#[test]
fn a_handle_opened_during_commits_sees_whole_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = index(folder.path(), &["boat"]);
    let path = folder.path();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut last = 0;
                    for _ in 0..100 {
                        let lexical = Lexical::open(path).unwrap();
                        let generation = lexical.generation().unwrap();
                        assert_eq!(ids(&search(&lexical, "boat")), [generation - 1]);
                        assert!(generation >= last);
                        last = generation;
                    }
                })
            })
            .collect();
        for round in 1..40 {
            writer.remove(&[round - 1]).unwrap();
            add(&mut writer, &[Entry::new(round, "boat")]);
            writer.commit(round + 1).unwrap();
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}
