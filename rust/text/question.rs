//! Words that make a question of a sentence: they say what kind of answer is wanted, not what it is about.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// What such a word in a query counts.
pub(super) const WEIGHT: f32 = 0.1;

/// Folded; in scripts without spaces the grams they fall into.
const WORDS: [&str; 6] = [
    "what who whom whose when where why how which did does do is are was were",
    "was wer wen wem wessen wie wieviel wo wohin woher wann warum wieso weshalb welche welcher welches welchen welchem wofur \
     worin woraus wozu worum woran worauf womit wodurch wovon",
    "que qui quoi quand ou pourquoi comment quel quelle quels quelles combien ",
    "que quien quienes cuando donde cual cuales cuanto cuanta cuantos cuantas como",
    "什么 是什 么是 哪个 哪些 哪里 哪儿 哪一 哪位 哪年 哪种 谁的 是谁 多少 为什 怎么 怎样 么样 如何 几个 几年 哪 谁 么",
    "何で 何の 何を 何が 何と 何に 何年 何人 なぜ いつ どこ だれ 誰が 誰の 誰に 誰と どの どん どう どれ なに なん いく くつ くら です \
     すか ます たか るか のか なの 何か 何処 何 誰",
];

static ALL: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| WORDS.iter().flat_map(|words| words.split_whitespace()).collect());

/// Whether a folded term is one of them.
pub(super) fn asks(term: &str) -> bool {
    ALL.contains(term)
}
