//! Tokens of code hosts, package registries and build services.

use crate::rule::Check::{Dense, Digit, Most};
use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::token("github", "GitHub token: personal, OAuth, app, installation or refresh", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"[A-Za-z0-9]{30,255}")
        .hits(&["ghp_<a36>", "ghs_<a36>", "gho_<a36>", "\\nghu_<a36>", "x=ghr_<a76>"]).misses(&["ghp_<a10>", "Xghp_<a36>", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]),
    Rule::token("github-fine-grained", "GitHub fine-grained personal token", &["github_pat_"], r"\w{22,255}").checks(&[Digit]).hits(&["github_pat_<a22>_<a59>"]).misses(&["github_pat_token_for_releases"]),
    Rule::token("gitlab", "GitLab token: personal, deploy, runner, trigger, feed, agent, OAuth",
        &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-", "gloas-", "glwt-"], r"[\w-]{20,}(?:\.[\w.-]{2,40}\w)?").checks(&[Most(340)])
        .hits(&["glpat-<w20>", "glpat-<w27>.01.<a9>", "gldt-<w20>", "glrt-t1_<w20>", "glagent-<w50>"]).misses(&["glpat-<a6>"]),
    Rule::token("gitlab-runner", "GitLab runner registration token", &["GR1348941"], r"[\w-]{20,60}").hits(&["GR1348941<w20>"]),
    Rule::token("bitbucket", "Bitbucket app password or data centre token", &["ATBB", "BBDC-"], r"[A-Za-z0-9+/@_-]{28,60}").checks(&[Digit]).hits(&["ATBB<a32>", "BBDC-<a44>"]),
    Rule::token("atlassian", "Atlassian API token", &["ATATT3", "ATCTT3", "ATTA", "ATSTT3"], r"[\w=-]{60,}").checks(&[Most(400)]).hits(&["ATATT3x<w180>=<u8>", "ATTA<h72>"]),
    Rule::token("npm", "npm access token", &["npm_"], r"[A-Za-z0-9]{36}").checks(&[Dense]).hits(&["npm_<a36>"]).misses(&["npm_config_registry", "npm_package_dependencies_typescriptversions"]),
    Rule::token("pypi", "PyPI upload token", &["pypi-"], r"[\w-]{40,}").checks(&[Dense, Most(1000)]).hits(&["pypi-AgEIcHlwaS5vcmc<w70>"]).misses(&["pypi-publish-action"]),
    Rule::token("rubygems", "RubyGems API key", &["rubygems_"], r"[0-9a-f]{48}").hits(&["rubygems_<h48>"]),
    Rule::token("crates-io", "crates.io token", &["cio"], r"[A-Za-z0-9]{32}").checks(&[Dense, Digit]).hits(&["cio<a32>"]).misses(&["ciothisisawordthatisonlylongbutnotatoken"]),
    Rule::token("clojars", "Clojars deploy token", &["CLOJARS_"], r"[A-Za-z0-9]{60}").hits(&["CLOJARS_<a60>"]),
    Rule::token("nuget", "NuGet API key", &["oy2"], r"[a-z0-9]{43}").checks(&[Digit]).hits(&["oy2<l43>"]),
    Rule::token("docker", "Docker Hub personal or organisation token", &["dckr_pat_", "dckr_oat_"], r"[\w-]{20,60}").hits(&["dckr_pat_<w27>"]),
    Rule::token("sourcegraph", "Sourcegraph access token", &["sgp_", "slk_"], r"\w{40,80}").hits(&["sgp_<h16>_<h40>", "sgp_<h40>"]),
    Rule::token("circleci", "CircleCI token", &["CCIPAT_", "CCIPRJ_"], r"\w{40,90}").hits(&["CCIPAT_<a22>_<h40>"]),
    Rule::token("buildkite", "Buildkite token", &["bkua_", "bkct_"], r"[0-9a-z]{40}").hits(&["bkua_<h40>"]),
    Rule::token("artifactory", "Artifactory key or reference token", &["AKCp", "cmVmd"], r"[A-Za-z0-9]{55,75}").checks(&[Digit]).hits(&["AKCp<a69>", "cmVmd<a59>"]).misses(&["AKCp<a20>"]),
    Rule::token("octopus", "Octopus Deploy API key", &["API-"], r"[A-Z0-9]{25,31}").checks(&[Digit]).hits(&["API-<u26>"]).misses(&["API-REFERENCE"]),
    Rule::token("sonar", "SonarQube token", &["squ_", "sqp_", "sqa_", "sqb_"], r"[0-9a-f]{40}").hits(&["squ_<h40>"]),
    Rule::token("snyk", "Snyk token", &["snyk_uat.", "snyk_sat."], r"[\w.-]{20,80}\w").hits(&["snyk_uat.<h8>.<a40>"]),
    Rule::token("scalingo", "Scalingo token", &["tk-us-"], r"[\w-]{48}").hits(&["tk-us-<w48>"]),
    Rule::token("codecov-and-replit", "Replit or Depot token", &["depot_org_", "depot_project_", "repl_"], r"[\w-]{40,120}").checks(&[Dense]).hits(&["depot_org_<h64>"]),
    Rule::token("jfrog-and-harness", "Harness key", &["pat.", "sat."], r"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}").hits(&["pat.<w22>.<a24>.<a20>"]).misses(&["pat.example.org"]),
    Rule::token("expo-and-vercel", "Vercel token", &["vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"], r"\w{40,80}").hits(&["vcp_<a56>"]),
    Rule::token("netlify", "Netlify token", &["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"], r"[A-Za-z0-9]{36,40}").hits(&["nfp_<a36>"]),
    Rule::token("travis-and-drone", "Pulumi or Prefect token", &["pul-", "pnu_", "pnb_"], r"[A-Za-z0-9]{36,40}").checks(&[Digit]).hits(&["pul-<h40>", "pnu_<a36>"]),
];
