//! `meniscus view` and `meniscus report`.

use super::arguments::{ReportArguments, ViewArguments};
use super::output::{print_line, print_note};
use crate::viewer::server::Server;
use crate::viewer::{Watched, report as reports};
use meniscus_store::error::{Error, Kind};
use meniscus_store::quantity::{bytes, count};
use std::process::{Command, Stdio};

/// Serves one or two runs for the browser, until Ctrl-C.
pub fn view(arguments: &ViewArguments) -> Result<(), Error> {
    let runs = [Some(&arguments.run), arguments.other.as_ref()];
    let runs = runs
        .into_iter()
        .flatten()
        .map(|run| Watched::open(run, arguments.assets.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    if let [one, other] = runs.as_slice()
        && one.dimension() != other.dimension()
    {
        return Err(Error::usage(format!(
            "{} is {}D and {} is {}D: they can't share a camera",
            one.path().display(),
            one.dimension(),
            other.path().display(),
            other.dimension()
        )));
    }
    let server = Server::bind(runs, arguments.port.unwrap_or(0))?;
    let address = format!("http://{}/", server.address());
    let stopper = server.stopper();
    ctrlc::set_handler(move || stopper.stop())
        .map_err(|e| Error::new(Kind::Resources, format!("could not listen for Ctrl-C: {e}")))?;
    print_line(format_args!("{address}"));
    print_note("open this address in a browser on this machine; stop with Ctrl-C");
    if arguments.open && !open_browser(&address) {
        print_note("no browser could be started: open the address by hand");
    }
    server.serve();
    Err(Error::silent(Kind::Interrupted))
}

/// Opens an address in the default browser.
fn open_browser(address: &str) -> bool {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}

/// Writes the page and its data into one file.
pub fn report(arguments: &ReportArguments) -> Result<(), Error> {
    let beside = || arguments.run.join(reports::NAME);
    let file = arguments.out.clone().unwrap_or_else(beside);
    let written = reports::write(&arguments.run, arguments.assets.as_deref(), &file)?;
    print_line(format_args!(
        "wrote {}, {}, to {}",
        count(written.frames, "frame"),
        bytes(written.bytes as u64),
        file.display()
    ));
    if let Some(left_out) = written.left_out() {
        print_line(format_args!("omitted: {left_out}"));
    }
    Ok(())
}
