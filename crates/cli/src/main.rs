//! The `foldline` command.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr, clippy::print_stdout)]
use foldline_core::*;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let start = std::time::Instant::now();
    let text = std::fs::read_to_string(&args[1])?;
    let read = start.elapsed();
    let mut policy = Policy::default();
    policy.model.window = foldline_core::policy::AutoOr::Fixed(args[2].parse()?);
    let target = args.get(3).and_then(|t| t.parse().ok());
    let job = Job { request: Request { target, keeps_originals: true, ..Default::default() }, ..Default::default() };
    let done = compact(&text, &policy, &SessionState::default(), &job)?;
    eprintln!("{:?} {} tokens {:?} messages {:?} zones {:?} read {:?} all {:?}", done.plan.outcome, done.plan.reason, done.plan.tokens, done.messages, done.plan.zones, read, start.elapsed() - read);
    let out = wire::read(&done.body, Some(done.format))?;
    for v in validate::validate(&out) { eprintln!("VIOLATION {v:?}"); }
    if args.len() > 4 { print!("{}", done.body); }
    Ok(())
}
