//! What a caller may see and change, decided without another query.

/// An owner and the cases that owner may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visibility {
    /// `user:<id>` or `token:<subject>`.
    pub owner: String,
    /// Sorted by name; names are unique.
    pub cases: Vec<CaseAccess>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseAccess {
    pub id: String,
    pub name: String,
    /// True for an own case, false for a shared one.
    pub own: bool,
    /// Whether files and insights may be added; always true for an own case.
    pub may_write: bool,
}

/// A file or insight is identified by its owner and the id of its case, if it has one.
impl Visibility {
    pub fn case_named(&self, name: &str) -> Option<&CaseAccess> {
        self.cases.iter().find(|case| case.name == name)
    }

    pub fn case(&self, id: &str) -> Option<&CaseAccess> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// Read access: own, or in a visible case.
    pub fn sees(&self, owner: &str, case: Option<&str>) -> bool {
        self.may(owner, case, |_| true)
    }

    /// Write access: own, or in an own case, or in a case shared for writing.
    pub fn may_write(&self, owner: &str, case: Option<&str>) -> bool {
        self.may(owner, case, |case| case.own || case.may_write)
    }

    /// Delete access: own, or in an own case.
    pub fn may_delete(&self, owner: &str, case: Option<&str>) -> bool {
        self.may(owner, case, |case| case.own)
    }

    fn may(&self, owner: &str, case: Option<&str>, by_case: impl Fn(&CaseAccess) -> bool) -> bool {
        self.owner == owner || case.and_then(|id| self.case(id)).is_some_and(by_case)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn visibilities() -> impl Strategy<Value = Visibility> {
        let case = (0..6_u8, any::<bool>(), any::<bool>());
        (0..4_u8, prop::collection::vec(case, 0..5)).prop_map(|(owner, cases)| Visibility {
            owner: format!("user:{owner}"),
            cases: cases
                .into_iter()
                .map(|(id, own, may_write)| CaseAccess {
                    id: id.to_string(),
                    name: format!("case {id}"),
                    own,
                    may_write: own || may_write,
                })
                .collect(),
        })
    }

    proptest! {
        #[test]
        fn delete_access_implies_write_access_implies_read_access(visibility in visibilities(), owner in 0..4_u8, case in prop::option::of(0..6_u8)) {
            let owner = format!("user:{owner}");
            let id = case.map(|case| case.to_string());
            let id = id.as_deref();
            let (sees, writes, deletes) =
                (visibility.sees(&owner, id), visibility.may_write(&owner, id), visibility.may_delete(&owner, id));
            prop_assert!(!deletes || writes);
            prop_assert!(!writes || sees);
            // The owner has every right in every case.
            if visibility.owner == owner {
                prop_assert!(deletes);
            } else {
                // Files of other owners are reached only through a visible case.
                let through = id.and_then(|id| visibility.case(id));
                prop_assert_eq!(sees, through.is_some());
                prop_assert_eq!(writes, through.is_some_and(|case| case.may_write));
                prop_assert_eq!(deletes, through.is_some_and(|case| case.own));
            }
        }

        #[test]
        fn removing_a_case_never_adds_access(visibility in visibilities(), owner in 0..4_u8, case in 0..6_u8) {
            let (owner, id) = (format!("user:{owner}"), case.to_string());
            let mut fewer = visibility.clone();
            fewer.cases.pop();
            prop_assert!(!fewer.sees(&owner, Some(&id)) || visibility.sees(&owner, Some(&id)));
            prop_assert!(!fewer.may_write(&owner, None) || visibility.may_write(&owner, None));
        }
    }

    #[test]
    fn cases_are_found_by_name_and_by_id() {
        let case = |id: &str, name: &str| CaseAccess {
            id: id.to_owned(),
            name: name.to_owned(),
            own: true,
            may_write: true,
        };
        let visibility =
            Visibility { owner: "user:1".to_owned(), cases: vec![case("1", "a"), case("2", "b")] };
        assert_eq!(visibility.case_named("b").map(|case| case.id.as_str()), Some("2"));
        assert_eq!(visibility.case("1").map(|case| case.name.as_str()), Some("a"));
        assert!(visibility.case_named("B").is_none() && visibility.case("a").is_none());
    }
}
