//! A simulated prompt cache: which tokens of a request are read and which are written.
//!
//! A prompt is a sequence of blocks. Two prompts share a prefix as far as their chained digests agree. Anthropic
//! keeps what ends at a mark and looks for it from each mark back over a few blocks; OpenAI keeps every prompt
//! and finds the longest beginning in steps. Entries die when they are not used for their lifetime.

use foldline_core::cache::{LOOK_BACK, Mark, Traffic};
use foldline_core::models::{ApiFamily, ModelProfile};
use foldline_core::policy::CacheTtl;
use rustc_hash::FxHashMap;

/// Where the table does not say how long a prefix must be.
const MINIMUM: u64 = 1024;
/// An entry is still found this long after its lifetime, in seconds: recorded times are those of replies, and in
/// recorded sessions nearly all gaps up to five minutes and twenty seconds hit, nearly all longer ones miss
/// (`lab cache DIR`).
pub(super) const SLACK: f64 = 20.0;
/// OpenAI finds prefixes in steps of so many tokens.
const STEP: u64 = 128;
/// OpenAI keeps an unused prefix for five to ten minutes; replays take the longer one, as most gaps are short.
const AUTOMATIC_LIFETIME: u32 = 600;

/// One block of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Digest of everything up to and with this block.
    pub chain: u64,
    /// Tokens up to and with this block.
    pub upto: u64,
}

impl Block {
    /// The block that follows `before`, with a digest and tokens of its own.
    pub fn after(before: Option<Block>, digest: u64, tokens: u64) -> Block {
        let before = before.unwrap_or(Block { chain: 0, upto: 0 });
        Block { chain: mixed(before.chain, digest), upto: before.upto + tokens }
    }
}

/// Order matters, and a digest of zero changes the chain, too.
fn mixed(chain: u64, digest: u64) -> u64 {
    (chain.rotate_left(5) ^ digest).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1)
}

/// How a provider keeps prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// At marks.
    Marked {
        /// Shortest prefix that is kept, in tokens.
        minimum: u64,
    },
    /// Without being asked.
    Automatic {
        /// Shortest prefix that is kept, in tokens.
        minimum: u64,
        /// Seconds that an unused prefix lives.
        lifetime: u32,
    },
}

impl Rules {
    /// The rules for a model behind an API.
    pub fn of(model: &ModelProfile, family: ApiFamily) -> Rules {
        let minimum = model.min_cacheable.map_or(MINIMUM, u64::from);
        match family {
            ApiFamily::Anthropic => Rules::Marked { minimum },
            ApiFamily::OpenAi | ApiFamily::Google => {
                // Who charges for writes says how long they live.
                let sold = model.prices.as_ref().and_then(|prices| prices.cache_writes.first());
                Rules::Automatic { minimum, lifetime: sold.map_or(AUTOMATIC_LIFETIME, |write| write.seconds) }
            }
        }
    }
}

/// A cache and what is in it.
#[derive(Clone, Debug)]
pub struct Simulator {
    rules: Rules,
    /// When the entry that ends with this chain dies, in seconds, and how long it lives after a use.
    entries: FxHashMap<u64, (f64, f64)>,
}

impl Simulator {
    /// An empty cache.
    pub fn new(rules: Rules) -> Simulator {
        Simulator { rules, entries: FxHashMap::default() }
    }

    /// Puts a prefix in that somebody else wrote.
    pub fn seed(&mut self, block: Block, at: f64, ttl: CacheTtl) {
        let lifetime = f64::from(ttl.seconds());
        self.entries.insert(block.chain, (at + lifetime, lifetime));
    }

    /// Sends a request at a time in seconds. Times must not fall.
    pub fn request(&mut self, at: f64, blocks: &[Block], marks: &[Mark]) -> Traffic {
        match self.rules {
            Rules::Marked { minimum } => self.marked(at, blocks, marks, minimum),
            Rules::Automatic { minimum, lifetime } => self.automatic(at, blocks, minimum, lifetime.into()),
        }
    }

    fn is_alive(&self, block: &Block, at: f64) -> bool {
        self.entries.get(&block.chain).is_some_and(|&(dies, _)| dies + SLACK >= at)
    }

    fn use_again(&mut self, block: &Block, at: f64) {
        if let Some((dies, lifetime)) = self.entries.get_mut(&block.chain)
            && *dies + SLACK >= at
        {
            *dies = at + *lifetime;
        }
    }

    fn marked(&mut self, at: f64, blocks: &[Block], marks: &[Mark], minimum: u64) -> Traffic {
        let total = blocks.last().map_or(0, |block| block.upto);
        let hit = marks.iter().rev().find_map(|mark| {
            let first = mark.block.saturating_sub(LOOK_BACK);
            let near = blocks.get(first..=mark.block).unwrap_or_default();
            near.iter().rev().find(|block| self.is_alive(block, at)).copied()
        });
        let read = hit.map_or(0, |block| block.upto);
        if let Some(block) = hit {
            self.use_again(&block, at);
        }
        let mut traffic = Traffic { cache_read: read, ..Traffic::default() };
        let mut reached = read;
        let mut long_until = read;
        for mark in marks {
            let Some(block) = blocks.get(mark.block) else { continue };
            if block.upto <= read {
                self.use_again(block, at);
            } else if block.upto >= minimum {
                let lifetime = f64::from(mark.ttl.seconds());
                self.entries.insert(block.chain, (at + lifetime, lifetime));
                reached = reached.max(block.upto);
                if mark.ttl == CacheTtl::OneHour {
                    long_until = long_until.max(block.upto);
                }
            }
        }
        traffic.cache_write_long = long_until - read;
        traffic.cache_write = reached - long_until.max(read);
        traffic.input = total - reached;
        traffic
    }

    fn automatic(&mut self, at: f64, blocks: &[Block], minimum: u64, lifetime: f64) -> Traffic {
        let total = blocks.last().map_or(0, |block| block.upto);
        let hit = blocks.iter().rev().find(|block| self.is_alive(block, at));
        let found = hit.map_or(0, |block| block.upto / STEP * STEP);
        let read = if found >= minimum { found } else { 0 };
        for block in blocks {
            self.entries.insert(block.chain, (at + lifetime, lifetime));
        }
        let written = if total >= minimum { total - read } else { 0 };
        Traffic { cache_read: read, cache_write: written, input: total - read - written, ..Traffic::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::cache::Layout;

    const FIVE: CacheTtl = CacheTtl::FiveMinutes;

    fn prompt(sizes: &[u64]) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for (&tokens, digest) in sizes.iter().zip(1..) {
            blocks.push(Block::after(blocks.last().copied(), digest, tokens));
        }
        blocks
    }

    fn at_end(blocks: &[Block]) -> Vec<Mark> {
        vec![Mark { block: blocks.len() - 1, ttl: FIVE }]
    }

    fn anthropic() -> Simulator {
        Simulator::new(Rules::Marked { minimum: 1024 })
    }

    #[test]
    fn a_longer_prompt_reads_the_shorter_one_and_writes_the_rest() {
        let mut cache = anthropic();
        let (short, long) = (prompt(&[2000, 500]), prompt(&[2000, 500, 300, 40]));
        let first = cache.request(0.0, &short, &at_end(&short));
        assert_eq!((first.cache_read, first.cache_write, first.input), (0, 2500, 0));
        let second = cache.request(10.0, &long, &at_end(&long));
        assert_eq!((second.cache_read, second.cache_write), (2500, 340));
    }

    #[test]
    fn an_entry_dies_when_it_is_not_used_and_lives_on_when_it_is() {
        let mut cache = anthropic();
        let blocks = prompt(&[2000]);
        let read_at = |cache: &mut Simulator, at| cache.request(at, &blocks, &at_end(&blocks)).cache_read;
        assert_eq!(read_at(&mut cache, 0.0), 0);
        assert_eq!(read_at(&mut cache, 290.0), 2000);
        assert_eq!(read_at(&mut cache, 580.0), 2000, "the read at 290 s renewed it");
        assert_eq!(read_at(&mut cache, 881.0), 2000, "times are those of replies");
        assert_eq!(read_at(&mut cache, 1202.0), 0);
    }

    #[test]
    fn more_than_twenty_blocks_since_the_last_mark_miss_it() {
        let sizes = |blocks: usize| vec![1000_u64; blocks];
        for (added, read) in [(20, 5000), (21, 0)] {
            let mut cache = anthropic();
            let (short, long) = (prompt(&sizes(5)), prompt(&sizes(5 + added)));
            cache.request(0.0, &short, &at_end(&short));
            assert_eq!(cache.request(1.0, &long, &at_end(&long)).cache_read, read, "{added} more blocks");
        }
    }

    #[test]
    fn the_rolling_layout_survives_what_the_look_back_does_not() {
        let mut cache = anthropic();
        let (short, long) = (prompt(&[1000; 5]), prompt(&[1000; 45]));
        cache.request(0.0, &short, &at_end(&short));
        let ends: Vec<usize> = (0..45).collect();
        let marks = Layout::Auto.marks(Some(0), &ends, FIVE);
        assert!(marks.len() <= 4, "{marks:?}");
        assert_eq!(cache.request(1.0, &long, &marks).cache_read, 5000, "{marks:?}");
    }

    #[test]
    fn short_prompts_are_not_kept() {
        let mut cache = anthropic();
        let blocks = prompt(&[1000]);
        assert_eq!(cache.request(0.0, &blocks, &at_end(&blocks)).input, 1000);
        assert_eq!(cache.request(1.0, &blocks, &at_end(&blocks)).input, 1000);
    }

    #[test]
    fn an_hour_is_written_at_its_own_price_and_lives_longer() {
        let mut cache = anthropic();
        let blocks = prompt(&[2000, 500]);
        let marks = [Mark { block: 0, ttl: CacheTtl::OneHour }, Mark { block: 1, ttl: FIVE }];
        let first = cache.request(0.0, &blocks, &marks);
        assert_eq!((first.cache_write_long, first.cache_write), (2000, 500));
        let later = cache.request(1000.0, &blocks, &marks);
        assert_eq!((later.cache_read, later.cache_write, later.cache_write_long), (2000, 500, 0));
    }

    #[test]
    fn openai_reads_in_steps_without_marks() {
        let mut cache = Simulator::new(Rules::Automatic { minimum: 1024, lifetime: 600 });
        let (short, long) = (prompt(&[1000, 500]), prompt(&[1000, 500, 100]));
        assert_eq!(cache.request(0.0, &short, &[]).cache_read, 0);
        assert_eq!(cache.request(1.0, &long, &[]).cache_read, 1408, "1500 rounded down to 128");
        assert_eq!(cache.request(700.0, &long, &[]).cache_read, 0, "ten minutes are over");
    }
}
