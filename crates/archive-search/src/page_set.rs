//! A set of pages of one segment, as bits.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageSet {
    bits: Vec<u64>,
    pages: u32,
}

impl PageSet {
    pub(crate) fn empty(pages: u32) -> Self {
        Self { bits: vec![0; pages.div_ceil(64) as usize], pages }
    }

    pub(crate) fn insert(&mut self, page: u32) {
        if let Some(bits) = self.bits.get_mut((page / 64) as usize).filter(|_| page < self.pages) {
            *bits |= 1 << (page % 64);
        }
    }

    #[inline]
    pub(crate) fn contains(&self, page: u32) -> bool {
        self.bits.get((page / 64) as usize).is_some_and(|bits| bits >> (page % 64) & 1 == 1)
    }

    pub(crate) fn count(&self) -> u64 {
        self.bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bits.iter().all(|&bits| bits == 0)
    }

    pub(crate) fn intersect(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(bits, other)| *bits &= other);
    }

    pub(crate) fn unite(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(bits, other)| *bits |= other);
    }

    /// The pages that are not in the set.
    pub(crate) fn invert(&mut self) {
        for (at, bits) in (0_u32..).zip(&mut self.bits) {
            let left = self.pages - at * 64;
            let all = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            *bits = !*bits & all;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).zip(&self.bits).flat_map(|(at, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_sets() {
        let of = |pages: &[u32]| {
            let mut set = PageSet::empty(130);
            pages.iter().for_each(|&it| set.insert(it));
            set
        };
        let mut set = of(&[0, 63, 64, 129, 130, 999]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert!(set.contains(129) && !set.contains(130) && !set.contains(1));
        set.invert();
        assert_eq!((set.count(), set.contains(1), set.contains(0)), (126, true, false));
        set.intersect(&of(&[0, 1, 2]));
        set.unite(&of(&[99]));
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 2, 99]);
        assert!(PageSet::empty(0).is_empty() && !set.is_empty());
    }
}
