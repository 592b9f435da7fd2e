//! How the shared library is linked.

fn main() {
    let is = |name: &str, value: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).is_ok_and(|is| is == value);
    if is("OS", "linux") {
        // The name that programs ask for, and no names that nothing looks up.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libseamgate.so.0");
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
    // host/cli/build.rs says why.
    if is("OS", "linux") && is("ARCH", "x86_64") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-O0,--build-id=none");
    }
}
