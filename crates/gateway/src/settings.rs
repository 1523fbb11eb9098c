//! The `gateway` section of the settings.

use foldline_core::section;
use foldline_core::settings::{Kind, bytes, count, fraction};

section! {
    /// The gateway between agents and their providers.
    GatewaySettings = "gateway" {
        /// Address to listen on; another than loopback needs `client_keys`.
        listen: Option<String> = Kind::Text, "127.0.0.1:8787";
        /// Base address of the OpenAI API, or of one that speaks like it.
        upstream_openai: Option<String> = Kind::Text, "https://api.openai.com/v1";
        /// Base address of the Anthropic API, or of one that speaks like it.
        upstream_anthropic: Option<String> = Kind::Text, "https://api.anthropic.com";
        /// Base address of the Gemini API, or of one that speaks like it.
        upstream_gemini: Option<String> = Kind::Text, "https://generativelanguage.googleapis.com";
        /// Host names that clients may use beside loopback's and the address reached; `*.x` for names under x, a star for all.
        hosts: Vec<String> = Kind::Names, "";
        /// Origins of web pages, such as `https://app.example`, that may use the gateway beside this machine's; a star for all.
        origins: Vec<String> = Kind::Names, "";
        /// File with the keys of clients, one a line, and the upstream keys to send in their place; null admits all.
        client_keys: Option<String> = Kind::Text, "null";
        /// Paths that pass under a mapped key beside generation, counting and models; a star at the end stands for any rest.
        mapped_paths: Vec<String> = Kind::Names, "";
        /// Decide and report, but forward every request as it came.
        shadow: bool = Kind::Flag, "false";
        /// Share of conversations that is left untouched, to compare with.
        holdout: f64 = fraction(0.0, 0.9), "0";
        /// Models whose requests pass untouched; a star at the end stands for any rest.
        bypass_models: Vec<String> = Kind::Names, "";
        /// Requests that offer one of these tools pass untouched.
        bypass_tools: Vec<String> = Kind::Names, "";
        /// User messages that are exactly `/compress` (and a focus), `/pin …` or `/unpin …` are answered by the gateway.
        slash_compress: bool = Kind::Flag, "false";
        /// Requests by which clients have their conversation summarised (`/compact`) are answered with a handoff, without a model.
        answer_compactions: bool = Kind::Flag, "false";
        /// Set cache marks on requests to Claude that have none.
        cache_marks: bool = Kind::Flag, "true";
        /// Ask for usage in streams that do not report it, and take that part out of the reply again.
        force_usage: bool = Kind::Flag, "true";
        /// Largest request body, in bytes, unpacked.
        max_body_bytes: u64 = bytes(1_000, 4_000_000_000), "100M";
        /// Memory in bytes that all request bodies in flight may take, unpacking included; further ones are refused.
        body_memory_bytes: u64 = bytes(1_000_000, 10_000_000_000_000), "512M";
        /// Requests that are served at once; further ones wait a moment and are then refused.
        max_requests: u32 = count(1, 100_000), "512";
        /// Connections that are open at once; a further one takes the place of the one that has waited longest.
        max_connections: u32 = count(1, 1_000_000), "4096";
        /// Connections that are open at once from one address (one network of 64 bits with IPv6).
        max_connections_per_address: u32 = count(1, 1_000_000), "1024";
        /// Milliseconds that reading and rewriting a request may take before it is forwarded as it came.
        prepare_ms: u32 = count(1, 600_000), "3000";
        /// Seconds from the opening of a connection within which the headers of its first request must have come.
        header_secs: u32 = count(1, 86_400), "30";
        /// Seconds from the end of a reply within which the headers of the connection's next request must have come.
        keep_alive_secs: u32 = count(1, 86_400), "120";
        /// Longest pause in seconds within a request body, or of a client that does not read its reply.
        body_secs: u32 = count(1, 86_400), "60";
        /// Seconds within which a connection to a provider must stand.
        connect_secs: u32 = count(1, 86_400), "10";
        /// Seconds within which a provider must begin to answer.
        reply_secs: u32 = count(1, 86_400), "600";
        /// Longest silence in seconds within a reply.
        idle_secs: u32 = count(1, 86_400), "900";
        /// Seconds that open requests get to finish when the gateway is told to stop.
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
