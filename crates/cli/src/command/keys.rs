//! `foldline keys`: the keys of the gateway's clients, in the store.

mod terms;

use crate::failure::{Failure, Verdict};
use crate::{keep, output};
use clap::Subcommand;
use foldline_gateway::conversation::CredentialId;
use foldline_gateway::serve::{KeyFigure, dates, events_json, key_figures};
use foldline_store::{KeyScope, KeyTerms, Store, new_client_key};
use serde_json::json;
use std::path::PathBuf;

/// What can be done about client keys.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  # for an agent that brings its own provider key beside it
  foldline keys add build-agent
  # thirty days, a million tokens and five dollars a day
  foldline keys add alice --expires 30d --tokens-per-day 1M --dollars-per-day 5
  # the gateway sends the provider keys that are in its environment
  foldline keys add ci --upstream anthropic=ANTHROPIC_API_KEY --upstream openai=OPENAI_API_KEY
  # sees the figures of all clients, and nothing else
  foldline keys add ops --scope operator
  foldline keys list
  foldline keys revoke alice
  foldline keys audit --json

Gateways that use the store accept a new key, and refuse a revoked one, within two seconds. A client sends its key as \
x-foldline-key, or where its provider key would be. Without gateway.client_keys, set gateway.require_key, or everybody on \
this machine comes in without a key.")]
pub enum KeysCommand {
    /// Create a key. It is printed once; the store has its digest only.
    Add(AddArgs),
    /// List the keys, what they may do and what they used.
    List {
        #[command(flatten)]
        place: KeyStore,
        /// As JSON, as `GET /foldline/keys` answers.
        #[arg(long)]
        json: bool,
    },
    /// End a key. What its client has stored stays.
    Revoke {
        /// Name of the key.
        name: String,
        #[command(flatten)]
        place: KeyStore,
        /// What was done, as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what happened to keys: added, revoked, requests refused (at most one line per key, kind and minute).
    Audit {
        #[command(flatten)]
        place: KeyStore,
        /// How many events, the newest first.
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        limit: usize,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

/// `foldline keys add`.
#[derive(Debug, clap::Args)]
pub struct AddArgs {
    /// Name of the key: letters, digits, dots, dashes and underscores.
    name: String,
    /// What it may be used for: `generate` (requests to providers), `recall` (reading its own originals and sessions),
    /// `operator` (figures of all clients); repeatable. [default: generate and recall]
    #[arg(long = "scope", value_name = "SCOPE", value_parser = terms::scope)]
    scopes: Vec<KeyScope>,
    /// When it ends: `30d`, `12h`, or a date such as 2026-01-31.
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// Tokens per day (UTC), prompts and replies together, as 500000 or 500k.
    #[arg(long, value_name = "TOKENS", value_parser = terms::token_budget)]
    tokens_per_day: Option<u64>,
    /// Dollars per day (UTC), by the price table; requests to models without a price count as free.
    #[arg(long, value_name = "DOLLARS", value_parser = terms::dollar_budget)]
    dollars_per_day: Option<f64>,
    /// Environment variable of the gateway with the provider key to send in place of this one; repeatable.
    #[arg(long = "upstream", value_name = "PROVIDER=VARIABLE", value_parser = terms::mapping)]
    upstream: Vec<(String, String)>,
    #[command(flatten)]
    place: KeyStore,
    /// The key and its terms as JSON.
    #[arg(long)]
    json: bool,
}

/// Which store.
#[derive(Debug, clap::Args)]
pub struct KeyStore {
    /// Store file or URL; that of the settings if omitted.
    #[arg(long, value_name = "PATH|URL")]
    store: Option<PathBuf>,
    /// The settings file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl KeyStore {
    fn open(&self) -> Result<Store, Failure> {
        keep::open_existing(self.store.as_ref(), self.config.as_ref())
    }
}

/// Runs the command.
pub fn run(command: &KeysCommand) -> Result<Verdict, Failure> {
    let told = match command {
        KeysCommand::Add(args) => add(args)?,
        KeysCommand::List { place, json: true } => {
            let figures = key_figures(&place.open()?, keep::now_ms()).map_err(Failure::input)?;
            format!("{:#}\n", figures.json())
        }
        KeysCommand::List { place, json: false } => list(&place.open()?)?,
        KeysCommand::Revoke { name, place, json } => {
            let store = place.open()?;
            if !store.revoke_client_key(keep::now_ms(), name).map_err(Failure::input)? {
                let message = format!("no key named `{name}` is in force; `foldline keys list` shows the names");
                return Err(Failure { code: 1, message });
            }
            match json {
                true => format!("{:#}\n", json!({ "name": name, "status": "revoked" })),
                false => format!("key `{name}` is revoked; gateways refuse it within two seconds\n"),
            }
        }
        KeysCommand::Audit { place, limit, json } => {
            let events = place.open()?.key_events(*limit).map_err(Failure::input)?;
            match json {
                true => format!("{:#}\n", json!({ "events": events_json(&events) })),
                false if events.is_empty() => "no events\n".to_owned(),
                false => {
                    let line = |event: &foldline_store::KeyEvent| {
                        format!("{}  {}  {}\n", dates::iso(event.at), event.name, event.kind.name())
                    };
                    events.iter().map(line).collect()
                }
            }
        }
    };
    output::print(&told)?;
    Ok(Verdict::Fine)
}

fn add(args: &AddArgs) -> Result<String, Failure> {
    let now = keep::now_ms();
    let scopes = match args.scopes.as_slice() {
        [] => [KeyScope::Generate, KeyScope::Recall].into(),
        scopes => scopes.iter().copied().collect(),
    };
    let expires_at = args.expires.as_deref().map(|text| terms::expiry(text, now)).transpose();
    let terms = KeyTerms {
        scopes,
        upstream: args.upstream.clone(),
        expires_at: expires_at.map_err(|wrong| Failure::input(format!("--expires: {wrong}")))?,
        tokens_per_day: args.tokens_per_day,
        dollars_per_day: args.dollars_per_day,
    };
    let key = new_client_key().map_err(|error| Failure::input(format!("the system has no random numbers: {error}")))?;
    let store = keep::open_or_make(args.place.store.as_ref(), args.place.config.as_ref())?;
    let digest = CredentialId::of_key(&key).key();
    let added = store.add_client_key(now, digest, &args.name, terms).map_err(Failure::input)?;
    added.map_err(|refused| Failure::input(format!("key `{}` was not added: {refused}", args.name)))?;
    Ok(match args.json {
        true => format!("{:#}\n", json!({ "name": args.name, "key": key.as_str() })),
        false => {
            output::tell(&format!(
                "key `{}` is added; this is the only time it is shown. The client sends it as x-foldline-key, or where \
                 its provider key would be\n",
                args.name
            ));
            format!("{}\n", key.as_str())
        }
    })
}

fn list(store: &Store) -> Result<String, Failure> {
    let figures = key_figures(store, keep::now_ms()).map_err(Failure::input)?;
    if figures.keys.is_empty() {
        return Ok("no keys; create one with `foldline keys add NAME`\n".to_owned());
    }
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "NAME",
        "STATUS",
        "SCOPES",
        "REQUESTS TODAY",
        "TOKENS TODAY",
        "DOLLARS TODAY",
        "EXPIRES",
        "LAST USED",
    ]);
    for figure in &figures.keys {
        table.add_row(row(figure));
    }
    Ok(table.lines().map(|line| format!("{}\n", line.trim())).collect())
}

fn row(figure: &KeyFigure) -> [String; 8] {
    let KeyFigure { key, today, status, .. } = figure;
    let terms = &key.terms;
    let day = |time: Option<i64>| {
        let text = time.map(dates::iso).unwrap_or_default();
        text.split('T').next().filter(|day| !day.is_empty()).unwrap_or("never").to_owned()
    };
    let tokens = terms.tokens_per_day.map_or_else(String::new, |limit| format!(" of {limit}"));
    let dollars = terms.dollars_per_day.map_or_else(String::new, |limit| format!(" of {limit:.2}"));
    [
        key.name.clone(),
        status.name().to_owned(),
        terms.scope_names().replace(' ', ","),
        today.requests.to_string(),
        format!("{}{tokens}", today.tokens()),
        format!("{:.2}{dollars}", today.dollars),
        day(terms.expires_at),
        day(key.used_at),
    ]
}
