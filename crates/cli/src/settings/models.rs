//! The model table in effect: the built-in one, overridden by the user's file.

use std::path::Path;

use foldline_core::models::{ModelEntry, ModelTable};
use foldline_core::policy::Policy;

use super::{SettingsError, Surroundings, file};

/// The table that the policy asks for.
pub fn model_table(policy: &Policy, around: &Surroundings<'_>) -> Result<ModelTable, SettingsError> {
    let shipped = ModelTable::embedded();
    let Some(path) = policy.model.table.as_deref().map(Path::new) else {
        return Ok(shipped.clone());
    };
    let text = (around.read)(path).map_err(|error| SettingsError::unreadable(path, &error))?;
    let entries: Vec<ModelEntry> = file::yaml(path, &text)?;
    Ok(shipped.with(ModelTable::from(entries)))
}
