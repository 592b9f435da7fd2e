//! How an addon of Node is linked.

fn main() {
    napi_build::setup();
    // Without names that nothing looks up.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
}
