//! Another component that decides like the built-in component.

use std::sync::LazyLock;

use seamgate::{Component, Gate, Options};

/// The built-in component with an additional custom section. Its digest is different, and its decisions are the same.
pub static OTHER: LazyLock<Component> = LazyLock::new(|| {
    let section = [0, 6, 5, b'o', b't', b'h', b'e', b'r'];
    Component::from_bytes([Component::builtin().as_bytes(), &section].concat())
});

/// Returns a gate with [`OTHER`].
pub fn other_gate() -> Gate {
    Gate::with(Options::default().component(OTHER.clone())).expect("a gate")
}
