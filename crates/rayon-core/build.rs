//! Nothing to build: a package with a `links` key has to have a build script.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
