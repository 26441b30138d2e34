//! Formatting of counts, sizes and durations.

/// A number with its noun, in the singular or the plural: "1 frame", "2 frames".
pub fn count(n: impl TryInto<u64>, noun: &str) -> String {
    plural(n, noun, &format!("{noun}s"))
}

/// A number with its noun, with an irregular plural.
pub fn plural(n: impl TryInto<u64>, one: &str, many: &str) -> String {
    match n.try_into() {
        Ok(1) => format!("1 {one}"),
        Ok(n) => format!("{n} {many}"),
        Err(_) => format!("many {many}"),
    }
}

/// A number of bytes in a unit that fits, with three digits: "81.2 MB", "206 PB".
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if count == 1 {
        return "1 byte".into();
    }
    if count < 1000 {
        return format!("{count} bytes");
    }
    let mut value = count as f64 / 1000.0;
    let mut unit = 0;
    // 999.5 would be rounded to 1000.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(value < 99.95);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Seconds as seconds, minutes and seconds, hours and minutes, days, or years.
pub fn duration(seconds: f64) -> String {
    const HOUR: u64 = 3600;
    const DAY: u64 = 24 * HOUR;
    const YEAR: u64 = 365 * DAY;
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..HOUR => format!("{} min {:02} s", whole / 60, whole % 60),
        _ if whole < 2 * DAY => format!("{} h {:02} min", whole / HOUR, whole % HOUR / 60),
        _ if whole < 2 * YEAR => format!("{} days", whole / DAY),
        _ => format!("{} years", whole / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_in_the_singular() {
        assert_eq!(count(1_u32, "frame"), "1 frame");
        assert_eq!(count(0_u32, "frame"), "0 frames");
        assert_eq!(count(2_usize, "step"), "2 steps");
        assert_eq!(plural(1_u32, "entry", "entries"), "1 entry");
        assert_eq!(plural(3_u32, "entry", "entries"), "3 entries");
    }

    #[test]
    fn sizes_have_a_unit_that_fits() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(999_960), "1.0 MB");
        assert_eq!(bytes(81_234_567), "81.2 MB");
        assert_eq!(bytes(206_000_000_000_000_000), "206 PB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
    }

    #[test]
    fn durations_have_a_unit_that_fits() {
        assert_eq!(duration(0.4), "0 s");
        assert_eq!(duration(59.6), "1 min 00 s");
        assert_eq!(duration(3599.0), "59 min 59 s");
        assert_eq!(duration(7300.0), "2 h 01 min");
        assert_eq!(duration(86_400.0 * 3.5), "3 days");
        assert_eq!(duration(1e16), "317097919 years");
    }
}
