//! Reads the document of a study, as `findings.rs` writes it.

use crate::provenance::Provenance;

/// Document of a study.
#[derive(Debug, Default)]
pub struct Document {
    /// Paragraphs before the first section.
    pub setting: Vec<String>,
    /// Captions and files.
    pub pictures: Vec<(String, String)>,
    pub sections: Vec<Section>,
}

/// A section.
#[derive(Debug, Default)]
pub struct Section {
    pub heading: String,
    pub words: Vec<String>,
    /// Lines, headings and rule included.
    pub table: Vec<String>,
}

/// A row of a table of targets.
#[derive(Debug, PartialEq)]
pub struct Verdict {
    pub what: String,
    pub bound: String,
    pub measured: String,
    pub verdict: String,
}

impl Document {
    pub fn read(text: &str) -> Self {
        let mut document = Document::default();
        for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
            let section = document.sections.last_mut();
            if let Some(heading) = line.strip_prefix("## ") {
                document.sections.push(Section {
                    heading: heading.into(),
                    ..Section::default()
                });
            } else if let Some(picture) = picture(line) {
                document.pictures.push(picture);
            } else if line.starts_with('|') {
                if let Some(section) = section {
                    section.table.push(line.into());
                }
            } else if let Some(section) = section {
                section.words.push(line.into());
            } else {
                document.setting.push(line.into());
            }
        }
        document
    }

    pub fn section(&self, heading: &str) -> Option<&Section> {
        self.sections
            .iter()
            .find(|section| section.heading == heading)
    }

    /// The machine in a few words, and its load.
    pub fn machine(&self) -> Option<(&str, Option<f64>)> {
        let sentence = self
            .setting
            .iter()
            .find_map(|words| words.strip_prefix("Machine: "))?;
        let (kind, rest) = sentence.split_once('.')?;
        let load = rest
            .rsplit_once(": ")
            .map(|(_, load)| load.trim_end_matches('.'));
        Some((kind, load.and_then(|load| load.parse().ok())))
    }

    /// Commit, date and cost, if the document has them.
    pub fn provenance(&self) -> Option<Provenance> {
        self.setting
            .iter()
            .find_map(|words| Provenance::read(words))
    }

    /// All targets with their verdicts.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let of_targets = |section: &&Section| {
            let headings = section.table.first().map(|line| cells(line));
            headings.is_some_and(|headings| headings.last().is_some_and(|last| last == "verdict"))
        };
        let rows = self.sections.iter().filter(of_targets);
        rows.flat_map(|section| section.table.iter().skip(2))
            .filter_map(|line| {
                let [what, bound, measured, verdict] = <[String; 4]>::try_from(cells(line)).ok()?;
                Some(Verdict {
                    what,
                    bound,
                    measured,
                    verdict,
                })
            })
            .collect()
    }
}

fn cells(line: &str) -> Vec<String> {
    let inside = line.trim().trim_start_matches('|').trim_end_matches('|');
    inside.split('|').map(|cell| cell.trim().into()).collect()
}

fn picture(line: &str) -> Option<(String, String)> {
    let (caption, file) = line.strip_prefix("![")?.split_once("](")?;
    Some((caption.into(), file.strip_suffix(')')?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Findings, Picture, Section as Found};
    use crate::target::{self, Bound, Target};

    #[test]
    fn what_findings_write_is_read_again() {
        let target = Target::new("speed", Bound::AtMost(2.0), "s", Some(1.0), 1);
        let findings = Findings {
            study: "sample",
            variant: None,
            setting: vec!["Done once.".into(), crate::machine::sentence(Some(1.5))],
            pictures: vec![Picture {
                name: "plot",
                caption: "a plot".into(),
                content: String::new().into(),
            }],
            sections: vec![Found {
                heading: "Targets".into(),
                words: vec!["All of them.".into()],
                table: Some(target::table(&[target])),
            }],
            data: crate::table::Table::new(["a"]),
        };
        let document = Document::read(&findings.markdown());
        assert_eq!(
            document.machine(),
            Some((crate::machine::description().as_str(), Some(1.5)))
        );
        assert_eq!(
            document.pictures,
            [("a plot".into(), "sample-plot.svg".into())]
        );
        assert_eq!(document.section("Targets").unwrap().words, ["All of them."]);
        let verdicts = document.verdicts();
        assert_eq!(verdicts.len(), 1);
        assert_eq!(
            (verdicts[0].what.as_str(), verdicts[0].verdict.as_str()),
            ("speed", "met")
        );
        assert_eq!(
            (verdicts[0].bound.as_str(), verdicts[0].measured.as_str()),
            ("at most 2 s", "1.0")
        );
    }
}
