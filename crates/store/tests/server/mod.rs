//! A PostgreSQL of the tests' own: in a folder of its own, on a socket there and on no port, stopped when the last test is
//! through. Where none is installed, tests say that they are skipped; with FOLDLINE_NEED_POSTGRES set they fail instead.
#![allow(dead_code)] // Not every test needs all of it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A running server.
pub(crate) struct Server {
    folder: TempDir,
    programs: PathBuf,
    running: Mutex<Option<Child>>,
    databases: AtomicU32,
}

/// Its port names the socket only.
const PORT: &str = "5432";
const PATIENCE: Duration = Duration::from_secs(60);

/// The newest installed PostgreSQL.
pub(crate) fn programs() -> Option<PathBuf> {
    let named = std::env::var_os("FOLDLINE_POSTGRES").map(PathBuf::from);
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    found.sort();
    named.into_iter().chain(found.into_iter().rev()).find(|folder| folder.join("initdb").exists())
}

/// Says that a test is skipped, or fails where it must not be.
pub(crate) fn skipped() {
    assert!(std::env::var_os("FOLDLINE_NEED_POSTGRES").is_none(), "PostgreSQL is not installed, and was asked for");
    eprintln!("SKIPPED: PostgreSQL is not installed; `.ci/postgres` installs it");
}

/// The server of this process, started when it is first asked for; `None` where none is installed.
pub(crate) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| programs().map(Server::start)).as_ref();
    if server.is_none() {
        skipped();
    }
    server
}

impl Server {
    pub(crate) fn start(programs: PathBuf) -> Server {
        let folder = tempfile::Builder::new().prefix("foldline-postgres-").tempdir().unwrap();
        if is_root() {
            let status = Command::new("chown").arg("postgres").arg(folder.path()).status().unwrap();
            assert!(status.success(), "the folder of the server cannot be given to its user");
        }
        let server = Server { folder, programs, running: Mutex::default(), databases: AtomicU32::new(0) };
        let data = server.data();
        let mut make = server.command("initdb");
        make.args(["--auth=trust", "--username=tests", "--encoding=UTF8", "--no-locale", "--no-sync", "--pgdata"]);
        let made = make.arg(data).stdout(Stdio::null()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.go();
        server
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A program of the server, as somebody who is not root: it refuses to run as root. It ends with this process.
    fn command(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = Command::new("setpriv");
        command.arg("--pdeathsig=KILL");
        if is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        }
        command.arg(program).current_dir(self.folder.path());
        command
    }

    /// Starts it.
    pub(crate) fn go(&self) {
        let socket = format!("--unix_socket_directories={}", self.folder.path().display());
        let mut serve = self.command("postgres");
        serve.arg("-D").arg(self.data()).args(["-p", PORT, "--listen_addresses=", &socket]);
        // A crash of the machine is not among what is tested.
        serve.args(["--fsync=off", "--max_connections=200", "--shared_buffers=64MB", "--logging_collector=off"]);
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let child = serve.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        *self.running.lock().unwrap() = Some(child);
        let start = Instant::now();
        while !self.psql("postgres", "SELECT 1") {
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(start.elapsed() < PATIENCE, "PostgreSQL does not start: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Stops it at once, as a crash would.
    pub(crate) fn stop(&self) {
        if let Some(mut child) = self.running.lock().unwrap().take() {
            // The fast way: sessions are ended. `kill` of the standard library knows SIGKILL only.
            let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            let start = Instant::now();
            while matches!(child.try_wait(), Ok(None)) {
                if start.elapsed() > Duration::from_secs(20) {
                    let _ = child.kill();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Runs a statement; whether it worked.
    pub(crate) fn psql(&self, database: &str, sql: &str) -> bool {
        let mut ask = Command::new(self.programs.join("psql"));
        ask.arg("-h").arg(self.folder.path()).args(["-p", PORT, "-U", "tests", "-d", database, "-qAtc", sql]);
        ask.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// What a statement answers.
    pub(crate) fn answer(&self, database: &str, sql: &str) -> String {
        let mut ask = Command::new(self.programs.join("psql"));
        ask.arg("-h").arg(self.folder.path()).args(["-p", PORT, "-U", "tests", "-d", database, "-qAtc", sql]);
        String::from_utf8(ask.output().unwrap().stdout).unwrap().trim().to_owned()
    }

    /// A new, empty database, by its URL.
    pub(crate) fn database(&self) -> PathBuf {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        assert!(self.psql("postgres", &format!("CREATE DATABASE {name}")), "no database could be made");
        self.url(&name)
    }

    pub(crate) fn url(&self, database: &str) -> PathBuf {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        PathBuf::from(format!("postgres://tests@{folder}:{PORT}/{database}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}
