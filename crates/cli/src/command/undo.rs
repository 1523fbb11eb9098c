//! `foldline undo`: takes back the latest fold of a session, in the gateway that runs or in the store of one that does not.

use crate::args::Tuning;
use crate::failure::{Failure, Verdict};
use crate::{keep, output, store_keys};
use foldline_gateway::conversation::{ConversationSettings, Conversations, SessionId, Timestamp, Undo};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// Take back the latest fold of a session: its next request goes out without it, as long as it fits the window
///
/// The fold before it, if there was one, is in force again. The conversation is not folded at the same place again until
/// it no longer fits, reaches the safety net, or has grown as it must between two folds. The gateway that runs is asked; when
/// none does, the decision is written into the store. A gateway with client keys wants one in FOLDLINE_KEY.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  foldline undo fs-3f9a0c51d2e70b84
  FOLDLINE_KEY=… foldline undo fs-3f9a0c51d2e70b84 --gateway http://10.0.0.7:8787

Over HTTP:
  POST /foldline/sessions/{id}/undo

Exit codes: 0 done, 1 there is nothing to take back or it would not fit, 2 bad usage, or neither gateway nor store.")]
pub struct UndoArgs {
    /// The session, as `/foldline/sessions` and the reply header `x-foldline-session` name it
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// The gateway; the address of the settings when not given
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
        Failure::input(format!("`{}` is no session; expected something like fs-0123456789abcdef", args.session))
    })?;
    let settings = super::settings(&args.tuning, Vec::new())?;
    let listen = settings.gateway.listen.clone().unwrap_or_else(|| "127.0.0.1:8787".to_owned());
    let named = args.gateway.as_deref().unwrap_or(&listen);
    let host = named.strip_prefix("http://").unwrap_or(named).trim_end_matches('/');
    let words = match connect(host) {
        Ok(stream) => ask(stream, host, &session)?,
        Err(error) if args.gateway.is_none() && error.kind() == ErrorKind::ConnectionRefused => {
            let place = keep::path_of(&settings.store).ok_or_else(|| {
                Failure::input(format!("no gateway listens on {host}, and there is no store; name one with --store"))
            })?;
            in_store(&settings.store, place, &session)?
        }
        Err(error) => return Err(Failure::input(format!("the gateway at {host} cannot be reached: {error}"))),
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

/// Asks a gateway that runs; what it says.
fn ask(mut stream: TcpStream, host: &str, session: &SessionId) -> Result<String, Failure> {
    let key = std::env::var("FOLDLINE_KEY").unwrap_or_default();
    if key.contains(|c: char| c.is_control()) {
        return Err(Failure::input("FOLDLINE_KEY has characters that no header can carry"));
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
        _ => Err(Failure::input(format!("what answers at {host} is no Foldline gateway"))),
    }
}

/// Writes the decision into the store of a gateway that does not run.
fn in_store(
    settings: &foldline_store::StoreSettings,
    place: std::path::PathBuf,
    session: &SessionId,
) -> Result<String, Failure> {
    if !place.exists() {
        return Err(Failure::input(format!("no gateway runs, and there is no store at {}", place.display())));
    }
    let keys = store_keys::keys(settings).map_err(Failure::input)?;
    let opening =
        ConversationSettings { store: Some(place), limits: settings.limits(), keys, ..ConversationSettings::default() };
    let conversations = Conversations::open(opening).map_err(Failure::input)?;
    let now = Timestamp(jiff::Timestamp::now().as_millisecond());
    let none = |message: String| Err(Failure { code: 1, message });
    match conversations.undo(session, now).map_err(Failure::input)? {
        Undo::Done { .. } => {
            Ok("the latest fold is taken back in the store; no gateway runs that would have to know".to_owned())
        }
        Undo::NoSession => none(format!("nothing is known of session {session}")),
        Undo::Nothing => none("nothing of this session is folded, so there is nothing to take back".to_owned()),
        Undo::TooLarge { tokens, window } => none(format!(
            "without its latest fold the next request would have about {tokens} tokens and not fit the window of {window}"
        )),
    }
}
