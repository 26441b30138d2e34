//! Velocity gradients of particles (APIC), compressed.

/// Whole parts of its unit that the largest entry of a gradient is.
const PARTS: f32 = 32767.0;
/// Gradients below this (1/s) are none, those above belong to no liquid.
const SMALLEST: f32 = 1e-30;
const LARGEST: f32 = 1e30;

/// How the velocity changes around a particle: entry `[a][b]` is the derivative of component `a` along axis `b`.
///
/// Every entry is a whole number of parts of a unit that is the particle's own, so that it is off by at most 1/65,000 of
/// the largest, in two bytes instead of four. Momentum does not depend on it at all: what a gradient adds on one side of a
/// particle it takes away on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient<const D: usize> {
    unit: f32,
    parts: [[i16; D]; D],
}

impl<const D: usize> Gradient<D> {
    /// The same velocity all around.
    pub const NONE: Self = Self {
        unit: 0.0,
        parts: [[0; D]; D],
    };
    /// Bytes of one that is written.
    pub const BYTES: usize = 4 + 2 * D * D;
    /// Numbers of four bytes that hold one.
    pub(crate) const WORDS: usize = 1 + (D * D).div_ceil(2);

    /// The gradient with these entries; one that is not a number counts as zero.
    #[inline]
    pub fn new(entries: [[f32; D]; D]) -> Self {
        let largest = |m: f32, g: &f32| if g.abs() > m { g.abs() } else { m };
        let largest = entries.as_flattened().iter().fold(0.0, largest);
        if !(SMALLEST..LARGEST).contains(&largest) {
            return Self::NONE;
        }
        let scale = PARTS / largest;
        Self {
            unit: largest / PARTS,
            parts: entries.map(|row| row.map(|g| nearest(g * scale))),
        }
    }

    /// Its entries.
    #[inline]
    pub fn entries(&self) -> [[f32; D]; D] {
        self.parts.map(|row| row.map(|p| f32::from(p) * self.unit))
    }

    /// Whether its unit is a number that [`Gradient::new`] may have chosen.
    pub(crate) fn is_sound(&self) -> bool {
        self.unit.is_sign_positive() && self.unit <= LARGEST / PARTS
    }

    /// Part of it, as the bits of four bytes.
    #[inline]
    pub(crate) fn word(&self, k: usize) -> u32 {
        let parts = self.parts.as_flattened();
        let part = |at: usize| parts.get(at).map_or(0, |&p| u32::from(p.cast_unsigned()));
        match k.checked_sub(1) {
            None => self.unit.to_bits(),
            Some(pair) => part(2 * pair) | part(2 * pair + 1) << 16,
        }
    }

    /// Takes back what [`Gradient::word`] gave.
    #[inline]
    pub(crate) fn set_word(&mut self, k: usize, word: u32) {
        let Some(pair) = k.checked_sub(1) else {
            self.unit = f32::from_bits(word);
            return;
        };
        let parts = self.parts.as_flattened_mut().iter_mut().skip(2 * pair);
        for (part, half) in parts.zip([word as u16, (word >> 16) as u16]) {
            *part = half.cast_signed();
        }
    }

    /// Appends its bytes, little endian.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.unit.to_le_bytes());
        out.extend(
            self.parts
                .as_flattened()
                .iter()
                .flat_map(|p| p.to_le_bytes()),
        );
    }

    /// The gradient of so many bytes as [`Gradient::write`] appends.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let part = |at: usize| i16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self {
            unit: f32::from_le_bytes(std::array::from_fn(|k| bytes[k])),
            parts: std::array::from_fn(|a| std::array::from_fn(|b| part(4 + 2 * (D * a + b)))),
        }
    }
}

/// The whole number nearest to one of at most [`PARTS`], even ones first: what lies below one is rounded off where this is
/// added. Unlike a conversion it is the same instruction on every processor.
#[inline]
fn nearest(x: f32) -> i16 {
    const WHOLE: f32 = (3 << 22) as f32;
    (x + WHOLE).to_bits() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const D: usize>(entries: [[f32; D]; D]) {
        let gradient = Gradient::new(entries);
        let all = entries.as_flattened();
        let largest = all.iter().fold(0.0f32, |m, g| m.max(g.abs()));
        for (kept, given) in gradient.entries().as_flattened().iter().zip(all) {
            assert!((kept - given).abs() <= largest / 65_000.0, "{kept} {given}");
        }
        let mut bytes = Vec::new();
        gradient.write(&mut bytes);
        assert_eq!(bytes.len(), Gradient::<D>::BYTES);
        assert_eq!(Gradient::read(&bytes), gradient);
        let mut copy = Gradient::NONE;
        for k in 0..Gradient::<D>::WORDS {
            copy.set_word(k, gradient.word(k));
        }
        assert_eq!(copy, gradient);
        // The mirror image has the mirrored gradient.
        let mirrored = Gradient::new(entries.map(|row| row.map(|g| -g)));
        assert_eq!(
            mirrored.entries(),
            gradient.entries().map(|row| row.map(|g| -g))
        );
    }

    #[test]
    fn entries_are_kept_to_a_part_of_the_largest() {
        check([[1.0, -0.25, 3.5], [0.0, 1e-9, 7.25], [-7.249, 0.1, 0.3]]);
        check([[-3e-20, 2.9e-20], [0.0, 1e-21]]);
        check([[2e25, 1.0], [-2e25, -1.3e25]]);
        check([[0.0; 3]; 3]);
    }

    #[test]
    fn what_is_no_gradient_of_a_liquid_is_none() {
        for entry in [f32::INFINITY, f32::NAN, 1e-38, 3e38] {
            assert_eq!(Gradient::new([[0.0, entry], [0.0, 0.0]]), Gradient::NONE);
        }
    }
}
