//! A trie of the names of publications, matched against a text in one pass. Any run of white space
//! counts as one blank and a curly apostrophe as a straight one. The depth of the trie bounds a
//! match.

use crate::text::ScanText;

struct Node {
    /// The index of its first edge in `edges`, and the number of its edges.
    first: u32,
    count: u16,
    /// The row of the name that ends at this node, plus one; 0 if none ends here.
    row: u32,
}

pub(crate) struct Trie {
    nodes: Vec<Node>,
    edges: Vec<(u8, u32)>,
    /// The edges of the root, one for each byte.
    roots: Vec<u32>,
}

impl Trie {
    /// Builds the trie from sorted, distinct keys and their rows.
    pub(crate) fn build(keys: &[(&[u8], usize)]) -> Self {
        let mut trie = Self { nodes: Vec::new(), edges: Vec::new(), roots: vec![0; 256] };
        trie.nodes.push(Node { first: 0, count: 0, row: 0 });
        // Each entry is a node whose edges are still missing, its keys and its depth.
        let mut open = std::collections::VecDeque::from([(0_usize, 0_usize, keys.len(), 0_usize)]);
        while let Some((node, mut low, high, depth)) = open.pop_front() {
            let first = trie.edges.len();
            if let Some((key, row)) = keys.get(low)
                && low < high
                && key.len() == depth
            {
                trie.nodes[node].row = u32::try_from(*row + 1).unwrap_or(0);
                low += 1;
            }
            while low < high {
                let byte = keys[low].0[depth];
                let end = low + keys[low..high].partition_point(|it| it.0[depth] == byte);
                let child = trie.nodes.len();
                trie.nodes.push(Node { first: 0, count: 0, row: 0 });
                trie.edges.push((byte, u32::try_from(child).unwrap_or(0)));
                if node == 0 {
                    trie.roots[usize::from(byte)] = u32::try_from(child).unwrap_or(0);
                }
                open.push_back((child, low, end, depth + 1));
                low = end;
            }
            trie.nodes[node].first = u32::try_from(first).unwrap_or(0);
            trie.nodes[node].count = u16::try_from(trie.edges.len() - first).unwrap_or(0);
        }
        trie
    }

    #[inline]
    fn child(&self, node: u32, byte: u8) -> u32 {
        if node == 0 {
            return self.roots[usize::from(byte)];
        }
        let Some(node) = self.nodes.get(node as usize) else { return 0 };
        let first = node.first as usize;
        let edges = self.edges.get(first..first + usize::from(node.count)).unwrap_or_default();
        edges.iter().find(|it| it.0 == byte).map_or(0, |it| it.1)
    }

    #[inline]
    pub(crate) fn begins(&self, byte: u8) -> bool {
        self.roots[usize::from(byte)] != 0
    }

    /// Writes the end and the row of each name that begins at `i` into `ends`, the shortest first.
    pub(crate) fn walk(&self, text: &ScanText<'_>, i: usize, ends: &mut Vec<(usize, u32)>) {
        ends.clear();
        let (mut node, mut at, mut last) = (0, i, b' ');
        loop {
            let byte = text.at(at);
            let blank = text.skip(at);
            if blank > at {
                let next = text.at(blank);
                if last.is_ascii_alphanumeric() && next.is_ascii_alphanumeric() {
                    node = self.child(node, b' ');
                    if node == 0 {
                        return;
                    }
                }
                last = b' ';
                at = blank;
                continue;
            }
            let (byte, wide) = match byte {
                0xe2 if text.has(at, "\u{2019}") => (b'\'', 3),
                it => (it, 1),
            };
            node = self.child(node, byte);
            if node == 0 {
                return;
            }
            at += wide;
            last = byte;
            let row = self.nodes.get(node as usize).map_or(0, |it| it.row);
            // A digit may follow where a volume and a page stand without blank, as in 21COA112.
            let next = text.at(at);
            if row != 0 && !(byte.is_ascii_alphanumeric() && next.is_ascii_alphabetic()) {
                ends.push((at, row - 1));
            }
        }
    }
}
