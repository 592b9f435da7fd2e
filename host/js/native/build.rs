//! How an addon of Node is linked.

fn main() {
    napi_build::setup();
    let is = |name: &str, value: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).is_ok_and(|is| is == value);
    // Without names that nothing looks up.
    if is("OS", "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
    // host/cli/build.rs says why.
    if is("OS", "linux") && is("ARCH", "x86_64") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-O0,--build-id=none");
    }
}
