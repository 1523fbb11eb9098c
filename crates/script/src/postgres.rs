//! A private PostgreSQL for tests: in a folder of its own, on a socket there and on no port. It ends with its value, and with
//! the process.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Set to make tests fail where PostgreSQL is missing instead of skipping them.
const NEEDED: &str = "FOLDLINE_NEED_POSTGRES";
/// Names the folder of its programs, where that is not Debian's.
const PROGRAMS: &str = "FOLDLINE_POSTGRES";
/// Names the socket; nothing listens on a port.
const PORT: &str = "5432";
const USER: &str = "tests";
/// How long starting and stopping may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that is running, unless it was stopped.
#[derive(Debug)]
pub struct Postgres {
    folder: PathBuf,
    /// Removed with the server, where it is not to be kept.
    _temporary: Option<TempDir>,
    programs: PathBuf,
    running: Mutex<Option<Child>>,
    databases: AtomicU32,
}

/// pgbouncer in transaction mode before a server.
#[derive(Debug)]
pub struct PgBouncer {
    folder: TempDir,
    process: Child,
}

/// How a server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Sessions are ended, and all is written.
    Fast,
    /// At once, as a crash would; it recovers when it starts again.
    Crash,
}

/// The programs of the newest PostgreSQL that is installed.
pub fn programs() -> Option<PathBuf> {
    let named = std::env::var_os(PROGRAMS).map(PathBuf::from);
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    found.sort();
    named.into_iter().chain(found.into_iter().rev()).find(|folder| folder.join("initdb").exists())
}

/// The same. `None`, with a line that says so, where there is none; an error instead if it is needed.
fn needed_programs() -> io::Result<Option<PathBuf>> {
    let found = programs();
    if found.is_none() {
        if std::env::var_os(NEEDED).is_some() {
            return Err(io::Error::other(format!("PostgreSQL is not installed, and {NEEDED} is set")));
        }
        tell_skipped("PostgreSQL", ".ci/postgres");
    }
    Ok(found)
}

impl Postgres {
    /// The server that tests of this process share: it ends with the last of them that holds it. `None` as with
    /// [`start`](Postgres::start).
    pub fn shared() -> io::Result<Option<Arc<Postgres>>> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Ok(Some(server));
        }
        let started = Postgres::start()?.map(Arc::new);
        *shared = started.as_ref().map(Arc::downgrade).unwrap_or_default();
        Ok(started)
    }

    /// Starts a server. `None`, with a line that says so, where PostgreSQL is not installed; an error instead if
    /// `FOLDLINE_NEED_POSTGRES` is set.
    pub fn start() -> io::Result<Option<Postgres>> {
        let Some(programs) = needed_programs()? else { return Ok(None) };
        let folder = own_folder("foldline-postgres-")?;
        Postgres::with(programs, folder.path().to_owned(), Some(folder)).map(Some)
    }

    /// The same in a folder that is kept, with the databases that are in it already.
    pub fn start_in(folder: &Path) -> io::Result<Option<Postgres>> {
        let Some(programs) = needed_programs()? else { return Ok(None) };
        std::fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        give_away(&folder)?;
        Postgres::with(programs, folder, None).map(Some)
    }

    fn with(programs: PathBuf, folder: PathBuf, temporary: Option<TempDir>) -> io::Result<Postgres> {
        let (running, databases) = (Mutex::default(), AtomicU32::new(0));
        let server = Postgres { folder, _temporary: temporary, programs, running, databases };
        if !server.data().exists() {
            server.make()?;
        }
        server.go()?;
        Ok(server)
    }

    fn make(&self) -> io::Result<()> {
        let mut make = self.command("initdb");
        make.args(["--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]);
        make.args(["--username", USER, "--pgdata"]).arg(self.data());
        let made = make.stdout(Stdio::null()).output()?;
        if !made.status.success() {
            return Err(io::Error::other(format!("initdb failed: {}", String::from_utf8_lossy(&made.stderr))));
        }
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn command(&self, name: &str) -> Command {
        as_nobody_special(&self.programs.join(name), &self.folder)
    }

    /// Starts it again after it was stopped.
    pub fn go(&self) -> io::Result<()> {
        let mut serve = self.command("postgres");
        serve.arg("-D").arg(self.data()).args(["-p", PORT, "--listen_addresses="]);
        serve.arg(format!("--unix_socket_directories={}", self.folder.display()));
        // A crash of the machine is not among what is tested.
        serve.args(["--fsync=off", "--max_connections=200", "--shared_buffers=256MB", "--logging_collector=off"]);
        serve.stdout(Stdio::null()).stderr(std::fs::File::create(self.log())?);
        let child = spawn(serve)?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        let start = Instant::now();
        while self.answer("postgres", "SELECT 1").is_err() {
            if start.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(self.log()).unwrap_or_default();
                return Err(io::Error::other(format!("PostgreSQL does not start: {log}")));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Stops it.
    pub fn stop(&self, how: Stop) {
        let Some(child) = self.running.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let signal = match how {
            Stop::Fast => "-INT",
            Stop::Crash => "-QUIT",
        };
        end(child, signal);
    }

    /// What a statement answers.
    pub fn answer(&self, database: &str, sql: &str) -> io::Result<String> {
        let mut ask = Command::new(self.programs.join("psql"));
        ask.arg("-h").arg(&self.folder).args(["-p", PORT, "-U", USER, "-d", database, "-qAtc", sql]);
        let said = ask.stdin(Stdio::null()).output()?;
        if !said.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&said.stderr).into_owned()));
        }
        Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
    }

    /// Makes an empty database; its name.
    pub fn database(&self) -> io::Result<String> {
        let name = format!("d{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.answer("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(name)
    }

    /// The URL of a database.
    pub fn url(&self, database: &str) -> PathBuf {
        url(&self.folder, database)
    }

    /// Where its socket is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts pgbouncer before it, with so few connections that clients get another one all the time. `None`, with a line
    /// that says so, where it is not installed.
    pub fn bouncer(&self) -> io::Result<Option<PgBouncer>> {
        let Some(program) =
            ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].map(PathBuf::from).into_iter().find(|p| p.exists())
        else {
            if std::env::var_os(NEEDED).is_some() {
                return Err(io::Error::other(format!("pgbouncer is not installed, and {NEEDED} is set")));
            }
            tell_skipped("pgbouncer", ".ci/postgres");
            return Ok(None);
        };
        let folder = own_folder("foldline-pgbouncer-")?;
        let settings = folder.path().join("pgbouncer.ini");
        std::fs::write(
            &settings,
            format!(
                "[databases]\n* = host={} port={PORT} user={USER}\n[pgbouncer]\nlisten_addr =\nlisten_port = {PORT}\n\
                 unix_socket_dir = {}\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 500\n",
                self.folder.display(),
                folder.path().display()
            ),
        )?;
        let mut serve = as_nobody_special(&program, folder.path());
        serve.arg("-q").arg(&settings).stdout(Stdio::null()).stderr(Stdio::null());
        let process = spawn(serve)?;
        let bouncer = PgBouncer { folder, process };
        let socket = bouncer.folder.path().join(format!(".s.PGSQL.{PORT}"));
        let start = Instant::now();
        while !socket.exists() {
            if start.elapsed() > PATIENCE {
                return Err(io::Error::other("pgbouncer does not start"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Some(bouncer))
    }
}

impl PgBouncer {
    /// The URL of a database of the server behind it.
    pub fn url(&self, database: &str) -> PathBuf {
        url(self.folder.path(), database)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop(Stop::Fast);
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Says that tests are skipped. Written past the test harness, which shows nothing of tests that pass.
pub(crate) fn tell_skipped(what: &str, installer: &str) {
    let _ = writeln!(io::stderr(), "SKIPPED: {what} is not installed; `{installer}` installs it");
}

fn url(folder: &Path, database: &str) -> PathBuf {
    let folder = folder.display().to_string().replace('/', "%2F");
    PathBuf::from(format!("postgres://{USER}@{folder}:{PORT}/{database}"))
}

/// Sends a signal and waits; one that does not end is killed.
fn end(mut child: Child, signal: &str) {
    // The standard library can only send SIGKILL.
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
    let start = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        if start.elapsed() > PATIENCE / 3 {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A folder that the server's user may write to.
fn own_folder(prefix: &str) -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix(prefix).tempdir()?;
    give_away(folder.path())?;
    Ok(folder)
}

fn give_away(folder: &Path) -> io::Result<()> {
    if is_root()? && !Command::new("chown").arg("postgres").arg(folder).status()?.success() {
        return Err(io::Error::other("there is no user `postgres` that the folder can be given to"));
    }
    Ok(())
}

/// Starts a program from a thread that stays: the signal that a child gets comes when the thread ends that started it, and
/// that of a test ends long before its process.
pub(crate) fn spawn(mut command: Command) -> io::Result<Child> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = tell.send(command.spawn());
        loop {
            std::thread::park();
        }
    });
    told.recv().map_err(io::Error::other)?
}

/// A program that ends with this process.
pub(crate) fn ending_with_us(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.arg("--pdeathsig=KILL").arg(program);
    command
}

/// A program that refuses to run as root, and that ends with this process.
fn as_nobody_special(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.arg("--pdeathsig=KILL");
    if is_root().unwrap_or(false) {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command.arg(program).current_dir(folder);
    command
}

fn is_root() -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self")?) == 0)
}
