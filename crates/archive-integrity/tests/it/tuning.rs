//! Documents and insights on which the detectors were tuned. No test asserts figures about them.

use crate::corpus::{Family, Matter};

pub(crate) const FAMILY: Family = Family {
    plaintiffs: &[
        "Orrin Vale",
        "Maud Pellerin",
        "Tobias Achterberg",
        "Selma Kvist",
        "Dorian Lusk",
        "Petra Hollins",
    ],
    defendants: &[
        "Hartwell Tools, Inc.",
        "Brightmoor Estates LLC",
        "Casper Nye",
        "Lakeshore Transit Company",
        "Wendell Oakes",
        "Ferngate Stores, Inc.",
    ],
    judges: &["Alma R. Quist", "Howard Benning", "Teresa Vandermolen"],
    courts: &[
        "Wayne County Circuit Court",
        "Kent County Circuit Court",
        "Ingham County Circuit Court",
    ],
    matters: &[
        Matter {
            pages: &[
                "STATE OF MICHIGAN\nIN THE {ct}\n\n{P}, Plaintiff,\nv.\n{D}, Defendant.\n\nCase No. {case}\n\nOPINION AND ORDER\n\nThis action arises from a commercial lease. On {d1.long}, {P} filed a complaint against {D} alleging breach of the lease and unpaid rent of ${amt}. {D} answered and denied the allegations. {P} also seeks ${amt2} in attorney fees.",
                "The lease provides that \"the tenant shall pay rent on the first day of each month without setoff or deduction.\" {D} paid nothing after {d2.long}. {P} gave written notice of default and allowed {n} days to cure. Under {cite}, a landlord may recover unpaid rent after such notice.\n\nThe Court held a hearing on the motion for summary judgment. For these reasons the motion for summary judgment is {h}. Judge {J} signed the order.",
            ],
            insights: &[
                "{P} sued {D} on {d1.iso}.",
                "The complaint, filed {d1.dmy}, says that {D} breached the lease.",
                "Unpaid rent of ${amt} is alleged.",
                "{P} asks for attorney fees of ${amt2}.",
                "The lease says the tenant \"shall pay rent on the first day of each month without setoff or deduction.\"",
                "{P} gave notice of default and allowed {n} days to cure.",
                "The motion for summary judgment was {h}.",
                "Judge {J} {h} the motion for summary judgment in Case No. {case}.",
                "The opinion relies on {cite} for the recovery of unpaid rent.",
                "{D} stopped paying after {d2.us}.",
                "{D} was sued by {P} for breach of a commercial lease.",
            ],
        },
        Matter {
            pages: &[
                "POLICE AND DEPOSITION SUMMARY\n\nOn {d1.long}, a truck driven by {D} struck a bicycle ridden by {P} at the corner of Elm Street and Fifth Avenue. {P} suffered a broken wrist and missed {n} weeks of work. Medical bills came to ${amt}.\n\n{D} testified that the light was green. A witness, Nadia Ferro, testified that the light was red.",
                "{P} filed suit in the {ct} on {d2.long}, Case No. {case}. {P} demanded ${amt2} for pain and suffering. The jury found {D} negligent and returned a verdict for {P}. The court {h} the motion for a new trial. See {cite}. In closing, counsel said, \"No driver may enter a crossing until the way is clear.\"",
            ],
            insights: &[
                "A truck driven by {D} hit the bicycle of {P} on {d1.us}.",
                "{P} was out of work for {n} weeks with a broken wrist.",
                "Medical bills amount to ${amt}.",
                "{P} demanded ${amt2} for pain and suffering.",
                "The jury's verdict was for {P}.",
                "The motion for a new trial was {h}.",
                "Suit was filed by {P} on {d2.iso} in the {ct}.",
                "Counsel told the jury that \"no driver may enter a crossing until the way is clear.\"",
                "{D} testified that the light was green.",
                "The court cited {cite} on the motion for a new trial.",
            ],
        },
        Matter {
            pages: &[
                "EMPLOYMENT GRIEVANCE\n\n{D} hired {P} on {d1.long} at a salary of ${amt} per year. The handbook states: \"An employee who has completed probation will be discharged only for good cause.\" {D} terminated {P} on {d2.long} after {n} months of service. {P} did not receive severance pay.",
                "{P} brought this action under {cite} and claims lost wages of ${amt2}. {D} argues that the employment was at will. Judge {J} of the {ct} {h} the motion to dismiss in Case No. {case} and set the matter for trial.",
            ],
            insights: &[
                "{P} was hired by {D} on {d1.dmy} at ${amt} per year.",
                "{D} terminated {P} on {d2.us}.",
                "The handbook promises that an employee \"will be discharged only for good cause.\"",
                "{P} received no severance pay.",
                "Lost wages of ${amt2} are claimed under {cite}.",
                "{D} argues that the employment was at will.",
                "The motion to dismiss was {h} by Judge {J}.",
                "Employment lasted {n} months.",
                "The case number is {case}.",
            ],
        },
    ],
};
