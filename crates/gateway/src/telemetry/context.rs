//! W3C trace context: which trace a request belongs to (<https://www.w3.org/TR/trace-context/>).

use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::fmt::Write as _;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Names a span within its trace.
pub type SpanId = [u8; 8];

/// A span, as others refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: [u8; 16],
    /// The span.
    pub span: SpanId,
    /// Whether somebody keeps it.
    pub sampling: Sampling,
}

/// Whether the spans of a trace are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// They are.
    Recorded,
    /// Whoever began the trace decided that they are not.
    Dropped,
}

impl TraceContext {
    /// What the headers of a request say, if it is one valid `traceparent`.
    pub fn of(headers: &HeaderMap) -> Option<TraceContext> {
        let mut all = headers.get_all(TRACEPARENT).iter();
        let only = all.next().filter(|_| all.next().is_none())?;
        TraceContext::parse(only.to_str().ok()?.trim())
    }

    fn parse(text: &str) -> Option<TraceContext> {
        let mut fields = text.splitn(5, '-');
        let version: [u8; 1] = hex(fields.next()?)?;
        let (trace, span) = (hex::<16>(fields.next()?)?, hex::<8>(fields.next()?)?);
        let flags: [u8; 1] = hex(fields.next()?)?;
        // Later versions may add fields; this one has none.
        let is_known = version != [0xff] && (version != [0] || fields.next().is_none());
        let sampling = if flags[0] & 1 == 1 { Sampling::Recorded } else { Sampling::Dropped };
        (is_known && trace != [0; 16] && span != [0; 8]).then_some(TraceContext { trace, span, sampling })
    }

    /// A trace that begins here.
    pub fn root() -> Option<TraceContext> {
        Some(TraceContext { trace: random()?, span: random()?, sampling: Sampling::Recorded })
    }

    /// Another span of the same trace.
    pub fn child(&self) -> Option<TraceContext> {
        Some(TraceContext { span: random()?, ..*self })
    }

    /// Makes the receiver of a request a child of this span. The state of other vendors goes with their trace only.
    pub fn put_into(&self, headers: &mut HeaderMap) {
        if TraceContext::of(headers).is_none_or(|there| there.trace != self.trace) {
            headers.remove(TRACESTATE);
        }
        if let Ok(value) = HeaderValue::from_str(&self.header()) {
            headers.insert(TRACEPARENT, value);
        }
    }

    fn header(&self) -> String {
        let mut text = String::from("00-");
        for bytes in [self.trace.as_slice(), self.span.as_slice()] {
            for byte in bytes {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            text.push('-');
        }
        text + if self.sampling == Sampling::Recorded { "01" } else { "00" }
    }
}

/// Bytes that nobody else has; `None` when the system has none.
fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes).ok()?;
    Some(bytes)
}

/// Lower-case digits only, as the standard has it.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let text = text.as_bytes();
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn a_header_is_read_and_written_as_the_standard_has_it() {
        let context = TraceContext::of(&headers(&[("traceparent", GIVEN)])).unwrap();
        assert_eq!(context.header(), GIVEN);
        assert_eq!(context.sampling, Sampling::Recorded);
        let unsampled = TraceContext::parse(&GIVEN.replace("-01", "-00")).unwrap();
        assert_eq!(unsampled.sampling, Sampling::Dropped);
        assert!(TraceContext::parse(&format!("{}-more", GIVEN.replacen("00", "42", 1))).is_some(), "a later version");
    }

    #[test]
    fn what_the_standard_forbids_begins_a_trace_of_its_own() {
        let zero_trace = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        let zero_span = "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01";
        let upper = GIVEN.to_uppercase();
        let forbidden = GIVEN.replacen("00", "ff", 1);
        let longer = format!("{GIVEN}-more");
        for bad in [zero_trace, zero_span, &upper, &forbidden, &longer, "", "00", "00-1-2-3"] {
            assert_eq!(TraceContext::of(&headers(&[("traceparent", bad)])), None, "{bad}");
        }
        let twice = headers(&[("traceparent", GIVEN), ("traceparent", GIVEN)]);
        assert_eq!(TraceContext::of(&twice), None, "two of them");
    }

    #[test]
    fn the_state_of_other_vendors_stays_with_its_trace() {
        let mut same = headers(&[("traceparent", GIVEN), ("tracestate", "v=1")]);
        let context = TraceContext::of(&same).unwrap();
        let child = context.child().unwrap();
        child.put_into(&mut same);
        assert_eq!(same["tracestate"], "v=1");
        assert_eq!(TraceContext::of(&same), Some(child));
        assert_eq!((child.trace, child.span == context.span), (context.trace, false));

        let mut other = headers(&[("traceparent", "garbled"), ("tracestate", "v=1")]);
        TraceContext::root().unwrap().put_into(&mut other);
        assert!(!other.contains_key("tracestate"));
    }
}
