//! Secrets that programs print on a line of their own, or with a label of several words.

use crate::rule::Check::{Digits, Least, Mixed, NotPlain, NotSentence, Random, Real};
use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::from("printed-secret", "Secret that a command prints and nothing else", &["terraform output ", "tofu output ", "pass show ", "op read ", "op item get ", "gh auth token", "print-access-token", "secrets versions access", "get-login-password", "find-generic-password", "bw get ", "auth:token", "whoami -t", "base64 -d", "base64 --decode", "create token ", "-field=", "openssl rand ", "pwgen", "head -c"], 320,
        r#"(?:[\w:-]+)[^\n]{0,200}{nl}{q}?([A-Za-z0-9+/=_.~!@#$%^&*-]{8,128}){q}?[ \t]*(?:{nl}|\z)"#).checks(&[Real, NotPlain])
        .hits(&["$ pass show db\n<a14>\n", "$ terraform output -raw db_password\n\"<m12>\"", "$ kubectl get secret x -o jsonpath={.data.password} | base64 -d\n<a12>"]).misses(&["$ terraform output db_host\nlocalhost", "run pass show to see it\nthen go on"]),
    Rule::from("announced-secret", "Secret on the line below the words that announce it", &["following password", "following token", "following key", "following secret", "admin password", "password below", "token below", "password to ", "this token", "this key", "this password", "your token", "your key"], 200,
        r#"(?i)[\w ]+[^\n:]{0,80}:[ \t]*(?:{nl}[ \t]*){1,3}{q}?([A-Za-z0-9+/=_.-]{12,200}){q}?[ \t]*(?:{nl}|\z)"#).checks(&[Real, Random])
        .hits(&["Please use the following password to proceed:\n\n<h32>\n"]).misses(&["use the following password rules:\n\nminimum-length\n"]),
    Rule::from("recovery-codes", "Codes that stand for a second factor", &["recovery codes", "backup codes", "recovery keys", "scratch codes"], 400,
        r"(?i)(?:recovery|backup|scratch) (?:code|key)s?[^\n:]{0,40}:[ \t]*(?:{nl}[ \t]*)?((?:[A-Za-z0-9]{4,10}(?:[ -][A-Za-z0-9]{4,10}){0,3}(?:{nl}[ \t]*|,[ ]?|\z)){1,20})").checks(&[Mixed, Digits(3, 200)]).chosen()
        .hits(&["Recovery codes:\n<l5>-<l5>\n<l5>-<l5>\n"]).misses(&["recovery codes: see the manual"]),
    Rule::from("code-label", "Code of a few digits that logs somebody in", &["pin code:", "verification code:", "security code:", "login code:", "one-time code:", "one-time password:", "access code:", "confirmation code:", "passcode:", "backup code:", "recovery code:", "pin is ", "code is "], 60,
        r"(?i)(?:[\w -]+:[ \t]*|(?:pin|code) is:? )(\d{4}[ -]\d{4}|\d{4,8})\b").hits(&["PIN code: <d6>", "backup code: <d4> <d4>"]).misses(&["security code: none"]).chosen(),
    Rule::from("pipeline-command", "Secret that a pipeline is told in its log", &["::add-mask::", "::set-output name=", "::save-state name=", "##vso[task.setvariable "], 200,
        r"(?i)(?:::add-mask::|(?:::(?:set-output|save-state) name=|\#\#vso\[task\.setvariable variable=)[\w.-]{0,40}(?:passw|pwd|secret|token|key|cred)[\w.-]{0,20}(?:;[\w=;]{0,40})?(?:::|\]))()").checks(&[Real, Least(4)]).chosen()
        .hits(&["::add-mask::<m12>", "::set-output name=token::<a20>", "##vso[task.setvariable variable=apiKey;issecret=true]<a20>"]).misses(&["::set-output name=path::/usr/bin", "::add-mask::***"]),
    Rule::from("prompt", "Password typed at a prompt", &["passphrase for ", "password for "], 160, r"(?i)pass(?:phrase|word) for [^\n:]{1,80}(?:://[^\n:]{1,60})?:[ \t]+()").checks(&[Real, NotPlain]).chosen()
        .hits(&["Enter passphrase for key 'id': <a9>"]).misses(&["Password for bob: required"]),
    Rule::from("mail-login", "Password in the log of a login at a server", &["334 ugfzc3dvcmq6", "user ", "> auth "], 160,
        r"(?i)(?:334 ugfzc3dvcmq6\s{1,4}(?:C: )?|user \S{1,60}\s*\n\d{3}[^\n]{0,80}\n(?:> ?)?pass |> auth (?:\S{1,40} )?)([^\s]{4,100})[ \t]*(?:{nl}|\z)").checks(&[Real]).chosen()
        .hits(&["USER bob\n331 go on\nPASS <m9>\n", "127.0.0.1:6379> AUTH <m9>", "334 UGFzc3dvcmQ6\n<b16>\n"]).misses(&["user story\nPASS tests/login.test.js"]),
    Rule::from("imap-login", "Password in the log of a login at a mailbox", &["login "], 200,
        r#"LOGIN {q}?[^\s"'\x11-\x14]{1,64}{q}? {q}?([^\s"'\x11-\x14]{4,100}){q}?[ \t]*(?:{nl}|\z)"#).checks(&[Real, NotPlain]).chosen()
        .hits(&["a1 LOGIN bob <a9>", "a1 LOGIN \"bob\" \"<a9>\""]).misses(&["LOGIN bob failed", "LOGIN page two"]),
    Rule::from("seed-phrase", "Words that a wallet is recovered with", &["seed phrase", "recovery phrase", "secret phrase", "mnemonic phrase", "seed words"], 320,
        r"(?i)(?:phrase|words|seed phrase)[^\n:=]{0,30}[:=][ \t]*{q}?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b").chosen()
        .hits(&["seed phrase: <m5> <m6> <m4> <m7> <m5> <m6> <m5> <m4> <m6> <m5> <m7> <m5>"]).misses(&["seed phrase: twelve words that nobody else may see"]),
    Rule::from("told-passphrase", "Passphrase of several words", &["passphrase"], 200,
        r"(?i)passphrase[^\n:=]{1,40}[:=][ \t]*{q}?([a-z]{3,12}(?:[ -][a-z]{3,12}){2,11}){q}?[ \t]*(?:{nl}|\z)").checks(&[NotSentence, Least(12)]).chosen()
        .hits(&["the passphrase for the key: <m6> <m6> <m6>"]).misses(&["passphrase of the key: must be given by the user"]),
    Rule::from("app-password", "Password that a mail provider makes for a program", &["app password", "app-password", "app-specific password", "application password"], 80,
        r"(?i)app[\w -]{0,14}password\W{1,4}(?:is:? )?([a-z]{4}(?:-[a-z]{4}){3})\b").chosen().hits(&["app password <m4>-<m4>-<m4>-<m4>"]).misses(&["app password from your mail page"]),
];
