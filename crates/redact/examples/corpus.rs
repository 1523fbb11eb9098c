//! Development only.
#![allow(clippy::all)]
use foldline_redact::*;
use std::collections::BTreeMap;
fn walk(p:&std::path::Path, f:&mut dyn FnMut(&std::path::Path)){ if p.is_symlink(){return} if p.is_dir(){ if p.file_name().is_some_and(|n|n=="site-packages"||n=="__pycache__"){return} let mut v:Vec<_>=std::fs::read_dir(p).unwrap().filter_map(|e|e.ok()).map(|e|e.path()).collect(); v.sort(); for q in v { walk(&q,f)} } else {f(p)} }
fn main(){
  let args:Vec<String>=std::env::args().collect();
  let only=args.get(2).cloned(); let many:usize=args.get(3).and_then(|s|s.parse().ok()).unwrap_or(15);
  let mut bytes=0; let mut rules:BTreeMap<&str,Vec<String>>=BTreeMap::new();
  let mut time=std::time::Duration::ZERO;
  walk(std::path::Path::new(&args[1]), &mut |p|{
    let Ok(t)=std::fs::read_to_string(p) else {return};
    bytes+=t.len();
    let s=std::time::Instant::now(); let f=find(&t,Mode::Text); time+=s.elapsed();
    for x in f { let a=t.floor_char_boundary(x.start.saturating_sub(50)); let b=t.ceil_char_boundary((x.end+20).min(t.len())); rules.entry(x.rule).or_default().push(format!("{}: {}«{}»{}",p.file_name().unwrap().to_string_lossy(),&t[a..x.start].replace('\n',"⏎"),&t[x.start..x.end].replace('\n',"⏎"),&t[x.end..b].replace('\n',"⏎"))); }
  });
  let total:usize=rules.values().map(|v|v.len()).sum();
  println!("{} bytes, {} findings, {:.2} per MB, {:.0} MB/s", bytes,total,total as f64/(bytes as f64/1e6),bytes as f64/1e6/time.as_secs_f64());
  for (r,v) in &rules { println!("{:6} {}",v.len(),r); if only.as_deref().is_some_and(|o|o=="all"||o==*r) { let step=(v.len()/many).max(1); for e in v.iter().step_by(step).take(many){println!("      {e}")} } }
}
