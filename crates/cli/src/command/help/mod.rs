//! `foldline help TOPIC`: pages about what concerns several commands. The help of commands comes from clap.

use std::ffi::OsString;

/// A page about something that concerns several commands.
struct Topic {
    name: &'static str,
    page: &'static str,
}

/// The page about presets.
pub const PRESETS: &str = include_str!("presets.txt");

/// All topics, in the order in which the help of the program lists them.
const TOPICS: [Topic; 4] = [
    Topic { name: "presets", page: PRESETS },
    Topic { name: "formats", page: include_str!("formats.txt") },
    Topic { name: "recall", page: include_str!("recall.txt") },
    Topic { name: "privacy", page: include_str!("privacy.txt") },
];

/// The page, if the command line asks for one. `recall` is also a command; its page names `foldline recall --help`.
pub fn page_asked_for(arguments: impl Iterator<Item = OsString>) -> Option<String> {
    // One more than a topic has, to see that nothing follows.
    let arguments: Vec<OsString> = arguments.skip(1).take(3).collect();
    match arguments.as_slice() {
        [help, topic] if help == "help" => page(topic.to_str()?),
        _ => None,
    }
}

fn page(name: &str) -> Option<String> {
    match name {
        "topics" => Some(TOPICS.iter().map(|topic| format!("{}: {}\n", topic.name, title(topic))).collect()),
        _ => TOPICS.iter().find(|topic| topic.name == name).map(|topic| topic.page.to_owned()),
    }
}

/// The first line of a page.
fn title(topic: &Topic) -> &'static str {
    topic.page.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory as _;
    use foldline_core::policy::Preset;

    #[test]
    fn pages_fit_a_terminal_and_start_with_what_they_are_about() {
        for topic in &TOPICS {
            assert!(title(topic).ends_with('.') && topic.page.ends_with('\n'), "{}", topic.name);
            for line in topic.page.lines() {
                assert!(line.chars().count() <= 80 && line == line.trim_end(), "{}: {line}", topic.name);
            }
        }
    }

    #[test]
    fn the_list_in_the_help_of_the_program_is_the_list_of_pages() {
        let after = Cli::command().get_after_help().map(ToString::to_string).unwrap_or_default();
        for topic in &TOPICS {
            assert!(after.contains(&format!("\n  {}: ", topic.name)), "{}", topic.name);
        }
    }

    #[test]
    fn the_page_about_presets_has_all_of_them() {
        let page = page("presets").unwrap();
        for preset in Preset::ALL {
            assert!(page.contains(&format!("\n  {} ", preset.name())), "{}", preset.name());
        }
        assert!(page.contains(&format!("\n  {} (default)", Preset::DEFAULT.name())));
    }

    #[test]
    fn every_command_that_a_page_shows_exists() {
        let mut program = Cli::command();
        program.build();
        for topic in &TOPICS {
            for line in topic.page.lines().filter_map(|line| line.trim().strip_prefix("foldline ")) {
                let name = line.split(' ').next().unwrap();
                assert!(program.find_subcommand(name).is_some(), "{}: {line}", topic.name);
            }
        }
    }
}
