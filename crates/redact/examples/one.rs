//! Development only.
#![allow(clippy::all)]
use foldline_redact::*;
fn cpu()->f64{ let s=std::fs::read_to_string("/proc/thread-self/schedstat").unwrap(); s.split_whitespace().next().unwrap().parse::<f64>().unwrap()/1e9 }
fn main(){
  let arg=std::env::args().nth(1).unwrap();
  let unit=shapes::hostile::hostile().into_iter().find(|(n,_)|*n==arg).map(|(_,u)|u.to_string()).unwrap_or(arg.clone());
  let t= if std::path::Path::new(&arg).exists() { let mut s=String::new(); for e in std::fs::read_dir(&arg).unwrap(){ s.push_str(&std::fs::read_to_string(e.unwrap().path()).unwrap_or_default()); } s} else {unit.repeat(4_000_000/unit.len())};
  redact("password=x",Mode::Text);
  let a=cpu(); let mut n=0; for _ in 0..2 { n+=redact(&t,Mode::Text).len(); } let d=cpu()-a;
  println!("{arg}: {:.0} MB/s findings {} {}",2.0*t.len() as f64/1e6/d,find(&t,Mode::Text).len(),n);
}
