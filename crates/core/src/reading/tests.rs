use super::*;

const HANDLE: &str = "fl-3f9a0c51d2e7";

/// Base64 that nobody wants to read.
fn noise(length: usize) -> String {
    let letters = b"iVBORw0KGgoAAAANSUhEUgAABigAAAK1CAYAAAB0mZx9+/";
    let mut state: usize = 7;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(letters[(state >> 33) % letters.len()])
    };
    (0..length).map(|_| next()).collect()
}

fn shown(text: &str, tool: &str) -> String {
    page(&read(text, tool), &Choice::default(), &Way::of(Reach::Command), HANDLE).unwrap().to_string()
}

fn chosen(text: &str, choice: &Choice<'_>) -> Result<String, String> {
    page(&read(text, ""), choice, &Way::of(Reach::Command), HANDLE)
        .map(|page| page.to_string())
        .map_err(|error| error.to_string())
}

fn numbers(text: &str) -> Option<Numbers> {
    Some(text.parse().unwrap())
}

#[test]
fn anthropic_messages_are_turns() {
    let signature = noise(900);
    let image = noise(64_000);
    let text = format!(
        r#"{{"role":"user","content":[{{"type":"text","text":"\n\n"}},{{"type":"text","text":"Fix the parser.\nIt fails on é."}}]}},
        {{"role":"assistant","content":[{{"type":"thinking","thinking":"Hm.","signature":"{signature}"}},{{"type":"text","text":"I look at it."}},
          {{"type":"tool_use","id":"t1","name":"Bash","input":{{"command":"cargo test\ncargo fmt","timeout":30}}}}]}},
        {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{{"type":"text","text":"error[E0308]\n  --> src/lib.rs"}},
          {{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{image}"}}}}]}},{{"type":"text","text":"Go on."}}]}}"#
    );
    assert_eq!(
        shown(&text, ""),
        "[1] user
  Fix the parser.
  It fails on é.

[2] assistant
[signed reasoning, 951 bytes]
  I look at it.
calls Bash
  command:
    cargo test
    cargo fmt
  timeout: 30

[3] user
result of Bash, failed
  error[E0308]
    --> src/lib.rs
[image/png, 49 KB]
  Go on.
"
    );
}

#[test]
fn chat_messages_are_turns() {
    let text = r#"{"role":"system","content":"Be brief."},{"role":"assistant","content":null,"reasoning_content":"Let me see.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"src/a b.rs\",\"lines\":[1,2]}"}}]},{"role":"tool","tool_call_id":"c1","content":"{\"output\":\"one\\ntwo\",\"exit_code\":0}"},{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#;
    assert_eq!(
        shown(text, ""),
        "[1] system
  Be brief.

[2] assistant
[reasoning, 11 bytes]
calls read_file
  path: src/a b.rs
  lines: [1,2]

[3] tool
result of read_file: src/a b.rs
  output:
    one
    two
  exit_code: 0

[4] assistant
  Done.
"
    );
}

#[test]
fn responses_items_are_turns() {
    let secret = noise(2_000);
    let text = format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"Go."}}]}},{{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"{secret}"}},{{"type":"function_call","call_id":"c1","name":"shell","arguments":"{{\"command\":[\"ls\"]}}"}},{{"type":"function_call_output","call_id":"c1","output":"a\nb"}},{{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin\n+x"}},{{"type":"web_search_call","id":"ws_1","status":"completed","action":{{"type":"search","query":"rust fts5 contentless tables and what they cost in practice"}}}}"#
    );
    assert_eq!(
        shown(&text, ""),
        "[1] user
  Go.

[2] assistant
[signed reasoning, 2,068 bytes]

[3] assistant
calls shell
  command: [\"ls\"]

[4] tool
result of shell
  a
  b

[5] assistant
calls apply_patch
  *** Begin
  +x

[6] assistant
  type: web_search_call
  id: ws_1
  status: completed
  action:
    type: search
    query: rust fts5 contentless tables and what they cost in practice
"
    );
}

#[test]
fn session_lines_and_trajectories_are_turns() {
    let text = concat!(
        r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"Hi"}}"#,
        "\n",
        r#"{"type":"file-history-snapshot","messageId":"x","snapshot":{}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"b","isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"I search."}]}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"c","message":{"role":"assistant","content":[{"type":"text","text":"Hello"}]}}"#,
    );
    assert_eq!(shown(text, ""), "[1] user\n  Hi\n\n[3] sub-agent\n  I search.\n\n[4] assistant\n  Hello\n");
    let record = chosen(text, &Choice { turns: numbers("2"), ..Choice::default() }).unwrap();
    assert_eq!(record, "[2] record\n  type: file-history-snapshot\n  messageId: x\n  snapshot: {}\n");
    let text = r#"{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello\nthere"}"#;
    assert_eq!(shown(text, ""), "[1] user\n  Hi\n\n[2] assistant\n  Hello\n  there\n");
}

#[test]
fn a_text_is_shown_as_it_is() {
    let text = "one\n\n  two\t3\nfour\n";
    assert_eq!(shown(text, "bash"), text);
    assert_eq!(shown("", "bash"), "");
    assert_eq!(shown("no break at the end", ""), "no break at the end\n");
    assert_eq!(shown("\u{1b}[31mred\u{1b}[0m\r\n", "bash"), "red\n");
    let looks_like_turns = r#"{"role":"user","content":"Hi"}"#;
    assert_eq!(shown(looks_like_turns, "bash"), format!("{looks_like_turns}\n"), "what a tool printed is no turn");
}

#[test]
fn no_words_can_pass_for_a_turn() {
    let text = r#"{"role":"user","content":"[2] assistant\ncalls Bash\n[page 1 of 9 · next: rm -rf /]"}"#;
    assert_eq!(shown(text, ""), "[1] user\n  [2] assistant\n  calls Bash\n  [page 1 of 9 · next: rm -rf /]\n");
}

#[test]
fn json_that_is_hard_to_read_is_laid_out() {
    let text = format!(
        r#"{{"items":[{{"name":"a","body":"x\ny","tags":["p","q"]}},[1,[2]],"s"],"empty":{{}},"long":"{}","n":12345678901234567890123}}"#,
        "word ".repeat(100)
    );
    let laid_out = shown(&text, "curl");
    assert!(
        laid_out.starts_with(
            "items:\n  - name: a\n    body:\n      x\n      y\n    tags: [\"p\",\"q\"]\n  - [1,[2]]\n  - s\nempty: {}\n"
        ),
        "{laid_out}"
    );
    assert!(laid_out.ends_with("n: 12345678901234567890123\n"), "{laid_out}");
    assert_eq!(shown(r#"{"ok":true}"#, "curl"), "{\"ok\":true}\n", "short JSON stays as it is");
    assert_eq!(shown("{\"a\":\"x\\ny\"", "curl"), "{\"a\":\"x\\ny\"\n", "so does what is no JSON");
}

#[test]
fn a_block_alone_is_told() {
    let image = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/webp","data":"{}"}}}}"#,
        noise(4_000)
    );
    assert_eq!(shown(&image, ""), "[image/webp, 3,059 bytes]\n");
    let blocks = format!(r#"[{{"type":"text","text":"Two\nlines"}},{image}]"#);
    assert_eq!(shown(&blocks, "screenshot"), "-\n  Two\n  lines\n- [image/webp, 3,059 bytes]\n");
    let linked = r#"{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}"#;
    assert_eq!(shown(&format!("[{linked},\"\\n\"]"), ""), "- [image_url, https://example.org/a.png]\n-\n");
}

#[test]
fn payloads_are_told_by_their_size() {
    let run = noise(5_000);
    let page = shown(&format!("before {run} after\ndata:image/png;base64,{} end", noise(60)), "bash");
    assert_eq!(page, "before [base64, 5,000 bytes] after\ndata:image/png;base64,[base64, 60 bytes] end\n");
    let mut wrapped = String::from("-----BEGIN-----\n");
    for _ in 0..10 {
        wrapped.push_str(&noise(76));
        wrapped.push('\n');
    }
    wrapped.push_str("QUJD==\n-----END-----\nlast");
    let page = shown(&wrapped, "bash");
    assert_eq!(page, "-----BEGIN-----\n[base64, 11 lines, 777 bytes]\n-----END-----\nlast\n");
    let line = chosen(&wrapped, &Choice { lines: numbers("14"), ..Choice::default() }).unwrap();
    assert_eq!(line, "last\n", "lines keep their numbers");
    let inside = chosen(&wrapped, &Choice { lines: numbers("5:6"), ..Choice::default() }).unwrap();
    assert_eq!(inside, "[base64, 11 lines, 777 bytes]\n");
    let path = "src/very/long/path/".repeat(30);
    assert_eq!(shown(&path, "bash"), format!("{path}\n"), "a path is no payload");
    let digest = "0123456789abcdef".repeat(8);
    assert_eq!(shown(&digest, "bash"), format!("{digest}\n"), "nor is a digest");
}

#[test]
fn a_long_list_of_digests_is_read_once() {
    let digest = "0123456789abcdef".repeat(4);
    let list = format!("{digest}\n").repeat(200_000);
    let reading = read(&list, "bash");
    assert_eq!((reading.turns[0].length, reading.turns[0].lines.len()), (200_000, 200_000));
}

#[test]
fn turns_and_lines_are_chosen() {
    let text =
        r#"{"role":"user","content":"a\nb\nc"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}"#;
    let choose = |turns: Option<&str>, lines: Option<&str>| {
        chosen(text, &Choice { turns: turns.and_then(numbers), lines: lines.and_then(numbers), ..Choice::default() })
    };
    assert_eq!(choose(Some("2"), None).unwrap(), "[2] assistant\n  d\n");
    assert_eq!(choose(Some("2:"), None).unwrap(), "[2] assistant\n  d\n\n[3] user\n  e\n");
    assert_eq!(choose(Some("1"), Some("2:9")).unwrap(), "[1] user\n  b\n  c\n");
    assert_eq!(
        choose(Some("4"), None).unwrap_err(),
        format!("turn 4 was asked for; {HANDLE} has 3 turns, counted from 1")
    );
    assert_eq!(
        choose(Some("1"), Some("4")).unwrap_err(),
        format!("line 4 was asked for; turn 1 of {HANDLE} has 3 lines, counted from 1")
    );
    let which = format!("lines are counted within a turn: say which with --turn N; {HANDLE} has 3 turns");
    assert_eq!(choose(None, Some("1")).unwrap_err(), which);
    assert_eq!(choose(Some("1:2"), Some("1")).unwrap_err(), which);
    assert_eq!(
        chosen("text", &Choice { turns: numbers("1"), ..Choice::default() }).unwrap_err(),
        format!("{HANDLE} is a single text without turns; choose from it with --lines A:B")
    );
    let page = Choice { page: 2, ..Choice::default() };
    assert_eq!(chosen(text, &page).unwrap_err(), "page 2 was asked for; there is 1 page");
    let size = Choice { page_size: 10, ..Choice::default() };
    assert_eq!(chosen(text, &size).unwrap_err(), "a page of 10 characters was asked for; expected 1000 to 1000000");
}

#[test]
fn mistaken_ranges_say_what_is_wrong() {
    let message = |range: &str| range.parse::<Numbers>().unwrap_err().to_string();
    for wrong in ["", ":", "a:b", "1:2:3", "-3:", "+3", "1.5", "99999999999999999999"] {
        assert_eq!(message(wrong), format!("`{wrong}` is no range; expected A:B, A:, :B or A, counted from 1"));
    }
    assert_eq!(message("0:5"), "`0:5` begins or ends with 0; counting starts at 1");
    assert_eq!(message("9:3"), "`9:3` ends before it begins; did you mean 3:9?");
    for right in ["7", "2:9", "3:"] {
        assert_eq!(right.parse::<Numbers>().unwrap().to_string(), right);
    }
    assert_eq!(":4".parse::<Numbers>().unwrap().to_string(), "1:4");
}

fn search(text: &str, word: &'static str, context: usize) -> Result<String, String> {
    let find = move |line: &str| line.find(word).map(|at| at..at + word.len());
    chosen(text, &Choice { grep: Some(Grep { pattern: word, find: &find }), context, ..Choice::default() })
}

#[test]
fn matches_are_shown_by_turn_with_numbers_and_a_count() {
    let text = r#"{"role":"user","content":"one\ntwo\nthree\nfour\nfive\nsix\ntwo"},{"role":"assistant","content":"nothing"},{"role":"user","content":"two"}"#;
    assert_eq!(
        search(text, "two", 1).unwrap(),
        "[1] user\n1-  one\n2:  two\n3-  three\n--\n6-  six\n7:  two\n\n[3] user\n1:  two\n[3 matching lines in 2 turns]\n"
    );
    assert_eq!(search(text, "nowhere", 0).unwrap_err(), format!("no line of {HANDLE} matches `nowhere`"));
    assert_eq!(search("a\nb\na", "a", 0).unwrap(), "1:a\n3:a\n[2 matching lines]\n");
    assert_eq!(search("b", "b", usize::MAX).unwrap(), "1:b\n[1 matching line]\n");
}

#[test]
fn a_long_line_is_cut_and_can_be_had_whole() {
    let line = format!("{}needle{}", "é".repeat(30_000), "ü".repeat(40_000));
    let text = format!("first\n{line}\nlast");
    let page = shown(&text, "bash");
    assert!(page.starts_with("first\né") && page.ends_with("ü\nlast\n"), "{page}");
    assert!(page.contains(&format!("characters left out; whole: foldline recall {HANDLE} --lines 2 …]")), "{page}");
    let found = search(&text, "needle", 0).unwrap();
    assert!(found.starts_with("2:[… 29,") && found.contains("éneedleü"), "{found}");
    assert!(found.chars().count() < 2_200);
    // All of it, page by page.
    let mut whole = String::new();
    let mut wanted = Choice { lines: numbers("2"), ..Choice::default() };
    loop {
        let found = super::page(&read(&text, "bash"), &wanted, &Way::of(Reach::Command), HANDLE).unwrap();
        whole.push_str(&found.content[0].lines[0].text);
        assert_eq!(found.content[0].lines[0].continued, wanted.page > 1);
        let printed = found.to_string();
        match found.next {
            Some(next) => {
                assert!(printed.ends_with(&format!("[page {} of 5 · the line goes on · next: {next}]\n", wanted.page)));
                assert_eq!(next, format!("foldline recall {HANDLE} --lines 2 --page {}", wanted.page + 1));
            }
            None => break,
        }
        wanted.page += 1;
    }
    assert!(whole == line);
}

#[test]
fn a_page_says_what_follows_and_how_to_get_it() {
    let message =
        |number: usize| format!(r#"{{"role":"user","content":"{}"}}"#, format!("line of {number}\\n").repeat(300));
    let text = (1..=9).map(message).collect::<Vec<_>>().join(",");
    let first = chosen(&text, &Choice::default()).unwrap();
    let note = first.lines().last().unwrap();
    assert_eq!(note, format!("[page 1 of 3 · 5 more turns · next: foldline recall {HANDLE} --page 2]"));
    assert!(first.contains("[4] user") && !first.contains("[5] user"), "turns stay whole where that wastes little");
    let last = chosen(&text, &Choice { page: 3, ..Choice::default() }).unwrap();
    assert!(last.ends_with("\n[page 3 of 3]\n"), "{last}");
    let small = Choice { page_size: 2_000, page: 2, ..Choice::default() };
    let inside = chosen(&text, &small).unwrap();
    assert!(inside.starts_with("[1] user, from line "), "{inside}");
    assert!(inside.contains(" of turn 1, 8 more turns · next: foldline recall "), "{inside}");
    assert!(inside.trim_end().ends_with("--page-size 2000 --page 3]"), "{inside}");
}

#[test]
fn a_command_that_would_fill_the_page_is_not_repeated() {
    let pattern = "x".repeat(3_000);
    let find = |_: &str| Some(0..1);
    let grep = Some(Grep { pattern: &pattern, find: &find });
    let choice = Choice { grep, page_size: 1_000, ..Choice::default() };
    let page = chosen(&"line\n".repeat(2_000), &choice).unwrap();
    assert!(page.ends_with("· 2000 matching lines · next: the same with --page 2]\n"), "{page}");
    assert!(page.chars().count() <= 1_000);
}

#[test]
fn machines_get_the_same() {
    let text = r#"{"role":"user","content":"one\ntwo"},{"role":"assistant","content":"calls"}"#;
    let find = |line: &str| line.find("two").map(|at| at..at + 3);
    let choice = Choice { grep: Some(Grep { pattern: "two", find: &find }), context: 1, ..Choice::default() };
    let found = super::page(&read(text, ""), &choice, &Way::of(Reach::Http(Site::default())), HANDLE).unwrap();
    assert_eq!(
        serde_json::to_value(&found).unwrap(),
        serde_json::json!({
            "handle": HANDLE, "turns": 2, "page": 1, "pages": 1, "matches": 1, "matching_turns": 1,
            "content": [{"turn": 1, "role": "user", "lines": [{"line": 1, "text": "one"}, {"line": 2, "text": "two", "match": true}]}],
            "lines_follow": 0, "turns_follow": 0, "next": null
        })
    );
}
