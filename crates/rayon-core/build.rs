//! An empty build script: a package with a `links` key needs one.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
