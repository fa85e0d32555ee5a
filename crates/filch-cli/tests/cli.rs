//! Tests of the completions and the manual pages.

mod program;

use program::Folder;

#[test]
fn completions_and_manual_pages_know_all_commands() {
    let folder = Folder::new(&[]);
    for (words, part) in [("completions bash", "spanning-tree"), ("man", "filch\\-generate")] {
        let (shown, _) = folder.shown(words, 0);
        assert!(shown.contains(part), "{shown}");
    }
    folder.shown("man .", 0);
    assert!(folder.path("filch-generate-knapsack.1").is_file());
    folder.refused("man no/such/folder", 1, &["no/such/folder: cannot write the manual pages"]);
}
