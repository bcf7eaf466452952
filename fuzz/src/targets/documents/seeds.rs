//! Small valid documents of every format, and the words of each format.

use archive_extract::testing::doc::Doc;
use archive_extract::testing::docx::{document, docx, paragraph, zip};
use archive_extract::testing::msg::{Body, Msg, packed};
use archive_extract::testing::pdf::{self, HELVETICA, Pdf};
use archive_extract::testing::{tiff, zlib};

pub(crate) const PDF_WORDS: &[&str] = &[
    " 0 R",
    " 0 obj\n",
    "endobj",
    "stream\n",
    "endstream",
    "xref\n",
    "trailer",
    "startxref\n",
    "<<",
    ">>",
    "[",
    "]",
    "(",
    ")",
    "/Kids",
    "/Parent",
    "/Contents",
    "/Length",
    "/Filter",
    "/FlateDecode",
    "/LZWDecode",
    "/ASCII85Decode",
    "/ASCIIHexDecode",
    "/RunLengthDecode",
    "/DecodeParms",
    "/Predictor 15",
    "/Columns",
    "/ObjStm",
    "/XRef",
    "/W [1 2 1]",
    "/Index",
    "/First",
    "/N",
    "/Prev",
    "/Encrypt",
    "/Font",
    "/ToUnicode",
    "/Differences",
    "/Resources",
    "/XObject",
    "/Subtype /Form",
    "/Type /Page",
    "/Type /Pages",
    "/Widths",
];

pub(crate) const PDF_PAGE_WORDS: &[&str] = &[
    "BT ",
    "ET ",
    " Tj ",
    " TJ ",
    " Td ",
    " TD ",
    " Tm ",
    " T* ",
    " ' ",
    " \" ",
    "/F1 12 Tf ",
    " Tr ",
    " Ts ",
    " Tc ",
    " Tw ",
    " Tz ",
    " TL ",
    " cm ",
    "q ",
    "Q ",
    "/X Do ",
    "BI /W 9 /H 9 ID ",
    " EI ",
    "BMC ",
    "/Span << /ActualText (a) >> BDC ",
    "EMC ",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    "1e30",
    "-0",
    "\\777",
    "\\(",
    "99999999999999999999",
];

pub(crate) const CMAP_WORDS: &[&str] = &[
    "begincodespacerange\n",
    "endcodespacerange\n",
    "beginbfchar\n",
    "endbfchar\n",
    "beginbfrange\n",
    "endbfrange\n",
    "begincidrange\n",
    "endcidrange\n",
    "begincidchar\n",
    "usecmap",
    "<0000>",
    "<FFFF>",
    "<00>",
    "<FF>",
    "<D800DC00>",
    "<D800>",
    "<FFFFFFFF>",
    "[",
    "]",
    "100 ",
];

pub(crate) const WORD_XML_WORDS: &[&str] = &[
    "<w:p>",
    "</w:p>",
    "<w:r>",
    "</w:r>",
    "<w:t>",
    "</w:t>",
    "<w:tab/>",
    "<w:br w:type=\"page\"/>",
    "<w:tbl>",
    "<w:tr>",
    "<w:tc>",
    "</w:tc>",
    "<w:vanish/>",
    "<w:del>",
    "<w:ins>",
    "<w:footnoteReference w:id=\"1\"/>",
    "<w:footnote w:id=\"1\">",
    "</w:footnote>",
    "<mc:AlternateContent>",
    "<mc:Fallback>",
    "<w:txbxContent>",
    "<w:fldChar w:fldCharType=\"begin\"/>",
    "<w:instrText>",
    "<w:sym w:char=\"F0A7\"/>",
    "&amp;",
    "&#x0;",
    "&#1114112;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "&b;",
    "<",
    ">",
];

pub(crate) const RTF_WORDS: &[&str] = &[
    "{",
    "}",
    "\\",
    "\\par ",
    "\\page ",
    "\\u1044?",
    "\\u-1 ",
    "\\uc0 ",
    "\\uc99 ",
    "\\'d1",
    "\\'",
    "\\bin9 ",
    "\\bin-1 ",
    "\\f0 ",
    "\\fcharset204 ",
    "\\ansicpg1251 ",
    "\\ansicpg65001 ",
    "{\\*\\",
    "{\\fonttbl",
    "{\\pict ",
    "\\v ",
    "\\v0 ",
    "\\plain ",
    "\\trowd ",
    "\\cell ",
    "\\row ",
    "{\\footnote ",
    "\\htmlrtf ",
    "\\fromhtml1 ",
    "{\\*\\htmltag ",
    "\\tab ",
    "\\~",
    "\\_",
    "\\-",
    "\u{e5}",
];

pub(crate) const EML_WORDS: &[&str] = &[
    "\r\n",
    "\r\n\r\n",
    "--x",
    "--x--",
    "--x\r\n",
    "Content-Type: ",
    "multipart/mixed; boundary=",
    "multipart/alternative",
    "message/rfc822",
    "text/html; charset=koi8-r",
    "text/plain; charset=utf-7",
    "application/octet-stream; name=\"a.eml\"",
    "Content-Transfer-Encoding: base64",
    "quoted-printable",
    "=?utf-8?B?",
    "=?koi8-r?Q?",
    "?=",
    "=C3=A9",
    "=\r\n",
    "Subject: ",
    "From: ",
    "Date: ",
    "filename*0*=utf-8''%D0",
    "<p>",
    "</p>",
    "<br>",
    "&nbsp;",
    "&#0;",
    "<style>",
    "<!--",
    "begin 644 a.txt",
];

pub(crate) fn pdfs() -> Vec<Vec<u8>> {
    let drawn = pdf::lines("one\ntwo (three)");
    let resources = HELVETICA.replace(
        "/Encoding /WinAnsiEncoding",
        "/Encoding << /Differences [65 /B /uni0416 /g7] >> /FirstChar 32 /Widths [250 333]",
    );
    let mut all = vec![
        pdf::text(&["first page", "second page"]),
        pdf::pages(
            &[drawn.clone(), b"BT /F1 9 Tf [(a) -9 <41>] TJ ET".to_vec()],
            &resources,
            false,
        ),
        compressed_objects(),
        filters(&drawn),
    ];
    for file in [
        &include_bytes!("../../../../crates/archive-extract/tests/it/encrypted/rc4-40.pdf")[..],
        include_bytes!("../../../../crates/archive-extract/tests/it/encrypted/aes-128.pdf"),
        include_bytes!("../../../../crates/archive-extract/tests/it/encrypted/aes-256-r6.pdf"),
    ] {
        all.push(file.to_vec());
    }
    all
}

/// The objects in an object stream, the table in a stream of its own; neither is compressed.
fn compressed_objects() -> Vec<u8> {
    let objects = [
        (1, "<< /Type /Catalog /Pages 2 0 R >>".to_owned()),
        (2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned()),
        (
            3,
            format!("<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << {HELVETICA} >> >>"),
        ),
    ];
    let (mut table, mut bodies) = (String::new(), String::new());
    for (number, body) in &objects {
        table.push_str(&format!("{number} {} ", bodies.len()));
        bodies.push_str(&format!("{body} "));
    }
    let mut file = b"%PDF-1.5\n".to_vec();
    let at_objects = file.len() as u16;
    let stream = format!("{table}{bodies}");
    file.extend(format!("4 0 obj\n<< /Type /ObjStm /N 3 /First {} /Length {} >>\nstream\n{stream}\nendstream\nendobj\n", table.len(), stream.len()).bytes());
    let at_content = file.len() as u16;
    let content = pdf::lines("packed");
    file.extend(format!("5 0 obj\n<< /Length {} >>\nstream\n", content.len()).bytes());
    file.extend(content);
    file.extend(b"\nendstream\nendobj\n");
    let at_table = file.len() as u16;
    let mut rows = vec![0, 0, 0, 0];
    for index in 0..3 {
        rows.extend([2, 0, 4, index]);
    }
    for place in [at_objects, at_content, at_table] {
        rows.push(1);
        rows.extend(place.to_be_bytes());
        rows.push(0);
    }
    file.extend(
        format!(
            "6 0 obj\n<< /Type /XRef /Size 7 /W [1 2 1] /Root 1 0 R /Length {} >>\nstream\n",
            rows.len()
        )
        .bytes(),
    );
    file.extend(rows);
    file.extend(format!("\nendstream\nendobj\nstartxref\n{at_table}\n%%EOF\n").bytes());
    file
}

/// The content of each page behind another filter.
fn filters(drawn: &[u8]) -> Vec<u8> {
    let hexadecimal: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut run_length = Vec::new();
    for chunk in drawn.chunks(100) {
        run_length.push(chunk.len() as u8 - 1);
        run_length.extend(chunk);
    }
    run_length.push(128);
    let mut rows = Vec::new();
    for row in drawn.chunks(10) {
        rows.push(0);
        rows.extend(row);
        rows.resize(rows.len().next_multiple_of(11), b' ');
    }
    let mut file = Pdf::default();
    let streams = [
        file.stream("/Filter /ASCIIHexDecode", format!("{hexadecimal}>").as_bytes()),
        file.stream("/Filter /RunLengthDecode", &run_length),
        file.stream(
            "/Filter [/FlateDecode] /DecodeParms << /Predictor 15 /Columns 10 >>",
            &zlib(&rows),
        ),
        file.stream("/Filter /ASCII85Decode", b"9jqo^BlbD-BleB1DJ+*+F(f,q~>"),
        file.stream("/Filter /LZWDecode", &[0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01]),
    ];
    let tree = file.objects.len() + streams.len() + 1;
    let kids: Vec<String> = streams
        .iter()
        .map(|it| {
            format!(
                "{} 0 R",
                file.add(format!("<< /Type /Page /Parent {tree} 0 R /Contents {it} 0 R >>"))
            )
        })
        .collect();
    file.add(format!(
        "<< /Type /Pages /Kids [{}] /Count 5 /Resources << {HELVETICA} >> >>",
        kids.join(" ")
    ));
    let root = file.add(format!("<< /Type /Catalog /Pages {tree} 0 R >>"));
    file.finish(root, "/Info << /Title (A title) /Author <FEFF0041> >>")
}

pub(crate) fn pdf_pages() -> Vec<Vec<u8>> {
    vec![
        pdf::lines("one\ntwo (three)\nfour"),
        b"q 1 0 0 1 72 720 cm BT /F1 12 Tf 1 0 0 1 0 0 Tm [(Hel) -250 (lo) 120 <776F>] TJ 0 -14 Td (next) ' 1 2 (third) \" ET Q /X Do".to_vec(),
        b"BT /F1 9 Tf 3 Tr (hidden) Tj 0 Tr 5 Ts (2) Tj 0 Ts /Span << /ActualText (fi) >> BDC (x) Tj EMC ET BI /W 1 /H 1 /BPC 8 ID \xff EI".to_vec(),
    ]
}

pub(crate) fn pdf_cmaps() -> Vec<Vec<u8>> {
    vec![
        b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n2 beginbfchar\n<0001> <0041>\n<0002> <00660069>\nendbfchar\n2 beginbfrange\n<0041> <005A> <0410>\n<0061> <0063> [<0430> <0431> <D83DDE00>]\nendbfrange\nendcmap end".to_vec(),
        b"1 begincodespacerange <00> <FF> endcodespacerange 1 begincidrange <01> <20> 5 endcidrange 1 begincidchar <41> 9 endcidchar /Identity-H usecmap".to_vec(),
    ]
}

fn word_bodies() -> [String; 2] {
    [
        format!("{}<w:p><w:r><w:br w:type=\"page\"/><w:footnoteReference w:id=\"1\"/></w:r></w:p>", paragraph("one &amp; two")),
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p><w:del><w:r><w:delText>c</w:delText></w:r></w:del><w:r><w:tab/><w:sym w:char=\"F0A7\"/></w:r></w:p>".to_owned(),
    ]
}

pub(crate) fn docx_files() -> Vec<Vec<u8>> {
    let notes = "<w:footnotes><w:footnote w:id=\"1\"><w:p><w:r><w:t>n</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let [first, second] = word_bodies();
    vec![
        docx(
            &first,
            &[
                ("word/footnotes.xml", notes),
                ("docProps/core.xml", "<a><dc:title>T</dc:title></a>"),
            ],
        ),
        zip(&[("word/document.xml", document(&second).as_bytes())]),
    ]
}

pub(crate) fn docx_bodies() -> Vec<Vec<u8>> {
    let mut all = word_bodies().map(|body| document(&body).into_bytes()).to_vec();
    all.push(b"<w:footnotes xmlns:w=\"w\"><w:footnote w:id=\"1\"><w:p><w:r><w:t>n</w:t></w:r></w:p></w:footnote></w:footnotes>".to_vec());
    all
}

pub(crate) fn docs() -> Vec<Vec<u8>> {
    let first = Doc {
        body: "one\u{c}two \u{13}F\u{14}r\u{15}\r".to_owned(),
        notes: vec![(1, "note".to_owned())],
        hidden: Some((0, 2)),
        ..Doc::default()
    };
    let second = Doc {
        body: "narrow\r".to_owned(),
        narrow: true,
        margins: "m".to_owned(),
        ..Doc::default()
    };
    vec![first.finish(), second.finish()]
}

pub(crate) fn msgs() -> Vec<Vec<u8>> {
    let message = Msg {
        subject: "s",
        sender: "a",
        recipients: vec![(1, "r")],
        body: Body::Rich("{\\rtf1 x\\par y}"),
        sent: 133_000_000_000_000_000,
        files: vec![("a.txt", b"text".to_vec())],
        messages: vec![Msg { body: Body::Html("<p>a&nbsp;b</p>"), ..Msg::default() }],
    };
    let narrow = Msg { body: Body::Narrow(1251, vec![0xd1, 0xe0]), ..Msg::default() };
    vec![message.finish(), narrow.finish()]
}

pub(crate) fn msg_bodies() -> Vec<Vec<u8>> {
    // Ten literals, then a reference to four bytes of the dictionary and the end.
    let referring = b"\x1d\0\0\0\x40\0\0\0LZFu\0\0\0\0\x02{\x00\x02rtf1 x\x82\xd7\x02\x0c\xf0";
    let html = "{\\rtf1\\ansi\\fromhtml1{\\*\\htmltag84 <p>}\\htmlrtf \\par\\htmlrtf0 a{\\*\\htmltag92 </p>}}";
    vec![packed("{\\rtf1 x\\par y}"), packed(html), referring.to_vec()]
}

pub(crate) fn rtfs() -> Vec<Vec<u8>> {
    vec![
        b"{\\rtf1\\ansicpg1251{\\fonttbl{\\f0\\fcharset204 A;}}\\f0\\'d1\\u1044?\\par\\page{\\v h}}".to_vec(),
        b"{\\rtf1\\ansi{\\info{\\title T}}{\\*\\generator x}\\trowd\\intbl a\\cell b\\cell\\row{\\footnote n}{\\pict\\bin3 abc}\\uc2\\u8217 ??\\tab\\~}".to_vec(),
    ]
}

pub(crate) fn emls() -> Vec<Vec<u8>> {
    vec![
        b"From: a@b\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nt\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nFrom: q\r\n\r\nz\r\n--x--".to_vec(),
        b"From: =?utf-8?B?0JA=?= <a@b>\r\nSubject: =?koi8-r?Q?=C1?=\r\nDate: Mon, 1 Jan 2024 10:00:00 +0300\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>caf=C3=A9<br>&amp; more</p>\r\n".to_vec(),
        b"From: a@b\r\nContent-Type: multipart/mixed; boundary=\"x\"\r\n\r\n--x\r\nContent-Type: application/rtf; name=\"a.rtf\"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename*0*=utf-8''%D0%B0; filename*1=.rtf\r\n\r\ne1xydGYxIHh9\r\n--x--\r\n".to_vec(),
    ]
}

pub(crate) fn texts() -> Vec<Vec<u8>> {
    vec![
        "один\u{c}two\r\nthree".as_bytes().to_vec(),
        b"\xff\xfea\0b\0\x0c\0".to_vec(),
        b"\xef\xbb\xbfbom".to_vec(),
        vec![0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, b' ', 0xec, 0xe8, 0xf0],
    ]
}

pub(crate) fn pictures() -> Vec<Vec<u8>> {
    vec![
        tiff(3),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\0\0\0\0\0\0\0\0IEND\0\0\0\0".to_vec(),
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xd9".to_vec(),
    ]
}

/// Every format, for the target that detects the format.
pub(crate) fn files() -> Vec<Vec<u8>> {
    let all: [fn() -> Vec<Vec<u8>>; 8] =
        [pdfs, docx_files, docs, msgs, rtfs, emls, texts, pictures];
    all.into_iter().flat_map(|seeds| seeds()).collect()
}
