//! A conversation with a driver: one JSON line each way, all of it within a time limit.

use crate::Failure;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How a driver is started.
#[derive(Debug)]
pub struct Start {
    command: Command,
    log: PathBuf,
}

impl Start {
    /// The interpreter `python` with a driver; what it complains about goes to `log`.
    pub fn new(python: &Path, driver: &Path, log: PathBuf) -> Start {
        let mut command = Command::new(python);
        command.arg(driver);
        Start { command, log }
    }

    /// With a variable of the environment.
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Start {
        self.command.env(name, value);
        self
    }
}

/// A running driver.
pub struct Driver {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: PathBuf,
    until: Instant,
    patience: Duration,
    gone: bool,
}

/// What a driver answers.
#[derive(Debug)]
pub enum Reply {
    /// What was asked for.
    Done(Value),
    /// Its peer cannot do that.
    Unsupported,
}

impl Reply {
    /// The answer to something that every peer must be able to do.
    pub fn required(self, what: &str) -> Result<Value, Failure> {
        match self {
            Reply::Done(value) => Ok(value),
            Reply::Unsupported => Err(format!("its driver does not know {what:?}").into()),
        }
    }
}

impl Driver {
    /// Starts a driver that may work for so long in all.
    pub fn start(start: Start, patience: Duration) -> Result<Driver, Failure> {
        let Start { mut command, log } = start;
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::from(File::create(&log)?)).spawn()?;
        let (sender, lines) = channel();
        let output = child.stdout.take().ok_or("the driver has no output")?;
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Ok(Driver { child, input, lines, log, until: Instant::now() + patience, patience, gone: false })
    }

    /// Puts a request to the driver.
    pub fn ask(&mut self, request: &Value) -> Result<Reply, Failure> {
        let input = self.input.as_mut().ok_or("the driver has ended")?;
        let sent = input.write_all(format!("{request}\n").as_bytes()).and_then(|()| input.flush());
        let answer = match sent {
            Ok(()) => self.lines.recv_timeout(self.until.saturating_duration_since(Instant::now())),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        let line = match answer {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                self.gone = true;
                return Err(format!("stopped after {} seconds (--seconds)", self.patience.as_secs()).into());
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.gone = true;
                return Err(format!("its driver ended: {}", self.last_words()).into());
            }
        };
        let answer: Value = serde_json::from_str(&line)?;
        match answer.get("error").and_then(Value::as_str) {
            Some("unsupported") => Ok(Reply::Unsupported),
            Some(error) => Err(last_line(error).to_owned().into()),
            None => Ok(Reply::Done(answer)),
        }
    }

    /// Whether nothing more can be asked.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    fn last_words(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        last_line(&log).to_owned()
    }
}

/// The end of a traceback says what happened.
fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or("no reason given")
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The end of its input tells a driver to stop what it started; one that hangs is ended.
        self.input = None;
        let until = Instant::now() + Duration::from_secs(10);
        while !self.gone && Instant::now() < until {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn driver(program: &str, patience: Duration) -> Driver {
        let folder = std::env::temp_dir().join(format!("versus-driver-{}-{}", std::process::id(), program.len()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("driver.sh");
        std::fs::write(&file, program).expect("a file");
        Driver::start(Start::new(Path::new("/bin/sh"), &file, folder.join("log")), patience).expect("a driver")
    }

    #[test]
    fn a_driver_answers_is_unable_or_fails_with_a_reason() {
        let program = r#"read a; echo '{"x": 1}'; read a; echo '{"error": "unsupported"}'; read a; printf '%s\n' '{"error": "Traceback\n  ValueError: no"}'; read a; echo broken >&2"#;
        let mut driver = driver(program, Duration::from_secs(20));
        assert!(matches!(driver.ask(&json!({})), Ok(Reply::Done(answer)) if answer["x"] == 1));
        assert!(matches!(driver.ask(&json!({})), Ok(Reply::Unsupported)));
        assert_eq!(driver.ask(&json!({})).expect_err("it fails").to_string(), "  ValueError: no");
        assert!(!driver.is_gone());
        assert_eq!(driver.ask(&json!({})).expect_err("it ends").to_string(), "its driver ended: broken");
        assert!(driver.is_gone());
    }

    #[test]
    fn a_driver_that_hangs_is_stopped() {
        let mut driver = driver("exec sleep 60", Duration::from_millis(200));
        let error = driver.ask(&json!({})).expect_err("it hangs");
        assert_eq!(error.to_string(), "stopped after 0 seconds (--seconds)");
    }
}
