//! Words and numbers in untrusted bytes.

use super::{Fault, Place};

/// Lines with their numbers, counted from one, without line ends.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = bytes.split(|&b| b == b'\n').enumerate();
    numbered.map(|(index, line)| (index + 1, line.strip_suffix(b"\r").unwrap_or(line)))
}

/// The words of a line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// A word as a number.
pub(super) fn number(word: &[u8], place: Place) -> Result<f64, Fault> {
    std::str::from_utf8(word)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Fault::at(place, format!("{} is not a number", shown(word))))
}

/// The first three numbers.
pub(super) fn point<'a>(
    mut words: impl Iterator<Item = &'a [u8]>,
    place: Place,
) -> Result<[f64; 3], Fault> {
    let mut point = [0.0; 3];
    for coordinate in &mut point {
        let word = words
            .next()
            .ok_or_else(|| Fault::at(place, "a vertex has less than three coordinates"))?;
        *coordinate = number(word, place)?;
        if !coordinate.is_finite() {
            return Err(Fault::at(place, format!("{} is not finite", shown(word))));
        }
    }
    Ok(point)
}

/// A word for messages, shortened if it is long.
pub(super) fn shown(word: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&word[..word.len().min(LONGEST)]);
    let cut = if word.len() > LONGEST { "..." } else { "" };
    format!("'{}{cut}'", text.escape_debug())
}
