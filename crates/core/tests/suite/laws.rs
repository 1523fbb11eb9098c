//! Laws: what holds for every session, every policy and every request.

use crate::common::case::{Case, Want, case, case_of, config};
use crate::common::generate::{Knobs, any_transcript};
use crate::common::kit::observe_usage;
use crate::common::reading::{handles, raws, said};
use crate::common::session::session;
use crate::common::texts::CANARY;
use foldline_core::Outcome;
use foldline_core::planning::StepKind;
use foldline_core::planning::{Inputs, count, read, zones_of};
use foldline_core::planning::{Zone, last_request};
use foldline_core::policy::{AutoOr, Preset, SignedReasoning};
use foldline_core::{Compaction, EngineError, Format, Job, Policy, Report, SessionState, Transcript, compact, handoff};
use foldline_transcript::recall::Handle;
use foldline_transcript::validate::{in_flight, validate_rewrite};
use foldline_transcript::wire;
use foldline_transcript::{PartKind, Role};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

type Law = Result<(), TestCaseError>;

/// Runs a case and checks something about what comes out; what cannot fit is another law's concern.
fn on_result(case: &Case, check: impl Fn(&str, &Transcript<'_>, &Compaction<'_>, &Transcript<'_>) -> Law) -> Law {
    let text = case.session.text();
    let before = wire::read(&text, Some(case.session.format)).unwrap();
    match case.compact(&text) {
        Ok(done) => {
            let after = wire::read(&done.body, Some(done.format)).unwrap();
            check(&text, &before, &done, &after)
        }
        Err(EngineError::CannotFit(_)) => Ok(()),
        Err(error) => Err(TestCaseError::fail(error.to_string())),
    }
}

/// Tokens of a document as the case counts them, without any memory.
fn tokens(case: &Case, text: &str) -> u64 {
    let transcript = wire::read(text, Some(case.session.format)).unwrap();
    let state = SessionState::default();
    let setting = case.job().setting(&transcript, &case.policy(), &state);
    count(&transcript, &setting, &state).total()
}

/// Messages of the input that no step and no fold names.
fn untouched(done: &Compaction<'_>, before: &Transcript<'_>) -> Vec<usize> {
    let folded = done.plan.fold.as_ref().map(|fold| fold.messages.clone()).unwrap_or_default();
    (0..before.messages.len())
        .filter(|index| !folded.contains(index))
        .filter(|&index| !done.plan.steps.iter().any(|step| step.message == index))
        .collect()
}

/// Whether `new` is `old` with a handoff in it, or, in a session file, `old` with another parent.
fn is_host(old: &str, new: &str, format: Format) -> bool {
    let mut new: serde_json::Value = serde_json::from_str(new).unwrap();
    let mut old: serde_json::Value = serde_json::from_str(old).unwrap();
    if format == Format::ClaudeCode {
        old["parentUuid"] = serde_json::Value::Null;
        new["parentUuid"] = serde_json::Value::Null;
    }
    if old == new {
        return true;
    }
    let content = |value: &serde_json::Value| match format {
        Format::ClaudeCode => value["message"]["content"].clone(),
        Format::ShareGpt => value["value"].clone(),
        Format::Gemini => value["parts"].clone(),
        _ => value["content"].clone(),
    };
    let text = content(&new).to_string();
    let own = content(&old);
    if own.is_null() {
        return text.contains("[FOLDLINE HANDOFF") && old["tool_calls"] == new["tool_calls"];
    }
    let own = own.as_str().map_or_else(
        || own.to_string().trim_matches(['[', ']']).to_owned(),
        |own| {
            let quoted = serde_json::Value::from(own).to_string();
            quoted.trim_matches('"').to_owned()
        },
    );
    text.contains("[FOLDLINE HANDOFF") && own.split("},{").all(|block| text.contains(block.trim_matches(['{', '}'])))
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn what_comes_out_is_what_a_provider_takes(case in case()) {
        on_result(&case, |_, before, done, after| {
            prop_assert_eq!(validate_rewrite(before, after), vec![], "{:?}: {}", done.plan.outcome, done.body);
            Ok(())
        })?;
    }

    #[test]
    fn what_comes_out_of_damage_is_what_a_provider_takes(
        (format, text) in any_transcript(Knobs { turns: 10, accidents: 4, odd: 3, huge: 9_000 }),
        window in 2_000..12_000u32,
        target in prop::option::of(500..6_000u64),
    ) {
        let mut policy = Policy::of(Preset::Hermes);
        policy.model.window = AutoOr::Fixed(window);
        let mut job = Job { format: Some(format), ..Job::default() };
        job.request.target = target;
        let before = wire::read(&text, Some(format));
        prop_assume!(before.as_ref().is_ok_and(|before| before.has_begun()));
        let before = before.unwrap();
        match compact(&text, &policy, &SessionState::default(), &job) {
            Ok(done) => {
                let after = wire::read(&done.body, Some(format)).unwrap();
                prop_assert_eq!(validate_rewrite(&before, &after), vec![], "{:?}: {}", done.plan.outcome, done.body);
            }
            Err(EngineError::CannotFit(_)) => {}
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }

    #[test]
    fn what_is_unchanged_is_so_byte_for_byte(case in case()) {
        on_result(&case, |text, _, done, _| {
            match done.plan.outcome {
                Outcome::Unchanged | Outcome::Aborted => {
                    prop_assert_eq!(&done.body, text);
                    prop_assert!(!done.plan.changes_something());
                    prop_assert_eq!(done.plan.earliest_changed(), None);
                }
                _ => prop_assert_ne!(&done.body, text, "{:?} without a change", done.plan.outcome),
            }
            Ok(())
        })?;
    }

    #[test]
    fn switched_off_means_hands_off(case in case(), (format, damaged) in any_transcript(Knobs::DAMAGED)) {
        let mut policy = case.policy();
        policy.compression.enabled = false;
        let text = case.session.text();
        let done = compact(&text, &policy, &SessionState::default(), &case.job()).unwrap();
        prop_assert_eq!(&done.body, &text);
        prop_assume!(wire::read(&damaged, Some(format)).is_ok());
        let job = Job { format: Some(format), ..case.job() };
        let done = compact(&damaged, &policy, &SessionState::default(), &job).unwrap();
        prop_assert_eq!(&done.body, &damaged);
    }

    #[test]
    fn the_result_is_never_larger(case in case()) {
        on_result(&case, |text, _, done, _| {
            let (before, after) = (tokens(&case, text), tokens(&case, &done.body));
            prop_assert!(after <= before, "{:?}: {before} → {after}", done.plan.outcome);
            let changed = done.plan.outcome != Outcome::Unchanged;
            prop_assert!(!changed || after < before, "{:?} for nothing: {before} → {after}", done.plan.outcome);
            prop_assert_eq!(done.plan.tokens.after, after, "the report says something else");
            prop_assert_eq!(done.plan.tokens.before, before);
            Ok(())
        })?;
    }

    #[test]
    fn every_step_saves(case in case()) {
        on_result(&case, |_, _, done, _| {
            let is_neutral = |kind: StepKind| matches!(kind, StepKind::Carry | StepKind::Repair | StepKind::DropId);
            for step in done.plan.steps.iter().filter(|step| !is_neutral(step.kind)) {
                prop_assert!(step.after < step.before, "{step:?}");
            }
            Ok(())
        })?;
    }

    #[test]
    fn compacting_again_changes_nothing(case in case()) {
        // Who asks for a fold, or was refused by the provider, wants more each time.
        prop_assume!(!matches!(case.want, Want::Manual | Want::Overflow));
        on_result(&case, |_, _, done, _| {
            let again = case.compact_with(&done.body, &done.state).unwrap();
            prop_assert_eq!(&again.body, &done.body);
            prop_assert_eq!(again.plan.outcome, Outcome::Unchanged);
            Ok(())
        })?;
    }

    #[test]
    fn compacting_again_without_memory_comes_to_rest(case in case()) {
        prop_assume!(!matches!(case.want, Want::Manual | Want::Overflow));
        on_result(&case, |_, _, done, _| {
            let mut body = done.body.to_string();
            let mut sizes = vec![done.plan.tokens.before, done.plan.tokens.after];
            for _ in 0..3 {
                match case.compact(&body) {
                    Ok(again) if again.body == body => return Ok(()),
                    Ok(again) => {
                        sizes.push(again.plan.tokens.after);
                        body = again.body.to_string();
                    }
                    Err(_) => return Ok(()),
                }
            }
            Err(TestCaseError::fail(format!("still changing after four rounds: {sizes:?}, trigger {}", done.budgets.trigger)))
        })?;
    }

    #[test]
    fn the_same_input_gives_the_same_output(case in case()) {
        let text = case.session.text();
        let copy = text.clone();
        match (case.compact(&text), case.compact(&copy)) {
            (Ok(one), Ok(two)) => {
                prop_assert_eq!(&one.body, &two.body);
                prop_assert_eq!(&one.plan, &two.plan);
                prop_assert_eq!(&one.state, &two.state);
            }
            (Err(one), Err(two)) => prop_assert_eq!(one, two),
            _ => return Err(TestCaseError::fail("once it fits, once it does not")),
        }
    }

    #[test]
    fn the_last_request_lives_on_word_for_word_as_a_user_message(case in case()) {
        let Some(request) = case.session.last_request() else { return Ok(()) };
        on_result(&case, |text, _, done, _| {
            let messages = said(done.format, &done.body);
            let carries = |text: &String| *text == request || text.ends_with(&format!("\n\n{request}"));
            let alive = messages.iter().filter(|said| said.role == "user" && said.texts.iter().any(carries)).count();
            let was = said(done.format, text);
            let was = was.iter().filter(|said| said.role == "user" && said.texts.iter().any(carries)).count();
            prop_assert!(alive >= 1, "{:?}: {}", done.plan.outcome, done.body);
            prop_assert!(alive <= was, "the request was doubled");
            // And it is still the newest that is said.
            let last = messages.iter().rposition(|said| {
                said.role == "user" && said.texts.iter().any(|text| !text.trim().is_empty())
            });
            let newest = messages.get(last.unwrap()).unwrap();
            let is_handoff = newest.texts.iter().any(|text| handoff::is_handoff_text(text));
            prop_assert!(newest.texts.iter().any(carries) || is_handoff, "{newest:?}");
            Ok(())
        })?;
    }

    #[test]
    fn the_last_request_is_found_again_in_the_result(case in case()) {
        on_result(&case, |_, before, done, after| {
            let words = |transcript: &Transcript<'_>| last_request(transcript).map(|index| {
                let texts: Vec<_> = transcript.parts_at(index).iter().filter(|part| part.kind == PartKind::Text)
                    .map(|part| transcript.words(part).into_owned()).collect();
                texts.join("\n")
            });
            let (was, is) = (words(before), words(after));
            if let Some(was) = was {
                let is = is.unwrap_or_default();
                prop_assert!(is == was || is.ends_with(&was), "{:?}: was {was:?}, is {is:?}", done.plan.outcome);
            }
            Ok(())
        })?;
    }

    #[test]
    fn instructions_and_everything_around_the_messages_stay(case in case()) {
        on_result(&case, |text, before, done, after| {
            let instructions = |transcript: &Transcript<'_>| -> Vec<String> {
                transcript.messages.iter().filter(|message| message.role.is_instruction())
                    .map(|message| transcript.raw(message.span).to_owned()).collect()
            };
            prop_assert_eq!(instructions(before), instructions(after));
            if case.session.format != Format::ClaudeCode {
                let (from, to) = (before.list, after.list);
                prop_assert_eq!(&text[..from.start as usize], &done.body[..to.start as usize]);
                prop_assert_eq!(&text[from.end as usize..], &done.body[to.end as usize..]);
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_call_and_its_result_stay_or_go_together(case in case()) {
        on_result(&case, |text, before, done, after| {
            let ids = |body: &str| {
                let messages = said(case.session.format, body);
                let calls: Vec<String> = messages.iter().flat_map(|said| said.calls.iter().map(|call| call.0.clone())).collect();
                let results: Vec<String> = messages.iter().flat_map(|said| said.results.iter().map(|result| result.0.clone())).collect();
                (calls, results)
            };
            let (calls, results) = ids(&done.body);
            let (all_calls, all_results) = ids(text);
            // Ids can be left out.
            for id in all_calls.iter().filter(|id| !id.is_empty()) {
                if all_results.contains(id) {
                    prop_assert_eq!(calls.contains(id), results.contains(id), "{} was separated", id);
                } else {
                    prop_assert!(calls.contains(id) && !results.contains(id), "{id} is in flight");
                }
            }
            // An item may lose the id that binds it to reasoning which went, and nothing else.
            let flying = |transcript: &Transcript<'_>| -> Vec<serde_json::Value> {
                let calls = in_flight(transcript).into_iter().map(|part| transcript.raw(transcript.parts[part].span));
                let without_id = |call: &str| {
                    let mut call: serde_json::Value = serde_json::from_str(call).unwrap();
                    if case.session.format == Format::OpenAiResponses {
                        call.as_object_mut().and_then(|call| call.remove("id"));
                    }
                    call
                };
                calls.map(without_id).collect()
            };
            prop_assert_eq!(flying(before), flying(after));
            prop_assert_eq!(calls.len(), results.len() + flying(after).len());
            Ok(())
        })?;
    }

    #[test]
    fn messages_of_one_group_go_together(case in case()) {
        on_result(&case, |_, before, done, _| {
            let Some(fold) = &done.plan.fold else { return Ok(()) };
            for (index, message) in before.messages.iter().enumerate() {
                let folded = fold.messages.contains(&index);
                let mut partners: Vec<usize> = message.parts.clone()
                    .filter_map(|part| before.exchanges.other_of(part as usize))
                    .map(|part| before.message_of(part)).collect();
                partners.dedup();
                for partner in partners {
                    prop_assert_eq!(folded, fold.messages.contains(&partner), "{} and {}", index, partner);
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn messages_that_no_step_names_keep_their_bytes(case in case()) {
        on_result(&case, |_, before, done, after| {
            let (old, new) = (raws(before), raws(after));
            let mut at = 0;
            let mut hosts = 0;
            for index in untouched(done, before) {
                let found = new[at..].iter().position(|raw| *raw == old[index]);
                match found {
                    Some(step) => at += step + 1,
                    None => {
                        let host = new[at..].iter().position(|raw| is_host(old[index], raw, done.format));
                        let Some(host) = host else {
                            return Err(TestCaseError::fail(format!("message {index} changed: {}", old[index])));
                        };
                        hosts += usize::from(new[at + host].contains("[FOLDLINE HANDOFF"));
                        at += host + 1;
                    }
                }
            }
            prop_assert!(hosts <= usize::from(done.plan.fold.is_some()), "{hosts} messages took the handoff in");
            Ok(())
        })?;
    }

    #[test]
    fn head_and_tail_are_left_alone_unless_the_limit_forces_it(case in case()) {
        on_result(&case, |_, before, done, _| {
            let zones = &done.plan.zones;
            for step in &done.plan.steps {
                let in_middle = zones.zone_of(step.message) == Zone::Middle;
                match step.kind {
                    StepKind::DropSealed | StepKind::DropId | StepKind::Repair => {}
                    _ if done.plan.outcome == Outcome::Clamped => {}
                    // What is huge comes in reduced form from the start, wherever it stands.
                    StepKind::Reduce if case.policy().compression.admission => {}
                    _ => prop_assert!(in_middle, "{:?} of {}", step.kind, step.message),
                }
                prop_assert!(!before.messages[step.message].role.is_instruction());
            }
            for &message in done.plan.fold.iter().flat_map(|fold| &fold.messages) {
                prop_assert_eq!(zones.zone_of(message), Zone::Middle);
            }
            prop_assert!(zones.head <= zones.tail && zones.tail <= zones.messages);
            prop_assert_eq!(zones.messages, before.messages.len());
            Ok(())
        })?;
    }

    #[test]
    fn the_tail_begins_with_no_tool_result(case in case()) {
        on_result(&case, |_, before, done, _| {
            let tail = done.plan.zones.tail;
            if done.plan.fold.is_some() && tail < before.messages.len() {
                prop_assert_ne!(before.messages[tail].role, Role::Tool);
                let only_results = before.parts_at(tail).iter().all(|part| part.kind == PartKind::ToolResult);
                prop_assert!(!only_results || before.parts_at(tail).is_empty());
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_larger_window_never_keeps_less(case in case(), factor in 1.01..4.0f64) {
        let mut small = case;
        small.want = Want::Automatic;
        let mut large = small.clone();
        large.window = (f64::from(small.window) * factor) as u32;
        let text = small.session.text();
        let before = wire::read(&text, Some(small.session.format)).unwrap();
        let kept = |case: &Case| -> Option<(usize, u64, Outcome)> {
            let done = case.compact(&text).ok()?;
            let setting = case.job().setting(&before, &case.policy(), &SessionState::default());
            let counts = count(&before, &setting, &SessionState::default());
            let verbatim = match done.plan.outcome {
                Outcome::Unchanged => counts.messages(),
                _ => untouched(&done, &before).into_iter().map(|index| counts.message(index)).sum(),
            };
            Some((done.plan.zones.tail, verbatim, done.plan.outcome))
        };
        match (kept(&small), kept(&large)) {
            (Some((_, less, one)), Some((_, more, two))) => {
                prop_assert!(less <= more, "{} keeps {less} ({one:?}), {} keeps {more} ({two:?})", small.window, large.window);
            }
            (Some(_), None) => return Err(TestCaseError::fail("fits the small window and not the large one")),
            (None, _) => {}
        }
    }

    #[test]
    fn the_middle_shrinks_as_the_window_grows(session in session(), small in 2_000..20_000u32, more in 0..20_000u32, preset in prop::sample::select(Preset::ALL.to_vec())) {
        let text = session.text();
        let middle = |window: u32| {
            let mut policy = Policy::of(preset);
            policy.model.window = AutoOr::Fixed(window);
            let (job, state) = (Job { format: Some(session.format), ..Job::default() }, SessionState::default());
            let inputs = Inputs { policy: &policy, state: &state, job: &job };
            let sound = read(&text, &inputs).unwrap();
            let zones = zones_of(&sound, &inputs);
            (sound.counts.between(zones.head, zones.tail), zones)
        };
        let (one, two) = (middle(small), middle(small + more));
        prop_assert!(two.0 <= one.0, "window {small}: {one:?}; window {}: {two:?}", small + more);
    }

    #[test]
    fn folding_the_same_again_and_again_comes_to_rest(case in case()) {
        let mut case = case;
        case.want = Want::Automatic;
        let mut body = case.session.text();
        let mut state = SessionState::default();
        let mut sizes = vec![tokens(&case, &body)];
        let mut idle = 0;
        for _ in 0..12 {
            let Ok(done) = case.compact_with(&body, &state) else { return Ok(()) };
            idle = if done.body == body { idle + 1 } else { 0 };
            state = done.state.clone();
            // The provider reports what we counted: no news, but the wait for usage is over.
            let now = tokens(&case, &done.body);
            sizes.push(now);
            observe_usage(&mut state, &done.budgets, now, done.messages.1, now);
            body = done.body.into_owned();
        }
        let trigger = case.policy().compression.threshold * f64::from(case.window);
        let poor = sizes.windows(2).filter(|pair| pair[1] < pair[0] && pair[1] * 10 > pair[0] * 9).count();
        prop_assert!(idle >= 3, "never at rest: {sizes:?}, trigger {trigger}");
        prop_assert!(poor <= 3, "{poor} compactions that save little: {sizes:?}, trigger {trigger}");
    }

    #[test]
    fn a_target_is_met_or_the_error_says_why_not(case in case(), target in 200..8_000u64) {
        let mut case = case;
        case.want = Want::Target(target);
        let text = case.session.text();
        match case.compact(&text) {
            Ok(done) => {
                let after = tokens(&case, &done.body);
                prop_assert!(after <= target, "{:?}: {after} tokens, {target} wanted", done.plan.outcome);
            }
            Err(EngineError::CannotFit(error)) => {
                prop_assert_eq!(error.target, target);
                prop_assert!(error.smallest > target, "{error}");
                prop_assert!(error.fixed + error.request <= error.smallest + 8, "{error}");
                prop_assert!(error.smallest <= tokens(&case, &text), "{error}");
                let words = error.to_string();
                for number in [error.target, error.fixed, error.request, error.smallest] {
                    prop_assert!(words.contains(&number.to_string()), "{words}");
                }
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }

    #[test]
    fn the_smallest_result_that_an_error_names_can_be_had(case in case(), target in 200..2_000u64) {
        let mut case = case;
        case.want = Want::Target(target);
        let text = case.session.text();
        if let Err(EngineError::CannotFit(error)) = case.compact(&text) {
            case.want = Want::Target(error.smallest + error.smallest / 25 + 40);
            let again = case.compact(&text);
            prop_assert!(again.is_ok(), "{error}; asked for a little more: {}", again.unwrap_err());
        }
    }

    #[test]
    fn a_result_fits_the_window_or_the_error_says_why_not(case in case()) {
        on_result(&case, |_, _, done, _| {
            // The estimate of a folded result is part by part; a hundredth is what they may differ.
            let window = u64::from(done.budgets.effective_window);
            let acted = done.plan.outcome != Outcome::Unchanged;
            let after = tokens(&case, &done.body);
            prop_assert!(!acted || matches!(case.want, Want::Target(_)) || after <= window + window / 100, "{after} of {window}");
            Ok(())
        })?;
    }

    #[test]
    fn every_original_is_what_its_handle_stands_for(case in case()) {
        on_result(&case, |_, _, done, _| {
            for original in &done.plan.originals {
                prop_assert_eq!(Handle::of(&original.text(&done.source)), original.handle);
            }
            for step in &done.plan.steps {
                if let Some(handle) = step.handle {
                    prop_assert!(done.plan.originals.iter().any(|original| original.handle == handle), "{step:?}");
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn every_handle_that_is_shown_leads_to_an_original(case in case()) {
        let mut case = case;
        case.keeps_originals = true;
        on_result(&case, |text, _, done, _| {
            let known = handles(text);
            for handle in handles(&done.body) {
                let stored = done.plan.originals.iter().any(|original| original.handle.to_string() == handle);
                prop_assert!(stored || known.contains(&handle), "{handle} leads nowhere");
            }
            Ok(())
        })?;
    }

    #[test]
    fn no_handle_is_shown_for_what_is_not_kept(case in case()) {
        let mut case = case;
        case.keeps_originals = false;
        on_result(&case, |text, _, done, _| {
            let known = handles(text);
            let new: Vec<_> = handles(&done.body).into_iter().filter(|handle| !known.contains(handle)).collect();
            prop_assert!(new.is_empty(), "{new:?} after {:?}", done.plan.outcome);
            Ok(())
        })?;
    }

    #[test]
    fn what_was_removed_is_among_the_originals(case in case()) {
        on_result(&case, |_, before, done, after| {
            // Words and pictures of the input are in the result or in an original.
            let mut kept: Vec<String> = done.plan.originals.iter().map(|original| original.text(&done.source).into_owned()).collect();
            kept.push(done.body.to_string());
            for part in before.parts.iter().chain(&before.inner) {
                let raw = match part.kind {
                    PartKind::Text | PartKind::ToolResult if part.content.span().is_empty() => continue,
                    PartKind::Text => before.raw(part.content.span()),
                    PartKind::Media => before.raw(part.span),
                    _ => continue,
                };
                let words = before.words(part);
                let found = kept.iter().any(|text| text.contains(raw) || text.contains(words.as_ref()) && part.kind == PartKind::Text);
                let merged = raw.len() > 2 && kept.iter().any(|text| text.contains(&raw[1..raw.len() - 1]));
                prop_assert!(found || merged, "{:?} is gone: {:.200}", part.kind, raw);
            }
            let _ = after;
            Ok(())
        })?;
    }

    #[test]
    fn signed_reasoning_is_kept_whole_or_dropped_whole(case in case()) {
        on_result(&case, |text, before, done, after| {
            let sealed = |transcript: &Transcript<'_>| -> Vec<String> {
                transcript.parts.iter().filter(|part| part.kind == PartKind::Sealed)
                    .map(|part| transcript.raw(part.span).to_owned()).collect()
            };
            for block in sealed(after) {
                prop_assert!(text.contains(&block), "altered: {block}");
            }
            let folded = |index: usize| done.plan.fold.as_ref().is_some_and(|fold| fold.messages.contains(&index));
            let is_bound = done.budgets.signed_reasoning == SignedReasoning::PrefixBound;
            let earliest = done.plan.earliest_changed().unwrap_or(usize::MAX);
            let expected: Vec<String> = before.parts.iter().enumerate()
                .filter(|(_, part)| part.kind == PartKind::Sealed)
                .filter(|(index, _)| {
                    let message = before.message_of(*index);
                    !(folded(message) || is_bound && message >= earliest)
                })
                .map(|(_, part)| before.raw(part.span).to_owned())
                .collect();
            prop_assert_eq!(sealed(after), expected, "{:?}", done.budgets.signed_reasoning);
            Ok(())
        })?;
    }

    #[test]
    fn everything_before_the_first_change_is_the_same_bytes(case in case()) {
        on_result(&case, |text, before, done, _| {
            let Some(earliest) = done.plan.earliest_changed() else {
                prop_assert_eq!(text, &done.body);
                return Ok(());
            };
            let end = before.messages[earliest].span.start as usize;
            // Removing the first message also takes the separator in front of the next.
            prop_assert!(done.body.len() >= end);
            prop_assert_eq!(&text[..end], &done.body[..end]);
            prop_assert_eq!(Report::of(done).earliest_changed, Some(earliest));
            Ok(())
        })?;
    }

    #[test]
    fn a_report_is_json_and_says_nothing_of_the_content(case in case()) {
        let text = case.session.text();
        match case.compact(&text) {
            Ok(done) => {
                let report = serde_json::to_string(&Report::of(&done)).unwrap();
                prop_assert!(!report.contains(CANARY), "{report}");
                let state = format!("{:?}", done.state);
                prop_assert!(!state.contains(CANARY), "{state}");
            }
            Err(error) => prop_assert!(!error.to_string().contains(CANARY)),
        }
    }

    #[test]
    fn a_result_has_at_most_one_handoff_of_ours_more_and_none_inside_another(case in case()) {
        on_result(&case, |_, before, done, after| {
            let marks = |transcript: &Transcript<'_>| (0..transcript.messages.len()).filter(|&index| handoff::is_handoff(transcript, index)).count();
            let tail = done.plan.zones.tail;
            let live = (0..before.messages.len())
                .filter(|index| (*index >= tail || *index < done.plan.zones.head) && handoff::is_handoff(before, *index)).count();
            if done.plan.fold.is_some() {
                prop_assert!(marks(after) <= live + 1, "{} handoffs, {live} of them live before", marks(after));
            }
            for text in said(done.format, &done.body).into_iter().filter(|said| said.role != "tool").flat_map(|said| said.texts) {
                if text.starts_with(handoff::OPENING) {
                    prop_assert_eq!(text.matches(handoff::OPENING).count(), 1);
                    prop_assert_eq!(text.matches(handoff::CLOSING).count(), 1);
                    prop_assert!(!text.contains("[CONTEXT COMPACTION"), "stacked: {text}");
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_session_file_stays_one_chain(case in case_of(crate::common::session::session_in(Format::ClaudeCode))) {
        on_result(&case, |_, _, done, _| {
            let mut last = serde_json::Value::Null;
            for line in done.body.lines() {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                prop_assert_eq!(&line["parentUuid"], &last, "{:?}, zones {:?}, {}", done.plan.outcome, done.plan.zones, line);
                last = line["uuid"].clone();
            }
            Ok(())
        })?;
    }
}
