//! How the agent that reads a result gets originals back: what the user says about it.

use foldline_core::reading::Reach;
use std::str::FromStr;

/// A way that an agent has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallBy(Reach);

impl RecallBy {
    /// The way, as markers and handoffs name it.
    pub fn reach(&self) -> Reach {
        self.0.clone()
    }
}

/// The tool of `foldline mcp`, where clients put nothing before its name.
const TOOL: &str = "foldline_recall";

impl FromStr for RecallBy {
    type Err = String;

    fn from_str(text: &str) -> Result<RecallBy, String> {
        let tool = |name: &str| match Reach::by_tool(name) {
            Some(reach) => Ok(RecallBy(reach)),
            None => Err(format!("`{name}` is not the tool that recalls; expected a name that ends with {TOOL}")),
        };
        match text {
            "command" => Ok(RecallBy(Reach::Command)),
            "none" => Ok(RecallBy(Reach::Nothing)),
            "tool" => tool(TOOL),
            _ => match text.strip_prefix("tool:") {
                Some(name) => tool(name),
                None => Err("expected command, tool, tool:NAME or none".to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_one_that_agents_have() {
        let reach = |text: &str| text.parse::<RecallBy>().map(|by| by.reach());
        assert_eq!(reach("command"), Ok(Reach::Command));
        assert_eq!(reach("none"), Ok(Reach::Nothing));
        assert_eq!(reach("tool"), Ok(Reach::Tool(TOOL.to_owned())));
        assert_eq!(reach("tool:mcp__f__foldline_recall"), Ok(Reach::Tool("mcp__f__foldline_recall".to_owned())));
        assert!(reach("tool:grep").unwrap_err().starts_with("`grep` is not the tool that recalls"));
        assert!(reach("http").is_err());
    }
}
