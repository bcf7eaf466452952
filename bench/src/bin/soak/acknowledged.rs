//! The writes that the server acknowledged. All of them must still be there after any kill.

use std::collections::BTreeMap;

use parking_lot::Mutex;

#[derive(Debug, Clone)]
pub(crate) struct AckedUser {
    pub(crate) name: String,
    pub(crate) password: String,
    pub(crate) token: String,
}

#[derive(Debug, Clone)]
pub(crate) struct AckedFile {
    /// The user's number.
    pub(crate) user: usize,
    pub(crate) id: String,
    pub(crate) sha256: String,
    pub(crate) jobs: Vec<String>,
    /// Ids and titles of the insights stored about it.
    pub(crate) insights: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) struct AckedProposal {
    pub(crate) id: String,
    pub(crate) price: f64,
    pub(crate) applied: bool,
}

/// All writes about one product.
#[derive(Debug, Clone, Default)]
pub(crate) struct AckedSku {
    pub(crate) ticks: u64,
    /// The sum of the ticks' units, which are whole numbers below 1,000 and so exact.
    pub(crate) units: f64,
    /// Ticks that were sent and never acknowledged; they may be stored or not.
    pub(crate) unknown_ticks: u64,
    pub(crate) proposals: Vec<AckedProposal>,
    /// Whether a change was sent and never acknowledged, so that the price is not known.
    pub(crate) unknown_price: bool,
}

impl AckedSku {
    /// The price that was applied last.
    pub(crate) fn price(&self) -> Option<f64> {
        self.proposals.iter().rev().find(|it| it.applied).map(|it| it.price)
    }
}

#[derive(Debug, Default, Clone)]
pub(crate) struct AckedWrites {
    pub(crate) users: Vec<AckedUser>,
    pub(crate) files: Vec<AckedFile>,
    pub(crate) skus: BTreeMap<String, AckedSku>,
}

/// How many writes of each sort there are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteCounts {
    pub(crate) users: usize,
    pub(crate) files: usize,
    pub(crate) jobs: usize,
    pub(crate) insights: usize,
    pub(crate) ticks: usize,
    pub(crate) proposals: usize,
    pub(crate) applied: usize,
}

impl WriteCounts {
    pub(crate) fn total(self) -> usize {
        let Self { users, files, jobs, insights, ticks, proposals, applied } = self;
        users + files + jobs + insights + ticks + proposals + applied
    }
}

impl AckedWrites {
    pub(crate) fn counts(&self) -> WriteCounts {
        let proposals = || self.skus.values().flat_map(|it| &it.proposals);
        WriteCounts {
            users: self.users.len(),
            files: self.files.len(),
            jobs: self.files.iter().map(|it| it.jobs.len()).sum(),
            insights: self.files.iter().map(|it| it.insights.len()).sum(),
            ticks: usize::try_from(self.skus.values().map(|it| it.ticks).sum::<u64>())
                .unwrap_or(usize::MAX),
            proposals: proposals().count(),
            applied: proposals().filter(|it| it.applied).count(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Acknowledged(Mutex<AckedWrites>);

impl Acknowledged {
    pub(crate) fn snapshot(&self) -> AckedWrites {
        self.0.lock().clone()
    }

    pub(crate) fn counts(&self) -> WriteCounts {
        self.0.lock().counts()
    }

    /// Returns the user's number.
    pub(crate) fn add_user(&self, user: AckedUser) -> usize {
        let mut writes = self.0.lock();
        writes.users.push(user);
        writes.users.len() - 1
    }

    /// Returns the file's number.
    pub(crate) fn add_file(&self, user: usize, id: &str, sha256: &str) -> usize {
        let mut writes = self.0.lock();
        writes.files.push(AckedFile {
            user,
            id: id.to_owned(),
            sha256: sha256.to_owned(),
            jobs: Vec::new(),
            insights: Vec::new(),
        });
        writes.files.len() - 1
    }

    pub(crate) fn set_job(&self, file: usize, id: &str) {
        if let Some(file) = self.0.lock().files.get_mut(file) {
            // Processing a file that is being processed answers with the same job.
            if !file.jobs.iter().any(|it| it == id) {
                file.jobs.push(id.to_owned());
            }
        }
    }

    pub(crate) fn add_insight(&self, file: usize, id: &str, title: String) {
        if let Some(file) = self.0.lock().files.get_mut(file) {
            file.insights.push((id.to_owned(), title));
        }
    }

    pub(crate) fn change_sku<T>(&self, sku: &str, change: impl FnOnce(&mut AckedSku) -> T) -> T {
        change(self.0.lock().skus.entry(sku.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_write_counts_once() {
        let acknowledged = Acknowledged::default();
        let [name, password, token] = ["a", "b", "c"].map(str::to_owned);
        let user = acknowledged.add_user(AckedUser { name, password, token });
        let file = acknowledged.add_file(user, "f", "00");
        acknowledged.set_job(file, "j");
        acknowledged.set_job(file, "j");
        acknowledged.add_insight(file, "i", "title".to_owned());
        acknowledged.change_sku("s", |sku| {
            sku.ticks += 2;
            let proposal =
                |id: &str, price, applied| AckedProposal { id: id.to_owned(), price, applied };
            sku.proposals = vec![proposal("p", 2.0, true), proposal("q", 3.0, false)];
        });
        let expected = WriteCounts {
            users: 1,
            files: 1,
            jobs: 1,
            insights: 1,
            ticks: 2,
            proposals: 2,
            applied: 1,
        };
        assert_eq!(acknowledged.counts(), expected);
        assert_eq!(expected.total(), 9);
        assert_eq!(acknowledged.snapshot().skus["s"].price(), Some(2.0));
    }
}
