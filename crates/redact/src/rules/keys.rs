//! Private keys and signed tokens.

use crate::rule::{Rule, Shape};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::special("private-key", "Private key in PEM or OpenPGP armour", &["-BEGIN ", "-BEGIN\x18", "- BEGIN "], Shape::KeyBegin).label("[REDACTED PRIVATE KEY]")
        .hits(&["-----BEGIN RSA PRIVATE KEY-----\n<b64>\n<b64>\n<b20>==\n-----END RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\\n<b64>\\n<b64>\\n-----END PRIVATE KEY-----\\n",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n<b70>\n<b70>\n<b50>", "   1\t-----BEGIN EC PRIVATE KEY-----\n   2\t<b64>\n   3\t<b64>\n   4\t-----END EC PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n<b64>\n<b64>\n=<a4>\n-----END PGP PRIVATE KEY BLOCK-----",
            "key.pem:1:-----BEGIN RSA PRIVATE KEY-----\nkey.pem:2:<b64>\nkey.pem:3:<b64>\nkey.pem:4:-----END RSA PRIVATE KEY-----",
            "+-----BEGIN RSA PRIVATE KEY-----\n+<b64>\n+<b64>\n+-----END RSA PRIVATE KEY-----", "> -----BEGIN RSA PRIVATE KEY-----\n> <b64>\n> <b64>\n> <b30>\n> -----END RSA PRIVATE KEY-----"])
        .misses(&["-----BEGIN CERTIFICATE-----\n<b64>\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n<b64>\n", "if s == \"-----BEGIN PRIVATE KEY-----\" { return NameKind::Key }",
            "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----"]),
    Rule::special("private-key-end", "The end of a private key whose beginning was cut off", &["-END "], Shape::KeyEnd).label("[REDACTED PRIVATE KEY]")
        .hits(&["… 40 lines left out …\n<b64>\n<b64>\n<b20>\n-----END RSA PRIVATE KEY-----"])
        .misses(&["<b64>\n-----END CERTIFICATE-----", "the line -----END PRIVATE KEY-----"]),
    Rule::token("putty-key", "PuTTY private key", &["Private-Lines:"], r"[ \t]*\d{1,3}(?:[\n\r\x0b\x0c]+[A-Za-z0-9+/=]{20,})+").label("[REDACTED PRIVATE KEY]").hits(&["Private-Lines: 2\n<b64>\n<b64>"]),
    Rule::token("jwt", "JSON web token", &["eyJ"], r"[\w-]{7,}={0,2}\.(?:eyJ|e30)[\w-]{0,}={0,2}(?:\.[\w-]*)?|(?:hbGciOi|0eXAiOi|raWQiOi|rIjoi|lbmMiOi)[\w-]{16,}(?:\.[\w-]+){0,4}|[\w-]{9,}(?:\.[\w-]{0,600}){3}\.[\w-]{10,}")
        .hits(&["eyJ<a33>.eyJ<a60>.<w43>", "eyJ<a33>.eyJ<a60>", "eyJhbGciOi<a40>", "t=eyJ<a33>.eyJ<a60>.<w43>&x=1"])
        .misses(&["eyJ<a20>", "XeyJ<a33>.eyJ<a60>.<w43>"]),
    Rule::token("jwt-in-base64", "JSON web token in base64", &["ZXlKaGJHY2lPa", "ZXlKMGVYQWlPa", "ZXlKcmFXUWlPa"], r"[A-Za-z0-9+/_-]{40,}={0,2}").hits(&["ZXlKaGJHY2lPa<a80>=="]),
    Rule::token("private-key-in-base64", "Private key whose armour is in base64 once more", &["LS0tLS1CRUdJTi"], r"B(?:QUklWQVRF|(?:SU0E|EU0E|QR1A)gUFJJVkFURS|FQyBQUklWQVRF|PUEVOU1NIIFBSSVZBVEUg|FTkNSWVBURUQgUFJJVkFURS)[A-Za-z0-9+/]{60,}={0,2}").label("[REDACTED PRIVATE KEY]")
        .hits(&["LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBL<b200>", "key: LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ<b200>"]).misses(&["LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t<b200>"]),
    Rule::token("wireguard-and-wallet", "Extended private key of a wallet", &["xprv", "yprv", "zprv", "tprv"], r"[1-9A-HJ-NP-Za-km-z]{100,112}").hits(&["xprv<c107>"]),
    Rule::from("json-web-key", "Private part of a JSON web key", &["kty\"", "kty\x11", "kty'"], 1900, r#"kty{q}\s*:\s*{q}(?:RSA|EC|OKP|oct){q}[^{}]{0,1800}?{q}(?:d|k){q}\s*:\s*{q}([\w-]{20,700}){q}"#)
        .hits(&["{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"<w43>\",\"y\":\"<w43>\",\"d\":\"<w43>\"}"]).misses(&["{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"<w43>\",\"y\":\"<w43>\"}"]),
    Rule::token("jwt-spaced", "JSON web token whose header was printed with line breaks", &["ewogIC", "ewoid"], r"[\w-]{7,}={0,2}\.(?:eyJ|ewo)[\w-]+={0,2}(?:\.[\w-]*)?").hits(&["ewogICJhbGciOi<w30>.ewogIC<w60>.<w43>"]),
];
