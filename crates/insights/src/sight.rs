//! What somebody may see.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    pub owner: String,
    pub cases: Vec<SeenCase>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenCase {
    pub id: String,
    pub name: String,
    pub own: bool,
    pub may_write: bool,
}

impl Sight {
    pub fn sees(&self, owner: &str, case: Option<&str>) -> bool {
        owner == self.owner || case.is_some_and(|case| self.cases.iter().any(|it| it.id == case))
    }
}
