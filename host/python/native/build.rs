//! How a module of Python is linked.

fn main() {
    let is = |name: &str| std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == name);
    if is("linux") {
        // Leaves out what only a debugger reads: half of the wheel would be that.
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
    if is("macos") {
        // The interpreter that loads it has the functions of Python. Only this linker has to be told.
        println!("cargo::rustc-cdylib-link-arg=-undefined");
        println!("cargo::rustc-cdylib-link-arg=dynamic_lookup");
    }
}
