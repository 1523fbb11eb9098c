//! Connection limits, in total and per address, and which connection is closed when a limit is reached.
//!
//! Silent connections are closed first, then slow uploads, then new connections, then idle ones, the oldest of each class
//! first. Connections being served are never closed for a new one. When all are being served, a few more are accepted for
//! the gateway's own endpoints, so that an operator can see what is going on.

use super::connection::{Access, Connection, EvictionClass};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Connections beyond the limit, for the gateway's own endpoints.
const RESERVE: usize = 32;
/// The fraction of all connections that is closed at once when a limit is reached: finding them is expensive, and new
/// connections come in bursts.
const SHED_PART: usize = 64;

/// Limits on the number of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// In total.
    pub all: usize,
    /// Per address.
    pub per_address: usize,
}

/// All open connections.
#[derive(Debug)]
pub struct Connections {
    limits: ConnectionLimits,
    table: Mutex<ConnectionTable>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    next: u64,
    list: HashMap<u64, Arc<Connection>>,
    of: HashMap<IpAddr, usize>,
    reserve: usize,
}

/// An open connection, registered until this is dropped.
#[derive(Debug)]
pub struct OpenConnection {
    /// The connection.
    pub connection: Arc<Connection>,
    connections: Arc<Connections>,
    number: u64,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.table().remove(self.number);
    }
}

impl Connections {
    /// No connections.
    pub fn new(limits: ConnectionLimits) -> Arc<Connections> {
        Arc::new(Connections { limits, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a new connection. `None` if the limits are reached and nothing can be closed.
    pub fn admit(self: &Arc<Connections>, origin: IpAddr, local_address: IpAddr) -> Option<OpenConnection> {
        let origin = network(origin);
        let mut table = self.table();
        if table.of.get(&origin).copied().unwrap_or(0) >= self.limits.per_address {
            table.shed((self.limits.per_address / SHED_PART).max(1), |connection| {
                connection.reach == Access::All && connection.origin == origin
            });
        }
        if table.ordinary() >= self.limits.all {
            let most = (self.limits.all / SHED_PART).max(1);
            table.shed(most, |connection| connection.reach == Access::All);
        }
        let has_room =
            table.ordinary() < self.limits.all && table.of.get(&origin).copied().unwrap_or(0) < self.limits.per_address;
        let reach = if has_room { Access::All } else { Access::OwnPages };
        if reach == Access::OwnPages && table.reserve >= RESERVE {
            table.shed(1, |connection| connection.reach == Access::OwnPages);
            if table.reserve >= RESERVE {
                return None;
            }
        }
        let connection = Arc::new(Connection::new(origin, local_address, reach));
        let number = table.add(connection.clone());
        Some(OpenConnection { connection, connections: self.clone(), number })
    }

    /// Closes some connections, because the system accepts no more. Returns how many.
    pub fn make_room(&self) -> usize {
        let mut table = self.table();
        let most = (table.list.len() / SHED_PART).max(1);
        table.shed(most, |_| true)
    }
}

impl ConnectionTable {
    fn ordinary(&self) -> usize {
        self.list.len() - self.reserve
    }

    fn add(&mut self, connection: Arc<Connection>) -> u64 {
        self.next += 1;
        match connection.reach {
            Access::All => *self.of.entry(connection.origin).or_default() += 1,
            Access::OwnPages => self.reserve += 1,
        }
        self.list.insert(self.next, connection);
        self.next
    }

    fn remove(&mut self, number: u64) {
        let Some(connection) = self.list.remove(&number) else { return };
        if connection.reach == Access::OwnPages {
            self.reserve -= 1;
        } else if let Some(count) = self.of.get_mut(&connection.origin) {
            *count -= 1;
            if *count == 0 {
                self.of.remove(&connection.origin);
            }
        }
    }

    /// Closes up to `most` connections in order of their class, the oldest first. Returns how many.
    fn shed(&mut self, most: usize, may_go: impl Fn(&Connection) -> bool) -> usize {
        let candidates = self.list.iter().filter(|(_, connection)| may_go(connection));
        let mut least: Vec<(EvictionClass, Instant, u64)> = candidates
            .filter_map(|(number, connection)| Some((connection.eviction_class()?, connection.since(), *number)))
            .collect();
        if least.len() > most {
            least.select_nth_unstable(most);
            least.truncate(most);
        }
        for (_, _, number) in &least {
            if let Some(connection) = self.list.get(number) {
                connection.evict();
            }
            self.remove(*number);
        }
        least.len()
    }
}

/// What counts as one address: the owner of an IPv6 address controls its whole /64 network.
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

    fn connections(all: usize, per_address: usize) -> Arc<Connections> {
        Connections::new(ConnectionLimits { all, per_address })
    }

    fn admit(connections: &Arc<Connections>, last: u8) -> Option<OpenConnection> {
        connections.admit(IpAddr::from([10, 0, 0, last]), IpAddr::from([127, 0, 0, 1]))
    }

    async fn is_over(open_connection: &OpenConnection) -> bool {
        tokio::time::timeout(Duration::from_millis(1), open_connection.connection.eviction()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_silent_connection_is_closed_and_none_being_served() {
        let connections = connections(3, 3);
        let working = admit(&connections, 1).unwrap();
        let _visit = working.connection.guard();
        let mut silent = Vec::new();
        for _ in 0..2 {
            tokio::time::advance(Duration::from_secs(1)).await;
            silent.push(admit(&connections, 2).unwrap());
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        let newcomer = admit(&connections, 3).unwrap();
        assert_eq!(newcomer.connection.reach, Access::All);
        assert!(is_over(&silent[0]).await && !is_over(&silent[1]).await && !is_over(&working).await);
    }

    #[tokio::test(start_paused = true)]
    async fn silent_connections_are_closed_before_slow_uploads_and_idle_ones() {
        let connections = connections(4, 4);
        let served = admit(&connections, 1).unwrap();
        drop(served.connection.guard());
        let trickling = admit(&connections, 1).unwrap();
        let guard = trickling.connection.guard();
        let _receiving = guard.receive();
        let sending = admit(&connections, 1).unwrap();
        let other = sending.connection.guard();
        let _coming = other.receive();
        tokio::time::advance(Duration::from_secs(3)).await;
        trickling.connection.hear(3);
        sending.connection.hear(1 << 20);
        let silent = admit(&connections, 1).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let mut newcomers = Vec::new();
        for expected in [[true, false, false], [true, true, false], [true, true, true]] {
            let newcomer = admit(&connections, 1).unwrap();
            // At work from its first moment on.
            newcomers.push((newcomer.connection.guard(), newcomer));
            let gone = [&silent, &trickling, &served]
                .map(|open_connection| !connections.table().list.contains_key(&open_connection.number));
            assert_eq!(gone, expected);
        }
        assert!(!is_over(&sending).await);
        assert_eq!(admit(&connections, 1).unwrap().connection.reach, Access::OwnPages);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_new_uploads_is_closed_before_idle_and_newer_clients() {
        let connections = connections(3, 3);
        let served = admit(&connections, 1).unwrap();
        drop(served.connection.guard());
        let flood: Vec<OpenConnection> = (0..2).map(|_| admit(&connections, 1).unwrap()).collect();
        let visits: Vec<_> = flood.iter().map(|open_connection| open_connection.connection.guard()).collect();
        let _receiving: Vec<_> = visits.iter().map(super::super::connection::RequestGuard::receive).collect();
        tokio::time::advance(Duration::from_millis(100)).await;
        let clients: Vec<OpenConnection> = (0..2).map(|_| admit(&connections, 1).unwrap()).collect();
        assert!(is_over(&flood[0]).await && is_over(&flood[1]).await);
        assert!(!is_over(&served).await && !is_over(&clients[0]).await && !is_over(&clients[1]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_limit_per_address_closes_only_connections_of_that_address() {
        let connections = connections(100, 2);
        let others = admit(&connections, 9).unwrap();
        let first = admit(&connections, 1).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let _second = admit(&connections, 1).unwrap();
        let _third = admit(&connections, 1).unwrap();
        assert!(is_over(&first).await && !is_over(&others).await);
    }

    #[tokio::test(start_paused = true)]
    async fn reserved_connections_serve_only_own_endpoints() {
        let connections = connections(1, 1);
        let working = admit(&connections, 1).unwrap();
        let _visit = working.connection.guard();
        let extra: Vec<OpenConnection> = (0..RESERVE).map(|_| admit(&connections, 2).unwrap()).collect();
        assert!(extra.iter().all(|open_connection| open_connection.connection.reach == Access::OwnPages));
        let visits: Vec<_> = extra.iter().map(|open_connection| open_connection.connection.guard()).collect();
        assert!(admit(&connections, 2).is_none());
        drop((visits, extra));
        assert!(admit(&connections, 2).is_some());
        drop(_visit);
        assert_eq!(admit(&connections, 2).unwrap().connection.reach, Access::All);
    }
}
