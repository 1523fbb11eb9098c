//! Objects in a bucket of S3, or of whatever speaks its protocol. Endpoint, region and keys come from the usual variables
//! (`AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID` …) or from the machine's role.

use super::bucket::{Bucket, CLOCK, Listed};
use super::http::Connector;
use crate::error::Fault;
use crate::object_name::{ObjectName, StoreId};
use crate::wait::Served;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{BackoffConfig, Error, ObjectStore, ObjectStoreExt, RetryConfig};
use std::time::Duration;

/// Requests that are under way at once: what takes 30 milliseconds each takes a second for five hundred.
const AT_ONCE: usize = 16;
/// How long a request may take, at least. One that waits for longer is better forwarded as it came.
const LEAST: Duration = Duration::from_secs(3);
/// Requests that are tried again, for faults that pass.
const RETRIES: usize = 2;

/// A bucket.
#[derive(Debug)]
pub(super) struct S3 {
    store: AmazonS3,
    prefix: String,
    /// As it is shown.
    place: String,
    /// Goes last: connections end while it still runs.
    served: Served,
}

impl S3 {
    pub(super) fn open(bucket: &str, prefix: &str, wait: Duration) -> Result<S3, Fault> {
        let place = if prefix.is_empty() { format!("s3://{bucket}") } else { format!("s3://{bucket}/{prefix}") };
        let limit = wait.max(LEAST);
        let connector = Connector::new(limit).map_err(|error| Fault::Other(error.to_string()))?;
        let backoff =
            BackoffConfig { init_backoff: Duration::from_millis(50), max_backoff: Duration::from_secs(1), base: 2.0 };
        let retry = RetryConfig { backoff, max_retries: RETRIES, retry_timeout: limit };
        let store = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_http_connector(connector)
            .with_retry(retry)
            .build()
            .map_err(|error| fault(&place, &error))?;
        Ok(S3 { store, prefix: prefix.to_owned(), place, served: Served::start("foldline-s3")? })
    }

    fn path(&self, below: &str) -> Path {
        if self.prefix.is_empty() { Path::from(below) } else { Path::from(format!("{}/{below}", self.prefix)) }
    }

    fn fault(&self, error: &Error) -> Fault {
        fault(&self.place, error)
    }
}

impl Bucket for S3 {
    fn put(&self, objects: Vec<(ObjectName, Vec<u8>)>) -> Result<(), Fault> {
        let puts = objects.into_iter().map(|(name, bytes)| {
            let path = self.path(&name.path());
            async move { self.store.put(&path, bytes.into()).await.map(drop) }
        });
        let all = stream::iter(puts).buffer_unordered(AT_ONCE).try_collect::<()>();
        self.served.wait(all).map_err(|error| self.fault(&error))
    }

    fn get(&self, names: &[ObjectName]) -> Result<Vec<Option<Vec<u8>>>, Fault> {
        let gets = names.iter().map(|name| {
            let path = self.path(&name.path());
            async move {
                match self.store.get(&path).await {
                    Err(Error::NotFound { .. }) => Ok(None),
                    found => Ok(Some(found?.bytes().await?.to_vec())),
                }
            }
        });
        let all = stream::iter(gets).buffered(AT_ONCE).try_collect();
        self.served.wait(all).map_err(|error| self.fault(&error))
    }

    fn delete(&self, names: &[ObjectName]) -> Result<(), Fault> {
        let paths: Vec<_> = names.iter().map(|name| Ok(self.path(&name.path()))).collect();
        let deleted = self.store.delete_stream(stream::iter(paths).boxed());
        let all = deleted.try_for_each(async |_| Ok(()));
        match self.served.wait(all) {
            // S3 does not mind, others may.
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.fault(&error)),
        }
    }

    fn list(&self, store: &StoreId, first: u8) -> Result<Vec<Listed>, Fault> {
        let folder = self.path(&store.shard(first));
        let all = self.store.list(Some(&folder)).try_filter_map(async |found| {
            let name = found.location.filename().and_then(|file| ObjectName::of_file(store, first, file));
            Ok(name.map(|name| Listed { name, written_at: found.last_modified.timestamp_millis() }))
        });
        self.served.wait(all.try_collect()).map_err(|error| self.fault(&error))
    }

    fn clock(&self, store: &StoreId) -> Result<i64, Fault> {
        let path = self.path(&format!("{}/{CLOCK}", store.folder()));
        let read = async {
            self.store.put(&path, b"\n".as_slice().into()).await?;
            Ok(self.store.head(&path).await?.last_modified.timestamp_millis())
        };
        self.served.wait(read).map_err(|error| self.fault(&error))
    }
}

/// What is the matter, in our words: those of a server repeat the id of the key and what was signed.
fn fault(place: &str, error: &Error) -> Fault {
    let place = place.to_owned();
    let told = error.to_string();
    let code = code(&told);
    if let Error::PermissionDenied { .. } | Error::Unauthenticated { .. } = error {
        return Fault::ObjectsRefused { place, why: code.unwrap_or("access is denied").to_owned() };
    }
    match (http(error), code) {
        (_, Some("NoSuchBucket")) => Fault::Objects { place, why: "there is no such bucket".into() },
        (Some(HttpErrorKind::Timeout), _) => Fault::ObjectsUnreachable { place, why: "it takes too long".into() },
        (Some(HttpErrorKind::Connect), _) => Fault::ObjectsUnreachable { place, why: "no connection".into() },
        (Some(_), _) => Fault::ObjectsUnreachable { place, why: "the connection was lost".into() },
        (None, Some(code)) => Fault::Objects { place, why: code.to_owned() },
        (None, None) => Fault::Objects { place, why: plain(error).to_owned() },
    }
}

/// The code that a server gives for what is wrong.
fn code(told: &str) -> Option<&str> {
    let (_, rest) = told.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    (code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(code)
}

fn http(error: &Error) -> Option<HttpErrorKind> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(next) = cause {
        if let Some(http) = next.downcast_ref::<HttpError>() {
            return Some(http.kind());
        }
        cause = next.source();
    }
    None
}

fn plain(error: &Error) -> &'static str {
    match error {
        Error::NotFound { .. } => "there is no such bucket",
        Error::NotSupported { .. } | Error::NotImplemented { .. } => "it cannot do what is needed",
        Error::UnknownConfigurationKey { .. } => "an AWS_… variable has a value that is not known",
        _ => "it answers with an error; check AWS_ENDPOINT_URL, AWS_REGION and the keys",
    }
}
