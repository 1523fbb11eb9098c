//! Decides how likely a name of an output is needed again, by what is said of it elsewhere in the conversation.

use rustc_hash::FxHashMap;

use super::envelope::printed;
use super::names::{Which, each_name};
use foldline_transcript::{Part, PartKind, Role, Transcript};

/// What is said lately: the last part of so many. What an agent does at present, it goes on with.
const LATELY: usize = 8;

/// How many times likelier than a name that one output shows and nobody speaks of (1.7 % of those are needed again) a
/// name is needed that somebody spoke of (12 %), and one that a person asked for or the agent spoke of lately (35 to
/// 60 %). Names that several outputs show lie between. `lab fit odds DIR` counts them in sessions, cut at 60 %.
const SPOKEN_OF: u32 = 6;
const AT_WORK: u32 = 20;

/// How names stand in a conversation: who said them, when last, and in how many outputs they show up. Built in one
/// pass over the conversation and asked for every name of every old output.
#[derive(Debug, Clone, Default)]
pub struct ConversationNames {
    names: FxHashMap<u64, Standing>,
    spoken: Spoken,
}

/// The names of which the talk makes more than others, a bit for each. Most names of an output are none of them, and
/// these bits stay in the nearest cache, as the table of all names does not.
#[derive(Debug, Clone, Default)]
struct Spoken {
    bits: Vec<u64>,
}

impl Spoken {
    /// Sixteen bits of a key choose: a conversation speaks of a few thousand names.
    const WORDS: usize = 1 << 10;

    fn note(&mut self, key: u64) {
        self.bits.resize(Spoken::WORDS, 0);
        if let Some(word) = self.bits.get_mut(Spoken::word(key)) {
            *word |= Spoken::bit(key);
        }
    }

    /// Whether a name may be one of them.
    fn may_have(&self, key: u64) -> bool {
        self.bits.get(Spoken::word(key)).is_some_and(|word| word & Spoken::bit(key) != 0)
    }

    const fn word(key: u64) -> usize {
        (key >> 54) as usize
    }

    const fn bit(key: u64) -> u64 {
        1 << (key >> 48 & 63)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    said: Option<Said>,
    /// Outputs that show it.
    shown: u16,
    /// The last of them, counted from one.
    last: u32,
}

/// Who said a name, the most telling last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    /// By the agent, some time ago.
    Before,
    /// By the agent, lately.
    Lately,
    /// By a person.
    Asked,
}

impl ConversationNames {
    /// The talk of a whole conversation.
    #[must_use]
    pub fn of(transcript: &Transcript<'_>) -> ConversationNames {
        let mut conversation = ConversationNames::default();
        let lately = transcript.parts.len() - transcript.parts.len() / LATELY;
        for (message, part_index) in transcript.messages.iter().flat_map(|message| {
            (message.parts.start as usize..message.parts.end as usize).map(move |part| (message, part))
        }) {
            let Some(part) = transcript.parts.get(part_index) else { continue };
            let said = match part.kind {
                PartKind::Text if message.role == Role::User => Said::Asked,
                PartKind::Text | PartKind::ToolCall if part_index >= lately => Said::Lately,
                PartKind::Text | PartKind::ToolCall => Said::Before,
                PartKind::ToolResult => {
                    conversation.show(transcript, part, part_index);
                    continue;
                }
                _ => continue,
            };
            conversation.say(&transcript.words(part), said);
        }
        conversation
    }

    /// The talk of an agent that says these words.
    #[must_use]
    pub fn of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> ConversationNames {
        let mut conversation = ConversationNames::default();
        words.into_iter().for_each(|words| conversation.say(words, Said::Before));
        conversation
    }

    fn say(&mut self, words: &str, said: Said) {
        each_name(words, Which::All, |name| {
            if name.worth() > 0 {
                let key = name.key();
                let standing = self.names.entry(key).or_default();
                standing.said = standing.said.max(Some(said));
                self.spoken.note(key);
            }
        });
    }

    fn show(&mut self, transcript: &Transcript<'_>, part: &Part, index: usize) {
        let output = u32::try_from(index + 1).unwrap_or(u32::MAX);
        each_name(&printed(&transcript.words(part)), Which::Coined, |name| {
            let key = name.key();
            let standing = self.names.entry(key).or_default();
            if standing.last != output {
                standing.last = output;
                standing.shown = standing.shown.saturating_add(1);
                if standing.likelihood() >= SPOKEN_OF {
                    self.spoken.note(key);
                }
            }
        });
    }

    /// How many times likelier the name with this key is needed than one that a single output shows and nobody speaks of.
    pub(super) fn likelihood(&self, key: u64) -> u32 {
        self.names.get(&key).map_or(1, Standing::likelihood)
    }

    /// The same for a name that is written out; of one of several words, of the likeliest.
    pub fn likelihood_of(&self, name: &str) -> u32 {
        let mut most = 1;
        each_name(name, Which::All, |name| most = most.max(self.likelihood(name.key())));
        most
    }

    /// Whether somebody speaks of the name with this key, or so many outputs show it that it comes to the same.
    pub(super) fn speaks_of(&self, key: u64) -> bool {
        self.spoken.may_have(key) && self.likelihood(key) >= SPOKEN_OF
    }
}

impl Standing {
    fn likelihood(&self) -> u32 {
        let of_talk = self.said.map_or(1, |said| match said {
            Said::Before => SPOKEN_OF,
            Said::Lately | Said::Asked => AT_WORK,
        });
        let of_outputs = match self.shown {
            0 | 1 => 1,
            2 => 3,
            3 => 5,
            _ => 8,
        };
        of_talk.max(of_outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::wire;

    #[test]
    fn names_of_the_request_and_of_present_work_come_before_names_that_nobody_speaks_of() {
        let said = |text: &str| format!(r#"{{"role":"assistant","content":"{text}"}}"#);
        let mut messages =
            vec![r#"{"role":"user","content":"mend load_order"}"#.to_owned(), said("reading merge_rows")];
        messages.extend((0..20).map(|_| said("going on")));
        messages.push(said("writing save_step"));
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        let conversation = ConversationNames::of(&wire::read(&body, None).expect("a transcript"));
        let of = |name: &str| {
            let mut likelihood = 0;
            each_name(name, Which::All, |name| likelihood = conversation.likelihood(name.key()));
            likelihood
        };
        assert_eq!(
            (of("load_order"), of("save_step"), of("merge_rows"), of("other_name")),
            (AT_WORK, AT_WORK, SPOKEN_OF, 1)
        );
    }
}
