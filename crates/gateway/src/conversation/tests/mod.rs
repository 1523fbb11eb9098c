//! Agents in a loop, on every API, through a window that they fill many times over. No HTTP.

mod at_once;
mod clock;
mod faults;
mod hosts;
mod identity;
mod loops;
mod operations;
mod rarely;
mod world;
