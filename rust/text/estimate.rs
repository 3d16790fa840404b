//! How many tokens a model is likely to see.

/// Tokens a model is likely to see in `text`: about one for four characters of Latin text, one for two of another alphabet,
/// one for a CJK character or any sign that is no letter, two for what lies beyond the basic plane (but for emoji); never
/// zero for a text that is not empty.
pub fn token_estimate(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    if ascii == text.len() {
        return ascii.div_ceil(4);
    }
    let others: usize = text.chars().filter(|c| !c.is_ascii()).map(quarters).sum();
    (ascii + others).div_ceil(4)
}

/// What a character beyond ASCII costs, in quarters of a token.
fn quarters(c: char) -> usize {
    match c {
        '×' | '÷' => 4,
        // Latin with diacritics, composed or not.
        '\u{aa}' | '\u{ba}' | '\u{c0}'..='\u{2af}' | '\u{300}'..='\u{36f}' | '\u{1e00}'..='\u{1eff}' => 1,
        // Alphabets and abugidas from Greek to Georgian, and the Arabic presentation forms.
        '\u{370}'..='\u{10ff}'
        | '\u{1200}'..='\u{1fff}'
        | '\u{a640}'..='\u{a69f}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' => 2,
        '\u{1f000}'..='\u{1faff}' => 4,
        '\u{10000}'.. => 8,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn latin_text_costs_a_token_for_four_characters() {
        let costs = ["", "a", "hello", "héllo", "The broker moved to rack 7."].map(token_estimate);
        assert_eq!(costs, [0, 1, 2, 2, 7]);
    }

    #[test]
    fn a_cjk_character_costs_a_token() {
        for (text, tokens) in
            [("日本語", 3), ("漢字かな交じり文", 8), ("한국어", 3), ("ㄱㄴ", 2), ("、。", 2), ("ＡＢＣ", 3)]
        {
            assert_eq!(token_estimate(text), tokens, "{text}");
        }
    }

    /// F040: a model may see a token for every sign of a drawing.
    #[test]
    fn a_drawing_costs_a_token_for_every_sign() {
        assert_eq!(token_estimate(&"：│─┼".repeat(2000)), 8000);
        assert!(token_estimate("👩\u{200d}👩\u{200d}👧") >= 5);
    }

    proptest! {
        #[test]
        fn a_text_costs_something_and_no_more_than_its_bytes(text in "\\PC{0,60}") {
            let tokens = token_estimate(&text);
            prop_assert_eq!(tokens == 0, text.is_empty());
            prop_assert!(tokens <= text.len());
        }

        #[test]
        fn a_longer_text_never_costs_less(text in "\\PC{0,60}", more in "\\PC{0,20}") {
            let longer = text.clone() + &more;
            prop_assert!(token_estimate(&longer) >= token_estimate(&text));
        }
    }
}
