use proptest::prelude::*;

use crate::models::{ApiFamily, ModelProfile, ModelTable, PriceStep};
use crate::policy::*;

fn of(policy: &Policy, window: u32, inputs: BudgetInputs) -> Budgets {
    Budgets::of(policy, &ModelProfile::with_window(window), inputs)
}

fn plain(preset: Preset, window: u32) -> Budgets {
    of(&Policy::of(preset), window, BudgetInputs::default())
}

/// All numbers that must never fall when the window grows.
fn growing(b: &Budgets) -> [(&'static str, u32); 16] {
    [
        ("effective_window", b.effective_window),
        ("trigger", b.trigger),
        ("hygiene", b.hygiene),
        ("pressure", b.pressure),
        ("cold_trigger", b.cold_trigger),
        ("growth", b.growth),
        ("tail", b.tail),
        ("tail_ceiling", b.tail_ceiling),
        ("low_water", b.low_water),
        ("prune_minimum", b.prune_minimum),
        ("protect_tool_tokens", b.protect_tool_tokens),
        ("handoff_min", b.handoff_min),
        ("handoff_max", b.handoff_max),
        ("handoff", b.handoff(30_000)),
        ("admission_above", b.admission_above),
        ("window", b.window),
    ]
}

#[test]
fn the_figures_of_the_documents_come_out() {
    let hermes = plain(Preset::Hermes, 200_000);
    assert_eq!((hermes.trigger, hermes.tail, hermes.tail_ceiling), (100_000, 20_000, 30_000));
    assert_eq!((hermes.handoff_min, hermes.handoff_max), (2_000, 10_000));
    assert_eq!((hermes.hygiene, hermes.pressure), (170_000, 85_000));
    assert_eq!(plain(Preset::Hermes, 1_000_000).handoff_max, 12_000);

    let sacred = plain(Preset::SacredZone, 128_000);
    assert_eq!((sacred.trigger, sacred.low_water, sacred.tail), (96_000, 64_000, 20_000));

    let runway = plain(Preset::Runway, 128_000);
    assert_eq!((runway.trigger, runway.prune_minimum, runway.protect_tool_tokens), (64_000, 6_400, 40_000));
    assert_eq!(runway.low_water, 64_000 - 9_600);
}

#[test]
fn recent_tool_output_is_spared_by_the_points_of_the_curve() {
    for (window, spared) in [
        (4_000, 1_250),
        (32_000, 10_000),
        (64_000, 20_000),
        (128_000, 40_000),
        (314_000, 70_000),
        (500_000, 100_000),
        (4_000_000, 100_000),
    ] {
        assert_eq!(plain(Preset::Runway, window).protect_tool_tokens, spared, "{window}");
    }
}

#[test]
fn the_reply_is_taken_off_the_window_and_a_huge_one_is_a_wish() {
    for (window, reply, effective) in [
        (200_000, 0, 200_000),
        (200_000, 8_000, 192_000),
        (200_000, 32_000, 168_000),
        (200_000, 65_536, 134_464),
        (200_000, 100_000, 180_000),
        (200_000, 128_000, 185_600),
        (128_000, 128_000, 128_000),
        (128_000, 300_000, 128_000),
    ] {
        let inputs = BudgetInputs { max_output: Some(reply), ..Default::default() };
        assert_eq!(of(&Policy::of(Preset::Hermes), window, inputs).effective_window, effective, "{window} {reply}");
    }
    let mut policy = Policy::of(Preset::Hermes);
    policy.model.max_output = AutoOr::Fixed(50_000);
    assert_eq!(of(&policy, 200_000, BudgetInputs::default()).effective_window, 150_000);
    let request = BudgetInputs { max_output: Some(10_000), ..Default::default() };
    assert_eq!(of(&policy, 200_000, request).effective_window, 190_000, "the request knows better");
    let huge = BudgetInputs { max_output: Some(128_000), ..Default::default() };
    assert_eq!(of(&policy, 200_000, huge).effective_window, 150_000, "as much as the policy says");
    policy.model.max_output = AutoOr::Fixed(199_000);
    assert_eq!(of(&policy, 200_000, BudgetInputs::default()).effective_window, 199_000, "no room for input");
}

#[test]
fn shares_of_the_room_leave_out_what_no_compaction_touches() {
    let policy = Policy::of(Preset::Steady);
    let with = |outside| of(&policy, 200_000, BudgetInputs { outside, ..Default::default() });
    let (bare, full) = (with(0), with(40_000));
    assert_eq!((bare.base, bare.trigger, bare.cold_trigger), (0, 172_000, 86_000));
    assert_eq!((full.base, full.trigger, full.cold_trigger), (40_000, 177_600, 108_800));
    assert_eq!((bare.growth, full.growth), (51_600, 41_280));
    assert_eq!((bare.tail, full.tail), (6_000, 6_000), "a tenth, and no more than this");
    assert_eq!(of(&policy, 32_000, BudgetInputs { outside: 12_000, ..Default::default() }).tail, 1_802);
    assert!(full.low_water > 40_000 && full.hygiene >= full.trigger);
    assert!(with(199_000).trigger <= 200_000, "also where nothing is left to fold");
    let wish = |max_output| of(&policy, 200_000, BudgetInputs { max_output, ..Default::default() }).effective_window;
    assert_eq!((wish(Some(8_000)), wish(Some(32_000)), wish(Some(128_000))), (192_000, 180_000, 180_000));
    let plain = Policy::of(Preset::Hermes);
    let filled = of(&plain, 100_000, BudgetInputs { outside: 40_000, ..Default::default() });
    assert_eq!(filled, of(&plain, 100_000, BudgetInputs::default()));
}

#[test]
fn a_small_window_is_filled_further() {
    let trigger = |window| plain(Preset::Steady, window).trigger;
    assert_eq!((trigger(20_000), trigger(32_000)), (18_025, 28_840), "0.86 and 4.8 % of that");
    assert_eq!((trigger(80_000), trigger(128_000)), (70_451, 110_080), "half of that, and none");
}

#[test]
fn who_says_that_the_reply_is_short_may_fill_more() {
    let trigger = |max_output| {
        of(&Policy::of(Preset::Steady), 200_000, BudgetInputs { max_output, ..Default::default() }).trigger
    };
    assert_eq!((trigger(None), trigger(Some(4_000))), (172_000, 180_359), "7 % of 0.86 more, of what the reply leaves");
    assert_eq!((trigger(Some(15_000)), trigger(Some(20_000))), (164_668, 154_800), "half of that, and none");
    let hermes = Policy::of(Preset::Hermes);
    assert_eq!(of(&hermes, 200_000, BudgetInputs { max_output: Some(4_000), ..Default::default() }).trigger, 98_000);
}

#[test]
fn a_price_step_and_a_small_summariser_hold_the_trigger_down() {
    let table = ModelTable::embedded();
    let haiku = table.profile("claude-haiku-5-5", ApiFamily::Anthropic);
    let budgets = Budgets::of(&Policy::of(Preset::Hermes), &haiku, BudgetInputs::default());
    assert_eq!((budgets.trigger, budgets.trigger_cap), (100_000, Some(TriggerCap::PriceStep)));
    assert_eq!(budgets.hygiene, 850_000);

    let inputs = BudgetInputs { summariser_window: Some(64_000), ..Default::default() };
    let budgets = Budgets::of(&Policy::of(Preset::Hermes), &haiku, inputs);
    assert_eq!((budgets.trigger, budgets.trigger_cap), (64_000, Some(TriggerCap::SummariserWindow)));

    let terra = table.profile("gpt-6.1-terra", ApiFamily::OpenAi);
    let budgets = Budgets::of(&Policy::of(Preset::Runway), &terra, BudgetInputs::default());
    assert_eq!((budgets.effective_window, budgets.trigger), (922_000, 272_000));
    let wide = ModelProfile { price_step: None, ..ModelProfile::with_window(544_000) };
    let same = Budgets::of(&Policy::of(Preset::Runway), &wide, BudgetInputs::default());
    assert_eq!(budgets.low_water, same.low_water, "budgets follow the trigger, not the unused window");

    let roomy = BudgetInputs { summariser_window: Some(1_000_000), ..Default::default() };
    assert_eq!(of(&Policy::of(Preset::Hermes), 200_000, roomy).trigger_cap, None);
}

#[test]
fn a_fixed_window_overrides_the_table() {
    let mut policy = Policy::of(Preset::Hermes);
    policy.model.window = AutoOr::Fixed(500_000);
    let gpt = ModelTable::embedded().profile("gpt-5", ApiFamily::OpenAi);
    assert_eq!(Budgets::of(&policy, &gpt, BudgetInputs::default()).effective_window, 500_000);
    assert_eq!(Budgets::of(&Policy::of(Preset::Hermes), &gpt, BudgetInputs::default()).effective_window, 272_000);
}

#[test]
fn a_small_window_still_has_a_handoff_and_a_reachable_low_water_mark() {
    for preset in Preset::ALL {
        let b = plain(*preset, 4_000);
        assert!(b.handoff_max <= b.trigger / 4, "{preset}: {b:?}");
        assert!(b.handoff_max >= b.handoff_min && b.handoff_min > 0, "{preset}: {b:?}");
        // The default does not prune to make room; it folds.
        assert!(b.low_water >= b.trigger / 2 || *preset == Preset::Steady, "{preset}: {b:?}");
        assert!(b.tail_ceiling < b.trigger, "{preset}: {b:?}");
    }
    assert_eq!(plain(Preset::Hermes, 16_000).handoff_max, 2_000, "2,000 win over 5 % of a small window");
}

#[test]
fn an_automatic_tail_follows_the_need_within_bounds() {
    let mut policy = Policy::of(Preset::Hermes);
    policy.compression.tail = Tail::Auto;
    let tail = |need| of(&policy, 200_000, BudgetInputs { tail_need: need, ..Default::default() }).tail;
    assert_eq!(tail(None), 20_000);
    assert_eq!([tail(Some(1)), tail(Some(25_000)), tail(Some(1_000_000))], [10_000, 25_000, 40_000]);
}

#[test]
fn the_handoff_follows_what_is_folded_within_its_bounds() {
    let b = plain(Preset::Hermes, 200_000);
    assert_eq!([b.handoff(1_000), b.handoff(25_000), b.handoff(500_000)], [2_000, 5_000, 10_000]);
    let mut policy = Policy::of(Preset::Hermes);
    policy.compression.summary_max = 1_000;
    assert_eq!(of(&policy, 200_000, BudgetInputs::default()).handoff(90_000), 1_000, "the maximum is the user's");
}

#[test]
fn the_body_and_the_signatures_follow_the_provider_unless_fixed() {
    let body =
        |family| of(&Policy::of(Preset::Hermes), 1, BudgetInputs { family, ..Default::default() }).max_body_bytes;
    assert_eq!(body(Some(ApiFamily::Anthropic)), 20 * 1024 * 1024);
    assert_eq!(body(Some(ApiFamily::OpenAi)), 40_000_000);
    assert_eq!(body(None), 20 * 1024 * 1024, "the smaller, when nobody knows");
    let opus = ModelTable::embedded().profile("claude-opus-5-5", ApiFamily::Anthropic);
    let mut policy = Policy::of(Preset::Hermes);
    let signed = |policy: &Policy| Budgets::of(policy, &opus, BudgetInputs::default()).signed_reasoning;
    assert_eq!(signed(&policy), SignedReasoning::PrefixBound);
    policy.compression.signed_reasoning = AutoOr::Fixed(SignedReasoning::None);
    assert_eq!(signed(&policy), SignedReasoning::None);
}

#[test]
fn no_budget_jumps_at_a_round_window() {
    for preset in Preset::ALL {
        for window in [32_000, 40_000, 64_000, 100_000, 128_000, 200_000, 500_000, 512_000, 1_000_000] {
            let (below, above) = (plain(*preset, window - 1), plain(*preset, window));
            for ((name, a), (_, b)) in growing(&below).into_iter().zip(growing(&above)) {
                assert!(a <= b && b - a <= 2, "{preset}: {name} goes from {a} to {b} at {window}");
            }
        }
    }
}

/// Any policy that the table accepts, as far as budgets read it.
fn policies() -> impl Strategy<Value = Policy> {
    let shares = (0.05..=0.95, 0.10..=0.80, 0.0..=0.9, prop::option::of(0.02..=0.90), 0.0..=0.1);
    let tokens = (prop::option::of(0..200_000u32), prop::option::of(0..200_000u32), 0..3u8, 500..200_000u32);
    let handoffs = (0.005..=0.5, 100..100_000u32, 100..1_000_000u32, 0.01..=0.9);
    (prop::sample::select(Preset::ALL), shares, tokens, handoffs).prop_map(|(preset, shares, tokens, handoffs)| {
        let fixed = |value: Option<u32>| value.map_or(AutoOr::Auto, AutoOr::Fixed);
        let mut policy = Policy::of(preset);
        let knobs = &mut policy.compression;
        (knobs.threshold, knobs.target_ratio, knobs.runway) = (shares.0, shares.1, shares.2);
        (knobs.small_window_extra, knobs.short_reply_extra) = (shares.4, shares.4);
        knobs.low_water = shares.3.map_or(AutoOr::Auto, AutoOr::Fixed);
        (knobs.prune_minimum, knobs.protect_tool_tokens) = (fixed(tokens.0), fixed(tokens.1));
        knobs.tail = match tokens.2 {
            0 => Tail::Ratio,
            1 => Tail::Auto,
            _ => Tail::Tokens(tokens.3),
        };
        (knobs.summary_window_share, knobs.summary_min) = (handoffs.0, handoffs.1);
        (knobs.summary_max, knobs.summary_ratio) = (handoffs.2, handoffs.3);
        policy
    })
}

/// Anything that a request and a model can add.
fn surroundings() -> impl Strategy<Value = (BudgetInputs, Option<u32>, Option<u32>)> {
    let tokens = || prop::option::of(1_000..2_000_000u32);
    (prop::option::of(0..300_000u32), 0..300_000u32, tokens(), tokens(), tokens(), tokens()).prop_map(
        |(max_output, outside, summariser_window, tail_need, step, max_input)| {
            (BudgetInputs { max_output, outside, summariser_window, tail_need, family: None }, step, max_input)
        },
    )
}

fn model(window: u32, step: Option<u32>, max_input: Option<u32>) -> ModelProfile {
    let price_step = step.map(|above| PriceStep { above, input: 2.0, output: 1.5 });
    ModelProfile { price_step, max_input, ..ModelProfile::with_window(window) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_larger_window_never_gets_less_of_anything(
        policy in policies(),
        (inputs, step, max_input) in surroundings(),
        a in 4_000..4_000_000u32,
        b in 4_000..4_000_000u32,
    ) {
        let small = Budgets::of(&policy, &model(a.min(b), step, max_input), inputs);
        let large = Budgets::of(&policy, &model(a.max(b), step, max_input), inputs);
        for ((name, s), (_, l)) in growing(&small).into_iter().zip(growing(&large)) {
            prop_assert!(s <= l, "{name} falls from {s} to {l}");
        }
    }

    #[test]
    fn neighbouring_windows_get_neighbouring_budgets(
        policy in policies(),
        (inputs, step, max_input) in surroundings(),
        window in 4_000..4_000_000u32,
    ) {
        let here = Budgets::of(&policy, &model(window, step, max_input), inputs);
        let next = Budgets::of(&policy, &model(window + 1, step, max_input), inputs);
        for ((name, h), (_, n)) in growing(&here).into_iter().zip(growing(&next)) {
            // One token more of window is at most one more of anything; whole tokens can make it two.
            prop_assert!(n >= h && n - h <= 2, "{name} jumps from {h} to {n}");
        }
    }

    #[test]
    fn budgets_nest(
        policy in policies(),
        (inputs, step, max_input) in surroundings(),
        window in 4_000..4_000_000u32,
    ) {
        let b = Budgets::of(&policy, &model(window, step, max_input), inputs);
        prop_assert!(b.effective_window <= b.window);
        prop_assert!(b.trigger <= b.effective_window && b.trigger > 0);
        prop_assert!(b.trigger <= b.hygiene && b.hygiene <= b.effective_window);
        prop_assert!(b.pressure <= b.trigger);
        prop_assert!(b.low_water <= b.trigger);
        prop_assert!(b.tail <= b.tail_ceiling && b.tail < b.trigger);
        prop_assert!(b.tail_ceiling <= b.tail.saturating_mul(3) / 2 + 1);
        prop_assert!(b.handoff_min <= b.handoff_max && b.handoff_max <= b.trigger / 4 + 1);
        prop_assert!(b.protect_tool_tokens <= b.trigger && b.prune_minimum <= b.trigger);
        if let Some(step) = step {
            prop_assert!(b.trigger <= step);
        }
        if let Some(reader) = inputs.summariser_window {
            prop_assert!(b.trigger <= reader);
        }
    }
}
