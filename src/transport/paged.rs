//! A sparse map from process numbers to what this process keeps of others.
//!
//! Invariant: memory is taken in pages of a few processes when one of them is first met, and given back when the last is taken out. What is not
//! met costs half a byte, and nothing beyond the highest number met. There is no highest number possible.

/// Processes a page.
const PAGE: usize = 16;

/// See the module.
pub struct Paged<T> {
    pages: Vec<Option<Box<[Option<T>; PAGE]>>>,
}

impl<T> Default for Paged<T> {
    fn default() -> Self {
        Self { pages: Vec::new() }
    }
}

impl<T> Paged<T> {
    /// What is kept of a process, if it was met.
    #[inline(always)]
    pub fn get(&self, process: u32) -> Option<&T> {
        let (page, at) = place(process);
        self.pages.get(page)?.as_ref()?[at].as_ref()
    }

    /// As [`Self::get`].
    #[inline(always)]
    pub fn get_mut(&mut self, process: u32) -> Option<&mut T> {
        let (page, at) = place(process);
        self.pages.get_mut(page)?.as_mut()?[at].as_mut()
    }

    /// What is kept of a process; `first` makes it when the process is met.
    #[inline(always)]
    pub fn of(&mut self, process: u32, first: impl FnOnce() -> T) -> &mut T {
        let (page, at) = place(process);
        if !matches!(self.pages.get(page), Some(Some(_))) {
            self.grow(page);
        }
        let page = self.pages[page].get_or_insert_with(empty);
        page[at].get_or_insert_with(first)
    }

    /// Takes out what is kept of a process.
    pub fn take(&mut self, process: u32) -> Option<T> {
        let (page, at) = place(process);
        let page = self.pages.get_mut(page)?;
        let all = page.as_mut()?;
        let taken = all[at].take();
        if all.iter().all(Option::is_none) {
            *page = None;
        }
        taken
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, page: usize) {
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page].get_or_insert_with(empty);
    }

    /// Those that were met, by number.
    pub fn met(&self) -> impl Iterator<Item = (u32, &T)> {
        let pages = (0u32..).zip(&self.pages);
        let pages = pages.filter_map(|(page, all)| Some((page * PAGE as u32, all.as_ref()?)));
        pages.flat_map(|(begin, all)| {
            let all = (begin..).zip(all.iter());
            all.filter_map(|(process, one)| Some((process, one.as_ref()?)))
        })
    }

    /// As [`Self::met`].
    pub fn met_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let pages = (0u32..).zip(&mut self.pages);
        let pages = pages.filter_map(|(page, all)| Some((page * PAGE as u32, all.as_mut()?)));
        pages.flat_map(|(begin, all)| {
            let all = (begin..).zip(all.iter_mut());
            all.filter_map(|(process, one)| Some((process, one.as_mut()?)))
        })
    }
}

fn place(process: u32) -> (usize, usize) {
    (process as usize / PAGE, process as usize % PAGE)
}

fn empty<T>() -> Box<[Option<T>; PAGE]> {
    Box::new([const { None }; PAGE])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn only_those_met_are_there() {
        let mut paged = Paged::default();
        assert_eq!(paged.get(99_999), None);
        *paged.of(99_999, || 1) += 1;
        *paged.of(99_999, || 10) += 1;
        assert_eq!(paged.get(99_999), Some(&3));
        assert_eq!((paged.get(99_998), paged.get(100_000)), (None, None));
        assert_eq!(paged.take(99_998), None);
        assert_eq!(paged.take(100_000), None);
        assert_eq!(paged.met().collect::<Vec<_>>(), [(99_999, &3)]);
        *paged.of(0, || 5) += 1;
        for (process, value) in paged.met_mut() {
            *value += process;
        }
        assert_eq!(
            paged.met().collect::<Vec<_>>(),
            [(0, &6), (99_999, &100_002)]
        );
        let pages = |paged: &Paged<u32>| paged.pages.iter().flatten().count();
        assert_eq!(pages(&paged), 2);
        assert_eq!(paged.take(0), Some(6));
        assert_eq!(pages(&paged), 1, "the last one takes the page with it");
        assert_eq!(paged.get(0), None);
        assert_eq!(paged.take(0), None);
    }

    proptest::proptest! {
        #[test]
        fn it_is_a_map(entries in proptest::collection::vec((0..200u32, 0..9u32), 0..60)) {
            let (mut paged, mut map) = (Paged::default(), BTreeMap::new());
            for (process, value) in entries {
                *paged.of(process, || 0) += value;
                *map.entry(process).or_insert(0) += value;
            }
            proptest::prop_assert!(paged.met().eq(map.iter().map(|(process, value)| (*process, value))));
            for process in 0..250 {
                proptest::prop_assert_eq!(paged.get(process), map.get(&process));
                proptest::prop_assert_eq!(paged.get_mut(process), map.get_mut(&process));
            }
        }
    }
}
