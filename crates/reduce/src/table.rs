//! Decides what stays of rows and columns: names, types and ranges of the columns, the number of rows, the first and last
//! rows, and rows that stick out.

use super::lines::{cut, lines, prefix, push};
use super::{Body, Output};

/// Columns that are described; wider tables have a count for the rest.
const MOST_COLUMNS: usize = 40;
/// Examples that are kept per column of words.
const MOST_EXAMPLES: usize = 3;
/// First and last rows that are written.
const FIRST_ROWS: usize = 3;
const LAST_ROWS: usize = 2;
/// Standard deviations from which on a value sticks out.
const STICKS_OUT: f64 = 4.0;
const LONGEST_ROW: usize = 180;
/// Rows that stick out and are written.
const MOST_ODD: usize = 4;

/// How cells are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Comma, semicolon or tab, with quotes.
    Separated(u8),
    /// `| a | b |` and `a | b`.
    Bars,
    /// Two blanks or more.
    Aligned,
}

#[derive(Debug, Default)]
struct Column {
    name: String,
    numbers: usize,
    words: usize,
    empty: usize,
    least: f64,
    most: f64,
    mean: f64,
    spread: f64,
    examples: Vec<String>,
}

pub(super) fn looks_like(sample: &[&str]) -> bool {
    layout(sample).is_some()
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let text = output.text;
    let start: Vec<&str> = lines(prefix(text, 16 * 1024)).filter(|line| !line.trim().is_empty()).take(60).collect();
    let layout = layout(&start)?;
    let mut columns: Vec<Column> = Vec::new();
    let mut rows = 0usize;
    each_row(text, layout, |cells| {
        if columns.is_empty() {
            columns = cells
                .iter()
                .take(MOST_COLUMNS)
                .map(|name| Column { name: cut(name, 40).into_owned(), ..Column::default() })
                .collect();
        } else {
            rows += 1;
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.add(cell);
            }
        }
    });
    if columns.len() < 2 || rows == 0 {
        return None;
    }
    Some(Body {
        note: format!("{rows} rows, {} columns", columns.len()),
        text: written(output, text, layout, &columns, rows),
    })
}

/// Columns, edges, rows that stick out, and rows of trouble.
fn written(output: &Output<'_>, text: &str, layout: Layout, columns: &[Column], rows: usize) -> String {
    let mut out = String::new();
    let room = output.room.bytes();
    // The names of the columns as they stand beside each other, then what is in each.
    if let Some(header) = lines(text).find(|line| is_row(line, layout)) {
        push(&mut out, &cut(header, LONGEST_ROW));
    }
    for column in columns {
        if out.len() < room * 2 / 3 {
            push(&mut out, &column.described());
        }
    }
    let odd = odd_numbers(text, layout, columns);
    let all: Vec<&str> = if matches!(layout, Layout::Separated(_)) && text.contains('"') {
        Vec::new()
    } else {
        odd_rows(text, layout, &odd)
    };
    let body = text.trim_end();
    let first: Vec<&str> = lines(body).filter(|line| is_row(line, layout)).take(FIRST_ROWS + 1).collect();
    first.iter().skip(1).for_each(|row| push(&mut out, &cut(row, LONGEST_ROW)));
    if rows > FIRST_ROWS + LAST_ROWS {
        push(&mut out, &format!("[… {} rows omitted]", rows - FIRST_ROWS - LAST_ROWS));
    }
    for row in &all {
        push(&mut out, &format!("sticks out: {}", cut(row, LONGEST_ROW)));
    }
    let mut last: Vec<&str> = lines(super::lines::suffix(body, 2_000))
        .skip(usize::from(body.len() > 2_000))
        .filter(|line| is_row(line, layout))
        .collect();
    let keep = last.len().saturating_sub(LAST_ROWS.min(rows.saturating_sub(FIRST_ROWS)));
    for row in last.split_off(keep) {
        push(&mut out, &cut(row, LONGEST_ROW));
    }
    for line in super::alarm::Distinct::of(text).write(room / 3, &out) {
        push(&mut out, &line);
    }
    out
}

/// The numbers of the rows that stick out in a column, rising.
fn odd_numbers(text: &str, layout: Layout, columns: &[Column]) -> Vec<usize> {
    let mut odd = Vec::new();
    if !columns.iter().any(Column::sticks_out) {
        return odd;
    }
    let limits: Vec<f64> =
        columns.iter().map(|column| if column.sticks_out() { column.limit() } else { f64::INFINITY }).collect();
    let mut row = 0;
    each_row(text, layout, |cells| {
        let beyond = |(cell, limit): (_, &f64)| number(str::trim(cell)).is_some_and(|value| value > *limit);
        if row > 0 && odd.len() < MOST_ODD && cells.iter().copied().zip(&limits).any(beyond) {
            odd.push(row);
        }
        row += 1;
    });
    odd
}

/// The rows with these numbers, as they stand.
fn odd_rows<'a>(text: &'a str, layout: Layout, odd: &[usize]) -> Vec<&'a str> {
    if odd.is_empty() {
        return Vec::new();
    }
    let last = odd.last().copied().unwrap_or(0);
    lines(text)
        .filter(|line| is_row(line, layout))
        .take(last + 1)
        .enumerate()
        .filter(|(index, _)| odd.contains(index))
        .map(|(_, line)| line)
        .collect()
}

impl Column {
    fn add(&mut self, cell: &str) {
        let cell = cell.trim();
        if cell.is_empty() {
            self.empty += 1;
        } else if let Some(number) = number(cell) {
            self.numbers += 1;
            if self.numbers == 1 || number > self.most {
                self.most = number;
            }
            if self.numbers == 1 || number < self.least {
                self.least = number;
            }
            let step = number - self.mean;
            self.mean += step / self.numbers as f64;
            self.spread += step * (number - self.mean);
        } else {
            self.words += 1;
            if self.examples.len() < MOST_EXAMPLES && !self.examples.iter().any(|known| known == cell) {
                self.examples.push(cut(cell, 30).into_owned());
            }
        }
    }

    fn is_number(&self) -> bool {
        self.numbers > self.words * 9
    }

    fn sticks_out(&self) -> bool {
        self.is_number() && self.numbers >= 12 && self.spread > 0.0 && self.most > self.limit()
    }

    /// What no usual value exceeds.
    fn limit(&self) -> f64 {
        self.mean + STICKS_OUT * (self.spread / self.numbers.max(1) as f64).sqrt()
    }

    fn described(&self) -> String {
        let empty = if self.empty > 0 { format!(", {} empty", self.empty) } else { String::new() };
        if self.is_number() {
            format!("{}: number {}..{}{empty}", self.name, self.least, self.most)
        } else {
            format!("{}: text, e.g. {}{empty}", self.name, self.examples.join(", "))
        }
    }
}

/// Reads plain decimal numbers, with a sign and a percent sign.
fn number(cell: &str) -> Option<f64> {
    let bare = cell.strip_suffix('%').unwrap_or(cell);
    let first = bare.bytes().next()?;
    if bare.len() > 24 || !(first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.')) {
        return None;
    }
    let digits = bare.as_bytes();
    if digits.len() <= 15 && digits.iter().all(u8::is_ascii_digit) {
        let whole = digits.iter().fold(0u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        return Some(whole as f64);
    }
    bare.parse().ok()
}

/// Visits the cells of every row, the header first. Rows without quotes need no parser.
fn each_row(text: &str, layout: Layout, mut visit: impl FnMut(&[&str])) {
    if let Layout::Separated(separator) = layout {
        if !text.contains('"') {
            let mut cells: Vec<&str> = Vec::new();
            for line in lines(text).filter(|line| !line.is_empty()) {
                cells.clear();
                cells.extend(line.split(char::from(separator)));
                visit(&cells);
            }
            return;
        }
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        let mut record = csv::StringRecord::new();
        while let Ok(true) = reader.read_record(&mut record) {
            let row: Vec<&str> = record.iter().collect();
            visit(&row);
        }
        return;
    }
    let mut cells: Vec<&str> = Vec::new();
    for line in lines(text).filter(|line| is_row(line, layout)) {
        cells.clear();
        match layout {
            Layout::Bars => cells.extend(line.trim().trim_matches('|').split('|').map(str::trim)),
            _ => cells.extend(aligned_cells(line)),
        }
        visit(&cells);
    }
}

fn is_row(line: &str, layout: Layout) -> bool {
    match layout {
        Layout::Separated(_) => !line.trim().is_empty(),
        Layout::Bars => {
            line.contains('|') && !line.trim().bytes().all(|b| matches!(b, b'|' | b'-' | b':' | b'+' | b' ' | b'='))
        }
        Layout::Aligned => aligned_cells(line).nth(1).is_some(),
    }
}

fn aligned_cells(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ").flat_map(|part| part.split('\t')).map(str::trim).filter(|cell| !cell.is_empty())
}

/// Separators of a line that stand outside quotes.
fn separators(line: &str, separator: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for byte in line.bytes() {
        quoted ^= byte == b'"';
        count += usize::from(byte == separator && !quoted);
    }
    count
}

/// The layout that the first lines share.
fn layout(sample: &[&str]) -> Option<Layout> {
    let few: Vec<&str> = sample.iter().copied().take(60).collect();
    if few.len() < 3 {
        return None;
    }
    let barred = few.iter().filter(|line| line.trim_start().starts_with('|')).count();
    let ruled = few
        .iter()
        .any(|line| line.trim().bytes().all(|b| matches!(b, b'-' | b'+' | b' ' | b'|')) && line.contains("-+-"));
    if barred * 10 >= few.len() * 8 || (ruled && few.iter().filter(|line| line.contains(" | ")).count() * 2 > few.len())
    {
        return Some(Layout::Bars);
    }
    for separator in [b'\t', b',', b';'] {
        let first = few.first().map_or(0, |line| separators(line, separator));
        let least = if separator == b'\t' { 1 } else { 2 };
        if first < least {
            continue;
        }
        let same = few.iter().filter(|line| separators(line, separator) == first).count();
        let header_words = few.first().map_or(0, |line| line.split_ascii_whitespace().count());
        if same * 10 >= few.len() * 9 && header_words <= (first + 1) * 3 {
            return Some(Layout::Separated(separator));
        }
    }
    let first = few.first().map_or(0, |line| aligned_cells(line).count());
    if first < 3 {
        return None;
    }
    let same = few.iter().filter(|line| aligned_cells(line).count().abs_diff(first) <= 1).count();
    let flush = few.iter().filter(|line| !line.starts_with([' ', '\t'])).count();
    (same * 10 >= few.len() * 8 && flush * 10 >= few.len() * 8).then_some(Layout::Aligned)
}
