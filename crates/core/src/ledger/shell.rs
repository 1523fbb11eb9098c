//! What a command line does to files: which it reads and which it changes, by the programs that agents use for that.

use super::tool::Act;

/// Programs that print files, and those that search in them.
const READERS: [&str; 7] = ["cat", "head", "tail", "nl", "less", "bat", "more"];
const SEARCHERS: [&str; 4] = ["rg", "grep", "egrep", "ag"];
/// A command is looked at no further than this many bytes.
const LONGEST: usize = 4_000;
/// So many files of one command are noted.
const MOST_FILES: usize = 12;

/// A file in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Touched {
    pub(super) path: String,
    pub(super) act: Act,
}

/// The files that a command reads and changes, in order.
pub(super) fn files(command: &str) -> Vec<Touched> {
    let command = command.get(..command.floor_char_boundary(LONGEST)).unwrap_or_default();
    let mut found: Vec<Touched> = Vec::new();
    if command.contains("*** Begin Patch") {
        found.extend(patched(command).map(|path| Touched { path: path.to_owned(), act: Act::Edit }));
        return found;
    }
    // What follows the first line of a text that is typed in is that text.
    let line = match command.find("<<") {
        Some(at) => {
            command.get(..at + command.get(at..).and_then(|rest| rest.find('\n')).unwrap_or(command.len() - at))
        }
        None => Some(command),
    };
    for part in line.unwrap_or_default().split(['|', ';', '\n', '&']) {
        simple(part, &mut found);
    }
    found.truncate(MOST_FILES);
    found
}

/// The file that a command does nothing with but print it.
pub(super) fn only_read(command: &str) -> Option<String> {
    let parts: Vec<&str> = command.split("&&").map(str::trim).collect();
    let (last, before) = parts.split_last()?;
    if !before.iter().all(|part| part.starts_with("cd ")) || last.contains([';', '>', '\n']) || command.contains("||") {
        return None;
    }
    let searches =
        last.split('|').any(|part| part.split_whitespace().next().is_some_and(|name| SEARCHERS.contains(&name)));
    match files(last).as_slice() {
        [Touched { path, act: Act::Read }] if !searches => Some(path.clone()),
        _ => None,
    }
}

/// The programs that a command line runs, each with its arguments. What only moves about, prints a word or trims the
/// output of another program is left out: two lines that differ in that run the same thing.
pub(super) fn invocations(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split(['\n', ';']).flat_map(|part| part.split("&&"));
    let first = parts.map(|part| part.split(" |").next().unwrap_or_default());
    let bare = first.map(|part| part.trim().trim_end_matches("2>&1").trim_end());
    bare.filter(|part| !part.is_empty() && !part.starts_with("cd ") && !part.starts_with("echo "))
}

/// A command line without what only trims its output: `2>&1`, `| head -20`, `| tail -n 5` at its end.
pub(super) fn untrimmed(command: &str) -> &str {
    let mut rest = command.trim_end();
    loop {
        let shorter = rest.strip_suffix("2>&1").or_else(|| {
            let (before, last) = rest.rsplit_once('|')?;
            let mut words = last.split_whitespace();
            let is_count = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || b"-+nc".contains(&byte));
            let trims = matches!(words.next(), Some("head" | "tail")) && words.all(is_count);
            (trims && !before.ends_with('|')).then_some(before)
        });
        match shorter.map(str::trim_end).filter(|shorter| !shorter.is_empty()) {
            Some(shorter) => rest = shorter,
            None => return rest,
        }
    }
}

/// The files that a patch changes.
pub(super) fn patched(patch: &str) -> impl Iterator<Item = &str> {
    const MARKS: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    patch.lines().filter_map(|line| MARKS.iter().find_map(|mark| line.strip_prefix(mark))).map(str::trim)
}

/// The old and the new text of `sed -i 's/old/new/'`, where both are plain.
pub(super) fn substituted(command: &str) -> Option<(String, String)> {
    let at = command.find("s/").or_else(|| command.find("s|")).or_else(|| command.find("s#"))?;
    let mut pieces = command.get(at + 2..)?.split(command.get(at + 1..at + 2)?);
    let (old, new) = (pieces.next()?, pieces.next()?);
    let old = old.trim_start_matches('^').trim_end_matches('$');
    let is_plain = |text: &str| !text.is_empty() && !text.contains(['\\', '*', '[', '(', '.', '+', '?', '&']);
    (is_plain(old) && is_plain(new)).then(|| (old.to_owned(), new.to_owned()))
}

/// One command without pipes.
fn simple(part: &str, found: &mut Vec<Touched>) {
    let words = words(part);
    let mut rest = words.iter().map(String::as_str).skip_while(|word| *word == "sudo" || word.contains('='));
    let Some(program) = rest.next().map(|word| word.rsplit('/').next().unwrap_or(word)) else {
        return;
    };
    let rest: Vec<&str> = rest.collect();
    let mut add = |path: &str, act: Act| {
        if is_path(path) && !found.iter().any(|known| known.path == path && known.act == act) {
            found.push(Touched { path: path.to_owned(), act });
        }
    };
    // Text that is typed in makes a file; what a program prints into one is no change that somebody made.
    if program == "cat" && part.contains("<<") {
        for (at, word) in rest.iter().enumerate() {
            match word.strip_prefix('>') {
                Some(">" | "") => rest.get(at + 1).into_iter().for_each(|path| add(path, Act::Write)),
                Some(path) => add(path.trim_start_matches('>'), Act::Write),
                None => {}
            }
        }
    }
    let arguments = || rest.iter().copied().take_while(|word| !word.contains(['>', '<']));
    let files = || arguments().filter(|word| !word.starts_with('-'));
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'+');
    match program {
        "sed" | "perl" => {
            let in_place =
                arguments().any(|word| word.starts_with("-i") || word.starts_with("-pi") || word == "--in-place");
            let has_expression = arguments().any(|word| word == "-e" || word == "-pe" || word == "-ne");
            if program == "sed" || in_place {
                let act = if in_place { Act::Edit } else { Act::Read };
                files().skip(usize::from(!has_expression)).for_each(|path| add(path, act));
            }
        }
        reader if READERS.contains(&reader) => {
            files().filter(|word| !is_number(word)).for_each(|path| add(path, Act::Read));
        }
        searcher if SEARCHERS.contains(&searcher) => files().skip(1).for_each(|path| add(path, Act::Read)),
        _ => {}
    }
}

/// Whether a word can be the path of a file: it has an ending.
fn is_path(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    (1..=12).contains(&ending.len())
        && word.len() < 200
        && !word.starts_with("/dev/")
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !word.contains(['*', '$', '{', '`', '(', '\''])
}

/// The words of a command, quotes taken off.
fn words(part: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut is_word = false;
    for c in part.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                is_word = true;
            }
            (None, c) if c.is_whitespace() => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            (_, c) => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str) -> String {
        let word = |one: Touched| format!("{} {}", one.act.verb(), one.path);
        files(command).into_iter().map(word).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn files_of_commands_are_seen() {
        for (command, seen) in [
            ("cat src/a.rs", "READ src/a.rs"),
            ("sed -n '1,40p' src/a.rs", "READ src/a.rs"),
            ("sed -i 's/a/b/' src/a.rs src/b.rs", "EDIT src/a.rs, EDIT src/b.rs"),
            ("cd /x && nl -ba a.py | sed -n 1,9p", "READ a.py"),
            ("head -n 20 a.py b.py 2>/dev/null", "READ a.py, READ b.py"),
            ("rg -n 'fn parse' src/a.rs src", "READ src/a.rs"),
            ("grep -rn TODO .", ""),
            ("cat > a.toml <<'EOF'\ncat b.toml\nEOF", "WRITE a.toml"),
            ("make > build.log 2>&1", ""),
            ("echo $! > serve.pid", ""),
            (
                "apply_patch <<'E'\n*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Add File: b.rs\n+z\n*** End Patch\nE",
                "EDIT a.rs, EDIT b.rs",
            ),
            ("cargo test -p core", ""),
            ("python3 run.py --out x.json", ""),
        ] {
            assert_eq!(told(command), seen, "{command}");
        }
        assert_eq!(only_read("cd /x && cat src/a.rs").as_deref(), Some("src/a.rs"));
        for more in ["cat a.rs b.rs", "cat a.rs; make", "grep x a.rs", "make && cat a.rs", "cat a.rs > b.rs"] {
            assert_eq!(only_read(more), None, "{more}");
        }
        assert_eq!(substituted("sed -i 's/^A = 0$/A = 1/' a.py"), Some(("A = 0".to_owned(), "A = 1".to_owned())));
        assert_eq!(substituted("sed -i 's/A.*/B/' a.py"), None);
    }

    #[test]
    fn what_only_trims_the_output_is_left_out() {
        for (command, expected) in [
            ("make lint 2>&1 | tail -20", "make lint"),
            ("go test ./... 2>&1 | head -n 5 | tail -2", "go test ./..."),
            ("ls | head", "ls"),
            ("cat log | tail -f x.log", "cat log | tail -f x.log"),
            ("make || tail -5", "make || tail -5"),
            ("make > all.log 2>&1", "make > all.log"),
            ("2>&1", "2>&1"),
            ("git log", "git log"),
        ] {
            assert_eq!(untrimmed(command), expected);
        }
    }

    #[test]
    fn the_same_program_is_seen_in_different_lines() {
        let run = |command: &'static str| invocations(command).collect::<Vec<_>>();
        assert_eq!(run("cd /x && make fmt && make lint 2>&1 | tail -20"), ["make fmt", "make lint"]);
        assert_eq!(run("make lint 2>&1"), ["make lint"]);
        assert_eq!(run("git config gc.auto; echo ---"), ["git config gc.auto"]);
    }
}
