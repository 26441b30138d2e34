//! Matrix Market files: what is written is read back to the last bit, and no file does harm.

use crate::gallery::{self, Domain, Random, dense, from_rows};
use meniscus_lcp::Csr;
use meniscus_lcp::matrix_market::{
    Limits, ReadError, read_matrix, read_vector, write_matrix, write_vector,
};
use proptest::prelude::*;

fn matrix(text: &str) -> Result<Csr, ReadError> {
    read_matrix(text.as_bytes(), &Limits::default())
}

fn vector(text: &str) -> Result<Vec<f64>, ReadError> {
    read_vector(text.as_bytes(), &Limits::default())
}

/// The line a reader complains about.
fn line<T: std::fmt::Debug>(result: Result<T, ReadError>) -> usize {
    match result {
        Err(ReadError::Line { line, .. }) => line,
        other => panic!("not an error in a line: {other:?}"),
    }
}

#[test]
fn matrices_are_read_back_to_the_last_bit() {
    let empty = Csr::new(0, vec![0], vec![], vec![]).unwrap();
    let odd = from_rows(vec![
        vec![(1, f64::MIN_POSITIVE), (2, -0.0)],
        vec![],
        vec![(0, f64::MAX), (1, 5e-324), (2, 1.0 / 3.0)],
    ]);
    for matrix in [
        empty,
        odd,
        Domain::cube(5).laplacian(&mut Random::new(3)).matrix,
    ] {
        let mut file = Vec::new();
        write_matrix(&mut file, &matrix).unwrap();
        let read = read_matrix(&file[..], &Limits::default()).unwrap();
        assert_eq!(read, matrix);
        for row in 0..matrix.rows() {
            let bits = |matrix: &Csr| {
                matrix
                    .row(row)
                    .1
                    .iter()
                    .map(|value| value.to_bits())
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(&read), bits(&matrix));
        }
    }
}

proptest! {
    #![proptest_config(gallery::cases(512))]

    #[test]
    fn vectors_are_read_back_to_the_last_bit(bits in prop::collection::vec(any::<u64>(), 0..50)) {
        let vector: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits)).filter(|value| !value.is_nan()).collect();
        let mut file = Vec::new();
        write_vector(&mut file, &vector).unwrap();
        let read = read_vector(&file[..], &Limits::default()).unwrap();
        prop_assert_eq!(read.len(), vector.len());
        for (a, b) in read.iter().zip(&vector) {
            prop_assert_eq!(a.to_bits(), b.to_bits());
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_matrix(&bytes[..], &Limits::default());
        let _ = read_vector(&bytes[..], &Limits::default());
    }

    #[test]
    fn no_change_to_a_file_makes_the_reader_panic(at in 0_usize..100, byte: u8, cut in 0_usize..120) {
        let mut file = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2.5\n2 1 -1\n2 2 2\n3 3 1e-3\n".to_vec();
        let len = file.len();
        file[at % len] = byte;
        file.truncate(cut);
        let _ = read_matrix(&file[..], &Limits::default());
        let _ = read_vector(&file[..], &Limits::default());
    }
}

#[test]
fn every_supported_kind_is_read() {
    let expected = dense([[2.0, -1.0], [-1.0, 3.0]]);
    for text in [
        "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 2\n1 2 -1\n2 1 -1\n2 2 3\n",
        "%%MatrixMarket matrix coordinate integer symmetric\n2 2 3\n2 2 3\n1 1 2\n2 1 -1",
        "%%MatrixMarket matrix array real general\n2 2\n2e0\n-1.0\n-1\n3\n",
        "%%MatrixMarket matrix array integer symmetric\n2 2\n2\n-1\n3\n",
        "%%matrixmarket MATRIX Coordinate Real General\r\n% a comment\r\n\r\n  2\t2 4\r\n1 1 2\r\n\r\n1 2 -1\r\n2 1 -1\r\n2 2 3\r\n\r\n",
    ] {
        assert_eq!(matrix(text).unwrap(), expected, "{text}");
    }
    assert_eq!(
        vector("%%MatrixMarket matrix array real general\n3 1\ninf\n-inf\n0.5\n").unwrap(),
        [f64::INFINITY, f64::NEG_INFINITY, 0.5]
    );
    assert_eq!(
        vector("%%MatrixMarket matrix coordinate real general\n3 1 1\n2 1 7\n").unwrap(),
        [0.0, 7.0, 0.0]
    );
    assert_eq!(
        vector("%%MatrixMarket matrix array real general\n0 1\n").unwrap(),
        Vec::<f64>::new()
    );
    // Zeros of a dense file are no entries, zeros of a sparse one are.
    assert_eq!(
        matrix("%%MatrixMarket matrix array real general\n1 1\n0\n")
            .unwrap()
            .nonzeros(),
        0
    );
    assert_eq!(
        matrix("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0\n")
            .unwrap()
            .nonzeros(),
        1
    );
}

#[test]
fn faults_are_named_by_their_line() {
    let general = "%%MatrixMarket matrix coordinate real general\n";
    for (text, expected) in [
        (String::new(), 1),
        ("hello\n".into(), 1),
        ("%%MatrixMarket vector array real general\n1\n1\n".into(), 1),
        (
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n".into(),
            1,
        ),
        (
            "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n".into(),
            1,
        ),
        (
            "%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n".into(),
            1,
        ),
        (format!("{general}% only a comment\n"), 3),
        (format!("{general}2 2\n"), 2),
        (format!("{general}2 2 1 1\n"), 2),
        (format!("{general}-2 2 1\n"), 2),
        (format!("{general}2 3 0\n"), 2),
        (format!("{general}2 2 1\n3 1 1\n"), 3),
        (format!("{general}2 2 1\n1 0 1\n"), 3),
        (format!("{general}2 2 1\n1 1 one\n"), 3),
        (format!("{general}2 2 1\n1 1\n"), 3),
        (format!("{general}2 2 1\n1 1 1 1\n"), 3),
        (format!("{general}2 2 1\n1 1 nan\n"), 3),
        (format!("{general}2 2 1\n1 1 inf\n"), 3),
        (format!("{general}2 2 1\n1 1 1e999\n"), 3),
        (format!("{general}2 2 2\n1 1 1\n"), 4),
        (format!("{general}2 2 1\n1 1 1\n2 2 1\n"), 4),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n".into(),
            3,
        ),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n".into(),
            2,
        ),
        (
            "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 0.5\n".into(),
            3,
        ),
        (
            "%%MatrixMarket matrix array real general\n1 1\n1 2\n".into(),
            3,
        ),
        (
            "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n".into(),
            6,
        ),
    ] {
        assert_eq!(line(matrix(&text)), expected, "{text:?}");
    }
    assert_eq!(
        line(vector(
            "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"
        )),
        2
    );
    assert_eq!(
        line(vector(
            "%%MatrixMarket matrix array real general\n1 1\nnan\n"
        )),
        3
    );
    assert_eq!(
        line(read_matrix(
            &b"%%MatrixMarket matrix coordinate real general\n\xff\xfe\n"[..],
            &Limits::default()
        )),
        2
    );
}

#[test]
fn an_entry_given_twice_is_named() {
    let twice = "%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 1\n2 1 1\n";
    assert!(matches!(
        matrix(twice),
        Err(ReadError::Twice { row: 2, column: 1 })
    ));
    let twice = "%%MatrixMarket matrix coordinate real general\n2 1 2\n2 1 1\n2 1 1\n";
    assert!(matches!(
        vector(twice),
        Err(ReadError::Twice { row: 2, column: 1 })
    ));
}

#[test]
fn promises_are_checked_against_limits_before_anything_is_allocated() {
    let huge = u64::MAX;
    for text in [
        format!("%%MatrixMarket matrix coordinate real general\n{huge} {huge} 1\n1 1 1\n"),
        "%%MatrixMarket matrix coordinate real general\n1000000000000 1000000000000 0\n".into(),
        format!("%%MatrixMarket matrix coordinate real general\n2 2 {huge}\n1 1 1\n"),
        format!("%%MatrixMarket matrix array real general\n{huge} {huge}\n1\n"),
        "%%MatrixMarket matrix array real general\n20000000 20000000\n1\n".into(),
        "%%MatrixMarket matrix array real symmetric\n4294967295 4294967295\n1\n".into(),
    ] {
        assert_eq!(line(matrix(&text)), 2, "{text}");
    }
    assert_eq!(
        line(vector(&format!(
            "%%MatrixMarket matrix array real general\n{huge} 1\n"
        ))),
        2
    );

    // A promise within the limits takes memory only as it is kept.
    let promise = "%%MatrixMarket matrix coordinate real general\n2 2 200000000\n1 1 1\n";
    assert_eq!(line(matrix(promise)), 4);

    let limits = Limits::default().max_rows(3).max_entries(3);
    let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 1\n2 2 1\n";
    assert_eq!(line(read_matrix(text.as_bytes(), &limits)), 5); // four entries with the mirrored one
    assert!(read_matrix(text.as_bytes(), &limits.max_entries(4)).is_ok());
    assert_eq!(
        line(read_vector(
            &b"%%MatrixMarket matrix array real general\n4 1\n1\n1\n1\n1\n"[..],
            &limits
        )),
        2
    );
}

#[test]
fn a_line_without_end_is_refused() {
    let endless = format!(
        "%%MatrixMarket matrix coordinate real general\n{}",
        "1".repeat(1 << 20)
    );
    assert_eq!(line(matrix(&endless)), 2);
    let word = format!(
        "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 {}\n",
        "x".repeat(3000)
    );
    let message = matrix(&word).unwrap_err().to_string();
    assert!(message.len() < 200, "{message}");
}

#[test]
fn nan_is_not_written() {
    assert!(write_vector(Vec::new(), &[1.0, f64::NAN]).is_err());
}
