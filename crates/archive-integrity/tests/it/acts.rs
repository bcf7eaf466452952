//! Who does what to whom, under which duty, when, and what a company is: claims that turn the
//! source round, and faithful ones in other words.

use crate::paraphrase::check;

const COMPLAINT: &str = "MAUD PELL, Plaintiff, v. CASPER NYE, Defendant.\n\nThe plaintiff sold a \
    mill to the defendant in May 2019. Nye paid Pell $5,000 and still owes her $7,000. Nye moved \
    to dismiss the complaint. The court denied Nye's motion to dismiss. Nye appealed.";

#[test]
fn the_two_sides_of_an_act_are_not_exchanged() {
    for (content, want) in [
        ("Nye sold the mill to Pell.", true),
        ("Pell bought the mill from Nye.", true),
        ("The mill was sold to Casper Nye by Maud Pell.", false),
        ("Nye bought the mill from Pell.", false),
        ("Pell paid Nye $5,000.", true),
        ("Nye was paid $5,000 by Pell.", true),
        ("Pell received $5,000 from Nye.", false),
        ("The plaintiff moved to dismiss the complaint.", true),
        ("The defendant moved to dismiss the complaint.", false),
        ("The plaintiff appealed.", true),
        ("Casper Nye took an appeal.", false),
    ] {
        check(COMPLAINT, content, want);
    }
}

#[test]
fn defined_terms_stand_for_the_parties_of_an_agreement() {
    let page = "CONSULTING AGREEMENT\n\nThis Agreement is made between Orrin Foods, Inc., a \
        Delaware corporation (the \"Company\"), and Vale Partners LLC, an Ohio limited liability \
        company (the \"Consultant\").\n\nThe Consultant shall indemnify, defend and hold harmless \
        the Company against all claims of third parties. The Consultant may not assign this \
        Agreement. The Company may terminate this Agreement at any time.";
    for (content, want) in [
        ("Orrin Foods must indemnify the consultant against claims of third parties.", true),
        ("The consultant must indemnify Orrin Foods against claims of third parties.", false),
        ("The consultant may assign this agreement.", true),
        ("The consultant is not allowed to assign this agreement.", false),
        ("Vale Partners is an Ohio corporation.", true),
        ("Vale Partners is a Delaware limited liability company.", true),
        ("Vale Partners is an Ohio limited liability company.", false),
        ("Orrin Foods is an Ohio corporation.", true),
    ] {
        check(page, content, want);
    }
}

#[test]
fn the_day_of_one_act_is_not_that_of_another() {
    let page = "The lease expired on August 31, 1997. The landlord commenced this action on \
        December 4, 2007. Pell was arrested on May 3, 2008.";
    for (content, want) in [
        ("The lease ended on December 4, 2007.", true),
        ("The lease ended on August 31, 1997.", false),
        ("Pell was arrested on May 3, 2008.", false),
    ] {
        check(page, content, want);
    }
}
