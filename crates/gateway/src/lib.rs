//! A gateway between agents and their providers: requests that would overflow their window are compacted on the way,
//! everything else passes byte for byte.
//!
//! ```no_run
//! use foldline_gateway::serve::{Gateway, GatewayConfig, serve};
//! use foldline_gateway::settings::GatewaySettings;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = GatewaySettings { slash_compress: true, ..GatewaySettings::default() };
//! let gateway = Gateway::open(&GatewayConfig { gateway: settings, ..GatewayConfig::default() })?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8787").await?;
//! serve(gateway, listener, std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
//!
//! # A tour
//!
//! - [`settings`] declares the `gateway` section of a settings file, with defaults and ranges:
//!
//!   ```
//!   use foldline_core::settings::{Section, Sections};
//!   use foldline_gateway::settings::GatewaySettings;
//!
//!   let settings: GatewaySettings = Sections::new([GatewaySettings::TABLE]).resolve(&[]).unwrap().section();
//!   assert_eq!(settings.listen.as_deref(), Some("127.0.0.1:8787"));
//!   ```
//! - [`conversation`] decides what a request becomes before it is forwarded. No HTTP.
//! - [`mcp`] has the tools for agents.
//! - [`outbound`] holds connections to providers.
//! - [`summariser`] asks a model to write a handoff.
//! - [`telemetry`] exports spans and metrics to an OpenTelemetry collector.
//! - [`serve`] is the gateway itself: HTTP in and out.

pub mod conversation;
pub mod mcp;
pub mod outbound;
mod refusal;
pub mod serve;
pub mod settings;
pub mod summariser;
pub mod telemetry;
