//! User-facing reasons why the rules answered instead of the model.

use jiff::civil::Date;

use crate::ask::Question;
use crate::number::Language;
use crate::understand::understand;

/// Returns the language in which the question is answered.
pub(crate) fn language(question: &Question, today: Date) -> Language {
    understand(question, today).language
}

/// Returns one sentence without numbers, so that it passes the number check below any answer.
pub(crate) fn fallback_reason(code: &str, language: Language) -> &'static str {
    let (russian, english) = match code {
        "llm_timeout" => (
            "Языковая модель не ответила вовремя, поэтому ответ составлен по правилам, без неё.",
            "The language model did not answer in time, so this answer was written by rules, without it.",
        ),
        "llm_unreachable" => (
            "Языковая модель недоступна, поэтому ответ составлен по правилам, без неё.",
            "The language model cannot be reached, so this answer was written by rules, without it.",
        ),
        "llm_rate_limited" | "llm_overloaded" => (
            "Языковая модель перегружена или лимит запросов к ней исчерпан, поэтому ответ составлен по правилам, без неё.",
            "The language model is overloaded or its allowance is used up, so this answer was written by rules, without it.",
        ),
        "llm_failed" => (
            "Провайдер языковой модели ответил ошибкой, поэтому ответ составлен по правилам, без неё.",
            "The language model's provider failed, so this answer was written by rules, without it.",
        ),
        "llm_auth" => (
            "Провайдер языковой модели не принял ключ, поэтому ответ составлен по правилам, без неё.",
            "The language model's provider did not accept the key, so this answer was written by rules, without it.",
        ),
        "llm_refused" => (
            "Языковая модель отказалась отвечать, поэтому ответ составлен по правилам, без неё.",
            "The language model would not answer, so this answer was written by rules, without it.",
        ),
        "llm_cut_short" => (
            "Ответ языковой модели оборвался, поэтому ответ составлен по правилам, без неё.",
            "The language model's answer broke off, so this answer was written by rules, without it.",
        ),
        "llm_budget_spent" => (
            "Языковая модель исчерпала отведённые на вопрос вызовы, поэтому ответ составлен по правилам, без неё.",
            "The language model used up what one question may cost, so this answer was written by rules, without it.",
        ),
        "unsupported_numbers" => (
            "В тексте языковой модели были числа, которых нет в данных, поэтому ответ составлен по правилам, без неё.",
            "The language model's text had numbers that are not in the data, so this answer was written by rules, without it.",
        ),
        "model_wrote_markup" => (
            "В тексте языковой модели были недопустимые ссылки или разметка, поэтому ответ составлен по правилам, без неё.",
            "The language model's text had links or markup that are not allowed, so this answer was written by rules, without it.",
        ),
        "model_gave_advice" => (
            "В тексте языковой модели был совет о сделке, поэтому ответ составлен по правилам, без неё.",
            "The language model's text advised a trade, so this answer was written by rules, without it.",
        ),
        "model_found_nothing" => (
            "Языковая модель не получила данных, поэтому ответ составлен по правилам, без неё.",
            "The language model obtained no data, so this answer was written by rules, without it.",
        ),
        _ => (
            "Языковая модель дала непригодный ответ, поэтому ответ составлен по правилам, без неё.",
            "The language model gave no usable answer, so this answer was written by rules, without it.",
        ),
    };
    language.pick(russian, english)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::numbers;
    use crate::number::Language::English;

    #[test]
    fn every_reason_is_a_sentence_without_numbers() {
        let codes = ["llm_timeout", "llm_auth", "unsupported_numbers", "anything else"];
        let said: Vec<&str> = codes
            .iter()
            .flat_map(|it| [Language::Russian, English].map(|to| fallback_reason(it, to)))
            .collect();
        for (at, sentence) in said.iter().enumerate() {
            assert!(sentence.ends_with('.') && numbers(sentence).is_empty(), "{sentence}");
            assert!(!said[..at].contains(sentence), "{sentence} stands for two reasons");
        }
    }
}
