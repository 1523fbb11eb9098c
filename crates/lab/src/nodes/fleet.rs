//! Gateways as processes, which can be killed.

use crate::Failure;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Several gateways on one store.
pub(super) struct Fleet {
    /// Those of the gateways with even numbers, and with odd ones.
    binaries: [PathBuf; 2],
    store: PathBuf,
    upstream: SocketAddr,
    window: usize,
    nodes: Vec<Mutex<Option<Node>>>,
}

struct Node {
    process: Child,
    address: SocketAddr,
}

impl Fleet {
    /// Starts so many, every second one of another release if there is one.
    pub(super) fn start(
        (binary, beside): (&Path, Option<&Path>),
        store: &Path,
        upstream: SocketAddr,
        window: usize,
        nodes: usize,
    ) -> Result<Fleet, Failure> {
        let nodes = (0..nodes).map(|_| Mutex::new(None)).collect();
        let binaries = [binary.to_owned(), beside.unwrap_or(binary).to_owned()];
        let fleet = Fleet { binaries, store: store.to_owned(), upstream, window, nodes };
        for number in 0..fleet.len() {
            fleet.begin(number)?;
        }
        Ok(fleet)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn node(&self, number: usize) -> Result<MutexGuard<'_, Option<Node>>, Failure> {
        let node = self.nodes.get(number).ok_or("there is no such node")?;
        Ok(node.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where a node listens, while it runs.
    pub(super) fn address(&self, number: usize) -> Option<SocketAddr> {
        self.node(number).ok()?.as_ref().map(|node| node.address)
    }

    /// Starts a node.
    pub(super) fn begin(&self, number: usize) -> Result<(), Failure> {
        let [even, odd] = &self.binaries;
        let binary = if number.is_multiple_of(2) { even } else { odd };
        let mut command = Command::new(binary);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "off", "--window", &self.window.to_string()])
            .args(["--upstream-openai", &format!("http://{}", self.upstream)])
            .args(["--upstream-anthropic", &format!("http://{}", self.upstream)])
            .args(["--upstream-gemini", &format!("http://{}", self.upstream)])
            .arg("--store")
            .arg(&self.store)
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("{}: {error}", binary.display()))?;
        let out = process.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address = line.rsplit("http://").next().map(str::trim).unwrap_or_default();
        let address = address.parse().map_err(|_| format!("a gateway did not say where it listens: {line}"))?;
        *self.node(number)? = Some(Node { process, address });
        Ok(())
    }

    /// Kills a node with SIGKILL.
    pub(super) fn kill(&self, number: usize) -> Result<(), Failure> {
        if let Some(mut node) = self.node(number)?.take() {
            node.process.kill()?;
            node.process.wait()?;
        }
        Ok(())
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for number in 0..self.len() {
            let _ended = self.kill(number);
        }
    }
}
