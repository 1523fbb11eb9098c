//! `foldline serve`: starts the gateway and runs it until it is stopped.

use crate::args::{LogFormat, LogLevel, Serve, Tuning};
use crate::failure::{Failure, Verdict};
use crate::settings::{Flag, Settings, Surroundings, model_table};
use crate::{keep, output, store_keys};
use foldline_core::policy::CacheTtl;
use foldline_gateway::serve::{self, Gateway, GatewayConfig, Load, ShownSetting, StartError, Stopped};
use foldline_store::{Keyring, shown};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Runs the command: until a signal ends it.
pub fn run(args: &Serve) -> Result<Verdict, Failure> {
    let served = serve_until_stopped(args);
    match (args.log_format, served) {
        // Whoever reads the log as JSON reads its last line so, too.
        (LogFormat::Json, Err(failure)) => {
            let line = serde_json::json!({ "level": "ERROR", "message": failure.message, "exit_code": failure.code });
            output::tell(&format!("{line}\n"));
            Err(Failure { message: String::new(), ..failure })
        }
        (_, served) => served,
    }
}

fn serve_until_stopped(args: &Serve) -> Result<Verdict, Failure> {
    let settings = super::settings(&args.tuning, flags(args))?;
    let config = config(&settings)?;
    log(args);
    serve::log_places_of_panics();
    let runtime = runtime().map_err(|error| Failure::input(format!("failed to start the runtime: {error}")))?;
    let (gateway, listener, address) = runtime.block_on(start(&config))?;
    output::print(&match args.log_format {
        LogFormat::Text => greeting(&gateway, &config, &settings, address),
        LogFormat::Json => greeting_json(&gateway, &config, &settings, address),
    })?;
    let reload = Arc::new(Notify::new());
    let files = files(&settings);
    runtime.spawn(serve::follow(gateway.clone(), files, loader(args), reload.clone()));
    let stopped = runtime.block_on(async {
        hang_up(reload)?;
        outlive_limits_of_files()?;
        let stop = stop()?;
        Ok(serve::serve(gateway, listener, stop).await)
    });
    // Work that hangs on a thread must not keep the process from ending.
    runtime.shutdown_background();
    match stopped
        .map_err(|error: std::io::Error| Failure::input(format!("failed to install signal handlers: {error}")))?
    {
        Stopped::Finished => {}
        Stopped::CutOff => tracing::warn!("some requests did not finish within gateway.shutdown_secs and were aborted"),
    }
    Ok(Verdict::Fine)
}

/// Where requests go.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Upstreams {
    /// Base address of the OpenAI API, or of one that speaks like it.
    #[arg(long, value_name = "URL")]
    pub upstream_openai: Option<String>,
    /// Base address of the Anthropic API, or of one that speaks like it.
    #[arg(long, value_name = "URL")]
    pub upstream_anthropic: Option<String>,
    /// Base address of the Gemini API, or of one that speaks like it.
    #[arg(long, value_name = "URL")]
    pub upstream_gemini: Option<String>,
}

/// The flags that stand for keys.
fn flags(args: &Serve) -> Vec<Flag> {
    let listen = args.listen.as_deref().map(|listen| flag("--listen", "gateway.listen", listen));
    listen.into_iter().chain(upstream_flags(&args.upstreams)).collect()
}

/// The same for upstreams alone.
pub fn upstream_flags(upstreams: &Upstreams) -> Vec<Flag> {
    let flags = [
        ("--upstream-openai", "gateway.upstream_openai", &upstreams.upstream_openai),
        ("--upstream-anthropic", "gateway.upstream_anthropic", &upstreams.upstream_anthropic),
        ("--upstream-gemini", "gateway.upstream_gemini", &upstreams.upstream_gemini),
    ];
    flags.into_iter().filter_map(|(name, key, value)| Some(flag(name, key, value.as_deref()?))).collect()
}

/// A flag that stands for a key.
pub fn flag(flag: &'static str, key: &'static str, value: &str) -> Flag {
    Flag { flag, key, value: value.to_owned() }
}

/// What the gateway is started with.
pub fn config(settings: &Settings) -> Result<GatewayConfig, Failure> {
    let policy = settings.policy().clone();
    let models = model_table(&policy, &Surroundings::of_process()).map_err(Failure::input)?;
    let store = keep::path_of(&settings.store);
    let keys =
        if store.is_some() { store_keys::keys(&settings.store).map_err(Failure::input)? } else { Keyring::none() };
    let limits = settings.store.limits();
    let shown = settings.resolved.entries().map(|(key, value, origin)| ShownSetting {
        key: key.to_owned(),
        value: super::config::plain(value),
        origin: origin.to_string(),
    });
    let shown = shown.collect();
    let originals = settings.store.objects();
    let (models, gateway) = (Some(models), settings.gateway.clone());
    Ok(GatewayConfig { store, limits, keys, originals, models, policy, gateway, shown })
}

/// Reads the same settings again.
fn loader(args: &Serve) -> Load {
    let tuning = Tuning {
        model: args.tuning.model.clone(),
        window: args.tuning.window.clone(),
        preset: args.tuning.preset.clone(),
        config: args.tuning.config.clone(),
        sets: args.tuning.sets.clone(),
        store: args.tuning.store.clone(),
    };
    let flags = flags(args);
    Arc::new(move || {
        let settings = super::settings(&tuning, flags.clone()).map_err(|failure| failure.message)?;
        config(&settings).map_err(|failure| failure.message)
    })
}

/// The files that settings come from.
fn files(settings: &Settings) -> Vec<PathBuf> {
    let named =
        [settings.gateway.client_keys.clone(), settings.policy().model.table.clone(), settings.store.key_file.clone()];
    settings.file.clone().into_iter().chain(named.into_iter().flatten().map(PathBuf::from)).collect()
}

/// Threads for connections. Few: they wait most of the time, and rewriting has threads of its own.
pub fn runtime() -> std::io::Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    tokio::runtime::Builder::new_multi_thread().worker_threads(cores.clamp(1, 4)).enable_all().build()
}

pub async fn start(config: &GatewayConfig) -> Result<(Arc<Gateway>, TcpListener, SocketAddr), Failure> {
    let fail = |error: StartError| {
        let hint = match &error {
            StartError::Listen { .. } => "\nhint: choose another address with --listen 127.0.0.1:PORT",
            _ => "",
        };
        Failure::input(format!("{error}{hint}"))
    };
    let gateway = Gateway::open(config).map_err(fail)?;
    let listener = serve::bind(&gateway).await.map_err(fail)?;
    let address = listener.local_addr().map_err(|error| {
        Failure::input(format!(
            "cannot read the listening address: \
     {error}"
        ))
    })?;
    Ok((gateway, listener, address))
}

/// Ends when the process is asked to.
fn stop() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// SIGHUP reads the settings again.
fn hang_up(reload: Arc<Notify>) -> std::io::Result<()> {
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hang_up.recv().await.is_some() {
            reload.notify_one();
        }
    });
    Ok(())
}

/// The signal for a write beyond what files may grow to, on every system that this runs on.
const FILE_TOO_LARGE: i32 = 25;

/// A write that exceeds a limit fails, as on a full disk. Without somebody who listens, the system would end the process.
fn outlive_limits_of_files() -> std::io::Result<()> {
    signal(SignalKind::from_raw(FILE_TOO_LARGE)).map(drop)
}

/// What a user needs to know, with the lines to copy.
fn greeting(gateway: &Gateway, config: &GatewayConfig, settings: &Settings, address: SocketAddr) -> String {
    let setup = gateway.setup();
    let store = match (&config.store, gateway.trouble()) {
        (Some(path), None) => shown(path).display().to_string(),
        (Some(path), Some(trouble)) => {
            format!("{} (cannot be opened, nothing is stored: {trouble})", shown(path).display())
        }
        (None, _) => "none: originals are not stored, and folds are lost when this process ends".to_owned(),
    };
    let file = settings.file.as_ref().map_or("built-in defaults".to_owned(), |path| path.display().to_string());
    format!(
        "foldline {version} listens on http://{address}\n\n  \
         export ANTHROPIC_BASE_URL=http://{address}\n  \
         export OPENAI_BASE_URL=http://{address}/v1\n  \
         export GOOGLE_GEMINI_BASE_URL=http://{address}\n\n\
         upstreams  {}, {} and {}\n\
         store      {store}\n\
         settings   {file}, preset {}\n\
         dashboard  http://{address}/foldline/\n\
         {}\n",
        setup.anthropic.text(),
        setup.openai.text(),
        setup.google.text(),
        config.policy.compression.preset.name(),
        caching(config, &setup.anthropic.text()),
        version = env!("CARGO_PKG_VERSION"),
    )
}

/// The same for programs, as one line.
fn greeting_json(gateway: &Gateway, config: &GatewayConfig, settings: &Settings, address: SocketAddr) -> String {
    let setup = gateway.setup();
    let line = serde_json::json!({
        "timestamp": serve::dates::iso(jiff::Timestamp::now().as_millisecond()),
        "level": "INFO",
        "message": "listening",
        "version": env!("CARGO_PKG_VERSION"),
        "address": format!("http://{address}"),
        "upstreams": {
            "anthropic": setup.anthropic.text(),
            "openai": setup.openai.text(),
            "gemini": setup.google.text(),
        },
        "store": config.store.as_ref().map(|path| shown(path).display().to_string()),
        "store_error": gateway.trouble(),
        "settings": settings.file.as_ref().map(|path| path.display().to_string()),
        "preset": config.policy.compression.preset.name(),
        "cache_marks": config.gateway.cache_marks,
    });
    format!("{line}\n")
}

/// The status of prompt caching: marks are set for Claude where the client sets none.
fn caching(config: &GatewayConfig, upstream: &str) -> String {
    if !config.gateway.cache_marks {
        return "Prompt caching: left to the client (gateway.cache_marks is off)".to_owned();
    }
    let via = match upstream {
        _ if upstream.contains("openrouter.ai") => "OpenRouter",
        _ if upstream.contains("api.anthropic.com") => "Anthropic",
        other => other,
    };
    let ttl = match config.policy.model.cache_ttl {
        CacheTtl::FiveMinutes => "5m",
        CacheTtl::OneHour => "1h",
    };
    format!("💾 Prompt caching: ENABLED (Claude via {via}, {ttl} TTL)")
}

/// Logs go to standard error.
fn log(args: &Serve) {
    let level = match args.log {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    // Other crates' lines may show headers and bytes; ours never do.
    let ours = Targets::new().with_target("foldline", level);
    let lines = || fmt::layer().with_writer(std::io::stderr).with_target(false);
    let lines = match args.log_format {
        LogFormat::Text => lines().boxed(),
        LogFormat::Json => lines().json().flatten_event(true).with_current_span(false).with_span_list(false).boxed(),
    };
    tracing_subscriber::registry().with(lines).with(ours).init();
}
