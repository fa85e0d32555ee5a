//! Source files for a program that counts their lines.
//!
//! They have several languages, several folders and different lengths, and are the same in each
//! run.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use crate::bench::random::Random;

/// The kinds of lines of a language that a counter has to tell apart.
struct Language {
    extension: &'static str,
    code: &'static [&'static str],
    comments: &'static [&'static str],
}

const LANGUAGES: [Language; 7] = [
    Language {
        extension: "rs",
        code: &["let total = items.iter().sum::<u64>();", "fn name(&self) -> &str { \"// no comment\" }", "}"],
        comments: &["// Why, not what.", "/* One /* inside */ another. */", "/// What it is for."],
    },
    Language {
        extension: "c",
        code: &["int total = 0;", "for (int i = 0; i < n; i++) total += items[i];", "puts(\"/* no comment */\");"],
        comments: &["// To the end of the line.", "/* Over\n   two lines. */"],
    },
    Language {
        extension: "py",
        code: &["total = sum(items)", "name = '# no comment'", "    return total"],
        comments: &["# To the end of the line."],
    },
    Language {
        extension: "js",
        code: &["const total = items.reduce((a, b) => a + b, 0);", "let name = `// no comment`;", "});"],
        comments: &["// To the end of the line.", "/* Between marks. */"],
    },
    Language {
        extension: "go",
        code: &["total := 0", "for _, item := range items { total += item }", "name := \"// no comment\""],
        comments: &["// To the end of the line."],
    },
    Language {
        extension: "java",
        code: &["int total = items.stream().sum();", "String name = \"/* no comment */\";", "}"],
        comments: &["// To the end of the line.", "/** What it is for.\n * And how. */"],
    },
    Language {
        extension: "html",
        code: &[
            "<p>A paragraph.</p>",
            "<script>\nlet a = 1; // in a script\n</script>",
            "<style>\np { margin: 0 }\n</style>",
        ],
        comments: &["<!-- Between marks. -->"],
    },
];

/// Writes `count` files below `folder`, about a hundred in each subfolder.
pub(super) fn write(folder: &Path, count: usize) -> io::Result<()> {
    let mut random = Random::new(6);
    for number in 0..count {
        let part = folder.join(format!("part-{}", number / 100));
        if number % 100 == 0 {
            fs::create_dir_all(&part)?;
        }
        let language = &LANGUAGES[number % LANGUAGES.len()];
        fs::write(part.join(format!("file-{number}.{}", language.extension)), text(language, &mut random))?;
    }
    Ok(())
}

/// A text from a handful to a few hundred lines, most of them code.
fn text(language: &Language, random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..5 + random.below(40) * random.below(10) {
        let line = match random.below(10) {
            0 => "",
            1 | 2 => random.one_of(language.comments),
            _ => random.one_of(language.code),
        };
        let _ = writeln!(text, "{:width$}{line}", "", width = 4 * random.below(4) as usize);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_languages_are_written_and_are_the_same_each_time() {
        let folder = tempfile::tempdir().unwrap();
        for copy in ["a", "b"] {
            write(&folder.path().join(copy), 120).unwrap();
        }
        for (number, language) in LANGUAGES.iter().enumerate() {
            let name = format!("part-0/file-{number}.{}", language.extension);
            let text = |copy: &str| fs::read_to_string(folder.path().join(copy).join(&name)).unwrap();
            assert!(text("a").lines().count() >= 5);
            assert_eq!(text("a"), text("b"));
        }
        assert_eq!(fs::read_dir(folder.path().join("a/part-1")).unwrap().count(), 20);
    }
}
