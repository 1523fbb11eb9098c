//! The table of models: entries by stem of the name, laid over each other from family to model.

use std::sync::OnceLock;

use serde::Deserialize;

use super::choice::SignedReasoning;
use super::name::ModelName;
use super::price::{CacheWrite, PriceStep, Prices};
use super::profile::{ApiFamily, ModelProfile, Tokeniser};

/// Facts as they ship with the program.
const EMBEDDED: &str = include_str!("models.json");

/// What a client gets that appends `[1m]` to the name of a model.
const LONG_WINDOW: u32 = 1_000_000;

/// Facts about the names that begin with one of these stems. What an entry leaves out is taken from
/// entries with shorter stems; except that an entry with a window of its own speaks of another model,
/// whose prices and input limit are its own too, or unknown.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelEntry {
    /// Stems of names, as vendors spell them.
    #[serde(rename = "match")]
    pub stems: Vec<String>,
    /// Tokens that input and output share.
    pub window: Option<u32>,
    /// Largest input, where it is less than the window.
    pub max_input: Option<u32>,
    /// Largest output.
    pub max_output: Option<u32>,
    /// How tokens are counted.
    pub tokeniser: Option<Tokeniser>,
    /// Tokens of a typical image.
    pub image_tokens: Option<u32>,
    /// What an edit does to signed reasoning after it.
    pub signed_reasoning: Option<SignedReasoning>,
    /// Shortest prefix that is cached.
    pub min_cacheable: Option<u32>,
    /// Dollars per million tokens: input and output.
    pub price: Option<PlainPrice>,
    /// Cache prices, as multiples of the input price.
    pub cache: Option<CachePrice>,
    /// Input size above which a request costs a multiple.
    pub price_step: Option<PriceStep>,
    /// Where the facts are from.
    pub source: Option<String>,
    /// When they were true.
    pub date: Option<String>,
}

/// Dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainPrice {
    /// Input.
    pub input: f64,
    /// Output.
    pub output: f64,
}

/// Multiples of the input price.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CachePrice {
    /// For input read from a cache.
    pub read: f64,
    /// For input written to a cache; empty when writing costs nothing extra.
    #[serde(default)]
    pub writes: Vec<CacheMultiple>,
}

/// The multiple for an entry that lives this long.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheMultiple {
    /// Lifetime in seconds.
    pub seconds: u32,
    /// Multiple of the input price.
    pub times: f64,
}

/// All entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelTable {
    /// Stem and entry, shortest stem first.
    rows: Vec<(ModelName, ModelEntry)>,
}

/// A table of models that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("table of models, line {}, column {}: {}", .0.line(), .0.column(), .0)]
pub struct ModelTableError(#[from] serde_json::Error);

impl ModelTable {
    /// The table that ships with the program, read once.
    pub fn embedded() -> &'static ModelTable {
        static TABLE: OnceLock<ModelTable> = OnceLock::new();
        // The tests read the same bytes; an unreadable table would leave every model unknown.
        TABLE.get_or_init(|| ModelTable::parse(EMBEDDED).unwrap_or_default())
    }

    /// Reads a table: a JSON array of entries.
    pub fn parse(json: &str) -> Result<Self, ModelTableError> {
        Ok(Self::from(serde_json::from_str::<Vec<ModelEntry>>(json)?))
    }

    /// This table with `overrides` laid on top: for the same stem each fact that an override states wins,
    /// and a longer stem wins over a shorter one.
    pub fn with(&self, overrides: ModelTable) -> Self {
        let mut rows = self.rows.clone();
        for (stem, entry) in overrides.rows {
            match rows.iter_mut().find(|(known, _)| *known == stem) {
                Some((_, below)) => below.lay(&entry),
                None => rows.push((stem, entry)),
            }
        }
        Self::sorted(rows)
    }

    /// What is known about a model.
    pub fn profile(&self, spelled: &str, family: ApiFamily) -> ModelProfile {
        let name = ModelName::of(spelled);
        let mut facts = ModelEntry::default();
        for (_, entry) in self.rows.iter().filter(|(stem, _)| name.starts_with(stem)) {
            if entry.window.is_some() {
                facts.forget_model();
            }
            facts.lay(entry);
        }
        facts.complete(&name, family)
    }

    /// Stems in the order in which entries are laid over each other.
    pub fn stems(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|(stem, _)| stem.as_str())
    }

    fn sorted(mut rows: Vec<(ModelName, ModelEntry)>) -> Self {
        rows.sort_by_key(|(stem, _)| stem.as_str().len());
        Self { rows }
    }
}

impl From<Vec<ModelEntry>> for ModelTable {
    fn from(entries: Vec<ModelEntry>) -> Self {
        let rows = entries.into_iter().flat_map(|entry| {
            let stems: Vec<ModelName> = entry.stems.iter().map(|stem| ModelName::of(stem)).collect();
            stems.into_iter().map(move |stem| (stem, entry.clone()))
        });
        Self::sorted(rows.collect())
    }
}

impl ModelEntry {
    /// Takes over what `above` states.
    fn lay(&mut self, above: &ModelEntry) {
        fn over<T: Clone>(below: &mut Option<T>, above: &Option<T>) {
            if above.is_some() {
                below.clone_from(above);
            }
        }
        over(&mut self.window, &above.window);
        over(&mut self.max_input, &above.max_input);
        over(&mut self.max_output, &above.max_output);
        over(&mut self.tokeniser, &above.tokeniser);
        over(&mut self.image_tokens, &above.image_tokens);
        over(&mut self.signed_reasoning, &above.signed_reasoning);
        over(&mut self.min_cacheable, &above.min_cacheable);
        over(&mut self.price, &above.price);
        over(&mut self.cache, &above.cache);
        over(&mut self.price_step, &above.price_step);
        over(&mut self.source, &above.source);
        over(&mut self.date, &above.date);
    }

    /// Drops what belongs to one model and not to its family.
    fn forget_model(&mut self) {
        self.max_input = None;
        self.max_output = None;
        self.price = None;
        self.price_step = None;
    }

    /// Fills the gaps.
    fn complete(self, name: &ModelName, family: ApiFamily) -> ModelProfile {
        let unknown = ModelProfile::unknown(name.as_str(), family);
        let long = name.asks_long_window().then_some(LONG_WINDOW);
        let prices = self.price.map(|plain| prices(plain, self.cache.as_ref()));
        ModelProfile {
            known: self.window.is_some(),
            window: long.max(self.window).unwrap_or(unknown.window),
            max_input: self.max_input,
            max_output: self.max_output,
            tokeniser: self.tokeniser.unwrap_or(unknown.tokeniser),
            image_tokens: self.image_tokens,
            signed_reasoning: self.signed_reasoning.unwrap_or(unknown.signed_reasoning),
            price_step: self.price_step.filter(PriceStep::is_felt),
            prices,
            min_cacheable: self.min_cacheable,
            source: self.source,
            date: self.date,
            name: unknown.name,
        }
    }
}

/// Absolute prices from multiples.
fn prices(plain: PlainPrice, cache: Option<&CachePrice>) -> Prices {
    let read = cache.map_or(1.0, |cache| cache.read);
    let mut cache_writes: Vec<CacheWrite> = cache
        .map(|cache| cache.writes.as_slice())
        .unwrap_or_default()
        .iter()
        .map(|write| CacheWrite { seconds: write.seconds, price: plain.input * write.times })
        .collect();
    cache_writes.sort_by_key(|write| write.seconds);
    Prices { input: plain.input, output: plain.output, cache_read: plain.input * read, cache_writes }
}
