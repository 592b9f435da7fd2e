//! Checks that the files of the repository agree with the code: pages, schemas, codes, manifests and dependencies.

mod codes;
mod dependencies;
mod documents;
mod edge;
mod schemas;
mod style;
