//! What somebody types, as words to be found. Anything may be typed: signs between words only hold them together.

use super::entries::is_telling;
use super::words::{each_word, is_unspaced};
use foldline_core::reading::Fit;

/// Words that are asked for at once; more are not taken into account.
const MOST_TERMS: usize = 32;

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// As it was typed.
    pub(crate) typed: String,
    pub(crate) groups: Vec<Group>,
}

/// Words that stand side by side: a phrase in quotes, or the parts of one word such as `keep_fold`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) terms: Vec<Term>,
}

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) word: String,
    pub(crate) extent: Extent,
}

/// How much of a word is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Any word that begins so.
    Beginning,
}

/// A search without words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` contains no word to search for; expected letters or digits, such as `timeout` or `\"connection \
 refused\"`"
)]
pub struct QueryError(String);

impl Query {
    /// The terms that an index is asked for together: those of all groups, or those of each.
    pub(crate) fn asked(&self, fit: Fit) -> Vec<Vec<&Term>> {
        let groups = self.groups.iter();
        match fit {
            Fit::All => vec![groups.flat_map(|group| &group.terms).collect()],
            Fit::Some => groups
                .filter(|group| group.terms.iter().any(is_telling))
                .map(|group| group.terms.iter().collect())
                .collect(),
        }
    }

    /// Reads what was typed: words apart, and phrases in double quotes.
    pub fn parse(typed: &str) -> Result<Query, QueryError> {
        let mut groups: Vec<Group> = Vec::new();
        for (at, piece) in typed.split(['"', '“', '”']).enumerate() {
            match at % 2 {
                0 => groups.extend(piece.split_whitespace().filter_map(Group::of)),
                _ => groups.extend(Group::of(piece)),
            }
        }
        groups.dedup();
        let mut left = MOST_TERMS;
        for group in &mut groups {
            group.terms.truncate(left);
            left -= group.terms.len();
        }
        groups.retain(|group| !group.terms.is_empty());
        match groups.is_empty() {
            true => Err(QueryError(typed.trim().chars().take(60).collect())),
            false => Ok(Query { typed: typed.trim().to_owned(), groups }),
        }
    }

    /// Reads words as a shell hands them over: one that holds spaces was in quotes, unless it is all there is.
    pub fn of_arguments(arguments: &[String]) -> Result<Query, QueryError> {
        let quoted =
            |word: &String| match arguments.len() > 1 && word.contains(char::is_whitespace) && !word.contains('"') {
                true => format!("\"{word}\""),
                false => word.clone(),
            };
        Query::parse(&arguments.iter().map(quoted).collect::<Vec<_>>().join(" "))
    }

    /// As it was typed.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The same with the last word of each group taken as a beginning.
    pub(crate) fn of_beginnings(&self) -> Query {
        let mut query = self.clone();
        for last in query.groups.iter_mut().filter_map(|group| group.terms.last_mut()) {
            last.extent = Extent::Beginning;
        }
        query
    }
}

impl Group {
    fn of(text: &str) -> Option<Group> {
        let mut terms = Vec::new();
        each_word(text, |word, _| terms.push(Term { word: word.to_owned(), extent: Extent::Whole }));
        // The last character of a run without spaces comes alone, too. In the text others may follow it: behind its pair
        // it tells nothing, and without one it is a beginning.
        let is_alone = |term: &Term| term.word.chars().all(is_unspaced) && term.word.chars().count() == 1;
        let is_paired = |before: &Term, last: &Term| before.word.ends_with(&last.word) && !is_alone(before);
        match terms.as_mut_slice() {
            [.., before, last] if is_alone(last) && is_paired(before, last) => drop(terms.pop()),
            [.., last] if is_alone(last) => last.extent = Extent::Beginning,
            _ => {}
        }
        (!terms.is_empty()).then_some(Group { terms })
    }
}

impl Term {
    pub(crate) fn is(&self, word: &str) -> bool {
        match self.extent {
            Extent::Whole => self.word == word,
            Extent::Beginning => word.starts_with(&self.word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(typed: &str) -> Vec<String> {
        let shown = |term: &Term| match term.extent {
            Extent::Whole => term.word.clone(),
            Extent::Beginning => format!("{}*", term.word),
        };
        let query = Query::parse(typed).unwrap();
        query.groups.iter().map(|group| group.terms.iter().map(shown).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn words_stand_apart_and_phrases_together() {
        assert_eq!(groups("keep_fold Store"), ["keep fold", "store"]);
        assert_eq!(groups("\"connection refused\" db“a b”"), ["connection refused", "db", "a b"]);
        assert_eq!(groups("never \"closed quote"), ["never", "closed quote"]);
        assert_eq!(groups("数据库 库 用SQL"), ["数据 据库", "库*", "用 sql"]);
        assert_eq!(groups("SQL数 ab数据"), ["sql 数*", "ab 数据"]);
    }

    #[test]
    fn signs_are_no_words() {
        for typed in ["", " ", "\"", "*", "(((", "AND" /* a word like any other */] {
            match Query::parse(typed) {
                Ok(query) => assert_eq!(query.groups.len(), 1),
                Err(error) => assert!(error.to_string().contains("contains no word to search for"), "{error}"),
            }
        }
        assert_eq!(groups("NEAR(a b) -c ^d e* {f} g:h"), ["near a", "b", "c", "d", "e", "f", "g h"]);
    }

    #[test]
    fn a_shell_takes_quotes_away() {
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Query::of_arguments(&words).unwrap().groups.len()
        };
        assert_eq!(of(&["connection refused", "db"]), 2);
        assert_eq!(of(&["connection refused"]), 2, "all in one argument is no phrase");
        assert_eq!(of(&["\"connection refused\""]), 1);
    }
}
