//! The names of publications as a tree of bytes, walked along a text in one pass. Blank and
//! apostrophes of the text are evened out on the way; the depth of the tree bounds the walk.

use crate::text::ScanText;

struct Node {
    /// Where its edges begin in the list of edges, and how many there are.
    first: u32,
    count: u16,
    /// The row of a name that ends here, one more than it, or zero.
    row: u32,
}

pub(crate) struct Trie {
    nodes: Vec<Node>,
    edges: Vec<(u8, u32)>,
    /// The edges of the root, one for each byte.
    roots: Vec<u32>,
}

impl Trie {
    /// From sorted, distinct keys and their rows.
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

    /// Puts where each name that begins at `i` ends, and its row, shortest first.
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
