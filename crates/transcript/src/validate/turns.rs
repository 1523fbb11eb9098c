//! Which messages count as one. In most formats every message is a turn of its own; a session file
//! writes one reply over several lines and a line for every tool result.

use crate::transcript::{Format, Message, PartKind, Role, Transcript};

/// The turns of a transcript.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// The turns in order.
    pub(crate) list: Vec<Turn>,
    /// Message indices, turn after turn.
    order: Vec<usize>,
}

/// One or more messages that the provider sees as one.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) role: Role,
    from: usize,
    to: usize,
}

impl Turns {
    /// Groups the messages of a transcript.
    pub(crate) fn of(transcript: &Transcript<'_>) -> Turns {
        match transcript.format {
            Format::ClaudeCode => Turns::of_lines(transcript),
            _ => Turns {
                list: transcript
                    .messages
                    .iter()
                    .enumerate()
                    .map(|(index, message)| Turn { role: message.role, from: index, to: index + 1 })
                    .collect(),
                order: (0..transcript.messages.len()).collect(),
            },
        }
    }

    /// The messages of a turn.
    pub(crate) fn messages_of(&self, turn: &Turn) -> &[usize] {
        self.order.get(turn.from..turn.to).unwrap_or_default()
    }

    /// The user turn in which Anthropic looks for the results of the assistant turn at `index`:
    /// the next one that is not about instructions.
    pub(crate) fn answer_to(&self, index: usize) -> Option<usize> {
        let next = self.next_speaker(index + 1)?;
        (self.list.get(next)?.role == Role::User).then_some(next)
    }

    /// The first turn from `index` on that is no instruction.
    fn next_speaker(&self, index: usize) -> Option<usize> {
        let ahead = self.list.get(index..)?;
        ahead.iter().position(|turn| turn.role != Role::System).map(|step| index + step)
    }

    /// Neighbouring user lines are one turn, and so are the lines of one reply, also when results
    /// of its first calls were written down before its last lines.
    fn of_lines(transcript: &Transcript<'_>) -> Turns {
        let mut list: Vec<Turn> = Vec::new();
        let mut turn_of: Vec<(usize, usize)> = Vec::new();
        let mut reply = "";
        let mut reply_turn = None;
        for (index, line) in transcript.messages.iter().enumerate() {
            if line.role == Role::Meta {
                continue;
            }
            let own = transcript.raw(line.reply);
            let continued = match line.role {
                Role::User => {
                    list.len().checked_sub(1).filter(|_| list.last().is_some_and(|turn| turn.role == Role::User))
                }
                Role::Assistant if !own.is_empty() && own == reply => reply_turn,
                _ => None,
            };
            let turn = continued.unwrap_or_else(|| {
                list.push(Turn { role: line.role, from: 0, to: 0 });
                list.len() - 1
            });
            turn_of.push((turn, index));
            match line.role {
                Role::Assistant => {
                    reply = own;
                    reply_turn = Some(turn);
                }
                Role::User if !only_answers(transcript, line) => reply_turn = None,
                Role::User => {}
                _ => reply_turn = None,
            }
            if reply_turn.is_none() {
                reply = "";
            }
        }
        turn_of.sort_by_key(|(turn, _)| *turn);
        for (at, (turn, _)) in turn_of.iter().enumerate() {
            if let Some(turn) = list.get_mut(*turn) {
                if turn.to == 0 {
                    turn.from = at;
                }
                turn.to = at + 1;
            }
        }
        Turns { list, order: turn_of.into_iter().map(|(_, index)| index).collect() }
    }
}

/// Whether a message consists of tool results only.
pub(crate) fn only_answers(transcript: &Transcript<'_>, message: &Message) -> bool {
    let parts = transcript.parts_of(message);
    !parts.is_empty() && parts.iter().all(|part| part.kind == PartKind::ToolResult)
}
