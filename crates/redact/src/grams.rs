//! Tables that tell, from four bytes of a text, which keywords may stand there.
//!
//! Each keyword is searched for by the four bytes of it that other words have least, its gram; a keyword of three bytes by
//! all of them. One small table is asked at every byte of a text, a second one where the first says yes.

use crate::keywords::{Keyword, KeywordId};
use crate::scan::is_word;

/// Bytes that are looked at together.
pub(crate) const WINDOW: usize = 4;
/// Bytes whose places are found together.
pub(crate) const STRETCH: usize = u64::BITS as usize;
/// Bytes of a keyword that are compared at once.
const HEAD: usize = 8;

/// A part of a keyword that is searched for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gram {
    pub(crate) id: KeywordId,
    /// Where it stands in the keyword.
    offset: u8,
    /// Whether nothing is left to compare where the first bytes fit.
    pub(crate) is_whole: bool,
    /// Whether the keyword stands inside of no word.
    begins_word: bool,
    /// The first bytes of the keyword.
    head: u64,
    /// Which of them count.
    mask: u64,
    /// The bit of lower case, where the case of a letter does not count.
    letters: u64,
}

impl Gram {
    fn new(id: KeywordId, offset: u8, keyword: &Keyword) -> Self {
        let only = keyword.only_spelling();
        let word = only.map_or(keyword.word.as_slice(), str::as_bytes);
        let mut head = [0; HEAD];
        head.iter_mut().zip(word).for_each(|(to, from)| *to = *from);
        let counted = u32::try_from(word.len().min(HEAD)).unwrap_or(0);
        let letter = |byte: u8| if only.is_none() && byte.is_ascii_lowercase() { 0x20 } else { 0 };
        Self {
            id,
            offset,
            is_whole: word.len() <= HEAD && (keyword.spellings.is_none() || only.is_some()),
            begins_word: keyword.begins_word,
            head: u64::from_le_bytes(head),
            mask: u64::MAX >> (u64::BITS - 8 * counted),
            letters: u64::from_le_bytes(head.map(letter)),
        }
    }

    /// Where the keyword begins whose gram stands at `place`, if its first bytes are there. The last bytes of a text are
    /// not compared.
    #[inline]
    pub(crate) fn keyword_start(&self, text: &[u8], place: usize) -> Option<usize> {
        let start = place.checked_sub(self.offset.into())?;
        let head = match text.get(start..)?.first_chunk() {
            Some(head) => u64::from_le_bytes(*head),
            None => return Some(start),
        };
        if ((head | self.letters) ^ self.head) & self.mask != 0 {
            return None;
        }
        let before = start.checked_sub(1).and_then(|before| text.get(before));
        let inside = self.begins_word && before.is_some_and(|&byte| is_word(byte) || byte == b'-');
        (!inside).then_some(start)
    }

    /// Where the keyword ends that begins at `start`, if all of it was compared.
    #[inline]
    pub(crate) fn whole_end(&self, text: &[u8], start: usize) -> Option<usize> {
        (self.is_whole && start + HEAD <= text.len()).then(|| start + self.mask.count_ones() as usize / 8)
    }
}

/// The grams of all keywords.
pub(crate) struct Grams {
    /// For each digest of three bytes, a bit for each kind of fourth byte.
    fourths: Box<[u8; 1 << DIGEST_BITS]>,
    /// A bit for each digest that a gram has.
    known: Box<[u64; KNOWN_WORDS]>,
    /// How many digests of grams stand before each word of `known`.
    ranks: Vec<u16>,
    /// For each digest of a gram, in order, where its grams begin in `grams`.
    starts: Vec<u16>,
    grams: Vec<Gram>,
}

/// The table stays in the nearest caches.
const DIGEST_BITS: u32 = 15;
/// Fifty times as many digests as there are grams.
const KNOWN_BITS: u32 = 16;
const KNOWN_WORDS: usize = 1 << (KNOWN_BITS - 6);
/// For keywords of three bytes.
const EVERY_FOURTH: u8 = u8::MAX;

impl Grams {
    /// The grams of keywords of three bytes and more.
    pub(crate) fn new(keywords: &[Keyword]) -> Self {
        let mut fourths = Box::new([0; 1 << DIGEST_BITS]);
        let mut known = Box::new([0_u64; KNOWN_WORDS]);
        let mut grams: Vec<(usize, Gram)> = Vec::new();
        for (id, keyword) in (0..).map(KeywordId).zip(keywords) {
            let (gram, offset) = match *keyword.word.as_slice() {
                [a, b, c] => match keyword.only_spelling().map(str::as_bytes) {
                    Some(&[a, b, c]) => ([a, b, c, 0], 0),
                    _ => ([a, b, c, 0], 0),
                },
                _ => match rarest(&keyword.word) {
                    Some(rarest) => rarest,
                    None => continue,
                },
            };
            let window = Window::new(gram);
            let is_short = keyword.word.len() < WINDOW;
            fourths[three(window.folded)] |= if is_short { EVERY_FOURTH } else { 1 << fourth(window.folded) };
            let [of_four, of_three, of_spelling] = window.digests();
            let digest = match keyword.only_spelling() {
                _ if !is_short => of_four,
                None => of_three,
                Some(_) => of_spelling,
            };
            known[digest / 64] |= 1 << (digest % 64);
            grams.push((digest, Gram::new(id, offset, keyword)));
        }
        grams.sort_unstable_by_key(|(digest, gram)| (*digest, gram.id));
        let rank = |word: usize| known.iter().take(word).map(|bits| bits.count_ones() as u16).sum();
        let ranks = (0..KNOWN_WORDS).map(rank).collect();
        let mut digests: Vec<usize> = grams.iter().map(|(digest, _)| *digest).collect();
        digests.dedup();
        let start = |digest: usize| grams.partition_point(|(of, _)| *of < digest) as u16;
        let starts = digests.into_iter().chain([usize::MAX]).map(start).collect();
        Self { fourths, known, ranks, starts, grams: grams.into_iter().map(|(_, gram)| gram).collect() }
    }

    /// Where a gram may begin in a stretch: a bit for each byte, the lowest for the first. Wrong at one byte of a hundred.
    #[inline]
    pub(crate) fn places(&self, stretch: &[u8; STRETCH + WINDOW]) -> u64 {
        let mut places = 0;
        for eight in stretch.array_windows::<8>().step_by(WINDOW) {
            // Four windows begin in the first half.
            let folded = u64::from_le_bytes(*eight) | 0x2020_2020_2020_2020;
            for shift in [0, 8, 16, 24] {
                let window = (folded >> shift) as u32;
                places = places << 1 | u64::from(self.fourths[three(window)] >> fourth(window) & 1);
            }
        }
        places.reverse_bits()
    }

    /// Whether some bytes are a gram: wrong at few of those that [`Self::places`] has found in vain.
    #[inline]
    pub(crate) fn has(&self, window: Window) -> bool {
        window.digests().iter().fold(0, |known, &digest| known | self.is_known(digest)) != 0
    }

    #[inline]
    fn is_known(&self, digest: usize) -> u64 {
        self.known[digest / 64] >> (digest % 64) & 1
    }

    /// The grams with one of the digests of some bytes.
    #[inline]
    pub(crate) fn with(&self, digest: usize) -> &[Gram] {
        if self.is_known(digest) == 0 {
            return &[];
        }
        let before = self.known[digest / 64] & ((1 << (digest % 64)) - 1);
        let rank = usize::from(self.ranks[digest / 64]) + before.count_ones() as usize;
        match self.starts.get(rank..rank + 2) {
            Some(&[from, to]) => self.grams.get(usize::from(from)..usize::from(to)).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// The four bytes of a keyword that other words have least, and where they stand.
fn rarest(word: &[u8]) -> Option<([u8; WINDOW], u8)> {
    /// How often signs are among a thousand of a text, about; those that are not listed are rare.
    const OFTEN: [(&[u8], u32); 7] = [
        (b" e", 100),
        (b"taoinsr", 65),
        (b"ldchu", 35),
        (b"mfpg", 22),
        (b"wybv", 14),
        (b"k.,_-/\"0123456789", 9),
        (b":;=xj", 4),
    ];
    let share = |byte: &u8| OFTEN.iter().find(|(signs, _)| signs.contains(byte)).map_or(2, |(_, share)| *share);
    let cost = |gram: &[u8; WINDOW]| (FREQUENT.contains(&gram), gram.iter().map(share).product::<u32>());
    let rarest = word.array_windows::<WINDOW>().enumerate().min_by_key(|(_, gram)| cost(gram))?;
    Some((*rarest.1, u8::try_from(rarest.0).ok()?))
}

/// Parts of keywords that stand in many other words, whatever their letters. Counted in sessions, in the sources of Rust and
/// Python libraries and in the documentation of a Debian system.
#[rustfmt::skip]
const FREQUENT: &[&[u8; WINDOW]] = &[
    b" = \"", b" cod", b" def", b" key", b" log", b" pas", b" tok", b"\": \"", b"-com", b"-key", b".com", b"/web",
    b"::se", b"= \"s", b"_clo", b"_com", b"_dec", b"_enc", b"_key", b"_pat", b"_pro", b"_sec", b"_tok", b"able",
    b"acce", b"aes_", b"ampl", b"api_", b"appl", b"ass=", b"assw", b"ault", b"auth", b"ble ", b"buck", b"buil", b"cces",
    b"cess", b"cial", b"city", b"code", b"com/", b"comm", b"conn", b"cont", b"cord", b"crea", b"cryp", b"ctio", b"defa",
    b"dent", b"disc", b"efau", b"enab", b"enti", b"equi", b"ess_", b"exec", b"faul", b"fica", b"fied", b"fini", b"foll",
    b"form", b"gned", b"gram", b"his ", b"http", b"ical", b"iden", b"ific", b"ifie", b"igne", b"ind:", b"ing ", b"ing(",
    b"inse", b"into", b"ion(", b"is p", b"java", b"ker.", b"key ", b"key-", b"key_", b"link", b"llow", b"logi", b"look",
    b"lowi", b"lway", b"mand", b"mark", b"matt", b"mman", b"mpli", b"nabl", b"ncry", b"nd: ", b"ndex", b"new(", b"new_",
    b"nfig", b"ng s", b"ng t", b"nnec", b"nser", b"ntif", b"ntra", b"ntry", b"ode ", b"ode:", b"oken", b"ollo", b"omma",
    b"ontr", b"open", b"ord(", b"orks", b"our ", b"outp", b"owin", b"p://", b"pack", b"pass", b"pend", b"pens",
    b"plac", b"plai", b"plit", b"post", b"prin", b"priv", b"proj", b"ps:/", b"push", b"quir", b"read", b"repl", b"requ",
    b"ring", b"rypt", b"s://", b"sert", b"sign", b"sswo", b"swor", b"t pa", b"t us", b"tabl", b"tack", b"task", b"this",
    b"tifi", b"toke", b"tps:", b"tput", b"ttps", b"uild", b"ult ", b"user", b"uth_", b"utpu", b"veri", b"very", b"wing",
    b"with", b"word", b"work", b"your",
];

/// Four bytes of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    spelled: u32,
    /// With the bit of lower case set in each byte: others than letters may become the same, and differ when they are
    /// compared.
    folded: u32,
}

impl Window {
    #[inline]
    pub(crate) fn new(bytes: [u8; WINDOW]) -> Self {
        let spelled = u32::from_le_bytes(bytes);
        Self { spelled, folded: spelled | 0x2020_2020 }
    }

    /// Digests of all four bytes and of the first three, whatever their case, and of the first three as they are spelled.
    #[inline]
    pub(crate) fn digests(self) -> [usize; 3] {
        let digest = |bytes: u32, mix: u32| (bytes.wrapping_mul(mix) >> (u32::BITS - KNOWN_BITS)) as usize;
        [
            digest(self.folded, 0x85EB_CA6B),
            digest(self.folded << 8, 0x85EB_CA6B),
            digest(self.spelled << 8, 0xC2B2_AE35),
        ]
    }
}

/// The first three of four bytes with the bit of lower case set, as a place in the table of fourths.
#[inline]
fn three(folded: u32) -> usize {
    ((folded << 8).wrapping_mul(0x9E37_79B1) >> (u32::BITS - DIGEST_BITS)) as usize
}

/// The kind of the fourth of four bytes, as a bit.
#[inline]
fn fourth(folded: u32) -> u32 {
    folded >> 24 & 7
}
