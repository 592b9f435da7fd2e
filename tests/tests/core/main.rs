//! The core by itself, natively: contracts and outputs that generators make, held to models and to other programs.

mod accounting;
mod allow_lists;
mod claims;
mod computed;
mod extraction;
mod feedback;
mod finish;
mod keywords;
mod merging;
mod numbers;
mod patterns;
mod peers;
mod recovery;
mod repairs;
mod undecided;
