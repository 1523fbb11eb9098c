//! What each kind keeps of its outputs.

use super::{Kind, Source, check, keeps, many, read, reduce, shell};

#[test]
fn pytest_keeps_counts_failures_messages_and_places() {
    let input = format!(
        "============ test session starts ============\ncollected 60 items\n\n{}\n=========== FAILURES ===========\n_______ test_total _______\n\n    def test_total():\n>       assert total([1]) == 2\nE       assert 1 == 2\n\ntests/test_sum.py:14: AssertionError\n======= short test summary info =======\nFAILED tests/test_sum.py::test_total - assert 1 == 2\n======= 1 failed, 59 passed in 0.31s =======\n",
        many(59, |i| format!("tests/test_sum.py::test_case_{i} PASSED  [ {i}%]"))
    );
    keeps(
        shell("pytest -v"),
        &input,
        Kind::TestReport,
        &[
            "1 failed, 59 passed in 0.31s",
            "FAIL test_total",
            "E       assert 1 == 2",
            "tests/test_sum.py:14: AssertionError",
        ],
    );
}

#[test]
fn cargo_test_keeps_the_panic_and_its_place() {
    let input = format!(
        "running 51 tests\n{}test store::reads ... FAILED\n\nfailures:\n\n---- store::reads stdout ----\nthread 'store::reads' panicked at src/store.rs:88:9:\nassertion `left == right` failed\n  left: 1\n right: 2\n\n\nfailures:\n    store::reads\n\ntest result: FAILED. 50 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\nerror: test failed, to rerun pass `--lib`\n",
        many(50, |i| format!("test store::case_number_{i} ... ok"))
    );
    let text = keeps(
        shell("cargo test"),
        &input,
        Kind::TestReport,
        &[
            "test result: FAILED. 50 passed; 1 failed",
            "FAIL store::reads",
            "src/store.rs:88:9",
            "left: 1",
            "right: 2",
            "error: test failed",
        ],
    );
    assert_eq!(text.matches("FAIL store::reads").count(), 1, "{text}");
}

#[test]
fn go_test_joins_output_before_the_failure_to_it() {
    let input = format!(
        "{}=== RUN   TestSave\n    save_test.go:41: got 3 files, want 2\n--- FAIL: TestSave (0.01s)\nFAIL\nFAIL\texample.com/app/store\t0.52s\nok  \texample.com/app/wire\t0.11s\n",
        many(40, |i| format!("=== RUN   TestCase{i}\n    case_test.go:9: noise\n--- PASS: TestCase{i} (0.00s)"))
    );
    let text = keeps(
        shell("go test -v ./..."),
        &input,
        Kind::TestReport,
        &[
            "FAIL TestSave",
            "save_test.go:41: got 3 files, want 2",
            "FAIL\texample.com/app/store",
            "1 packages ok: example.com/app/wire",
        ],
    );
    assert!(!text.contains("noise"), "{text}");
}

#[test]
fn jest_and_unittest_failures_are_named() {
    let jest = format!(
        "FAIL src/cart.test.ts\n{}  ● Cart › adds items\n\n    expect(received).toBe(expected)\n\n    Expected: 2\n    Received: 1\n\n      at Object.<anonymous> (src/cart.test.ts:12:20)\n\nTests:       1 failed, 80 passed, 81 total\n",
        many(80, |i| format!("  ✓ does thing number {i} (1 ms)"))
    );
    keeps(
        shell("npx jest"),
        &jest,
        Kind::TestReport,
        &["Cart › adds items", "Expected: 2", "Received: 1", "src/cart.test.ts:12:20", "1 failed, 80 passed"],
    );
    let unittest = format!(
        "{}======\nFAIL: test_upper (tests.Case)\n------\nTraceback (most recent call last):\n  File \"/app/tests.py\", line 9, in test_upper\n    self.assertEqual('a', 'A')\nAssertionError: 'a' != 'A'\n\nRan 41 tests in 0.004s\n\nFAILED (failures=1)\n",
        many(40, |i| format!("test_number_{i} (tests.Case) ... ok"))
    );
    keeps(
        shell("python -m unittest"),
        &unittest,
        Kind::TestReport,
        &["FAIL test_upper", "line 9", "AssertionError: 'a' != 'A'", "Ran 41 tests", "FAILED (failures=1)"],
    );
}

#[test]
fn hundreds_of_failures_are_all_named() {
    let input = many(300, |i| format!("test suite::case_{i:03} ... FAILED"))
        + &many(2000, |i| format!("test suite::fine_{i:04} ... ok"))
        + "test result: FAILED. 2000 passed; 300 failed\n";
    let reduced = reduce(&shell("cargo test"), &input).expect("something to save");
    for index in 0..300 {
        assert!(reduced.text.contains(&format!("case_{index:03}")), "{}", reduced.text);
    }
}

#[test]
fn rustc_says_each_thing_once() {
    let input = format!(
        "{}error[E0425]: cannot find value `total` in this scope\n  --> src/cart.rs:10:5\n   |\n10 |     total + 1\n   |     ^^^^^ not found in this scope\n\nerror[E0425]: cannot find value `total` in this scope\n  --> src/cart.rs:22:9\n   |\n22 |     total\n   |     ^^^^^ not found in this scope\n\nerror: could not compile `cart` (bin \"cart\") due to 2 previous errors\n",
        many(60, |i| format!("   Compiling crate_{i} v1.0.{i}"))
    );
    check(
        shell("cargo build"),
        &input,
        Kind::Build,
        "[build: 73 lines; 2 errors, 0 warnings]\nsrc/cart.rs:10,22: error[E0425]: cannot find value `total` in this scope\nerror: could not compile `cart` (bin \"cart\") due to 2 previous errors",
    );
}

#[test]
fn compilers_and_linters_of_many_kinds_are_read() {
    for (command, line, place, message) in [
        (
            "gcc",
            "src/main.c:12:5: error: use of undeclared identifier 'x'",
            "src/main.c:12",
            "undeclared identifier 'x'",
        ),
        (
            "tsc",
            "src/app.ts(7,3): error TS2304: Cannot find name 'foo'.",
            "src/app.ts",
            "TS2304: Cannot find name 'foo'",
        ),
        ("go vet", "./store/save.go:9:2: undefined: commit", "./store/save.go:9", "undefined: commit"),
        (
            "mypy",
            "app/models.py:30: error: Name \"user\" is not defined",
            "app/models.py:30",
            "Name \"user\" is not defined",
        ),
        ("ruff check", "app/views.py:1:8: F401 `os` imported but unused", "app/views.py:1", "F401"),
    ] {
        let input = many(40, |i| format!("checking module number {i} of the project"))
            + &format!("{line}\n{line}\n")
            + "Found 2 errors.\n";
        keeps(shell(command), &input, Kind::Build, &[place, message, "Found 2 errors."]);
    }
    let eslint = format!(
        "\n/app/src/a.js\n  3:7   error  'a' is assigned a value but never used  no-unused-vars\n  9:1   error  Unexpected var  no-var\n{}\n✖ 82 problems (2 errors, 80 warnings)\n",
        many(80, |i| format!("  {}:1   warning  Unexpected console statement  no-console", 10 + i))
    );
    keeps(
        shell("npx eslint ."),
        &eslint,
        Kind::Build,
        &["/app/src/a.js:3: error", "/app/src/a.js:9: error", "✖ 82 problems", "no-console"],
    );
}

#[test]
fn logs_keep_levels_edges_and_distinct_errors() {
    let input = many(500, |i| match i {
        77 | 78 | 300 => {
            format!("2026-01-02 10:00:{:02} ERROR [db] query 0x{:x} failed after {i} ms", i % 60, i * 7919)
        }
        120 => "2026-01-02 10:02:00 WARN disk is almost full".to_owned(),
        _ if i % 2 == 0 => format!("2026-01-02 10:00:{:02} DEBUG cache lookup took {i} ms", i % 60),
        _ => format!("2026-01-02 10:00:{:02} INFO served request {i}", i % 60),
    });
    let text = keeps(
        shell("cat app.log"),
        &input,
        Kind::Log,
        &[
            "3 error, 1 warn, ",
            "failed after 77 ms (×3)",
            "WARN disk is almost full",
            "served request 1\n",
            "served request 499",
        ],
    );
    assert!(text.matches("DEBUG").count() <= 4, "only the edges: {text}");
    let timing = Source { focus: &["requests", "slow"], ..shell("cat app.log") };
    keeps(timing, &input, Kind::Log, &["DEBUG cache lookup took 0 ms (×247)", "failed after 77 ms (×3)"]);
}

#[test]
fn json_logs_are_logs() {
    let input = many(100, |i| {
        format!(
            "{{\"time\":\"2026-01-02T03:04:05Z\",\"level\":\"{}\",\"msg\":\"request {i} done\"}}",
            if i == 50 { "error" } else { "info" }
        )
    });
    keeps(shell("kubectl logs x"), &input, Kind::Log, &["1 error, 99 info", "request 50 done"]);
}

#[test]
fn stack_traces_keep_the_cause_chain_and_own_frames() {
    let input = format!(
        "Exception in thread \"main\" com.acme.StartupException: no config\n\tat com.acme.Main.start(Main.java:20)\n{}\tat com.acme.Main.main(Main.java:9)\nCaused by: java.io.FileNotFoundException: app.yaml\n\tat com.acme.Config.load(Config.java:33)\n\t... 42 more\n",
        many(40, |i| format!("\tat org.springframework.boot.Runner.step{i}(Runner.java:{i})"))
    );
    let text = keeps(
        shell("java -jar app.jar"),
        &input,
        Kind::StackTrace,
        &[
            "StartupException: no config",
            "Main.java:20",
            "Main.java:9",
            "Caused by: java.io.FileNotFoundException: app.yaml",
            "Config.java:33",
            "43 frames, 40 of libraries",
        ],
    );
    assert!(!text.contains("springframework"), "{text}");
    let python = format!(
        "Traceback (most recent call last):\n  File \"/app/run.py\", line 3, in <module>\n    main()\n{}ValueError: bad input\n",
        many(30, |i| format!("  File \"/usr/lib/python3.12/site-packages/lib.py\", line {i}, in call\n    return f()"))
    );
    keeps(shell("python run.py"), &python, Kind::StackTrace, &["/app/run.py\", line 3", "ValueError: bad input"]);
}

#[test]
fn search_results_are_grouped_by_file() {
    let input = many(30, |i| format!("crates/core/src/plan.rs:{}:    let plan_{i} = Plan::default();", i + 10))
        + "crates/core/src/apply.rs:7:pub fn apply(plan: &Plan) -> Body {\ncrates/core/src/apply.rs-8-    splice(plan)\n";
    keeps(
        Source { tool: "Grep", argument: "Plan", ..Source::default() },
        &input,
        Kind::Search,
        &[
            "31 matches in 2 files",
            "under crates/core/src/",
            "plan.rs (30)",
            "apply.rs (1) 7: pub fn apply(plan: &Plan) -> Body {",
        ],
    );
}

#[test]
fn listings_become_a_tree_with_counts() {
    let input = many(120, |i| format!("./src/{}/file_{i}.rs", ["wire", "plan", "reduce"][i % 3])) + "./Cargo.toml\n";
    keeps(
        shell("find . -type f"),
        &input,
        Kind::Listing,
        &["121 entries in 4 folders", "./src/plan/ (40): file_1.rs", "./: Cargo.toml", "(+"],
    );
    let long = "total 96\ndrwxr-xr-x  9 u g 4096 Jan  1 10:00 .\n".to_owned()
        + &many(60, |i| {
            format!("-rw-r--r--  1 u g {} Jan  1 10:00 data file {i}.bin", if i == 9 { 99_000_000_000u64 } else { 12 })
        });
    keeps(
        shell("ls -la"),
        &long,
        Kind::Listing,
        &["60 entries", "data file 0.bin, ", "huge: data file 9.bin 94413 MB"],
    );
    let tree = ".\n├── src\n│   ├── lib.rs\n│   └── wire\n│       └── json.rs\n".to_owned()
        + &many(60, |i| format!("├── name_{i}.txt"));
    keeps(shell("tree"), &tree, Kind::Listing, &["src/ (2): lib.rs, wire", "src/wire/: json.rs"]);
}

#[test]
fn tables_keep_columns_ranges_edges_and_outliers() {
    let input = "id,name,price\n".to_owned()
        + &many(400, |i| format!("{i},\"item, {i}\",{}", if i == 250 { 90_000 } else { 10 + i % 5 }));
    keeps(
        shell("cat prices.csv"),
        &input,
        Kind::Table,
        &[
            "400 rows, 3 columns",
            "id: number 0..399",
            "name: text, e.g. item, 0",
            "price: number 10..90000",
            "0,\"item, 0\",10",
            "399,\"item, 399\",14",
        ],
    );
    let plain =
        "id;amount\n".to_owned() + &many(400, |i| format!("{i};{};x", if i == 250 { 90_000 } else { 10 + i % 5 }));
    keeps(shell("cat x"), &plain.replace("id;amount", "id;amount;tag"), Kind::Table, &["sticks out: 250;90000;x"]);
    let psql = " id | status \n----+--------\n".to_owned() + &many(200, |i| format!(" {i} | done")) + "(200 rows)\n";
    keeps(
        shell("psql -c 'select 1'"),
        &psql,
        Kind::Table,
        &["200 rows, 2 columns", "id: number 0..199", "status: text, e.g. done"],
    );
    let aligned = "NAME      READY   STATUS    AGE\n".to_owned()
        + &many(80, |i| format!("pod-{i}     1/1     {}   {i}m", if i == 40 { "Error" } else { "Running" }));
    keeps(
        shell("kubectl get pods"),
        &aligned,
        Kind::Table,
        &["80 rows, 4 columns", "STATUS: text, e.g. Running", "pod-40     1/1     Error"],
    );
}

#[test]
fn json_keeps_shape_ids_and_every_error() {
    let items: Vec<String> = (0..200)
        .map(|i| {
            format!(
                "{{\"id\":{i},\"name\":\"job {i}\",\"payload\":{{\"size\":1,\"blob\":\"{}\"}},\"error\":{}}}",
                "x".repeat(90),
                if i == 150 { "\"disk full\"" } else { "null" }
            )
        })
        .collect();
    keeps(
        shell("curl api"),
        &format!("{{\"total\":200,\"jobs\":[{}]}}", items.join(",")),
        Kind::Json,
        &[
            "object with 2 keys",
            "total: 200",
            "jobs: 200 items with id, name, payload, error",
            "id: 0; name: job 0",
            "error: disk full",
            "id: 5; name: job 5",
        ],
    );
    let broken = format!("[{}", items.join(","));
    assert_eq!(reduce(&shell("curl api"), &broken).expect("something to save").kind, Kind::Command);
    let lines = many(100, |i| format!("{{\"id\":{i},\"state\":\"open\",\"text\":\"{}\"}}", "y".repeat(50)));
    keeps(shell("jq -c ."), &lines, Kind::Json, &["array of 100", "id: 2; state: open"]);
}

#[test]
fn code_keeps_signatures_with_line_numbers() {
    let body = "    // explains nothing\n    let x = 1;\n    let _ = x;\n";
    let code = format!(
        "//! Keeps sessions.\n\nuse std::fmt;\nuse foldline_transcript::wire::Body;\n\npub struct SessionStore {{\n    path: String,\n}}\n\nimpl SessionStore {{\n{}}}\n",
        many(12, |i| format!("    pub fn load_part_{i}(&self, id: SessionId) -> Option<Session> {{\n{body}    }}"))
    );
    let numbered: String = code.lines().enumerate().map(|(i, line)| format!("{:>6}→{line}\n", i + 1)).collect();
    for (source, input) in [
        (read("/app/src/store.rs"), &numbered),
        (read("/app/src/store.unknown"), &code),
        (shell("cat src/store.rs"), &code),
    ] {
        keeps(
            source,
            input,
            Kind::Code,
            &[
                "//! Keeps sessions.",
                "imports: std::fmt",
                "SessionStore",
                "11 pub fn load_part_0(&self, id: SessionId) -> Option<Session>",
            ],
        );
    }
}

#[test]
fn diffs_keep_files_counts_and_signatures() {
    let hunk = |i: usize| {
        format!(
            "diff --git a/src/f{i}.rs b/src/f{i}.rs\nindex 1..2 100644\n--- a/src/f{i}.rs\n+++ b/src/f{i}.rs\n@@ -10,6 +10,7 @@ fn context_{i}()\n context line\n-    old\n+    new line\n+pub fn added_{i}(x: u8) -> u8 {{\n context\n more context that is not changed at all\n and again more context"
        )
    };
    let input = many(9, hunk);
    let text = keeps(shell("git diff"), &input, Kind::Diff, &["9 files, +18 -9"]);
    for index in 0..9 {
        assert!(text.contains(&format!("f{index}.rs +2 -1")), "{text}");
    }
    assert!(text.contains("12 +pub fn added_0(x: u8) -> u8 {"), "{text}");
}

#[test]
fn pages_keep_title_headings_and_link_count() {
    let input = format!(
        "<!DOCTYPE html><html><head><title>Release notes</title><script>var secretScript = 1;</script></head><body><nav><a href=x>Menu</a></nav><h2>Breaking changes</h2><p>The store moved. More words.</p>{}</body></html>",
        many(60, |i| format!(
            "<p>Filler paragraph {i} with <a href='/x'>link</a> &amp; words that go on for a while.</p>"
        ))
    );
    let text = keeps(
        Source { tool: "WebFetch", argument: "https://example.com", ..Source::default() },
        &input,
        Kind::Web,
        &["# Release notes", "## Breaking changes", "The store moved.", "60 links"],
    );
    assert!(!text.contains("secretScript") && !text.contains('<'), "{text}");
}

#[test]
fn configuration_keeps_keys_and_short_values() {
    let input = "server:\n  port: 8080\n  host: 0.0.0.0\n".to_owned()
        + &many(80, |i| format!("feature_{i}:\n  enabled: true\n  description: {}", "long text ".repeat(12)));
    let text = keeps(read("/app/config.yaml"), &input, Kind::KeyValue, &["feature_0:", "243 keys"]);
    assert!(text.lines().all(|line| line.len() < 90), "{text}");
}

#[test]
fn commands_keep_head_trouble_and_tail() {
    let input = "Cloning into 'app'...\n".to_owned()
        + &many(200, |i| {
            if i == 90 {
                "cp: cannot stat 'x': No such file or directory".to_owned()
            } else {
                format!("copied part {i}")
            }
        })
        + "done in 3 s\n";
    keeps(
        shell("./install.sh"),
        &input,
        Kind::Command,
        &[
            "Cloning into 'app'...",
            "lines omitted, among them:]",
            "cp: cannot stat 'x': No such file or directory",
            "done in 3 s",
        ],
    );
}

#[test]
fn prose_keeps_headings_first_sentences_and_names() {
    let input =
        "# Storage design\n\nThe store keeps originals in `blob_store.rs`. It has more to say.\n\n## Recovery\n\n"
            .to_owned()
            + &many(60, |i| format!("Sentence number {i} is plain filler. And so on and so forth.\n"));
    let text = keeps(
        read("/app/docs/design.md"),
        &input,
        Kind::Prose,
        &["# Storage design", "## Recovery", "`blob_store.rs`."],
    );
    assert!(!text.contains("It has more"), "{text}");
}

#[test]
fn small_outputs_are_left_alone() {
    assert_eq!(reduce(&shell("ls"), "Cargo.toml\nsrc\n"), None);
    assert_eq!(reduce(&read("a.rs"), "fn main() {}\n"), None);
}

#[test]
fn kinds_are_written_in_kebab_case() {
    let names: Vec<String> = Kind::ALL.iter().map(ToString::to_string).collect();
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')), "{names:?}");
    assert_eq!(Kind::TestReport.to_string(), "test-report");
}

#[test]
fn data_that_a_web_tool_fetches_is_no_page() {
    let source = Source { tool: "web_fetch", argument: "https://api.example.test/jobs", ..Source::default() };
    let jobs = many(60, |index| format!("{{\"job\": \"job_{index}\", \"state\": \"done\"}},"));
    let text = format!("[{}]", jobs.trim_end().trim_end_matches(','));
    assert_eq!(crate::detect(&source, &text), Kind::Json);
    assert_eq!(crate::detect(&source, "<html><body><p>[1]</p></body></html>"), Kind::Web);
}

#[test]
fn names_that_the_conversation_speaks_of_stay() {
    let text = many(400, |index| format!("worker_{index} finished step_{index} of the plan"));
    let source = shell("./run.sh");
    let alone = crate::reduce(&source, &text).expect("something to save").text;
    assert!(!alone.contains("worker_217"), "{alone}");
    let conversation = crate::ConversationNames::of_words(["what about worker_217?"]);
    let amid = crate::reduce_in_context(&source, &conversation, &text).expect("something to save").text;
    assert!(amid.contains("worker_217 finished"), "{amid}");
}
