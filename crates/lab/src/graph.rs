//! The graph of crates and modules: derived from manifests and `crate::` paths, and held against the map in
//! ARCHITECTURE.md.
//!
//! An edge between crates is a line under `[dependencies]`. An edge between modules is a `crate::` path outside tests,
//! from one top-level module of a crate to another; so is a `super::` path that leads to the top.

use crate::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

/// Crates, or modules as `crate/module`, and what each of them uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// By name, in order.
    pub edges: BTreeMap<String, BTreeSet<String>>,
}

/// How the map begins in ARCHITECTURE.md.
const FENCE: &str = "```text map\n";

impl Graph {
    /// The graph that the map shows: a line `user: used used …` for each crate and module that uses something.
    pub fn of_map(architecture: &str) -> Result<Graph, Failure> {
        let start =
            architecture.find(FENCE).ok_or("ARCHITECTURE.md has no map: a block that begins with ```text map")?;
        let map = architecture.get(start + FENCE.len()..).unwrap_or_default();
        let map = map.split("```").next().unwrap_or_default();
        let mut graph = Graph::default();
        for line in map.lines().filter(|line| !line.trim().is_empty()) {
            let (user, used) =
                line.split_once(':').ok_or_else(|| format!("the map has a line without a colon: {line}"))?;
            let used = used.split_whitespace().map(str::to_owned).collect();
            if graph.edges.insert(user.trim().to_owned(), used).is_some() {
                return Err(format!("the map shows {} twice", user.trim()).into());
            }
        }
        Ok(graph)
    }

    /// The crates under `root/crates`, by their folders.
    pub fn of_crates(root: &Path) -> Result<Graph, Failure> {
        let mut graph = Graph::default();
        for entry in fs::read_dir(root.join("crates"))? {
            let folder = entry?.path();
            let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let used = dependencies(&manifest).filter_map(|line| line.strip_prefix("foldline-"));
            let used = used.map(|rest| rest.split(['.', ' ', '=']).next().unwrap_or_default().to_owned());
            graph.edges.insert(name, used.collect());
        }
        Ok(graph)
    }

    /// The top-level modules of the crate in `folder`, as `name/module`.
    pub fn of_modules(name: &str, folder: &Path) -> Result<Graph, Failure> {
        let source = folder.join("src");
        let root = fs::read_to_string(source.join("lib.rs")).or_else(|_| fs::read_to_string(source.join("main.rs")))?;
        let declared: BTreeSet<String> = code(&root).lines().filter_map(declared).map(str::to_owned).collect();
        let mut graph = Graph::default();
        for module in &declared {
            let mut used = BTreeSet::new();
            for text in files(&source, module)? {
                used.extend(paths(&text).into_iter().filter(|path| path != module && declared.contains(path)));
            }
            let used = used.into_iter().map(|used| format!("{name}/{used}")).collect();
            graph.edges.insert(format!("{name}/{module}"), used);
        }
        Ok(graph)
    }

    /// Everything: all crates, and the modules of those crates that `map` shows the modules of.
    pub fn of_sources(root: &Path, map: &Graph) -> Result<Graph, Failure> {
        let mut graph = Graph::of_crates(root)?;
        let shown: BTreeSet<&str> = map.edges.keys().filter_map(|user| Some(user.split_once('/')?.0)).collect();
        for name in shown {
            graph.edges.extend(Graph::of_modules(name, &root.join("crates").join(name))?.edges);
        }
        Ok(graph)
    }

    /// All crates and all their modules, also those that the map leaves out.
    pub fn of_everything(root: &Path) -> Result<Graph, Failure> {
        let mut graph = Graph::of_crates(root)?;
        for name in graph.edges.keys().cloned().collect::<Vec<_>>() {
            graph.edges.extend(Graph::of_modules(&name, &root.join("crates").join(&name))?.edges);
        }
        Ok(graph)
    }

    /// Groups of crates or modules that use each other, directly or not.
    pub fn cycles(&self) -> Vec<Vec<&str>> {
        let reach: BTreeMap<&str, BTreeSet<&str>> =
            self.edges.keys().map(|start| (start.as_str(), self.reach(start))).collect();
        let meets = |one: &str, two: &str| reach.get(one).is_some_and(|reached| reached.contains(two));
        let mut groups: Vec<Vec<&str>> = Vec::new();
        for name in self.edges.keys().map(String::as_str).filter(|name| meets(name, name)) {
            match groups.iter_mut().find(|group| group.iter().any(|other| meets(name, other) && meets(other, name))) {
                Some(group) => group.push(name),
                None => groups.push(vec![name]),
            }
        }
        groups
    }

    fn reach(&self, start: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(name) = open.pop() {
            for used in self.edges.get(name).into_iter().flatten() {
                if reached.insert(used.as_str()) {
                    open.push(used);
                }
            }
        }
        reached
    }

    /// What differs from the map, a line for each edge.
    pub fn against(&self, map: &Graph) -> Vec<String> {
        let edges = |graph: &Graph| -> BTreeSet<(String, String)> {
            let pairs =
                graph.edges.iter().flat_map(|(user, used)| used.iter().map(|used| (user.clone(), full(user, used))));
            pairs.collect()
        };
        let (here, shown) = (edges(self), edges(map));
        let new =
            here.difference(&shown).map(|(user, used)| format!("{user} uses {used}, and the map does not show it"));
        let old =
            shown.difference(&here).map(|(user, used)| format!("the map shows that {user} uses {used}; it does not"));
        new.chain(old).collect()
    }

    /// How many edges there are.
    pub fn len(&self) -> usize {
        self.edges.values().map(BTreeSet::len).sum()
    }

    /// Whether nothing uses anything.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for Graph {
    /// The lines of the map.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (user, used) in &self.edges {
            let scope = user.split_once('/').map_or("", |(scope, _)| scope);
            if scope != before {
                f.write_char('\n')?;
                before = scope;
            }
            write!(f, "{user}:")?;
            used.iter().try_for_each(|used| write!(f, " {}", used.rsplit('/').next().unwrap_or(used)))?;
            f.write_char('\n')?;
        }
        Ok(())
    }
}

/// The name of a module that its neighbour calls by its last part.
fn full(user: &str, used: &str) -> String {
    match user.split_once('/') {
        Some((scope, _)) if !used.contains('/') => format!("{scope}/{used}"),
        _ => used.to_owned(),
    }
}

/// The lines under `[dependencies]`.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    lines.take_while(|line| !line.starts_with('['))
}

/// The module that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim().strip_suffix(';')?;
    let words = ["mod ", "pub mod ", "pub(crate) mod "];
    words.iter().find_map(|word| line.strip_prefix(word))
}

/// The sources of a module without comments and tests: its file, and everything in its folder.
fn files(source: &Path, module: &str) -> Result<Vec<String>, Failure> {
    let mut texts = Vec::new();
    texts.extend(fs::read_to_string(source.join(format!("{module}.rs"))).map(|text| from_root(&text, 1)));
    let mut folders = vec![(source.join(module), 1)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry?.path();
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            match path.extension() {
                _ if is_test => {}
                Some(extension) if extension == "rs" => {
                    let depth = depth + usize::from(path.file_stem().is_some_and(|stem| stem != "mod"));
                    texts.push(from_root(&fs::read_to_string(&path)?, depth));
                }
                _ if path.is_dir() => folders.push((path, depth + 1)),
                _ => {}
            }
        }
    }
    Ok(texts)
}

/// The code of a file that is so many steps below the top of its crate, with paths that climb there written from it.
fn from_root(source: &str, depth: usize) -> String {
    code(source).replace(&"super::".repeat(depth), "crate::")
}

/// A source without comments and without what is compiled for tests alone.
fn code(source: &str) -> String {
    let lines: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let text = lines.join("\n");
    let mut kept = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("#[cfg(test)]") {
        kept.push_str(before);
        rest = after.get(item(after)..).unwrap_or_default();
    }
    kept.push_str(rest);
    kept
}

/// The length of the item that a text begins with.
fn item(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            ';' if depth == 0 => return at + 1,
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
}

/// What follows `crate::` in a source, as far as the first module.
fn paths(code: &str) -> BTreeSet<String> {
    let name =
        |text: &str| text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect::<String>();
    let mut found = BTreeSet::new();
    for (at, path) in code.match_indices("crate::") {
        // `$crate::` and names that end in `crate`.
        if code.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$'))
        {
            continue;
        }
        let rest = code.get(at + path.len()..).unwrap_or_default();
        match rest.strip_prefix('{') {
            None => drop(found.insert(name(rest))),
            Some(group) => {
                let mut depth = 0_usize;
                let mut is_start = true;
                for (at, letter) in group.char_indices() {
                    match letter {
                        '}' if depth == 0 => break,
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 0 => is_start = true,
                        _ if is_start && !letter.is_whitespace() => {
                            found.insert(name(group.get(at..).unwrap_or_default()));
                            is_start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_groups_and_not_in_tests_or_comments() {
        let source = "use crate::{wire::{self, json}, edit};\n// crate::no\nfn f() { crate::zone::g() }\n\
                      #[cfg(test)]\nmod tests { use crate::never; fn g() { {} } }\nuse crate::late::x;\n$crate::own";
        assert_eq!(paths(&code(source)).into_iter().collect::<Vec<_>>(), ["edit", "late", "wire", "zone"]);
    }

    #[test]
    fn cycles_are_found_and_chains_are_none() {
        let graph = Graph::of_map("```text map\na: b c\nb: c\nc: a\nd: a\n```").unwrap();
        assert_eq!(graph.cycles(), [["a", "b", "c"]]);
    }

    #[test]
    fn what_the_map_does_not_show_is_told_and_what_it_shows_in_vain() {
        let map = Graph::of_map("```text map\na: b\na/x: y\n```").unwrap();
        let here = Graph::of_map("```text map\na: c\na/x: z\n```").unwrap();
        assert_eq!(here.against(&map).len(), 4);
        assert!(map.against(&map).is_empty());
    }
}
