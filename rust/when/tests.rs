use proptest::prelude::*;

use super::*;
use crate::calendar::{Date, iso};

/// A Wednesday.
const TODAY: &str = "2026-07-01";

fn today() -> i64 {
    iso(TODAY).expect("a real date")
}

/// `2026-06-30`, `2026-06-22..2026-06-28`, `..2026-02-28`; several with `, `.
fn shown(spans: &[DaySpan]) -> String {
    let day = |day| {
        let Date { year, month, day } = Date::of(day);
        format!("{year:04}-{month:02}-{day:02}")
    };
    let span = |span: &DaySpan| match span {
        DaySpan { first: i64::MIN, last } => format!("..{}", day(*last)),
        DaySpan { first, last } if first == last => day(*first),
        DaySpan { first, last } => format!("{}..{}", day(*first), day(*last)),
    };
    spans.iter().map(span).collect::<Vec<_>>().join(", ")
}

fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(query, expected)| (query, expected, shown(&time_of_question(query, today()).spans)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(query, expected, found)| format!("{query}: expected [{expected}], found [{found}]"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn times_in_english() {
    check(&[
        ("what did we decide last Tuesday?", "2026-06-30"),
        ("what did we decide on Tuesday", "2026-06-30"),
        ("who called on Wednesday", "2026-06-24"),
        ("the meeting on Tuesday last week", "2026-06-23"),
        ("last week on Friday", "2026-06-26"),
        ("notes of Tuesday, March 3, 2026", "2026-03-03"),
        ("yesterday's standup", "2026-06-30"),
        ("the day before yesterday", "2026-06-29"),
        ("what is planned for tomorrow", "2026-07-02"),
        ("anything today?", "2026-07-01"),
        ("last week", "2026-06-22..2026-06-28"),
        ("this week's tasks", "2026-06-29..2026-07-05"),
        ("the week before last", "2026-06-15..2026-06-21"),
        ("last month", "2026-06-01..2026-06-30"),
        ("last year", "2025-01-01..2025-12-31"),
        ("last quarter", "2026-04-01..2026-06-30"),
        ("last weekend", "2026-06-27..2026-06-28"),
        ("3 days ago", "2026-06-28"),
        ("three weeks ago", "2026-06-07..2026-06-13"),
        ("a month ago", "2026-05-17..2026-06-16"),
        ("a few days ago", "2026-06-24..2026-06-29"),
        ("the past three weeks", "2026-06-10..2026-07-01"),
        ("in the last 3 days", "2026-06-28..2026-07-01"),
        ("over the past week", "2026-06-24..2026-07-01"),
        ("in March", "2026-03-01..2026-03-31"),
        ("last March", "2026-03-01..2026-03-31"),
        ("last August", "2025-08-01..2025-08-31"),
        ("in december", "2025-12-01..2025-12-31"),
        ("in may", "2026-05-01..2026-05-31"),
        ("May 2024", "2024-05-01..2024-05-31"),
        ("March 5th", "2026-03-05"),
        ("5 March 2024", "2024-03-05"),
        ("the 5th of May", "2026-05-05"),
        ("on Dec. 24", "2025-12-24"),
        ("early March", "2026-03-01..2026-03-10"),
        ("mid-March 2025", "2025-03-11..2025-03-20"),
        ("at the end of February", "2026-02-19..2026-02-28"),
        ("late 2023", "2023-08-31..2023-12-31"),
        ("March last year", "2025-03-01..2025-03-31"),
        ("in 2023", "2023-01-01..2023-12-31"),
        ("the year 2023", "2023-01-01..2023-12-31"),
        ("Q1 2025", "2025-01-01..2025-03-31"),
        ("in the second quarter", "2026-04-01..2026-06-30"),
        ("the first quarter of 2024", "2024-01-01..2024-03-31"),
        ("last summer", "2025-06-01..2025-08-31"),
        ("spring 2024", "2024-03-01..2024-05-31"),
        ("summer of 2023", "2023-06-01..2023-08-31"),
        ("since March", "2026-03-01..2026-07-01"),
        ("since last Friday", "2026-06-26..2026-07-01"),
        ("before March", "..2026-02-28"),
        ("until 2023", "..2023-12-31"),
        ("after May 10", "2026-05-11..2026-07-01"),
        ("from March to May 2023", "2023-03-01..2023-05-31"),
        ("between November and February", "2025-11-01..2026-02-28"),
        ("2024-03-05", "2024-03-05"),
        ("log of 2024/3/5", "2024-03-05"),
        ("3/14/2024", "2024-03-14"),
        ("03/04/2024", "2024-04-03, 2024-03-04"),
        ("2024-03", "2024-03-01..2024-03-31"),
        ("in two weeks", "2026-07-12..2026-07-18"),
        ("the week before March 30, 2026", "2026-03-23..2026-03-29"),
        ("two days before last Tuesday", "2026-06-28"),
        ("yesterday or on Monday", "2026-06-30, 2026-06-29"),
    ]);
}

#[test]
fn times_in_german() {
    check(&[
        ("Was haben wir letzten Dienstag beschlossen?", "2026-06-30"),
        ("am Dienstag", "2026-06-30"),
        ("am vergangenen Freitag", "2026-06-26"),
        ("Dienstag letzter Woche", "2026-06-23"),
        ("letzte Woche am Freitag", "2026-06-26"),
        ("nächsten Montag", "2026-07-06"),
        ("gestern", "2026-06-30"),
        ("vorgestern Abend", "2026-06-29"),
        ("was steht heute an", "2026-07-01"),
        ("morgen früh", "2026-07-02"),
        ("letzte Woche", "2026-06-22..2026-06-28"),
        ("vorletzte Woche", "2026-06-15..2026-06-21"),
        ("in dieser Woche", "2026-06-29..2026-07-05"),
        ("letzten Monat", "2026-06-01..2026-06-30"),
        ("im vergangenen Jahr", "2025-01-01..2025-12-31"),
        ("im letzten Quartal", "2026-04-01..2026-06-30"),
        ("am letzten Wochenende", "2026-06-27..2026-06-28"),
        ("vor drei Wochen", "2026-06-07..2026-06-13"),
        ("vor 3 Tagen", "2026-06-28"),
        ("vor einem Jahr", "2024-12-31..2025-12-30"),
        ("vor ein paar Tagen", "2026-06-24..2026-06-29"),
        ("vor einem halben Jahr", "2025-12-17..2026-01-16"),
        ("in den letzten drei Tagen", "2026-06-28..2026-07-01"),
        ("in den letzten Tagen", "2026-06-24..2026-06-30"),
        ("im März", "2026-03-01..2026-03-31"),
        ("im marz", "2026-03-01..2026-03-31"),
        ("im MAERZ", "2026-03-01..2026-03-31"),
        ("die Rechnung vom Mai", "2026-05-01..2026-05-31"),
        ("Jänner 2025", "2025-01-01..2025-01-31"),
        ("Anfang März", "2026-03-01..2026-03-10"),
        ("Mitte Mai 2024", "2024-05-11..2024-05-20"),
        ("Ende letzten Jahres", "2025-08-31..2025-12-31"),
        ("Ende des Monats", "2026-07-21..2026-07-31"),
        ("am 5. März", "2026-03-05"),
        ("3. Oktober 2024", "2024-10-03"),
        ("5.3.2024", "2024-03-05"),
        ("am 24.12.2025", "2025-12-24"),
        ("März letzten Jahres", "2025-03-01..2025-03-31"),
        ("im Jahr 2023", "2023-01-01..2023-12-31"),
        ("im 3. Quartal", "2026-07-01..2026-09-30"),
        ("im ersten Quartal 2025", "2025-01-01..2025-03-31"),
        ("letzten Sommer", "2025-06-01..2025-08-31"),
        ("im Herbst", "2025-09-01..2025-11-30"),
        ("Frühjahr 2024", "2024-03-01..2024-05-31"),
        ("seit März", "2026-03-01..2026-07-01"),
        ("seit drei Wochen", "2026-06-10..2026-07-01"),
        ("vor März", "..2026-02-28"),
        ("bis Mai", "..2026-05-31"),
        ("zwischen März und Mai", "2026-03-01..2026-05-31"),
        ("von November bis Februar 2025", "2024-11-01..2025-02-28"),
        ("in zwei Wochen", "2026-07-12..2026-07-18"),
        ("zwei Wochen nach dem 5. Mai", "2026-05-16..2026-05-22"),
    ]);
}

#[test]
fn times_in_french() {
    check(&[
        ("qu'avons-nous décidé mardi dernier ?", "2026-06-30"),
        ("qu'avons-nous décidé mardi", "2026-06-30"),
        ("vendredi de la semaine dernière", "2026-06-26"),
        ("lundi prochain", "2026-07-06"),
        ("qu'est-ce qu'on a dit hier ?", "2026-06-30"),
        ("avant-hier", "2026-06-29"),
        ("aujourd’hui", "2026-07-01"),
        ("demain", "2026-07-02"),
        ("après-demain", "2026-07-03"),
        ("la semaine dernière", "2026-06-22..2026-06-28"),
        ("cette semaine", "2026-06-29..2026-07-05"),
        ("le mois dernier", "2026-06-01..2026-06-30"),
        ("l'année dernière", "2025-01-01..2025-12-31"),
        ("l'an dernier", "2025-01-01..2025-12-31"),
        ("le week-end dernier", "2026-06-27..2026-06-28"),
        ("il y a 3 jours", "2026-06-28"),
        ("il y a deux semaines", "2026-06-14..2026-06-20"),
        ("il y a un an", "2024-12-31..2025-12-30"),
        ("il y a quelques jours", "2026-06-24..2026-06-29"),
        ("les 3 derniers jours", "2026-06-28..2026-07-01"),
        ("ces derniers jours", "2026-06-24..2026-06-30"),
        ("en mars", "2026-03-01..2026-03-31"),
        ("au mois de mai", "2026-05-01..2026-05-31"),
        ("août 2024", "2024-08-01..2024-08-31"),
        ("le 5 mars", "2026-03-05"),
        ("1er mai 2024", "2024-05-01"),
        ("mars dernier", "2026-03-01..2026-03-31"),
        ("mars de l'année dernière", "2025-03-01..2025-03-31"),
        ("début mars", "2026-03-01..2026-03-10"),
        ("à la mi-mai", "2026-05-11..2026-05-20"),
        ("fin 2023", "2023-08-31..2023-12-31"),
        ("à la fin du mois dernier", "2026-06-21..2026-06-30"),
        ("en 2023", "2023-01-01..2023-12-31"),
        ("au premier trimestre 2025", "2025-01-01..2025-03-31"),
        ("le trimestre dernier", "2026-04-01..2026-06-30"),
        ("l'été dernier", "2025-06-01..2025-08-31"),
        ("hiver 2024", "2024-12-01..2025-02-28"),
        ("depuis mars", "2026-03-01..2026-07-01"),
        ("depuis 3 jours", "2026-06-28..2026-07-01"),
        ("avant mars", "..2026-02-28"),
        ("entre mars et mai", "2026-03-01..2026-05-31"),
        ("de mars à mai 2023", "2023-03-01..2023-05-31"),
        ("dans 3 jours", "2026-07-04"),
    ]);
}

#[test]
fn times_in_spanish() {
    check(&[
        ("¿qué decidimos el martes pasado?", "2026-06-30"),
        ("el martes", "2026-06-30"),
        ("el viernes de la semana pasada", "2026-06-26"),
        ("el lunes que viene", "2026-07-06"),
        ("ayer", "2026-06-30"),
        ("anteayer", "2026-06-29"),
        ("hoy", "2026-07-01"),
        ("mañana", "2026-07-02"),
        ("pasado mañana", "2026-07-03"),
        ("la semana pasada", "2026-06-22..2026-06-28"),
        ("esta semana", "2026-06-29..2026-07-05"),
        ("el mes pasado", "2026-06-01..2026-06-30"),
        ("el año pasado", "2025-01-01..2025-12-31"),
        ("el fin de semana pasado", "2026-06-27..2026-06-28"),
        ("el último trimestre", "2026-04-01..2026-06-30"),
        ("hace dos semanas", "2026-06-14..2026-06-20"),
        ("hace 3 días", "2026-06-28"),
        ("hace un mes", "2026-05-17..2026-06-16"),
        ("hace unos días", "2026-06-24..2026-06-29"),
        ("tres días atrás", "2026-06-28"),
        ("los últimos tres meses", "2026-04-01..2026-07-01"),
        ("en los últimos días", "2026-06-24..2026-06-30"),
        ("en marzo", "2026-03-01..2026-03-31"),
        ("en mayo", "2026-05-01..2026-05-31"),
        ("el 5 de mayo de 2024", "2024-05-05"),
        ("3 de octubre", "2025-10-03"),
        ("marzo pasado", "2026-03-01..2026-03-31"),
        ("marzo del año pasado", "2025-03-01..2025-03-31"),
        ("a principios de marzo", "2026-03-01..2026-03-10"),
        ("a mediados de mayo", "2026-05-11..2026-05-20"),
        ("a finales del año pasado", "2025-08-31..2025-12-31"),
        ("en 2023", "2023-01-01..2023-12-31"),
        ("en el primer trimestre de 2025", "2025-01-01..2025-03-31"),
        ("el verano pasado", "2025-06-01..2025-08-31"),
        ("primavera de 2024", "2024-03-01..2024-05-31"),
        ("desde marzo", "2026-03-01..2026-07-01"),
        ("desde hace tres semanas", "2026-06-10..2026-07-01"),
        ("antes de marzo", "..2026-02-28"),
        ("hasta mayo", "..2026-05-31"),
        ("entre marzo y mayo", "2026-03-01..2026-05-31"),
        ("de noviembre a febrero", "2025-11-01..2026-02-28"),
        ("dentro de dos semanas", "2026-07-12..2026-07-18"),
    ]);
}

#[test]
fn times_in_chinese() {
    check(&[
        ("上周决定了什么", "2026-06-22..2026-06-28"),
        ("上週決定了什麼", "2026-06-22..2026-06-28"),
        ("上周二我们决定了什么？", "2026-06-23"),
        ("上个星期五", "2026-06-26"),
        ("周二的会议", "2026-06-30"),
        ("下周一", "2026-07-06"),
        ("昨天", "2026-06-30"),
        ("前天晚上", "2026-06-29"),
        ("今天有什么", "2026-07-01"),
        ("明天", "2026-07-02"),
        ("这周的任务", "2026-06-29..2026-07-05"),
        ("上个月", "2026-06-01..2026-06-30"),
        ("本月", "2026-07-01..2026-07-31"),
        ("去年", "2025-01-01..2025-12-31"),
        ("前年", "2024-01-01..2024-12-31"),
        ("上个季度", "2026-04-01..2026-06-30"),
        ("上周末", "2026-06-27..2026-06-28"),
        ("3天前", "2026-06-28"),
        ("三天前买了什么", "2026-06-28"),
        ("三个星期前", "2026-06-07..2026-06-13"),
        ("两个月之前", "2026-04-16..2026-05-16"),
        ("几天前", "2026-06-24..2026-06-29"),
        ("半年前", "2025-12-17..2026-01-16"),
        ("最近三天", "2026-06-28..2026-07-01"),
        ("过去两周", "2026-06-17..2026-07-01"),
        ("近三个月", "2026-04-01..2026-07-01"),
        ("三月", "2026-03-01..2026-03-31"),
        ("在3月份", "2026-03-01..2026-03-31"),
        ("十二月", "2025-12-01..2025-12-31"),
        ("3月5日", "2026-03-05"),
        ("三月五号", "2026-03-05"),
        ("2024年3月5日", "2024-03-05"),
        ("２０２４年３月", "2024-03-01..2024-03-31"),
        ("2023年", "2023-01-01..2023-12-31"),
        ("去年三月", "2025-03-01..2025-03-31"),
        ("上个月5号", "2026-06-05"),
        ("三月初", "2026-03-01..2026-03-10"),
        ("5月中旬", "2026-05-11..2026-05-20"),
        ("上个月底", "2026-06-21..2026-06-30"),
        ("去年年底", "2025-08-31..2025-12-31"),
        ("2023年底", "2023-08-31..2023-12-31"),
        ("第一季度", "2026-01-01..2026-03-31"),
        ("2025年第二季度", "2025-04-01..2025-06-30"),
        ("去年夏天", "2025-06-01..2025-08-31"),
        ("三月以来", "2026-03-01..2026-07-01"),
        ("三月之前", "..2026-02-28"),
        ("1997年以前", "..1996-12-31"),
        ("1861年10月12日", "1861-10-12"),
        ("近50年", "1976-07-01..2026-07-01"),
        ("三月到五月", "2026-03-01..2026-05-31"),
        ("3天后", "2026-07-04"),
    ]);
}

#[test]
fn times_in_japanese() {
    check(&[
        ("先週何を決めましたか", "2026-06-22..2026-06-28"),
        ("先週の火曜日に何を決めたか", "2026-06-23"),
        ("火曜日の会議", "2026-06-30"),
        ("来週の月曜", "2026-07-06"),
        ("昨日", "2026-06-30"),
        ("きのうの夕食", "2026-06-30"),
        ("一昨日", "2026-06-29"),
        ("おととい", "2026-06-29"),
        ("今日の予定", "2026-07-01"),
        ("明日", "2026-07-02"),
        ("今週", "2026-06-29..2026-07-05"),
        ("来週", "2026-07-06..2026-07-12"),
        ("先々週", "2026-06-15..2026-06-21"),
        ("先月", "2026-06-01..2026-06-30"),
        ("今月", "2026-07-01..2026-07-31"),
        ("昨年", "2025-01-01..2025-12-31"),
        ("一昨年", "2024-01-01..2024-12-31"),
        ("先週末", "2026-06-27..2026-06-28"),
        ("先週の週末", "2026-06-27..2026-06-28"),
        ("3日前", "2026-06-28"),
        ("三日前に買ったもの", "2026-06-28"),
        ("2週間前", "2026-06-14..2026-06-20"),
        ("３か月前", "2026-03-17..2026-04-16"),
        ("数日前", "2026-06-24..2026-06-29"),
        ("半年前", "2025-12-17..2026-01-16"),
        ("過去3日間", "2026-06-28..2026-07-01"),
        ("ここ3日", "2026-06-28..2026-07-01"),
        ("3月", "2026-03-01..2026-03-31"),
        ("三月の旅行", "2026-03-01..2026-03-31"),
        ("3月5日", "2026-03-05"),
        ("2024年3月5日の記録", "2024-03-05"),
        ("2023年に", "2023-01-01..2023-12-31"),
        ("去年の3月", "2025-03-01..2025-03-31"),
        ("先月5日", "2026-06-05"),
        ("3月上旬", "2026-03-01..2026-03-10"),
        ("5月半ば", "2026-05-11..2026-05-20"),
        ("先月末", "2026-06-21..2026-06-30"),
        ("去年の終わり", "2025-08-31..2025-12-31"),
        ("第1四半期", "2026-01-01..2026-03-31"),
        ("去年の夏", "2025-06-01..2025-08-31"),
        ("3月から", "2026-03-01..2026-07-01"),
        ("3月以降", "2026-03-01..2026-07-01"),
        ("3月以前", "..2026-02-28"),
        ("3月から5月まで", "2026-03-01..2026-05-31"),
        ("3日後", "2026-07-04"),
    ]);
}

#[test]
fn what_only_looks_like_a_time_is_none() {
    let quiet = [
        "may I have the password",
        "who may deploy",
        "march of the penguins",
        "how to march",
        "wait a second",
        "second monitor",
        "the sun and the moon",
        "who sat next to Anna",
        "spring boot configuration",
        "fall back to keyword search",
        "version 1.2.3",
        "upgrade to 2024.1.3",
        "2024-13-45",
        "2024-02-30",
        "F036 extra paths",
        "F2024",
        "at 10:30",
        "10:30:45",
        "port 2049",
        "OPS-2024",
        "192.168.10.2",
        "memory/2026-02-10.md",
        "2026-02-10-standup",
        "retry-march",
        "now-playing widget", // joined words are a name
        "in 3 steps",
        "a day in the life",
        "one week of vacation",
        "every Tuesday",
        "the Tuesday meeting",
        "Mars rover",
        "tarro de mayonesa y mayo",
        "la mar",
        "wer ist hier der Chef",
        "was kostet der Eintritt hier",
        "guten Morgen",
        "a été utilisé",
        "le mardi",
        "por la mañana",
        "mes clés",
        "sept personnes",
        "名前は何ですか",
        "午前の会議",
        "每周一",
        "毎週火曜日",
        "三个人",
        "天气",
        "月光",
        "3ヶ月",
        "5kg",
        "3d printer",
        "v2026",
        "",
        " \n",
        "...",
    ];
    let wrong: Vec<_> = quiet
        .iter()
        .map(|query| (query, time_of_question(query, today())))
        .filter(|(_, when)| !when.spans.is_empty())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn questions_about_now_say_so() {
    for query in [
        "what is the current router",
        "which provider do we use now",
        "latest invoice number",
        "the newest phone plan",
        "do we still use Omada",
        "when was the last time we paid",
        "wie lautet das aktuelle Passwort",
        "wo wohnt Anna derzeit",
        "die neueste Version",
        "welchen Tarif haben wir jetzt",
        "le mot de passe actuel",
        "la dernière facture",
        "où habite-t-elle maintenant",
        "¿cuál es la contraseña actual?",
        "el último contrato",
        "dónde vive ahora",
        "现在的路由器是什么",
        "目前的密码",
        "最新的合同",
        "当前版本",
        "今の住所",
        "最新の契約",
        "現在のパスワード",
        "今どこに住んでいますか",
        "what have I worked on recently",
        "neulich beim Zahnarzt",
        "le médecin récemment",
        "recientemente en el médico",
        "最近买了什么",
        "最近読んだ本",
        "what is current in this week's plan",
    ] {
        assert_eq!(time_of_question(query, today()).tense, Tense::Present, "{query}");
    }
}

#[test]
fn the_time_before_something_is_past_without_days() {
    for query in [
        "before the move",
        "which provider did we have before the move?",
        "what did we use before we switched",
        "what did we use before migrating",
        "where did Anna work previously",
        "what was it originally",
        "Welchen Anbieter hatten wir vor dem Umzug?",
        "bevor wir umgezogen sind",
        "wo hat Anna früher gearbeitet",
        "was galt damals",
        "quel fournisseur avions-nous avant le déménagement",
        "où travaillait-elle autrefois",
        "qué proveedor teníamos antes de la mudanza",
        "¿qué usábamos antes de migrar?",
        "dónde trabajaba antes",
        "搬家之前用什么",
        "以前的供应商",
        "当时的密码",
        "引っ越す前に使っていた会社",
        "以前の住所",
        "当時の担当者",
    ] {
        let when = time_of_question(query, today());
        assert_eq!((when.tense, when.spans.len()), (Tense::Past, 0), "{query}");
    }
}

#[test]
fn plans_and_places_are_not_past() {
    for query in [
        "what should I do before the trip",
        "which tests must run before the release",
        "wo liegt der Schlüssel vor der Tür",
        "que faut-il faire avant le départ",
        "qué debo hacer antes de la reunión",
        "出发之前需要做什么",
        "lo antes posible",
        "名前は何ですか",
        "目の前の店",
        "router password",
        "albendazole is used to treat it",
        "Auflösung der Ehe",
        "actual.items",
        "出现在哪里",
        "何といいますか",
        "你在这天做了什么",
        "1990年代",
        "how many months in 1024 MB",
    ] {
        assert_eq!(time_of_question(query, today()).tense, Tense::Open, "{query}");
    }
}

#[test]
fn days_that_are_over_win_over_words_for_now() {
    let tense = |query| time_of_question(query, today()).tense;
    assert_eq!(tense("what did we decide last week about the current router"), Tense::Past);
    assert_eq!(tense("last week"), Tense::Past);
    for query in ["next week", "since March", "过去三天", "today's plan", "diese Woche", "in July"] {
        assert_eq!(tense(query), Tense::Open, "{query}");
    }
}

#[test]
fn the_words_of_a_time_are_named() {
    let when = |query| {
        let when = time_of_question(query, today());
        when.matched.into_iter().map(|range| query[range].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(when("Was haben wir Anfang März 2024 beschlossen?"), ["Anfang März 2024"]);
    assert_eq!(when("in May or yesterday"), ["May", "yesterday"]);
    assert_eq!(when("我上个月５号买了什么"), ["上个月５号"]);
    assert_eq!(when("mid-March"), ["mid-March"]);
}

#[test]
fn the_year_of_a_month_follows_from_today() {
    let in_march = |today| shown(&time_of_question("in March", iso(today).expect("a date")).spans);
    assert_eq!(in_march("2026-03-01"), "2026-03-01..2026-03-31");
    assert_eq!(in_march("2026-02-28"), "2025-03-01..2025-03-31");
    let leap = |today| shown(&time_of_question("February 29", iso(today).expect("a date")).spans);
    assert_eq!(leap("2026-07-01"), "2024-02-29");
    assert_eq!(leap("1905-01-01"), "1904-02-29");
}

#[test]
fn days_outside_of_the_calendar_are_no_days() {
    assert_eq!(time_of_question("9999 years ago", today()).spans, []);
    for today in [i64::MIN, i64::MAX, 0, -719_162, 2_932_896] {
        for query in
            ["next year", "9999 months ago", "in 9999 years", "last week", "yesterday", "before March"]
        {
            time_of_question(query, today);
        }
    }
}

/// Texts made of the words that mean something, in any order.
fn any_words() -> impl Strategy<Value = String> {
    let mut words = vec!["2024", "31", "5th", "-", "/", ".", "x", "24", "03", "十", "の", "的", "、"];
    words.extend([
        "from", "between", "and", "to", "last", "week", "Tuesday", "of", "the", "march", "since", "before",
        "ago", "three", "vor", "Wochen", "Anfang", "Quartal", "il y a", "jours", "dernier", "hace", "mes",
        "pasado", "上", "周", "年", "月", "日", "前", "から", "夏", "底", "9999", "after", "until", "year",
        "Q3", "summer", "few", "hier",
    ]);
    prop::collection::vec(prop::sample::select(words), 0..12).prop_flat_map(|words| {
        prop::sample::select(vec![" ", "", "-"]).prop_map(move |space| words.join(space))
    })
}

proptest! {
    #[test]
    fn any_text_on_any_day_is_read(query in prop_oneof![".{0,60}", any_words()], today in any::<i64>()) {
        let when = time_of_question(&query, today);
        prop_assert!(when.spans.iter().all(|span| span.first <= span.last));
        prop_assert!(when.matched.iter().all(|range| query.get(range.clone()).is_some_and(|text| !text.is_empty())));
        prop_assert!(when.matched.is_sorted_by(|one, other| one.end <= other.start));
        prop_assert_eq!(when.matched.is_empty(), when.spans.is_empty());
    }

    #[test]
    fn the_days_do_not_depend_on_case_or_width(query in any_words(), today in 0i64..40_000) {
        let spans = time_of_question(&query, today).spans;
        prop_assert_eq!(&spans, &time_of_question(&query.to_uppercase(), today).spans);
    }
}
