//! Tests the report in a real browser: it opens without errors, and its controls work.

mod checks;
mod chromium;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context as _, Result};

use self::chromium::Chromium;
use super::{Context, Outcome};
use crate::install;
use crate::output::print_line;

/// The browser, and fonts: a machine without a screen may have none.
const PACKAGES: &str = "chromium fonts-dejavu-core";

/// The possible names of the browser's program.
const PROGRAM_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Makes a report and checks it. `FILCH_REPORT` names an existing page to check instead, for work
/// on the page.
pub(super) fn run(context: &Context) -> Result<Outcome> {
    let Some(browser) = find(context).or_else(|| {
        install::packages(context, PACKAGES, "a browser");
        find(context)
    }) else {
        return context.skip(&format!(
            "no browser is installed: run `apt-get install {PACKAGES}`, or put Chromium or Chrome on the PATH"
        ));
    };
    let folder = context.root.join(context.target("browser"));
    fs::create_dir_all(&folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let page = match env::var_os("FILCH_REPORT") {
        Some(page) => PathBuf::from(page),
        None => report(context, &folder)?,
    };
    let page = fs::canonicalize(&page).with_context(|| format!("the page {} does not exist", page.display()))?;
    let screenshots = folder.join("screenshots");
    fs::create_dir_all(&screenshots)?;
    let checked = checks::run_all(&mut Chromium::start(browser, &folder)?, &page, &screenshots)?;
    print_line!("checked {checked}; screenshots are in {}", screenshots.display());
    Ok(Outcome::Passed)
}

fn find(context: &Context) -> Option<&'static str> {
    PROGRAM_NAMES.into_iter().find(|name| context.command(name).arg("--version").succeeds())
}

/// Makes a report with all sections from one round of the smallest cases. The checks are about the
/// page, not about speed.
fn report(context: &Context, folder: &Path) -> Result<PathBuf> {
    let report = folder.join("report");
    // Otherwise the checks would use the page of an earlier run if this run writes none.
    if report.exists() {
        fs::remove_dir_all(&report).with_context(|| format!("cannot remove {}", report.display()))?;
    }
    context.lab()?.words("report --rehearsal --out").arg(&report).run()?;
    let page = report.join("index.html");
    ensure!(page.is_file(), "the report has no page: {} does not exist", page.display());
    Ok(page)
}
