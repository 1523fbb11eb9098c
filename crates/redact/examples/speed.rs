//! Development only.
#![allow(clippy::all)]
use foldline_redact::*;
fn cpu()->f64{ let s=std::fs::read_to_string("/proc/thread-self/schedstat").unwrap(); s.split_whitespace().next().unwrap().parse::<f64>().unwrap()/1e9 }
fn speed(text:&str,stream:bool)->f64{ let mut best=f64::MAX; let start=std::time::Instant::now(); for _ in 0..40 { let a=std::time::Instant::now(); if stream { let mut s=Stream::new(Mode::Text); let mut n=0; for c in text.as_bytes().chunks(65536){ n+=s.feed(c).len(); } n+=s.finish().len(); std::hint::black_box(n);} else { std::hint::black_box(redact(text,Mode::Text).len()); } best=best.min(a.elapsed().as_secs_f64()); if start.elapsed().as_secs_f64()>0.4 {break} } text.len() as f64/1e6/best }
fn walk(p:&std::path::Path, f:&mut dyn FnMut(&std::path::Path)){ if p.is_symlink(){return} if p.is_dir(){ let mut v:Vec<_>=std::fs::read_dir(p).unwrap().filter_map(|e|e.ok()).map(|e|e.path()).collect(); v.sort(); for q in v { walk(&q,f)} } else {f(p)} }
fn main(){
  let args:Vec<String>=std::env::args().collect();
  redact("password=x ghp_a curl -u a:b the password is x",Mode::Text);
  for d in ["/work/shared/corpus","/root/.cargo/registry/src","/usr/share/doc"] { let mut text=String::new(); walk(std::path::Path::new(d),&mut |p| if text.len()<6_000_000 { if let Ok(t)=std::fs::read_to_string(p){ if t.len()<3_000_000 {text.push_str(&t)}} }); println!("{:6.0} MB/s  stream {:6.0}  {}",speed(&text,false),speed(&text,true),d); }
  let n:usize=args.get(1).and_then(|s|s.parse().ok()).unwrap_or(400_000);
  let mut v=vec![];
  for (name,unit) in shapes::hostile::hostile() { if args.len()>2 && !args[2..].contains(&name.to_string()) {continue} let t=unit.repeat(n/unit.len()); v.push((speed(&t,false),speed(&t,true),name)); }
  v.sort_by(|a,b|a.0.partial_cmp(&b.0).unwrap());
  for (s,st,n) in v.iter().take(45) { println!("{s:6.0} MB/s  stream {st:6.0}  {n}"); }
}
