//! What a misspelt word was most likely meant to be.

/// The word of a list that is most like another, if any is alike.
pub fn similar<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    const ALIKE: f64 = 0.7;
    let plain = |word: &str| word.to_lowercase().replace('_', "-");
    // Nobody misspells a word into a novel; comparing one would take its time.
    let word: String = plain(word).chars().take(60).collect();
    let likeness = |other: &str| strsim::jaro_winkler(&word, &plain(other));
    let best = known
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > ALIKE).then_some(best)
}
