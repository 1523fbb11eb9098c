//! What hosts rely on, over many folds: their standing context, and their own compaction.

use super::super::*;
use super::world::{Client, Provider, settings, turn};

const WINDOW: u32 = 32_000;

fn memory(version: u32) -> String {
    format!(
        "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# claudeMd\nContents of \
         /srv/app/CLAUDE.md:\n\n- Version {version} of the rules: money is counted in cents.\n</system-reminder>"
    )
}

/// A client at work through a gateway.
struct Run {
    gateway: Conversations,
    client: Client,
    step: usize,
    folds: usize,
    sent: String,
}

impl Run {
    fn work(&mut self, steps: usize) {
        for _ in 0..steps {
            let provider = Provider { window: WINDOW.into(), ratio: 1.0 };
            let (sent, outcome) = turn(&self.gateway, &self.client, &provider, 1_000 + self.step as i64 * 10);
            self.folds += usize::from(outcome == Outcome::Folded);
            self.sent = sent;
            self.client.work(self.step);
            self.step += 1;
        }
    }

    /// How often a text stands in what was sent last, as JSON writes it.
    fn count(&self, text: &str) -> usize {
        let quoted = super::world::quoted(text);
        self.sent.matches(quoted.trim_matches('"')).count()
    }
}

#[test]
fn memory_survives_every_fold_and_a_newer_version_replaces_it() {
    for dialect in Dialect::ALL {
        let folder = tempfile::tempdir().unwrap();
        let gateway = Conversations::open(settings(WINDOW, Some(&folder.path().join("s.db")))).unwrap();
        let mut run = Run { gateway, client: Client::new(dialect), step: 0, folds: 0, sent: String::new() };
        run.client.user(&format!("{}\nRequest 0: rebuild the parts one by one.", memory(1)));
        for request in 1..4 {
            run.work(30);
            run.client.assistant("These parts are done.");
            run.client.user(&format!("Request {request}: go on with the next parts."));
        }
        run.work(20);
        assert!(run.folds >= 3, "{dialect:?}: {} folds", run.folds);
        assert_eq!(run.count(&memory(1)), 1, "{dialect:?}: {}", run.sent);

        run.client.assistant("These parts are done.");
        run.client.user(&format!("{}\nRequest 4: go on.", memory(2)));
        let folds = run.folds;
        run.work(30);
        run.client.assistant("These parts are done.");
        run.client.user("Request 5: go on.");
        run.work(40);
        assert!(run.folds > folds + 1, "{dialect:?}");
        assert_eq!((run.count(&memory(1)), run.count(&memory(2))), (0, 1), "{dialect:?}: {}", run.sent);
    }
}

#[test]
fn the_clients_own_summary_survives_later_folds() {
    let summary = "This session is being continued from a previous conversation that ran out of context. The summary below covers \
                   the earlier portion of the conversation.\n\nSummary:\n1. Primary Request and Intent:\n   Rebuild the parts.\n\n\
                   2. Key Technical Concepts:\n   - The limit is MAX_PARTS = 4171\n   - The queue listens on port 7319\n\n\
                   7. Pending Tasks:\n   - Part 12 waits for PARC-812\n\nPlease continue the conversation from where we left it off.";
    for dialect in Dialect::ALL {
        let folder = tempfile::tempdir().unwrap();
        let gateway = Conversations::open(settings(WINDOW, Some(&folder.path().join("s.db")))).unwrap();
        let mut run = Run { gateway, client: Client::new(dialect), step: 0, folds: 0, sent: String::new() };
        run.client.user(&format!("{}\nRequest 0: rebuild the parts one by one.", memory(1)));
        run.work(40);
        // The client compacts: a new history, with the same session behind it.
        run.client.messages.clear();
        run.client.user(&memory(1)).assistant("Understood.").user(summary);
        run.folds = 0;
        for request in 1..4 {
            run.work(30);
            run.client.assistant("These parts are done.");
            run.client.user(&format!("Request {request}: go on with the next parts."));
        }
        run.work(20);
        assert!(run.folds >= 3, "{dialect:?}: {} folds", run.folds);
        for fact in ["MAX_PARTS = 4171", "port 7319", "PARC-812"] {
            assert!(run.sent.contains(fact), "{dialect:?}: {fact} is forgotten\n{}", run.sent);
        }
        assert_eq!(run.count(&memory(1)), 1, "{dialect:?}: {}", run.sent);
    }
}
