use proptest::prelude::*;

use super::*;
use crate::text::token_estimate;

const DEFAULT: Chunking = Chunking { tokens: 400, overlap: 80 };

fn small(tokens: usize, overlap: usize) -> Chunking {
    Chunking { tokens, overlap }
}

/// First line, last line and context of every chunk.
fn outline(note: &str, curated: bool, chunking: Chunking) -> Vec<(usize, usize, String)> {
    chunk(note, curated, chunking)
        .into_iter()
        .map(|chunk| (chunk.first_line, chunk.last_line, chunk.context))
        .collect()
}

fn texts<'a>(note: &'a str, chunks: &[Chunk]) -> Vec<&'a str> {
    chunks.iter().map(|chunk| &note[chunk.start..chunk.end]).collect()
}

fn expected<const N: usize>(chunks: [(usize, usize, &str); N]) -> Vec<(usize, usize, String)> {
    chunks.into_iter().map(|(first, last, context)| (first, last, context.to_owned())).collect()
}

/// `words` words of about one and a half tokens each, ten in a line.
fn prose(words: usize) -> String {
    let words: Vec<String> = (0..words).map(|n| format!("word{n}")).collect();
    words.chunks(10).map(|line| line.join(" ") + ".\n").collect()
}

#[test]
fn f038_every_part_of_a_long_line_is_a_slice_of_the_file() {
    let items: Vec<String> = (0..2500).map(|n| format!(r#"{{"key{n}":{n}}}"#)).collect();
    let note = items.join(",");
    let chunks = chunk(&note, false, DEFAULT);
    assert_eq!(texts(&note, &chunks).concat(), note);
    assert!(chunks.len() > 10);
    for chunk in &chunks {
        assert_eq!((chunk.first_line, chunk.last_line), (1, 1));
        assert!(
            note[..chunk.end].ends_with([',', '}']),
            "cut inside of an item: {:?}",
            &note[chunk.start..chunk.end]
        );
    }
}

#[test]
fn f039_no_character_and_no_joined_emoji_is_halved() {
    for (unit, times) in [("😀", 5000), ("ß", 9001), ("👩‍👩‍👧", 800), ("e\u{301}", 4000), ("🇩🇪", 3000)]
    {
        let note = unit.repeat(times);
        let chunks = chunk(&note, false, DEFAULT);
        let texts = texts(&note, &chunks);
        assert_eq!(texts.concat(), note);
        assert!(texts.len() > 1 && texts.iter().all(|text| text.len().is_multiple_of(unit.len())), "{unit}");
    }
}

#[test]
fn a_long_line_is_cut_after_sentences_into_parts_of_like_size() {
    let note = "The ferry to the island leaves at nine in the morning. ".repeat(33);
    let chunks = chunk(&note, false, DEFAULT);
    let sizes: Vec<usize> = texts(&note, &chunks).iter().map(|text| token_estimate(text)).collect();
    assert_eq!(sizes.len(), 2);
    assert!(sizes.iter().all(|size| (170..=300).contains(size)), "{sizes:?}");
    assert!(texts(&note, &chunks).iter().all(|text| text.ends_with(". ") && text.starts_with("The")));
}

#[test]
fn f042_inside_of_a_fence_nothing_is_a_heading() {
    for fence in ["```", "````", "~~~", "~~~~~"] {
        let note = format!("# Setup\n\n{fence}sh\n# install deps\n``\nmake\n{fence}\nafter");
        assert_eq!(outline(&note, false, DEFAULT), expected([(1, 8, "Setup")]), "{note}");
    }
    let note = "# A\n````md\n```\n# no heading\n```\n# none either\n````\n# B\ntext\n";
    assert_eq!(outline(note, true, small(9, 0)).last(), Some(&(8, 9, "B".to_owned())));
}

#[test]
fn f043_no_chunk_is_only_blank_or_only_a_heading() {
    assert_eq!(outline("# T\n## U\n\n\n\n\n\ntext", false, DEFAULT), expected([(1, 8, "T > U")]));
    for note in ["", "\n", "\n\n \n\t\n", "# T\n", "# T\n## U\n\n", "T\n===\n", "---\n\n***\n", "\0\0\n"] {
        assert_eq!(chunk(note, false, DEFAULT), [], "{note:?}");
        assert_eq!(chunk(note, true, DEFAULT), [], "{note:?}");
    }
}

#[test]
fn a_heading_without_text_stays_with_the_chunk_before_it() {
    assert_eq!(outline("# T\ntext\n\n## Buy paint\n\n", false, DEFAULT), expected([(1, 4, "T")]));
}

#[test]
fn f044_a_table_is_cut_only_when_it_is_too_large_and_keeps_its_header() {
    let rows: String = (1..=120).map(|n| format!("| setting_{n} | ms | {n}00 |\n")).collect();
    let table = format!("| parameter | unit | default |\n|---|---|---|\n{rows}");
    let note = format!("# Settings\n\n{table}");
    let chunks = chunk(&note, false, DEFAULT);
    assert!(chunks.len() > 1);
    assert_eq!(chunks[0].context, "Settings");
    let header = "Settings\nparameter | unit | default";
    assert!(chunks[1..].iter().all(|chunk| chunk.context == header));
    assert!(texts(&note, &chunks).iter().any(|text| text.contains("setting_100 ")));

    let table: String = table.lines().take(30).map(|line| format!("{line}\n")).collect();
    let note = format!("{}\n{table}\n{}", prose(120), prose(120));
    let cut = chunk(&note, false, DEFAULT);
    assert!(texts(&note, &cut).iter().any(|text| text.contains(&table)), "{:#?}", texts(&note, &cut));
}

#[test]
fn a_fence_that_fits_is_not_cut() {
    let code: String = (0..40).map(|n| format!("let value_{n} = compute({n});\n")).collect();
    let note = format!("# Code\n\n{}\n```rust\n{code}```\n{}", prose(140), prose(140));
    let chunks = chunk(&note, false, DEFAULT);
    assert!(texts(&note, &chunks).iter().any(|text| text.contains(&format!("```rust\n{code}```"))));
}

#[test]
fn f045_the_heading_path_stands_beside_every_chunk() {
    let note = format!("# Firm\n\n## Payroll\n\n{}\ncut-off is the 23rd", prose(900));
    let chunks = chunk(&note, false, DEFAULT);
    let last = chunks.last().unwrap();
    assert_eq!(last.context, "Firm > Payroll");
    assert_eq!(last.last_line, note.lines().count());
    assert!(note[last.start..last.end].ends_with("cut-off is the 23rd"));
}

#[test]
fn headings_of_every_kind_make_the_path() {
    let note = "Title\n=====\n\nOne `x` <!-- project: p -->\n---\n\n### Deep ###\ntext\n\n# C#\nmore\n";
    assert_eq!(
        outline(note, false, small(24, 0)),
        expected([(1, 8, "Title > One `x` > Deep"), (10, 11, "C#")])
    );
    let no_heading =
        "#tag is no heading\n\ntwo lines\nabove a rule\n---\n    # code\n####### seven\n> # quoted\n";
    assert_eq!(outline(no_heading, false, DEFAULT), expected([(1, 8, "")]));
}

#[test]
fn f050_f052_front_matter_is_plain_text_whatever_it_holds() {
    for header in [
        "home: `D:\\bots`",
        "title: *Draft*",
        "type: null",
        "tags: 7",
        "title: [a, b]",
        "date: 2026-02-30",
        "# note",
    ] {
        let note = format!("---\n{header}\n---\n# Host\nport 7777\n");
        let chunks = chunk(&note, false, DEFAULT);
        assert_eq!(texts(&note, &chunks), [note.as_str()]);
    }
}

#[test]
fn the_title_of_the_front_matter_stands_above_the_headings() {
    let note = "---\ntitle: \"Harbour\"\n---\n\n# Harbour\n\n## Berths\n\ntext\n";
    assert_eq!(chunk(note, false, small(7, 0)).last().unwrap().context, "Harbour > Berths");
}

#[test]
fn f054_lf_and_crlf_give_the_same_chunks() {
    let rows: String = (1..=60).map(|n| format!("- row {n} <!-- importance: 7 -->\n")).collect();
    let table = "| a | b |\n|---|---|\n| 1 | 2 |\n";
    let lf = format!(
        "---\ntags: [ops]\n---\n# Host\nport 7777\n\nUnder\n-----\n{rows}\n```\n# c\n```\n{table}{}",
        prose(300)
    );
    let crlf = lf.replace('\n', "\r\n");
    for curated in [false, true] {
        for chunking in [DEFAULT, small(40, 10), small(7, 3)] {
            let ours = chunk(&lf, curated, chunking);
            let theirs = chunk(&crlf, curated, chunking);
            assert_eq!(outline(&lf, curated, chunking), outline(&crlf, curated, chunking));
            for (a, b) in ours.iter().zip(&theirs) {
                let (a_text, b_text) = (&lf[a.start..a.end], &crlf[b.start..b.end]);
                assert_eq!(embedded_text(&a.context, a_text), embedded_text(&b.context, b_text));
                assert_eq!((a.importance, &a.triggers), (b.importance, &b.triggers));
            }
        }
    }
}

#[test]
fn f123_lines_are_counted_as_an_editor_shows_them() {
    for (note, lines) in [("a\nb\n", 2), ("", 0), ("\n", 1), ("a\n\n", 2), ("a\nb", 2), ("a\r\nb\r\n", 2)] {
        assert_eq!(Lines::of(note).len(), lines, "{note:?}");
    }
}

#[test]
fn small_sections_share_a_chunk_and_half_full_ones_end_at_the_next_section() {
    let daily: String = (0..12).map(|n| format!("## Topic {n}\n\nA line about topic {n}.\n\n")).collect();
    assert_eq!(chunk(&format!("# 2026-02-10\n\n{daily}"), false, DEFAULT).len(), 1);

    let note = format!("# Notes\n\n## A\n\n{}\n## B\n\n{}\n## C\n\n{}", prose(150), prose(20), prose(150));
    let contexts: Vec<String> = chunk(&note, false, DEFAULT).into_iter().map(|chunk| chunk.context).collect();
    assert_eq!(contexts, ["Notes > A", "Notes > B"]);
}

#[test]
fn a_chunk_ends_before_a_heading_rather_than_in_the_middle_of_the_next_section() {
    let note = format!("# A\n{}### B\n{}", prose(150), prose(200));
    let chunks = chunk(&note, false, DEFAULT);
    assert_eq!(chunks[1].first_line, 17);
    assert_eq!(chunks[1].context, "A > B");
}

#[test]
fn the_overlap_is_whole_lines_and_crosses_no_heading() {
    let note = format!("# A\n\n{}", prose(600));
    let chunks = chunk(&note, false, DEFAULT);
    assert!(chunks.len() > 2);
    for pair in chunks.windows(2) {
        let repeated = &note[pair[1].start..pair[0].end];
        assert!((40..=80).contains(&token_estimate(repeated)), "{repeated}");
        assert!(note[..pair[1].start].ends_with('\n'));
    }
    let sections = format!("# A\n{}# B\n{}", prose(140), prose(140));
    let chunks = chunk(&sections, false, DEFAULT);
    assert!(chunks[1].start >= chunks[0].end);
}

#[test]
fn every_top_level_entry_of_a_curated_note_is_a_chunk() {
    let note = "# Long-term\n\nIntro line.\n\n- Keep the lamp. <!-- importance: 8 -->\n* Ask Mira. <!-- trigger: ferry, boat trip -->\n  continued\n\n  - nested\n\n\tcode\n\nText between.\n\n## People\n\n1. Mira\n2. Jon <!-- trigger: dinner; food --> <!-- importance: 10 -->\n   ```\n   - no entry\n   ```\n\n## Empty\n";
    assert_eq!(
        outline(note, true, DEFAULT),
        expected([
            (1, 3, "Long-term"),
            (5, 5, "Long-term"),
            (6, 11, "Long-term"),
            (13, 13, "Long-term"),
            (17, 17, "Long-term > People"),
            (18, 21, "Long-term > People"),
        ])
    );
    let chunks = chunk(note, true, DEFAULT);
    let importance: Vec<Option<u8>> = chunks.iter().map(|chunk| chunk.importance).collect();
    assert_eq!(importance, [None, Some(8), None, None, None, Some(10)]);
    assert_eq!(chunks[2].triggers, ["ferry", "boat trip"]);
    assert_eq!(chunks[5].triggers, ["dinner", "food"]);
    let plain = chunk(note, false, DEFAULT);
    assert_eq!(plain.len(), 1);
    assert_eq!((plain[0].importance, plain[0].triggers.len()), (None, 0));
}

#[test]
fn all_chunks_of_a_long_entry_carry_its_annotations() {
    let body: String = prose(800).lines().map(|line| format!("  {line}\n")).collect();
    let note = format!(
        "# T\n- start\n{body}  end <!-- importance: 9 --> <!-- project: example.org/x -->\n- other\n"
    );
    let chunks = chunk(&note, true, DEFAULT);
    let (last, entry) = chunks.split_last().unwrap();
    assert!(entry.len() > 2);
    assert!(
        entry
            .iter()
            .all(|chunk| chunk.importance == Some(9) && chunk.project.as_deref() == Some("example.org/x"))
    );
    assert_eq!((last.importance, last.project.as_deref()), (None, None));
}

#[test]
fn embedded_text_is_context_and_plain_text() {
    assert_eq!(embedded_text("A > B", "- a\0b <!-- importance: 3 -->\r\n  c\r\n\r\n"), "A > B\n- a b\n  c");
    assert_eq!(embedded_text("", "text"), "text");
}

#[test]
fn a_megabyte_of_one_sign_ends() {
    for sign in [
        "#",
        "|",
        "```",
        "😀",
        "\n",
        "`",
        "- ",
        "a\n",
        "|\n",
        "```\n",
        "# \n",
        "- a\n",
        "\u{301}",
        "🇩🇪",
        "|a|\n|-|\n",
        "a\n=\n",
    ] {
        let note = sign.repeat((1 << 20) / sign.len());
        for curated in [false, true] {
            let chunks = chunk(&note, curated, DEFAULT);
            assert!(chunks.iter().is_sorted_by(|a, b| a.end < b.end), "{sign:?}");
        }
    }
}

/// Notes that are full of Markdown marks, long lines and odd characters.
fn note() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-z ]{0,60}",
        r"#{1,7} ?[a-z]{0,8}",
        "(```|````|~~~)[a-z]{0,3}",
        r"( {0,4}|\t)([-*+]|1[.)]) [a-z ]{0,20}",
        r"\|[a-z ]{0,9}\|[a-z]{0,9}\|",
        Just("|---|---|".to_owned()),
        "(---|===|\\.\\.\\.)",
        "[\\PC]{0,40}",
        "[日本語。 ]{0,200}",
        "(👩‍👩‍👧|e\u{301}|🇩🇪|\u{200B}|\0){0,30}",
        Just("- x <!-- importance: 3 -->".to_owned()),
    ];
    let ending = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\n\n")];
    prop::collection::vec((line, ending), 0..40)
        .prop_map(|lines| lines.into_iter().map(|(line, ending)| line + ending).collect())
}

proptest! {
    #[test]
    fn chunks_are_exact_within_the_budget_and_lose_nothing(
        note in prop_oneof![note(), any::<String>()],
        curated: bool,
        tokens in prop_oneof![1usize..60, Just(400)],
        overlap in 0usize..80,
    ) {
        let chunks = chunk(&note, curated, small(tokens, overlap));
        let ends: Vec<usize> = note.match_indices('\n').map(|(at, _)| at + 1).collect();
        let line_of = |byte: usize| ends.partition_point(|&end| end <= byte) + 1;
        let mut covered = vec![false; note.len()];
        let mut last_end = 0;
        for chunk in &chunks {
            prop_assert!(chunk.start < chunk.end && chunk.end > last_end);
            last_end = chunk.end;
            let text = &note[chunk.start..chunk.end];
            prop_assert_eq!((line_of(chunk.start), line_of(chunk.end - 1)), (chunk.first_line, chunk.last_line));
            let cost = token_estimate(&text.replace("\r\n", "\n"));
            let one_grapheme = unicode_segmentation::UnicodeSegmentation::graphemes(text, true).count() == 1;
            prop_assert!(cost <= tokens || one_grapheme, "{} tokens: {:?}", cost, text);
            prop_assert!(lines::has_words(text), "no words: {:?}", text);
            covered[chunk.start..chunk.end].fill(true);
        }
        let lines = Lines::of(&note);
        for (index, line) in lines.lines.iter().enumerate().filter(|(_, line)| line.kind == Kind::Words) {
            let text = lines.text(index);
            for (at, char) in text.char_indices().filter(|(_, char)| char.is_alphanumeric()) {
                prop_assert!(covered[line.start + at], "{:?} of line {} is lost", char, index + 1);
            }
        }
    }
}

#[test]
fn a_heading_is_embedded_once() {
    for (context, text, embedded) in [
        ("Router", "# Router\n\nBehind the shelf.", "# Router\n\nBehind the shelf."),
        ("Home > Router", "## Router\nBehind the shelf.", "Home\n## Router\nBehind the shelf."),
        ("Home > Router", "Behind the shelf.", "Home > Router\nBehind the shelf."),
        // Another word that only ends the same, an empty heading, a number sign without a heading's blank.
        ("Home > Old Router", "## Router\nBehind.", "Home > Old Router\n## Router\nBehind."),
        ("Home", "#\nBehind.", "Home\n#\nBehind."),
    ] {
        assert_eq!(embedded_text(context, text), embedded);
    }
}
