//! More tuning documents and insights, with other subjects, names and phrases.

use crate::corpus::{Family, Matter};

pub(crate) const FAMILY: Family = Family {
    plaintiffs: &[
        "Ludmila Strand",
        "Copperline Foundry Co.",
        "Ezra Whitcombe",
        "Inez Marchetti",
        "Halvor Brandt",
        "Juniper Freight LLC",
    ],
    defendants: &[
        "Glasswing Mutual Insurance Company",
        "Norbert Ruiz",
        "Tallgrass Seed Corporation",
        "Odette Farrow",
        "Pinehollow Builders, Inc.",
        "Quentin Abara",
    ],
    judges: &["Miriam Osei", "Gideon F. Stroud", "Lorraine Pasternak"],
    courts: &[
        "Oakland County Circuit Court",
        "Court of Common Pleas of Lorain County",
        "Superior Court of Alameda County",
    ],
    matters: &[
        Matter {
            pages: &[
                "SUPPLY AGREEMENT DISPUTE\n\n1. By an agreement dated {d1.long}, {P} undertook to deliver seed drills to {D} for a price of ${amt}. {P} delivered the goods on {d2.long}. {D} refused to pay the balance of ${amt2}, saying that the drills were late.\n\n2. Section 9 reads: \"Neither party shall be liable for delay caused by flood, fire or strike.\"",
                "3. {P} commenced an action in the {ct}, docketed as Case No. {case}. {D} moved for judgment on the pleadings. Citing {cite}, Judge {J} {h} that motion. The parties were given {n} days to submit a joint plan. {D} has not paid the balance.",
            ],
            insights: &[
                "Under the agreement of {d1.iso}, {P} was to deliver seed drills at a price of ${amt}.",
                "Delivery took place on {d2.us}.",
                "{D} refused to pay a balance of ${amt2}.",
                "Section 9 excuses \"delay caused by flood, fire or strike.\"",
                "According to section 9, \"neither party shall be liable for delay\" of certain kinds.",
                "The motion of {D} for judgment on the pleadings was {h}.",
                "Judge {J} {h} the motion, citing {cite}.",
                "A joint plan is due within {n} days.",
                "{P} brought the action, which is Case No. {case}.",
                "The goods were delivered by {P} on {d2.dmy}.",
                "{D} never paid the balance.",
            ],
        },
        Matter {
            pages: &[
                "COVERAGE OPINION\n\nThe {ct} has before it Case No. {case}. {D} issued a policy to {P} that took effect on {d1.long} with a limit of ${amt}. A storm damaged the roof on {d2.long}. {P} reported the loss {n} days later. The adjuster valued the damage at ${amt2}.",
                "The policy says, \"We will pay for direct physical loss unless the loss is excluded in this section.\" {D} rejected the claim. {P} contends that the exclusion for wear does not apply. In {cite}, the court read a like clause narrowly. Judge {J} concludes that the exclusion does not apply, and the cross-motion of {P} is therefore {h}.",
            ],
            insights: &[
                "The policy that {D} issued to {P} took effect on {d1.dmy}.",
                "The policy limit is ${amt}.",
                "The adjuster put the damage at ${amt2}.",
                "{P} reported the loss {n} days after the storm of {d2.long}.",
                "The insuring clause reads \"we will pay for direct physical loss unless the loss is excluded in this section.\"",
                "The claim was rejected by {D}.",
                "{P} contends that the exclusion for wear does not apply.",
                "The cross-motion was {h}.",
                "A similar clause was read narrowly in {cite}.",
                "Judge {J} concludes that the exclusion does not apply.",
            ],
        },
        Matter {
            pages: &[
                "LOAN AND GUARANTY\n\nOn {d1.long}, {P} lent {D} the sum of ${amt} at 7.25 percent interest. The note matured on {d2.long}. {D} repaid ${amt2} and then stopped. The note provides: \"Upon default the whole unpaid sum becomes due at the option of the holder.\" {P} waited {n} months before suing.",
                "The trial judge, {J}, entered judgment for {P} in the {ct} (Case No. {case}). {D} appealed. The court of appeals {a} the judgment, relying on {cite}. {D} owes {P} interest from the date of default.",
            ],
            insights: &[
                "{P} lent ${amt} to {D} on {d1.us}.",
                "The loan carries interest of 7.25%.",
                "The note came due on {d2.iso}.",
                "{D} repaid only ${amt2}.",
                "On default, \"the whole unpaid sum becomes due at the option of the holder.\"",
                "The court of appeals {a} the judgment.",
                "Judgment was entered for {P}.",
                "{D} appealed.",
                "The appellate ruling rests on {cite}.",
                "{P} sued after waiting {n} months.",
                "{D} owes interest to {P}.",
            ],
        },
        Matter {
            pages: &[
                "LICENSE MEMORANDUM\n\n{P} granted {D} a license to use its mark by a contract signed on {d1.long}. {D} agreed to pay royalties of ${amt} each year and to spend ${amt2} on advertising. The contract says, \"The licensee shall not assign this license without written consent.\" {D} assigned the license to Corvina Brands on {d2.long}.",
                "{P} objected within {n} days and cancelled the license. In Case No. {case}, the {ct} sustained the objection, and Judge {J} {h} the request for an injunction. The order cites {cite}. The parties did not settle.",
            ],
            insights: &[
                "{D} received a license from {P} under a contract signed {d1.long}.",
                "Royalties are ${amt} each year.",
                "{D} had to spend ${amt2} on advertising.",
                "The contract forbids assignment: \"The licensee shall not assign this license without written consent.\"",
                "On {d2.us}, {D} assigned the license to Corvina Brands.",
                "{P} cancelled the license after objecting within {n} days.",
                "The request for an injunction was {h}.",
                "The order of Judge {J} cites {cite}.",
                "The court, in Case No. {case}, sustained the objection.",
                "There was no settlement.",
            ],
        },
    ],
};
