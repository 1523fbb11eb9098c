//! A private object store for tests: s3rver on a random port of loopback, in a folder of its own. It ends with its value, and
//! with the process.

use crate::postgres::{ending_with_us, spawn, tell_skipped};
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use tempfile::TempDir;

/// Set to make tests fail where s3rver is missing instead of skipping them.
const NEEDED: &str = "FOLDLINE_NEED_S3";
/// Names the program, where it is not where `.ci/s3` puts it.
const PROGRAM: &str = "FOLDLINE_S3RVER";
/// How the line begins that tells the port.
const LISTENING: &str = "S3rver listening on ";

/// A server that is running.
#[derive(Debug)]
pub struct S3Server {
    process: Child,
    endpoint: String,
    _folder: TempDir,
}

impl S3Server {
    /// A bucket that is there and empty.
    pub const BUCKET: &str = "texts";
    /// The id of the only key that it knows, and the key: its own name, in both.
    pub const KEY: &str = "S3RVER";

    /// Starts a server. `None`, with a line that says so, where it is not installed; an error instead if
    /// `FOLDLINE_NEED_S3` is set.
    pub fn start() -> io::Result<Option<S3Server>> {
        match program() {
            Some(program) => S3Server::with(program).map(Some),
            None if std::env::var_os(NEEDED).is_some() => {
                Err(io::Error::other(format!("s3rver is not installed, and {NEEDED} is set")))
            }
            None => {
                tell_skipped("s3rver", ".ci/s3");
                Ok(None)
            }
        }
    }

    fn with(program: PathBuf) -> io::Result<S3Server> {
        let folder = tempfile::Builder::new().prefix("foldline-s3-").tempdir()?;
        let mut serve = ending_with_us(&program);
        serve.arg("--directory").arg(folder.path()).args(["--address", "127.0.0.1", "--port", "0"]);
        serve.args(["--no-vhost-buckets", "--configure-bucket", S3Server::BUCKET]);
        serve.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = spawn(serve)?;
        let out = process.stdout.take().ok_or_else(|| io::Error::other("s3rver has no output"))?;
        let mut lines = BufReader::new(out).lines();
        let address = loop {
            let line = lines.next().ok_or_else(|| io::Error::other("s3rver does not start"))??;
            if let Some(address) = line.strip_prefix(LISTENING) {
                break address.to_owned();
            }
        };
        // It writes a line for each request, and waits while nobody reads them.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(S3Server { process, endpoint: format!("http://{address}"), _folder: folder })
    }

    /// The variables that lead to it.
    pub fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint.clone()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", S3Server::KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", S3Server::KEY.to_owned()),
        ]
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _ended = self.process.wait();
    }
}

fn program() -> Option<PathBuf> {
    let named = std::env::var_os(PROGRAM).map(PathBuf::from);
    // Tests are in `deps` of a profile of the target folder.
    let target = std::env::current_exe().ok().and_then(|test| test.ancestors().nth(3).map(PathBuf::from));
    let installed = target.map(|target| target.join("s3/node_modules/.bin/s3rver"));
    named.into_iter().chain(installed).find(|program| program.exists())
}
