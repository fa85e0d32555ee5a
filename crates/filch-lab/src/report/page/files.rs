//! The files of a page.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};

use super::{answers, document, figure, table, timeline, Item, Page};
use crate::chart;
use crate::figures::write_file;

/// Writes `index.html` and all files beside it into the folder, which is created if necessary.
///
/// Each file is written whole or not at all, and the page comes last. If anything fails, an old
/// page is unchanged, and does not need the other files.
pub(in crate::report) fn write(folder: &Path, page: &Page) -> Result<()> {
    check_names(page)?;
    // Any error in the contents occurs before the first file is touched.
    let document = document::html(page)?;
    let (plots, data) = (folder.join("plots"), folder.join("data"));
    for folder in [folder, &plots, &data] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    let machine = page.facts.first().map_or("", |(_, value)| value);
    let draw = |id: &str, title: &str, drawn: &chart::Chart| {
        text(&data.join(format!("{id}.csv")), &chart::csv(drawn))?;
        chart::write(&plots.join(format!("{id}.svg")), drawn, title, machine)
    };
    if let Some(chart) = answers::chart(&page.answers) {
        draw(answers::ID, answers::TITLE, &chart)?;
    }
    for item in page.sections.iter().flat_map(|section| &section.items) {
        match item {
            Item::Text(_) => {}
            Item::Table(texts, item) => text(&data.join(format!("{}.csv", texts.id)), &table::csv(item))?,
            Item::Figure(texts, chart) => draw(&texts.id, &texts.title, chart)?,
            Item::Timeline(texts, run) => text(&data.join(format!("{}.json", texts.id)), &timeline::json(run))?,
        }
    }
    let index = folder.join("index.html");
    let old = fs::read_to_string(&index).unwrap_or_default();
    text(&index, &document)?;
    for file in outdated_files(&old, page) {
        // A file that stays does no harm.
        let _ = fs::remove_file(folder.join(file));
    }
    Ok(())
}

/// Returns the files that an earlier page had and this one has not. Other files in the folder
/// belong to the user.
fn outdated_files(old: &str, page: &Page) -> Vec<String> {
    if !old.contains(&format!("<title>{}</title>", document::TITLE)) {
        return Vec::new();
    }
    let items = page.sections.iter().flat_map(|section| &section.items);
    let mut now: BTreeSet<String> = items.flat_map(Item::files).collect();
    if answers::chart(&page.answers).is_some() {
        now.extend(figure::files(answers::ID));
    }
    let named = |start: &str| old.split(start).skip(1).filter_map(|rest| rest.split('"').next()).collect::<Vec<_>>();
    let plots = named("href=\"plots/").into_iter().map(|name| format!("plots/{name}"));
    let data = named("download=\"").into_iter().map(|name| format!("data/{name}"));
    let is_plain = |path: &String| path.matches('/').count() == 1 && path.matches('.').count() == 1;
    plots.chain(data).filter(|path| is_plain(path) && !now.contains(path)).collect()
}

fn text(path: &Path, text: &str) -> Result<()> {
    write_file(path, |writer| Ok(writer.write_all(text.as_bytes())?))
}

/// Checks that names, which become files and anchors, are plain and unique.
fn check_names(page: &Page) -> Result<()> {
    let mut names = BTreeSet::new();
    for section in &page.sections {
        check(&mut names, section.id)?;
        for item in &section.items {
            let Some(texts) = item.texts() else { continue };
            check(&mut names, &texts.id)?;
            let Item::Table(_, table) = item else { continue };
            let columns = table.header.len();
            let Some(row) = table.rows.iter().find(|row| row.len() != columns) else { continue };
            bail!("the table '{}' has {columns} columns, but a row with {}", texts.id, row.len());
        }
    }
    let linked = page.verdicts.iter().map(|verdict| verdict.source.section);
    for linked in linked.chain(page.answers.iter().map(|answer| answer.section)) {
        let known = page.sections.iter().any(|section| section.id == linked);
        ensure!(known, "a verdict or an answer links to the section '{linked}', which is not on the page");
    }
    Ok(())
}

fn check<'a>(names: &mut BTreeSet<&'a str>, name: &'a str) -> Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    ensure!(
        name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain),
        "'{name}' is not a valid id: use lower-case letters, digits and hyphens"
    );
    ensure!(document::RESERVED_IDS.iter().all(|own| *own != name), "the id '{name}' is reserved");
    ensure!(names.insert(name), "the id '{name}' is used twice");
    Ok(())
}
