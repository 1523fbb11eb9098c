//! Where telemetry goes: the setting `gateway.otlp_endpoint` and the variables that every OpenTelemetry SDK reads
//! (<https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>).

use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::uri::{Scheme, Uri};
use std::time::Duration;

/// Reads a variable of the environment.
pub type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// Where to export, and as whom.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where spans go; `None` when nobody wants them.
    pub(super) traces: Option<Endpoint>,
    /// Where metrics go.
    pub(super) metrics: Option<Endpoint>,
    /// Attributes of everything that is exported.
    pub(super) resource: Vec<(String, String)>,
    /// How long spans wait for a batch to fill.
    pub(super) delay: Duration,
    /// How often metrics are exported.
    pub(super) interval: Duration,
    /// How long a receiver may take.
    pub(super) timeout: Duration,
}

/// An address that a signal is sent to.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) uri: Uri,
    /// May hold credentials.
    pub(super) headers: HeaderMap,
}

/// Why nothing can be exported there. Names no value: it may hold credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Not an address.
    #[error("{0}: expected an http or https URL, such as http://127.0.0.1:4318")]
    Address(String),
    /// Not a list of headers.
    #[error("{0}: expected NAME=VALUE,NAME=VALUE, with values percent-encoded")]
    Headers(String),
    /// A protocol that is not spoken here.
    #[error("{name}: {value} is not supported; only http/protobuf is (port 4318 of a collector)")]
    Protocol {
        /// The variable.
        name: String,
        /// What it says.
        value: String,
    },
}

/// A signal, and how its variables are called.
struct Signal {
    name: &'static str,
    path: &'static str,
}

const TRACES: Signal = Signal { name: "TRACES", path: "v1/traces" };
const METRICS: Signal = Signal { name: "METRICS", path: "v1/metrics" };

impl Target {
    /// Reads the setting and the environment; `None` when nobody asks for telemetry. The setting wins over
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn of(setting: Option<&str>, variables: Variables<'_>) -> Result<Option<Target>, TargetError> {
        let read = |name: &str| variables(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        if read("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let (traces, metrics) = (endpoint(&TRACES, setting, &read)?, endpoint(&METRICS, setting, &read)?);
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let millis = |name: &str, usual| read(name).and_then(|text| text.parse().ok()).unwrap_or(usual);
        Ok(Some(Target {
            traces,
            metrics,
            resource: resource(&read),
            delay: Duration::from_millis(millis("OTEL_BSP_SCHEDULE_DELAY", 5_000)),
            interval: Duration::from_millis(millis("OTEL_METRIC_EXPORT_INTERVAL", 60_000).max(100)),
            timeout: Duration::from_millis(millis("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000).max(1)),
        }))
    }
}

fn endpoint(
    signal: &Signal,
    setting: Option<&str>,
    read: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Endpoint>, TargetError> {
    if read(&format!("OTEL_{}_EXPORTER", signal.name)).is_some_and(|value| value == "none") {
        return Ok(None);
    }
    let own = |what: &str| format!("OTEL_EXPORTER_OTLP_{}_{what}", signal.name);
    let all = |what: &str| format!("OTEL_EXPORTER_OTLP_{what}");
    // What is set for one signal is the whole address; what is set for all of them is where their paths begin.
    let (name, address) = if let Some(address) = setting {
        ("gateway.otlp_endpoint".to_owned(), below(address, signal.path))
    } else if let Some(address) = read(&own("ENDPOINT")) {
        (own("ENDPOINT"), address)
    } else if let Some(address) = read(&all("ENDPOINT")) {
        (all("ENDPOINT"), below(&address, signal.path))
    } else {
        return Ok(None);
    };
    if setting.is_none() {
        for name in [own("PROTOCOL"), all("PROTOCOL")] {
            match read(&name) {
                Some(value) if value != "http/protobuf" => return Err(TargetError::Protocol { name, value }),
                Some(_) => break,
                None => {}
            }
        }
    }
    let is_http = |uri: &Uri| uri.scheme() == Some(&Scheme::HTTP) || uri.scheme() == Some(&Scheme::HTTPS);
    let uri = address.parse::<Uri>().ok().filter(|uri| is_http(uri) && uri.host().is_some_and(|host| !host.is_empty()));
    let uri = uri.ok_or(TargetError::Address(name))?;
    let named = [own("HEADERS"), all("HEADERS")].into_iter().find_map(|name| read(&name).map(|value| (name, value)));
    let headers = match named {
        Some((name, value)) => headers(&value).ok_or(TargetError::Headers(name))?,
        None => HeaderMap::new(),
    };
    Ok(Some(Endpoint { uri, headers }))
}

fn below(address: &str, path: &str) -> String {
    format!("{}/{path}", address.trim_end_matches('/'))
}

fn headers(text: &str) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let mut value = HeaderValue::from_str(&decoded(value.trim())?).ok()?;
        value.set_sensitive(true);
        headers.insert(name.trim().parse::<HeaderName>().ok()?, value);
    }
    Some(headers)
}

/// Percent-encoded text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

/// Attributes of this process; those of the environment win, the name of the service most of all.
fn resource(read: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let mut attributes = vec![
        ("service.name".to_owned(), "foldline".to_owned()),
        ("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        (
            "service.instance.id".to_owned(),
            foldline_store::random_id().iter().map(|byte| format!("{byte:02x}")).collect(),
        ),
    ];
    let given = read("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let given = given.split(',').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        Some((key.trim().to_owned(), decoded(value.trim())?))
    });
    let name = read("OTEL_SERVICE_NAME").map(|name| ("service.name".to_owned(), name));
    for (key, value) in given.chain(name) {
        attributes.retain(|(known, _)| *known != key);
        attributes.push((key, value));
    }
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(setting: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<Target>, TargetError> {
        let given = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Target::of(setting, &given)
    }

    fn address(endpoint: &Option<Endpoint>) -> String {
        endpoint.as_ref().map(|endpoint| endpoint.uri.to_string()).unwrap_or_default()
    }

    #[test]
    fn nothing_is_exported_unless_somebody_says_where() {
        assert!(read(None, &[]).unwrap().is_none());
        assert!(read(None, &[("OTEL_SERVICE_NAME", "x"), ("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap().is_none());
        let off = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"), ("OTEL_SDK_DISABLED", "true")];
        assert!(read(None, &off).unwrap().is_none());
    }

    #[test]
    fn addresses_follow_the_specification() {
        let both = read(None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/base/")]).unwrap().unwrap();
        assert_eq!(address(&both.traces), "http://collector:4318/base/v1/traces");
        assert_eq!(address(&both.metrics), "http://collector:4318/base/v1/metrics");
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces.example/ingest"),
            ("OTEL_METRICS_EXPORTER", "none"),
        ];
        let one = read(None, &variables).unwrap().unwrap();
        assert_eq!((address(&one.traces).as_str(), one.metrics.is_none()), ("https://traces.example/ingest", true));
        let setting = read(Some("http://127.0.0.1:1"), &variables).unwrap().unwrap();
        assert_eq!(address(&setting.traces), "http://127.0.0.1:1/v1/traces");
    }

    #[test]
    fn headers_are_decoded_and_not_printed() {
        let secret = ["bearer", "%20", "t0ken"].concat();
        let given = format!("authorization={secret}, x-tenant=a");
        let variables =
            [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), ("OTEL_EXPORTER_OTLP_HEADERS", given.as_str())];
        let target = read(None, &variables).unwrap().unwrap();
        assert_eq!(target.traces.as_ref().unwrap().headers["authorization"], "bearer t0ken");
        assert_eq!(target.metrics.as_ref().unwrap().headers["x-tenant"], "a");
        assert!(!format!("{target:?}").contains("t0ken"));
    }

    #[test]
    fn errors_say_which_variable_and_no_value() {
        let bad = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:secret@"), ("x", "")];
        let error = read(None, &bad).unwrap_err().to_string();
        assert!(error.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && !error.contains("secret"), "{error}");
        let grpc = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
        assert!(read(None, &grpc).unwrap_err().to_string().contains("http/protobuf"));
        assert!(read(Some("http://c:4318"), &grpc).is_ok(), "the setting says what it means");
        let headers = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), ("OTEL_EXPORTER_OTLP_HEADERS", "secret")];
        let error = read(None, &headers).unwrap_err().to_string();
        assert!(error.contains("OTEL_EXPORTER_OTLP_HEADERS") && !error.contains("secret"), "{error}");
        assert!(read(Some("127.0.0.1:4318"), &[]).is_err());
    }

    #[test]
    fn the_environment_names_the_service() {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"),
            ("OTEL_SERVICE_NAME", "edge"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=a%20b"),
        ];
        let target = read(None, &variables).unwrap().unwrap();
        let of = |key: &str| {
            let found: Vec<_> = target.resource.iter().filter(|(known, _)| known == key).collect();
            assert_eq!(found.len(), 1, "{key}");
            found[0].1.clone()
        };
        assert_eq!((of("service.name").as_str(), of("deployment.environment.name").as_str()), ("edge", "a b"));
        assert!(!of("service.instance.id").is_empty());
    }
}
