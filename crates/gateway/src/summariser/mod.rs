//! Asks a model to write a handoff: dialects, streaming, time limits, retries.
