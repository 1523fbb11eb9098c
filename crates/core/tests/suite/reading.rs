//! R11: originals come back as readable turns, in bounded pages, without what no reader needs.

use crate::common::generate::{Knobs, any_transcript};
use foldline_core::reading::{Choice, Grep, Numbers, Page, Reach, Reading, Shape, Way, page, read};
use foldline_transcript::wire;
use proptest::prelude::*;

const HANDLE: &str = "fl-3f9a0c51d2e7";

fn way() -> Way {
    Way::of(Reach::Command)
}

/// The messages of a document as they stand in it, which is what a fold stores.
fn stretch(document: &str) -> (usize, &str) {
    let transcript = wire::read(document, None).unwrap();
    let first = transcript.messages.first().unwrap().span.start as usize;
    let last = transcript.messages.last().unwrap().span.end as usize;
    (transcript.messages.len(), &document[first..last])
}

/// All pages of a choice, each no larger than it may be.
fn pages(reading: &Reading<'_>, choice: &Choice<'_>) -> Vec<Page> {
    let mut pages = Vec::new();
    loop {
        let found = page(reading, &Choice { page: pages.len() + 1, ..*choice }, &way(), HANDLE).unwrap();
        let printed = found.to_string();
        assert!(printed.chars().count() <= choice.page_size, "{} > {}", printed.chars().count(), choice.page_size);
        assert_eq!(found.page, pages.len() + 1);
        let is_last = found.next.is_none();
        assert_eq!(is_last, found.page == found.pages);
        pages.push(found);
        if is_last {
            return pages;
        }
    }
}

/// Every line of every page: turn, number and text.
fn lines(pages: &[Page]) -> Vec<(Option<usize>, usize, String)> {
    let passages = pages.iter().flat_map(|page| &page.content);
    passages
        .flat_map(|passage| passage.lines.iter().map(move |line| (passage.turn, line.line, line.text.clone())))
        .collect()
}

proptest! {
    #[test]
    fn a_stretch_of_any_format_is_as_many_turns_as_messages((_, document) in any_transcript(Knobs::HEALTHY)) {
        let (messages, stretch) = stretch(&document);
        let reading = read(stretch, "");
        prop_assert_eq!(reading.shape, Shape::Turns);
        prop_assert_eq!(reading.turns.len(), messages);
        let numbers: Vec<usize> = reading.turns.iter().map(|turn| turn.number).collect();
        prop_assert_eq!(numbers, (1..=messages).collect::<Vec<_>>());
    }

    #[test]
    fn pages_are_bounded_and_together_are_everything(
        (_, document) in any_transcript(Knobs::HEALTHY),
        page_size in 1_000..6_000_usize,
    ) {
        let (_, stretch) = stretch(&document);
        let reading = read(stretch, "");
        let all = pages(&reading, &Choice { page_size, ..Choice::default() });
        let shown = lines(&all);
        let expected: Vec<_> = reading
            .turns
            .iter()
            .filter(|turn| !turn.is_record())
            .flat_map(|turn| turn.lines.iter().map(move |line| (Some(turn.number), line.number)))
            .collect();
        prop_assert_eq!(shown.iter().map(|(turn, line, _)| (*turn, *line)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn any_text_comes_back_line_by_line(
        texts in prop::collection::vec(("\\PC{0,300}", 1..40_usize), 0..12),
        page_size in 1_000..4_000_usize,
    ) {
        let text: String = texts.iter().map(|(line, times)| line.repeat(*times) + "\n").collect();
        let reading = read(&text, "bash");
        let all = pages(&reading, &Choice { page_size, ..Choice::default() });
        let shown = lines(&all);
        prop_assert_eq!(shown.len(), reading.turns[0].lines.len());
        for (line, (_, number, shown)) in reading.turns[0].lines.iter().zip(&shown) {
            prop_assert_eq!(line.number, *number);
            prop_assert!(*shown == line.text || shown.contains("characters left out; whole: "));
            // What was cut can be had whole.
            let whole = Choice { lines: Some(Numbers::only(line.number)), page_size, ..Choice::default() };
            let whole: String = lines(&pages(&reading, &whole)).into_iter().map(|(_, _, text)| text).collect();
            prop_assert!(whole == line.text);
        }
    }

    #[test]
    fn matches_are_bounded_and_complete(
        (_, document) in any_transcript(Knobs::HEALTHY),
        context in 0..4_usize,
        page_size in 1_000..4_000_usize,
    ) {
        let (_, stretch) = stretch(&document);
        let reading = read(stretch, "");
        let find = |line: &str| line.find('e').map(|at| at..at + 1);
        let choice = Choice { grep: Some(Grep { pattern: "e", find: &find }), context, page_size, ..Choice::default() };
        let expected: usize =
            reading.turns.iter().flat_map(|turn| &turn.lines).filter(|line| line.text.contains('e')).count();
        if expected > 0 {
            let all = pages(&reading, &choice);
            prop_assert_eq!(all[0].matches, Some(expected));
            let marked = all.iter().flat_map(|page| &page.content).flat_map(|passage| &passage.lines);
            prop_assert_eq!(marked.filter(|line| line.is_match).count(), expected);
        }
    }

    #[test]
    fn whatever_is_stored_can_be_read((_, document) in any_transcript(Knobs::CHAOS), junk in "\\PC{0,60}", cut in 0..400_usize) {
        for text in [document.as_str(), &junk, document.get(cut..).unwrap_or_default(), &format!("[{document}")] {
            for tool in ["", "bash"] {
                pages(&read(text, tool), &Choice::default());
            }
        }
    }

    #[test]
    fn signatures_and_ciphertext_are_never_shown((_, document) in any_transcript(Knobs::HEALTHY)) {
        let (_, stretch) = stretch(&document);
        for (_, _, text) in lines(&pages(&read(stretch, ""), &Choice::default())) {
            prop_assert!(!text.contains("mocksig") && !text.contains("gAAAA"), "{text}");
        }
    }
}
