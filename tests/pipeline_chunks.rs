//! Notes through decoding, annotations and chunking, beside what the original answers to the same notes.
//!
//! The recorded answers lie outside of the repository: in `MEMGREP_SHARED`, or in the folder `shared` beside it.
#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

use std::collections::HashSet;
use std::path::PathBuf;

use memgrep::chunk::{Chunk, Chunking, chunk};
use memgrep::note::{UNREADABLE_PROJECT, annotations, plain};
use memgrep::text::token_estimate;
use serde_json::Value;

const DEFAULT: Chunking = Chunking { tokens: 400, overlap: 80 };

/// The recorded cases; `None`, with the reason printed, where they are not at hand.
fn recorded(name: &str) -> Option<Vec<Value>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("MEMGREP_SHARED").map_or_else(beside, PathBuf::from);
    let path = shared.join("golden").join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no recorded answers at {}; set MEMGREP_SHARED", path.display());
        return None;
    };
    let mut file: Value = serde_json::from_str(&text).expect("a recorded file is JSON");
    let Value::Array(cases) = file["cases"].take() else { panic!("{name} holds no cases") };
    assert!(!cases.is_empty());
    Some(cases)
}

/// Importance, triggers and project, in the form of the recorded answers.
fn metadata(recorded: &Value, project: &str) -> (Option<u64>, String, Option<String>) {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let project = text(&recorded[project]).map(|key| match key.starts_with('!') {
        true => UNREADABLE_PROJECT.to_owned(),
        false => key,
    });
    (recorded["importance"].as_u64(), text(&recorded["triggers"]).unwrap_or_default(), project)
}

#[test]
fn annotations_are_those_of_the_original() {
    for case in recorded("openclaw-annotations.json").unwrap_or_default() {
        let text = case["text"].as_str().unwrap();
        for (curated, expected) in [(true, &case["metadata"]), (false, &case["notCurated"])] {
            let found = annotations(text, curated);
            let found = (found.importance.map(u64::from), found.triggers.join("; "), found.project);
            assert_eq!(found, metadata(expected, "projectKey"), "{text:?}, curated: {curated}");
        }
        assert_eq!(plain(text), case["stripped"].as_str().unwrap(), "{text:?}");
    }
}

#[test]
fn entries_of_curated_notes_are_those_of_the_original() {
    for case in recorded("openclaw-prepared.json").unwrap_or_default() {
        let note = case["content"].as_str().unwrap();
        let curated = !case["file"].as_str().unwrap().starts_with("memory/");
        let chunks = chunk(note, curated, DEFAULT);
        let theirs = case["chunks"].as_array().unwrap();
        assert_eq!(chunks.is_empty(), theirs.is_empty());
        for entry in theirs.iter().filter(|entry| entry["entryStartLine"].is_u64()) {
            let line = |key: &str| usize::try_from(entry[key].as_u64().unwrap()).unwrap();
            let ours: Vec<&Chunk> = chunks
                .iter()
                .filter(|chunk| (line("entryStartLine")..=line("entryEndLine")).contains(&chunk.first_line))
                .collect();
            assert_eq!(ours.first().map(|chunk| chunk.first_line), Some(line("entryStartLine")));
            for chunk in ours {
                assert!(chunk.last_line <= line("entryEndLine"));
                let found =
                    (chunk.importance.map(u64::from), chunk.triggers.join("; "), chunk.project.clone());
                assert_eq!(found, metadata(entry, "projectKey"), "{}:{}", case["file"], chunk.first_line);
            }
        }
        if !curated {
            assert!(chunks.iter().all(|chunk| chunk.importance.is_none() && chunk.triggers.is_empty()));
        }
    }
}

#[test]
fn no_recorded_note_loses_words_or_exceeds_the_budget() {
    let (mut ours, mut theirs, mut equal) = (0, 0, 0);
    for case in recorded("openclaw-chunks.json").unwrap_or_default() {
        let size = |key: &str| usize::try_from(case[key].as_u64().unwrap()).unwrap();
        let chunking = Chunking { tokens: size("tokens"), overlap: size("overlap") };
        let note = case["text"].as_str().unwrap();
        let chunks = chunk(note, case["perEntry"].as_bool().unwrap(), chunking);
        let covered: HashSet<usize> =
            chunks.iter().flat_map(|chunk| chunk.first_line..=chunk.last_line).collect();
        for (at, line) in note.split('\n').enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let words = line.contains(char::is_alphanumeric);
            assert!(!words || covered.contains(&(at + 1)), "{}: line {} is lost", case["name"], at + 1);
        }
        for chunk in &chunks {
            let text = note[chunk.start..chunk.end].replace("\r\n", "\n");
            assert!(token_estimate(&text) <= chunking.tokens || text.chars().count() == 1, "{text}");
        }
        if chunking == DEFAULT {
            let starts: HashSet<u64> = chunks.iter().map(|chunk| chunk.first_line as u64).collect();
            let original = case["chunks"].as_array().unwrap();
            let same =
                |chunk: &&Value| chunk["startLine"].as_u64().is_some_and(|line| starts.contains(&line));
            (ours, theirs) = (ours + chunks.len(), theirs + original.len());
            equal += original.iter().filter(same).count();
        }
    }
    println!(
        "chunks of the default size: {ours}, in the original: {theirs}, starting at the same line: {equal}"
    );
    assert!(ours * 2 <= theirs * 3, "{ours} chunks where the original has {theirs}");
}
