//! The tables as they are printed.

/// Quantity of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Iterations, those inside counted.
    Iterations,
    /// The same of one solve.
    Count,
    /// Times that the problem was linearised.
    Outer,
    /// Time.
    Seconds,
}

impl Quantity {
    /// In a few words, with the unit.
    pub fn words(self) -> &'static str {
        match self {
            Self::Iterations | Self::Count => "iterations",
            Self::Outer => "outer iterations",
            Self::Seconds => "seconds",
        }
    }

    /// Significant decimals.
    pub fn decimals(self) -> usize {
        match self {
            Self::Iterations | Self::Outer => 2,
            Self::Count => 0,
            Self::Seconds => 4,
        }
    }
}

/// A table of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    pub study: &'static str,
    pub summary: &'static str,
    /// The built-in scene.
    pub scene: &'static str,
    pub quantity: Quantity,
    /// Names of the solvers.
    pub columns: &'static [&'static str],
    /// One line per size: cells along a side, then one value per column; `-` where the paper has none.
    pub rows: &'static str,
}

impl Printed {
    /// Sizes and the values of their columns.
    pub fn rows(&self) -> impl Iterator<Item = (u32, Vec<Option<f64>>)> {
        self.rows.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let size = words.next()?.parse().ok()?;
            Some((size, words.map(|word| word.parse().ok()).collect()))
        })
    }

    /// Value of the paper for a solver and a size.
    pub fn value(&self, solver: &str, size: u32) -> Option<f64> {
        let column = self.columns.iter().position(|name| *name == solver)?;
        let (_, values) = self.rows().find(|row| row.0 == size)?;
        *values.get(column)?
    }
}

const ALL: &[&str] = &[
    "FAS-MG", "PI-PCG", "PI-MG", "PE-PCG", "PE-MG", "FMG", "Newton", "No LCP",
];
const NESTED: &[&str] = &["PI-PCG", "PI-MG", "PE-PCG", "PE-MG", "Newton"];
const BOUNDED: &[&str] = &[
    "FAS-MG", "PI-PCG", "PI-MG", "PE-PCG", "PE-MG", "FMG", "Newton",
];

/// Tables 1 to 8: means over the problems of a run.
///
/// [Lai20 table 1, table 2, table 3, table 4, table 5, table 6, table 7, table 8]
pub const MEANS: [Printed; 8] = [
    Printed {
        study: "lai20-table1",
        summary: "mean iterations of every solver on the problems of the circle",
        scene: "circle",
        quantity: Quantity::Iterations,
        columns: ALL,
        rows: "
             32   7.45    16.9   7.59   16.87   7.99   20.38    92.11  15.99
             64  10.39   36.02   9.74   36.07  12.58    35.4   336.17  30.73
            128  14.07   70.63  11.89   70.58   17.6   65.37   947.23  55.91
            256  18.26  123.61  14.51  122.42  21.98  109.54  2283.65   93.2",
    },
    Printed {
        study: "lai20-table2",
        summary: "mean iterations of every solver on the problems of the sphere",
        scene: "sphere",
        quantity: Quantity::Iterations,
        columns: ALL,
        rows: "
             32   9.75    29.9  12.12   30.16  13.93  22.21   1901.69   20.14
             64  10.44   70.92  14.66   71.34  19.11  39.81   3890.08   39.57
            128  11.94  132.56  17.61  133.53  24.57  61.12  10879.01   62.26
            256  14.02  251.88  20.71  252.28  28.84  89.89         -  100.78",
    },
    Printed {
        study: "lai20-table3",
        summary: "mean outer iterations on the problems of the circle",
        scene: "circle",
        quantity: Quantity::Outer,
        columns: NESTED,
        rows: "
             32  1.12  1.12  1.12  1.23  0.94
             64  1.25  1.25  1.25  1.43  1.71
            128  1.34  1.34  1.35  1.58  2.08
            256  1.43  1.43  1.41  1.63  2.34",
    },
    Printed {
        study: "lai20-table4",
        summary: "mean outer iterations on the problems of the sphere",
        scene: "sphere",
        quantity: Quantity::Outer,
        columns: NESTED,
        rows: "
             32  1.47  1.47  1.49  1.53  2.04
             64  1.78  1.76  1.79  1.77  2.57
            128   2.1  2.12  2.12  2.19  2.91
            256  2.48  2.52  2.48  2.49     -",
    },
    Printed {
        study: "lai20-table5",
        summary: "mean CPU time of every solver on the problems of the circle",
        scene: "circle",
        quantity: Quantity::Seconds,
        columns: ALL,
        rows: "
             32  0.0021  0.00054  0.0028  0.00055  0.0025  0.0026  0.002  0.00048
             64  0.0082   0.0034  0.0086   0.0033  0.0075   0.022  0.024   0.0029
            128   0.029     0.02    0.03    0.021   0.028    0.17   0.24    0.016
            256    0.13     0.15    0.12     0.13    0.13    1.25   2.59    0.098",
    },
    Printed {
        study: "lai20-table6",
        summary: "mean CPU time of every solver on the problems of the sphere",
        scene: "sphere",
        quantity: Quantity::Seconds,
        columns: ALL,
        rows: "
             32  0.037  0.014  0.036  0.015  0.036   0.076    0.98  0.0074
             64   0.25    0.2   0.33    0.2   0.37    1.68   25.38    0.09
            128   2.15   2.64   2.82   2.82   4.28   30.24  637.67    1.15
            256  16.78  36.96  24.58  37.82  47.38  510.71       -   14.24",
    },
    Printed {
        study: "lai20-table7",
        summary: "mean iterations of every solver on the problems of the maze",
        scene: "maze",
        quantity: Quantity::Iterations,
        columns: BOUNDED,
        rows: "
             32  4.41   9.74   8.11    9.5   7.67   6.89    87.2
             64  7.07  15.52  10.55  15.75  10.11  10.71   195.5
            128  5.83  31.29  13.52   31.9  12.91  34.13  450.21",
    },
    Printed {
        study: "lai20-table8",
        summary: "mean CPU time of every solver on the problems of the maze",
        scene: "maze",
        quantity: Quantity::Seconds,
        columns: BOUNDED,
        rows: "
             32  0.016  0.0042  0.032  0.004  0.029  0.017   0.41
             64  0.092   0.018   0.15  0.018   0.12    0.1    3.5
            128   0.38     0.1    0.7   0.11   0.53   1.21  31.35",
    },
];

/// Tables 9 to 11: iterations of single solves. [Lai20 table 9, table 10, table 11]
pub const SINGLES: [Printed; 3] = [
    Printed {
        study: "lai20-table9",
        summary: "iterations of one solve: frame 10 in the sphere",
        scene: "sphere",
        quantity: Quantity::Count,
        columns: BOUNDED,
        rows: "
             32  7   139  10   146  21   29   2773
             64  8   282   9   301  18   61   5837
            128  8   593  10   657  24  128  18680
            256  9  1263  14  1255  28  234  38547",
    },
    Printed {
        study: "lai20-table10",
        summary: "iterations of one solve: frame 70 in the sphere with a slab",
        scene: "sphere-cuboid",
        quantity: Quantity::Count,
        columns: BOUNDED,
        rows: "
             32  6   149  11   161  18   35   2634
             64  7   308  18   336  29   43  11122
            128  8   503  22   548  40   63  50162
            256  9  1186  43  1313  89  103  95823",
    },
    Printed {
        study: "lai20-table11",
        summary: "iterations of one solve: frame 10 in two spheres with hollow balls",
        scene: "double-sphere",
        quantity: Quantity::Count,
        columns: BOUNDED,
        rows: "
             32   7   80  14   85  23   15    1430
             64  15  182  37  203  57   43    9219
            128   9  421  34  446  90   67   46491
            256  12  762  24  887  60  175  122080",
    },
];

/// Table 12: variants of the FAS multigrid; not a number where it diverged. [Lai20 table 12]
pub const ABLATION: Printed = Printed {
    study: "lai20-table12",
    summary: "iterations of FAS multigrid without one of its parts, on one solve in the sphere",
    scene: "sphere",
    quantity: Quantity::Count,
    columns: &[
        "FAS-MG",
        "trilinear",
        "piecewise constant",
        "simple boundaries",
        "direct discretisation",
    ],
    rows: "
             32  7  6   47   6   65
             64  8  8  112  32  171
            128  8  8  268   -    -
            256  9  9  616   -    -",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_value_for_every_solver() {
        for table in MEANS.iter().chain(&SINGLES).chain([&ABLATION]) {
            for (size, values) in table.rows() {
                assert_eq!(values.len(), table.columns.len(), "{} {size}", table.study);
            }
        }
        assert_eq!(MEANS[1].value("Newton", 128), Some(10879.01));
        assert_eq!(MEANS[1].value("Newton", 256), None);
        assert_eq!(ABLATION.value("simple boundaries", 64), Some(32.0));
    }
}
