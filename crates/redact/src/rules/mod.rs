//! The rules, one table per group.

mod clouds;
mod commands;
mod files;
mod headers;
mod keys;
mod models;
pub(crate) mod names;
mod people;
pub(crate) mod prose;
mod repositories;
mod services;
mod sql;
mod urls;

use crate::rule::Rule;
use std::sync::LazyLock;

/// All rules. Where two fit the same place the earlier one wins.
pub static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let groups: [&'static [Rule]; 13] = [
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
        names::RULES,
        prose::RULES,
        people::RULES,
    ];
    groups.into_iter().flatten().collect()
});
