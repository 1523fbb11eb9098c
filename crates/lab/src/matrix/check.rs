//! The checks of one run.

use foldline_core::handoff::record;
use foldline_core::planning::StepKind;
use foldline_core::tokens::measure;
use foldline_core::{Compaction, EngineError, Format, Job, Policy, SessionState, compact};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;
use foldline_transcript::{PartKind, Role, Transcript};
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// The checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The engine refused a transcript that reads.
    Accepted,
    /// The output reads, in the format and shape of the input, with the same bytes around the messages.
    SameShape,
    /// The output passes the strict validator.
    Valid,
    /// The output has no more tokens than the input, what repair had to add excepted.
    NotLarger,
    /// The output fits the target, or the window where there is none.
    Fits,
    /// The last request of a person is there, verbatim, in a live user message.
    LastRequest,
    /// What no step names is byte-identical and in order.
    Untouched,
    /// Compacting the output again changes nothing while it is below the trigger.
    Idempotent,
    /// The report counts what came out.
    Counted,
    /// A larger window keeps at least as much.
    LargerKeepsMore,
}

impl Check {
    /// All checks with their names.
    pub const NAMES: [(Check, &'static str); 10] = [
        (Check::Accepted, "accepted"),
        (Check::SameShape, "same shape"),
        (Check::Valid, "valid"),
        (Check::NotLarger, "not larger"),
        (Check::Fits, "fits"),
        (Check::LastRequest, "last request"),
        (Check::Untouched, "untouched"),
        (Check::Idempotent, "idempotent"),
        (Check::Counted, "counted"),
        (Check::LargerKeepsMore, "larger keeps more"),
    ];
}

/// Something that does not hold for one run.
pub(super) struct Fault {
    pub(super) check: Check,
    pub(super) weight: u64,
    pub(super) detail: String,
}

/// What came of a run.
pub(super) struct Examined {
    pub(super) outcome: String,
    /// Tokens of the output; `None` when there is none.
    pub(super) after: Option<u64>,
    pub(super) above_trigger: bool,
    pub(super) time: Duration,
    pub(super) faults: Vec<Fault>,
}

/// One run.
pub(super) struct Case<'a> {
    pub(super) body: &'a str,
    pub(super) format: Format,
    /// Tokens of the body: the same in all runs of a preset, and not cheap to count.
    pub(super) before: u64,
    pub(super) policy: &'a Policy,
    pub(super) job: &'a Job,
}

/// Tokens of a body under a policy; 0 when it does not read.
pub(super) fn tokens(body: &str, policy: &Policy) -> u64 {
    wire::read(body, None).map_or(0, |transcript| {
        let setting = Job::default().setting(&transcript, policy, &SessionState::default());
        measure(&transcript, &setting.measure).total()
    })
}

impl Case<'_> {
    /// Compacts and checks.
    pub(super) fn examine(&self) -> Examined {
        let started = Instant::now();
        let done = compact(self.body, self.policy, &SessionState::default(), self.job);
        let time = started.elapsed();
        let mut examined =
            Examined { outcome: String::new(), after: None, above_trigger: false, time, faults: Vec::new() };
        match done {
            Ok(done) => {
                examined.outcome = format!("{:?}", done.plan.outcome).to_lowercase();
                self.check(&done, &mut examined);
            }
            Err(EngineError::CannotFit(_)) => examined.outcome = "cannot fit".into(),
            Err(error) => {
                examined.outcome = "refused".into();
                examined.fault(Check::Accepted, 1, error.to_string());
            }
        }
        examined
    }

    fn check(&self, done: &Compaction<'_>, examined: &mut Examined) {
        let (Ok(input), Ok(source)) = (wire::read(self.body, None), wire::read(&done.source, Some(done.format))) else {
            return examined.fault(Check::SameShape, 1, "the input does not read on its own".into());
        };
        let output = match wire::read(&done.body, None) {
            Ok(output) => output,
            Err(error) => return examined.fault(Check::SameShape, 1, format!("the output does not read: {error}")),
        };
        self.check_shape(&input, &output, examined);
        for violation in validate(&output).iter().take(1) {
            examined.fault(Check::Valid, 1, violation.to_string());
        }
        let setting = self.job.setting(&input, self.policy, &SessionState::default());
        let tokens = |transcript: &Transcript<'_>| measure(transcript, &setting.measure).total();
        // What repair had to add is not held against the result.
        let repaired = if done.source == self.body { 0 } else { tokens(&source) };
        let (before, after) = (self.before.max(repaired), tokens(&output));
        examined.after = Some(after);
        examined.above_trigger = after >= u64::from(done.budgets.trigger);
        if after > before {
            examined.fault(Check::NotLarger, after - before, format!("{before} tokens became {after}"));
        }
        let room = self.job.request.target.unwrap_or(done.budgets.effective_window.into());
        if after > room {
            examined.fault(Check::Fits, after - room, format!("{after} tokens, room for {room}"));
        }
        if done.plan.tokens.after != after {
            let weight = done.plan.tokens.after.abs_diff(after);
            examined.fault(Check::Counted, weight, format!("reported {}, has {after}", done.plan.tokens.after));
        }
        check_request(&input, &output, examined);
        check_untouched(done, &input, &output, examined);
        if self.job.request.target.is_some() || !examined.above_trigger {
            self.check_again(&done.body, examined);
        }
    }

    fn check_shape(&self, input: &Transcript<'_>, output: &Transcript<'_>, examined: &mut Examined) {
        let around = |transcript: &Transcript<'_>| {
            let (start, end) = (transcript.list.start as usize, transcript.list.end as usize);
            let text = transcript.text;
            (text.get(..start).unwrap_or_default().to_owned(), text.get(end..).unwrap_or_default().to_owned())
        };
        if (output.format, output.shape) != (self.format, input.shape) {
            examined.fault(Check::SameShape, 1, format!("reads as {} {:?}", output.format, output.shape));
        } else if around(input) != around(output) {
            examined.fault(Check::SameShape, 1, "bytes around the messages changed".into());
        }
    }

    fn check_again(&self, body: &str, examined: &mut Examined) {
        match compact(body, self.policy, &SessionState::default(), self.job) {
            Ok(again) if again.body == body => {}
            Ok(again) => {
                let weight = body.len().abs_diff(again.body.len()) as u64;
                examined.fault(Check::Idempotent, weight, format!("a second time: {}", again.plan.reason));
            }
            Err(error) => examined.fault(Check::Idempotent, 1, format!("a second time: {error}")),
        }
    }
}

impl Examined {
    fn fault(&mut self, check: Check, weight: u64, detail: String) {
        self.faults.push(Fault { check, weight, detail });
    }
}

/// What a person says in each text of a message, without a handoff in front of it.
fn live_words(transcript: &Transcript<'_>, index: usize) -> Vec<String> {
    let is_user = transcript.messages.get(index).is_some_and(|message| message.role == Role::User);
    transcript
        .parts_at(index)
        .iter()
        .filter(|part| is_user && part.kind == PartKind::Text)
        .map(|part| transcript.words(part))
        .map(|words| record(&words).map_or_else(|| words.to_string(), |found| found.own.into_owned()))
        .filter(|words| !words.trim().is_empty())
        .collect()
}

/// The last thing that a person said is still the last thing that a person says.
fn check_request(input: &Transcript<'_>, output: &Transcript<'_>, examined: &mut Examined) {
    let last = |transcript: &Transcript<'_>| {
        (0..transcript.messages.len()).rev().map(|index| live_words(transcript, index)).find(|words| !words.is_empty())
    };
    let Some(asked) = last(input) else {
        return;
    };
    let kept = last(output).unwrap_or_default();
    // Repair may join neighbours: their words come one after the other, in one text or in several.
    let lost = asked.iter().find(|words| !kept.iter().any(|kept| kept.contains(words.as_str())));
    if let Some(lost) = lost {
        let weight = lost.len() as u64;
        let place = match (0..output.messages.len()).any(|at| live_words(output, at).contains(lost)) {
            true => "is not the last one any more",
            false => "is gone",
        };
        examined.fault(Check::LastRequest, weight, format!("a request of {weight} bytes {place}"));
    }
}

/// Messages of the input that no step names stand in the output, byte by byte and in order.
fn check_untouched(done: &Compaction<'_>, input: &Transcript<'_>, output: &Transcript<'_>, examined: &mut Examined) {
    let folded = done.plan.fold.as_ref().map_or(&[][..], |fold| &fold.messages);
    let named: BTreeSet<usize> = done.plan.steps.iter().map(|step| step.message).collect();
    // A repair names one message and may touch its neighbour, with which it was joined.
    let mut allowed = done.plan.steps.iter().filter(|step| step.kind == StepKind::Repair).count();
    // The handoff may have been merged into the first message that speaks after it.
    let merged = (done.plan.zones.tail..input.messages.len()).find(|&index| {
        let role = input.messages.get(index).map(|message| message.role);
        !folded.is_empty() && role.is_some_and(|role| !role.is_instruction() && role != Role::Meta)
    });
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, message) in output.messages.iter().enumerate().rev() {
        places.entry(output.raw(message.span)).or_default().push(index);
    }
    let mut reached = 0;
    for (index, message) in input.messages.iter().enumerate() {
        if folded.binary_search(&index).is_ok() || named.contains(&index) {
            continue;
        }
        let place = places.get_mut(input.raw(message.span)).and_then(|places| {
            let at = places.iter().rposition(|&place| place >= reached)?;
            Some(places.remove(at))
        });
        match place {
            Some(place) => reached = place + 1,
            None if merged == Some(index) => {}
            None if allowed > 0 => allowed -= 1,
            None => {
                return examined.fault(
                    Check::Untouched,
                    1,
                    format!("message {index} of the input is not in the output"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use foldline_core::policy::AutoOr;
    use std::borrow::Cow;

    /// Compacts a generated session, lets `tamper` change the output, and says which checks notice.
    fn noticed(tamper: impl Fn(&str) -> String) -> Vec<Check> {
        let body = generate::transcript(Format::Anthropic, 120, 5);
        let mut policy = Policy::default();
        policy.model.window = AutoOr::Fixed(32_000);
        let job = Job::default();
        let before = tokens(&body, &policy);
        let case = Case { body: &body, format: Format::Anthropic, before, policy: &policy, job: &job };
        let mut done = compact(&body, &policy, &SessionState::default(), &job).unwrap();
        assert!(done.plan.fold.is_some(), "{}", done.plan.reason);
        done.body = Cow::Owned(tamper(&done.body));
        let mut examined = Examined {
            outcome: String::new(),
            after: None,
            above_trigger: false,
            time: Duration::ZERO,
            faults: Vec::new(),
        };
        case.check(&done, &mut examined);
        examined.faults.iter().map(|fault| fault.check).collect()
    }

    fn last_request(body: &str) -> String {
        let read = wire::read(body, None).unwrap();
        let words = (0..read.messages.len()).rev().map(|at| live_words(&read, at)).find(|words| !words.is_empty());
        wire::json::encode(&words.unwrap()[0])
    }

    #[test]
    fn an_honest_result_passes_every_check() {
        assert_eq!(noticed(str::to_owned), []);
    }

    #[test]
    fn a_changed_request_is_noticed() {
        assert!(noticed(|body| body.replace(&last_request(body), "\"Something else.\"")).contains(&Check::LastRequest));
    }

    #[test]
    fn a_changed_byte_in_the_tail_is_noticed() {
        let found = noticed(|body| {
            let (before, after) = body.rsplit_once("\"tool_use_id\":").unwrap();
            format!("{before}\"tool_use_id\": {after}")
        });
        assert!(found.contains(&Check::Untouched), "{found:?}");
    }

    #[test]
    fn a_lost_result_is_noticed() {
        let found = noticed(|body| body.replacen("\"tool_use_id\":\"", "\"tool_use_id\":\"x", 1));
        assert!(found.contains(&Check::Valid), "{found:?}");
    }

    #[test]
    fn a_result_that_grew_is_noticed() {
        let found =
            noticed(|body| body.replace("\"content\":\"", &format!("\"content\":\"{}", "more ".repeat(200_000))));
        for check in [Check::NotLarger, Check::Fits, Check::Counted] {
            assert!(found.contains(&check), "{found:?}");
        }
    }

    #[test]
    fn a_field_outside_of_the_messages_is_noticed() {
        assert!(noticed(|body| body.replace("\"max_tokens\":8192", "\"max_tokens\":8193")).contains(&Check::SameShape));
        assert!(noticed(|_| "{".to_owned()).contains(&Check::SameShape));
    }
}
