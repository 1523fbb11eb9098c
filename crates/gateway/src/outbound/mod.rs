//! Connections to providers: TLS, proxies, certificates, a pool.
