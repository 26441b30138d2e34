//! Smallest, quarter, half, three quarters and largest of some values.

/// Of values that are in order these lie at 0, 25, 50, 75 and 100 per cent, with straight lines in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    pub least: f64,
    pub lower: f64,
    pub median: f64,
    pub upper: f64,
    pub most: f64,
}

impl Quartiles {
    /// None of no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let below = place.floor() as usize;
            let above = (below + 1).min(last);
            values[below] + (place - below as f64) * (values[above] - values[below])
        };
        Some(Quartiles {
            least: at(0.0),
            lower: at(0.25),
            median: at(0.5),
            upper: at(0.75),
            most: at(1.0),
        })
    }

    /// With names, from the smallest on.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("least", self.least),
            ("lower quartile", self.lower),
            ("median", self.median),
            ("upper quartile", self.upper),
            ("most", self.most),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_a_few_values_are_those_done_by_hand() {
        let found = Quartiles::of([4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!((found.least, found.most), (1.0, 4.0));
        assert_eq!((found.lower, found.median, found.upper), (1.75, 2.5, 3.25));
        assert_eq!(Quartiles::of([7.0]).unwrap().upper, 7.0);
        assert!(Quartiles::of([]).is_none());
    }
}
