//! Sizes and times as people read them.

/// A number of bytes in a unit that fits.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    // 999.95 would be rounded to 1000.0.
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{count} bytes")
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// Seconds as minutes and seconds, or hours and minutes.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit_that_fits() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(999_960), "1.0 MB");
        assert_eq!(bytes(81_234_567), "81.2 MB");
    }

    #[test]
    fn durations_have_a_unit_that_fits() {
        assert_eq!(duration(0.4), "0 s");
        assert_eq!(duration(59.6), "1 min 00 s");
        assert_eq!(duration(3599.0), "59 min 59 s");
        assert_eq!(duration(7300.0), "2 h 01 min");
    }
}
