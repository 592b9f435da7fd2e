//! How the shared library is linked.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // The name that programs ask for, and no names that nothing looks up.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libseamgate.so.0");
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
}
