//! Scores of all answers, by budget and by kind of question.

use super::answer::QuestionOutcome;
use crate::command::eval::question_files::QuestionFile;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a model could answer from what was compacted.
#[derive(Debug, Serialize)]
pub struct Answers {
    /// The model.
    pub model: String,
    /// How often it was asked.
    pub calls: u32,
    /// Budget by budget.
    pub curve: Vec<AnswerPoint>,
    /// Session by session and budget by budget, with every answer.
    pub sheets: Vec<SessionAnswers>,
}

/// One budget over all sessions.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerPoint {
    /// The budget in percent.
    pub budget: f64,
    /// All kinds of questions together.
    #[serde(flatten)]
    pub total: Mean,
    /// By kind of question.
    pub kinds: BTreeMap<String, Mean>,
}

/// The mean of what answers count, each question alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Mean {
    /// From 0 to 1; none where nothing was graded.
    pub mean: Option<f64>,
    /// Answers that count.
    pub graded: u64,
    /// Questions that a model failed on; they count for nothing.
    pub failed: u64,
}

impl Mean {
    fn of<'a>(rows: impl Iterator<Item = &'a QuestionRow>) -> Mean {
        let (mut sum, mut graded, mut failed) = (0.0, 0_u64, 0);
        for row in rows {
            match row.counts {
                Some(counts) => {
                    sum += counts;
                    graded += 1;
                }
                None => failed += 1,
            }
        }
        Mean { mean: (graded > 0).then(|| sum / graded as f64), graded, failed }
    }
}

/// The answers on one session at one budget.
#[derive(Clone, Debug, Serialize)]
pub struct SessionAnswers {
    /// The session.
    pub name: String,
    /// The file of the questions.
    pub file: String,
    /// The budget in percent.
    pub budget: f64,
    /// What they count.
    #[serde(flatten)]
    pub total: Mean,
    /// Question by question.
    pub answers: Vec<QuestionRow>,
}

/// One question.
#[derive(Clone, Debug, Serialize)]
pub struct QuestionRow {
    /// Its number.
    pub id: u32,
    /// Its kind.
    pub kind: String,
    /// The question.
    pub question: String,
    /// What became of it.
    #[serde(flatten)]
    pub mark: QuestionOutcome,
    /// What it counts, from 0 to 1; none where a model failed.
    pub counts: Option<f64>,
}

impl SessionAnswers {
    /// The marks of all questions, in their order.
    pub fn of(question_file: &QuestionFile, budget: f64, marks: Vec<QuestionOutcome>) -> SessionAnswers {
        let rows = question_file.questions.questions.iter().zip(marks).map(|(question, mark)| QuestionRow {
            id: question.id,
            kind: question.kind.clone(),
            question: question.question.clone(),
            counts: mark.counts(),
            mark,
        });
        let answers: Vec<QuestionRow> = rows.collect();
        SessionAnswers {
            name: question_file.questions.session.clone(),
            file: question_file.file.display().to_string(),
            budget,
            total: Mean::of(answers.iter()),
            answers,
        }
    }
}

impl Answers {
    /// Sums up.
    pub fn of(model: &str, calls: u32, sheets: Vec<SessionAnswers>) -> Answers {
        let mut budgets: Vec<f64> = sheets.iter().map(|question_file| question_file.budget).collect();
        budgets.sort_by(f64::total_cmp);
        budgets.dedup();
        let curve = budgets.into_iter().map(|budget| point(&sheets, budget)).collect();
        Answers { model: model.to_owned(), calls, curve, sheets }
    }

    /// The kinds of questions, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.curve.first().into_iter().flat_map(|point| point.kinds.keys().map(String::as_str))
    }

    /// Why questions failed, and how many for each reason, in the order of the reasons.
    pub fn failures(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for row in self.sheets.iter().flat_map(|question_file| &question_file.answers) {
            if let QuestionOutcome::Failed { why, .. } = &row.mark {
                *reasons.entry(why.as_str()).or_default() += 1;
            }
        }
        reasons
    }

    /// Why a model answered nothing of what it was asked; `None` when it answered something.
    pub fn nothing(&self) -> Option<&str> {
        let is_answered =
            |row: &QuestionRow| !matches!(row.mark, QuestionOutcome::Failed { .. } | QuestionOutcome::Unmet);
        let answered = self.sheets.iter().flat_map(|question_file| &question_file.answers).any(is_answered);
        self.failures().into_keys().next().filter(|_| !answered)
    }
}

fn point(sheets: &[SessionAnswers], budget: f64) -> AnswerPoint {
    let rows = || {
        sheets
            .iter()
            .filter(|question_file| question_file.budget == budget)
            .flat_map(|question_file| &question_file.answers)
    };
    let mut kinds: BTreeMap<String, Mean> = rows().map(|row| (row.kind.clone(), Mean::default())).collect();
    for (kind, mean) in &mut kinds {
        *mean = Mean::of(rows().filter(|row| row.kind == *kind));
    }
    AnswerPoint { budget, total: Mean::of(rows()), kinds }
}

#[cfg(test)]
mod tests {
    use super::super::answer::{Answer, Grade};
    use super::*;

    fn row(kind: &str, mark: QuestionOutcome) -> QuestionRow {
        QuestionRow { id: 1, kind: kind.into(), question: String::new(), counts: mark.counts(), mark }
    }

    #[test]
    fn every_question_counts_alike_and_failures_for_nothing() {
        let grade = Grade::of(1.0).unwrap();
        let answers = vec![
            row("value", QuestionOutcome::of(Answer::Told("a".into()), grade)),
            row("value", QuestionOutcome::of(Answer::Guess("a".into()), grade)),
            row("value", QuestionOutcome::NotInContext),
            row("next", QuestionOutcome::Failed { answer: None, why: "busy".into() }),
        ];
        let question_file = SessionAnswers {
            name: "s".into(),
            file: String::new(),
            budget: 5.0,
            total: Mean::of(answers.iter()),
            answers,
        };
        let all = Answers::of("m", 2, vec![question_file]);
        let point = &all.curve[0];
        assert_eq!(point.total, Mean { mean: Some(0.5), graded: 3, failed: 1 });
        assert_eq!(point.kinds["value"], Mean { mean: Some(0.5), graded: 3, failed: 0 });
        assert_eq!(point.kinds["next"], Mean { mean: None, graded: 0, failed: 1 });
        assert_eq!(all.failures(), BTreeMap::from([("busy", 1)]));
        assert_eq!(all.nothing(), None);
    }

    #[test]
    fn a_model_that_fails_on_all_that_could_be_asked_answered_nothing() {
        let failed = || row("value", QuestionOutcome::Failed { answer: None, why: "busy".into() });
        let nothing = |answers: Vec<QuestionRow>| {
            let question_file =
                SessionAnswers { name: "s".into(), file: String::new(), budget: 5.0, total: Mean::default(), answers };
            Answers::of("m", 2, vec![question_file]).nothing().map(str::to_owned)
        };
        assert_eq!(nothing(vec![failed(), row("value", QuestionOutcome::Unmet)]).as_deref(), Some("busy"));
        assert_eq!(nothing(vec![failed(), row("value", QuestionOutcome::NotInContext)]), None);
        assert_eq!(nothing(vec![row("value", QuestionOutcome::Unmet)]), None);
    }
}
