//! The answer in the contract's format: text, tables, and the trace that its figures cite.

use contract::Reply;
use serde_json::{Value, json};

use crate::number::Language;
use crate::plan::Plan;
use crate::tool_session::Finding;
use crate::write::AnswerDraft;

#[derive(Debug, Clone)]
pub struct AnalystAnswer {
    pub draft: AnswerDraft,
    pub debug: Value,
}

impl AnalystAnswer {
    /// `mode` names the author: `local`, or the model's name in the trace.
    pub fn new(
        draft: AnswerDraft,
        plan: &Plan,
        mode: &str,
        steps: Vec<String>,
        findings: &[Finding],
    ) -> Self {
        let request = &plan.request;
        let period = request.period();
        let mut tickers: Vec<&str> = Vec::new();
        for it in plan.parts().flat_map(|it| &it.resolved.securities) {
            if !tickers.contains(&it.ticker.as_str()) {
                tickers.push(&it.ticker);
            }
        }
        let debug = json!({
            "mode": mode,
            "intent": request.intent.word(),
            "language": request.language.code(),
            "period": { "from": period.from.to_string(), "to": period.to.to_string() },
            "also": plan.more.iter().map(|it| it.request.intent.word()).collect::<Vec<_>>(),
            "tickers": tickers,
            "unknown": plan.parts().flat_map(|it| &it.resolved.unknown).map(|it| crate::page::quoted(it)).collect::<Vec<_>>(),
            "unrecognised": plan.parts().flat_map(|it| &it.resolved.unrecognised).map(|it| crate::page::quoted(it)).collect::<Vec<_>>(),
            "unreached": plan.parts().flat_map(|it| &it.resolved.unreached).map(|it| crate::page::quoted(it)).collect::<Vec<_>>(),
            "plan": steps,
            "tool_calls": findings.iter().map(Finding::trace).collect::<Vec<_>>(),
            "citations": draft.citations.iter().map(crate::Citation::to_json).collect::<Vec<_>>(),
        });
        Self { draft, debug }
    }

    /// The answer to a conversation without a message of the user.
    pub fn asking_for_a_question(locale: Option<Language>) -> Self {
        let language = locale.unwrap_or(Language::Russian);
        let text = language.pick(
            "Задайте, пожалуйста, вопрос о бумагах Московской биржи, например «Как дела у \
             Сбербанка за последний месяц?»",
            "Please ask a question about securities of the Moscow Exchange, such as \"How did \
             Sberbank do over the last month?\"",
        );
        let draft =
            AnswerDraft { text: text.to_owned(), tables: Vec::new(), citations: Vec::new() };
        let debug = json!({
            "mode": "local",
            "intent": "help",
            "language": language.code(),
            "plan": [],
            "tool_calls": [],
            "citations": [],
        });
        Self { draft, debug }
    }
}

impl Reply for AnalystAnswer {
    fn result(&self) -> Value {
        json!({
            "output": { "text": self.draft.text, "tables": self.draft.tables, "debug": self.debug },
        })
    }

    fn text(&self) -> String {
        self.draft.text.clone()
    }
}
