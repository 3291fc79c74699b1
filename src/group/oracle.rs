//! Groups against the plainest implementation there is, on random groups of every shape.

use super::*;
use proptest::prelude::*;

/// Members one by one, all questions answered by looking at each.
#[derive(Clone, Debug, PartialEq)]
struct Naive(Vec<u32>);

impl Naive {
    fn rank_of(&self, world: u32) -> Option<i32> {
        let found = self.0.iter().position(|member| *member == world);
        found.map(|rank| rank as i32)
    }

    fn select(&self, keep: impl Fn(u32) -> bool) -> Naive {
        Naive(self.0.iter().copied().filter(|m| keep(*m)).collect())
    }
}

fn distinct(members: Vec<u32>) -> Vec<u32> {
    let mut seen = std::collections::HashSet::new();
    members.into_iter().filter(|m| seen.insert(*m)).collect()
}

/// Patterns, patterns with gaps, ascending sets, and no order at all.
fn members() -> impl Strategy<Value = Vec<u32>> {
    let pattern = (0..60u32, -4..5i64, 0..80usize).prop_map(|(first, stride, count)| {
        let member = |i| i64::from(first) + stride * i as i64;
        let members = (0..count).map(member).filter(|m| *m >= 0);
        distinct(members.map(|m| m as u32).collect())
    });
    let gaps = (30..400u32, prop::collection::vec(0..400u32, 0..6))
        .prop_map(|(end, without)| (0..end).filter(|m| !without.contains(m)).collect());
    let set = prop::collection::btree_set(0..300u32, 0..150).prop_map(Vec::from_iter);
    let unordered = prop::collection::vec(0..120u32, 0..60).prop_map(distinct);
    let far = prop::collection::vec(any::<u32>(), 0..40).prop_map(distinct);
    prop_oneof![pattern, gaps, set, unordered, far]
}

proptest! {
    #[test]
    fn translation(first in members(), second in members()) {
        let (group, other) = (Group::new(&first), Group::new(&second));
        prop_assert_eq!(group.size() as usize, first.len());
        prop_assert_eq!(&group.members(), &first);
        let naive = Naive(second);
        for (rank, member) in first.iter().enumerate() {
            prop_assert_eq!(group.member(rank as i32), *member);
            prop_assert_eq!(group.rank_of(*member), Some(rank as i32));
            prop_assert_eq!(other.rank_of(*member), naive.rank_of(*member));
            prop_assert_eq!(other.rank_of(member ^ 1), naive.rank_of(member ^ 1));
            let expected = naive.rank_of(*member).unwrap_or(UNDEFINED);
            prop_assert_eq!(group.translate(rank as i32, &other).unwrap(), expected);
        }
    }

    #[test]
    fn algebra(first in members(), second in members()) {
        let (a, b) = (Group::new(&first), Group::new(&second));
        let (x, y) = (Naive(first), Naive(second));
        let mut union = x.0.clone();
        union.extend(y.select(|m| x.rank_of(m).is_none()).0);
        prop_assert_eq!(a.union(&b).members(), union);
        prop_assert_eq!(a.intersection(&b).members(), x.select(|m| y.rank_of(m).is_some()).0);
        prop_assert_eq!(a.difference(&b).members(), x.select(|m| y.rank_of(m).is_none()).0);
        let mut ascending = a.members();
        ascending.sort_unstable();
        let sorted = Arc::new(Group::new(a.members())).ascending();
        prop_assert_eq!(sorted.members(), ascending);
        prop_assert_eq!(a.is_within(&b), x.0.iter().all(|m| y.rank_of(*m).is_some()));
    }

    #[test]
    fn comparison(first in members(), mut second in members(), shuffle in 0..3) {
        if shuffle > 0 {
            second = first.clone();
        }
        if shuffle > 1 {
            second.reverse();
        }
        let sorted = |members: &[u32]| {
            let mut sorted = members.to_vec();
            sorted.sort_unstable();
            sorted
        };
        let expected = if first == second {
            Comparison::Identical
        } else if sorted(&first) == sorted(&second) {
            Comparison::Similar
        } else {
            Comparison::Unequal
        };
        let (first, second) = (Group::new(first), Group::new(second));
        prop_assert_eq!(first.compare(&second), expected);
        prop_assert_eq!(first == second, expected == Comparison::Identical);
    }

    #[test]
    fn choosing(members in members(), ranks in prop::collection::vec(-2..130i32, 0..40), repeat in any::<bool>()) {
        let group = Group::new(&members);
        let mut seen = std::collections::HashSet::new();
        let ranks: Vec<i32> = ranks.into_iter().filter(|rank| repeat || seen.insert(*rank)).collect();
        let mut unique = std::collections::HashSet::new();
        let good = ranks.iter().all(|rank| (0..members.len() as i32).contains(rank) && unique.insert(*rank));
        let (with, without) = (group.include(&ranks), group.exclude(&ranks));
        if !good {
            prop_assert_eq!(with.unwrap_err().class(), Class::Rank);
            prop_assert_eq!(without.unwrap_err().class(), Class::Rank);
        } else {
            let expected: Vec<u32> = ranks.iter().map(|rank| members[*rank as usize]).collect();
            prop_assert_eq!(with.unwrap().members(), expected);
            let left = members.iter().enumerate().filter(|(rank, _)| !ranks.contains(&(*rank as i32)));
            let left: Vec<u32> = left.map(|(_, member)| *member).collect();
            prop_assert_eq!(without.unwrap().members(), left);
        }
    }

    #[test]
    fn choosing_ranges(members in members(), ranges in prop::collection::vec([-1..100i32, -1..100i32, -5..6i32], 0..4)) {
        let group = Group::new(&members);
        let mut ranks = Vec::new();
        let mut wrong = None;
        'ranges: for [first, last, stride] in &ranges {
            if *stride == 0 || (stride > &0 && first > last) || (stride < &0 && first < last) {
                wrong = Some(Class::Arg);
                break;
            }
            let mut rank = *first;
            while if *stride > 0 { rank <= *last } else { rank >= *last } {
                if rank < 0 || rank as usize >= members.len() || ranks.contains(&rank) {
                    wrong = Some(Class::Rank);
                    break 'ranges;
                }
                ranks.push(rank);
                rank += stride;
            }
        }
        let (with, without) = (group.include_ranges(&ranges), group.exclude_ranges(&ranges));
        match wrong {
            Some(_) => {
                // Which of several mistakes is found first is not said.
                prop_assert!(with.is_err());
                prop_assert!(without.is_err());
            }
            None => {
                prop_assert_eq!(with.unwrap(), group.include(&ranks).unwrap());
                prop_assert_eq!(without.unwrap(), group.exclude(&ranks).unwrap());
            }
        }
    }
}
