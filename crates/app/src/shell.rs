//! Quoting of arguments for a POSIX shell, so that printed commands can be pasted as they are.

use std::ffi::OsStr;
use std::path::Path;

/// Characters that no shell interprets.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.,=/+:@%".contains(c)
}

/// Quotes a word as one argument of a shell command.
pub fn quoted(word: &str) -> String {
    if word.chars().any(char::is_control) {
        return escaped(word.as_bytes());
    }
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Quotes a path as one argument of a shell command. One that begins with a dash would be taken for a flag.
pub fn quoted_path(path: &Path) -> String {
    let dashed = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    let path = if dashed {
        Path::new(".").join(path)
    } else {
        path.into()
    };
    match path.to_str() {
        Some(text) => quoted(text),
        None => escaped(bytes_of(path.as_os_str())),
    }
}

/// ANSI-C quoting, which can represent any bytes.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::from("$'");
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => text.extend(['\\', byte as char]),
            b' '..=b'~' => text.push(byte as char),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push('\'');
    text
}

#[cfg(unix)]
fn bytes_of(name: &OsStr) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(name)
}

#[cfg(not(unix))]
fn bytes_of(name: &OsStr) -> &[u8] {
    name.as_encoded_bytes()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    #[test]
    fn a_shell_parses_every_quoted_path_back_to_the_original() {
        for name in [
            b"plain-name_1.toml".to_vec(),
            b"with space".to_vec(),
            b"it's \"quoted\" $HOME `x` \\ *".to_vec(),
            b"".to_vec(),
            b"new\nline\ttab".to_vec(),
            vec![b'a', 0xff, b'\'', 0xfe],
            "Größe".into(),
        ] {
            let path = std::ffi::OsString::from_vec(name.clone());
            let line = format!("printf %s {}", quoted_path(Path::new(&path)));
            let read = std::process::Command::new("bash")
                .arg("-c")
                .arg(OsStr::from_bytes(line.as_bytes()))
                .output();
            assert_eq!(read.unwrap().stdout, name, "{line}");
        }
        assert_eq!(quoted_path(Path::new("-rf")), "./-rf");
        assert_eq!(quoted_path(Path::new("out/drop")), "out/drop");
    }
}
