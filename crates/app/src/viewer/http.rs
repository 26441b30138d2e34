//! Minimal HTTP/1.1 for a page on the same machine: one `GET` per connection, all input validated.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// Largest size of a request's head in bytes.
const LONGEST_HEAD: usize = 8 << 10;
/// Time limit for the head of a request.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// Request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Method, such as `GET`.
    pub method: String,
    /// Path and query, verbatim.
    pub target: String,
    /// Value of the `Host` header.
    pub host: String,
}

/// Reason for refusing a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Malformed.
    Malformed,
    /// The head is too long.
    TooLong,
    /// The head arrived too slowly.
    TooSlow,
    /// The client disconnected.
    Gone,
}

/// Reads the head of a request. `wait` sets the timeout of the next read.
pub fn read_request<S: Read>(
    stream: &mut S,
    wait: impl Fn(&S, Duration) -> io::Result<()>,
) -> Result<Request, Refusal> {
    let deadline = Instant::now() + HEAD_TIMEOUT;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Refusal::TooSlow);
        }
        wait(stream, left).map_err(|_| Refusal::Gone)?;
        match stream.read(&mut piece) {
            Ok(0) => return Err(Refusal::Gone),
            Ok(count) => head.extend(&piece[..count]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                return Err(Refusal::TooSlow);
            }
            Err(_) => return Err(Refusal::Gone),
        }
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            return parse(&head[..end]).ok_or(Refusal::Malformed);
        }
        if head.len() > LONGEST_HEAD {
            return Err(Refusal::TooLong);
        }
    }
}

fn parse(head: &[u8]) -> Option<Request> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return None;
    }
    let mut hosts = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let host = hosts.next()?;
    // More than one host is an attack.
    if hosts.next().is_some() {
        return None;
    }
    Some(Request {
        method: method.into(),
        target: target.into(),
        host: host.into(),
    })
}

/// Response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Media type of the body.
    pub kind: &'static str,
    /// Content of the body.
    pub body: Vec<u8>,
}

/// No external resources, no framing by other pages, no caching, no type sniffing.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Content-Security-Policy: default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    Connection: close\r\n";

impl Response {
    /// Successful response with this body.
    pub fn of(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Response {
            status: 200,
            kind,
            body: body.into(),
        }
    }

    /// Refusal with an explanation.
    pub fn refusal(status: u16, why: impl Into<String>) -> Self {
        Response {
            status,
            kind: "text/plain; charset=utf-8",
            body: why.into().into_bytes(),
        }
    }

    /// Writes the response.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        write!(
            out,
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{HEADERS}\r\n",
            self.status,
            self.kind,
            self.body.len()
        )?;
        out.write_all(&self.body)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Request, Refusal> {
        read_request(&mut &bytes[..], |_, _| Ok(()))
    }

    #[test]
    fn valid_requests_are_parsed_and_others_refused() {
        let request =
            read(b"GET /a?b HTTP/1.1\r\nX: y\r\nhOsT:  localhost:1 \r\n\r\nmore").unwrap();
        assert_eq!(request.method, "GET");
        assert_eq!(request.target, "/a?b");
        assert_eq!(request.host, "localhost:1");
        for (bytes, refusal) in [
            (&b"GET / HTTP/1.1\r\n\r\n"[..], Refusal::Malformed),
            (
                b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                Refusal::Malformed,
            ),
            (b"GET / HTTP/2\r\nHost: a\r\n\r\n", Refusal::Malformed),
            (b"GET /\r\nHost: a\r\n\r\n", Refusal::Malformed),
            (b"GET / x HTTP/1.1\r\nHost: a\r\n\r\n", Refusal::Malformed),
            (
                b"\xff\xfe / HTTP/1.1\r\nHost: a\r\n\r\n",
                Refusal::Malformed,
            ),
            (b"GET / HTTP/1.1\r\nHost: a\r\n", Refusal::Gone),
            (b"", Refusal::Gone),
        ] {
            assert_eq!(
                read(bytes),
                Err(refusal),
                "{}",
                String::from_utf8_lossy(bytes)
            );
        }
        assert_eq!(read(&[b'x'; 100_000]), Err(Refusal::TooLong));
    }
}
