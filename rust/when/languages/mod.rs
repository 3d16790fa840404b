//! The words of each language, as rows `(phrases, what they can be)`.
//!
//! Phrases of a row are separated by `|`; `~` stands for the endings of a German adjective. They are folded like
//! questions are, so case, accents and width do not matter. A phrase may stand in several rows and languages; what it
//! is in a question follows from its neighbours.

mod chinese;
mod english;
mod french;
mod german;
mod japanese;
mod spanish;

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Day,
    Week,
    /// Saturday and Sunday.
    Weekend,
    Month,
    Quarter,
    Year,
}

/// What a phrase can be to a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    /// A cardinal number.
    Number(i64),
    /// An ordinal number.
    Ordinal(i64),
    /// A few, several.
    Few,
    Unit(Unit),
    /// So many of a unit in one word: a fortnight, 半年.
    Amount(i64, Unit),
    /// 1..=12.
    Month(i64),
    /// The same, where the word is as often something else ("may"): needs a neighbour that says so.
    MonthOr(i64),
    /// 0 for Monday.
    Weekday(i64),
    /// The same, where naming the day alone does not mean one day ("the Tuesday meeting", "sun").
    WeekdayOr(i64),
    /// 0 for Monday, after a word for week: 上周二.
    DayOfWeek(i64),
    /// 0 for winter, which begins with December.
    Season(i64),
    /// 1..=4.
    Quarter(i64),
    /// Days from today.
    Day(i64),
    /// "hier": yesterday in French, here in German.
    YesterdayInFrench,
    /// Units from the present one: 去年 is (Year, −1).
    Relative(Unit, i64),
    /// The same for the unit after it: last −1, this 0, next 1.
    Turn(i64),
    /// The same for the unit before it: "mardi dernier".
    TurnAfter(i64),
    /// So many units up to today: the past three weeks, 最近三天.
    Rolling,
    /// 0 beginning, 1 middle, 2 end; before what it is a part of or, in Chinese and Japanese, after it.
    Part(i64),
    /// Before so many units, "vor"; after them, "ago".
    AgoBefore,
    AgoAfter,
    /// Before so many units, "dans"; after them, 后.
    HenceBefore,
    HenceAfter,
    /// From a time up to today; before it or, 以来, after it.
    SinceBefore,
    SinceAfter,
    /// Before or up to a time, said before it or, 之前, after it.
    BeforeBefore,
    BeforeAfter,
    UntilBefore,
    UntilAfter,
    /// Said before a time: the days after it.
    AfterBefore,
    /// Between the first and the last of several days.
    To,
    /// The same after `Between`.
    And,
    Between,
    /// 年 after a year, 月 after a month, 日 after a day of the month.
    YearMark,
    MonthMark,
    DayMark,
    /// A preposition that makes a time of what follows: in, on, im, en.
    In,
    /// of, de, の.
    Of,
    /// An article.
    The,
    /// Makes a day of the week a habit: "every Tuesday".
    Every,
    /// Counts things, 个: what stands before it is a number.
    Counter,
    /// A word for someone or something known: "before we moved", "before my trip".
    Known,
    /// The time before an event, whatever is said of it: 搬家之前, "bevor".
    BeforeEvent,
    /// Of itself about a time that is over: "formerly".
    Formerly,
    /// Of itself about now: "currently", "latest", "recently".
    Currently,
    /// The same unless it stands beside a unit: "dernier".
    Latest,
    /// A verb in the past: "did".
    Did,
    /// A verb that makes "before" a plan or a place: "should", "is".
    Does,
    /// A word that tells French or German.
    French,
    German,
    /// Part of another word: 名前, "lo antes posible".
    Nothing,
}

/// Rows of a language.
type Table = &'static [(&'static str, Sense)];

const TABLES: [Table; 6] =
    [english::TABLE, german::TABLE, french::TABLE, spanish::TABLE, chinese::TABLE, japanese::TABLE];

/// Endings of a German adjective.
const ENDINGS: [&str; 5] = ["e", "en", "er", "es", "em"];

/// Calls `sink` with every phrase of every language.
pub(super) fn each_phrase(sink: &mut dyn FnMut(&str, Sense)) {
    for (phrases, sense) in TABLES.into_iter().flatten() {
        for phrase in phrases.split('|') {
            if phrase.contains('~') {
                ENDINGS.iter().for_each(|ending| sink(&phrase.replace('~', ending), *sense));
            } else {
                sink(phrase, *sense);
            }
        }
    }
    for number in 1..=31 {
        sink(&chinese::numeral(number), Sense::Number(number as i64));
    }
    for month in 1..=12 {
        sink(&format!("{}月", chinese::numeral(month)), Sense::Month(month as i64));
    }
}
