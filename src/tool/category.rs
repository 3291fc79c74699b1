//! Categories: the chapters of the settings, with the performance variables and events that belong to them.

use super::performance::Variable;
use super::{at, check};
use crate::error::{Class, Result, fail};
use crate::events::Event;
use crate::process::settings;

/// Indices of what a category has.
pub struct Category {
    pub name: &'static str,
    pub text: &'static str,
    pub controls: Vec<i32>,
    pub performance: Vec<i32>,
    pub events: Vec<i32>,
}

/// All of them; they never change.
pub fn all() -> Vec<Category> {
    let mut first = 0;
    let chapters = settings::chapters().into_iter();
    chapters
        .map(|chapter| {
            let controls = first..first + chapter.variables.len() as i32;
            first = controls.end;
            let within = |category: &str| category == chapter.name;
            let own = Variable::ALL.iter().zip(0..);
            let own = own.filter(|(variable, _)| within(variable.category()));
            let events = Event::ALL.iter().zip(0..);
            let events = events.filter(|(event, _)| within(event.category()));
            Category {
                name: chapter.name,
                text: chapter.text,
                controls: controls.collect(),
                performance: own.map(|(_, index)| index).collect(),
                events: events.map(|(_, index)| index).collect(),
            }
        })
        .collect()
}

/// The category with an index.
pub fn category(index: i32) -> Result<Category> {
    check()?;
    let mut all = all();
    let indices: Vec<usize> = (0..all.len()).collect();
    Ok(all.swap_remove(at(&indices, "cat_index", index)?))
}

pub fn index_of(name: &str) -> Result<usize> {
    check()?;
    match all().iter().position(|category| category.name == name) {
        Some(index) => Ok(index),
        None => fail!(Class::TInvalidName, "no category is called {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_and_event_is_in_one_category() {
        let all = all();
        let controls: Vec<i32> = all.iter().flat_map(|one| one.controls.clone()).collect();
        let expected: Vec<i32> = (0..super::super::control::count() as i32).collect();
        assert_eq!(controls, expected);
        let mut own: Vec<i32> = all.iter().flat_map(|one| one.performance.clone()).collect();
        own.sort_unstable();
        let expected: Vec<i32> = (0..Variable::ALL.len() as i32).collect();
        assert_eq!(own, expected);
        let events: usize = all.iter().map(|one| one.events.len()).sum();
        assert_eq!(events, Event::ALL.len());
    }
}
