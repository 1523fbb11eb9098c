//! Reloads settings when their files change and on SIGHUP.

use super::gateway::{Gateway, GatewayConfig};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tracing::{error, info};

/// Reads all settings again. The error is for people.
pub type Load = Arc<dyn Fn() -> Result<GatewayConfig, String> + Send + Sync>;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Follows `files` and reads the settings again when one changes or `asked` is told so. Never ends.
pub async fn follow(gateway: Arc<Gateway>, files: Vec<PathBuf>, load: Load, asked: Arc<tokio::sync::Notify>) {
    let mut seen = look(&files).await;
    loop {
        let forced = tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => false,
            () = asked.notified() => true,
        };
        let found = look(&files).await;
        if forced || found != seen {
            seen = found;
            reload(&gateway, load.clone()).await;
        }
    }
}

async fn reload(gateway: &Arc<Gateway>, load: Load) {
    let worker = gateway.clone();
    let done = tokio::task::spawn_blocking(move || {
        let config = load()?;
        worker.reload(&config).map_err(|error| error.to_string())
    });
    match done.await.unwrap_or_else(|_| Err("failed to read the settings".to_owned())) {
        Ok(()) => {
            gateway.metrics.reload("done");
            info!("settings reloaded");
        }
        Err(error) => {
            gateway.metrics.reload("refused");
            error!(error, "invalid settings; the previous settings stay in effect");
        }
    }
}

/// When each file was last written, and its length.
async fn look(files: &[PathBuf]) -> Vec<Option<(SystemTime, u64)>> {
    let mut seen = Vec::with_capacity(files.len());
    for file in files {
        let found = tokio::fs::metadata(file).await.ok();
        seen.push(found.and_then(|found| Some((found.modified().ok()?, found.len()))));
    }
    seen
}
