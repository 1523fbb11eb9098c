use super::{Encoding, Exact, estimate, estimate_escaped};
use proptest::prelude::*;
use std::sync::LazyLock;

static O200K: LazyLock<Exact> = LazyLock::new(|| Exact::new(Encoding::O200k).unwrap());
static CL100K: LazyLock<Exact> = LazyLock::new(|| Exact::new(Encoding::Cl100k).unwrap());

/// Text with all that moves the automaton: words in several cases and scripts, marks, numbers, blanks, runs, symbols.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ ]?[a-z]{1,12}",
        2 => "[A-Z]?[a-z]{1,8}[A-Z]?[a-z]{0,8}",
        2 => "[ -/:-@\\[-`{-~]{1,4}",
        1 => "[0-9]{1,7}",
        1 => "[ \t\r\n]{1,6}",
        1 => "[=\\-─═*#]{1,40}".prop_map(|s| s.chars().next().unwrap_or('=').to_string().repeat(s.chars().count())),
        1 => "[а-яА-Я]{1,9}|[α-ω]{1,5}|[א-ת]{1,5}|[ا-ي]{1,6}|[ก-ฮ]{1,8}|[ぁ-ん]{1,6}|[一-龥]{1,6}|[가-힣]{1,5}|[à-ÿ]{1,4}",
        1 => "[→│✓…“—😀🚀\u{1F1E9}\u{200D}\u{301}]{1,3}",
        1 => "\\PC{1,3}",
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

/// Source code at hand.
const CODE: &str = include_str!("place.rs");

fn relative_error(text: &str) -> f64 {
    let exact = f64::from(O200K.count(text));
    (f64::from(estimate(text)) - exact).abs() / exact
}

#[test]
fn nothing_costs_nothing_and_anything_costs_something() {
    assert_eq!((estimate(""), estimate_escaped("")), (0, 0));
    for char in ["a", " ", "\n", "\u{0}", "é", "漢", "🚀", "\u{10FFFF}"] {
        assert!(estimate(char) >= 1, "{char:?}");
    }
}

#[test]
fn source_code_is_estimated_closely() {
    assert!(relative_error(CODE) < 0.10, "{}", relative_error(CODE));
}

#[test]
fn shapes_that_fool_a_count_of_characters_do_not_fool_the_estimate() {
    let hex = (0..400u32).map(|n| format!("{:08x}", n.wrapping_mul(0x9E37_79B1))).collect::<String>();
    let numbers = (0..500u32).map(|n| format!("{},", n * 7919)).collect::<String>();
    let uuids =
        (0..60u64).map(|n| format!("{:016x}-{n:04x}\n", n.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect::<String>();
    let listing = CODE.lines().enumerate().map(|(n, line)| format!("{n:6}\u{2192}{line}\n")).collect::<String>();
    let rulers = format!("{}\n{}\n", "=".repeat(80), "title").repeat(20);
    let indented = format!("{}x\n", " ".repeat(40)).repeat(50);
    for (name, text, limit) in [
        ("hex", hex, 0.15),
        ("numbers", numbers, 0.05),
        ("uuids", uuids, 0.15),
        ("listing", listing, 0.10),
        ("rulers", rulers, 0.50),
        ("indented", indented, 0.15),
    ] {
        assert!(relative_error(&text) < limit, "{name}: {}", relative_error(&text));
    }
}

#[test]
fn prose_in_other_scripts_is_estimated_within_a_quarter() {
    for text in [
        "Der Wind drehte am Abend auf Nordwest, und die Boote kehrten früher als sonst in den Hafen zurück.",
        "Вечером ветер сменил направление, и рыбаки вернулись в гавань раньше обычного, чтобы переждать бурю.",
        "傍晚时分风向变了，渔民们比平时更早回到港口，等待暴风雨过去，然后再决定明天是否出海。",
        "夕方になると風向きが変わり、漁師たちはいつもより早く港に戻って、嵐が過ぎるのを待つことにした。",
        "في المساء تغير اتجاه الريح وعاد الصيادون إلى الميناء في وقت أبكر من المعتاد لانتظار مرور العاصفة.",
    ] {
        assert!(relative_error(text) < 0.25, "{text}: {} of {}", estimate(text), O200K.count(text));
    }
}

#[test]
fn long_texts_in_lanes_cost_the_sum_of_their_lines() {
    let lines: u32 = CODE.split_inclusive('\n').map(estimate).sum();
    let whole = estimate(CODE);
    assert!(whole.abs_diff(lines) * 20 < whole, "{whole} {lines}");
}

#[test]
fn an_escaped_literal_costs_what_it_stands_for() {
    let text = "line\n\ttab \"quoted\" back\\slash / \u{8}\u{c}\r\n caf\u{e9} \u{6f22}\u{5b57} \u{1f680}";
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let raw = serde_json::to_string(text).unwrap();
    assert_eq!(estimate_escaped(&raw[1..raw.len() - 1]), estimate(text));
    assert_eq!(estimate_escaped(&units), estimate(text));
    assert_eq!(estimate_escaped(r"a\/b"), estimate("a/b"));
}

#[test]
fn broken_escapes_are_counted_all_the_same() {
    for raw in
        [r"\", r"\u", r"\u12", r"\uZZZZ", r"\ud83d", r"\ud83d\n", r"\ud83d\u0041", r"\udc00", r"\x\y", "\\\u{6f22}"]
    {
        assert!(estimate_escaped(raw) >= 1, "{raw}");
    }
}

#[test]
fn one_long_piece_is_estimated_and_its_surroundings_are_exact() {
    let long = "A".repeat(300_000);
    let around = "fn main() {}\n";
    let count = O200K.count(&format!("{around}{long}\n{around}"));
    let expected = 2 * O200K.count(around) + estimate(&long) + 1;
    assert!(count.abs_diff(expected) <= 2, "{count} {expected}");
}

#[test]
fn a_long_text_of_short_pieces_is_exact() {
    let minified = "{\"a\":[1,2,3],\"b\":null},".repeat(10_000);
    let reference = tiktoken_rs::o200k_base().unwrap().encode_ordinary(&minified).len();
    assert_eq!(O200K.count(&minified) as usize, reference);
}

proptest! {
    // The reference is slow.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn exact_counts_equal_those_of_the_reference(text in text()) {
        static REFERENCE: LazyLock<[tiktoken_rs::CoreBPE; 2]> =
            LazyLock::new(|| [tiktoken_rs::o200k_base().unwrap(), tiktoken_rs::cl100k_base().unwrap()]);
        for (exact, reference) in [&O200K, &CL100K].into_iter().zip(&*REFERENCE) {
            prop_assert_eq!(exact.count(&text) as usize, reference.encode_ordinary(&text).len());
        }
    }

    #[test]
    fn exact_counts_equal_those_of_the_reference_on_any_unicode(text in "\\PC{0,200}|.{0,200}") {
        static REFERENCE: LazyLock<tiktoken_rs::CoreBPE> = LazyLock::new(|| tiktoken_rs::o200k_base().unwrap());
        prop_assert_eq!(O200K.count(&text) as usize, REFERENCE.encode_ordinary(&text).len());
    }

}

/// A cut through a run of one character costs at most this many tokens more or less.
const SEAM: u32 = 3;

proptest! {
    #[test]
    fn escaping_changes_no_estimate_by_more_than_its_seams(text in text(), times in 1usize..12) {
        let text = text.repeat(times);
        let raw = serde_json::to_string(&text).unwrap();
        let escaped = estimate_escaped(&raw[1..raw.len() - 1]);
        // Two cuts between lanes in the plain text; in the escaped one as many in each stretch, and its end.
        let seams = 2 + 3 * (1 + u32::try_from(text.len() / 4096).unwrap());
        prop_assert!(escaped.abs_diff(estimate(&text)) <= SEAM * seams, "{} {}", escaped, estimate(&text));
    }

    #[test]
    fn lines_cost_the_same_alone_and_together(a in text(), b in text()) {
        let (alone, together) = (estimate(&a) + estimate(&b), estimate(&format!("{a}\n{b}", a = a, b = b)));
        // The line break, two cuts between lanes in each of the lines, and two in both together.
        prop_assert!(alone.abs_diff(together) <= SEAM * 7, "{} {}", alone, together);
    }

    #[test]
    fn a_text_never_costs_more_tokens_than_bytes(text in text()) {
        prop_assert!(estimate(&text) as usize <= text.len());
    }

    #[test]
    fn any_raw_literal_is_counted_without_panic(raw in "(\\\\|u|[0-9a-f]|\\PC){0,60}") {
        let _ = estimate_escaped(&raw);
    }
}
