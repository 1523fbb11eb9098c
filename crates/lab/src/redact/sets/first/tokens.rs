//! Tokens of vendors and clouds, private keys.

use super::Set;

pub(super) fn vendors(set: &mut Set) {
    let tokens = [
        "sk-ant-api03-<w93>AA",
        "sk-proj-<w74>",
        "sk-<a48>",
        "AIza<w35>",
        "hf_<a34>",
        "gsk_<a52>",
        "xai-<a80>",
        "pplx-<a48>",
        "r8_<a37>",
        "ghp_<a36>",
        "gho_<a36>",
        "github_pat_<a22>_<a59>",
        "glpat-<w20>",
        "glrt-<w20>",
        "gldt-<w20>",
        "npm_<a36>",
        "pypi-AgEIcHlwaS5vcmc<w80>",
        "rubygems_<h48>",
        "dckr_pat_<w27>",
        "xoxb-<d12>-<d12>-<a24>",
        "xoxp-<d11>-<d11>-<d11>-<h32>",
        "xapp-1-A<u10>-<d13>-<h64>",
        "https://hooks.slack.com/services/T<u9>/B<u9>/«<a24>»",
        "SG.<w22>.<w43>",
        "key-<h32>",
        "<h32>-us12",
        "SK0<h31>",
        "sk_live_<a24>",
        "rk_test_<a99>",
        "whsec_<a32>",
        "shpat_<h32>",
        "sq0csp-<w43>",
        "EAAG<a160>",
        "glsa_<a32>_<h8>",
        "NRAK-<u27>",
        "sntryu_<h64>",
        "dt0c01.<u24>.<u64>",
        "lin_api_<a40>",
        "ntn_<d11><a35>",
        "secret_<a43>",
        "PMAK-<h24>-<h34>",
        "figd_<w40>",
        "pat-na1-<h8>-<h4>-<h4>-<h4>-<h12>",
        "dop_v1_<h64>",
        "HRKU-AA<w58>",
        "v1.0-<h24>-<h146>",
        "dapi<h32>",
        "pscale_pw_<w43>",
        "sbp_<h40>",
        "tskey-auth-<a12>CNTRL-<a32>",
        "hvs.<w90>",
        "dp.pt.<a43>",
        "AGE-SECRET-KEY-1<u58>",
        "MTAx<w21>.G<w5>.<w38>",
        "https://discord.com/api/webhooks/<d18>/«<w68>»",
        "ATATT3x<w180>=<u8>",
        "<a14>.atlasv1.«<w67>»",
        "PRIVATE-TOKEN: «glpat-<w20>»",
        "lsv2_pt_<h32>_<h10>",
        "nvapi-<w64>",
        "pul-<h40>",
        "sgp_<h40>",
        "CCIPAT_<a22>_<h40>",
        "phx_<a43>",
        "AKCp<a69>",
        "API-<u26>",
        "rdme_<l70>",
        "EZAK<a54>",
        "shippo_live_<h40>",
        "duffel_test_<w43>",
    ];
    let carriers = [
        "I have {s} here",
        "token {s}.",
        "\"{s}\"",
        "x={s};",
        "curl -H 'X: {s}'",
        "{\"k\": \"{s}\"}",
        "see `{s}`\n",
        "> {s}\n",
    ];
    for (index, token) in tokens.iter().enumerate() {
        for offset in 0..2 {
            let marked = if token.contains('«') { (*token).to_owned() } else { format!("«{token}»") };
            let carrier = carriers[(index * 2 + offset) % carriers.len()];
            set.add("vendors", &carrier.replace("{s}", &marked));
        }
    }
    for template in [
        "aws_access_key_id = «AKIA<u16>»",
        "«ASIA<u16>»",
        "aws_secret_access_key = «<b40>»",
        "AWS_SECRET_ACCESS_KEY=«<b40>»",
        "\"SecretAccessKey\": \"«<b40>»\"",
        "aws_session_token=«IQoJb3JpZ2lu<b200>»",
        "\"SessionToken\": \"«FwoGZXIvYXdz<b200>»\"",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«<b86>==»;EndpointSuffix=core.windows.net",
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«<b43>=»",
        "https://x.blob.core.windows.net/c/b?sv=2022-11-02&se=2024-01-01&sr=b&sp=r&sig=«<a43>%3D»",
        "client_secret: «<a3>8Q~<w34>»",
        "AZURE_CLIENT_SECRET=«<a3>7Q~<w34>»",
        "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n«<b64>»\\n«<b64>»\\n«<b30>==»\\n-----END PRIVATE KEY-----\\n\"",
        "«GOCSPX-<w28>»",
        "«ya29.<w120>»",
        "«1//0<w60>»",
        "HostName=h.azure-devices.net;DeviceId=d;SharedAccessKey=«<b43>=»",
        "Server=tcp:x.database.windows.net;User ID=sa;Password=«<a12>»;Encrypt=true",
        "«LTAI<a20>»",
        "InstrumentationKey=«<h8>-<h4>-<h4>-<h4>-<h12>»;IngestionEndpoint=https://x",
        "AWS4-HMAC-SHA256 Credential=AKIA, Signature=«<h64>»",
        "X-Amz-Security-Token=«IQoJb3JpZ2lu<a200>»&X-Amz-Signature=«<h64>»",
        "cosmos: AccountEndpoint=https://x;AccountKey=«<b86>==»;",
    ] {
        set.add("clouds", template);
    }
    for template in [
        "«<d9>:AA<w33>»",
        "https://api.telegram.org/bot<d9>:«AA<w33>»/sendMessage",
        "TELEGRAM_TOKEN=<d10>:«AA<w33>»",
        "bot<d9>:«AA<w33>»",
        "telegram:\n  token: <d10>:«AA<w33>»\n",
        "{\"bot\": \"<d9>:«AA<w33>»\"}",
        "https://api.telegram.org/bot<d9>:«B<w34>»/getMe",
        "token = '<d10>:«AA<w33>»'",
    ] {
        set.add("telegram", &template.replace("«<d9>:", "<d9>:«"));
    }
}

pub(super) fn keys(set: &mut Set) {
    let labels = ["RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "];
    let frames = [
        "-----BEGIN {l}PRIVATE KEY-----\n{0}\n{1}\n{2}\n-----END {l}PRIVATE KEY-----\n",
        "-----BEGIN {l}PRIVATE KEY-----\n{0}\n{1}\n",
        "{0}\n{1}\n{2}\n-----END {l}PRIVATE KEY-----\n",
        "-----BEGIN {l}PRIVATE KEY-----\\n{0}\\n{1}\\n{2}\\n-----END {l}PRIVATE KEY-----\\n",
        "1:-----BEGIN {l}PRIVATE KEY-----\n2:{0}\n3:{1}\n4:{2}\n5:-----END {l}PRIVATE KEY-----",
        "certs/key.pem:1:-----BEGIN {l}PRIVATE KEY-----\ncerts/key.pem:2:{0}\ncerts/key.pem:3:{1}\n",
        "+-----BEGIN {l}PRIVATE KEY-----\n+{0}\n+{1}\n+{2}\n+-----END {l}PRIVATE KEY-----",
        "-    -----BEGIN {l}PRIVATE KEY-----\n-    {0}\n-    {1}\n-    -----END {l}PRIVATE KEY-----",
        "> -----BEGIN {l}PRIVATE KEY-----\n> {0}\n> {1}\n> {2}\n> -----END {l}PRIVATE KEY-----",
        "     1\t-----BEGIN {l}PRIVATE KEY-----\n     2\t{0}\n     3\t{1}\n     4\t-----END {l}PRIVATE KEY-----",
        "key: |\n    -----BEGIN {l}PRIVATE KEY-----\n    {0}\n    {1}\n    -----END {l}PRIVATE KEY-----\n",
        "\"-----BEGIN {l}PRIVATE KEY-----\\\\n{0}\\\\n{1}\\\\n-----END {l}PRIVATE KEY-----\"",
        "[\"-----BEGIN {l}PRIVATE KEY-----\", \"{0}\", \"{1}\", \"-----END {l}PRIVATE KEY-----\"]",
        "  12 | -----BEGIN {l}PRIVATE KEY-----\n  13 | {0}\n  14 | {1}\n  15 | -----END {l}PRIVATE KEY-----",
    ];
    for (index, frame) in frames.iter().enumerate() {
        for offset in 0..3 {
            let label = labels[(index + offset) % labels.len()];
            set.add(
                "private-keys",
                &frame
                    .replace("{l}", label)
                    .replace("{0}", "«<b64>»")
                    .replace("{1}", "«<b64>»")
                    .replace("{2}", "«<b40>==»"),
            );
        }
    }
}
