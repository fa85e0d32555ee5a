//! The checks of a report in a browser.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context as _, Result};
use serde_json::{json, Value};

use super::chromium::Chromium;

/// The script that queries the page.
const PAGE_SCRIPT: &str = include_str!("page.js");

/// The narrowest phone, a larger one, a tablet, a laptop, a large screen.
const WIDTHS: [u32; 5] = [320, 360, 768, 1280, 1920];

/// Runs all checks and takes screenshots. Returns a description of what was checked.
pub(super) fn run_all(browser: &mut Chromium, page: &Path, screenshots: &Path) -> Result<String> {
    let address = format!("file://{}", page.display());
    // The page must work without a network.
    let offline = json!({"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
    browser.call("Network.emulateNetworkConditions", offline)?;
    browser.set_screen(1280, 900, false)?;
    browser.set_colour_scheme("light")?;
    browser.open(&address)?;
    browser.evaluate(PAGE_SCRIPT)?;

    expect_no_faults(browser, "structure()").context("the page is incomplete")?;
    let contents = describe_contents(browser)?;
    expect_no_errors(browser)?;
    themes(browser, &address, screenshots).context("the colours are wrong")?;
    expect_no_faults(browser, "sorting()").context("the tables do not sort correctly")?;
    folds(browser).context("the folds do not open")?;
    words(browser, screenshots).context("the meanings of words are not shown")?;
    keyboard(browser).context("keyboard control does not work")?;
    timelines(browser, screenshots).context("the timeline does not work")?;
    downloads(browser, page).context("the downloads do not work")?;
    widths(browser, screenshots).context("the page does not fit the screen")?;
    expect_no_errors(browser)?;
    without_storage(browser, &address).context("the page does not work without storage")?;
    Ok(contents)
}

/// Queries the page for a list of faults, and fails if there are any.
fn expect_no_faults(browser: &mut Chromium, check: &str) -> Result<()> {
    let faults = browser.evaluate(&format!("pageChecks.{check}"))?;
    let faults = faults.as_array().with_context(|| format!("`{check}` returned no list"))?;
    let messages: Vec<&str> = faults.iter().filter_map(Value::as_str).collect();
    ensure!(faults.is_empty(), "{}", messages[..messages.len().min(5)].join("; "));
    Ok(())
}

/// Returns the number of sections, tables, charts and timelines.
fn describe_contents(browser: &mut Chromium) -> Result<String> {
    let mut count = |selector: &str| browser.evaluate(&format!("document.querySelectorAll({selector:?}).length"));
    let (sections, tables) = (count("main > section")?, count("table")?);
    let (charts, timelines) = (count("svg.chart")?, count("canvas[data-shows]")?);
    Ok(format!("{sections} sections, {tables} tables, {charts} charts, {timelines} timelines"))
}

/// Checks that the browser reported no errors and requested nothing from other addresses.
fn expect_no_errors(browser: &mut Chromium) -> Result<()> {
    for event in browser.events()? {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => bail!("a script failed: {}", params["exceptionDetails"]),
            "Runtime.consoleAPICalled" if params["type"] != "log" => {
                bail!("the page wrote to the console: {}", params["args"])
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                bail!("the browser logged an error: {}", params["entry"])
            }
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                let is_local = ["file:", "data:", "blob:"].iter().any(|scheme| url.starts_with(scheme));
                ensure!(is_local, "the page requests {url}");
            }
            _ => {}
        }
    }
    Ok(())
}

/// The lightness of the page, from 0 to 255.
fn lightness(browser: &mut Chromium) -> Result<f64> {
    let colour = browser.evaluate("getComputedStyle(document.body).backgroundColor")?;
    let colour = colour.as_str().unwrap_or_default();
    let parts = colour.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<f64>().ok());
    let parts: Vec<f64> = parts.take(3).collect();
    ensure!(parts.len() == 3, "the background colour '{colour}' has no RGB values");
    Ok(parts.iter().sum::<f64>() / 3.0)
}

fn expect_light(browser: &mut Chromium, light: bool, when: &str) -> Result<()> {
    let found = lightness(browser)?;
    ensure!(if light { found > 200.0 } else { found < 60.0 }, "{when}, the page has a lightness of {found:.0} of 255");
    Ok(())
}

/// Checks that the theme follows the system until the button is pressed. The choice must be
/// remembered.
fn themes(browser: &mut Chromium, address: &str, screenshots: &Path) -> Result<()> {
    expect_light(browser, true, "with a light system theme")?;
    browser.screenshot(&screenshots.join("light.png"), true)?;
    browser.set_colour_scheme("dark")?;
    browser.wait_for("document.documentElement.dataset.theme === 'dark'")?;
    expect_light(browser, false, "with a dark system theme")?;
    browser.screenshot(&screenshots.join("dark.png"), true)?;

    browser.click("button.theme", 0)?;
    expect_light(browser, true, "after a click on the theme button")?;
    expect_no_errors(browser)?;
    browser.open(address)?;
    browser.evaluate(PAGE_SCRIPT)?;
    expect_light(browser, true, "after a click on the theme button and a reload")?;
    browser.evaluate("localStorage.clear()")?;
    browser.click("button.theme", 0)?;
    expect_light(browser, false, "after a second click on the theme button")?;
    browser.click("button.theme", 0)?;
    browser.set_colour_scheme("light")?;
    Ok(())
}

/// Checks that folds with claims that do not hold are open, and that a link to a verdict opens its
/// fold and scrolls there. Then opens all folds.
fn folds(browser: &mut Chromium) -> Result<()> {
    expect_no_faults(browser, "folds()")?;
    let close = "for (const fold of document.querySelectorAll('details')) fold.open = false; scrollTo({top: 0, behavior: 'instant'}); true";
    let is_shown = "pageChecks.isShown(document.querySelector(document.querySelector('#verdicts .tally a').hash))";
    browser.evaluate(close)?;
    ensure!(browser.evaluate(is_shown)? == json!(false), "the verdicts of a closed fold are visible");
    browser.click("#verdicts .tally a", 0)?;
    browser.wait_for(is_shown).context("a click on a link to a verdict does not show it")?;
    browser.evaluate(close)?;
    browser.click("#verdicts .tally a", 0)?;
    browser.wait_for(is_shown).context("a second click on the same link does not show the verdict")?;
    browser.evaluate(close)?;
    browser.evaluate("const at = location.hash; location.hash = '#top'; location.hash = at")?;
    browser.wait_for(is_shown).context("the address of a verdict does not show it")?;
    browser.evaluate("document.querySelector('#verdicts summary').focus()")?;
    let is_open = browser.evaluate("document.activeElement.parentElement.open")?;
    browser.press("Enter")?;
    ensure!(browser.evaluate("document.activeElement.parentElement.open")? != is_open, "Enter does not open a fold");
    browser.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")?;
    Ok(())
}

/// Checks that a word shows its meaning with the focus, under the mouse and after a tap, within the
/// screen. Escape hides it.
fn words(browser: &mut Chromium, screenshots: &Path) -> Result<()> {
    let shown = "pageChecks.meaning()";
    let word = "document.querySelector('#verdicts tbody dfn')";
    browser.evaluate(&format!("{word}.scrollIntoView({{block: 'center', behavior: 'instant'}}); {word}.focus()"))?;
    ensure!(browser.evaluate(shown)? == "shown", "with the focus: {}", browser.evaluate(shown)?);
    browser.press("Escape")?;
    ensure!(browser.evaluate(shown)? == "hidden", "after Escape: {}", browser.evaluate(shown)?);
    browser.evaluate("document.activeElement.blur()")?;
    browser.hover("#verdicts tbody dfn")?;
    ensure!(browser.evaluate(shown)? == "shown", "under the mouse: {}", browser.evaluate(shown)?);
    browser.hover("h1")?;
    ensure!(browser.evaluate(shown)? == "hidden", "after the mouse has left: {}", browser.evaluate(shown)?);
    browser.set_screen(360, 780, true)?;
    for place in ["first", "last"] {
        browser.evaluate(&format!("pageChecks.mark('{place}')"))?;
        browser.tap("dfn.marked")?;
        browser
            .wait_for(&format!("{shown} === 'shown'"))
            .with_context(|| format!("after a tap on the {place} word"))?;
    }
    browser.screenshot(&screenshots.join("phone-word.png"), false)?;
    browser.tap("#verdicts-heading")?;
    browser.wait_for(&format!("{shown} === 'hidden'")).context("after a tap elsewhere")?;
    browser.set_screen(1280, 900, false)
}

/// Checks the keyboard. The first stop is the link that skips the contents. Enter and the mouse
/// sort by a heading, and the page announces it.
fn keyboard(browser: &mut Chromium) -> Result<()> {
    browser.evaluate("document.activeElement.blur(); scrollTo(0, 0); getSelection().removeAllRanges()")?;
    browser.evaluate("document.querySelector('.skip').focus()")?;
    let skip = browser.evaluate("document.activeElement.getBoundingClientRect().top >= 0")?;
    ensure!(skip == json!(true), "the link past the contents is not visible when it has the focus");
    browser.press("Tab")?;
    let next = browser.evaluate("document.activeElement.className")?;
    ensure!(next == "name", "the focus after the link past the contents is '{next}', not 'name'");

    browser.evaluate("document.querySelector('main table.sortable .sort').focus()")?;
    browser.press("Enter")?;
    let sorted = "document.querySelector('main table.sortable th').getAttribute('aria-sort')";
    ensure!(browser.evaluate(sorted)? == "ascending", "Enter on a heading does not sort the table");
    let announced = browser.evaluate("document.getElementById('said').textContent")?;
    ensure!(
        announced.as_str().is_some_and(|text| text.starts_with("Sorted by")),
        "the announcement for screen readers is '{announced}'"
    );
    browser.click("main table.sortable .sort", 0)?;
    ensure!(browser.evaluate(sorted)? == "descending", "a click on a heading does not sort the table");
    browser.click("main table.sortable .sort", 0)?;

    browser.click("button.copy", 0)?;
    browser.wait_for("/Copied|Selected/.test(document.querySelector('button.copy').textContent)")
}

/// Checks that timelines are drawn and respond to keys, buttons and the mouse. A bar can be
/// selected, and the page describes it in words.
fn timelines(browser: &mut Chromium, screenshots: &Path) -> Result<()> {
    if browser.evaluate("document.querySelector('canvas[data-shows]') === null")? == json!(true) {
        bail!("the page has no timeline");
    }
    browser.evaluate("document.querySelector('canvas[data-shows]').focus()")?;
    browser.wait_for("pageChecks.canvas().bars > 0.02").context("no bars are drawn")?;
    let mut changes = |action: &str, act: &mut dyn FnMut(&mut Chromium) -> Result<()>| -> Result<()> {
        let before = browser.evaluate("pageChecks.canvas().sum")?;
        act(browser)?;
        browser
            .wait_for(&format!("pageChecks.canvas().sum !== {before}"))
            .with_context(|| format!("{action} changes nothing"))
    };
    changes("the key +", &mut |browser| browser.press("+"))?;
    changes("the key →", &mut |browser| browser.press("ArrowRight"))?;
    changes("the key −", &mut |browser| browser.press("-"))?;
    changes("the button that zooms in", &mut |browser| browser.click("[data-does='in']", 0))?;
    changes("dragging", &mut |browser| browser.click("canvas[data-shows]", 150))?;
    changes("the button for the whole run", &mut |browser| browser.click("[data-does='whole']", 0))?;
    browser.evaluate("document.querySelector('canvas[data-shows]').focus()")?;
    browser.press("n")?;
    browser.wait_for("/^Worker \\d+, .* long/.test(document.querySelector('.chosen').textContent)")?;
    browser.screenshot(&screenshots.join("timeline.png"), false)
}

/// Checks that every download link has data, and that a click saves them.
fn downloads(browser: &mut Chromium, page: &Path) -> Result<()> {
    expect_no_faults(browser, "downloads()")?;
    let folder = page.parent().context("the page's path has no folder")?;
    let plots = browser
        .evaluate("[...document.querySelectorAll(\"a[href^='plots/']\")].map((link) => link.getAttribute('href'))")?;
    for plot in plots.as_array().into_iter().flatten().filter_map(Value::as_str) {
        ensure!(folder.join(plot).metadata().is_ok_and(|file| file.len() > 500), "{plot} is missing or too small");
    }
    let saved = std::env::temp_dir().join(format!("filch-browser-{}", std::process::id()));
    fs::create_dir_all(&saved)?;
    let behaviour = json!({"behavior": "allow", "downloadPath": saved.display().to_string()});
    let outcome = browser.call("Browser.setDownloadBehavior", behaviour).and_then(|_| {
        for kind in ["csv", "json"] {
            browser.click(&format!("a.download[download$='.{kind}']"), 0)?;
            wait_for_file(&saved, kind)?;
        }
        Ok(())
    });
    let _ = fs::remove_dir_all(&saved);
    outcome
}

fn wait_for_file(folder: &Path, extension: &str) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(15);
    loop {
        let mut files = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
        let saved = files.find(|path| path.extension().is_some_and(|end| end == extension));
        if saved.and_then(|path| path.metadata().ok()).is_some_and(|file| file.len() > 10) {
            return Ok(());
        }
        ensure!(Instant::now() < end, "a click on a {extension} download saves no file");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Checks that no screen is too narrow. On a phone the contents must be a menu.
fn widths(browser: &mut Chromium, screenshots: &Path) -> Result<()> {
    for width in WIDTHS {
        browser.set_screen(width, 780, width < 700)?;
        expect_no_faults(browser, &format!("overflow({width})"))?;
    }
    browser.set_screen(360, 780, true)?;
    browser.evaluate("scrollTo({top: 0, behavior: 'instant'})")?;
    browser.screenshot(&screenshots.join("phone.png"), true)?;
    let is_open = "getComputedStyle(document.getElementById('contents')).display !== 'none'";
    ensure!(browser.evaluate(is_open)? == json!(false), "the menu is open before a click on its button");
    browser.click("button.menu", 0)?;
    ensure!(browser.evaluate(is_open)? == json!(true), "a click on the menu button does not open the menu");
    browser.screenshot(&screenshots.join("phone-menu.png"), false)?;
    browser.click("#contents a", 0)?;
    ensure!(browser.evaluate(is_open)? == json!(false), "a click on a menu entry does not close the menu");
    // The page remembers the chosen theme, whatever the system prefers.
    if browser.evaluate("document.documentElement.dataset.theme !== 'dark'")? == json!(true) {
        browser.click("button.theme", 0)?;
    }
    browser.wait_for("document.documentElement.dataset.theme === 'dark'")?;
    expect_no_faults(browser, "overflow(360)")?;
    browser.screenshot(&screenshots.join("phone-dark.png"), false)?;
    browser.set_colour_scheme("light")?;
    browser.set_screen(1280, 900, false)
}

/// Checks that the page works without storage. A page from a file may have none.
fn without_storage(browser: &mut Chromium, address: &str) -> Result<()> {
    let script =
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })";
    browser.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": script}))?;
    browser.open(address)?;
    browser.evaluate(PAGE_SCRIPT)?;
    browser.click("button.theme", 0)?;
    expect_light(browser, false, "after a click on the theme button")?;
    expect_no_faults(browser, "structure()")?;
    expect_no_errors(browser)
}
