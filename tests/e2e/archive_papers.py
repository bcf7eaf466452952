"""A small matter as files of several types, made with the standard library alone."""

import base64
import io
import zipfile
import zlib

# What the papers say, so that what is found in them can be held against it.
DOCKET = "24-104518-CK"
PLAINTIFF = "Ada Harlow"
DEFENDANT = "Pike Manufacturing Co."
JUDGE = "Esther Tolliver"
AUTHORITIES = ["Nolan v. Corbin, 410 Mich. 812", "Dunn v. Bauer, 512 F.3d 77"]
PRICE = "$48,500.00"

PAGES = [
    f"""STATE OF MICHIGAN
IN THE CIRCUIT COURT FOR THE COUNTY OF WAYNE

ADA HARLOW,
    Plaintiff,
v.
PIKE MANUFACTURING CO.,
    Defendant.

Case No. {DOCKET}
Hon. {JUDGE}

BRIEF IN SUPPORT OF MOTION FOR SUMMARY DISPOSITION
""",
    f"""On March 4, 2024, {PLAINTIFF} filed a complaint against {DEFENDANT}
for breach of a written contract. The contract price was {PRICE}.
{DEFENDANT} delivered two of the six presses on January 15, 2024.
The complaint was served on March 11, 2024.
The answer is due within 21 days of service.
""",
    f"""A party that accepts part of the goods must pay for that part.
{AUTHORITIES[0]} (1981). Notice of a defect must be given in time.
{AUTHORITIES[1]}, 81 (6th Cir. 2008). Id. at 82.

Respectfully submitted,

/s/ Greta Yates
Greta Yates (P54321)
Attorney for Plaintiff

Dated: April 22, 2024
""",
]

# What somebody might say of them, and what nobody should.
FAITHFUL = {
    "title": "The complaint and the price",
    "content": "Ada Harlow filed a complaint on March 4, 2024. The contract price was $48,500.00.",
    "sourceLLM": "claude-3-5-sonnet",
    "tags": ["pleadings", "contract"],
    "confidence": 0.9,
    "pageNumber": 2,
}
CORRUPTED = {
    **FAITHFUL,
    "title": "The complaint and the price, told wrongly",
    "content": "Ada Harlow filed a complaint on March 4, 2022. The contract price was $84,500.00.",
    "sourceLLM": "gpt-4",
    "tags": ["pleadings"],
    "confidence": 0.4,
}


def plain(pages=PAGES):
    return "\f".join(pages).encode()


def pdf(pages=PAGES, trailer=""):
    """Pages of lines in a standard font, packed as real files are."""
    count = len(pages)
    kids = " ".join(f"{4 + at * 2} 0 R" for at in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, page in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + at * 2} 0 R "
            f"/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        packed = zlib.compress(drawn(page))
        head = f"<< /Filter /FlateDecode /Length {len(packed)} >>\nstream\n".encode()
        objects.append(head + packed + b"\nendstream")
    out = io.BytesIO(b"")
    out.write(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    at, size = out.tell(), len(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for place in places:
        out.write(b"%010d 00000 n \n" % place)
    tail = f"trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{at}\n%%EOF\n"
    out.write(tail.encode())
    return out.getvalue()


def drawn(page):
    rows = []
    for line in page.splitlines():
        escaped = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
        rows.append(f"({escaped}) Tj T*")
    return ("BT /F1 11 Tf 14 TL 72 730 Td\n" + "\n".join(rows) + "\nET\n").encode()


def locked_pdf():
    """A file whose password nobody knows: its check is not that of the empty one."""
    owner, user = "6f" * 32, "75" * 32
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{owner}> /U <{user}> /P -4 >>"
    return pdf(trailer=f"{lock} /ID [<{'1d' * 16}> <{'1d' * 16}>]")


def broken_pdf():
    """It begins as one and holds nothing that can be read."""
    return b"%PDF-1.4\n" + b"this is not the inside of any document " * 40


def docx(pages=PAGES):
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    lines = "\n".join(pages).replace("&", "&amp;").replace("<", "&lt;").splitlines()
    body = "".join(
        f'<w:p><w:r><w:t xml:space="preserve">{line}</w:t></w:r></w:p>' for line in lines
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" '
        f'Type="{office}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>',
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            package.writestr(name, text)
    return out.getvalue()


def eml():
    """A letter with the brief attached as a PDF."""
    attached = base64.encodebytes(pdf()).decode().replace("\n", "\r\n")
    return (
        "From: Greta Yates <greta@example.org>\r\nTo: Ada Harlow <ada@example.org>\r\n"
        "Subject: Our brief\r\nDate: Mon, 22 Apr 2024 10:15:00 +0000\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/mixed; boundary="part"\r\n\r\n'
        "--part\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
        "The hearing is on May 6, 2024. The brief is attached.\r\n"
        "--part\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n"
        'Content-Disposition: attachment; filename="brief.pdf"\r\n\r\n'
        f"{attached}\r\n--part--\r\n"
    ).encode()
