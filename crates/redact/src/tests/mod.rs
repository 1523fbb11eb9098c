//! Tests of the whole.

mod properties;
mod repeats;
mod rules;
mod shapes;
mod texts;
mod time;
