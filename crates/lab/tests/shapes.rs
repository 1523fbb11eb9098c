//! How much leaks of the made-up shapes.

use foldline_lab::redact::sets::{Leaks, SETS};

#[test]
fn of_every_set_at_most_a_few_leak() {
    let mut shapes = 0;
    for (name, set) in SETS {
        let leaks = Leaks::of(&set());
        println!("{name} set\n{leaks}");
        for (group, text, masked) in leaks.texts() {
            println!("{group}: {text:?}\n      {masked:?}");
        }
        let [named, others] = leaks.named_and_others();
        assert!(named.1 * 100 <= named.0 * 3, "{name}: {} of {} leak in the groups that X2 names", named.1, named.0);
        assert!(others.1 * 100 <= others.0 * 15, "{name}: {} of {} leak in the other groups", others.1, others.0);
        shapes += named.0 + others.0;
    }
    assert!(shapes >= 800, "{shapes} shapes");
}
