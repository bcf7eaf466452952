//! Held-out documents and insights, with other subjects, names and phrases than the tuning set. The
//! test asserts the figures. We read the failures twice: after a first run of 0.88, and when a
//! change of the rules flagged 0.07 of the faithful insights.

use crate::corpus::{Family, Matter};

pub(crate) const FAMILY: Family = Family {
    plaintiffs: &[
        "Rosalind Meeker",
        "Blue Heron Orchards LLC",
        "Anton Feldspar",
        "Gwen Tillery",
        "Sable Ridge Winery, Inc.",
        "Caspian Doyle",
    ],
    defendants: &[
        "Trent Mosley",
        "Ironbark Logistics Company",
        "Viola Sandoval",
        "Harrow Street Garage LLC",
        "Leopold Finch",
        "Aldine Power Corporation",
    ],
    judges: &["Constance Wray", "Edmund T. Falk", "Noelle Ibarra"],
    courts: &[
        "Washtenaw County Circuit Court",
        "District Court of Travis County",
        "Genesee County Circuit Court",
    ],
    matters: &[
        Matter {
            pages: &[
                "FINDINGS OF FACT\n\n{P} bought a cider press from {D} on {d1.long} and paid ${amt}. The press failed on {d2.long}. {P} spent ${amt2} on repairs. The warranty states, \"The seller will replace any part that fails within two seasons of ordinary use.\"",
                "{D} did not replace the part. {P} sued {D} in the {ct}, Case No. {case}, and {D} moved to dismiss. Judge {J} {h} the motion to dismiss after a hearing. The court applied {cite}. Trial will last {n} days.",
            ],
            insights: &[
                "On {d1.iso}, {P} bought a cider press from {D}.",
                "{P} paid ${amt} for the press.",
                "The press failed on {d2.dmy}.",
                "Repairs cost {P} ${amt2}.",
                "The warranty covers \"any part that fails within two seasons of ordinary use.\"",
                "{D} never replaced the part.",
                "The motion to dismiss was {h} by Judge {J}.",
                "The trial is expected to last {n} days.",
                "The court applied {cite}.",
                "{P} is suing {D} in Case No. {case}.",
            ],
        },
        Matter {
            pages: &[
                "ARBITRATION SUMMARY\n\nBy a charter signed on {d1.long}, {D} agreed to carry apples for {P} at ${amt} per season. The truck broke down on {d2.long}, and the load spoiled. {P} valued the load at ${amt2}. Clause 4 says: \"The carrier shall keep the cargo cold and dry during the whole voyage.\"",
                "{P} demanded arbitration. The arbitrator, {J}, ruled in favor of {P} and gave {D} {n} days to pay. {D} asked the {ct} to set the award aside in Case No. {case}. The court {h} that request, quoting {cite}.",
            ],
            insights: &[
                "The charter, signed {d1.us}, set a price of ${amt} per season.",
                "{D} agreed to carry apples for {P}.",
                "The breakdown of the truck happened on {d2.iso}.",
                "{P} valued the spoiled load at ${amt2}.",
                "Clause 4 requires the carrier to \"keep the cargo cold and dry during the whole voyage.\"",
                "The arbitrator ruled in favor of {P}.",
                "{D} has {n} days to pay.",
                "The request to set the award aside was {h}.",
                "The court quoted {cite}.",
                "Arbitration was demanded by {P}.",
                "{D} asked the court to set the award aside in Case No. {case}.",
            ],
        },
        Matter {
            pages: &[
                "APPELLATE BRIEF, STATEMENT OF FACTS\n\n{P} worked for {D} as a welder. On {d1.long}, {P} fell from a ladder at the plant. {D} fired {P} on {d2.long}, {n} days after the fall. A doctor billed {P} ${amt}. {D} offered ${amt2} to settle, and {P} rejected the offer.",
                "The foreman wrote, \"Nobody told the crew that the ladder had been repaired with tape.\" {P} brought a claim in the {ct}, Case No. {case}. Judge {J} entered judgment against {D}. {D} appealed, and the court of appeals {a} the judgment under {cite}.",
            ],
            insights: &[
                "{P} fell from a ladder at the plant on {d1.dmy}.",
                "{D} fired {P} on {d2.us}.",
                "The firing came {n} days after the fall.",
                "The doctor's bill was ${amt}.",
                "{D} offered ${amt2} to settle.",
                "{P} rejected the offer.",
                "According to the foreman, \"nobody told the crew that the ladder had been repaired with tape.\"",
                "Judgment was entered against {D}.",
                "The judgment was {a} by the court of appeals.",
                "The court of appeals relied on {cite}.",
                "Case No. {case} was heard by Judge {J}.",
            ],
        },
    ],
};
