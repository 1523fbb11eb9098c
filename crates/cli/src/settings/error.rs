//! Errors in settings.

use std::io;
use std::path::{Path, PathBuf};

use foldline_core::settings::PolicyError;

/// A problem with settings. The text names the file and line, or the variable or flag.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A file that was asked for cannot be read.
    #[error("{}: cannot be read: {reason}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file that is no YAML, or YAML of another shape.
    #[error("{}:{line}:{column}: {message}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: u64,
        /// Column, counted from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
    /// A `--set` without `=`.
    #[error("--set {text}: expected key=value, as in --set threshold=0.6")]
    NoAssignment {
        /// What was typed.
        text: String,
    },
    /// A key or a value that the table refuses.
    #[error(transparent)]
    Policy(Box<PolicyError>),
}

impl From<PolicyError> for SettingsError {
    fn from(error: PolicyError) -> Self {
        Self::Policy(Box::new(error))
    }
}

impl SettingsError {
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), reason: error.to_string() }
    }
}
