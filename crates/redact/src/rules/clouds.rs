//! Keys of clouds, hosts, databases and stores of secrets.

use crate::rule::Check::{Digit, Most, Random, Real};
use crate::rule::Class::{Base64, Url, Word};
use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::token("aws-access-key", "AWS access key id", &["AKIA"], r"[A-Z0-9]{16,17}").checks(&[Real])
        .hits(&["AKIA<u16>", "key AKIA<u16>."]).misses(&["AKIA<u8>", "XAKIA<u16>", "AROA<u16>", "AKIAIOSFODNN7EXAMPLE"]),
    Rule::token("aws-temporary-key", "AWS access key id that is valid for a while", &["ASIA", "ABIA", "ACCA", "A3T"], r"[A-Z0-9]{16,17}").checks(&[Digit, Real])
        .hits(&["ASIA<u16>"]).misses(&["ASIAPACIFICREGION"]),
    Rule::token("aws-bedrock", "AWS Bedrock API key", &["ABSK", "bedrock-api-key-"], r"[A-Za-z0-9+/]{80,}={0,2}").hits(&["ABSK<b130>"]),
    Rule::token("aws-session-token", "AWS session token", &["FwoGZXIvYXdz", "IQoJb3JpZ2lu"], r"[A-Za-z0-9+/]{80,}={0,2}").checks(&[Real]).hits(&["IQoJb3JpZ2lu<b300>=="]),
    Rule::token("amazon-mws", "Amazon Marketplace token", &["amzn.mws.", "amzn1.oa2-cs.v1.", "Atzr|", "Atza|"], r"[\w-]{36,}").hits(&["amzn.mws.<h8>-<h4>-<h4>-<h4>-<h12>"]),
    Rule::token("google-oauth-secret", "Google OAuth client secret", &["GOCSPX-"], r"[\w-]{20,40}").hits(&["GOCSPX-<w28>"]),
    Rule::token("google-oauth-access", "Google OAuth access token", &["ya29."], r"[\w.-]{20,}").checks(&[Most(2048)]).hits(&["ya29.<w120>"]),
    Rule::token("google-oauth-refresh", "Google OAuth refresh token", &["1//0"], r"[\w-]{30,}").checks(&[Digit, Most(200)]).hits(&["1//0<w60>"]).misses(&["1//0 is undefined"]),
    Rule::token("google-oauth-code", "Google OAuth code", &["4/0A"], r"[\w-]{40,}").checks(&[Digit, Most(200)]).hits(&["4/0A<w70>"]),
    Rule::back("azure-client-secret", "Azure application secret", &["7Q~", "8Q~", "9Q~", "6Q~", "5Q~", "4Q~", "3Q~", "2Q~", "1Q~", "0Q~"], (Url, 3, 3), 44, r"([\w.~-]{3}\dQ~[\w.~-]{30,33}\w)")
        .hits(&["<a3>8Q~<w34>"]).misses(&["8Q~<w34>", "<a3>8Q~<w10>"]),
    Rule::back("azure-key", "Azure service key with its mark", &["AzCa", "ACR", "AzSe", "APIM", "+ASt", "+AMC", "+ABa", "ACDb", "AIoT", "+ARm", "AEhG", "AZEG", "JQQJ99"], (Base64, 40, 84), 60,
        r"([A-Za-z0-9+/]{42,80}(?:\+(?:ACR|ASt|AMC|ABa|ARm)|APIM|ACDb|AIoT|AEhG|AZEG|AzCa|AzSe|JQQJ99)[A-Za-z0-9+/]{5,40}={0,2})").checks(&[Random])
        .hits(&["<a42>+ACR<a6>", "<a52>JQQJ99<a26>"]),
    Rule::token("alibaba", "Alibaba Cloud access key id", &["LTAI"], r"[A-Za-z0-9]{12,26}").checks(&[Digit]).hits(&["LTAI<a20>"]).misses(&["LTAIR"]),
    Rule::token("tencent", "Tencent Cloud secret id", &["AKID"], r"[A-Za-z0-9]{32}").checks(&[Digit]).hits(&["AKID<a32>"]),
    Rule::token("yandex", "Yandex Cloud key", &["AQVN", "y0_", "t1.9eu", "YCAJE", "YCM"], r"[\w.=-]{30,}").checks(&[Digit, Most(400)]).hits(&["AQVN<w37>", "y0_<w55>"]),
    Rule::token("ibm-cloud", "IBM Cloud or Watson API key with its mark", &["ApiKey-"], r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").hits(&["ApiKey-<h8>-<h4>-<h4>-<h4>-<h12>"]),
    Rule::token("oracle-cloud", "Hetzner, Scaleway or Exoscale key", &["SCW", "EXO"], r"[A-Z0-9][A-Za-z0-9]{16,28}").checks(&[Digit]).hits(&["SCW<u17>"]).misses(&["SCWX", "EXOPLANETSDISCOVERED"]),
    Rule::token("digitalocean", "DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"[0-9a-f]{64}").hits(&["dop_v1_<h64>"]),
    Rule::token("heroku", "Heroku API key", &["HRKU-"], r"[\w-]{30,80}").hits(&["HRKU-<h8>-<h4>-<h4>-<h4>-<h12>", "HRKU-AA<w58>"]),
    Rule::token("cloudflare-origin", "Cloudflare origin CA key", &["v1.0-"], r"[0-9a-f]{24}-[0-9a-f]{100,160}").hits(&["v1.0-<h24>-<h146>"]),
    Rule::token("cloudflare", "Cloudflare scannable token", &["cfut_", "cfat_", "cfk_"], r"[A-Za-z0-9]{40,60}").hits(&["cfut_<a48>"]),
    Rule::token("databricks", "Databricks access token", &["dapi", "dkea", "dose"], r"[0-9a-f]{32}(?:-\d)?").hits(&["dapi<h32>", "dapi<h32>-2"]),
    Rule::token("planetscale", "PlanetScale token or password", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], r"[\w=.-]{30,80}").hits(&["pscale_pw_<w43>"]),
    Rule::token("supabase", "Supabase access token or secret key", &["sbp_", "sb_secret_"], r"[\w-]{30,60}").checks(&[Digit]).hits(&["sbp_<h40>", "sb_secret_<w31>"]),
    Rule::token("neon-and-turso", "Neon, Upstash or Xata key", &["napi_", "xau_", "npg_"], r"[A-Za-z0-9]{12,80}").checks(&[Digit]).hits(&["napi_<l64>", "npg_<a16>"]),
    Rule::token("fly", "Fly.io token", &["fm1_", "fm2_", "fm1r_", "fm1a_", "fm2r_", "fo1_", "FlyV1 "], r"[A-Za-z0-9+/_=,-]{40,}").hits(&["fm2_<b200>", "fo1_<w43>"]),
    Rule::token("render-and-railway", "Render or Qovery key", &["rnd_"], r"[A-Za-z0-9]{28,40}").checks(&[Digit]).hits(&["rnd_<a32>"]),
    Rule::token("tailscale", "Tailscale key", &["tskey-"], r"[\w-]{20,80}").checks(&[Digit]).hits(&["tskey-auth-<a12>CNTRL-<a32>"]),
    Rule::token("defined-networking", "Defined Networking token", &["dnkey-"], r"[\w=-]{26}-[\w=-]{52}").hits(&["dnkey-<w26>-<w52>"]),
    Rule::token("ngrok", "ngrok token or key", &["ak_"], r"[A-Za-z0-9]{26,30}").checks(&[Digit]).hits(&["ak_<a27>"]),
    Rule::token("vault", "HashiCorp Vault token", &["hvs.", "hvb.", "hvr."], r"[\w-]{24,}").checks(&[Most(400)]).hits(&["hvs.<w90>", "hvb.<w130>"]),
    Rule::back("terraform-cloud", "Terraform Cloud token", &[".atlasv1."], (Word, 14, 14), 100, r"([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{55,90})").hits(&["<a14>.atlasv1.<w67>"]).misses(&[".atlasv1.<w67>", "<a14>.atlasv1.<w6>"]),
    Rule::token("doppler", "Doppler token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], r"(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}").hits(&["dp.pt.<a43>", "dp.st.prd.<a43>"]),
    Rule::token("onepassword", "1Password service account token", &["ops_eyJ"], r"[A-Za-z0-9+/_-]{100,}={0,3}").hits(&["ops_eyJ<a260>"]),
    Rule::token("onepassword-key", "1Password secret key", &["A3-"], r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){2,4}").hits(&["A3-<u6>-<u6>-<u5>-<u5>-<u5>-<u5>"]),
    Rule::token("age", "age identity", &["AGE-SECRET-KEY-1"], r"[A-Z0-9]{58}").hits(&["AGE-SECRET-KEY-1<u58>"]),
    Rule::token("openshift", "OpenShift user token", &["sha256~"], r"[\w-]{43}").hits(&["sha256~<w43>"]),
    Rule::token("clickhouse", "ClickHouse Cloud secret key", &["4b1d"], r"[A-Za-z0-9]{38}").checks(&[Random]).hits(&["4b1d<a38>"]).misses(&["4b1d<h28>"]),
    Rule::token("confluent-and-aiven", "Aiven token", &["aivenv1"], r"[A-Za-z0-9+/]{60,}={0,2}").hits(&["aivenv1<a80>"]),
    Rule::token("fernet", "Fernet token", &["gAAAAA"], r"[\w-]{60,}={0,2}").checks(&[Most(8000)]).hits(&["gAAAAA<w94>=="]).misses(&["gAAAAA<a20>+/<a80>"]),
    Rule::token("astra", "DataStax Astra token", &["AstraCS:"], r"[A-Za-z0-9]{20,30}:[0-9a-f]{60,70}").hits(&["AstraCS:<a24>:<h64>"]),
    Rule::token("mongodb-atlas", "MongoDB Atlas service account secret", &["mdb_sa_sk_"], r"[\w-]{30,60}").hits(&["mdb_sa_sk_<w40>"]),
    Rule::from("gcp-key-id", "Id of a Google private key", &["private_key_id"], 80, r#"private_key_id{q}?\s*[:=]\s*{q}?([0-9a-f]{40})\b"#).hits(&["\"private_key_id\": \"<h40>\""]),
    Rule::token("yandex-token", "Yandex Cloud token", &["t1."], r"[\w-]{8,}={0,2}\.[\w-]{86}={0,2}").hits(&["t1.<w20>.<w86>"]),
    Rule::token("yandex-static-key", "Yandex Cloud static key", &["YCA", "YCN", "YCO"], r"[\w-]{36,38}").checks(&[Digit]).hits(&["YCA<w37>"]),
    Rule::from("generated-password", "Password in the state of Terraform", &["random_password"], 900, r#"random_password[^}]{0,800}?"result"\s*:\s*"([^"\n]{6,128})""#).checks(&[Random])
        .hits(&["\"type\": \"random_password\", \"attributes\": {\"length\": 16, \"result\": \"<a16>\", \"special\": true}"]).misses(&["\"result\": \"ok\""]),
];
