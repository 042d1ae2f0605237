//! Bounds with a margin, because the largest observed value is not an intended limit.

/// Round numbers within a decade.
const STEPS: [f64; 7] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0];

/// Returns the next round number; `None` if there is none.
pub(super) fn round_up(value: f64) -> Option<f64> {
    if !value.is_finite() || value <= 0.0 || value > 1e12 {
        return None;
    }
    let decade = 10f64.powf(value.log10().floor());
    STEPS.iter().map(|step| step * decade).find(|&step| step >= value * (1.0 - 1e-9))
}

pub(super) fn grouped_number(value: f64) -> String {
    let digits = format!("{value:.0}");
    if digits.len() <= 4 {
        return digits;
    }
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// Returns a bound above `most` by the factor `slack`.
pub(super) fn count_bound(most: f64, slack: f64) -> Option<String> {
    round_up((most * slack).ceil()).map(|bound| grouped_number(bound.ceil()))
}

/// Returns a duration in milliseconds as `250ms`, `30s`, `5m`.
pub(super) fn duration_bound(milliseconds: f64, slack: f64) -> Option<String> {
    let bound = round_up(milliseconds * slack)?;
    Some(match bound {
        _ if bound >= 600_000.0 => format!("{:.0}m", (bound / 60_000.0).ceil()),
        _ if bound >= 1_000.0 => format!("{:.0}s", (bound / 1_000.0).ceil()),
        _ => format!("{:.0}ms", bound.ceil()),
    })
}

pub(super) fn money_bound(dollars: f64, slack: f64) -> Option<String> {
    let bound = round_up(dollars * slack).filter(|bound| *bound >= 1e-9)?;
    let text = format!("{bound:.10}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    Some(format!("${text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_numbers_that_people_write() {
        assert_eq!(count_bound(11.0, 1.5).as_deref(), Some("20"));
        assert_eq!(count_bound(13_400.0, 1.5).as_deref(), Some("30_000"));
        assert_eq!(count_bound(0.0, 1.5), None);
        assert_eq!(duration_bound(12_300.0, 2.0).as_deref(), Some("30s"));
        assert_eq!(duration_bound(90.0, 2.0).as_deref(), Some("200ms"));
        assert_eq!(duration_bound(400_000.0, 2.0).as_deref(), Some("17m"));
        assert_eq!(money_bound(0.021, 2.0).as_deref(), Some("$0.05"));
        assert_eq!(round_up(f64::NAN), None);
    }
}
