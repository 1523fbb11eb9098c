//! The rules, one table per group.

mod calls;
mod clouds;
mod commands;
mod files;
mod headers;
mod keys;
mod models;
pub(crate) mod names;
mod people;
mod printed;
pub(crate) mod prose;
mod repositories;
mod services;
mod sql;
mod urls;

use crate::rule::{Rule, Shape};
use std::sync::LazyLock;

/// The rule for tokens that nothing but their randomness gives away.
pub(crate) fn random_token() -> Option<&'static Rule> {
    names::RULES.iter().find(|rule| matches!(rule.shape, Shape::Random))
}

/// All rules. Where two fit the same place the earlier one wins.
pub static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let groups: [&'static [Rule]; 15] = [
        keys::RULES,
        models::RULES,
        repositories::RULES,
        clouds::RULES,
        services::RULES,
        urls::RULES,
        headers::RULES,
        commands::RULES,
        sql::RULES,
        files::RULES,
        calls::RULES,
        printed::RULES,
        names::RULES,
        prose::RULES,
        people::RULES,
    ];
    groups.into_iter().flatten().collect()
});
