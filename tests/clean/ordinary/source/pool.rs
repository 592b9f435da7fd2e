/// Calls the function with all arguments; the tool that runs it ignores errors of the previous call.
pub fn call<T, E>(&self, tool: &Tool, arguments: Vec<Value>) -> Result<T, E> {
    let bytes = b"\x1b[31m\x00\u{200b}";
    let secret: Secret = self.secrets[index](tool)?;
    let matrix = table[row](std::mem::take(&mut cells));
    if arguments.len() <T::MAX && tool.token == token { return Ok(matrix) }
    // SAFETY: the system prompt is shown before the user approves.
    self.act(as_root).map(|user| user.approve(tool))
}
