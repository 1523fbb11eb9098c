//! Which messages of a result are messages of the input, byte for byte. A host that has objects for its messages puts
//! those back, with all that no wire format knows of them.

use foldline_transcript::Transcript;
use rustc_hash::FxHashMap;

/// For each message of `after` its index in `before`; `None` for those that were written or changed. Order is kept.
pub(crate) fn kept(before: &Transcript<'_>, after: &Transcript<'_>) -> Vec<Option<usize>> {
    let mut places: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, message) in before.messages.iter().enumerate() {
        places.entry(before.raw(message.span)).or_default().push(index);
    }
    let mut next = 0;
    let find = |message: &foldline_transcript::Message| {
        let places = places.get(after.raw(message.span))?;
        let found = *places.get(places.partition_point(|&place| place < next))?;
        next = found + 1;
        Some(found)
    };
    after.messages.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::wire;

    #[test]
    fn equal_messages_are_told_apart_by_their_order() {
        let (yes, no) = (r#"{"role":"user","content":"yes"}"#, r#"{"role":"assistant","content":"no"}"#);
        let before = format!("[{yes},{no},{yes},{no}]");
        let after = format!(r#"[{yes},{{"role":"assistant","content":"new"}},{yes},{no}]"#);
        let (before, after) = (wire::read(&before, None).unwrap(), wire::read(&after, None).unwrap());
        assert_eq!(kept(&before, &after), [Some(0), None, Some(2), Some(3)]);
    }
}
