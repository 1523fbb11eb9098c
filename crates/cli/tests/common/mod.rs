//! A place of its own for each test: settings and store of the user are out of reach.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "each test file uses its part")]

pub mod depot;
#[cfg(unix)]
pub mod terminal;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

pub struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    pub fn new() -> Desk {
        Desk { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foldline"));
        command.args(args).current_dir(self.folder.path());
        command.env_clear().env("XDG_DATA_HOME", self.path("data")).env("XDG_CONFIG_HOME", self.path("config"));
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).stdin(Stdio::null()).output().unwrap()
    }

    pub fn feed(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child =
            self.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        let feeder = std::thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        output
    }
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}
