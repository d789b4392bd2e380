//! Packs the charting script that the `plotly` crate carries, so that the program holds it compressed: 1.1 MB instead of 4.7.
//!
//! Data in: the script tags that the crate would put into a page. Data out: `plotly.js.zst` in the build's directory.

use std::path::Path;

/// Where a script begins and ends in what the crate gives.
const OPEN: &str = "<script type=\"text/javascript\">";
const CLOSE: &str = "</script>";

/// Slow to pack, and as fast to unpack as any.
const LEVEL: i32 = 19;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let tags = plotly::Plot::offline_js_sources();
    // The second script typesets formulas, of which a report has none.
    let script = tags
        .split(CLOSE)
        .filter_map(|tag| tag.split_once(OPEN))
        .map(|(_, script)| script)
        .find(|script| script.contains("plotly.js v"))
        .expect("the plotly crate carries plotly.js");
    let packed = zstd::bulk::compress(script.as_bytes(), LEVEL).expect("zstd packs any bytes");
    let directory = std::env::var_os("OUT_DIR").expect("cargo names a directory for what is built");
    std::fs::write(Path::new(&directory).join("plotly.js.zst"), packed)
        .expect("the build's directory can be written");
    println!("cargo::rustc-env=PLOTLY_JS_BYTES={}", script.len());
}
