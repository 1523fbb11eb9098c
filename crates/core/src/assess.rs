//! Decides whether to act on a conversation now, by thresholds and, if the policy wants it, by cost. The only place
//! that decides this.

use crate::cache::{Economics, Outlook, Tariff, weigh};
use crate::models::ModelProfile;
use crate::policy::{Budgets, CacheTtl, Policy};
use crate::request::Trigger;
use crate::state::{Cause, SessionEvent, SessionState};
use foldline_reduce::wording::grouped;

/// The answer, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Act.
    Act(String),
    /// Leave it.
    Wait(String),
}

impl Verdict {
    /// Whether to act.
    pub fn acts(&self) -> bool {
        matches!(self, Verdict::Act(_))
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        match self {
            Verdict::Act(reason) | Verdict::Wait(reason) => reason,
        }
    }
}

/// How large a conversation is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Tokens of the whole request.
    pub tokens: u64,
    /// Messages.
    pub messages: usize,
    /// Bytes of the body.
    pub bytes: u64,
}

/// What a verdict follows from. A [`Sound`](crate::Sound) has one; whoever has counted already makes one without reading
/// anything.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'s> {
    /// How large the conversation is.
    pub size: Size,
    /// Tokens that admission takes off huge outputs; `size` is without them, prices are weighed with them.
    pub admitted: u64,
    /// Tokens that no fold touches: system prompt, tools and the head.
    pub fixed: u64,
    /// Whether it is what the last compaction left, with nothing new in it.
    pub is_settled: bool,
    /// All settings.
    pub policy: &'s Policy,
    /// The model that reads the conversation.
    pub model: &'s ModelProfile,
    /// Its budgets.
    pub budgets: &'s Budgets,
    /// What the session remembers.
    pub state: &'s SessionState,
    /// Why we are asked.
    pub trigger: Trigger,
    /// Tokens that the result must fit.
    pub target: Option<u64>,
    /// Seconds since the conversation's last request; `None` where nobody knows.
    pub idle: Option<u32>,
}

impl Situation<'_> {
    /// Whether to act, and why.
    pub fn assess(&self) -> Verdict {
        let tokens = self.size.tokens;
        match self.target {
            Some(_) if !self.policy.compression.enabled => self.by_marks(),
            Some(target) if tokens > target => {
                Verdict::Act(format!("{} tokens, over the target of {}", grouped(tokens), grouped(target)))
            }
            Some(target) => {
                Verdict::Wait(format!("{} tokens, within the target of {}", grouped(tokens), grouped(target)))
            }
            None if self.is_settled => Verdict::Wait("no new messages since the last compaction".into()),
            None => self.by_money(self.by_marks()),
        }
    }

    /// The same situation, asked about for another reason.
    pub fn on_behalf_of(&self, trigger: Trigger) -> Self {
        Situation { trigger, ..*self }
    }

    /// Whether a cached prefix has expired: then the next request pays for all of it, whatever it looks like.
    pub fn is_cold(&self) -> bool {
        is_cold(self.idle, self.policy.model.cache_ttl)
    }

    /// What a fold would cost and save now; `None` where nobody knows the prices.
    pub fn economics(&self) -> Option<Economics> {
        let tariff = Tariff::of(self.model).ok()?;
        let mut pace = self.state.pace;
        pace.cold += u32::from(self.is_cold());
        let outlook = Outlook {
            tokens: self.size.tokens + self.admitted,
            fixed: self.fixed,
            idle: self.idle,
            ttl: self.policy.model.cache_ttl,
            pace,
        };
        Some(weigh(&outlook, self.budgets, &tariff))
    }

    fn by_marks(&self) -> Verdict {
        let (knobs, budgets, state) = (&self.policy.compression, self.budgets, self.state);
        let Size { tokens, messages, bytes } = self.size;
        if !knobs.enabled {
            return Verdict::Wait("compression is disabled (compression.enabled)".into());
        }
        match self.trigger {
            Trigger::Manual => return Verdict::Act("requested".into()),
            Trigger::Overflow => return Verdict::Act("the provider refused the request as too long".into()),
            Trigger::TooLarge => return self.by_limits(),
            Trigger::Engine | Trigger::Background | Trigger::Hygiene => {}
        }
        if bytes > budgets.max_body_bytes {
            return Verdict::Act(format!(
                "{} bytes, over the limit of {}",
                grouped(bytes),
                grouped(budgets.max_body_bytes)
            ));
        }
        let (name, mark) = match self.trigger {
            Trigger::Hygiene => ("safety net", budgets.hygiene),
            Trigger::Background => ("pressure threshold", budgets.pressure),
            _ if self.is_cold() && budgets.cold_trigger < budgets.trigger => {
                ("cold-cache trigger", budgets.cold_trigger)
            }
            _ => ("trigger", budgets.trigger),
        };
        if tokens < u64::from(mark) {
            return Verdict::Wait(format!("{} tokens, below the {name} of {}", grouped(tokens), grouped(mark)));
        }
        // The safety net is far above the trigger: where folds at the trigger saved too little, one there may save enough.
        let most = if self.trigger == Trigger::Hygiene { 2 * knobs.max_strikes } else { knobs.max_strikes };
        if state.strikes >= most {
            return Verdict::Wait(stopped(state));
        }
        if self.trigger == Trigger::Hygiene {
            return match messages < knobs.hygiene_min_messages as usize {
                true => Verdict::Wait(format!(
                    "{messages} messages; the safety net needs at least {} (compression.hygiene_min_messages)",
                    knobs.hygiene_min_messages
                )),
                false => Verdict::Act(format!("{} tokens reach the safety net of {}", grouped(tokens), grouped(mark))),
            };
        }
        if state.awaiting_usage {
            return Verdict::Wait("waiting for the provider to report usage after the last fold".into());
        }
        // What a client repeats in every request may leave so little room below the trigger that a fold lands just under
        // it: then every second request would lose its cached prefix.
        let grown = state.landed.map_or(u64::MAX, |landed| tokens.saturating_sub(landed));
        if grown < u64::from(budgets.growth) {
            return Verdict::Wait(format!(
                "{} tokens; {} added since the last rewrite, the next one needs {} (compression.min_growth)",
                grouped(tokens),
                grouped(grown),
                grouped(budgets.growth)
            ));
        }
        Verdict::Act(format!("{} tokens reach the {name} of {}", grouped(tokens), grouped(mark)))
    }

    /// Whether a request cannot be sent as it is, by our own count.
    fn by_limits(&self) -> Verdict {
        let Size { tokens, bytes, .. } = self.size;
        let (window, most) = (self.budgets.effective_window, self.budgets.max_body_bytes);
        let is_too_long = tokens >= u64::from(window);
        if !is_too_long && bytes <= most {
            return Verdict::Wait(format!(
                "{} tokens and {} bytes fit the window of {} tokens",
                grouped(tokens),
                grouped(bytes),
                grouped(window)
            ));
        }
        // Where folds have stopped helping, the provider has the last word; its refusal folds harder.
        if self.state.strikes >= self.policy.compression.max_strikes {
            return Verdict::Wait(stopped(self.state));
        }
        Verdict::Act(match is_too_long {
            true => format!("{} tokens exceed the window of {}", grouped(tokens), grouped(window)),
            false => format!("{} bytes, over the limit of {}", grouped(bytes), grouped(most)),
        })
    }

    /// Lets money decide where the marks leave the conversation alone and the policy wants that.
    fn by_money(&self, verdict: Verdict) -> Verdict {
        let (knobs, state) = (&self.policy.compression, self.state);
        let decides = knobs.enabled && knobs.economy && self.trigger == Trigger::Engine;
        let Verdict::Wait(reason) = verdict else { return verdict };
        let Some(economics) = decides.then(|| self.economics()).flatten() else { return Verdict::Wait(reason) };
        let is_free = !state.awaiting_usage && state.strikes < knobs.max_strikes;
        let sentence = economics.sentence(self.size.tokens);
        match economics.pays && is_free {
            true => Verdict::Act(sentence),
            false => Verdict::Wait(format!("{reason}; {sentence}")),
        }
    }
}

/// Whether a prefix that lives for `ttl` has expired after a pause.
pub(crate) fn is_cold(idle: Option<u32>, ttl: CacheTtl) -> bool {
    idle.is_some_and(|idle| idle > ttl.seconds())
}

/// Says once that the trigger is near, and again only after usage had fallen: what to remember, and what to say.
pub fn pressure(tokens: u64, budgets: &Budgets, state: &SessionState) -> Option<(SessionEvent, Option<String>)> {
    match (tokens < u64::from(budgets.pressure), state.warned) {
        (true, true) => Some((SessionEvent::PressureFell, None)),
        (false, false) => {
            let share = tokens * 100 / u64::from(budgets.trigger.max(1));
            let trigger = budgets.trigger;
            let warning = format!(
                "context is at {share} % of the compaction trigger ({} of {} tokens)",
                grouped(tokens),
                grouped(trigger)
            );
            Some((SessionEvent::PressureReached, Some(warning)))
        }
        (true, false) | (false, true) => None,
    }
}

/// Why automatic folds have stopped, and what helps.
fn stopped(state: &SessionState) -> String {
    let advice = match state.cause {
        Some(Cause::LongSummary) => {
            "the summaries are nearly as long as what they replace; lower compression.summary_max or use another summary model"
        }
        Some(Cause::Dense) | None => {
            "head and tail take most of the tokens; lower compression.target_ratio, fold with a focus, or start a new session"
        }
    };
    format!("automatic folds are disabled because the last {} saved too little: {advice}", state.strikes)
}
