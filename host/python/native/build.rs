//! How a module of Python is linked.

fn main() {
    let is = |name: &str, value: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).is_ok_and(|is| is == value);
    if is("OS", "linux") {
        // Leaves out what only a debugger reads: half of the wheel would be that.
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
    // host/cli/build.rs says why.
    if is("OS", "linux") && is("ARCH", "x86_64") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-O0,--build-id=none");
    }
    if is("OS", "macos") {
        // The interpreter that loads it has the functions of Python. Only this linker has to be told.
        println!("cargo::rustc-cdylib-link-arg=-undefined");
        println!("cargo::rustc-cdylib-link-arg=dynamic_lookup");
    }
}
