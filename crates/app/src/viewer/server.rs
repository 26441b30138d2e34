//! The server of the page: on this machine only, a few threads, one request a connection.

use super::http::{self, Refusal, Response};
use super::routes::Site;
use super::watched::Watched;
use meniscus_store::error::{Error, Kind};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Requests that are answered at the same time. Browsers open connections before they need them, and each holds one.
const WORKERS: usize = 16;
/// Connections that wait for a worker; more are turned away.
const WAITING: usize = 64;
/// Somebody who takes an answer more slowly than this has gone away.
const SENDING: Duration = Duration::from_secs(20);
/// A connection that is turned away gets this long to hear it.
const BRIEF: Duration = Duration::from_millis(25);
/// No more than this is read of what comes after a request.
const LEFT_OVER: u64 = 64 << 10;

/// A server that has its port and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    site: Arc<Site>,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

/// Ends a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl Stopper {
    /// Ends the server after the requests that it is at.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // The server waits for a connection: here is one.
        let _ = TcpStream::connect_timeout(&self.address, BRIEF);
    }
}

impl Server {
    /// Takes a port of this machine, any free one for port 0, for these runs.
    ///
    /// # Errors
    /// If the port is taken.
    pub fn bind(runs: Vec<Watched>, port: u16) -> Result<Self, Error> {
        let failed = |e: std::io::Error| {
            Error::new(
                Kind::Resources,
                format!("could not take the port {port} of 127.0.0.1: {e}"),
            )
            .with_remedy("choose another with --port N, or leave it out for any free one")
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

    /// What ends it.
    pub fn stopper(&self) -> Stopper {
        Stopper {
            address: self.address,
            stop: self.stop.clone(),
        }
    }

    /// Where the page is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until it is [stopped](Stopper::stop).
    pub fn serve(&self) {
        let (give, take) = sync_channel::<TcpStream>(WAITING);
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
                        Err(TrySendError::Full(stream)) => turn_away(stream),
                    },
                    // Too many open files, say: it may pass.
                    Err(_) => thread::sleep(BRIEF),
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
        // A connection that breaks is the other side's business.
        let _ = attend(stream, site);
    }
}

fn attend(mut stream: TcpStream, site: &Site) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SENDING))?;
    let wait = |stream: &TcpStream, left: Duration| stream.set_read_timeout(Some(left));
    let response = match http::read_request(&mut stream, wait) {
        Ok(request) => site.answer(&request),
        Err(Refusal::Gone) => return Ok(()),
        Err(Refusal::Malformed) => Response::refusal(400, "this is no request"),
        Err(Refusal::TooLong) => Response::refusal(431, "this request is too long"),
        Err(Refusal::TooSlow) => Response::refusal(408, "this request came too slowly"),
    };
    response.write(&mut stream)?;
    finish(&stream)
}

/// Ends a connection so that the answer arrives: closing with something unread would take it back.
fn finish(stream: &TcpStream) -> std::io::Result<()> {
    stream.shutdown(std::net::Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    std::io::copy(&mut stream.take(LEFT_OVER), &mut std::io::sink()).map(|_| ())
}

fn turn_away(stream: TcpStream) {
    let mut stream = stream;
    let _ = stream.set_write_timeout(Some(BRIEF));
    let _ = Response::refusal(503, "too many requests at once").write(&mut stream);
}
