//! What somebody may see and do, decided without asking the database again.

/// The cases that somebody sees, and who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// `user:<id>` or `token:<subject>`.
    pub owner: String,
    /// In the order of their names; a name is there once.
    pub cases: Vec<SeenCase>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenCase {
    pub id: String,
    pub name: String,
    /// Whether it is theirs; otherwise somebody shares it with them.
    pub own: bool,
    /// Whether they may put files and insights into it; always so in their own.
    pub may_write: bool,
}

/// A file or an insight is given as its owner and, where it is in one, the id of its case.
impl Sight {
    pub fn case_named(&self, name: &str) -> Option<&SeenCase> {
        self.cases.iter().find(|case| case.name == name)
    }

    pub fn case(&self, id: &str) -> Option<&SeenCase> {
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

    fn may(&self, owner: &str, case: Option<&str>, by_case: impl Fn(&SeenCase) -> bool) -> bool {
        self.owner == owner || case.and_then(|id| self.case(id)).is_some_and(by_case)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sights() -> impl Strategy<Value = Sight> {
        let case = (0..6_u8, any::<bool>(), any::<bool>());
        (0..4_u8, prop::collection::vec(case, 0..5)).prop_map(|(owner, cases)| Sight {
            owner: format!("user:{owner}"),
            cases: cases
                .into_iter()
                .map(|(id, own, may_write)| SeenCase {
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
        fn who_may_do_more_may_do_less(sight in sights(), owner in 0..4_u8, case in prop::option::of(0..6_u8)) {
            let owner = format!("user:{owner}");
            let id = case.map(|case| case.to_string());
            let id = id.as_deref();
            let (sees, writes, deletes) =
                (sight.sees(&owner, id), sight.may_write(&owner, id), sight.may_delete(&owner, id));
            prop_assert!(!deletes || writes);
            prop_assert!(!writes || sees);
            // One's own is one's own wherever it is.
            if sight.owner == owner {
                prop_assert!(deletes);
            } else {
                // What belongs to others is reached through a case that one sees, and only so.
                let through = id.and_then(|id| sight.case(id));
                prop_assert_eq!(sees, through.is_some());
                prop_assert_eq!(writes, through.is_some_and(|case| case.may_write));
                prop_assert_eq!(deletes, through.is_some_and(|case| case.own));
            }
        }

        #[test]
        fn a_case_less_never_lets_more(sight in sights(), owner in 0..4_u8, case in 0..6_u8) {
            let (owner, id) = (format!("user:{owner}"), case.to_string());
            let mut fewer = sight.clone();
            fewer.cases.pop();
            prop_assert!(!fewer.sees(&owner, Some(&id)) || sight.sees(&owner, Some(&id)));
            prop_assert!(!fewer.may_write(&owner, None) || sight.may_write(&owner, None));
        }
    }

    #[test]
    fn cases_are_found_by_name_and_by_id() {
        let case = |id: &str, name: &str| SeenCase {
            id: id.to_owned(),
            name: name.to_owned(),
            own: true,
            may_write: true,
        };
        let sight =
            Sight { owner: "user:1".to_owned(), cases: vec![case("1", "a"), case("2", "b")] };
        assert_eq!(sight.case_named("b").map(|case| case.id.as_str()), Some("2"));
        assert_eq!(sight.case("1").map(|case| case.name.as_str()), Some("a"));
        assert!(sight.case_named("B").is_none() && sight.case("a").is_none());
    }
}
