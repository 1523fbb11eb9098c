//! Tests of the whole.

mod properties;
mod rules;
mod shapes;
mod texts;
mod time;
