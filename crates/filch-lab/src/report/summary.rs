//! The terminal output of a report: the verdicts, the caveats, and the page's path.

use std::path::Path;

use super::page::Page;
use crate::claims;

/// Returns the whole summary.
pub(super) fn text(page: &Page, index: &Path) -> String {
    let notices: String = page.notices.iter().map(|notice| format!("{notice}\n")).collect();
    format!("{}{notices}The page is {}\n", claims::listing(&page.verdicts), index.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_and_the_path_come_last() {
        let notices = vec!["The run was interrupted.".to_owned()];
        let page = Page { notices, ..Page::default() };
        assert_eq!(text(&page, Path::new("out/index.html")), "The run was interrupted.\nThe page is out/index.html\n");
    }
}
