//! Runs the program on a terminal.

use super::Desk;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Stdio;

/// Which streams are the terminal; the others are empty or dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// A person at the keyboard.
    All,
    /// Input from elsewhere.
    Output,
}

/// What a person sees, and the exit code.
pub fn on_terminal(desk: &Desk, args: &[&str], streams: Streams) -> (String, i32) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let stream = || Stdio::from(slave.try_clone().unwrap());
    let mut command = desk.command(args);
    command.stdin(if streams == Streams::All { stream() } else { Stdio::null() });
    command.stdout(stream()).stderr(stream()).env("NO_COLOR", "1").env("TERM", "dumb");
    let mut child = command.spawn().unwrap();
    // The reader sees the end only when nobody holds the other side.
    drop((command, slave));
    let mut seen = Vec::new();
    let mut portion = [0; 4096];
    let mut screen = File::from(master);
    while let Ok(length @ 1..) = screen.read(&mut portion) {
        seen.extend_from_slice(&portion[..length]);
    }
    (String::from_utf8_lossy(&seen).replace("\r\n", "\n"), child.wait().unwrap().code().unwrap())
}
