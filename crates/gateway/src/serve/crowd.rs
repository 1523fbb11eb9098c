//! All connections together: how many there may be, how many of one address, and who goes when there is no room.
//!
//! Connections that say nothing are worth least, then those whose bodies trickle, then those that have just come, then those
//! that wait for more to do, the longest of each kind first; those at work are never ended for a newcomer. When all are
//! at work, a few more may come in for the gateway's own pages, so that an operator can see what is going on.

use super::presence::{Presence, Reach, Worth};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Connections beyond the limit, for the gateway's own pages.
const RESERVE: usize = 32;
/// The part of all connections that goes at once when there is no room: looking for them takes a moment, and a
/// newcomer seldom comes alone.
const SHED_PART: usize = 64;

/// How many connections there may be.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// In all.
    pub all: usize,
    /// From one address.
    pub of_one: usize,
}

/// All connections.
#[derive(Debug)]
pub struct Crowd {
    room: Room,
    members: Mutex<Members>,
}

#[derive(Debug, Default)]
struct Members {
    next: u64,
    list: HashMap<u64, Arc<Presence>>,
    of: HashMap<IpAddr, usize>,
    reserve: usize,
}

/// A connection that is part of the crowd until this is dropped.
#[derive(Debug)]
pub struct Member {
    /// The connection.
    pub presence: Arc<Presence>,
    crowd: Arc<Crowd>,
    number: u64,
}

impl Drop for Member {
    fn drop(&mut self) {
        self.crowd.members().remove(self.number);
    }
}

impl Crowd {
    /// Nobody yet.
    pub fn new(room: Room) -> Arc<Crowd> {
        Arc::new(Crowd { room, members: Mutex::default() })
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a newcomer in. `None` when there is no room, and nobody who could make some.
    pub fn admit(self: &Arc<Crowd>, origin: IpAddr, entrance: IpAddr) -> Option<Member> {
        let origin = network(origin);
        let mut members = self.members();
        if members.of.get(&origin).copied().unwrap_or(0) >= self.room.of_one {
            members.shed((self.room.of_one / SHED_PART).max(1), |presence| {
                presence.reach == Reach::All && presence.origin == origin
            });
        }
        if members.ordinary() >= self.room.all {
            let most = (self.room.all / SHED_PART).max(1);
            members.shed(most, |presence| presence.reach == Reach::All);
        }
        let has_room =
            members.ordinary() < self.room.all && members.of.get(&origin).copied().unwrap_or(0) < self.room.of_one;
        let reach = if has_room { Reach::All } else { Reach::OwnPages };
        if reach == Reach::OwnPages && members.reserve >= RESERVE {
            members.shed(1, |presence| presence.reach == Reach::OwnPages);
            if members.reserve >= RESERVE {
                return None;
            }
        }
        let presence = Arc::new(Presence::new(origin, entrance, reach));
        let number = members.add(presence.clone());
        Some(Member { presence, crowd: self.clone(), number })
    }

    /// Ends some that wait, because the system has no room for more. Says how many.
    pub fn make_room(&self) -> usize {
        let mut members = self.members();
        let most = (members.list.len() / SHED_PART).max(1);
        members.shed(most, |_| true)
    }
}

impl Members {
    fn ordinary(&self) -> usize {
        self.list.len() - self.reserve
    }

    fn add(&mut self, presence: Arc<Presence>) -> u64 {
        self.next += 1;
        match presence.reach {
            Reach::All => *self.of.entry(presence.origin).or_default() += 1,
            Reach::OwnPages => self.reserve += 1,
        }
        self.list.insert(self.next, presence);
        self.next
    }

    fn remove(&mut self, number: u64) {
        let Some(presence) = self.list.remove(&number) else { return };
        if presence.reach == Reach::OwnPages {
            self.reserve -= 1;
        } else if let Some(count) = self.of.get_mut(&presence.origin) {
            *count -= 1;
            if *count == 0 {
                self.of.remove(&presence.origin);
            }
        }
    }

    /// Ends up to `most` of those that are worth least, the longest of each kind first. Says how many.
    fn shed(&mut self, most: usize, may_go: impl Fn(&Presence) -> bool) -> usize {
        let candidates = self.list.iter().filter(|(_, presence)| may_go(presence));
        let mut least: Vec<(Worth, Instant, u64)> =
            candidates.filter_map(|(number, presence)| Some((presence.worth()?, presence.since(), *number))).collect();
        if least.len() > most {
            least.select_nth_unstable(most);
            least.truncate(most);
        }
        for (_, _, number) in &least {
            if let Some(presence) = self.list.get(number) {
                presence.end();
            }
            self.remove(*number);
        }
        least.len()
    }
}

/// What counts as one address: whoever has one address of IPv6 has all of its network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let mut segments = address.segments();
            segments[4..].fill(0);
            IpAddr::from(segments)
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn crowd(all: usize, of_one: usize) -> Arc<Crowd> {
        Crowd::new(Room { all, of_one })
    }

    fn admit(crowd: &Arc<Crowd>, last: u8) -> Option<Member> {
        crowd.admit(IpAddr::from([10, 0, 0, last]), IpAddr::from([127, 0, 0, 1]))
    }

    async fn is_over(member: &Member) -> bool {
        tokio::time::timeout(Duration::from_millis(1), member.presence.told_to_end()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_one_that_has_waited_longest_makes_room_and_nobody_at_work_does() {
        let crowd = crowd(3, 3);
        let working = admit(&crowd, 1).unwrap();
        let _visit = working.presence.visit();
        let mut silent = Vec::new();
        for _ in 0..2 {
            tokio::time::advance(Duration::from_secs(1)).await;
            silent.push(admit(&crowd, 2).unwrap());
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        let newcomer = admit(&crowd, 3).unwrap();
        assert_eq!(newcomer.presence.reach, Reach::All);
        assert!(is_over(&silent[0]).await && !is_over(&silent[1]).await && !is_over(&working).await);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_goes_before_bodies_that_trickle_and_those_before_clients_that_wait() {
        let crowd = crowd(4, 4);
        let served = admit(&crowd, 1).unwrap();
        drop(served.presence.visit());
        let trickling = admit(&crowd, 1).unwrap();
        let visit = trickling.presence.visit();
        let _receiving = visit.receive();
        let sending = admit(&crowd, 1).unwrap();
        let other = sending.presence.visit();
        let _coming = other.receive();
        tokio::time::advance(Duration::from_secs(3)).await;
        trickling.presence.hear(3);
        sending.presence.hear(1 << 20);
        let silent = admit(&crowd, 1).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let mut newcomers = Vec::new();
        for expected in [[true, false, false], [true, true, false], [true, true, true]] {
            let newcomer = admit(&crowd, 1).unwrap();
            // At work from its first moment on.
            newcomers.push((newcomer.presence.visit(), newcomer));
            let gone = [&silent, &trickling, &served].map(|member| !crowd.members().list.contains_key(&member.number));
            assert_eq!(gone, expected);
        }
        assert!(!is_over(&sending).await);
        assert_eq!(admit(&crowd, 1).unwrap().presence.reach, Reach::OwnPages);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_new_bodies_goes_before_a_client_that_was_served_and_one_that_comes_after_it() {
        let crowd = crowd(3, 3);
        let served = admit(&crowd, 1).unwrap();
        drop(served.presence.visit());
        let flood: Vec<Member> = (0..2).map(|_| admit(&crowd, 1).unwrap()).collect();
        let visits: Vec<_> = flood.iter().map(|member| member.presence.visit()).collect();
        let _receiving: Vec<_> = visits.iter().map(super::super::presence::Visit::receive).collect();
        tokio::time::advance(Duration::from_millis(100)).await;
        let clients: Vec<Member> = (0..2).map(|_| admit(&crowd, 1).unwrap()).collect();
        assert!(is_over(&flood[0]).await && is_over(&flood[1]).await);
        assert!(!is_over(&served).await && !is_over(&clients[0]).await && !is_over(&clients[1]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_makes_room_for_itself_and_for_nobody_else() {
        let crowd = crowd(100, 2);
        let others = admit(&crowd, 9).unwrap();
        let first = admit(&crowd, 1).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let _second = admit(&crowd, 1).unwrap();
        let _third = admit(&crowd, 1).unwrap();
        assert!(is_over(&first).await && !is_over(&others).await);
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_are_at_work_a_few_come_in_for_our_own_pages() {
        let crowd = crowd(1, 1);
        let working = admit(&crowd, 1).unwrap();
        let _visit = working.presence.visit();
        let extra: Vec<Member> = (0..RESERVE).map(|_| admit(&crowd, 2).unwrap()).collect();
        assert!(extra.iter().all(|member| member.presence.reach == Reach::OwnPages));
        let visits: Vec<_> = extra.iter().map(|member| member.presence.visit()).collect();
        assert!(admit(&crowd, 2).is_none());
        drop((visits, extra));
        assert!(admit(&crowd, 2).is_some());
        drop(_visit);
        assert_eq!(admit(&crowd, 2).unwrap().presence.reach, Reach::All);
    }
}
