//! Reader for untrusted Matrix Market files.

use std::io::{BufRead, Read};

use super::{Limits, ReadError};
use crate::csr::Csr;

/// Longest line that is read, in bytes: an entry takes less than a hundred.
const MAX_LINE: usize = 4096;

/// Entries for which memory is taken before any is read.
const MAX_TRUST: usize = 1 << 16;

/// Reads a square matrix of finite numbers.
///
/// Zeros of a dense (`array`) file are dropped, those of a sparse one are kept.
pub fn read_matrix(reader: impl BufRead, limits: &Limits) -> Result<Csr, ReadError> {
    let mut file = File::open(reader)?;
    let size = file.size(limits)?;
    if size.rows != size.columns {
        return Err(file.wrong(format!(
            "the matrix is {} by {}, not square",
            size.rows, size.columns
        )));
    }
    let mut entries = Vec::with_capacity(size.entries.min(MAX_TRUST));
    while let Some((row, column, value)) = file.entry(&size)? {
        if !value.is_finite() {
            return Err(file.wrong(format!("{value} in a matrix")));
        }
        if file.header.dense && value == 0.0 {
            continue;
        }
        entries.push((row as u32, column as u32, value));
        if file.header.symmetric && row != column {
            entries.push((column as u32, row as u32, value));
        }
        if entries.len() > limits.max_entries {
            return Err(file.wrong(format!("more than {} entries", limits.max_entries)));
        }
    }
    sort(size.rows, entries)
}

/// Reads a vector: a matrix with one column. Infinite numbers are allowed, NaN is not.
///
/// Entries that a sparse file leaves out are zero.
pub fn read_vector(reader: impl BufRead, limits: &Limits) -> Result<Vec<f64>, ReadError> {
    let mut file = File::open(reader)?;
    let size = file.size(limits)?;
    if size.columns != 1 {
        return Err(file.wrong(format!("{} columns, but a vector has one", size.columns)));
    }
    let mut vector = Vec::with_capacity(size.rows.min(MAX_TRUST));
    if file.header.dense {
        while let Some((_, _, value)) = file.entry(&size)? {
            vector.push(value);
        }
        return Ok(vector);
    }
    let mut given = vec![false; size.rows];
    vector.resize(size.rows, 0.0);
    while let Some((row, _, value)) = file.entry(&size)? {
        if std::mem::replace(&mut given[row], true) {
            return Err(ReadError::Twice {
                row: row + 1,
                column: 1,
            });
        }
        vector[row] = value;
    }
    Ok(vector)
}

/// Sorts entries into a matrix.
fn sort(rows: usize, mut entries: Vec<(u32, u32, f64)>) -> Result<Csr, ReadError> {
    entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
    if let Some(pair) = entries
        .windows(2)
        .find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1))
    {
        return Err(ReadError::Twice {
            row: pair[0].0 as usize + 1,
            column: pair[0].1 as usize + 1,
        });
    }
    let mut row_starts = vec![0; rows + 1];
    for &(row, _, _) in &entries {
        row_starts[row as usize + 1] += 1;
    }
    for row in 0..rows {
        row_starts[row + 1] += row_starts[row];
    }
    let columns = entries.iter().map(|entry| entry.1).collect();
    let values = entries.iter().map(|entry| entry.2).collect();
    let matrix = Csr::new(rows, row_starts, columns, values);
    Ok(matrix.expect("the entries are in order, in range and finite"))
}

/// Header of a file.
#[derive(Clone, Copy)]
struct Header {
    dense: bool,
    integer: bool,
    symmetric: bool,
}

/// Size line of a file.
struct Size {
    rows: usize,
    columns: usize,
    /// Numbers, or triples, that follow.
    entries: usize,
}

/// A file that is being read.
struct File<R> {
    reader: R,
    buffer: Vec<u8>,
    line: usize,
    header: Header,
    /// Entries read.
    read: usize,
    /// The place of the next entry of a dense file.
    next: (usize, usize),
}

impl<R: BufRead> File<R> {
    /// Reads the first line.
    fn open(reader: R) -> Result<Self, ReadError> {
        let header = Header {
            dense: false,
            integer: false,
            symmetric: false,
        };
        let mut file = Self {
            reader,
            buffer: Vec::new(),
            line: 0,
            header,
            read: 0,
            next: (0, 0),
        };
        if !file.next_line()? {
            return Err(file.wrong("the file is empty".into()));
        }
        let line = file.text()?.to_ascii_lowercase();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [banner, object, format, field, symmetry] = words[..] else {
            return Err(file.wrong("not the five words of a Matrix Market header".into()));
        };
        if banner != "%%matrixmarket" || object != "matrix" {
            return Err(file.wrong("not the header of a Matrix Market matrix".into()));
        }
        let choose = |word: &str, no: &str, yes: &str| match word {
            _ if word == no => Ok(false),
            _ if word == yes => Ok(true),
            _ => Err(file.wrong(format!("{no} or {yes} is needed, not {}", quoted(word)))),
        };
        file.header = Header {
            dense: choose(format, "coordinate", "array")?,
            integer: choose(field, "real", "integer")?,
            symmetric: choose(symmetry, "general", "symmetric")?,
        };
        Ok(file)
    }

    /// Reads the size line, after comments.
    fn size(&mut self, limits: &Limits) -> Result<Size, ReadError> {
        if !self.next_content()? {
            return Err(self.wrong("the file ends before its size".into()));
        }
        let Header {
            dense, symmetric, ..
        } = self.header;
        let numbers = self
            .text()?
            .split_ascii_whitespace()
            .map(str::parse)
            .collect::<Result<Vec<usize>, _>>();
        let (rows, columns, entries) = match numbers.as_deref() {
            Ok(&[rows, columns]) if dense && symmetric => (
                rows,
                columns,
                rows.saturating_mul(rows.saturating_add(1)) / 2,
            ),
            Ok(&[rows, columns]) if dense => (rows, columns, rows.saturating_mul(columns)),
            Ok(&[rows, columns, entries]) if !dense => (rows, columns, entries),
            _ if dense => {
                return Err(self.wrong("a size is two whole numbers: rows, columns".into()));
            }
            _ => {
                return Err(
                    self.wrong("a size is three whole numbers: rows, columns, entries".into())
                );
            }
        };
        if symmetric && rows != columns {
            return Err(self.wrong(format!("a symmetric matrix cannot be {rows} by {columns}")));
        }
        // Rows and columns become 32-bit numbers whatever the limits.
        let max_rows = limits.max_rows.min(u32::MAX as usize);
        if rows > max_rows || columns > max_rows {
            return Err(self.wrong(format!(
                "{rows} rows and {columns} columns, more than the limit of {max_rows}"
            )));
        }
        if entries > limits.max_entries {
            return Err(self.wrong(format!(
                "{entries} entries, more than the limit of {}",
                limits.max_entries
            )));
        }
        Ok(Size {
            rows,
            columns,
            entries,
        })
    }

    /// The next entry, with row and column from 0; none if all were read.
    fn entry(&mut self, size: &Size) -> Result<Option<(usize, usize, f64)>, ReadError> {
        if !self.next_content()? {
            if self.read == size.entries {
                return Ok(None);
            }
            let why = format!(
                "the file ends after {} of {} entries",
                self.read, size.entries
            );
            return Err(self.wrong(why));
        }
        if self.read == size.entries {
            return Err(self.wrong(format!(
                "more than the {} entries of the size line",
                size.entries
            )));
        }
        self.read += 1;
        let (row, column, value) = if self.header.dense {
            self.dense_entry(size)?
        } else {
            self.sparse_entry(size)?
        };
        if value.is_nan() {
            return Err(self.wrong("an entry is NaN".into()));
        }
        Ok(Some((row, column, value)))
    }

    /// One number; the places follow column by column, below the diagonal only if the matrix is symmetric.
    fn dense_entry(&mut self, size: &Size) -> Result<(usize, usize, f64), ReadError> {
        let mut words = self.text()?.split_ascii_whitespace();
        let (Some(word), None) = (words.next(), words.next()) else {
            return Err(self.wrong("one number is needed".into()));
        };
        let value = self.number(word)?;
        let (row, column) = self.next;
        self.next = if row + 1 < size.rows {
            (row + 1, column)
        } else {
            (
                if self.header.symmetric { column + 1 } else { 0 },
                column + 1,
            )
        };
        Ok((row, column, value))
    }

    /// Row, column and number.
    fn sparse_entry(&mut self, size: &Size) -> Result<(usize, usize, f64), ReadError> {
        let mut words = self.text()?.split_ascii_whitespace();
        let (Some(row), Some(column), Some(value), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(self.wrong("row, column and number are needed".into()));
        };
        let place = |word: &str, what: &str, most: usize| match word.parse::<usize>() {
            Ok(place) if (1..=most).contains(&place) => Ok(place - 1),
            _ => Err(self.wrong(format!(
                "the {what} must be a whole number from 1 to {most}, not {}",
                quoted(word)
            ))),
        };
        let (row, column) = (
            place(row, "row", size.rows)?,
            place(column, "column", size.columns)?,
        );
        if self.header.symmetric && row < column {
            return Err(self.wrong("an entry above the diagonal of a symmetric matrix".into()));
        }
        Ok((row, column, self.number(value)?))
    }

    fn number(&self, word: &str) -> Result<f64, ReadError> {
        let value = if self.header.integer {
            word.parse::<i64>().ok().map(|value| value as f64)
        } else {
            word.parse().ok()
        };
        value.ok_or_else(|| {
            self.wrong(format!(
                "{} is not {}",
                quoted(word),
                if self.header.integer {
                    "a whole number"
                } else {
                    "a number"
                }
            ))
        })
    }

    /// Reads up to a line that is neither empty nor a comment; false at the end of the file.
    fn next_content(&mut self) -> Result<bool, ReadError> {
        while self.next_line()? {
            let text = self.text()?.trim_start();
            if !text.is_empty() && !text.starts_with('%') {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads a line; false at the end of the file.
    fn next_line(&mut self) -> Result<bool, ReadError> {
        self.buffer.clear();
        self.line += 1;
        let read = self
            .reader
            .by_ref()
            .take(MAX_LINE as u64 + 1)
            .read_until(b'\n', &mut self.buffer)?;
        if self.buffer.len() > MAX_LINE {
            return Err(self.wrong(format!("longer than {MAX_LINE} bytes")));
        }
        Ok(read > 0)
    }

    /// The line that was read last.
    fn text(&self) -> Result<&str, ReadError> {
        std::str::from_utf8(&self.buffer).map_err(|_| self.wrong("not text".into()))
    }

    fn wrong(&self, why: String) -> ReadError {
        ReadError::Line {
            line: self.line,
            why,
        }
    }
}

/// A word of the file as it appears in a message, however long it is and whatever is in it.
fn quoted(word: &str) -> String {
    let mut shown: String = word.chars().take(40).collect();
    if shown.len() < word.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}
