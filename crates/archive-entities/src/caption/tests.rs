//! Captions of many forms, with invented names.

use archive_text::PageText;

use crate::Role;

/// Reads a page and compares the sides of its caption and each party's role.
#[track_caller]
fn check(text: &str, left: &[&str], right: &[&str], roles: &[(&str, Role)]) {
    let pages = [PageText { number: 1, part: "", text }];
    let facts = crate::read(&pages);
    assert_eq!(facts.caption.left, left, "{text}");
    assert_eq!(facts.caption.right, right, "{text}");
    for (name, role) in roles {
        let found = facts.with_role(*role).any(|it| it.name == *name);
        assert!(found, "{name} {role:?} in {:?}", facts.entities);
    }
    let parties = facts.entities.iter().filter(|it| it.is_party()).count();
    assert_eq!(parties, left.len() + right.len(), "{:?}", facts.entities);
}

#[test]
fn sides_are_read_from_the_left_column() {
    check(
        "UNITED STATES DISTRICT COURT\nWESTERN DISTRICT OF OREGON\n\nTAMIKA ROE,\n)\n)\nPlaintiff,\n\
         )\nv.\n)\nCITY OF HARPER PINES; and OFFICER\nBRANDON T. DOE, in his individual\ncapacity,\n\
         Defendants.\n)\n\nCase No. 2:24-cv-01862\n\nORDER\n",
        &["TAMIKA ROE"],
        &["CITY OF HARPER PINES", "BRANDON T. DOE"],
        &[("TAMIKA ROE", Role::Plaintiff), ("BRANDON T. DOE", Role::Defendant)],
    );
    check(
        "JANE ROE,                     §   IN THE DISTRICT COURT OF\n     Plaintiff,               §\n\
         v.                            §   HARRIS COUNTY, TEXAS\nACME HOLDINGS, LLC,           §\n     \
         Defendant.               §   165TH JUDICIAL DISTRICT\n",
        &["JANE ROE"],
        &["ACME HOLDINGS, LLC"],
        &[("ACME HOLDINGS, LLC", Role::Defendant)],
    );
}

#[test]
fn reporters_write_the_sides_around_one_line() {
    check(
        "Jane Q. ROE, petitioner,\nv.\nJohn K. DOE, Secretary of Labor.\n\nNo. 23-7320.\n\nSupreme Court of \
         the United States\n\nMotion of petitioner denied. See Poe v. Coe, 500 U.S. 1 (1991).\n",
        &["Jane Q. ROE"],
        &["John K. DOE"],
        &[("Jane Q. ROE", Role::Petitioner), ("John K. DOE", Role::Respondent)],
    );
    check(
        "Anna Roe, Roe, Doe & Poe, P.C., and Nancy Coe, Petitioners-Appellants,\nv.\nMark A. FOE, \
         Individually and in his Official Capacity as Attorney General, and Dora Loe, \
         Respondents-Appellees.\n\nDocket No. 123.\n",
        &["Anna Roe", "Roe, Doe & Poe, P.C.", "Nancy Coe"],
        &["Mark A. FOE", "Dora Loe"],
        &[("Nancy Coe", Role::Petitioner), ("Dora Loe", Role::Respondent)],
    );
}

#[test]
fn bodies_and_offices_are_told_apart() {
    check(
        "JANE ROE,\nPlaintiff,\nv.\nWATER AND POWER BOARD OF THE STATE OF OHIO; RICK DOE, Director of the \
         Water and Power Board; and DEPARTMENT OF HEALTH AND HUMAN SERVICES\nDefendants.\n\nNo. 20-1494\n",
        &["JANE ROE"],
        &[
            "WATER AND POWER BOARD OF THE STATE OF OHIO",
            "RICK DOE",
            "DEPARTMENT OF HEALTH AND HUMAN SERVICES",
        ],
        &[("RICK DOE", Role::Defendant)],
    );
}

#[test]
fn a_cited_case_is_no_caption() {
    for text in [
        "The motion is denied. See Roe v. Acme LLC, 500 U.S. 1 (1991); Doe v. Poe, 501 U.S. 2 (1991).",
        "As the court held in Roe v. Acme LLC, the motion fails.\n\nIt is denied.",
    ] {
        check(text, &[], &[], &[]);
    }
}

#[test]
fn matters_have_a_subject() {
    let text =
        "In re J.W., Appellant.\n\nNo. 12-FS-1771.\n\nDistrict of Columbia Court of Appeals.\n";
    let pages = [PageText { number: 1, part: "", text }];
    let facts = crate::read(&pages);
    assert_eq!(facts.caption.subjects, ["J.W."]);
    assert_eq!(facts.with_role(Role::Appellant).count(), 1);
}
