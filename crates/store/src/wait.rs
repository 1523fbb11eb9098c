//! Where a runtime lives. The store is called from threads that may block, and answers them when it is done; the
//! connections of a database or an object store are served by one thread of its own. A caller polls its future on its own
//! thread and sleeps in between, so nothing has to be sent anywhere, and callers inside another runtime are no danger.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use tokio::runtime::{Builder, Runtime};

/// The runtime that serves the connections.
#[derive(Debug)]
pub(crate) struct Served(Option<Runtime>);

impl Served {
    pub(crate) fn start(name: &str) -> std::io::Result<Served> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name(name).enable_all().build()?;
        Ok(Served(Some(runtime)))
    }

    /// Sleeps until a future is done. A future may wait for another one in this way, on another runtime.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        let _inside = self.0.as_ref().map(Runtime::enter);
        // A caller may be a task of another runtime: its budget is not ours, and would never be filled up meanwhile.
        let mut future = pin!(tokio::task::unconstrained(future));
        let waker = Waker::from(Arc::new(Sleeper(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => {
                    // What woke this thread may have been meant for a future that waits for this one: it looks again.
                    thread::current().unpark();
                    return output;
                }
                Poll::Pending => thread::park(),
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Waiting for the thread is not allowed inside another runtime, and there is nothing to wait for.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
