//! The pieces of a text as the bytes of one object: a mark, then each piece behind its length.

/// Tells an object of ours, and this way of writing it, from anything else.
const MARK: &[u8; 4] = b"FLO1";
const LENGTH: usize = 4;

/// Pieces as bytes. `None` when one is too long to be written, which no piece is.
pub(super) fn framed<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Option<Vec<u8>> {
    let mut bytes = MARK.to_vec();
    for piece in pieces {
        bytes.extend_from_slice(&u32::try_from(piece.len()).ok()?.to_le_bytes());
        bytes.extend_from_slice(piece);
    }
    Some(bytes)
}

/// Pieces from bytes; `None` when they are not what was written.
pub(super) fn pieces(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = bytes.strip_prefix(MARK)?;
    let mut pieces = Vec::new();
    while let Some((length, more)) = rest.split_first_chunk::<LENGTH>() {
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (piece, more) = more.split_at_checked(length)?;
        pieces.push(piece.to_vec());
        rest = more;
    }
    rest.is_empty().then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_and_what_was_cut_does_not() {
        for given in [vec![], vec![b"".as_slice()], vec![b"one".as_slice(), b"", b"three"]] {
            let bytes = framed(given.clone()).unwrap();
            assert_eq!(pieces(&bytes).unwrap(), given);
            for end in 1..bytes.len() {
                let cut = pieces(&bytes[..end]);
                assert!(cut.is_none_or(|cut| cut.len() < given.len()), "{end}");
            }
        }
        assert_eq!(pieces(b"something else"), None);
    }
}
