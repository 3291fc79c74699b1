//! MPI_Barrier.

use super::team::Team;

/// Dissemination: ceil(log2 n) rounds of one message each; every rank is needed in every round.
/// Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988.
pub async fn dissemination(team: &Team<'_>) {
    let mut distance = 1;
    while distance < team.size() {
        let receive = team.begin_recv(crate::datatype::Buffer::empty(), team.before(distance));
        team.signal(team.after(distance)).await;
        team.finish(receive).await;
        distance *= 2;
    }
}

/// All tell rank 0, which tells all: 2 (n - 1) messages, two of any rank but 0: few wake-ups where ranks share cores.
pub async fn central(team: &Team<'_>) {
    arrive(team).await;
    leave(team).await;
}

/// All tell rank 0.
pub async fn arrive(team: &Team<'_>) {
    if team.rank() > 0 {
        return team.signal(0).await;
    }
    for rank in 1..team.size() {
        team.await_signal(rank).await;
    }
}

/// Rank 0 tells all.
pub async fn leave(team: &Team<'_>) {
    if team.rank() > 0 {
        return team.await_signal(0).await;
    }
    for rank in 1..team.size() {
        team.signal(rank).await;
    }
}
