//! HTTP server of the page: loopback only, a few threads, one request per connection.

use super::http::{self, Refusal, Response};
use super::routes::Site;
use super::watched_run::Watched;
use meniscus_store::error::{Error, Kind};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Number of worker threads. Browsers open connections in advance, and each occupies one.
const WORKERS: usize = 16;
/// Length of the queue of connections; more are refused.
const QUEUE_LENGTH: usize = 64;
/// Write timeout, after which the client counts as disconnected.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);
/// Write timeout of a refused connection.
const REFUSAL_TIMEOUT: Duration = Duration::from_millis(25);
/// Largest number of bytes that are drained after a request.
const MAX_DRAINED_BYTES: u64 = 64 << 10;

/// Server bound to its port.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    site: Arc<Site>,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

/// Stops a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Stopper {
    /// Stops the server after the requests in progress.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the server, which is waiting for a connection.
        let _ = TcpStream::connect_timeout(&self.address, REFUSAL_TIMEOUT);
    }
}

impl Server {
    /// Binds a port of the loopback interface, any free one for port 0, for these runs.
    ///
    /// # Errors
    /// If the port is in use.
    pub fn bind(runs: Vec<Watched>, port: u16) -> Result<Self, Error> {
        let failed = |e: std::io::Error| {
            Error::new(
                Kind::Resources,
                format!("could not listen on 127.0.0.1:{port}: {e}"),
            )
            .with_remedy("choose another with --port N, or omit it for any free one")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Server {
            listener,
            site: Arc::new(Site::new(runs, address.port())),
            address,
            stop: Arc::default(),
        })
    }

    /// Handle that stops the server.
    pub fn stopper(&self) -> Stopper {
        Stopper {
            address: self.address,
            stop: self.stop.clone(),
        }
    }

    /// Address of the page.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is [stopped](Stopper::stop).
    pub fn serve(&self) {
        let (give, take) = sync_channel::<TcpStream>(QUEUE_LENGTH);
        let take = Arc::new(Mutex::new(take));
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                let (take, site) = (take.clone(), self.site.clone());
                scope.spawn(move || work(&take, &site));
            }
            while !self.stop.load(Ordering::Relaxed) {
                match self.listener.accept() {
                    Ok((stream, _)) => match give.try_send(stream) {
                        Ok(()) | Err(TrySendError::Disconnected(_)) => {}
                        Err(TrySendError::Full(stream)) => refuse(stream),
                    },
                    // Temporary failures, such as too many open files.
                    Err(_) => thread::sleep(REFUSAL_TIMEOUT),
                }
            }
            drop(give);
        });
    }
}

fn work(take: &Mutex<Receiver<TcpStream>>, site: &Site) {
    loop {
        let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(stream) = next else { return };
        // Errors of a connection concern the client only.
        let _ = handle(stream, site);
    }
}

fn handle(mut stream: TcpStream, site: &Site) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let wait = |stream: &TcpStream, left: Duration| stream.set_read_timeout(Some(left));
    let response = match http::read_request(&mut stream, wait) {
        Ok(request) => site.answer(&request),
        Err(Refusal::Gone) => return Ok(()),
        Err(Refusal::Malformed) => Response::refusal(400, "malformed request"),
        Err(Refusal::TooLong) => Response::refusal(431, "request too long"),
        Err(Refusal::TooSlow) => Response::refusal(408, "request timed out"),
    };
    response.write(&mut stream)?;
    finish(&stream)
}

/// Closes a connection so that the response arrives: closing with unread input would reset it.
fn finish(stream: &TcpStream) -> std::io::Result<()> {
    stream.shutdown(std::net::Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    std::io::copy(&mut stream.take(MAX_DRAINED_BYTES), &mut std::io::sink()).map(|_| ())
}

fn refuse(stream: TcpStream) {
    let mut stream = stream;
    let _ = stream.set_write_timeout(Some(REFUSAL_TIMEOUT));
    let _ = Response::refusal(503, "too many requests").write(&mut stream);
}
