//! The gateway: state shared by all requests.

use super::answer::Refusal;
use super::budget::MemoryBudget;
use super::identity::AcceptedTokens;
use super::mapped_keys::ObjectOwners;
use super::metrics::Metrics;
use super::pages::Visitors;
use super::readiness::Readiness;
use super::setup::{self, Setup, SetupError};
use super::stored_keys::StoredKeys;
use crate::conversation::{ConversationSettings, Conversations, CredentialId, Mode, Rewriter, Timestamp, Totals};
use crate::outbound::{Outbound, OutboundError, OutboundSettings};
use crate::settings::GatewaySettings;
use crate::telemetry::{Exporter, Spans, Target, TargetError};
use arc_swap::ArcSwap;
use foldline_core::Policy;
use foldline_core::models::ModelTable;
use foldline_store::{KeyUsage, Keyring, Limits, ObjectPlace, StoreSettings};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Settings, with what has to be read from files for them.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// When to compact and how far.
    pub policy: Policy,
    /// How to serve.
    pub gateway: GatewaySettings,
    /// What is known about models; the embedded table when not given.
    pub models: Option<ModelTable>,
    /// The file of the store; without one nothing outlives the process.
    pub store: Option<PathBuf>,
    /// How much it keeps, and for how long.
    pub limits: Limits,
    /// What it is encrypted with.
    pub keys: Keyring,
    /// Where its large texts are; in the store itself when nowhere else.
    pub originals: Option<ObjectPlace>,
    /// Settings for the dashboard; empty if their origin is unknown.
    pub shown: Vec<ShownSetting>,
}

/// A setting in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSetting {
    /// Its key.
    pub key: String,
    /// Its value, as a person would type it.
    pub value: String,
    /// Where it comes from.
    pub origin: String,
}

impl Default for GatewayConfig {
    fn default() -> GatewayConfig {
        GatewayConfig {
            policy: Policy::default(),
            gateway: GatewaySettings::default(),
            models: None,
            store: None,
            limits: StoreSettings::default().limits(),
            keys: Keyring::none(),
            originals: None,
            shown: Vec::new(),
        }
    }
}

/// What all requests share.
pub struct Gateway {
    setup: ArcSwap<Setup>,
    pub(super) outbound: Outbound,
    pub(super) conversations: Conversations,
    /// The conversations, on the way of a request.
    pub(super) rewriter: Arc<dyn Rewriter>,
    pub(super) metrics: Metrics,
    /// Told when something was reported that the next decision rests on.
    pub(super) reported: Notify,
    /// Permits for requests.
    places: Arc<Semaphore>,
    /// Permits for requests whose bodies are streamed through.
    uploads: Arc<Semaphore>,
    /// Memory for request bodies.
    pub(super) memory: Arc<MemoryBudget>,
    /// Whose the objects are that providers keep under keys which clients share.
    pub(super) owners: ObjectOwners,
    /// Whose the tokens are that providers have accepted.
    pub(super) accepted: AcceptedTokens,
    /// Client keys of the store.
    pub(super) stored_keys: Arc<StoredKeys>,
    /// Signed-in browsers.
    pub(super) visitors: Visitors,
    /// Permits for live-update connections.
    pub(super) viewers: Arc<Semaphore>,
    shown: ArcSwap<Vec<ShownSetting>>,
    /// Whether the store can be written.
    pub(super) readiness: Readiness,
    /// Permits for blocking work.
    pub(super) workers: Arc<Semaphore>,
    /// Permits for background folds.
    pub(super) folds: Arc<Semaphore>,
    /// Set when a provider refused a request because it asks for usage in a stream.
    pub(super) usage_refused: AtomicBool,
    /// False during shutdown.
    pub(super) is_open: AtomicBool,
    /// The address that connections come in at, once there is one.
    bound: OnceLock<SocketAddr>,
    /// Where the settings of the start wanted to listen.
    listen: Option<String>,
    /// Where the spans of requests end, if they are exported.
    pub(super) spans: Option<Arc<Spans>>,
    exporter: Mutex<Option<Exporter>>,
}

/// Why a gateway cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The settings.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Connections to providers.
    #[error("failed to set up connections to providers: {0}")]
    Outbound(#[from] OutboundError),
    /// Where telemetry goes.
    #[error(transparent)]
    Telemetry(#[from] TargetError),
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Folds at once beside the requests. Each holds its conversation in memory for as long as a model takes to write; a
/// conversation that finds no place tries again with its next request.
const MOST_FOLDS: usize = 64;

/// Live pages at once: each looks at sessions about once a second.
const MOST_VIEWERS: usize = 32;

/// The part of all places that requests have beside them whose bodies are passed on while they come.
const UPLOADS_PART: usize = 4;

/// How long a request waits for a permit before it is refused.
const WAIT_FOR_PLACE: Duration = Duration::from_secs(2);

impl Gateway {
    /// Opens the store and makes everything ready. Must be called inside a runtime.
    pub fn open(config: &GatewayConfig) -> Result<Arc<Gateway>, StartError> {
        Gateway::open_with(config, |conversations| Arc::new(conversations))
    }

    /// Makes everything ready, with requests rewritten by what `wrap` makes of the conversations.
    pub fn open_with(
        config: &GatewayConfig,
        wrap: impl FnOnce(Conversations) -> Arc<dyn Rewriter>,
    ) -> Result<Arc<Gateway>, StartError> {
        let mut setup = Setup::of(&config.policy, &config.gateway)?;
        if config.gateway.require_key && config.gateway.client_keys.is_none() && config.store.is_none() {
            return Err(SetupError::NoStore.into());
        }
        let stored_keys = Arc::<StoredKeys>::default();
        setup.keys.attach(stored_keys.clone());
        let outbound = Outbound::new(OutboundSettings {
            connect_timeout: Duration::from_secs(u64::from(config.gateway.connect_secs)),
            ..OutboundSettings::default()
        })?;
        // A store that cannot be opened must not keep requests from their providers.
        let conversations = Conversations::open_or_wait(conversation_settings(config));
        if let Err(error) = stored_keys.follow(conversations.store(), now().0) {
            tracing::warn!(%error, "failed to read client keys from the store; tried again every second");
        }
        // A rewrite keeps a core busy: more at once than a few per core only take memory from each other.
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let metrics = Metrics::new(conversations.clone());
        let exporter = telemetry_target(&config.gateway)?.map(|target| Exporter::new(target, outbound.clone()));
        let most = config.gateway.max_requests as usize;
        Ok(Arc::new(Gateway {
            uploads: Arc::new(Semaphore::new((most / UPLOADS_PART).max(1))),
            memory: MemoryBudget::new(config.gateway.body_memory_bytes, metrics.body_bytes.clone()),
            places: Arc::new(Semaphore::new(config.gateway.max_requests as usize)),
            setup: ArcSwap::from_pointee(setup),
            outbound,
            metrics,
            readiness: Readiness::default(),
            visitors: Visitors::default(),
            viewers: Arc::new(Semaphore::new(MOST_VIEWERS)),
            shown: ArcSwap::from_pointee(config.shown.clone()),
            accepted: AcceptedTokens::default(),
            stored_keys,
            owners: ObjectOwners::default(),
            reported: Notify::new(),
            rewriter: wrap(conversations.clone()),
            conversations,
            workers: Arc::new(Semaphore::new(2 * cores)),
            folds: Arc::new(Semaphore::new(MOST_FOLDS)),
            usage_refused: AtomicBool::new(false),
            is_open: AtomicBool::new(true),
            bound: OnceLock::new(),
            listen: config.gateway.listen.clone(),
            spans: exporter.as_ref().and_then(Exporter::spans),
            exporter: Mutex::new(exporter),
        }))
    }

    /// Why the gateway runs without its store, if it does.
    pub fn trouble(&self) -> Option<String> {
        self.conversations.trouble()
    }

    /// Sums over all that passed since the start.
    pub fn totals(&self) -> Totals {
        self.conversations.totals()
    }

    /// Books what a client key of the store used.
    pub(super) fn book(&self, credential: CredentialId, usage: &KeyUsage) {
        if let Some(name) = self.stored_keys.book(credential, usage, now().0) {
            self.metrics.key_used(&name, usage);
        }
    }

    /// What exports telemetry, for the first who asks.
    pub(super) fn take_exporter(&self) -> Option<Exporter> {
        self.exporter.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The settings in force.
    pub fn setup(&self) -> Arc<Setup> {
        self.setup.load_full()
    }

    /// The settings for the dashboard.
    pub(super) fn shown_settings(&self) -> Arc<Vec<ShownSetting>> {
        self.shown.load_full()
    }

    /// The address that the gateway listens on, once it does.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.bound.get().copied()
    }

    /// Other settings from the next request on. On an error the old ones stay in force.
    ///
    /// Store and limits of concurrency stay what they were at the start. Another address is refused, and so is to admit
    /// everybody where only known clients came in: what is open to whom follows from the socket, which stays.
    pub fn reload(&self, config: &GatewayConfig) -> Result<(), SetupError> {
        let mut setup = Setup::of(&config.policy, &config.gateway)?;
        setup.keys.attach(self.stored_keys.clone());
        let wanted = setup.listen()?;
        if config.gateway.listen != self.listen {
            let now = setup::address(self.listen.as_deref())?;
            if now != wanted {
                return Err(SetupError::Moved { now: self.bound.get().copied().unwrap_or(now), wanted });
            }
        }
        if let Some(bound) = self.bound.get() {
            setup.may_serve(*bound)?;
        }
        if setup.keys.is_open() && !self.setup().keys.is_open() {
            return Err(SetupError::Opened);
        }
        self.conversations.set_keys(&config.keys)?;
        self.conversations.reload(conversation_settings(config));
        self.setup.store(Arc::new(setup));
        self.shown.store(Arc::new(config.shown.clone()));
        self.usage_refused.store(false, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    }

    /// Connections come in at this address.
    pub(super) fn is_bound_to(&self, address: SocketAddr) {
        let _first = self.bound.set(address);
    }

    /// A permit for a request; waits a moment for one.
    pub(super) async fn acquire(&self) -> Result<RequestPermit, Refusal> {
        self.acquire_from(&self.places).await
    }

    /// A permit for a request whose body is streamed through. Such uploads may take long and have permits of their own.
    pub(super) async fn acquire_for_upload(&self) -> Result<RequestPermit, Refusal> {
        self.acquire_from(&self.uploads).await
    }

    async fn acquire_from(&self, places: &Arc<Semaphore>) -> Result<RequestPermit, Refusal> {
        let wait = tokio::time::timeout(WAIT_FOR_PLACE, places.clone().acquire_owned());
        match wait.await {
            Ok(Ok(permit)) => Ok(RequestPermit::new(permit, &self.metrics)),
            _ => Err(Refusal::TooManyRequests { limit: self.setup().gateway.max_requests }),
        }
    }
}

/// Where telemetry goes. Variables that are meant for other programs on this machine must not keep this one from
/// starting.
fn telemetry_target(settings: &GatewaySettings) -> Result<Option<Target>, TargetError> {
    match Target::of(settings.otlp_endpoint.as_deref(), &|name| std::env::var(name).ok()) {
        Err(error) if settings.otlp_endpoint.is_none() => {
            tracing::warn!(%error, "no telemetry is exported");
            Ok(None)
        }
        target => target,
    }
}

/// What conversations are told.
fn conversation_settings(config: &GatewayConfig) -> ConversationSettings {
    let gateway = &config.gateway;
    ConversationSettings {
        policy: config.policy.clone(),
        models: config.models.clone(),
        store: config.store.clone(),
        limits: config.limits,
        keys: config.keys.clone(),
        originals: config.originals.clone(),
        mode: if gateway.shadow { Mode::Shadow } else { Mode::Live },
        holdout: gateway.holdout,
        bypass_models: gateway.bypass_models.clone(),
        bypass_tools: gateway.bypass_tools.clone(),
        ..ConversationSettings::default()
    }
}

/// A request's permit, released when its reply has ended.
pub(super) struct RequestPermit {
    _permit: OwnedSemaphorePermit,
    open: prometheus_client::metrics::gauge::Gauge,
}

impl RequestPermit {
    fn new(permit: OwnedSemaphorePermit, metrics: &Metrics) -> RequestPermit {
        let open = metrics.open_requests.clone();
        open.inc();
        RequestPermit { _permit: permit, open }
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.open.dec();
    }
}

/// The time, for those who take it as a value.
pub(super) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
