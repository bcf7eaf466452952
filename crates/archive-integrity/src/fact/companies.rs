//! Checks the form of a company and the place of its law against what the source says about the
//! same company.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::court_facts::company;

impl FactCheck<'_, '_, '_> {
    pub(super) fn companies(&mut self, pair: &SentencePair<'_>) {
        let index = self.index;
        for ours in company::read(self.reading, pair.sentence, &index.actors, &index.participants) {
            let theirs = || index.companies.iter().filter(|it| it.0.actor == ours.actor);
            let by_form = || theirs().filter(|it| it.0.form.is_some());
            let by_place = || theirs().filter(|it| it.0.place.is_some());
            let other_form = by_form().all(|it| it.0.form != ours.form);
            let other_place = by_place().all(|it| it.0.place != ours.place);
            let rival = match (ours.form, &ours.place) {
                (_, Some(_)) if other_place && by_place().next().is_some() => by_place().next(),
                (Some(_), _) if other_form => by_form().next(),
                _ => None,
            };
            if let Some((_, place)) = rival {
                self.push(ClaimKind::Name, ours.span, (Support::Contradicted, Some(*place)));
            }
        }
    }
}
