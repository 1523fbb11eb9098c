//! The `gateway` section of the settings.

use foldline_core::section;
use foldline_core::settings::{ValueKind, bytes, count, fraction};

section! {
    /// The gateway between agents and their providers.
    GatewaySettings = "gateway" {
        /// Address to listen on; addresses other than loopback require `client_keys` or `require_key`.
        listen: Option<String> = ValueKind::Text, "127.0.0.1:8787";
        /// Base URL of the OpenAI API or a compatible one.
        upstream_openai: Option<String> = ValueKind::Text, "https://api.openai.com/v1";
        /// Base URL of the Anthropic API or a compatible one.
        upstream_anthropic: Option<String> = ValueKind::Text, "https://api.anthropic.com";
        /// Base URL of the Gemini API or a compatible one.
        upstream_gemini: Option<String> = ValueKind::Text, "https://generativelanguage.googleapis.com";
        /// Allowed host names besides loopback and the address of the connection; `*.x` for subdomains of x, `*` for all.
        hosts: Vec<String> = ValueKind::Names, "";
        /// Allowed origins of web pages besides this machine, such as `https://app.example`; `*` for all.
        origins: Vec<String> = ValueKind::Names, "";
        /// File with client keys, one per line, and the provider keys they are mapped to; null accepts all clients.
        client_keys: Option<String> = ValueKind::Text, "null";
        /// Accept only clients with a key, of `client_keys` or of `foldline keys add`; implied by `client_keys`.
        require_key: bool = ValueKind::Flag, "false";
        /// Paths allowed with a mapped key besides generation, token counting and models; a final `*` matches any rest.
        mapped_paths: Vec<String> = ValueKind::Names, "";
        /// Decide and report, but forward every request unchanged.
        shadow: bool = ValueKind::Flag, "false";
        /// Share of conversations left unchanged for comparison.
        holdout: f64 = fraction(0.0, 0.9), "0";
        /// Models whose requests are forwarded unchanged; a `*` at the end matches any rest.
        bypass_models: Vec<String> = ValueKind::Names, "";
        /// Requests that offer one of these tools are forwarded unchanged.
        bypass_tools: Vec<String> = ValueKind::Names, "";
        /// Answer user messages `/compress [FOCUS]`, `/pin TEXT` and `/unpin TEXT` in the gateway.
        slash_compress: bool = ValueKind::Flag, "false";
        /// Answer requests by which clients summarise their conversation (`/compact`) with a handoff, without a model.
        answer_compactions: bool = ValueKind::Flag, "false";
        /// Set `cache_control` marks on requests to Claude that have none.
        cache_marks: bool = ValueKind::Flag, "true";
        /// Request usage in streams whose client did not, and remove it from the reply.
        force_usage: bool = ValueKind::Flag, "true";
        /// Largest request body in bytes, decompressed.
        max_body_bytes: u64 = bytes(1_000, 4_000_000_000), "100M";
        /// Memory in bytes for all request bodies in progress, including decompression; further requests are refused.
        body_memory_bytes: u64 = bytes(1_000_000, 10_000_000_000_000), "512M";
        /// Concurrent requests; further ones wait two seconds and are then refused.
        max_requests: u32 = count(1, 100_000), "512";
        /// Concurrent connections; a further one replaces a silent, slow or idle one.
        max_connections: u32 = count(1, 1_000_000), "4096";
        /// Concurrent connections per address (with IPv6 per /64 network).
        max_connections_per_address: u32 = count(1, 1_000_000), "1024";
        /// Time limit in milliseconds for reading and rewriting a request; after it the request is forwarded unchanged.
        prepare_ms: u32 = count(1, 600_000), "3000";
        /// Timeout in seconds for the headers of the first request of a connection.
        header_secs: u32 = count(1, 86_400), "30";
        /// Timeout in seconds for the headers of the next request on an idle connection.
        keep_alive_secs: u32 = count(1, 86_400), "120";
        /// Timeout in seconds for a pause in a request body, or for a client that does not read its reply.
        body_secs: u32 = count(1, 86_400), "60";
        /// Timeout in seconds for connecting to a provider.
        connect_secs: u32 = count(1, 86_400), "10";
        /// Timeout in seconds for the first byte of a provider's response.
        reply_secs: u32 = count(1, 86_400), "600";
        /// Timeout in seconds for a pause in a provider's response.
        idle_secs: u32 = count(1, 86_400), "900";
        /// Base URL of a receiver of traces and metrics (OTLP over HTTP), such as `http://127.0.0.1:4318`; null uses the `OTEL_*` variables.
        otlp_endpoint: Option<String> = ValueKind::Text, "null";
        /// Seconds that open requests have to finish when the gateway shuts down.
        shutdown_secs: u32 = count(0, 86_400), "30";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::settings::Section;

    #[test]
    fn every_row_fits_its_field() {
        assert_eq!(GatewaySettings::misfits(), Vec::<String>::new());
    }
}
