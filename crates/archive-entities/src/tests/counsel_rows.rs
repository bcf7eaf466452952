//! Blocks of lawyers in the forms of many courts, with invented names.

use archive_text::PageText;

use crate::{Role, read};

#[track_caller]
fn attorneys(text: &str, expected: &[&str]) {
    let pages = [PageText { number: 1, part: "", text }];
    let facts = read(&pages);
    let mut found: Vec<&str> = facts.with_role(Role::Attorney).map(|it| it.name.as_str()).collect();
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn lawyers_stand_above_the_side_that_they_speak_for() {
    attorneys(
        "MARA T. QUILL (SBN 214455)\nmquill@quillstone.example\nDEREK OSTROW (SBN 301877)\nQUILL STONE \
         LLP\n400 Harbor Street, Suite 900\nOakland, CA 94607\nTelephone: (510) 555-0199\n\nAttorneys \
         for Plaintiff\nHARBOR FOODS, INC.\n\nSUPERIOR COURT OF THE STATE OF CALIFORNIA\n",
        &["MARA T. QUILL", "DEREK OSTROW"],
    );
    attorneys(
        "Respectfully submitted,\n\n/s/ Priya Venn\nPriya Venn\nLena Ashdown (admitted pro hac vice)\n\
         VENN & ASHDOWN PLLC\n12 Mill Road\nAustin, Texas 78701\npvenn@vennashdown.example\n\nCounsel for \
         Defendants Ridge Oil Co. and Thomas Keel\n",
        &["Priya Venn", "Lena Ashdown"],
    );
    attorneys(
        "By: _______________________\nGrant Mallory\nTexas Bar No. 24099871\nMALLORY LAW FIRM, P.C.\n900 \
         Elm Avenue\nDallas, Texas 75201\n(214) 555-0142\nATTORNEY FOR PETITIONER\n",
        &["Grant Mallory"],
    );
}

#[test]
fn lawyers_of_governments_have_their_office_below() {
    attorneys(
        "Respectfully submitted,\n\nHELEN R. STROUD\nUnited States Attorney\n\nBy: /s/ Paul D. Whitlow\n\
         PAUL D. WHITLOW\nAssistant United States Attorney\nOhio Bar No. 0087123\n200 Second Street\n\
         Dayton, Ohio 45402\n",
        &["HELEN R. STROUD", "Paul D. Whitlow"],
    );
    attorneys(
        "CARLA J. BENOIT\nActing Assistant Attorney General\n\nOWEN FARRIS\nAssistant Branch \
         Director\n\n/s/ Judith Marlow\nJUDITH MARLOW\nTrial Attorney\nU.S. Department of Justice\n\
         Civil Division, Federal Programs Branch\n1100 L Street, N.W.\nWashington, D.C. 20005\nCounsel \
         for Defendants\n",
        &["CARLA J. BENOIT", "OWEN FARRIS", "Judith Marlow"],
    );
}

#[test]
fn lists_name_the_side_above_the_lawyers() {
    attorneys(
        "APPEARANCES:\n\nFor the Plaintiff:\nMr. Walter Nunn\nNunn & Pike LLP\n55 State Street\nAlbany, NY \
         12207\n\nFor the Defendant:\nMs. Rosa Idlewild\nOffice of the Public Defender\n8 Court Square\n",
        &["Walter Nunn", "Rosa Idlewild"],
    );
    attorneys(
        "CERTIFICATE OF SERVICE\n\nI certify that a copy was served on May 3, 2021 upon:\n\nJoan Tiller, \
         Esq.\nTiller Legal Group\n77 Bay Road\nPortland, ME 04101\njtiller@tillerlegal.example\nCounsel for \
         Appellee\n\nRobert Sand\n19 Pine Lane\nBangor, ME 04401\nDefendant, pro se\n",
        &["Joan Tiller"],
    );
}

#[test]
fn two_columns_of_signatures_are_read_apart() {
    attorneys(
        "/s/ Nora Pell                              /s/ Victor Lindqvist\nNora Pell                      \
         Victor Lindqvist\nPELL & WEST LLP                          LINDQVIST LAW OFFICE\n10 First \
         Street                          20 Oak Avenue\nBoston, MA 02110                         \
         Salem, MA 01970\nCounsel for Plaintiff                    Counsel for Defendant\n",
        &["Nora Pell", "Victor Lindqvist"],
    );
}

#[test]
fn officers_judges_and_parties_are_no_lawyers() {
    attorneys(
        "IT IS SO ORDERED.\n\n/s/ Mary L. Crane\nMary L. Crane\nUnited States District Judge\n",
        &[],
    );
    attorneys(
        "ACME TOOLS, INC.\n\nBy: /s/ Henry Volk\nName: Henry Volk\nTitle: Chief Executive Officer\n",
        &[],
    );
    attorneys(
        "Respectfully submitted,\n\n/s/ Dana Frost\nDana Frost\n14 Hill Street\nTroy, NY 12180\n(518) \
         555-0110\nPlaintiff Pro Se\n",
        &[],
    );
    attorneys(
        "Attn: Laura Finch\nFinch Industries, Inc.\n300 Market Street\nDenver, CO 80202\nPhone: (303) \
         555-0144\n",
        &[],
    );
}

#[test]
fn russian_representatives_are_attorneys() {
    attorneys(
        "с участием представителя истца Сомкова Ильи Петровича по доверенности от 12.01.2023, представителя ответчика \
         – адвоката Седовой М.А. по ордеру,",
        &["Сомков Илья Петрович", "Седова М.А."],
    );
    attorneys(
        "при участии в заседании:\nот истца – Лаптев Д.С., доверенность от 01.02.2024;\nот ответчика – не \
         явился, извещен.",
        &["Лаптев Д.С."],
    );
    attorneys(
        "ООО «Вектор» в лице представителя Громовой Анны Сергеевны, действующей на основании доверенности,",
        &["Громова Анна Сергеевна"],
    );
}
