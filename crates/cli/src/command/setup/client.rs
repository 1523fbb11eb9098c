//! The clients: where their settings are, and what is changed in them. All facts of vendors are here.

use super::{json, toml, yaml};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A client that can be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// opencode.
    Opencode,
    /// Hermes.
    Hermes,
    /// gemini-cli.
    Gemini,
    /// pi.
    Pi,
}

/// What a client is to use.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// The gateway, as `http://127.0.0.1:8787`; none leaves base addresses alone.
    pub gateway: Option<String>,
    /// The command that serves our tools, with its arguments; none leaves them alone.
    pub mcp: Option<(String, Vec<String>)>,
}

/// A file as it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What it says now; none when there is no such file.
    pub before: Option<String>,
    /// What it will say.
    pub after: String,
}

/// The world as the table sees it.
pub struct Around<'a> {
    /// An environment variable.
    pub var: &'a dyn Fn(&str) -> Option<String>,
    /// A file; none when it is not there.
    pub read: &'a dyn Fn(&Path) -> Result<Option<String>, String>,
}

impl Client {
    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::Codex => "codex",
            Client::Opencode => "opencode",
            Client::Hermes => "hermes",
            Client::Gemini => "gemini",
            Client::Pi => "pi",
        }
    }

    /// The folder of its settings.
    pub fn folder(self, around: &Around<'_>) -> Option<PathBuf> {
        let var = |name: &str| (around.var)(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = || var("HOME").or_else(|| var("USERPROFILE"));
        match self {
            Client::Claude => var("CLAUDE_CONFIG_DIR").or_else(|| Some(home()?.join(".claude"))),
            Client::Codex => var("CODEX_HOME").or_else(|| Some(home()?.join(".codex"))),
            Client::Opencode => {
                let config = var("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")));
                Some(config?.join("opencode"))
            }
            Client::Hermes => var("HERMES_HOME").or_else(|| Some(home()?.join(".hermes"))),
            Client::Gemini => Some(home()?.join(".gemini")),
            Client::Pi => var("PI_CODING_AGENT_DIR").or_else(|| Some(home()?.join(".pi").join("agent"))),
        }
    }

    /// What has to change in its files.
    pub fn changes(self, wiring: &Wiring, around: &Around<'_>) -> Result<Vec<Change>, String> {
        let folder = self.folder(around).ok_or("neither HOME nor the folder of its settings is set")?;
        let mut files = Files { around, changes: Vec::new() };
        match self {
            Client::Claude => {
                // Servers of tools for all projects stand beside the folder, unless the folder was moved.
                let beside = (around.var)("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty()).is_none();
                let state = if beside { folder.with_file_name(".claude.json") } else { folder.join(".claude.json") };
                files.gateway(wiring, |files, base| {
                    files.json(&folder.join("settings.json"), &["env", "ANTHROPIC_BASE_URL"], &json!(base))
                })?;
                files.mcp(wiring, |files, command, args| {
                    let server = json!({ "type": "stdio", "command": command, "args": args });
                    files.json(&state, &["mcpServers", "foldline"], &server)
                })?;
            }
            Client::Codex => {
                let file = folder.join("config.toml");
                files.gateway(wiring, |files, base| {
                    files.toml(&file, &["openai_base_url"], format!("{base}/v1").into())
                })?;
                files.mcp(wiring, |files, command, args| {
                    files.toml(&file, &["mcp_servers", "foldline", "command"], command.into())?;
                    files.toml(
                        &file,
                        &["mcp_servers", "foldline", "args"],
                        args.iter().map(String::as_str).collect::<toml_edit::Array>().into(),
                    )
                })?;
            }
            Client::Opencode => {
                let commented = folder.join("opencode.jsonc");
                let file = if (around.read)(&commented)?.is_some() { commented } else { folder.join("opencode.json") };
                files.gateway(wiring, |files, base| {
                    for (provider, version) in [("anthropic", "v1"), ("openai", "v1"), ("google", "v1beta")] {
                        let address = json!(format!("{base}/{version}"));
                        files.json(&file, &["provider", provider, "options", "baseURL"], &address)?;
                    }
                    Ok(())
                })?;
                files.mcp(wiring, |files, command, args| {
                    let line: Vec<&str> = std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
                    let server = json!({ "type": "local", "command": line, "enabled": true });
                    files.json(&file, &["mcp", "foldline"], &server)
                })?;
            }
            Client::Hermes => {
                let file = folder.join("config.yaml");
                files.gateway(wiring, |files, base| {
                    // It takes the address of Anthropic from its own file of variables. One of OpenAI there would also
                    // be used for other vendors; that is set per provider in its settings.
                    files.variable(&folder.join(".env"), "ANTHROPIC_BASE_URL", base)
                })?;
                files.mcp(wiring, |files, command, args| {
                    let lines = [format!("command: {}", json!(command)), format!("args: {}", json!(args))];
                    files.edit(&file, |text| yaml::set(text, "mcp_servers", "foldline", &lines))
                })?;
            }
            Client::Gemini => {
                files.gateway(wiring, |files, base| {
                    files.variable(&folder.join(".env"), "GOOGLE_GEMINI_BASE_URL", base)
                })?;
                files.mcp(wiring, |files, command, args| {
                    let server = json!({ "command": command, "args": args });
                    files.json(&folder.join("settings.json"), &["mcpServers", "foldline"], &server)
                })?;
            }
            // It has no tools of others.
            Client::Pi => files.gateway(wiring, |files, base| {
                let file = folder.join("models.json");
                files.json(&file, &["providers", "anthropic", "baseUrl"], &json!(base))?;
                files.json(&file, &["providers", "openai", "baseUrl"], &json!(format!("{base}/v1")))?;
                files.json(&file, &["providers", "google", "baseUrl"], &json!(format!("{base}/v1beta")))
            })?,
        }
        Ok(files.changes.into_iter().filter(|change| change.before.as_ref() != Some(&change.after)).collect())
    }
}

/// Files while they are changed.
struct Files<'a> {
    around: &'a Around<'a>,
    changes: Vec<Change>,
}

impl Files<'_> {
    fn gateway(
        &mut self,
        wiring: &Wiring,
        change: impl FnOnce(&mut Self, &str) -> Result<(), String>,
    ) -> Result<(), String> {
        wiring.gateway.as_deref().map_or(Ok(()), |base| change(self, base))
    }

    fn mcp(
        &mut self,
        wiring: &Wiring,
        change: impl FnOnce(&mut Self, &str, &[String]) -> Result<(), String>,
    ) -> Result<(), String> {
        wiring.mcp.as_ref().map_or(Ok(()), |(command, args)| change(self, command, args))
    }

    fn json(&mut self, path: &Path, keys: &[&str], value: &serde_json::Value) -> Result<(), String> {
        self.edit(path, |text| json::set(text, keys, value))
    }

    fn toml(&mut self, path: &Path, keys: &[&str], value: toml_edit::Value) -> Result<(), String> {
        self.edit(path, |text| toml::set(text, keys, value))
    }

    /// A line `NAME=value` of a file of variables.
    fn variable(&mut self, path: &Path, name: &str, value: &str) -> Result<(), String> {
        self.edit(path, |text| {
            let line = format!("{name}={value}\n");
            let is_it = |line: &&str| {
                line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
            };
            let Some(old) = text.split_inclusive('\n').find(is_it) else {
                let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
                return Ok(format!("{text}{gap}{line}"));
            };
            Ok(text.replacen(old, &line, 1))
        })
    }

    fn edit(&mut self, path: &Path, edit: impl FnOnce(&str) -> Result<String, String>) -> Result<(), String> {
        let told = |error: String| format!("{}: {error}", path.display());
        if !self.changes.iter().any(|change| change.path == path) {
            let before = (self.around.read)(path)?;
            let after = before.clone().unwrap_or_default();
            self.changes.push(Change { path: path.to_owned(), before, after });
        }
        if let Some(change) = self.changes.iter_mut().find(|change| change.path == path) {
            change.after = edit(&change.after).map_err(told)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    fn wiring() -> Wiring {
        Wiring {
            gateway: Some("http://127.0.0.1:8787".to_owned()),
            mcp: Some(("foldline".to_owned(), vec!["mcp".to_owned()])),
        }
    }

    fn changes(client: Client, files: &[(&str, &str)]) -> Vec<Change> {
        let var = |name: &str| (name == "HOME").then(|| "/home/u".to_owned());
        let read = |path: &Path| {
            Ok(files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned()))
        };
        client.changes(&wiring(), &Around { var: &var, read: &read }).unwrap()
    }

    #[test]
    fn every_client_is_set_up_from_nothing_and_only_once() {
        for client in Client::value_variants() {
            let first = changes(*client, &[]);
            assert!(!first.is_empty() && first.iter().all(|change| change.before.is_none()), "{client:?}");
            let files: Vec<(String, &str)> =
                first.iter().map(|change| (change.path.display().to_string(), change.after.as_str())).collect();
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            assert_eq!(changes(*client, &files), [], "{client:?}");
        }
    }

    #[test]
    fn what_is_there_stays() {
        let toml = "# my settings\nmodel = \"gpt-5.1-codex\"\n\n[tools]\nodd = true\n";
        let [codex] = changes(Client::Codex, &[("/home/u/.codex/config.toml", toml)]).try_into().unwrap();
        assert_eq!(
            codex.after,
            "# my settings\nmodel = \"gpt-5.1-codex\"\nopenai_base_url = \"http://127.0.0.1:8787/v1\"\n\n[tools]\nodd = true\n\n[mcp_servers.foldline]\ncommand = \"foldline\"\nargs = [\"mcp\"]\n"
        );
        let jsonc = "{\n  // theme\n  \"theme\": \"x\",\n}\n";
        let [opencode] =
            changes(Client::Opencode, &[("/home/u/.config/opencode/opencode.jsonc", jsonc)]).try_into().unwrap();
        assert!(
            opencode.after.starts_with("{\n  // theme\n  \"theme\": \"x\",\n  \"provider\": {"),
            "{}",
            opencode.after
        );
        assert!(opencode.path.ends_with("opencode.jsonc"));
        let [variables, _settings] =
            changes(Client::Gemini, &[("/home/u/.gemini/.env", "A=1\nGOOGLE_GEMINI_BASE_URL=http://old\nB=2")])
                .try_into()
                .unwrap();
        assert_eq!(variables.after, "A=1\nGOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8787\nB=2");
    }
}
