//! What somebody may see and do, decided without asking the database again.

/// The cases that somebody sees, and who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visibility {
    /// `user:<id>` or `token:<subject>`.
    pub owner: String,
    /// In the order of their names; a name is there once.
    pub cases: Vec<CaseAccess>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseAccess {
    pub id: String,
    pub name: String,
    /// Whether it is theirs; otherwise somebody shares it with them.
    pub own: bool,
    /// Whether they may put files and insights into it; always so in their own.
    pub may_write: bool,
}

/// A file or an insight is given as its owner and, where it is in one, the id of its case.
impl Visibility {
    pub fn case_named(&self, name: &str) -> Option<&CaseAccess> {
        self.cases.iter().find(|case| case.name == name)
    }

    pub fn case(&self, id: &str) -> Option<&CaseAccess> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// Whether they may read it: it is theirs, or they see its case.
    pub fn sees(&self, owner: &str, case: Option<&str>) -> bool {
        self.may(owner, case, |_| true)
    }

    /// Whether they may change it: it is theirs, or its case is, or they may write in its case.
    pub fn may_write(&self, owner: &str, case: Option<&str>) -> bool {
        self.may(owner, case, |case| case.own || case.may_write)
    }

    /// Whether they may delete it: it is theirs, or its case is.
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

    fn sights() -> impl Strategy<Value = Visibility> {
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
        fn who_may_do_more_may_do_less(visibility in sights(), owner in 0..4_u8, case in prop::option::of(0..6_u8)) {
            let owner = format!("user:{owner}");
            let id = case.map(|case| case.to_string());
            let id = id.as_deref();
            let (sees, writes, deletes) =
                (visibility.sees(&owner, id), visibility.may_write(&owner, id), visibility.may_delete(&owner, id));
            prop_assert!(!deletes || writes);
            prop_assert!(!writes || sees);
            // One's own is one's own wherever it is.
            if visibility.owner == owner {
                prop_assert!(deletes);
            } else {
                // What belongs to others is reached through a case that one sees, and only so.
                let through = id.and_then(|id| visibility.case(id));
                prop_assert_eq!(sees, through.is_some());
                prop_assert_eq!(writes, through.is_some_and(|case| case.may_write));
                prop_assert_eq!(deletes, through.is_some_and(|case| case.own));
            }
        }

        #[test]
        fn a_case_less_never_lets_more(visibility in sights(), owner in 0..4_u8, case in 0..6_u8) {
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
