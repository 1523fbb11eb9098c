//! Errors of commands and their exit codes.

use std::fmt;

/// A failure of a command.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What to tell the user: what, where, what was expected, what to do.
    pub message: String,
}

impl Failure {
    /// Bad usage, or input that is no transcript.
    pub fn input(message: impl fmt::Display) -> Failure {
        Failure { code: 2, message: message.to_string() }
    }

    /// The target cannot be met.
    pub fn target(message: impl fmt::Display) -> Failure {
        Failure { code: 3, message: message.to_string() }
    }

    /// The summariser failed and the settings say to stop then.
    pub fn summariser(message: impl fmt::Display) -> Failure {
        Failure { code: 4, message: message.to_string() }
    }
}

/// What a command that worked says to the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Done, also when nothing had to be done.
    Fine,
    /// A check found something.
    Found,
    /// What a command that was run for the user said.
    Exit(u8),
}
