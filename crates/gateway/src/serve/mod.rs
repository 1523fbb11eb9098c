//! The gateway: routes, streams, limits, operations.
