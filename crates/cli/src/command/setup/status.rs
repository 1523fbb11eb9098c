//! How far the clients on this machine are set up, judged by the same table that sets them up.

use super::client::{Around, Client, Wiring};
use super::{DEFAULT_COMMAND, DEFAULT_GATEWAY, journal::Journal, journal_place, read, verify};
use clap::ValueEnum as _;
use std::path::Path;

/// A client that is on this machine.
pub struct Status {
    /// Its name.
    pub name: &'static str,
    /// The gateway that it points at.
    pub gateway: Option<String>,
    /// Our tools.
    pub tools: Tools,
    /// Why its settings cannot be read.
    pub trouble: Option<String>,
}

/// Whether a client has our tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Yes.
    Offered,
    /// Not yet.
    Missing,
    /// It cannot have any.
    Unsupported,
}

/// The clients whose program or settings are here. Besides the addresses of earlier set-ups, `gateways` are looked for.
pub fn found(gateways: &[String]) -> Vec<Status> {
    let var = |name: &str| std::env::var(name).ok();
    let around = Around { var: &var, read: &read };
    let is_here = |client: &Client| {
        client.folder(&around).is_some_and(|folder| folder.exists()) || verify::is_program(client.name())
    };
    Client::value_variants().iter().copied().filter(is_here).map(|client| status(client, gateways, &around)).collect()
}

fn status(client: Client, gateways: &[String], around: &Around<'_>) -> Status {
    let record = journal_place(client).ok().and_then(|place| Journal::read(&place).ok()).unwrap_or_default();
    let command = record.command.unwrap_or_else(|| DEFAULT_COMMAND.to_owned());
    let tools = Wiring { gateway: None, mcp: Some((command, vec!["mcp".to_owned()])) };
    let nothing = |_: &Path| -> Result<Option<String>, String> { Ok(None) };
    let from_nothing = client.changes(&tools, &Around { var: around.var, read: &nothing });
    let mut trouble = None;
    let mut is_done = |wiring: &Wiring| match client.changes(wiring, around) {
        Ok(changes) => changes.is_empty(),
        Err(error) => {
            trouble = Some(error);
            false
        }
    };
    let tools = match from_nothing {
        Ok(changes) if changes.is_empty() => Tools::Unsupported,
        _ if is_done(&tools) => Tools::Offered,
        _ => Tools::Missing,
    };
    let mut known = record.gateway.into_iter().chain(gateways.iter().cloned()).chain([DEFAULT_GATEWAY.to_owned()]);
    let gateway = known.find(|base| is_done(&Wiring { gateway: Some(base.clone()), mcp: None }));
    Status { name: client.name(), gateway, tools, trouble }
}
