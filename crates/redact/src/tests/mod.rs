//! Tests of the whole.

mod properties;
mod repeats;
mod rules;
mod texts;
mod time;
