//! Decides what a file defines by parsing it, for the languages whose grammars are built in.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{Language, Node, ParseOptions, Parser, Point, Tree};

use super::{CodeLine, Definition, LONGEST_SIGNATURE, plain};
use crate::definitions::Rank;
use crate::lines::prefix;

/// A grammar and the file extensions that it reads.
struct Grammar {
    extensions: &'static [&'static str],
    language: fn() -> Language,
}

const GRAMMARS: &[Grammar] = &[
    Grammar { extensions: &["rs"], language: || tree_sitter_rust::LANGUAGE.into() },
    Grammar { extensions: &["py", "pyi"], language: || tree_sitter_python::LANGUAGE.into() },
    Grammar { extensions: &["go"], language: || tree_sitter_go::LANGUAGE.into() },
    Grammar { extensions: &["ts", "mts", "cts"], language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into() },
    Grammar { extensions: &["tsx"], language: || tree_sitter_typescript::LANGUAGE_TSX.into() },
    Grammar { extensions: &["js", "jsx", "mjs", "cjs"], language: || tree_sitter_javascript::LANGUAGE.into() },
    Grammar { extensions: &["java"], language: || tree_sitter_java::LANGUAGE.into() },
    Grammar { extensions: &["c", "h"], language: || tree_sitter_c::LANGUAGE.into() },
    Grammar { extensions: &["cc", "cpp", "cxx", "hpp", "hh", "hxx"], language: || tree_sitter_cpp::LANGUAGE.into() },
];

/// Nodes that define something. `inside` says whether more definitions are looked for within.
struct Shape {
    kind: &'static str,
    rank: Rank,
    inside: Inside,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Look,
    Skip,
}

const fn shape(kind: &'static str, rank: Rank, inside: Inside) -> Shape {
    Shape { kind, rank, inside }
}

const SHAPES: &[Shape] = &[
    shape("function_item", Rank::Item, Inside::Skip),
    shape("function_signature_item", Rank::Item, Inside::Skip),
    shape("macro_definition", Rank::Item, Inside::Skip),
    shape("mod_item", Rank::Item, Inside::Look),
    shape("impl_item", Rank::Type, Inside::Look),
    shape("trait_item", Rank::Type, Inside::Look),
    shape("struct_item", Rank::Type, Inside::Skip),
    shape("enum_item", Rank::Type, Inside::Skip),
    shape("union_item", Rank::Type, Inside::Skip),
    shape("type_item", Rank::Type, Inside::Skip),
    shape("const_item", Rank::Value, Inside::Skip),
    shape("static_item", Rank::Value, Inside::Skip),
    shape("function_definition", Rank::Item, Inside::Skip),
    shape("class_definition", Rank::Type, Inside::Look),
    shape("function_declaration", Rank::Item, Inside::Skip),
    shape("generator_function_declaration", Rank::Item, Inside::Skip),
    shape("method_declaration", Rank::Item, Inside::Skip),
    shape("constructor_declaration", Rank::Item, Inside::Skip),
    shape("method_definition", Rank::Item, Inside::Skip),
    shape("method_signature", Rank::Item, Inside::Skip),
    shape("abstract_method_signature", Rank::Item, Inside::Skip),
    shape("type_spec", Rank::Type, Inside::Skip),
    shape("type_alias", Rank::Type, Inside::Skip),
    shape("const_spec", Rank::Value, Inside::Skip),
    shape("var_spec", Rank::Value, Inside::Skip),
    shape("class_declaration", Rank::Type, Inside::Look),
    shape("abstract_class_declaration", Rank::Type, Inside::Look),
    shape("interface_declaration", Rank::Type, Inside::Look),
    shape("enum_declaration", Rank::Type, Inside::Look),
    shape("record_declaration", Rank::Type, Inside::Look),
    shape("annotation_type_declaration", Rank::Type, Inside::Skip),
    shape("type_alias_declaration", Rank::Type, Inside::Skip),
    shape("lexical_declaration", Rank::Value, Inside::Skip),
    shape("class_specifier", Rank::Type, Inside::Look),
    shape("struct_specifier", Rank::Type, Inside::Look),
    shape("union_specifier", Rank::Type, Inside::Skip),
    shape("enum_specifier", Rank::Type, Inside::Skip),
    shape("type_definition", Rank::Type, Inside::Skip),
    shape("namespace_definition", Rank::Item, Inside::Look),
    shape("preproc_def", Rank::Value, Inside::Skip),
    shape("preproc_function_def", Rank::Item, Inside::Skip),
];

/// Nodes that hold statements: nothing in them is part of an outline.
const STATEMENTS: &[&str] = &[
    "expression_statement",
    "call_expression",
    "if_statement",
    "for_statement",
    "while_statement",
    "return_statement",
    "comment",
    "line_comment",
];
/// Deeper nesting than this is no outline.
const DEEPEST: usize = 12;
/// Definitions that are collected.
const MOST_DEFINITIONS: usize = 20_000;
/// The parser reports progress every hundred steps. Real files take 6 reports per thousand bytes and never above 12; one
/// that takes twice that makes the parser search for a reading instead of finding one.
const REPORTS_PER_KILOBYTE: usize = 24;

/// What the file defines, or nothing when the language is unknown or a plain look at its lines sees more.
pub(super) fn definitions<'a>(read: &[CodeLine<'a>], extension: &str) -> Option<Vec<Definition<'a>>> {
    let grammar = GRAMMARS.iter().find(|grammar| grammar.extensions.contains(&extension))?;
    let mut text = String::with_capacity(read.iter().map(|line| line.raw.len() + 1).sum());
    for line in read {
        text.push_str(line.raw);
        text.push('\n');
    }
    let tree = parsed(&text, (grammar.language)())?;
    let found = collected(&tree, &text);
    let broken = tree.root_node().has_error() && plain::definitions(read).len() > found.len();
    (!broken).then_some(found)
}

fn parsed(text: &str, language: Language) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language).ok()?;
    let mut left = 1_000 + text.len() / 1_000 * REPORTS_PER_KILOBYTE;
    let mut progress = |_: &_| {
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let mut piece = |at: usize, _: Point| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut piece, None, Some(ParseOptions::new().progress_callback(&mut progress)))
}

/// Walks the tree without recursion, into containers only.
fn collected<'a>(tree: &Tree, text: &str) -> Vec<Definition<'a>> {
    let mut found: Vec<Definition<'a>> = Vec::new();
    let mut cursor = tree.walk();
    let mut depth = 0usize;
    loop {
        let node = cursor.node();
        let kind = node.kind();
        let shape = SHAPES.iter().find(|shape| shape.kind == kind);
        if let Some(shape) = shape {
            let named = node.child_by_field_name("name").is_some()
                || node.child_by_field_name("declarator").is_some()
                || kind == "impl_item"
                || kind == "lexical_declaration";
            let body_less = kind.ends_with("_specifier") && node.child_by_field_name("body").is_none();
            if named && !body_less {
                add(&mut found, node, shape.rank, depth, text);
            }
        }
        let enter =
            shape.is_none_or(|shape| shape.inside == Inside::Look) && depth < DEEPEST && !STATEMENTS.contains(&kind);
        if found.len() >= MOST_DEFINITIONS {
            break;
        }
        if enter && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                found.sort_by_key(|definition| definition.index);
                found.dedup_by_key(|definition| definition.index);
                return found;
            }
            depth -= 1;
        }
    }
    found.sort_by_key(|definition| definition.index);
    found.dedup_by_key(|definition| definition.index);
    found
}

fn add(found: &mut Vec<Definition<'_>>, node: Node<'_>, rank: Rank, depth: usize, text: &str) {
    let row = node.child_by_field_name("name").map_or(node.start_position().row, |name| name.start_position().row);
    let end = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
    let whole = text.get(node.start_byte()..end).unwrap_or_default();
    let mut signature = String::new();
    for word in prefix(whole, 4 * LONGEST_SIGNATURE).split_ascii_whitespace() {
        if !signature.is_empty() {
            signature.push(' ');
        }
        signature.push_str(word);
        if signature.len() > LONGEST_SIGNATURE {
            break;
        }
    }
    let lead = match node.kind() {
        "type_spec" | "type_alias" => "type ",
        "const_spec" => "const ",
        "var_spec" => "var ",
        _ => "",
    };
    found.push(Definition { index: row, rank, nested: depth > 2, signature: Cow::Owned(format!("{lead}{signature}")) });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(extension: &str, code: &str) -> Vec<(usize, String)> {
        let read: Vec<CodeLine<'_>> =
            code.lines().enumerate().map(|(index, text)| CodeLine::new(index + 1, text)).collect();
        definitions(&read, extension)
            .expect("a grammar")
            .into_iter()
            .map(|d| (d.index + 1, d.signature.into_owned()))
            .collect()
    }

    #[test]
    fn every_grammar_finds_its_definitions() {
        for (extension, code, expected) in [
            (
                "rs",
                "pub struct A { x: u8 }\nimpl A {\n    fn b(&self,\n        c: u8) -> u8 { 1 }\n}\n",
                "pub struct A|impl A|fn b(&self, c: u8) -> u8",
            ),
            ("py", "class A:\n    @property\n    def b(self):\n        pass\n", "class A:|def b(self):"),
            (
                "go",
                "package a\nfunc (s *S) B(x int) error { return nil }\ntype S struct{ x int }\n",
                "func (s *S) B(x int) error|type S struct{ x int }",
            ),
            (
                "ts",
                "export interface A { b(): void }\nexport function c(d: string): number { return 1 }\n",
                "interface A|function c(d: string): number",
            ),
            ("js", "class A { b() {} }\nconst c = 1;\n", "class A|const c = 1;"),
            ("java", "class A {\n  public int b(String c) { return 1; }\n}\n", "class A|public int b(String c)"),
            ("c", "#define X 1\nint main(int a) { return 0; }\n", "#define X 1|int main(int a)"),
            ("cpp", "namespace n {\nclass A {\n void b() {}\n};\n}\n", "namespace n|class A|void b()"),
        ] {
            let found: Vec<String> = outline(extension, code).into_iter().map(|(_, signature)| signature).collect();
            assert_eq!(found.join("|"), expected, "{extension}");
        }
    }

    #[test]
    fn a_signature_over_several_lines_is_one_line() {
        assert_eq!(
            outline("go", "package a\n\nfunc Long(\n\ta int,\n\tb int,\n) error {\n\treturn nil\n}\n"),
            [(3, "func Long( a int, b int, ) error".to_owned())]
        );
    }
}
