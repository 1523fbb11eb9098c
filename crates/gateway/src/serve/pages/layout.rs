//! What all pages share: head, navigation, error pages.

use super::access::{Sign, Viewer};
use super::html;
use crate::serve::Body;
use http::{Response, StatusCode};
use maud::{DOCTYPE, Markup, html as markup};

/// Where a page stands in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Sessions,
    Find,
    Keys,
    Settings,
    Health,
    Login,
    Elsewhere,
}

/// A page.
pub struct Page<'p> {
    pub title: &'p str,
    pub place: Place,
    pub content: Markup,
}

impl Page<'_> {
    /// The whole document.
    pub fn write(self, viewer: Option<&Viewer>) -> Markup {
        let Page { title, place, content } = self;
        let link = |at: Place, to: &str, name: &str| {
            markup! { a href=(to) aria-current=[(at == place).then_some("page")] { (name) } }
        };
        markup! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) " · Foldline" }
                    link rel="stylesheet" href="/foldline/style.css";
                    link rel="icon" type="image/svg+xml" href="/foldline/icon.svg";
                    script src="/foldline/script.js" defer {}
                }
                body {
                    a.skip href="#content" { "Skip to content" }
                    header {
                        a.brand href="/foldline/" { "Foldline" }
                        @if let Some(viewer) = viewer {
                            nav aria-label="Pages" {
                                (link(Place::Sessions, "/foldline/", "Sessions"))
                                (link(Place::Find, "/foldline/find", "Search"))
                                @if viewer.sees_all() {
                                    (link(Place::Keys, "/foldline/client-keys", "Keys"))
                                    (link(Place::Settings, "/foldline/settings", "Settings"))
                                }
                                (link(Place::Health, "/foldline/health", "Health"))
                            }
                            (sign(viewer))
                        }
                    }
                    main #content tabindex="-1" {
                        h1 { (title) }
                        (content)
                    }
                    footer {
                        span #live role="status" { }
                        span { "foldline " (env!("CARGO_PKG_VERSION")) }
                    }
                }
            }
        }
    }

    /// The page as an answer.
    pub fn answer(self, viewer: &Viewer) -> Response<Body> {
        html(StatusCode::OK, self.write(Some(viewer)))
    }
}

fn sign(viewer: &Viewer) -> Markup {
    markup! {
        @match viewer.sign {
            Sign::In => form.sign method="post" action="/foldline/logout" { button type="submit" { "Sign out" } },
            Sign::Header => {},
            Sign::Out => a.sign href="/foldline/login" { "Sign in" },
        }
    }
}

/// An error page.
pub fn refusal(viewer: &Viewer, status: StatusCode, words: &str) -> Response<Body> {
    let title = match status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::FORBIDDEN => "Access denied",
        StatusCode::CONFLICT => "Not possible",
        StatusCode::GONE => "Expired",
        StatusCode::BAD_REQUEST => "Invalid request",
        StatusCode::METHOD_NOT_ALLOWED => "Method not allowed",
        _ => "Error",
    };
    let content = markup! {
        p.lead { (words) }
        p { a href="/foldline/" { "All sessions" } " · " a href="/foldline/health" { "Health" } }
    };
    html(status, Page { title, place: Place::Elsewhere, content }.write(Some(viewer)))
}

/// A figure with its name.
pub fn figure(name: &str, value: &str, note: &str) -> Markup {
    markup! { div { dt { (name) } dd { (value) @if !note.is_empty() { " " small { (note) } } } } }
}
