//! Any text from outside -> text that the model may read: hidden characters, secrets, links and instructions.
