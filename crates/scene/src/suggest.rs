//! Suggestions for misspelt words.

/// The most similar word of a list, if one is similar enough.
pub fn similar<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    const ALIKE: f64 = 0.7;
    let plain = |word: &str| word.to_lowercase().replace('_', "-");
    // Comparing a very long word would take long, and nothing is similar to it.
    let word: String = plain(word).chars().take(60).collect();
    let likeness = |other: &str| strsim::jaro_winkler(&word, &plain(other));
    let best = known
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > ALIKE).then_some(best)
}
