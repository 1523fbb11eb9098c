//! What a provider reports, put to use: the ratio by which the estimate has to be corrected for one model.

use serde::{Deserialize, Serialize};

/// A moving average of reported over estimated tokens. One per model; without an observation it changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Option<f64>", into = "Option<f64>")]
pub struct Calibration {
    ratio: Option<f64>,
}

/// The weight of an observation against all before it: about ten requests until a change of content is followed.
const RATE: f64 = 0.2;
/// Beyond these a ratio says that the two numbers were not of the same text.
const LOWEST: f64 = 0.5;
const HIGHEST: f64 = 2.0;

impl Calibration {
    /// Takes in one request: what was estimated for it and what the provider reported.
    ///
    /// The first observation is taken at once. A vocabulary differs from o200k by a factor that one request already
    /// shows, and a start at 1.0 would keep the error for a dozen requests. Later ones only move it.
    pub fn observe(&mut self, estimated: u32, reported: u32) {
        if estimated == 0 || reported == 0 {
            return;
        }
        let seen = (f64::from(reported) / f64::from(estimated)).clamp(LOWEST, HIGHEST);
        self.ratio = Some(self.ratio.map_or(seen, |ratio| ratio + RATE * (seen - ratio)));
    }

    /// The estimate in the model's own tokens. Something never becomes nothing.
    #[must_use]
    pub fn apply(&self, estimate: u32) -> u32 {
        let corrected = (f64::from(estimate) * self.ratio()).round();
        // A cast from float to integer saturates.
        (corrected as u32).max(estimate.min(1))
    }

    /// The ratio; 1 without an observation.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio.unwrap_or(1.0)
    }
}

/// A stored ratio is taken as an observation: what cannot be one is dropped, what is out of range is brought back.
impl From<Option<f64>> for Calibration {
    fn from(ratio: Option<f64>) -> Self {
        Self { ratio: ratio.filter(|ratio| ratio.is_finite()).map(|ratio| ratio.clamp(LOWEST, HIGHEST)) }
    }
}

impl From<Calibration> for Option<f64> {
    fn from(calibration: Calibration) -> Self {
        calibration.ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(pairs: &[(u32, u32)]) -> Calibration {
        let mut calibration = Calibration::default();
        for &(estimated, reported) in pairs {
            calibration.observe(estimated, reported);
        }
        calibration
    }

    #[test]
    fn without_observations_the_estimate_stays() {
        assert_eq!(Calibration::default().apply(1234), 1234);
    }

    #[test]
    fn the_first_observation_is_taken_at_once() {
        assert_eq!(observed(&[(1000, 1200)]).apply(500), 600);
    }

    #[test]
    fn later_observations_move_the_ratio_by_a_fifth_of_the_way() {
        let calibration = observed(&[(1000, 1000), (1000, 1500)]);
        assert!((calibration.ratio() - 1.1).abs() < 1e-12);
    }

    #[test]
    fn a_wild_observation_cannot_leave_the_range() {
        assert_eq!(observed(&[(10, 1_000_000)]).apply(100), 200);
        assert_eq!(observed(&[(1_000_000, 1)]).apply(100), 50);
    }

    #[test]
    fn empty_requests_say_nothing() {
        assert_eq!(observed(&[(0, 500), (500, 0)]), Calibration::default());
    }

    #[test]
    fn the_correction_of_a_token_is_at_least_a_token_and_of_nothing_nothing() {
        let halved = observed(&[(1000, 500)]);
        assert_eq!((halved.apply(1), halved.apply(0)), (1, 0));
        assert_eq!(observed(&[(1000, 2000)]).apply(u32::MAX), u32::MAX);
    }

    #[test]
    fn it_survives_storage_and_refuses_a_broken_store() {
        let calibration = observed(&[(1000, 1170), (800, 900)]);
        let stored = serde_json::to_string(&calibration).unwrap();
        assert_eq!(serde_json::from_str::<Calibration>(&stored).unwrap(), calibration);
        assert_eq!(serde_json::from_str::<Calibration>("null").unwrap(), Calibration::default());
        assert_eq!(serde_json::from_str::<Calibration>("40.0").unwrap().apply(10), 20);
    }
}
