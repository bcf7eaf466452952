//! Metric families with a bound on their label sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::Histogram;

/// The label value when a family is full.
pub(super) const OTHER: &str = "other";

type Labels<const N: usize> = [(&'static str, String); N];

/// A family of at most `capacity` label sets, and one more named `other`.
#[derive(Clone)]
pub(super) struct BoundedFamily<const N: usize, M, C = fn() -> M> {
    family: Family<Labels<N>, M, C>,
    names: [&'static str; N],
    /// Label sets created so far. Threads that create the same one at once count it twice, so the
    /// bound may be reached early.
    created: Arc<AtomicUsize>,
    capacity: usize,
}

/// Creates histograms with these buckets.
#[derive(Clone, Copy)]
pub(super) struct Buckets(&'static [f64]);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

impl<const N: usize, M: Default> BoundedFamily<N, M> {
    pub(super) fn new(names: [&'static str; N], capacity: usize) -> Self {
        Self { family: Family::default(), names, created: Arc::default(), capacity }
    }
}

impl<const N: usize> BoundedFamily<N, Histogram, Buckets> {
    pub(super) fn histograms(
        names: [&'static str; N],
        buckets: &'static [f64],
        capacity: usize,
    ) -> Self {
        let family = Family::new_with_constructor(Buckets(buckets));
        Self { family, names, created: Arc::default(), capacity }
    }
}

impl<const N: usize, M: Clone, C: MetricConstructor<M> + Clone> BoundedFamily<N, M, C> {
    /// The metric with these label values, in the order of the names.
    pub(super) fn get(&self, values: [&str; N]) -> M {
        let labels = self.labels(values);
        if let Some(metric) = self.family.get(&labels) {
            return metric.clone();
        }
        if self.created.fetch_add(1, Ordering::Relaxed) < self.capacity {
            return self.family.get_or_create_owned(&labels);
        }
        self.created.fetch_sub(1, Ordering::Relaxed);
        self.family.get_or_create_owned(&self.labels([OTHER; N]))
    }

    pub(super) fn family(&self) -> Family<Labels<N>, M, C> {
        self.family.clone()
    }

    fn labels(&self, values: [&str; N]) -> Labels<N> {
        std::array::from_fn(|at| (self.names[at], values[at].to_owned()))
    }
}
