//! Leaves out what only a debugger reads: half of the wheel would be that.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
}
