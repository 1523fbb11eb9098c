//! The first set: names, notations and secrets crossed with each other, group by group.

mod assignments;
mod commands;
mod escapes;
mod files;
mod network;
mod tokens;

use super::Shape;
use foldline_redact::fixtures::Random;

/// Names of variables of an environment.
const VARIABLES: [&str; 32] = [
    "DB_PASSWORD",
    "POSTGRES_PASSWORD",
    "MYSQL_ROOT_PASSWORD",
    "PGPASSWORD",
    "REDIS_PASS",
    "SMTP_PASSWORD",
    "SSHPASS",
    "MYSQL_PWD",
    "APP_SECRET",
    "JWT_SECRET",
    "SECRET_KEY_BASE",
    "DJANGO_SECRET_KEY",
    "SESSION_SECRET",
    "CLIENT_SECRET",
    "OAUTH_CLIENT_SECRET",
    "API_KEY",
    "STRIPE_API_KEY",
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_PAT",
    "AZURE_DEVOPS_PAT",
    "NPM_TOKEN",
    "SLACK_BOT_TOKEN",
    "VAULT_TOKEN",
    "ENCRYPTION_KEY",
    "MASTER_KEY",
    "WIFI_PSK",
    "KEYSTORE_PASSPHRASE",
    "SENTRY_AUTH_TOKEN",
];
/// Names of fields.
const FIELDS: [&str; 24] = [
    "password",
    "passwd",
    "pwd",
    "db_password",
    "dbPassword",
    "userPassword",
    "passphrase",
    "secret",
    "client_secret",
    "clientSecret",
    "secretKey",
    "secret_key",
    "api_key",
    "apiKey",
    "apikey",
    "access_token",
    "accessToken",
    "refresh_token",
    "auth_token",
    "private_key",
    "privateKey",
    "accessKey",
    "webhook_secret",
    "encryption_key",
];
/// Names that mean a password, for values that are words.
const PASSWORDS: [&str; 12] = [
    "password",
    "passwd",
    "pwd",
    "db_password",
    "dbPassword",
    "user.password",
    "spring.datasource.password",
    "admin_password",
    "passphrase",
    "root_pass",
    "smtp-password",
    "Password",
];

/// Generated values, then chosen ones.
const GENERATED: [&str; 10] =
    ["<a20>", "<a32>", "<h32>", "<h40>", "<h64>", "<b40>", "<b43>=", "<w43>", "<l24>", "<a16>"];
const CHOSEN: [&str; 8] = [
    "<l6><d4>",
    "Summer<d4>!",
    "<a5>!<a4>",
    "<a4>@<a5>",
    "<m5>-<m6>-<d2>",
    "<a4>#<a4>$<a2>",
    "Tr0ub<l4>&<d1>",
    "<a12>",
];
const WORDS: [&str; 6] = ["<m8>", "<m10>", "sunshine", "Dragonfly", "opensesame", "<m6><m6>"];

/// All shapes of the set.
pub fn shapes() -> Vec<Shape> {
    let mut set = Set { shapes: Vec::new(), seed: 0 };
    assignments::environment(&mut set);
    assignments::fields(&mut set);
    assignments::settings(&mut set);
    tokens::vendors(&mut set);
    network::urls(&mut set);
    network::headers(&mut set);
    tokens::keys(&mut set);
    escapes::disguises(&mut set);
    commands::commands(&mut set);
    files::files(&mut set);
    assignments::languages(&mut set);
    files::people(&mut set);
    set.shapes
}

struct Set {
    shapes: Vec<Shape>,
    seed: u64,
}

impl Set {
    fn add(&mut self, group: &'static str, template: &str) {
        self.seed += 1;
        self.shapes.push(Shape::new(group, template, self.seed));
    }

    /// Crosses notations with names and secrets: `{n}` is a name, `{s}` the secret. So many of each notation.
    fn cross(&mut self, group: &'static str, notations: &[&str], names: &[&str], secrets: &[&str], each: usize) {
        for notation in notations {
            for _ in 0..each {
                self.seed += 1;
                let mut dice = Random::new(self.seed * 31);
                let name = dice.pick(names);
                let secret = dice.pick(secrets);
                self.add(group, &notation.replace("{n}", name).replace("{s}", &format!("«{secret}»")));
            }
        }
    }
}
