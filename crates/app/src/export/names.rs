//! Name patterns of exported files, such as `{scene}_{what}.{frame:04}`.

use std::str::FromStr;

/// Longest file name, extension included, that every file system supports.
const LONGEST: usize = 200;
/// Largest number of digits of a padded frame number.
const MOST_DIGITS: usize = 12;
/// Characters with a special meaning to a file system or a shell of a common system.
const RESERVED: &[char] = &['/', '\\', ':', '*', '?', '"', '<', '>', '|', '\0'];

/// Name pattern: text with the fields `{scene}`, `{what}`, `{frame}` and `{frame:04}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Scene,
    What,
    /// Frame number, padded with zeros to this many digits.
    Frame(usize),
}

impl NamePattern {
    /// Whether names differ from frame to frame.
    pub fn has_frame(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Frame(_)))
    }

    /// File name of a frame, without extension.
    pub fn name(&self, scene: &str, what: &str, frame: u32) -> String {
        let text = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Scene => scene.into(),
            Part::What => what.into(),
            Part::Frame(digits) => format!("{frame:0digits$}"),
        });
        text.collect()
    }
}

impl FromStr for NamePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(['{', '}']).unwrap_or(rest.len());
            let (plain, after) = rest.split_at(end);
            if !plain.is_empty() {
                parts.push(Part::Text(plain.into()));
            }
            if after.is_empty() {
                break;
            }
            let field = after
                .strip_prefix('{')
                .and_then(|inner| inner.split_once('}'))
                .ok_or_else(|| format!("unmatched brace in {text:?}"))?;
            parts.push(part(field.0)?);
            rest = field.1;
        }
        let pattern = NamePattern { parts };
        check(&pattern, text)?;
        Ok(pattern)
    }
}

fn part(field: &str) -> Result<Part, String> {
    let digits = |digits: &str| {
        let number = digits.strip_prefix('0').unwrap_or(digits).parse();
        number.ok().filter(|n| (1..=MOST_DIGITS).contains(n))
    };
    match field.split_once(':') {
        None if field == "scene" => Ok(Part::Scene),
        None if field == "what" => Ok(Part::What),
        None if field == "frame" => Ok(Part::Frame(1)),
        Some(("frame", width)) => digits(width).map(Part::Frame).ok_or_else(|| {
            format!(
                "{{{field}}}: write {{frame:04}} for four digits; at most {MOST_DIGITS} are allowed"
            )
        }),
        _ => Err(format!(
            "unknown field {{{field}}}; use {{scene}}, {{what}}, {{frame}} or {{frame:04}}"
        )),
    }
}

/// Checks that every name of the pattern is a file in the output folder.
fn check(pattern: &NamePattern, text: &str) -> Result<(), String> {
    let texts = || {
        pattern.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        })
    };
    for text in texts() {
        if let Some(c) = text
            .chars()
            .find(|c| RESERVED.contains(c) || c.is_control())
        {
            return Err(format!(
                "a file name can't contain {c:?}; choose the folder with --out DIR"
            ));
        }
    }
    let frames = pattern.parts.iter().filter(|p| matches!(p, Part::Frame(_)));
    if frames.count() > 1 {
        return Err(format!("{text:?} has {{frame}} more than once"));
    }
    // Names that begin with a dot are hidden files or the parent folder.
    let longest = pattern.name(&"s".repeat(100), "particles", u32::MAX);
    if text.is_empty() || longest.starts_with('.') || longest.trim() != longest {
        return Err(format!(
            "{text:?} is not a file name: it must not be empty, begin with a dot, or begin or end with a space"
        ));
    }
    if longest.len() > LONGEST {
        return Err(format!("file names would be longer than {LONGEST} bytes"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Result<NamePattern, String> {
        text.parse()
    }

    #[test]
    fn fields_of_a_pattern_are_replaced() {
        let usual = pattern("{scene}_{what}.{frame:04}").unwrap();
        assert_eq!(usual.name("drop", "surface", 1001), "drop_surface.1001");
        assert_eq!(usual.name("drop", "surface", 7), "drop_surface.0007");
        assert_eq!(pattern("f{frame}").unwrap().name("", "", 12), "f12");
        assert_eq!(pattern("{frame:6}").unwrap().name("", "", 12), "000012");
        assert!(!pattern("{scene}").unwrap().has_frame());
    }

    #[test]
    fn no_name_pattern_escapes_the_output_folder() {
        for wrong in [
            "",
            ".",
            "..",
            ".hidden{frame}",
            "../{frame}",
            "a/{frame}",
            "a\\{frame}",
            "/tmp/{frame}",
            "c:{frame}",
            "{frame}\0",
            "{frame}\n",
            " {frame}",
            "{frame} ",
            "{frame",
            "frame}",
            "{}",
            "{frames}",
            "{frame:0}",
            "{frame:99}",
            "{frame:x}",
            "{frame}{frame}",
            "{{frame}}",
        ] {
            assert!(pattern(wrong).is_err(), "{wrong:?}");
        }
        assert!(pattern(&"x".repeat(300)).is_err());
    }
}
