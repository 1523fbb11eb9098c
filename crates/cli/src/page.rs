//! A report as one self-contained HTML page: no scripts, no external resources, light and dark, printable.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The look that all reports share.
const STYLE: &str = include_str!("page.css");

/// What a page is made of.
pub struct Page<'a> {
    /// What its tab says.
    pub title: &'a str,
    /// What it is about, in large letters.
    pub heading: &'a str,
    /// The same in a few sentences.
    pub lead: Markup,
    /// What it adds to the look of all reports.
    pub style: &'a str,
    /// Everything below the heading.
    pub content: Markup,
}

impl Page<'_> {
    /// The page as a document.
    pub fn render(self) -> String {
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) " · Foldline" }
                    style { (PreEscaped(STYLE)) (PreEscaped(self.style)) }
                }
                body {
                    header {
                        h1 { (self.heading) }
                        p.lead { (self.lead) }
                    }
                    (self.content)
                }
            }
        };
        document.into_string()
    }
}
