//! The tables as one HTML page: no scripts, no external resources, light and dark. On a narrow screen each row becomes a card.

use super::results::Results;
use super::table::{Table, tables};
use std::fmt::Write;

/// The look that all reports share.
const STYLE: &str = include_str!("../../../cli/src/page.css");

const OWN_STYLE: &str = "
td:first-child { font-weight: 600; }
tr.own td { color: var(--own); }
td:not(:first-child), th:not(:first-child) { text-align: right; }
td.words { text-align: left; white-space: normal; overflow-wrap: anywhere; }
th { white-space: normal; vertical-align: bottom; }
@media (max-width: 44rem) {
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table, tbody, tr, td { display: block; width: 100%; }
  tr { padding: .6rem .8rem; margin: 0 0 .7rem; background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; }
  td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .15rem 0; white-space: normal; text-align: right; }
  td::before { content: attr(data-label); color: var(--soft); font-weight: 400; text-align: left; }
  td:first-child { font-size: 1rem; } td:first-child::before { content: none; }
}
";

/// Writes the page.
pub fn render(results: &Results) -> String {
    let mut out = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Foldline and its peers</title>\
         <style>{STYLE}{OWN_STYLE}</style></head><body><header><h1>Foldline and its peers</h1>\
         <p class=\"lead\">The same inputs, one judge, one run of <code>lab versus</code>. Sessions: {}.</p></header>",
        escaped(&results.sessions.join(", "))
    );
    tables(results).iter().for_each(|table| section(table, &mut out));
    out + "</body></html>\n"
}

fn section(table: &Table, out: &mut String) {
    let _ = write!(out, "<section><h2>{}</h2><p>{}</p><table><thead><tr>", table.title, escaped(&table.note));
    for head in &table.heads {
        let _ = write!(out, "<th scope=\"col\">{head}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        let own = row.first().is_some_and(|name| name.starts_with("Foldline"));
        out.push_str(if own { "<tr class=\"own\">" } else { "<tr>" });
        for (cell, head) in row.iter().zip(&table.heads) {
            let class = if *head == "why" || *head == "size by" { " class=\"words\"" } else { "" };
            let _ = write!(out, "<td{class} data-label=\"{head}\">{}</td>", escaped(cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></section>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_cannot_break_the_page() {
        let mut results: Results =
            serde_json::from_str(include_str!("results.example.json")).expect("the example is valid");
        results.sessions = vec!["<b>&\"".into()];
        let page = render(&results);
        assert!(page.contains("&lt;b&gt;&amp;&quot;") && !page.contains("<b>"));
        assert!(page.contains("<td data-label=\"names kept\">50 % / 88 %</td>"));
    }
}
