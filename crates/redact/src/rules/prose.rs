//! Secrets in sentences.

use crate::rule::{Rule, Shape};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::special("sentence", "Secret that a sentence tells",
        &["password", "passwd", "passphrase", "passcode", "pwd", "api key", "api-key", "apikey", "access key", "secret key", "access token", "api token", "auth token", "bearer token", "secret", "pin code", "verification code", "one-time code", "security code", "access code", "login code", "2fa code", "otp", "credentials", "creds", "token", "key", "pw ", "pwd ",
            "passwort", "kennwort", "mot de passe", "contraseña", "contrasena", "clave", "senha", "parola d'ordine", "parola", "wachtwoord", "hasło", "lösenord", "salasana", "adgangskode", "heslo", "şifre", "Şifre", "пароль", "Пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "mật khẩu", "kata sandi"],
        Shape::Sentence).chosen()
        .hits(&["the password is <a8>", "The password for the staging box is sunshine.", "Use \"<a9>\" as the password.", "das Passwort lautet <a8>", "le mot de passe est <a8>", "la contraseña es <a8>", "密码是<a8>", "パスワードは<a8>です", "my API key is <a24>, keep it", "log in with password <a8> please"])
        .misses(&["the password is required", "The password is stored in the vault.", "password is not set", "the secret is out", "your password was changed", "the token is valid", "Use a strong word as the password.", "the password is too short", "the password is <password>"]),
];
