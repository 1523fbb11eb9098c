//! The sixth set: what an agent meets in the outputs of tools, and shapes that public scanners list. Written and measured
//! before any rule was changed for it.

mod notations;
mod outputs;
mod tokens;

use super::Shape;

/// All shapes of the set.
pub fn shapes() -> Vec<Shape> {
    let groups: Vec<_> = [tokens::GROUPS, notations::GROUPS, outputs::GROUPS].concat();
    Shape::of_templates(&groups, 60_000, 13)
}
