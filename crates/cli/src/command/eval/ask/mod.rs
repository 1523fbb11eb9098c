//! A model of the user's own reads what was compacted and answers the questions; a second call grades the answers.

mod answer;
mod means;
mod model;
pub mod page;
mod prompt;
mod reply;
pub mod tables;

pub use means::Answers;
pub use model::Model;

use super::evidence::{Mark as EvidenceMark, Reading};
use super::trial::Method;
use answer::{Answer, Mark};
use foldline_measure::retention::Question;
use means::Sheet;
use model::Talk;

/// Questions of one call: more would not fit the replies of small models.
const AT_ONCE: usize = 24;

/// Puts the questions to the model, session by session and budget by budget.
pub fn run(model: &Model, readings: &[Reading<'_>]) -> Answers {
    let own = |mark: &&EvidenceMark| mark.method == Method::Foldline;
    let all: Vec<(&Reading<'_>, f64)> = readings
        .iter()
        .flat_map(|reading| reading.marks.iter().filter(own).map(move |mark| (reading, mark.budget)))
        .collect();
    let mut talk = model.talk();
    let mut sheets = Vec::with_capacity(all.len());
    for (number, (reading, budget)) in (1..).zip(&all) {
        let questions = &reading.sheet.questions;
        talk.announce(format!("{} at {budget} % of its tokens, {number} of {}", questions.session, all.len()));
        let record = reading.records.iter().find(|record| record.budget == *budget);
        let marks = match record {
            Some(record) => examine(&mut talk, &record.text, &questions.questions),
            None => questions.questions.iter().map(|_| Mark::Unmet).collect(),
        };
        sheets.push(Sheet::of(reading.sheet, *budget, marks));
    }
    Answers::of(model.name(), talk.finish(), sheets)
}

/// What becomes of all questions on a record, in their order.
fn examine(talk: &mut Talk<'_>, record: &str, questions: &[Question]) -> Vec<Mark> {
    questions.chunks(AT_ONCE).flat_map(|some| examine_some(talk, record, some)).collect()
}

fn examine_some(talk: &mut Talk<'_>, record: &str, questions: &[Question]) -> Vec<Mark> {
    let mut answers = talk.ask(&prompt::reader(record, questions), reply::answer);
    // What nobody claims to know needs no grader.
    let claims: Vec<(&Question, &str)> =
        questions.iter().filter_map(|question| Some((question, answers.found.get(&question.id)?.words()?))).collect();
    let grades = (!claims.is_empty()).then(|| talk.ask(&prompt::grader(&claims), reply::grade));
    let failed = |answer, why: Option<&String>| Mark::Failed { answer, why: why.cloned().unwrap_or_default() };
    let mark = |question: &Question| match answers.found.remove(&question.id) {
        None => failed(None, answers.wrong.as_ref()),
        Some(Answer::NotInContext) => Mark::NotInContext,
        Some(answer) => match grades.as_ref().and_then(|grades| grades.found.get(&question.id)) {
            Some(&grade) => Mark::of(answer, grade),
            None => failed(answer.words().map(str::to_owned), grades.as_ref().and_then(|grades| grades.wrong.as_ref())),
        },
    };
    questions.iter().map(mark).collect()
}
