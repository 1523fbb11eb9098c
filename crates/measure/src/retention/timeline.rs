//! When and by whom each name is mentioned.

use super::exam::Fact;
use super::page::{Block, Page, Voice};
use super::token::{Class, Standing, key_of, tokenize};
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of a page in the order in which they come up.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    ids: FxHashMap<u64, u32>,
    names: Vec<Mentions>,
}

/// The mentions of one name.
#[derive(Clone, Debug)]
struct Mentions {
    fact: Fact,
    /// The blocks that say it, in order, with who does.
    said: Vec<(u32, Voice)>,
}

impl Timeline {
    /// The timeline of a page.
    pub fn of(page: &Page) -> Timeline {
        let mut timeline = Timeline::default();
        // A tool's name stands in its schema: no history is needed to know it.
        let tools: FxHashSet<u64> = page.tools().iter().map(|tool| key_of(tool)).collect();
        let mut tokens = Vec::new();
        for (block, at) in page.blocks().iter().zip(0..) {
            for line in page.words(block).lines() {
                tokenize(line, &mut tokens);
                for token in &tokens {
                    let Some(class) = token.class.filter(|_| !tools.contains(&token.key)) else { continue };
                    // The agent writes what it writes; the world shows what can be found in it.
                    if block.voice == Voice::World || token.standing == Standing::Whole {
                        let name = line.get(token.span.clone()).unwrap_or_default();
                        timeline.note(token.key, name, class, at, block.voice);
                    }
                }
            }
        }
        timeline
    }

    fn note(&mut self, key: u64, name: &str, class: Class, block: u32, voice: Voice) {
        let next = self.names.len() as u32;
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.names.push(Mentions { fact: Fact { name: name.to_owned(), class }, said: Vec::new() });
        }
        if let Some(mentions) = self.names.get_mut(id as usize)
            && mentions.said.last().is_none_or(|(last, _)| *last != block)
        {
            mentions.said.push((block, voice));
        }
    }

    /// The names that the agent writes from `block` on before anybody else says them there.
    pub fn used_first_from(&self, block: usize) -> impl Iterator<Item = &Fact> {
        self.names.iter().filter(move |mentions| mentions.is_used_from(block as u32)).map(|mentions| &mentions.fact)
    }

    /// The names of the block at `index` that the agent writes from the block at `from` on, before anybody else says
    /// them there.
    pub fn needed_from(&self, page: &Page, index: usize, from: usize) -> Vec<Fact> {
        let mut needed = Vec::new();
        let mut seen = FxHashSet::default();
        let mut tokens = Vec::new();
        for line in page.blocks().get(index).map(|block: &Block| page.words(block)).unwrap_or_default().lines() {
            tokenize(line, &mut tokens);
            for token in tokens.iter().filter(|token| token.class.is_some()) {
                if seen.insert(token.key)
                    && let Some(fact) = self.used_from(token.key, from as u32)
                {
                    needed.push(fact.clone());
                }
            }
        }
        needed
    }

    /// The names of the block at `index`, each once.
    pub fn names_of(&self, page: &Page, index: usize) -> Vec<String> {
        let mut names = Vec::new();
        let mut seen = FxHashSet::default();
        let mut tokens = Vec::new();
        for line in page.blocks().get(index).map(|block: &Block| page.words(block)).unwrap_or_default().lines() {
            tokenize(line, &mut tokens);
            for token in tokens.iter().filter(|token| token.class.is_some()) {
                if self.ids.contains_key(&token.key) && seen.insert(token.key) {
                    names.push(line.get(token.span.clone()).unwrap_or_default().to_owned());
                }
            }
        }
        names
    }

    fn used_from(&self, key: u64, block: u32) -> Option<&Fact> {
        let mentions = self.names.get(*self.ids.get(&key)? as usize)?;
        mentions.is_used_from(block).then_some(&mentions.fact)
    }
}

impl Mentions {
    /// Whether the first to say it from `block` on is the agent.
    fn is_used_from(&self, block: u32) -> bool {
        let next = self.said.partition_point(|(at, _)| *at < block);
        matches!(self.said.get(next), Some((_, Voice::Agent)))
    }
}
