//! Parsers of sizes on the command line.

use meniscus_render::filming;

/// Number of bytes: `8GB`, `512 MiB`, `2.5g`; plain numbers are bytes.
///
/// # Errors
/// A message if the text is not a size.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size; write 8GB or 512MB");
    let text_start = text.trim();
    let digits = text_start
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text_start.len());
    let (number, unit) = text_start.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    let bytes = number * factor;
    if (1.0..1e18).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err(wrong())
    }
}

/// Width and height of an image: `640x480`.
///
/// # Errors
/// A message if the text is not an image size, or one out of range.
pub fn parse_pixels(text: &str) -> Result<(u32, u32), String> {
    let wrong = || format!("{text:?} is not an image size; write 640x480");
    let (width, height) = text.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
    let side = |digits: &str| digits.trim().parse::<u32>().map_err(|_| wrong());
    let size = (side(width)?, side(height)?);
    filming::check_size(size).map(|()| size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_sizes_are_parsed_in_all_usual_spellings() {
        assert_eq!(parse_pixels("640x480"), Ok((640, 480)));
        assert_eq!(parse_pixels("16 X 4096"), Ok((16, 4096)));
        for wrong in [
            "",
            "640",
            "0x480",
            "640x0",
            "100000x100000",
            "-1x5",
            "axb",
            "5000x20",
        ] {
            assert!(parse_pixels(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn byte_sizes_are_parsed_in_all_usual_spellings() {
        assert_eq!(parse_bytes("8GB"), Ok(8_000_000_000));
        assert_eq!(parse_bytes("1.5 gib"), Ok(1_610_612_736));
        assert_eq!(parse_bytes("4096"), Ok(4096));
        for wrong in ["", "GB", "8XB", "-1", "1e9", "0", "nan"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
