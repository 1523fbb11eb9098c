//! `foldline undo`: undoes the latest fold of a session, in the running gateway or, if none runs, in the store.

use crate::args::Tuning;
use crate::failure::{Failure, Verdict};
use crate::{keep, output, store_keys};
use foldline_gateway::conversation::{ConversationSettings, Conversations, SessionId, Timestamp, Undo};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// Undo the latest fold of a session: its next request is forwarded without it if it fits the window
///
/// The fold before it, if there was one, applies again. The conversation is not folded again until it no longer fits,
/// reaches the safety net, or has grown by compression.min_growth. The command asks the running gateway; if none runs, it
/// writes the decision to the store. A gateway with client keys requires one in FOLDLINE_KEY.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  foldline undo fs-3f9a0c51d2e70b84
  FOLDLINE_KEY=… foldline undo fs-3f9a0c51d2e70b84 --gateway http://10.0.0.7:8787

Over HTTP:
  POST /foldline/sessions/{id}/undo

Exit codes: 0 undone, 1 nothing to undo or the request would not fit, 2 invalid usage, or neither gateway nor store.")]
pub struct UndoArgs {
    /// Session id, from `/foldline/sessions` or the reply header `x-foldline-session`
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// URL of the gateway [default: the address in the settings]
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    #[command(flatten)]
    pub tuning: Tuning,
}

/// How long the gateway may take: it writes to its store.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the command.
pub fn run(args: &UndoArgs) -> Result<Verdict, Failure> {
    let session = SessionId::parse(&args.session).ok_or_else(|| {
        Failure::input(format!("invalid session id `{}`; expected fs- and 16 hex digits", args.session))
    })?;
    let settings = super::settings(&args.tuning, Vec::new())?;
    let listen = settings.gateway.listen.clone().unwrap_or_else(|| "127.0.0.1:8787".to_owned());
    let named = args.gateway.as_deref().unwrap_or(&listen);
    let host = named.strip_prefix("http://").unwrap_or(named).trim_end_matches('/');
    let words = match connect(host) {
        Ok(stream) => ask(stream, host, &session)?,
        Err(error) if args.gateway.is_none() && error.kind() == ErrorKind::ConnectionRefused => {
            let place = keep::path_of(&settings.store).ok_or_else(|| {
                Failure::input(format!("no gateway listens on {host}, and no store is set; name one with --store or a gateway with --gateway"))
            })?;
            in_store(&settings.store, place, &session)?
        }
        Err(error) => return Err(Failure::input(format!("cannot connect to the gateway at {host}: {error}"))),
    };
    output::print(&format!("{words}\n"))?;
    Ok(Verdict::Fine)
}

fn connect(host: &str) -> std::io::Result<TcpStream> {
    let addresses: Vec<SocketAddr> = host.to_socket_addrs()?.collect();
    let mut last = std::io::Error::from(ErrorKind::NotFound);
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Asks the running gateway; returns its message.
fn ask(mut stream: TcpStream, host: &str, session: &SessionId) -> Result<String, Failure> {
    let key = std::env::var("FOLDLINE_KEY").unwrap_or_default();
    if key.contains(|c: char| c.is_control()) {
        return Err(Failure::input("FOLDLINE_KEY contains control characters, which a header cannot carry"));
    }
    let key = if key.is_empty() { String::new() } else { format!("x-foldline-key: {key}\r\n") };
    let request = format!(
        "POST /foldline/sessions/{session}/undo HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n{key}\
         content-length: 0\r\nconnection: close\r\n\r\n"
    );
    let mut reply = String::new();
    let told = stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .and_then(|()| stream.read_to_string(&mut reply));
    told.map_err(|error| Failure::input(format!("the gateway at {host} did not answer: {error}")))?;
    let (head, body) = reply.split_once("\r\n\r\n").unwrap_or((&reply, ""));
    let status = head.split(' ').nth(1).unwrap_or_default();
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let text = |pointer: &str| body.pointer(pointer).and_then(serde_json::Value::as_str).map(str::to_owned);
    match (status, text("/status"), text("/error/message")) {
        ("202", Some(words), _) => Ok(words),
        ("404" | "409", _, Some(message)) => Err(Failure { code: 1, message }),
        (_, _, Some(message)) => Err(Failure::input(format!("the gateway at {host} refused: {message}"))),
        _ => Err(Failure::input(format!("the server at {host} is not a Foldline gateway"))),
    }
}

/// Writes the decision to the store, without a gateway.
fn in_store(
    settings: &foldline_store::StoreSettings,
    place: std::path::PathBuf,
    session: &SessionId,
) -> Result<String, Failure> {
    if !place.exists() {
        return Err(Failure::input(format!("no gateway runs, and there is no store at {}", place.display())));
    }
    let keys = store_keys::keys(settings).map_err(Failure::input)?;
    let opening = ConversationSettings {
        store: Some(place),
        limits: settings.limits(),
        keys,
        originals: settings.objects(),
        ..ConversationSettings::default()
    };
    let conversations = Conversations::open(opening).map_err(Failure::input)?;
    let now = Timestamp(jiff::Timestamp::now().as_millisecond());
    let none = |message: String| Err(Failure { code: 1, message });
    match conversations.undo(session, now).map_err(Failure::input)? {
        Undo::Done { .. } => Ok("the latest fold is undone in the store (no gateway runs)".to_owned()),
        Undo::NoSession => none(format!("session {session} not found in the store")),
        Undo::Nothing => none("nothing to undo: no fold of this session applies".to_owned()),
        Undo::TooLarge { tokens, window } => none(format!(
            "without its latest fold the next request would have about {tokens} tokens and would not fit the window of {window}"
        )),
    }
}
