//! A model answers the questions from the compacted text; a second call grades the answers.

mod answer;
mod model;
pub mod page;
mod prompt;
mod reply;
mod scores;
pub mod tables;

pub use model::Model;
pub use scores::Answers;

use super::evidence::{EvidenceMeasurement, EvidenceResult};
use super::measure::Method;
use answer::{Answer, QuestionOutcome};
use foldline_measure::retention::Question;
use model::AskSession;
use scores::SessionAnswers;

/// Questions of one call: more would not fit the replies of small models.
const AT_ONCE: usize = 24;

/// Puts the questions to the model, session by session and budget by budget.
pub fn run(model: &Model, readings: &[EvidenceMeasurement<'_>]) -> Answers {
    let own = |mark: &&EvidenceResult| mark.method == Method::Foldline;
    let all: Vec<(&EvidenceMeasurement<'_>, f64)> = readings
        .iter()
        .flat_map(|reading| reading.marks.iter().filter(own).map(move |mark| (reading, mark.budget)))
        .collect();
    let mut ask_session = model.ask_session();
    let mut sheets = Vec::with_capacity(all.len());
    for (number, (reading, budget)) in (1..).zip(&all) {
        let questions = &reading.question_file.questions;
        ask_session.announce(format!("{} at {budget} % of its tokens, {number} of {}", questions.session, all.len()));
        let record = reading.records.iter().find(|record| record.budget == *budget);
        let marks = match record {
            Some(record) => examine(&mut ask_session, &record.text, &questions.questions),
            None => questions.questions.iter().map(|_| QuestionOutcome::Unmet).collect(),
        };
        sheets.push(SessionAnswers::of(reading.question_file, *budget, marks));
    }
    Answers::of(model.name(), ask_session.finish(), sheets)
}

/// What becomes of all questions on a record, in their order.
fn examine(ask_session: &mut AskSession<'_>, record: &str, questions: &[Question]) -> Vec<QuestionOutcome> {
    questions.chunks(AT_ONCE).flat_map(|some| examine_some(ask_session, record, some)).collect()
}

fn examine_some(ask_session: &mut AskSession<'_>, record: &str, questions: &[Question]) -> Vec<QuestionOutcome> {
    let mut answers = ask_session.ask(&prompt::reader(record, questions), reply::answer);
    // What nobody claims to know needs no grader.
    let claims: Vec<(&Question, &str)> =
        questions.iter().filter_map(|question| Some((question, answers.found.get(&question.id)?.words()?))).collect();
    let grades = (!claims.is_empty()).then(|| ask_session.ask(&prompt::grader(&claims), reply::grade));
    let failed =
        |answer, why: Option<&String>| QuestionOutcome::Failed { answer, why: why.cloned().unwrap_or_default() };
    let mark = |question: &Question| match answers.found.remove(&question.id) {
        None => failed(None, answers.wrong.as_ref()),
        Some(Answer::NotInContext) => QuestionOutcome::NotInContext,
        Some(answer) => match grades.as_ref().and_then(|grades| grades.found.get(&question.id)) {
            Some(&grade) => QuestionOutcome::of(answer, grade),
            None => failed(answer.words().map(str::to_owned), grades.as_ref().and_then(|grades| grades.wrong.as_ref())),
        },
    };
    questions.iter().map(mark).collect()
}
