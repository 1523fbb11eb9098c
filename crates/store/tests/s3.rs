//! The contract with all texts in a bucket of a server that speaks S3's protocol.
//!
//! Keys come from variables, which a process cannot change for itself: each test runs this binary once more with them.
#![cfg(all(unix, feature = "object-store"))]
#![allow(missing_docs, clippy::unwrap_used)]

mod contract;
mod support;

use foldline_script::s3::S3Server;
use std::process::{Command, Output};

/// Says to tests of [`inside`] that there is a server.
const SERVED: &str = "FOLDLINE_S3_SERVED";

/// Runs tests of [`inside`] with variables.
fn run(tests: &[&str], variables: &[(&str, String)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(tests).args(["--test-threads=4", "--nocapture"]);
    for name in ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3"] {
        command.env_remove(name);
    }
    command.env(SERVED, "yes").envs(variables.iter().map(|(name, value)| (name, value))).output().unwrap()
}

fn passed(output: &Output) {
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && !told.contains("running 0 tests"), "{told}");
}

#[test]
fn the_contract_holds() {
    let Some(server) = S3Server::start().unwrap() else { return };
    passed(&run(&["inside::", "--skip", "inside::faults"], &server.variables()));
}

#[test]
fn a_wrong_key_is_told_without_it() {
    let Some(server) = S3Server::start().unwrap() else { return };
    let [endpoint, region, _, secret] = server.variables();
    let wrong = ("AWS_ACCESS_KEY_ID", format!("wrong{}", std::process::id()));
    passed(&run(&["--exact", "inside::faults::access_is_refused"], &[endpoint, region, wrong, secret]));
}

#[test]
fn a_server_that_is_away_is_told() {
    let Some(server) = S3Server::start().unwrap() else { return };
    let [_, region, id, secret] = server.variables();
    let nobody = ("AWS_ENDPOINT_URL", "http://127.0.0.1:1".to_owned());
    passed(&run(&["--exact", "inside::faults::nobody_answers"], &[nobody, region, id, secret]));
}

/// What runs where the variables are set; elsewhere nothing is tested here.
mod inside {
    use super::contract::{self, Place};
    use foldline_script::s3::S3Server;
    use foldline_store::{Keyring, ObjectPlace, Opening, Store};

    pub(super) fn is_served() -> bool {
        std::env::var_os(super::SERVED).is_some()
    }

    pub(super) fn all_of(prefix: &str) -> Option<ObjectPlace> {
        Some(ObjectPlace { url: format!("s3://{}/{prefix}", S3Server::BUCKET), min_bytes: 0 })
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        Box::new(move |limits| {
            let originals = all_of("of/foldline");
            Store::open(&folder.path().join("originals.db"), Opening { limits, keys: keys.clone(), originals }).unwrap()
        })
    }

    macro_rules! where_served {
        ($place:expr; $($check:ident)*) => {
            $(#[test] fn $check() { if is_served() { crate::contract::$check($place()); } })*
        };
    }

    contract::checks!(where_served, place);

    /// The same beside a database.
    #[cfg(feature = "postgres")]
    mod database {
        use super::super::contract::{self, Place};
        use super::{all_of, is_served};
        use foldline_script::postgres::Postgres;
        use foldline_store::{Opening, Store};

        fn place() -> Option<Place> {
            let server = Postgres::shared().unwrap()?;
            let url = server.url(&server.database().unwrap());
            Some(Box::new(move |limits| {
                let _stays = &server;
                Store::open(&url, Opening { limits, originals: all_of("of/nodes"), ..Opening::default() }).unwrap()
            }))
        }

        macro_rules! where_both_are {
            ($place:expr; $($check:ident)*) => {
                $(#[test] fn $check() {
                    if let Some(place) = is_served().then($place).flatten() {
                        crate::contract::$check(place);
                    }
                })*
            };
        }

        contract::checks!(where_both_are, place);
    }

    /// What becomes of objects.
    mod objects {
        use super::{all_of, is_served};
        use crate::support::{NOW, found, new, noise};
        use foldline_store::{Cleaning, Forget, Forgotten, Opening, Store, Whose};
        use foldline_transcript::recall::Handle;

        #[test]
        fn what_is_forgotten_is_deleted_and_what_is_needed_is_not_swept() {
            if !is_served() {
                return;
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("originals.db");
            let store = Store::open(&path, Opening { originals: all_of(""), ..Opening::default() }).unwrap();
            store.probe().unwrap();
            let texts: Vec<String> = (0..40).map(|seed| noise(seed, 5_000)).collect();
            let batch: Vec<_> = texts.iter().map(|text| new(text, "")).collect();
            store.put(NOW, "a", &batch[..30]).unwrap();
            store.put(NOW, "b", &batch[30..]).unwrap();
            assert_eq!(store.vacuum().unwrap(), 0);
            // A copy of the file still has the rows: that shows whether the objects are there.
            drop(store);
            let copy = folder.path().join("copy.db");
            std::fs::copy(&path, &copy).unwrap();
            let open = |path| Store::open(path, Opening { originals: all_of(""), ..Opening::default() }).unwrap();
            let (store, copy) = (open(&path), open(&copy));
            let forget = Forget { whose: Whose::Namespace("a"), what: Forgotten::All };
            assert_eq!(store.forget(&forget, Cleaning::Gentle).unwrap().originals, 30);
            for text in &texts[..30] {
                let error = copy.get(NOW, "a", Handle::of(text)).unwrap_err();
                assert!(matches!(error.fault, foldline_store::Fault::MissingObject(_)), "{error}");
            }
            assert_eq!(copy.check(&mut |_| {}).unwrap().len(), 30);
            for text in &texts[30..] {
                assert_eq!(found(store.get(NOW, "b", Handle::of(text)).unwrap()).text, *text);
            }
        }
    }

    /// What goes wrong. Each is run with variables of its own.
    mod faults {
        use super::{all_of, is_served};
        use crate::support::{NOW, new};
        use foldline_store::{Fault, Limits, Opening, Store, StoreError};

        fn put(prefix: &str) -> Option<StoreError> {
            if !is_served() || std::env::var_os("AWS_REGION").is_none() {
                return None;
            }
            let folder = tempfile::tempdir().unwrap();
            let how = Opening { limits: Limits::default(), originals: all_of(prefix), ..Opening::default() };
            let store = Store::open(&folder.path().join("originals.db"), how).unwrap();
            let error = store.put(NOW, "", &[new("text", "")]).unwrap_err();
            assert_eq!(store.stats().unwrap().originals, 0, "nothing is kept");
            let told = format!("{error} {error:?}");
            for name in ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"] {
                assert!(!told.contains(&std::env::var(name).unwrap()), "{told}");
            }
            Some(error)
        }

        #[test]
        fn access_is_refused() {
            let Some(error) = put("x") else { return };
            assert!(matches!(error.fault, Fault::ObjectsRefused { .. }), "{error}");
            assert!(error.to_string().contains("InvalidAccessKeyId"), "{error}");
        }

        #[test]
        fn nobody_answers() {
            let Some(error) = put("x") else { return };
            assert!(matches!(error.fault, Fault::ObjectsUnreachable { .. }), "{error}");
            assert!(error.is_retryable());
        }
    }
}
