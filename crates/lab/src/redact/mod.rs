//! Measures redaction: missed secrets, false positives, speed, findings in sessions.

mod figures;
mod folders;
mod sessions;
pub mod sets;
mod shapes;
mod speed;

pub use figures::Figures;
pub use folders::{Alarms, alarms};
pub use sessions::{Census, census};
pub use shapes::leaks;
pub use speed::{Speeds, speeds};
