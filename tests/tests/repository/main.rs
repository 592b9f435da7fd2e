//! The files of the repository: pages, schemas, codes, manifests and dependencies agree with the code.

mod codes;
mod dependencies;
mod documents;
mod edge;
mod schemas;
mod style;
