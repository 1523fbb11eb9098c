//! Content encodings: whole request bodies within a limit, and streamed replies for the observer.

use super::answer::Refusal;
use super::budget::MemoryLease;
use std::io::{self, Write};

/// Codings on top of each other: nobody has a reason for more.
const MOST_CODINGS: usize = 3;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Not at all.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or the bare RFC 1951 stream that some clients send by the same name.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// The coding of a `content-encoding` header. `None` for what is not known, and for several codings at once.
    pub fn of(header: Option<&str>) -> Option<Coding> {
        match header.map(|text| text.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Some(Self::Identity),
            Some("gzip" | "x-gzip") => Some(Self::Gzip),
            Some("deflate") => Some(Self::Deflate),
            Some("br") => Some(Self::Brotli),
            Some("zstd") => Some(Self::Zstd),
            Some(_) => None,
        }
    }

    /// The codings of a header that may name several, in the order in which they were put on; identity is none.
    pub fn list(header: &str) -> Option<Vec<Coding>> {
        let codings: Option<Vec<Coding>> = header.split(',').map(|name| Coding::of(Some(name))).collect();
        let codings: Vec<Coding> = codings?.into_iter().filter(|coding| *coding != Coding::Identity).collect();
        (codings.len() <= MOST_CODINGS).then_some(codings)
    }

    /// As it stands in the header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// Why a body could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// There is no memory for it.
    OutOfMemory(Refusal),
    /// It is larger than allowed.
    TooLarge,
    /// It is no such stream, or ends early.
    Garbled,
}

/// Decodes a whole body, which must be complete.
pub fn decode(coding: Coding, bytes: &[u8], limit: usize) -> Result<Vec<u8>, DecodeError> {
    decode_into(coding, bytes, Bounded::new(limit, None)).map(|out| out.bytes)
}

/// The same, with all memory that it takes counted: what decoders need, too. The result belongs to the lease.
pub fn decode_within(
    coding: Coding,
    bytes: &[u8],
    limit: usize,
    lease: MemoryLease,
) -> Result<(Vec<u8>, MemoryLease), DecodeError> {
    let budget = lease.budget().clone();
    let mut workspace = budget.lease();
    workspace.grow_to(window(coding, bytes)).map_err(DecodeError::OutOfMemory)?;
    let out = decode_into(coding, bytes, Bounded::new(limit, Some(lease)))?;
    let mut lease = out.lease.unwrap_or_else(|| budget.lease());
    let mut bytes = out.bytes;
    bytes.shrink_to_fit();
    lease.shrink_to(bytes.capacity());
    Ok((bytes, lease))
}

/// What a decoder must remember of its own output: memory that the sender chooses.
fn window(coding: Coding, bytes: &[u8]) -> usize {
    match coding {
        Coding::Identity => 0,
        Coding::Gzip | Coding::Deflate => 64 << 10,
        // The largest that the format has.
        Coding::Brotli => 16 << 20,
        Coding::Zstd => zstd_window(bytes),
    }
}

/// The largest window of all frames (RFC 8878, 3.1.1.1.2).
fn zstd_window(mut bytes: &[u8]) -> usize {
    let mut largest = 0;
    while let Some(length) = zstd::zstd_safe::find_frame_compressed_size(bytes).ok().filter(|length| *length > 0) {
        let wanted = match (bytes.get(..4), bytes.get(4), bytes.get(5)) {
            (Some([0x28, 0xb5, 0x2f, 0xfd]), Some(descriptor), Some(window)) if descriptor & 0x20 == 0 => {
                let base = 1_u64 << (10 + u32::from(window >> 3));
                base + base / 8 * u64::from(window & 7)
            }
            // A frame of one piece has a window of its own size, which the limit of the output bounds.
            (Some([0x28, 0xb5, 0x2f, 0xfd]), ..) => {
                zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten().unwrap_or(0)
            }
            _ => 0,
        };
        largest = largest.max(usize::try_from(wanted.min(1 << ZSTD_WINDOW_LOG_MAX)).unwrap_or(usize::MAX));
        bytes = bytes.get(length..).unwrap_or_default();
    }
    largest
}

fn decode_into(coding: Coding, bytes: &[u8], mut out: Bounded) -> Result<Bounded, DecodeError> {
    let decoded = match coding {
        // Their writing decoders do not tell a stream that ends early from one that ends.
        Coding::Deflate => inflate(bytes, &mut out).map(|()| out),
        Coding::Zstd => unpack_frames(bytes, &mut out).map(|()| out),
        _ => Decoder::over(coding, out).and_then(|mut decoder| {
            decoder.feed(bytes)?;
            decoder.finish()?;
            Ok(decoder.take_out())
        }),
    };
    decoded.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => DecodeError::TooLarge,
        _ => match error.into_inner().and_then(|inner| inner.downcast::<Refusal>().ok()) {
            Some(refusal) => DecodeError::OutOfMemory(*refusal),
            None => DecodeError::Garbled,
        },
    })
}

/// A stream of either kind of deflate, with nothing after it.
fn inflate(bytes: &[u8], out: &mut Bounded) -> io::Result<()> {
    let rest = if is_zlib(bytes) {
        let mut decoder = flate2::bufread::ZlibDecoder::new(bytes);
        io::copy(&mut decoder, out)?;
        decoder.into_inner()
    } else {
        let mut decoder = flate2::bufread::DeflateDecoder::new(bytes);
        io::copy(&mut decoder, out)?;
        decoder.into_inner()
    };
    if rest.is_empty() { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Frames of zstd, all of them complete.
fn unpack_frames(bytes: &[u8], out: &mut Bounded) -> io::Result<()> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
    io::copy(&mut decoder, out).map(drop)
}

/// A zlib header names method 8 in the low half of its first byte; a bare stream that does so by chance would have to
/// begin with a reserved or stored block of odd shape.
fn is_zlib(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| first & 0x0f == 8)
}

/// Decodes a stream piece by piece.
pub struct Decoder(Inner);

/// A window of a zstd frame above this is refused: it is memory that the sender chooses. 2^27 is what browsers accept.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;
/// What a brotli decoder reads at once.
const BROTLI_BUFFER: usize = 4096;

enum Inner {
    Plain(Bounded),
    Gzip(flate2::write::MultiGzDecoder<Bounded>),
    Zlib(flate2::write::ZlibDecoder<Bounded>),
    Raw(flate2::write::DeflateDecoder<Bounded>),
    /// The first byte tells the two kinds of deflate apart.
    Deflate(usize),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Bounded>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Bounded>>),
}

impl Decoder {
    /// A decoder that refuses to hold more than `limit` decoded bytes.
    pub fn new(coding: Coding, limit: usize) -> io::Result<Decoder> {
        Decoder::over(coding, Bounded::new(limit, None))
    }

    fn over(coding: Coding, out: Bounded) -> io::Result<Decoder> {
        Ok(Decoder(match coding {
            Coding::Identity => Inner::Plain(out),
            Coding::Gzip => Inner::Gzip(flate2::write::MultiGzDecoder::new(out)),
            Coding::Deflate => Inner::Deflate(out.limit),
            Coding::Brotli => Inner::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(out, BROTLI_BUFFER))),
            Coding::Zstd => {
                let mut decoder = zstd::stream::write::Decoder::new(out)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Inner::Zstd(Box::new(decoder))
            }
        }))
    }

    /// Takes in a piece; what it decodes to is to be [taken](Self::take).
    pub fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Inner::Deflate(limit) = self.0 {
            if bytes.is_empty() {
                return Ok(());
            }
            let out = Bounded::new(limit, None);
            self.0 = if is_zlib(bytes) {
                Inner::Zlib(flate2::write::ZlibDecoder::new(out))
            } else {
                Inner::Raw(flate2::write::DeflateDecoder::new(out))
            };
        }
        match &mut self.0 {
            Inner::Plain(out) => out.write_all(bytes),
            Inner::Gzip(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Inner::Zlib(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Inner::Raw(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Inner::Deflate(_) => Ok(()),
            Inner::Brotli(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            Inner::Zstd(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
        }
    }

    /// What has been decoded since the last time.
    pub fn take(&mut self) -> Vec<u8> {
        self.take_out().bytes
    }

    fn take_out(&mut self) -> Bounded {
        let out = match &mut self.0 {
            Inner::Plain(out) => out,
            Inner::Gzip(decoder) => decoder.get_mut(),
            Inner::Zlib(decoder) => decoder.get_mut(),
            Inner::Raw(decoder) => decoder.get_mut(),
            Inner::Deflate(limit) => return Bounded::new(*limit, None),
            Inner::Brotli(decoder) => decoder.get_mut(),
            Inner::Zstd(decoder) => decoder.get_mut(),
        };
        let fresh = Bounded::new(out.limit, None);
        std::mem::replace(out, fresh)
    }

    /// Fails when the stream is not complete.
    fn finish(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Inner::Plain(_) | Inner::Deflate(_) => Ok(()),
            Inner::Gzip(decoder) => decoder.try_finish(),
            Inner::Zlib(decoder) => decoder.try_finish(),
            Inner::Raw(decoder) => decoder.try_finish(),
            Inner::Brotli(decoder) => decoder.close(),
            Inner::Zstd(decoder) => decoder.flush(),
        }
    }
}

/// Bytes up to a limit, and within a budget where there is one.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
    lease: Option<MemoryLease>,
}

impl Bounded {
    fn new(limit: usize, lease: Option<MemoryLease>) -> Bounded {
        Bounded { bytes: Vec::new(), limit, lease }
    }

    /// Makes room for so many bytes, which are paid for first.
    fn reserve(&mut self, wanted: usize) -> io::Result<()> {
        if wanted > self.bytes.capacity()
            && let Some(lease) = &mut self.lease
        {
            let capacity = self.bytes.capacity().saturating_mul(2).min(self.limit).max(wanted);
            lease.grow_to(capacity).map_err(io::Error::other)?;
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        Ok(())
    }
}

impl Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + piece.len() > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.reserve(self.bytes.len() + piece.len())?;
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    const TEXT: &[u8] = b"the same words again and again, the same words again and again";

    fn packed(coding: Coding) -> Vec<u8> {
        let level = flate2::Compression::fast();
        let mut out = Vec::new();
        match coding {
            Coding::Identity => out.extend_from_slice(TEXT),
            Coding::Gzip => drop(flate2::read::GzEncoder::new(TEXT, level).read_to_end(&mut out).unwrap()),
            Coding::Deflate => drop(flate2::read::ZlibEncoder::new(TEXT, level).read_to_end(&mut out).unwrap()),
            // Brotli of a stored block: header, length, bytes, end.
            Coding::Brotli => out.extend(b"\x0b\x02\x80hello\x03"),
            Coding::Zstd => out = zstd::encode_all(TEXT, 1).unwrap(),
        }
        out
    }

    #[test]
    fn what_was_packed_comes_out() {
        for coding in [Coding::Identity, Coding::Gzip, Coding::Deflate, Coding::Zstd] {
            assert_eq!(decode(coding, &packed(coding), 1000).unwrap(), TEXT, "{coding:?}");
        }
        assert_eq!(decode(Coding::Brotli, &packed(Coding::Brotli), 1000).unwrap(), b"hello");
        let mut raw = Vec::new();
        flate2::read::DeflateEncoder::new(TEXT, flate2::Compression::fast()).read_to_end(&mut raw).unwrap();
        assert_eq!(decode(Coding::Deflate, &raw, 1000).unwrap(), TEXT);
    }

    #[test]
    fn pieces_decode_as_they_come() {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Zstd] {
            let mut decoder = Decoder::new(coding, 1000).unwrap();
            let mut out = Vec::new();
            for piece in packed(coding).chunks(3) {
                decoder.feed(piece).unwrap();
                out.extend(decoder.take());
            }
            assert_eq!(out, TEXT, "{coding:?}");
        }
    }

    #[test]
    fn a_bomb_is_refused_and_a_torn_body_is_an_error() {
        let bomb = zstd::encode_all(vec![0u8; 10_000_000].as_slice(), 1).unwrap();
        assert_eq!(decode(Coding::Zstd, &bomb, 1_000_000), Err(DecodeError::TooLarge));
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
            let packed = packed(coding);
            for missing in 1..packed.len() - 1 {
                let torn = &packed[..packed.len() - missing];
                assert_eq!(decode(coding, torn, 1000), Err(DecodeError::Garbled), "{coding:?} without {missing}");
            }
        }
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
            assert_eq!(decode(coding, b"\xff\xff\xff\xff", 1000), Err(DecodeError::Garbled), "{coding:?}");
        }
    }

    #[test]
    fn what_decoding_takes_is_paid_for_first() {
        let gauge = prometheus_client::metrics::gauge::Gauge::default();
        let budget = super::super::budget::MemoryBudget::new(20 << 20, gauge);
        let text = vec![b' '; 12 << 20];
        let mut gzip = Vec::new();
        flate2::read::GzEncoder::new(text.as_slice(), flate2::Compression::fast()).read_to_end(&mut gzip).unwrap();
        let zstd = zstd::encode_all(text.as_slice(), 1).unwrap();
        for (coding, packed) in [(Coding::Gzip, &gzip), (Coding::Zstd, &zstd)] {
            let (bytes, lease) = decode_within(coding, packed, 16 << 20, budget.lease()).unwrap();
            assert_eq!(bytes.len(), text.len());
            let refused = decode_within(coding, packed, 16 << 20, budget.lease()).unwrap_err();
            assert!(matches!(refused, DecodeError::OutOfMemory(_)), "{coding:?}: {refused:?}");
            drop(lease);
            assert!(budget.lease().grow_to(20 << 20).is_ok(), "{coding:?}: all is given back");
        }
    }

    #[test]
    fn unknown_codings_are_told_apart() {
        assert_eq!(Coding::of(Some("GZip")), Some(Coding::Gzip));
        assert_eq!(Coding::of(Some("gzip, br")), None);
        assert_eq!(Coding::list("gzip, identity,br"), Some(vec![Coding::Gzip, Coding::Brotli]));
        assert_eq!(Coding::list("gzip, lzma"), None);
        assert_eq!(Coding::list("gzip, gzip, gzip, gzip"), None);
        assert_eq!(Coding::list(""), Some(Vec::new()));
        assert_eq!(Coding::of(None), Some(Coding::Identity));
    }
}
