//! `meniscus lcp solvers`.

use super::super::output::print_line;
use meniscus_lcp::registry::Method;
use meniscus_store::error::Error;

/// Lists the methods and when to use them.
pub fn list() -> Result<(), Error> {
    let names = Method::ALL.iter().map(|method| method.name().len());
    let widest = names.max().unwrap_or(0);
    for method in Method::ALL {
        print_line(format_args!(
            "{:widest$}  {} ({})\n{:widest$}  {}",
            method.name(),
            method.what(),
            method.family().words(),
            "",
            method.when()
        ));
    }
    Ok(())
}
