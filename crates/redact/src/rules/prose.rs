//! Secrets in sentences.

use crate::rule::{Rule, Shape};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::special("sentence", "Secret that a sentence tells",
        &["password", "passwd", "passphrase", "passcode", "pwd", "api key", "api-key", "apikey", "access key", "secret key", "access token", "api token", "auth token", "bearer token", "secret", "pin code", "verification code", "one-time code", "security code", "access code", "login code", "2fa code", "otp", "credentials", "creds", "token", "key", "pw ", "pwd ", "pass is", "pass was",
            "passwort", "kennwort", "mot de passe", "contraseña", "contrasena", "clave", "senha", "parola d'ordine", "parola", "wachtwoord", "hasło", "lösenord", "salasana", "adgangskode", "heslo", "şifre", "Şifre", "пароль", "Пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "mật khẩu", "kata sandi"],
        Shape::Sentence).chosen()
        .hits(&["the password is <a8>", "The password for the staging box is sunshine.", "Use \"<a9>\" as the password.", "das Passwort lautet <a8>", "le mot de passe est <a8>", "la contraseña es <a8>", "密码是<a8>", "パスワードは<a8>です", "my API key is <a24>, keep it", "log in with password <a8> please"])
        .misses(&["the password is required", "The password is stored in the vault.", "password is not set", "the secret is out", "your password was changed", "the token is valid", "Use a strong word as the password.", "the password is too short", "the password is <password>"]),
];

/// What a secret is for: "the password for the server".
const FOR: &str =
    "for|of|to|on|in|at|von|vom|für|zum|zur|auf|de|del|do|da|di|du|des|per|pour|para|voor|van|til|till|na|dla|для|от|к";
/// What leads from the word for a secret to the secret.
const VERBS: &str = "is|was|as|are|were|will be|should be|shall be|must be|has been|ist|lautet|war|est|c'est|était|es|este|era|é|è|jest|to|är|er|on|je|adalah|là|это|—|–";
/// The same in languages that write without blanks.
const PARTICLES: &str = "是|为|為|は|는|은";
const ADVERBS: &str = "now|still|currently|just|simply|always|again|set to|changed to|reset to|jetzt|ahora|maintenant";
const CHANGES: &str = "changed|reset|rotated|updated|set";

/// From the end of the word for a secret to the beginning of the secret.
pub(crate) fn verb_pattern() -> String {
    let gap = r"(?:[ \t]+|[ \t]*{nl}[ \t]*)";
    let purpose = format!(
        r"[ \t]+(?:{FOR})[ \t]+[^\n.!?;:=,]{{1,48}}?|[ \t]+\([^()\n]{{1,40}}\)|[ \t]+(?:that )?(?:you|we|they|I) \w{{2,10}}(?: to \w{{2,8}})?|(?:[ \t]+[^\s.,;:=()]{{1,24}}){{1,2}}?"
    );
    let sign = format!(r"[ \t]+(?:(?:{FOR})[ \t]+)?(?:[^\s:=.,;()]{{1,24}}[ \t]*){{1,3}}(?:=|—|–)[ \t]+");
    let change = format!(r"(?:[ \t]+(?:was|is|has been))?[ \t]+(?:{CHANGES})[ \t]+(?:from|to)[ \t]+");
    let verb = format!(r"(?:{purpose})?{gap}(?:{VERBS})(?:[ \t]+(?:{ADVERBS}))?(?:[ \t]*:)?{gap}");
    let pattern = format!(
        r"\A(?:['\x17]s[ \t]+|[a-z]{{0,3}}{{q}}?[*_)]{{0,2}}(?:\s*(?:{PARTICLES})[ :]*[「『]?|{change}|{verb}|{sign}))"
    );
    in_bytes(&pattern)
}

/// Patterns are over bytes; other letters than those of ASCII are spelled out.
fn in_bytes(pattern: &str) -> String {
    let spell = |letter: char| match letter {
        '「' | '『' | '\u{80}'..='\u{10FFFF}' => {
            letter.to_string().bytes().map(|byte| format!(r"\x{byte:02X}")).collect()
        }
        _ => letter.to_string(),
    };
    // A set of such letters is a choice.
    pattern.replace("[「『]?", "(?:「|『)?").chars().map(spell).collect()
}
