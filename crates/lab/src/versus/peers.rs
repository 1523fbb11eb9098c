//! Who is compared, where each comes from and how it is driven.

use super::driver::Start;
use crate::Failure;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One way of running a peer.
#[derive(Debug)]
pub struct Peer {
    /// What its row is called.
    pub name: &'static str,
    /// What decides on the size of its results.
    pub size: &'static str,
    source: Source,
    driver: &'static str,
    variables: &'static [(&'static str, &'static str)],
}

/// Where a peer comes from.
#[derive(Debug)]
enum Source {
    /// This checkout.
    Here,
    /// A Python package, in a virtual environment of that name.
    Python { environment: &'static str, package: &'static str },
    /// A program of a crate.
    Crate { name: &'static str, version: &'static str },
}

const TARGET: &str = "the target";
const OWN: &str = "its defaults";

/// All peers; Foldline is the first.
#[rustfmt::skip]
pub fn all() -> Vec<Peer> {
    let hermes = || Source::Python { environment: "hermes", package: "hermes-agent==0.19.0" };
    let headroom = || Source::Python { environment: "headroom", package: "headroom-ai[proxy]==0.42.0" };
    let litellm = Source::Python { environment: "litellm", package: "litellm==1.106.2" };
    let governor = Source::Crate { name: "context-governor", version: "0.2.0" };
    vec![
        Peer { name: "Foldline", size: TARGET, source: Source::Here, driver: "foldline.py", variables: &[] },
        Peer { name: "Hermes", size: OWN, source: hermes(), driver: "hermes.py", variables: &[] },
        Peer { name: "Hermes, tail fitted", size: "the target, by the budget of its tail", source: hermes(), driver: "hermes.py", variables: &[("VERSUS_SIZE", "target")] },
        Peer { name: "Headroom, library", size: OWN, source: headroom(), driver: "headroom_library.py", variables: &[] },
        Peer { name: "Headroom, proxy", size: OWN, source: headroom(), driver: "headroom_proxy.py", variables: &[] },
        Peer { name: "LiteLLM compress", size: TARGET, source: litellm, driver: "litellm_compress.py", variables: &[] },
        Peer { name: "context-governor", size: TARGET, source: governor, driver: "context_governor.py", variables: &[] },
    ]
}

/// Those that were asked for by their ids, or all. A name that no peer has is an error.
pub fn chosen(ids: &[String]) -> Result<Vec<Peer>, Failure> {
    let peers = all();
    if let Some(unknown) = ids.iter().find(|id| peers.iter().all(|peer| peer.id() != **id)) {
        let known: Vec<String> = peers.iter().map(Peer::id).collect();
        return Err(format!("no peer {unknown}; there are {}", known.join(", ")).into());
    }
    Ok(peers.into_iter().filter(|peer| ids.is_empty() || ids.contains(&peer.id())).collect())
}

/// The drivers, so that the binary works from any folder.
const DRIVERS: [(&str, &str); 7] = [
    ("driver.py", include_str!("../../versus/driver.py")),
    ("foldline.py", include_str!("../../versus/foldline.py")),
    ("hermes.py", include_str!("../../versus/hermes.py")),
    ("headroom_library.py", include_str!("../../versus/headroom_library.py")),
    ("headroom_proxy.py", include_str!("../../versus/headroom_proxy.py")),
    ("litellm_compress.py", include_str!("../../versus/litellm_compress.py")),
    ("context_governor.py", include_str!("../../versus/context_governor.py")),
];

/// What an installation may take.
const PATIENCE: Duration = Duration::from_secs(1_200);

impl Peer {
    /// What `--peer` calls it: `headroom-proxy`.
    pub fn id(&self) -> String {
        self.name.to_lowercase().replace(", ", "-").replace(' ', "-")
    }
}

/// Installs a peer below `into` unless it is there, and says how to start its driver.
pub fn install(peer: &Peer, into: &Path, tell: impl Fn(&str)) -> Result<Start, Failure> {
    std::fs::create_dir_all(into)?;
    let into = std::path::absolute(into)?;
    let drivers = into.join("drivers");
    std::fs::create_dir_all(&drivers)?;
    for (name, text) in DRIVERS {
        std::fs::write(drivers.join(name), text)?;
    }
    let log = into.join(format!("{}.log", peer.id()));
    let place = Place { into: &into, log: into.join("install.log"), tell: &tell };
    let python = match &peer.source {
        Source::Python { environment, package } => place.environment(environment, package)?,
        Source::Here | Source::Crate { .. } => PathBuf::from("python3"),
    };
    let mut start = Start::new(&python, &drivers.join(peer.driver), log);
    if let Source::Crate { name, version } = &peer.source {
        start = start.env("VERSUS_PEER_BINARY", place.program(name, version)?).env("VERSUS_PEER_VERSION", version);
    }
    Ok(peer.variables.iter().fold(start, |start, (name, value)| start.env(name, value)))
}

struct Place<'a> {
    into: &'a Path,
    log: PathBuf,
    tell: &'a dyn Fn(&str),
}

impl Place<'_> {
    /// The interpreter of an environment that has `package`.
    fn environment(&self, name: &str, package: &str) -> Result<PathBuf, Failure> {
        let folder = self.into.join("venv").join(name);
        let python = folder.join("bin/python");
        // Written last, with what is in it: an installation that was interrupted is done again.
        let mark = folder.join("installed");
        if std::fs::read_to_string(&mark).is_ok_and(|found| found == package) {
            return Ok(python);
        }
        (self.tell)(&format!("  pip install {package}"));
        // One pip for all environments, and no compiling of modules that are never imported: minutes less.
        self.run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&folder))?;
        let options = ["install", "--no-compile", "--disable-pip-version-check", package];
        self.run(Command::new("python3").args(["-m", "pip", "--python"]).arg(&python).args(options))?;
        std::fs::write(mark, package)?;
        Ok(python)
    }

    /// A program of a crate.
    fn program(&self, name: &str, version: &str) -> Result<PathBuf, Failure> {
        let root = self.into.join("cargo");
        let program = root.join("bin").join(name);
        if !program.exists() {
            (self.tell)(&format!("  cargo install {name}@{version}"));
            let package = format!("{name}@{version}");
            // From its own folder: the settings of this checkout are not meant for it.
            let mut cargo = Command::new("cargo");
            self.run(cargo.args(["install", "--locked", &package, "--root"]).arg(&root).current_dir(self.into))?;
        }
        Ok(program)
    }

    fn run(&self, command: &mut Command) -> Result<(), Failure> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let what = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|error| format!("{what}: {error}"))?;
        let until = Instant::now() + PATIENCE;
        loop {
            match child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    let log = std::fs::read_to_string(&self.log).unwrap_or_default();
                    let last = log.trim_end().lines().next_back().unwrap_or_default().to_owned();
                    return Err(format!("not installed ({status}): {last}").into());
                }
                None if Instant::now() > until => {
                    child.kill()?;
                    child.wait()?;
                    return Err(format!("not installed within {} minutes", PATIENCE.as_secs() / 60).into());
                }
                None => std::thread::sleep(Duration::from_millis(200)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_chosen_by_their_ids() {
        let chosen = chosen(&["headroom-proxy".to_owned(), "foldline".to_owned()]).expect("both are known");
        assert_eq!(chosen.iter().map(|peer| peer.name).collect::<Vec<_>>(), ["Foldline", "Headroom, proxy"]);
        assert_eq!(super::chosen(&[]).expect("all").len(), all().len());
    }

    #[test]
    fn an_unknown_peer_is_refused_with_the_known_ones() {
        let error = chosen(&["foldline".to_owned(), "hermess".to_owned()]).expect_err("there is no such peer");
        assert!(error.to_string().starts_with("no peer hermess; there are foldline, hermes, "), "{error}");
    }
}
