//! Lines of all ranks, together at rank 0: reports that each rank would otherwise write for itself.

use super::team::Team;
use super::{CollContext, exchange_words_on};
use crate::datatype::Buffer;
use crate::error::Result;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A text, and the ranks that have it.
pub type Shared = (String, Vec<usize>);

/// The texts of all ranks that are not empty; at rank 0 only. Equal ones come once, by message from the lowest rank that has them.
///
/// Errors: a rank is lost.
pub async fn gather_texts_on(coll: &CollContext<'_>, own: &str) -> Result<Vec<Shared>> {
    let mut hasher = DefaultHasher::new();
    own.hash(&mut hasher);
    let all = exchange_words_on(coll, [own.len() as u64, hasher.finish()]).await?;
    let mut kinds: Vec<([u64; 2], Vec<usize>)> = Vec::new();
    for (rank, kind) in all.into_iter().enumerate().filter(|(_, kind)| kind[0] > 0) {
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, ranks)) => ranks.push(rank),
            None => kinds.push((kind, vec![rank])),
        }
    }
    let team = Team::on(*coll);
    let mut texts = Vec::new();
    for ([bytes, _], ranks) in kinds {
        let from = ranks[0];
        let is_own = from == team.rank();
        let mut text = match is_own {
            true => own.as_bytes().into(),
            false => vec![0; bytes as usize].into_boxed_slice(),
        };
        match (is_own, team.rank()) {
            (_, 0) if from == 0 => {}
            (true, _) => team.send(Buffer::of_copy(&mut text), 0).await,
            (false, 0) => team.recv(Buffer::of_copy(&mut text), from).await,
            (false, _) => continue,
        }
        if team.rank() == 0 {
            texts.push((String::from_utf8_lossy(&text).into_owned(), ranks));
        }
    }
    team.result()?;
    Ok(texts)
}
