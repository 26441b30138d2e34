//! Minimal Markdown parser for the checks.

/// A line of prose: outside fenced code, counted from one.
pub fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_fence = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        if fence {
            in_fence = !in_fence;
        }
        (!fence && !in_fence).then_some((index + 1, line))
    })
}

/// The pieces of a line between backticks.
pub fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The targets of links and pictures, without what follows `#`; only those inside the repository.
pub fn local_links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .filter_map(|(target, _)| target.split('#').next())
        .filter(|target| !target.is_empty() && !target.contains(':'))
}

/// The cells of a table row, or `None` for any other line.
pub fn table_cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

/// The level and the words of a heading.
pub fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let words = line[level..].strip_prefix(' ')?;
    (level > 0).then_some((level, words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_code_is_no_prose() {
        let text = "a\n```sh\nb\n```\nc\n";
        let lines: Vec<_> = prose_lines(text).collect();
        assert_eq!(lines, [(1, "a"), (5, "c")]);
    }

    #[test]
    fn spans_links_cells_and_headings_are_taken_out() {
        let line = "| `a/b` and `c` | [d](e.md#f) ![](g.gif) [h](https://i) |";
        assert_eq!(code_spans(line).collect::<Vec<_>>(), ["a/b", "c"]);
        assert_eq!(local_links(line).collect::<Vec<_>>(), ["e.md", "g.gif"]);
        assert_eq!(table_cells("| a | b c |"), Some(vec!["a", "b c"]));
        assert_eq!(table_cells("a | b"), None);
        assert_eq!(heading("## Two words"), Some((2, "Two words")));
        assert_eq!(heading("#hash"), None);
    }
}
