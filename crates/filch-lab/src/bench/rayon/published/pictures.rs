//! Pictures for a program that makes them smaller.
//!
//! They are of different kinds, since each kind is optimised differently, and the same in each run.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

use png::{BitDepth, ColorType, Encoder};

use crate::bench::random::Random;

/// Red, green, blue and opacity.
type Pixel = [u8; 4];

/// Writes six pictures of width and height `size` to `folder`.
pub(super) fn write(folder: &Path, size: u32) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut random = Random::new(7);
    let mut noise = || random.below(256) as u8;
    let part = |place: u32| (place * 255 / size) as u8;

    draw(folder, "gradient", size, |x, y| [part(x), part(y), part((x + y) / 2), 255])?;
    draw(folder, "noise", size, |_, _| [noise(), noise(), noise(), 255])?;
    draw(folder, "grain", size, |x, y| [part(x) / 2 + noise() / 16, part(y) / 2 + noise() / 16, 100, 255])?;
    // No colour and no transparency.
    draw(folder, "grey", size, |x, y| {
        let grey = part(x * y / size);
        [grey, grey, grey, 255]
    })?;
    // A few colours.
    draw(folder, "tiles", size, |x, y| match (x / 16 * 7 + y / 16 * 3) % 5 {
        0 => [200, 30, 30, 255],
        1 => [30, 200, 30, 255],
        2 => [30, 30, 200, 255],
        3 => [240, 240, 240, 255],
        _ => [20, 20, 20, 255],
    })?;
    // Rings that fade out.
    draw(folder, "rings", size, |x, y| {
        let (dx, dy) = (x.abs_diff(size / 2), y.abs_diff(size / 2));
        let square = dx * dx + dy * dy;
        [255, part(dx), part(dy), if square / 512 % 2 == 0 { 255 - part(dx.max(dy)) } else { 0 }]
    })
}

fn draw(folder: &Path, name: &str, size: u32, mut pixel: impl FnMut(u32, u32) -> Pixel) -> io::Result<()> {
    let places = (0..size).flat_map(|y| (0..size).map(move |x| (x, y)));
    let pixels: Vec<u8> = places.flat_map(|(x, y)| pixel(x, y)).collect();
    let mut encoder = Encoder::new(BufWriter::new(File::create(folder.join(format!("{name}.png")))?), size, size);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_the_same_each_time() {
        let folder = tempfile::tempdir().unwrap();
        for copy in ["a", "b"] {
            write(&folder.path().join(copy), 40).unwrap();
        }
        for name in ["gradient", "noise", "grain", "grey", "tiles", "rings"] {
            let picture = |copy: &str| fs::read(folder.path().join(copy).join(format!("{name}.png"))).unwrap();
            assert!(picture("a").starts_with(b"\x89PNG"));
            assert_eq!(picture("a"), picture("b"));
        }
    }
}
