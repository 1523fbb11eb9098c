//! The folder that the paths of a conversation have in common.

/// A folder is the root when it holds this share of the absolute paths.
const SHARE: (usize, usize) = (17, 20);
/// A shorter root saves nothing.
const SHORTEST: usize = 8;

/// The deepest folder that holds most of these paths; empty when there is none.
pub(super) fn common<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    let mut paths: Vec<&str> = paths.filter(|path| path.starts_with('/')).collect();
    if paths.len() < 2 {
        return String::new();
    }
    paths.sort_unstable();
    // In sorted order the folder of most stands around the middle.
    let middle = paths.get(paths.len() / 2).copied().unwrap_or_default();
    let holds = |folder: &str| {
        let inside = paths.iter().filter(|path| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
        inside.count() * SHARE.1 >= paths.len() * SHARE.0
    };
    let mut ends = middle.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
    ends.reverse();
    ends.into_iter()
        .filter_map(|end| middle.get(..end))
        .find(|folder| folder.len() >= SHORTEST && holds(folder))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::common;

    #[test]
    fn the_deepest_folder_of_most_paths_is_the_root() {
        let paths = [
            "/srv/shop/a/x.rs",
            "/srv/shop/a/y.rs",
            "/srv/shop/b/z.rs",
            "/srv/shop/b/q.rs",
            "/srv/shop/c",
            "/srv/shop/d",
            "/tmp/q",
            "rel/path",
        ];
        assert_eq!(common(paths.into_iter()), "/srv/shop");
        assert_eq!(common(["/a/b"].into_iter()), "");
        assert_eq!(common(["/a/b", "/c/d"].into_iter()), "");
    }
}
