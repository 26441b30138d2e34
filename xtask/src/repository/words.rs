//! Splitting text into words.

/// The identifiers and plain words of a line: runs of letters, digits and `_`.
pub fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

/// The lower-case words inside a line, with `snake_case` and `CamelCase` names taken apart.
pub fn plain_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_lower_case = false;
    for c in line.chars() {
        if !word.is_empty() && (!c.is_alphabetic() || (c.is_uppercase() && after_lower_case)) {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        after_lower_case = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_into_words() {
        let words = plain_words("let wallRows = SolidWalls::new(air_cells3, MAX);");
        let expected = [
            "let", "wall", "rows", "solid", "walls", "new", "air", "cells", "max",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn identifiers_keep_their_underscores() {
        let found: Vec<&str> = identifiers("fn a_b(c: [f64; 3]) -> D").collect();
        assert_eq!(found, ["fn", "a_b", "c", "f64", "3", "D"]);
    }
}
