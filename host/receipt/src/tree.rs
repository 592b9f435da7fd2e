//! A Merkle tree over rows (RFC 9162, section 2.1), with SHA-256.

use ring::digest::{Context, SHA256};

/// A digest.
pub(crate) type Digest = [u8; 32];

/// The levels of a tree, from the leaves to the root. A node without a sibling is repeated one level up.
pub(crate) struct Tree(Vec<Vec<Digest>>);

/// Returns the digest of a leaf.
pub(crate) fn leaf(row: &[u8]) -> Digest {
    hash(&[&[0], row])
}

fn node(left: &Digest, right: &Digest) -> Digest {
    hash(&[&[1], left, right])
}

fn hash(parts: &[&[u8]]) -> Digest {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

impl Tree {
    /// Builds a tree over leaves.
    pub(crate) fn of(leaves: Vec<Digest>) -> Self {
        let mut levels = vec![leaves];
        while let Some(last) = levels.last().filter(|last| last.len() > 1) {
            let up = |pair: &[Digest]| match pair {
                [left, right] => node(left, right),
                alone => alone[0],
            };
            levels.push(last.chunks(2).map(up).collect());
        }
        Tree(levels)
    }

    /// Returns the number of leaves.
    pub(crate) fn leaves(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// Returns the root. For a tree without leaves, this is the digest of nothing.
    pub(crate) fn root(&self) -> Digest {
        self.0.last().and_then(|level| level.first()).copied().unwrap_or_else(|| hash(&[]))
    }

    /// Returns the inclusion proof of a leaf: the siblings of the nodes above it, from the bottom up.
    pub(crate) fn path(&self, index: usize) -> Vec<Digest> {
        let sibling = |(level, nodes): (usize, &Vec<Digest>)| nodes.get((index >> level) ^ 1).copied();
        self.0.iter().enumerate().filter_map(sibling).collect()
    }
}

/// Returns the root that follows from a leaf and its inclusion proof (RFC 9162, section 2.1.3.2). `None` if the proof
/// does not fit a tree of this size.
pub(crate) fn root_of(leaf: Digest, index: u64, size: u64, path: &[Digest]) -> Option<Digest> {
    if index >= size {
        return None;
    }
    let (mut node_at, mut last, mut root) = (index, size - 1, leaf);
    for sibling in path {
        if last == 0 {
            return None;
        }
        if node_at % 2 == 1 || node_at == last {
            root = node(sibling, &root);
            // A node without a sibling was repeated on the next level.
            while node_at % 2 == 0 && node_at != 0 {
                node_at >>= 1;
                last >>= 1;
            }
        } else {
            root = node(&root, sibling);
        }
        node_at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(digest: Digest) -> String {
        data_encoding::HEXLOWER.encode(&digest)
    }

    /// Computes the root by the definition in RFC 9162, section 2.1.1.
    fn defined(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => hash(&[]),
            [one] => *one,
            more => {
                let half = more.len().next_power_of_two() / 2;
                node(&defined(&more[..half]), &defined(&more[half..]))
            }
        }
    }

    #[test]
    fn each_leaf_of_each_size_has_a_proof() {
        for size in 0..70_u64 {
            let leaves: Vec<Digest> = (0..size).map(|row| leaf(&row.to_be_bytes())).collect();
            let tree = Tree::of(leaves.clone());
            assert_eq!(tree.root(), defined(&leaves), "{size} leaves");
            for (index, own) in leaves.iter().enumerate() {
                let path = tree.path(index);
                let at = index as u64;
                assert_eq!(root_of(*own, at, size, &path), Some(tree.root()), "{index} of {size}");
                // With another leaf, index, size or path, the result is another root or none.
                assert_ne!(root_of(leaf(b"x"), at, size, &path), Some(tree.root()));
                for other in (0..size).filter(|other| *other != at) {
                    assert_ne!(root_of(*own, other, size, &path), Some(tree.root()), "{index} at {other} of {size}");
                }
                if let Some((_, shorter)) = path.split_first() {
                    assert_ne!(root_of(*own, at, size, shorter), Some(tree.root()));
                }
                assert_ne!(root_of(*own, at, size, &[path.clone(), vec![*own]].concat()), Some(tree.root()));
            }
        }
    }

    #[test]
    fn a_root_is_the_one_of_certificate_transparency() {
        // The leaves in the tests of Certificate Transparency.
        let leaves =
            ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
        let leaves = leaves.map(|text| leaf(&data_encoding::HEXLOWER.decode(text.as_bytes()).expect("hexadecimal")));
        let root = "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328";
        assert_eq!(hex(Tree::of(leaves.to_vec()).root()), root);
        assert_eq!(
            hex(Tree::of(Vec::new()).root()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
