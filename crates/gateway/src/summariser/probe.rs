//! Checks that an endpoint is reachable and lists its model, which costs nothing.

use super::classify;
use super::endpoint::Endpoint;
use crate::outbound::Outbound;
use bytes::Bytes;
use foldline_core::summary::{Failure, FailureClass};
use http::Request;
use http_body_util::{BodyExt, Empty, Limited};
use serde_json::Value;
use std::time::Duration;

/// What a look at an endpoint found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// Whether the model is on its list; none when it has no list.
    pub knows_model: Option<bool>,
    /// The window that it states for the model.
    pub window: Option<u32>,
}

/// Servers that take longer to list their models are not well.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest list that is read.
const LONGEST_LIST: usize = 8 << 20;

/// Looks at an endpoint.
pub async fn probe(outbound: &Outbound, endpoint: &Endpoint) -> Result<Probe, Failure> {
    tokio::time::timeout(PATIENCE, look(outbound, endpoint)).await.unwrap_or_else(|_| {
        Err(Failure::new(FailureClass::Timeout, &format!("no answer within {} s", PATIENCE.as_secs())))
    })
}

async fn look(outbound: &Outbound, endpoint: &Endpoint) -> Result<Probe, Failure> {
    let broken = |words: &str| Failure::new(FailureClass::Network, words);
    let mut request =
        Request::get(endpoint.models()).body(Empty::<Bytes>::new()).map_err(|e| broken(&e.to_string()))?;
    *request.headers_mut() = endpoint.credentials();
    let response = outbound.send(request).await.map_err(|error| broken(&error.to_string()))?;
    let status = response.status();
    let body = Limited::new(response.into_body(), LONGEST_LIST).collect().await.map_err(|e| broken(&e.to_string()))?;
    let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    if matches!(status.as_u16(), 404 | 405) {
        return Ok(Probe::default());
    }
    if !status.is_success() {
        return Err(classify::of_response(status.as_u16(), &endpoint.without_key(&body)));
    }
    Ok(read(&body, &endpoint.model))
}

fn read(body: &str, model: &str) -> Probe {
    let Ok(list) = serde_json::from_str::<Value>(body) else {
        return Probe::default();
    };
    let Some(models) = list.get("data").or_else(|| list.get("models")).and_then(Value::as_array) else {
        return Probe::default();
    };
    let named = |entry: &&Value| {
        ["id", "name", "model"].iter().any(|field| entry.get(field).and_then(Value::as_str) == Some(model))
    };
    // A server with one model serves it under any name.
    let own = models.iter().find(named).or(models.first().filter(|_| models.len() == 1));
    let window = own.and_then(|entry| {
        [
            "/meta/n_ctx",
            "/max_model_len",
            "/context_length",
            "/context_window",
            "/max_input_tokens",
            "/meta/n_ctx_train",
        ]
        .iter()
        .find_map(|place| u32::try_from(entry.pointer(place)?.as_u64()?).ok())
    });
    Probe { knows_model: Some(own.is_some()), window }
}
