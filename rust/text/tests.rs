use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

/// The texts of a query's terms.
fn asked(query: &str) -> Vec<String> {
    query_terms(query).into_iter().map(|term| term.text).collect()
}

fn index_terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for_each_term(text, &mut |term| terms.push(term.text.to_owned()));
    terms
}

/// Whether the note holds every term of the query.
fn holds(note: &str, query: &str) -> bool {
    let terms = index_terms(note);
    let asked = asked(query);
    !asked.is_empty() && asked.iter().all(|term| terms.contains(term))
}

/// How many terms of the query the note holds.
fn shared(note: &str, query: &str) -> usize {
    let terms = index_terms(note);
    asked(query).iter().filter(|term| terms.contains(term)).count()
}

#[track_caller]
fn assert_terms(text: &str, expected: &[&str]) {
    assert_eq!(index_terms(text), expected, "{text}");
}

#[test]
fn words_are_folded_and_stand_in_text_order() {
    assert_terms("The Broker moved to rack 7.", &["the", "broker", "moved", "to", "rack", "7"]);
    assert_terms("", &[]);
    assert_terms(" \n\t>>> …!? 🧭 ()", &[]);
}

#[test]
fn identifiers_are_found_whole_and_by_part() {
    assert_terms("a828e60", &["a828e60"]);
    assert_terms(
        "memorySearch.query.hybrid",
        &["memorysearch.query.hybrid", "memorysearch", "memory", "search", "query", "hybrid"],
    );
    assert_terms("OPS-43440", &["ops43440", "ops", "43440"]);
    assert_terms("retry_index", &["retryindex", "retry", "index"]);
    assert_terms("HTMLParser2", &["htmlparser2", "html", "parser", "2"]);
    assert_terms("VLAN10", &["vlan10", "vlan", "10"]);
    assert_terms("URLs", &["urls"]);
    assert_terms(
        "user+tag@mail.example",
        &["user+tag@mail.example", "user+tag", "user", "tag", "mail.example", "mail", "example"],
    );
}

#[test]
fn identifiers_have_pieces_and_joined_words_have_words() {
    #[track_caller]
    fn assert_pieces(text: &str, words: &[&str], pieces: &[&str]) {
        let (mut found_words, mut found_pieces) = (Vec::new(), Vec::new());
        for_each_term(text, &mut |term| {
            if term.piece { &mut found_pieces } else { &mut found_words }.push(term.text.to_owned());
        });
        assert_eq!(found_words, words, "{text}");
        assert_eq!(found_pieces, pieces, "{text}");
    }
    assert_pieces("retry_index", &["retryindex"], &["retry", "index"]);
    assert_pieces("index.toml", &["index.toml"], &["index", "toml"]);
    assert_pieces("rebuildIndex", &["rebuildindex"], &["rebuild", "index"]);
    assert_pieces("VLAN10", &["vlan10"], &["vlan", "10"]);
    assert_pieces("std::fs", &["std::fs"], &["std", "fs"]);
    assert_pieces("ada@mail", &["ada@mail"], &["ada", "mail"]);
    assert_pieces("dual-region", &["dualregion", "dual", "region"], &[]);
    assert_pieces("GB/s", &["gb/s", "gb", "s"], &[]);
    assert_pieces("don't", &["dont"], &[]);
    assert_pieces("the plain index.", &["the", "plain", "index"], &[]);
    assert_pieces("read-index_v", &["readindexv", "read"], &["index", "v"]);
    assert_pieces("東京", &["東", "東京", "京"], &[]);
}

#[test]
fn a_query_asks_less_for_pieces_unless_they_also_stand_alone() {
    let weights = |query: &str| query_terms(query).into_iter().map(|term| term.weight).collect::<Vec<_>>();
    let piece = QUERY_PIECE_WEIGHT;
    assert_eq!(asked("retry_index of index"), ["retryindex", "retry", "index", "of"]);
    let identifiers: Vec<bool> =
        query_terms("retry_index of index").iter().map(|term| term.identifier).collect();
    assert_eq!(identifiers, [true, false, false, false]);
    assert_eq!(weights("retry_index of index"), [1.0, piece, 1.0, 1.0]);
    assert_eq!(weights("index of retry_index"), [1.0, 1.0, 1.0, piece]);
    assert_eq!(weights("dual-region don't"), [1.0; 4]);
}

#[test]
fn one_name_in_three_spellings_is_one_term() {
    let wholes = ["retry_index", "retry-index", "retryIndex"].map(|name| index_terms(name).swap_remove(0));
    assert_eq!(wholes, ["retryindex"; 3]);
}

#[test]
fn punctuation_around_a_name_is_no_part_of_it() {
    for text in [
        "(retry_index)",
        "`retry_index`.",
        "_retry_index_",
        "--retry_index...",
        "\"retry_index\":",
        "**retry_index**",
        "/retry_index/",
    ] {
        assert_terms(text, &["retryindex", "retry", "index"]);
    }
}

#[test]
fn a_dash_between_words_joins_only_when_it_stands_alone() {
    assert_terms("rack--seven", &["rack", "seven"]);
    assert_terms("rack...seven", &["rack", "seven"]);
    assert_terms("std::fs", &["std::fs", "std", "fs"]);
}

#[test]
fn hashes_and_encoded_data_are_not_taken_apart() {
    assert_terms("aGVsbG8gd29ybGQgYW5kIHNvIG9u", &["agvsbg8gd29ybgqgyw5kihnvig9u"]);
    let sha512 = "0f".repeat(64);
    assert_terms(&sha512, &[&sha512[..MAX_TERM_BYTES]]);
}

#[test]
fn a_compound_longer_than_a_term_is_found_by_its_parts() {
    let url = format!("https://wiki.example/{}/end", "part-".repeat(20));
    let terms = index_terms(&url);
    assert!(terms.iter().all(|term| term.len() <= MAX_TERM_BYTES));
    assert!(
        ["https", "wiki.example", "part", "end"].iter().all(|part| terms.iter().any(|term| term == part))
    );
}

/// F001, F008: words are independent of their joiner and their order.
#[test]
fn f001_a_compound_and_its_words_find_each_other() {
    assert!(holds("We chose the dual-region setup.", "dual-region"));
    assert!(holds("We chose the dual-region setup.", "dual region"));
    assert!(shared("We chose the dual region setup.", "dual-region") == 2);
    assert!(holds("The migration of the billing database is planned for May", "database migration"));
}

#[test]
fn f002_slashes_split_into_words() {
    let note = "Throughput reached 12 GB/s after tuning configs/ingest.toml";
    assert!(holds(note, "GB/s"));
    assert!(holds(note, "configs/ingest.toml"));
    assert!(holds(note, "ingest.toml"));
}

#[test]
fn f003_apostrophes_are_alike() {
    for query in ["don't restart", "don’t restart", "DON＇T restart", "dont restart"] {
        assert!(holds("Don't restart the broker on Fridays", query), "{query}");
    }
    assert_terms("Anna's l’école don’t we'll", &["annas", "anna", "lecole", "ecole", "dont", "well", "we"]);
}

/// F004, F005, F006, F014: operators and unbalanced signs are nothing.
#[test]
fn f004_operators_are_words_and_signs_are_nothing() {
    assert_eq!(asked("status: blocked"), ["status", "blocked"]);
    assert_eq!(asked("blocked OR"), ["blocked", "or"]);
    assert_eq!(asked("NEAR(secret plan)"), ["near", "secret", "plan"]);
    assert_eq!(asked(">>>"), [""; 0]);
    for query in ["(rust", "say \"rust", "rust)", "\"rust", "rust\\", "+rust", "rust^2~*"] {
        assert!(asked(query).contains(&"rust".to_owned()), "{query}");
    }
}

#[test]
fn f007_a_name_may_end_in_signs() {
    assert_terms("C++ and C#!", &["c++", "c", "and", "c#", "c"]);
    assert!(shared("The C++ build uses clang 18", "which compiler builds the C++ part?") >= 3);
    assert_terms("see #12, issue+", &["see", "12", "issue"]);
}

#[test]
fn f009_a_version_is_one_term_and_its_numbers() {
    assert_terms("7.14.2", &["7.14.2", "7", "14", "2"]);
    assert!(shared("Rolled back to 7.14.2 last night", "7.14.2") > shared("only 14 here", "7.14.2"));
}

#[test]
fn f010_a_compound_is_found_by_its_part_and_ranks_first_whole() {
    assert!(holds("POL-B731 covers retention", "B731"));
    assert!(shared("POL-B731 covers retention", "POL-B731") > shared("B731 spare part", "POL-B731"));
}

#[test]
fn f011_camel_case_is_found_by_its_words() {
    assert!(holds("call rebuildShadowIndex() after import", "shadow index"));
    assert!(
        shared("rebuildShadowIndex", "rebuildShadowIndex")
            > shared("rebuild shadow index", "rebuildShadowIndex")
    );
}

#[test]
fn f014_an_address_is_a_word_like_any_other() {
    let note = "see https://wiki.example/setup for usb-c adapters";
    for query in ["https://wiki.example/setup", "setup:", "wiki.example", "usb-c adapters\"\""] {
        assert!(holds(note, query), "{query}");
    }
}

#[test]
fn f015_words_inside_runs_without_spaces_are_found() {
    for (note, query) in [
        ("昨日は図書館で会議録を整理した", "会議録"),
        ("내일 도서관에서 회의록을 정리한다", "회의록"),
        ("下周二在图书馆整理会议纪要", "会议纪要"),
        ("服务器密码已轮换", "密码"),
        ("พรุ่งนี้ประชุมที่ห้องสมุด", "ประชุม"),
    ] {
        assert!(holds(note, query), "{query}");
    }
}

#[test]
fn f017_one_character_is_a_word_of_its_own_only_alone() {
    assert!(holds("东京的银行周一关门", "关"));
    assert!(holds("东京的银行周一关门", "东京的银行 周一"));
    assert_eq!(asked("银行关"), ["银行", "行关"]);
}

#[test]
fn f018_a_change_of_script_ends_a_word() {
    assert_eq!(asked("Jenkins流水线2026年"), ["jenkins", "流水", "水线", "2026", "年"]);
    assert!(shared("Jenkins 流水线昨晚部署超时", "Jenkins流水线超时") >= 4);
}

#[test]
fn f019_a_text_without_words_has_no_tokens() {
    assert!(token_set("--- 🧭 …").is_empty());
    assert_eq!(token_set("部署计划").len(), 3);
    assert_eq!(token_set("retry the retry_index"), token_set("THE index, retry"));
    assert_ne!(token_set("部署计划一"), token_set("部署计划二"));
}

#[test]
fn f020_composed_and_decomposed_letters_are_one() {
    assert!(holds("de\u{301}ploiement", "déploiement"));
    assert!(holds("déploiement", "DE\u{301}PLOIEMENT"));
    assert!(holds("deploiement", "déploiement"));
    assert_eq!(fold("Re\u{301}sume\u{301}.MD"), fold("résumé.md"));
}

#[test]
fn f021_invisible_characters_are_not_there_for_words() {
    let mut place = None;
    for_each_term("see data\u{200b}base now", &mut |term| {
        if term.text == "database" {
            place = Some((term.start, term.end));
        }
    });
    assert_eq!(place, Some((4, 15)));
    assert!(holds("fail\u{200d}over", "failover"));
    assert!(holds("soft\u{ad}ware 東\u{200b}京", "software 東京"));
}

#[test]
fn f022_vowel_marks_are_optional() {
    assert!(holds("كِتَابُ المَوَاعِيد", "كتاب المواعيد"));
    assert!(holds("كتاب المواعيد", "كِتَابُ المَوَاعِيد"));
    assert!(holds("שָׁלוֹם", "שלום"));
}

#[test]
fn marks_that_make_another_letter_stay() {
    assert_ne!(index_terms("ガス"), index_terms("カス"));
    assert_eq!(index_terms("カ\u{3099}ス"), index_terms("ガス"));
    assert_eq!(index_terms("ｶﾞｽ"), index_terms("ガス"));
    assert_ne!(index_terms("мой"), index_terms("мои"));
    assert_eq!(index_terms("мои\u{306}"), index_terms("мой"));
    assert_ne!(index_terms("की"), index_terms("का"));
    assert_eq!(index_terms("\u{1112}\u{1161}\u{11ab}"), index_terms("한"));
}

#[test]
fn width_ligatures_and_letters_typed_otherwise_fold() {
    for (text, folded) in [
        ("ＡＢＣ１２", "abc12"),
        ("ﬁle", "file"),
        ("Straße", "strasse"),
        ("Ærø", "aero"),
        ("ΟΔΟΣ", "οδοσ"),
        ("οδος", "οδοσ"),
        ("İstanbul", "istanbul"),
        ("ёлка", "елка"),
        ("Łódź", "lodz"),
        ("m²", "m2"),
    ] {
        assert_eq!(index_terms(text)[0], folded, "{text}");
        assert_eq!(fold(text), folded, "{text}");
    }
}

#[test]
fn a_query_is_cut_after_its_first_terms() {
    let query: String = (0..1000).map(|number| format!("word{number}x ")).collect();
    let terms = asked(&query);
    assert_eq!(terms.len(), MAX_QUERY_TERMS);
    assert_eq!(terms[..2], ["word0x", "word1x"]);
    assert_eq!(asked("again Again AGAIN"), ["again"]);
}

/// A letter or digit that is not only a mark in another form.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric()
        && !matches!(class(c), Class::Mark | Class::Ignorable)
        && fold(&c.to_string()).contains(char::is_alphanumeric)
}

/// Characters that decide about words, more often than chance would bring them together.
fn tricky() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z0-9]{1,3}",
        2 => "[-_./:@#+\\\\'’ ]",
        1 => "[\u{e9}\u{df}\u{130}\u{301}\u{308}\u{200b}\u{200d}\u{ad}\u{640}\u{64b}йЙ²ﬁㅎ０Ａ＿]",
        1 => "[東京かガ\u{3099}\u{ff76}\u{ff9e}한\u{1112}\u{1161}\u{11ab}ー々กา\u{e49}က\u{17b6}]",
        1 => "\\PC",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn terms_are_short_ascending_and_on_character_borders(text in tricky()) {
        let mut last = 0;
        for_each_term(&text, &mut |term| {
            assert!(!term.text.is_empty() && term.text.len() <= MAX_TERM_BYTES, "{term:?}");
            assert!(last <= term.start && term.start < term.end, "{term:?}");
            assert!(text.get(term.start..term.end).is_some(), "{term:?}");
            last = term.start;
        });
    }

    #[test]
    fn a_text_is_found_by_itself(text in tricky()) {
        let terms = index_terms(&text);
        prop_assert!(asked(&text).iter().all(|term| terms.contains(term)), "{:?}", terms);
    }

    #[test]
    fn folding_changes_no_word_twice(text in tricky()) {
        prop_assert_eq!(fold(&fold(&text)), fold(&text));
    }

    #[test]
    fn a_text_with_index_terms_has_words_and_a_query(text in tricky()) {
        let some = !index_terms(&text).is_empty();
        prop_assert_eq!(!asked(&text).is_empty(), some);
        prop_assert_eq!(!token_set(&text).is_empty(), some);
    }

    #[test]
    fn every_word_of_uax29_lies_inside_a_run(text in tricky()) {
        let mut covered = vec![false; text.len()];
        for_each_term(&text, &mut |term| covered[term.start..term.end].fill(true));
        for (start, word) in text.unicode_word_indices() {
            for (offset, c) in word.char_indices().filter(|&(_, c)| is_letter(c)) {
                prop_assert!(covered[start + offset], "{c:?} of {word:?} in {text:?}");
            }
        }
    }
}
