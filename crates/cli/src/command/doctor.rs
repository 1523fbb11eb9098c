//! `foldline doctor`: checks what the settings need, with a fix for each problem.

use super::settings;
use super::setup::status::{self, Status, Tools};
use super::setup::verify;
use crate::args::{Doctor, Tuning};
use crate::failure::{Failure, Verdict};
use crate::keep::{self, KeepError};
use crate::output::{self, Paint};
use crate::settings::{Settings, Surroundings, model_table};
use anstyle::{AnsiColor, Style};
use foldline_core::Policy;
use foldline_core::models::{ApiFamily, ModelTable};
use foldline_core::policy::{BudgetInputs, Budgets, Dialect};
use foldline_core::summary::FailureClass;
use foldline_gateway::outbound::{Outbound, OutboundSettings};
use foldline_gateway::summariser::{Endpoint, KeySource, Probe, Summariser, probe};
use foldline_store::{Fault, StoreError, StoreSettings, is_url, shown};
use serde::Serialize;
use std::fmt::Write as _;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Health {
    Good,
    /// Works, but worth knowing.
    Note,
    Wrong,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    health: Health,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Check {
        Check { name, health: Health::Good, found: found.into(), fix: None }
    }

    fn note(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { name, health: Health::Note, found: found.into(), fix: Some(fix.into()) }
    }

    fn wrong(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Check {
        Check { name, health: Health::Wrong, found: found.into(), fix: Some(fix.into()) }
    }
}

/// Runs the command.
pub fn run(args: &Doctor) -> Result<Verdict, Failure> {
    let checks = examine(args);
    let is_wrong = checks.iter().any(|check| check.health == Health::Wrong);
    let out = match args.json {
        true => {
            let report = serde_json::json!({ "healthy": !is_wrong, "checks": checks });
            serde_json::to_string_pretty(&report).map_err(Failure::input)? + "\n"
        }
        false => table(&checks, Paint::of_stdout()),
    };
    output::print(&out)?;
    Ok(if is_wrong { Verdict::Found } else { Verdict::Fine })
}

fn examine(args: &Doctor) -> Vec<Check> {
    let settings = match settings(&args.tuning, Vec::new()) {
        Ok(settings) => settings,
        Err(failure) => {
            let fix = "fix or remove the setting named above";
            return vec![Check::wrong("settings", failure.message, fix)];
        }
    };
    let mut checks = vec![settings_check(&settings)];
    checks.extend(store_checks(&settings.store));
    let table = match model_table(settings.policy(), &Surroundings::of_process()) {
        Ok(table) => table,
        Err(error) => {
            checks.push(Check::wrong("model table", error.to_string(), "fix the file named by model.table"));
            ModelTable::embedded().clone()
        }
    };
    checks.push(model_check(settings.policy(), &args.tuning, &table));
    checks.extend(client_checks(settings.gateway.listen.as_deref()));
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            checks.push(Check::wrong("network", error.to_string(), "check the limits on memory and threads"));
            return checks;
        }
    };
    runtime.block_on(async {
        for url in &args.upstream {
            checks.push(upstream_check(url).await);
        }
        checks.extend(summariser_checks(settings.policy(), &table).await);
    });
    checks
}

fn settings_check(settings: &Settings) -> Check {
    let set = settings.resolved.entries().filter(|(_, _, origin)| origin.to_string() != "default").count();
    match &settings.file {
        Some(file) => {
            Check::good("settings", format!("{} is valid; {set} values differ from the defaults", file.display()))
        }
        None => Check::good("settings", format!("no file; {set} values differ from the defaults")),
    }
}

fn store_checks(settings: &StoreSettings) -> Vec<Check> {
    let Some(path) = keep::path_of(settings).map(|path| shown(&path)) else {
        let fix = "remove store.path, or set it to a file, to be able to recall removed text";
        return vec![Check::note("store", "originals are not stored", fix)];
    };
    let wrong = |error: KeepError| {
        let fix = match &error {
            KeepError::Keys(_) => "fix store.key_file or store.key_command".to_owned(),
            KeepError::Store(StoreError { fault: Fault::NoKey(_) | Fault::WrongKey { .. }, .. }) => {
                "provide the keys of the store with store.key_file, store.key_command or FOLDLINE_STORE_KEY".to_owned()
            }
            KeepError::Store(StoreError { fault: Fault::NoObjects | Fault::ObjectUrl(_), .. }) => {
                "set store.originals to file:///FOLDER or s3://BUCKET/PREFIX".to_owned()
            }
            _ if is_url(&path) => "start the database, or fix store.path or --store".to_owned(),
            _ => format!("make {} writable, or choose another file with store.path or --store", path.display()),
        };
        vec![Check::wrong("store", error.to_string(), fix)]
    };
    let store = match keep::open(settings) {
        Ok(Some(store)) => store,
        Ok(None) => return vec![Check::note("store", "originals are not stored", "set store.path to a file")],
        Err(error) => return wrong(error),
    };
    let encryption = match (store.keys().first(), store.outdated()) {
        (_, Err(error)) => return wrong(error.into()),
        (None, _) => Check::note(
            "store encryption",
            "none: anyone who can read the file can read removed conversation text",
            "create a key with `foldline store key FILE` and set store.key_file to FILE",
        ),
        (Some(key), Ok(0)) => Check::good("store encryption", format!("everything, with key {key}")),
        (Some(key), Ok(rows)) => Check::note(
            "store encryption",
            format!("with key {key}, but for {rows} rows"),
            "run `foldline store rekey`",
        ),
    };
    let mut checks = vec![Check::good("store", format!("{} is writable", path.display())), encryption];
    checks.extend(settings.originals.as_ref().map(|url| match store.probe() {
        Ok(()) => Check::good("originals", format!("{url} is writable")),
        Err(error) => Check::wrong("originals", error.to_string(), "check store.originals and the AWS_… variables"),
    }));
    checks
}

/// Agents on this machine: which of them use the gateway and the tools.
fn client_checks(listen: Option<&str>) -> Vec<Check> {
    let own: Vec<String> = listen.map(|listen| format!("http://{listen}")).into_iter().collect();
    let found = status::found(&own);
    if found.is_empty() {
        let fix = "for other agents, `foldline serve` prints the lines that point them at the gateway";
        return vec![Check::note("clients", "none of those that `foldline setup` knows is installed", fix)];
    }
    found.iter().map(client_check).collect()
}

fn client_check(client: &Status) -> Check {
    let name = client.name;
    if let Some(trouble) = &client.trouble {
        return Check::wrong(name, format!("its settings cannot be read: {trouble}"), "correct that file");
    }
    let Some(gateway) = &client.gateway else {
        return match client.tools {
            Tools::Offered => Check::good(name, "has the tools; its requests do not pass the gateway"),
            Tools::Missing | Tools::Unsupported => Check::note(
                name,
                "installed, not set up",
                format!("`foldline wrap {name}` for one run, `foldline setup {name}` for good"),
            ),
        };
    };
    if let Err(why) = verify::gateway(gateway) {
        let fix = format!("start it with `foldline serve`, or run `foldline setup {name} --undo`");
        return Check::wrong(name, format!("uses the gateway at {gateway}, which does not answer ({why})"), fix);
    }
    match client.tools {
        Tools::Missing => Check::note(
            name,
            format!("uses the gateway at {gateway}, which answers, but not the tools"),
            format!("`foldline setup {name} --gateway {gateway}` adds them"),
        ),
        Tools::Offered => Check::good(name, format!("uses the gateway at {gateway}, which answers, and the tools")),
        Tools::Unsupported => Check::good(name, format!("uses the gateway at {gateway}, which answers")),
    }
}

fn model_check(policy: &Policy, tuning: &Tuning, table: &ModelTable) -> Check {
    let Some(name) = policy.model.name.as_deref() else {
        return Check::good("model", "none set; each request names its model");
    };
    let profile = table.profile(name, ApiFamily::OpenAi);
    let budgets = Budgets::of(policy, &profile, BudgetInputs::default());
    let numbers = format!("window {}, trigger {}", budgets.window, budgets.trigger);
    match profile.known || tuning.window.is_some() || policy.model.window.fixed().is_some() {
        true => Check::good("model", format!("{name}: {numbers}")),
        false => Check::note(
            "model",
            format!("{name} is not in the model table; {numbers} are assumed"),
            "set model.window to the window of the model",
        ),
    }
}

async fn upstream_check(url: &str) -> Check {
    let name = "upstream";
    let endpoint = match Endpoint::at(url, Dialect::Auto, "", None) {
        Ok(endpoint) => endpoint,
        Err(error) => return Check::wrong(name, format!("{url}: {error}"), "set it to the base URL of a provider"),
    };
    let outbound = match Outbound::new(OutboundSettings::default()) {
        Ok(outbound) => outbound,
        Err(error) => return Check::wrong(name, error.to_string(), "fix the certificate file"),
    };
    match probe(&outbound, &endpoint).await {
        Ok(_) => Check::good(name, format!("{} answers", endpoint.host())),
        // Clients bring their own keys; that it asks for one is a good sign.
        Err(failure) if failure.class == FailureClass::Access => {
            Check::good(name, format!("{} is reachable and requires a key", endpoint.host()))
        }
        Err(failure) => {
            let fix = "check the URL, the proxy (HTTPS_PROXY, NO_PROXY) and whether the provider is up";
            Check::wrong(name, format!("{}: {failure}", endpoint.host()), fix)
        }
    }
}

async fn summariser_checks(policy: &Policy, table: &ModelTable) -> Vec<Check> {
    let summariser = match Summariser::of_policy(policy, &|name| std::env::var(name).ok()) {
        Ok(Some(summariser)) => summariser,
        Ok(None) => {
            let fix = "set summarizer.url and summarizer.model to let a model write them";
            return vec![Check::note("summariser", "none: handoffs are written without a model", fix)];
        }
        Err(error) => {
            let fix = "fix summarizer.url, summarizer.key_env or summarizer.key_file";
            return vec![Check::wrong("summariser", error.to_string(), fix)];
        }
    };
    let first = &summariser.first;
    let mut checks = vec![key_check(policy, first)];
    let found = probe(&summariser.outbound, first).await;
    checks.push(match &found {
        Ok(Probe { knows_model: Some(false), .. }) => Check::wrong(
            "summariser",
            format!("{} is reachable but does not list the model {}", first.host(), first.model),
            "set summarizer.model to a model it serves",
        ),
        Ok(_) => Check::good(
            "summariser",
            format!("{} is reachable; model {}, dialect {}", first.host(), first.model, first.dialect),
        ),
        Err(failure) => Check::wrong("summariser", format!("{}: {failure}", first.host()), failure.class.advice()),
    });
    checks.push(window_check(policy, table, found.ok().and_then(|probe| probe.window)));
    checks
}

fn key_check(policy: &Policy, endpoint: &Endpoint) -> Check {
    let name = "summariser key";
    if endpoint.key.is_some() {
        return Check::good(name, "present");
    }
    let names = match KeySource::of(&policy.summarizer, endpoint.host()) {
        KeySource::Usual(names) => names.join(" or "),
        KeySource::Variable(name) => name,
        KeySource::File(path) => path.display().to_string(),
    };
    let fix = format!("if {} requires a key, set {names}", endpoint.host());
    Check::note(name, "none", fix)
}

/// The summariser's window against the trigger: what it cannot read in one go is folded in steps, and the
/// trigger is lowered to it.
fn window_check(policy: &Policy, table: &ModelTable, stated: Option<u32>) -> Check {
    let name = "summariser window";
    let main = table.profile(policy.model.name.as_deref().unwrap_or_default(), ApiFamily::OpenAi);
    let listed = policy.summary_model().map(|model| table.profile(model, ApiFamily::OpenAi));
    let listed = listed.filter(|profile| profile.known).map(|profile| profile.window);
    let set = policy.summarizer.window.fixed();
    let Some(window) = set.or(listed).or(stated) else {
        return Check::note(
            name,
            "unknown; 32,768 tokens are assumed",
            "set summarizer.window to the window of the \
         model",
        );
    };
    if let Some(stated) = stated.filter(|stated| *stated < window) {
        let found = format!("assumed {window} tokens, but the server reports {stated}");
        return Check::wrong(name, found, format!("set summarizer.window to {stated}"));
    }
    let plain = Budgets::of(policy, &main, BudgetInputs::default()).trigger;
    match window < plain {
        true => Check::note(
            name,
            format!("{window} tokens, below the trigger of {plain}; the trigger is lowered to it"),
            "use a summary model with a larger window, or lower compression.threshold",
        ),
        false if set.or(listed).is_none() => Check::note(
            name,
            format!("the server reports {window} tokens; 32,768 are assumed"),
            format!("set summarizer.window to {window}"),
        ),
        false => Check::good(name, format!("{window} tokens, enough for the trigger of {plain}")),
    }
}

fn table(checks: &[Check], paint: Paint) -> String {
    let mut out = String::new();
    for check in checks {
        let (mark, colour) = match check.health {
            Health::Good => ("ok   ", AnsiColor::Green),
            Health::Note => ("note ", AnsiColor::Yellow),
            Health::Wrong => ("wrong", AnsiColor::Red),
        };
        let mark = paint.paint(Style::new().fg_color(Some(colour.into())), mark);
        let _ = writeln!(out, "{mark}  {:<18} {}", check.name, check.found.replace('\n', " "));
        if let Some(fix) = &check.fix {
            let _ = writeln!(out, "{:<25} → {fix}", "");
        }
    }
    out
}
