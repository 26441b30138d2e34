//! `scene.toml`: what a run simulates, and what is different in another scene.

use meniscus_store::quantity::count;
use std::fmt::Write;

/// Keys that may change without changing a particle, wherever they stand.
const FREE_KEYS: [&str; 16] = [
    "frames",
    "threads",
    "summary",
    "particles_every",
    "preview",
    "preview_side",
    "surface",
    "surface_from",
    "surface_resolution",
    "surface_smoothing",
    "preview_style",
    "material",
    "color",
    "checkpoint_every",
    "keep_checkpoints",
    "milestone_every",
];
/// The tables in which every key is of that kind.
const FREE_TABLES: [&str; 3] = ["run", "output", "camera"];
/// Longer differences are not shown whole.
const MOST_LINES: usize = 24;
/// Texts that differ in more lines than this are not matched line by line.
const MOST_MATCHED: usize = 2000;

/// A line that particles depend on, with the table that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line<'a> {
    table: &'a str,
    text: &'a str,
}

/// The lines that particles depend on: no comments, no empty lines, no free keys.
fn essential(text: &str) -> Vec<Line<'_>> {
    let mut table = "";
    let mut lines = Vec::new();
    for text in text.lines().map(str::trim) {
        if text.starts_with('[') && text.ends_with(']') {
            table = text;
        }
        let name = table.trim_matches(['[', ']']);
        let outer = name.split('.').next().unwrap_or("");
        let free_table = FREE_TABLES.contains(&outer);
        let key = text.split(['=', ':']).next().unwrap_or("").trim();
        if !(text.is_empty() || text.starts_with('#') || free_table || FREE_KEYS.contains(&key)) {
            lines.push(Line { table, text });
        }
    }
    lines
}

/// The hash of all that particles depend on.
pub fn physics_hash(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in essential(text) {
        hasher.update(line.text.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex().to_string()
}

/// The hash of a text as it is.
pub fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The lines in which the scene of a run differs from the one asked for, if particles depend on any of them: `-` of the
/// run, `+` asked for.
pub fn difference(of_run: &str, asked: &str) -> Option<String> {
    let (of_run, asked) = (essential(of_run), essential(asked));
    if of_run == asked {
        return None;
    }
    let changes = changes(&of_run, &asked);
    let mut text = String::new();
    for (sign, line) in changes.iter().take(MOST_LINES) {
        let table = if line.table == line.text || line.table.is_empty() {
            String::new()
        } else {
            format!("{} ", line.table)
        };
        let _ = writeln!(text, "  {sign} {table}{}", line.text);
    }
    if changes.len() > MOST_LINES {
        let _ = writeln!(
            text,
            "  and {}",
            count(changes.len() - MOST_LINES, "more line")
        );
    }
    Some(text.trim_end().into())
}

/// The lines that are in one text only, in order, by the longest common subsequence.
fn changes<'a>(old: &[Line<'a>], new: &[Line<'a>]) -> Vec<(char, Line<'a>)> {
    let same = |pairs: &mut dyn Iterator<Item = (&Line<'a>, &Line<'a>)>| {
        pairs.take_while(|(a, b)| a == b).count()
    };
    let head = same(&mut old.iter().zip(new));
    let (old, new) = (&old[head..], &new[head..]);
    let tail = same(&mut old.iter().rev().zip(new.iter().rev()));
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let removed = |lines: &[Line<'a>]| -> Vec<_> { lines.iter().map(|&l| ('-', l)).collect() };
    let added = |lines: &[Line<'a>]| -> Vec<_> { lines.iter().map(|&l| ('+', l)).collect() };
    if old.len() > MOST_MATCHED || new.len() > MOST_MATCHED {
        return [removed(old), added(new)].concat();
    }
    // common[i][j]: how many lines the ends from i and j have in common.
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * width + j] >= common[i * width + j + 1] {
            found.push(('-', old[i]));
            i += 1;
        } else {
            found.push(('+', new[j]));
            j += 1;
        }
    }
    found.extend(removed(&old[i..]));
    found.extend(added(&new[j..]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "\
name = \"dam\"
frames = 10
walls = \"slip\"

[[solids]]
radius = 0.5

[output]
anything = 3
";

    #[test]
    fn what_particles_do_not_depend_on_may_change() {
        let other = SCENE
            .replace("frames = 10", "frames = 99")
            .replace("anything = 3", "anything = 4")
            .replace("radius = 0.5", "material = \"glass\"\nradius = 0.5")
            .replace("[output]", "[camera]\nposition = [1, 2]\n\n[output]")
            .replace("walls", "# how they behave\nwalls");
        assert_eq!(difference(SCENE, &other), None);
        assert_eq!(physics_hash(SCENE), physics_hash(&other));
        assert_ne!(hash(SCENE), hash(&other));
    }

    #[test]
    fn a_difference_names_the_table_and_shows_nothing_else() {
        let other = SCENE
            .replace("radius = 0.5", "radius = 0.6")
            .replace("\"slip\"", "\"separating\"");
        assert_ne!(physics_hash(SCENE), physics_hash(&other));
        assert_eq!(
            difference(SCENE, &other).unwrap(),
            "  - walls = \"slip\"\n  + walls = \"separating\"\n  \
             - [[solids]] radius = 0.5\n  + [[solids]] radius = 0.6"
        );
    }

    #[test]
    fn only_what_was_added_is_shown_as_added() {
        let other = SCENE.replace("\n[output]", "\n[[solids]]\nradius = 0.5\n\n[output]");
        assert_eq!(
            difference(SCENE, &other).unwrap(),
            "  + [[solids]]\n  + [[solids]] radius = 0.5"
        );
    }
}
