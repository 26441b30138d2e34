//! Reading the tables of `docs/papers.md`.

use super::markdown::{prose_lines, table_cells};
use super::paper_item::{Item, parse};

/// The first line of a table that maps items of a paper to ours.
const MAPPING_HEADER: &[&str] = &["item", "what it is", "implemented by", "shown by", "status"];

/// The first line of a table of misprints.
const MISPRINT_HEADER: &[&str] = &["item", "printed", "meant"];

/// How far we are with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Implemented, and a test or a study shows it.
    Done,
    /// Implemented in part; the row says what is missing.
    Partial,
    /// Not begun.
    Planned,
    /// A drawing or a statement with nothing to compute.
    Illustration,
}

const STATUS_WORDS: &[(&str, Status)] = &[
    ("done", Status::Done),
    ("partial", Status::Partial),
    ("planned", Status::Planned),
    ("illustration", Status::Illustration),
];

/// A row of a mapping table.
#[derive(Debug)]
pub struct Row<'a> {
    pub line: usize,
    pub items: Vec<Item>,
    pub implemented_by: &'a str,
    pub shown_by: &'a str,
    pub status: Status,
}

/// Line and error message.
pub type Problem = (usize, String);

/// All rows of all mapping tables, and what could not be read.
pub fn read(text: &str) -> (Vec<Row<'_>>, Vec<Problem>) {
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    let mut header: Option<Vec<&str>> = None;
    for (line, content) in prose_lines(text) {
        let Some(cells) = table_cells(content) else {
            header = None;
            continue;
        };
        let Some(header) = &header else {
            if cells != MAPPING_HEADER && cells != MISPRINT_HEADER {
                problems.push((
                    line,
                    format!(
                        "a table starts with `{}` or `{}`",
                        MAPPING_HEADER.join(" | "),
                        MISPRINT_HEADER.join(" | ")
                    ),
                ));
            }
            header = Some(cells);
            continue;
        };
        let is_rule = cells
            .iter()
            .all(|cell| cell.chars().all(|c| "-: ".contains(c)));
        if is_rule {
            continue;
        }
        match read_row(line, header, &cells) {
            Ok(row) => rows.extend(row),
            Err(message) => problems.push((line, message)),
        }
    }
    (rows, problems)
}

/// A row of a mapping table; `None` for a row of another table, which only has to name an item.
fn read_row<'a>(
    line: usize,
    header: &[&str],
    cells: &[&'a str],
) -> Result<Option<Row<'a>>, String> {
    if cells.len() != header.len() {
        return Err(format!(
            "{} cells below a header of {}",
            cells.len(),
            header.len()
        ));
    }
    let items = parse(cells[0].trim_matches('`'))
        .unwrap_or_else(|| Err(format!("`{}` does not start with a paper's key", cells[0])))?;
    let &[_, _, implemented_by, shown_by, status] = cells else {
        return Ok(None);
    };
    let (_, status) = STATUS_WORDS
        .iter()
        .find(|(word, _)| *word == status)
        .ok_or_else(|| {
            let words: Vec<&str> = STATUS_WORDS.iter().map(|(word, _)| *word).collect();
            format!("`{status}` is no status: use {}", words.join(", "))
        })?;
    Ok(Some(Row {
        line,
        items,
        implemented_by,
        shown_by,
        status: *status,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "| item | what it is | implemented by | shown by | status |\n\
                          | --- | --- | --- | --- | --- |\n";

    #[test]
    fn rows_of_mapping_tables_are_read_and_those_of_misprints_only_looked_at() {
        let text = format!(
            "# Papers\n\n{HEADER}| ANE17 alg. 2 | Newton | `crates/a.rs` | | partial |\n\n\
             | item | printed | meant |\n| --- | --- | --- |\n| ANE17 (47) | a | b |\n"
        );
        let (rows, problems) = read(&text);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].line, rows[0].status), (5, Status::Partial));
        assert_eq!(rows[0].items[0].to_string(), "ANE17 alg. 2");
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_line() {
        for row in [
            "| ANE17 alg. 2 | Newton | | | finished |",
            "| ANE17 Algorithm 2 | Newton | | | planned |",
            "| Newton | Newton | | | planned |",
            "| ANE17 alg. 2 | Newton | planned |",
        ] {
            let text = format!("{HEADER}{row}\n");
            let (rows, problems) = read(&text);
            assert!(rows.is_empty(), "{row}");
            assert_eq!(problems.len(), 1, "{row}");
            assert_eq!(problems[0].0, 3, "{row}");
        }
        let (_, problems) = read("| some | other | table |\n| --- | --- | --- |\n");
        assert_eq!(problems.len(), 1);
    }
}
