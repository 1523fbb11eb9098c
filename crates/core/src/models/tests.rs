use std::collections::BTreeSet;

use super::*;

/// One line for a model: what most decisions depend on.
fn facts(spelled: &str, family: ApiFamily) -> (u32, Option<u32>, Tokeniser, SignedReasoning, bool) {
    let model = ModelTable::embedded().profile(spelled, family);
    (model.window, model.max_input, model.tokeniser, model.signed_reasoning, model.known)
}

#[test]
fn the_embedded_table_is_readable_and_each_entry_names_its_source_and_date() {
    let entries: Vec<ModelEntry> = serde_json::from_str(include_str!("models.json")).unwrap();
    assert!(entries.len() > 80);
    let mut stems = BTreeSet::new();
    for entry in &entries {
        assert!(!entry.stems.is_empty());
        assert!(entry.source.as_deref().is_some_and(|source| !source.is_empty()), "{:?}", entry.stems);
        let date = entry.date.as_deref().unwrap_or("");
        assert!(date.len() == 10 && date.starts_with("20"), "{:?}", entry.stems);
        for stem in &entry.stems {
            assert!(stems.insert(ModelName::of(stem)), "{stem} stands twice");
        }
    }
    assert_eq!(ModelTable::embedded().stems().count(), stems.len());
}

#[test]
fn spellings_of_one_model_have_one_name() {
    for (spelled, name) in [
        ("claude-opus-4-5", "claude-opus-4-5"),
        ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("openrouter/anthropic/Claude-Opus-4.5:beta", "claude-opus-4-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("vertex_ai/claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("claude-opus-4-5[1m]", "claude-opus-4-5"),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-opus-4-5-v1:0", "claude-opus-4-5"),
        ("gpt-4o-2024-11-20", "gpt-4o"),
        ("chatgpt-4o-latest", "chatgpt-4o"),
        ("deepseek-v3.2", "deepseek-v3-2"),
        ("llama3.1:8b", "llama3-1-8b"),
        ("qwen3:latest", "qwen3"),
        ("", ""),
        ("latest", "latest"),
    ] {
        assert_eq!(ModelName::of(spelled).as_str(), name, "{spelled}");
    }
}

#[test]
fn known_models_have_their_windows_and_profiles() {
    use ApiFamily::{Anthropic, OpenAi};
    use SignedReasoning::{LatestTurn, None as Unsigned, PrefixBound};
    use Tokeniser::{Cl100k, Estimate, O200k};
    let (k272, k922) = (Some(272_000), Some(922_000));
    for (spelled, family, window, input, tokeniser, signed) in [
        ("claude-opus-4-5-20251101", Anthropic, 200_000, None, Estimate, LatestTurn),
        ("claude-opus-4-6", Anthropic, 1_000_000, None, Estimate, LatestTurn),
        ("claude-opus-5", Anthropic, 1_000_000, None, Estimate, LatestTurn),
        ("claude-opus-5-5", Anthropic, 1_000_000, None, Estimate, PrefixBound),
        ("claude-sonnet-5.5", OpenAi, 1_000_000, None, Estimate, PrefixBound),
        ("claude-fable-5", Anthropic, 1_000_000, None, Estimate, LatestTurn),
        ("claude-fable-5-1", Anthropic, 1_000_000, None, Estimate, PrefixBound),
        ("claude-sonnet-4-20250514", Anthropic, 200_000, None, Estimate, LatestTurn),
        ("claude-sonnet-4-5[1m]", Anthropic, 1_000_000, None, Estimate, LatestTurn),
        ("claude-3-5-sonnet-latest", Anthropic, 200_000, None, Estimate, Unsigned),
        ("claude-someday-9", Anthropic, 200_000, None, Estimate, PrefixBound),
        ("gpt-4o-mini", OpenAi, 128_000, None, O200k, Unsigned),
        ("gpt-4.1-nano", OpenAi, 1_047_576, None, O200k, Unsigned),
        ("gpt-4-1106-preview", OpenAi, 128_000, None, Cl100k, Unsigned),
        ("gpt-4-0613", OpenAi, 8_192, None, Cl100k, Unsigned),
        ("gpt-3.5-turbo", OpenAi, 16_385, None, Cl100k, Unsigned),
        ("o3-mini", OpenAi, 200_000, None, O200k, LatestTurn),
        ("openai/gpt-5-mini", OpenAi, 400_000, k272, O200k, LatestTurn),
        ("gpt-5.6-terra", OpenAi, 1_050_000, k922, O200k, LatestTurn),
        ("gpt-6.1-sol", OpenAi, 1_050_000, k922, O200k, LatestTurn),
        ("gemini-2.5-pro", OpenAi, 1_048_576, None, Estimate, Unsigned),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", OpenAi, 262_144, None, Estimate, Unsigned),
        ("meta-llama/Llama-3.3-70B-Instruct", OpenAi, 131_072, None, Estimate, Unsigned),
        ("deepseek-chat", OpenAi, 1_000_000, None, Estimate, Unsigned),
    ] {
        assert_eq!(facts(spelled, family), (window, input, tokeniser, signed, true), "{spelled}");
    }
}

#[test]
fn an_unknown_model_says_so_and_gets_the_window_of_its_api() {
    for (family, window) in [(ApiFamily::Anthropic, 200_000), (ApiFamily::OpenAi, 128_000)] {
        let model = ModelTable::embedded().profile("acme/house-model-7", family);
        assert_eq!((model.known, model.window), (false, window));
        assert_eq!(model, ModelProfile::unknown("house-model-7", family));
    }
}

#[test]
fn prices_come_out_in_dollars_and_writes_by_lifetime() {
    let price = |name: &str| ModelTable::embedded().profile(name, ApiFamily::Anthropic).prices.unwrap();
    let fable = price("claude-fable-5-1");
    assert_eq!((fable.input, fable.output, fable.cache_read), (10.0, 50.0, 0.25));
    assert_eq!((fable.cache_write(300), fable.cache_write(3600)), (12.5, 20.0));
    let opus = price("claude-opus-5-5");
    assert_eq!((opus.input, opus.cache_read, opus.cache_write(300)), (4.0, 0.2, 5.0));
    let terra = price("gpt-6.1-terra");
    assert_eq!((terra.cache_read, terra.cache_write(300), terra.cache_write(43_200)), (0.05, 1.25, 2.5));
    assert_eq!(price("gpt-4o").cache_write(300), 2.5, "where writes are free the input price holds");
}

#[test]
fn price_steps_are_known_where_they_are_felt() {
    let above = |name: &str| {
        let model = ModelTable::embedded().profile(name, ApiFamily::OpenAi);
        model.price_step.map(|step| step.above)
    };
    assert_eq!(above("gpt-5.6-sol"), Some(272_000));
    assert_eq!(above("gpt-6.1-terra"), Some(272_000));
    assert_eq!(above("claude-haiku-5-5"), Some(100_000));
    assert_eq!(above("gemini-2.5-pro"), Some(200_000));
    assert_eq!(above("gpt-5.4-mini"), None, "the step of gpt-5.4 is not its own");
    assert_eq!(above("claude-sonnet-4-6"), None);
}

#[test]
fn a_model_with_a_window_of_its_own_does_not_inherit_a_price() {
    let model = ModelTable::embedded().profile("gpt-5.6", ApiFamily::OpenAi);
    assert_eq!(model.prices, None);
}

#[test]
fn an_override_wins_for_its_stem_and_leaves_the_rest() {
    let mine = ModelTable::parse(
        r#"[{"match": ["claude-opus-4-5"], "window": 150000, "price_step": {"above": 9, "input": 1, "output": 1}},
            {"match": ["house"], "window": 64000, "tokeniser": "cl100k"}]"#,
    )
    .unwrap();
    let table = ModelTable::embedded().with(mine);
    let plain = ModelTable::embedded().profile("claude-opus-4-5", ApiFamily::Anthropic);
    let model = table.profile("anthropic/claude-opus-4.5", ApiFamily::Anthropic);
    assert_eq!(model, ModelProfile { window: 150_000, ..plain });
    let house = table.profile("acme/house-model-7", ApiFamily::OpenAi);
    assert_eq!((house.known, house.window, house.tokeniser), (true, 64_000, Tokeniser::Cl100k));
    let other = ("gpt-4o", ApiFamily::OpenAi);
    assert_eq!(table.profile(other.0, other.1), ModelTable::embedded().profile(other.0, other.1));
}

#[test]
fn a_step_that_changes_nothing_takes_the_step_away() {
    let mine = r#"[{"match": ["gpt-6.1"], "price_step": {"above": 272000, "input": 1, "output": 1}}]"#;
    let table = ModelTable::embedded().with(ModelTable::parse(mine).unwrap());
    assert_eq!(table.profile("gpt-6.1-sol", ApiFamily::OpenAi).price_step, None);
}

#[test]
fn an_unreadable_table_names_the_place() {
    let error = ModelTable::parse("[{\"match\": [\"x\"],\n \"windows\": 3}]").unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("windows"), "{error}");
}
