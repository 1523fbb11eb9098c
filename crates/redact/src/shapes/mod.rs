//! Made-up secrets in made-up surroundings, to measure what leaks and what is masked in vain.

pub mod made;
