//! Colours of a scene: a word, `#rrggbb`, or red, green and blue from 0 to 1.

use std::fmt;
use std::str::FromStr;

/// A colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color([u8; 3]);

/// Words for colours.
pub const NAMED: [(&str, [u8; 3]); 16] = [
    ("amber", [255, 170, 30]),
    ("black", [25, 25, 28]),
    ("blue", [30, 90, 200]),
    ("brown", [120, 72, 36]),
    ("cyan", [60, 190, 215]),
    ("gold", [212, 165, 55]),
    ("gray", [128, 128, 128]),
    ("green", [50, 150, 70]),
    ("magenta", [200, 60, 160]),
    ("orange", [235, 125, 35]),
    ("pink", [240, 150, 175]),
    ("purple", [120, 70, 170]),
    ("red", [200, 45, 40]),
    ("teal", [20, 130, 130]),
    ("white", [240, 240, 240]),
    ("yellow", [240, 210, 60]),
];

/// Colours of bodies without one, in turn: of similar lightness, and told apart by people who see red and green alike.
const DISTINCT: [[u8; 3]; 7] = [
    [214, 96, 77],
    [67, 133, 190],
    [230, 171, 60],
    [90, 170, 140],
    [150, 110, 180],
    [220, 140, 160],
    [120, 150, 80],
];

/// One of a few colours that are easy to tell apart.
pub(crate) fn distinct(k: usize) -> Color {
    Color(DISTINCT[k % DISTINCT.len()])
}

impl Color {
    /// Red, green and blue, each from 0 to 255.
    pub fn rgb(self) -> [u8; 3] {
        self.0
    }

    /// Red, green and blue, each from 0 to 1.
    pub fn parts(self) -> [f32; 3] {
        self.0.map(|c| f32::from(c) / 255.0)
    }

    /// The colour with red, green and blue from 0 to 1.
    ///
    /// # Errors
    /// Which of them is out of range.
    pub fn from_parts(parts: [f64; 3]) -> Result<Self, String> {
        if let Some(x) = parts.iter().find(|x| !(0.0..=1.0).contains(*x)) {
            return Err(format!("has {x}; red, green and blue must be from 0 to 1"));
        }
        Ok(Color(parts.map(|x| (255.0 * x).round() as u8)))
    }
}

impl FromStr for Color {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, rgb)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(Color(*rgb));
        }
        let shown: String = text.chars().take(40).collect();
        let digits = text
            .strip_prefix('#')
            .filter(|d| d.len() == 6 && d.is_ascii());
        let part = |k: usize| u8::from_str_radix(digits?.get(2 * k..2 * k + 2)?, 16).ok();
        match [part(0), part(1), part(2)] {
            [Some(r), Some(g), Some(b)] if !text.contains('+') => Ok(Color([r, g, b])),
            _ if text.starts_with('#') => Err(format!(
                "is \"{shown}\"; a colour after # has six hexadecimal digits"
            )),
            _ => {
                let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
                Err(match super::suggest::similar(text, &names) {
                    Some(guess) => {
                        format!("there is no colour \"{shown}\"; did you mean \"{guess}\"?")
                    }
                    None => format!(
                        "there is no colour \"{shown}\"; there are {}",
                        names.join(", ")
                    ),
                })
            }
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_words_digits_or_parts() {
        let red: Color = "red".parse().unwrap();
        assert_eq!(red.to_string().parse(), Ok(red));
        assert_eq!("#FF8000".parse::<Color>().unwrap().rgb(), [255, 128, 0]);
        assert_eq!(
            Color::from_parts([1.0, 0.5, 0.0]).unwrap().rgb(),
            [255, 128, 0]
        );
        for wrong in [
            "",
            "#",
            "#12345",
            "#1234567",
            "#+12+34",
            "#ggg000",
            "rde",
            "äöü#00",
            "#äöü",
        ] {
            assert!(wrong.parse::<Color>().is_err(), "{wrong}");
        }
        assert!("rde".parse::<Color>().unwrap_err().contains("red"));
        for wrong in [[1.1, 0.0, 0.0], [0.0, -0.1, 0.0], [f64::NAN, 0.0, 0.0]] {
            assert!(Color::from_parts(wrong).is_err());
        }
    }
}
