//! Turns an image without compression by half a turn. Other images are left to Tesseract.

/// The image upside down; `None` unless it is a whole portable bitmap, grey map or colour map of 8
/// bits (`P4`, `P5`, `P6`).
pub(super) fn half_turn(image: &[u8]) -> Option<Vec<u8>> {
    let mut at = 2;
    let kind = *image.strip_prefix(b"P")?.first()?;
    let width = number(image, &mut at)?;
    let height = number(image, &mut at)?;
    if kind != b'4' && number(image, &mut at)? != 255 {
        return None;
    }
    // One blank ends the header.
    let (header, pixels) = image.split_at_checked(at + 1)?;
    let row = match kind {
        b'4' => width.div_ceil(8),
        b'5' => width,
        b'6' => width.checked_mul(3)?,
        _ => return None,
    };
    let pixels = pixels.get(..row.checked_mul(height)?).filter(|it| !it.is_empty())?;
    let mut turned = header.to_vec();
    turned.reserve(pixels.len());
    for line in pixels.chunks(row).rev() {
        match kind {
            b'4' => turned.extend(reversed_bits(line, width)),
            b'5' => turned.extend(line.iter().rev()),
            _ => turned.extend(line.chunks(3).rev().flatten()),
        }
    }
    Some(turned)
}

/// The next number of the header, after blanks. Comments are not written by the tools used here.
fn number(image: &[u8], at: &mut usize) -> Option<usize> {
    while image.get(*at)?.is_ascii_whitespace() {
        *at += 1;
    }
    let digits = image[*at..].iter().take_while(|it| it.is_ascii_digit()).count();
    let digits = &image[*at..*at + digits.min(9)];
    *at += digits.len();
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The bits of a line in reverse order; the padding stays at its end.
fn reversed_bits(line: &[u8], width: usize) -> Vec<u8> {
    let mut turned = vec![0_u8; line.len()];
    for bit in 0..width {
        let from = width - 1 - bit;
        let is_set = line[from / 8] >> (7 - from % 8) & 1;
        turned[bit / 8] |= is_set << (7 - bit % 8);
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(image: &[u8], turned: Option<&[u8]>) {
        assert_eq!(half_turn(image).as_deref(), turned);
    }

    #[test]
    fn images_without_compression_turn() {
        check(b"P5\n2 2\n255\nabcd", Some(b"P5\n2 2\n255\ndcba"));
        check(b"P6\n2 1\n255\nrgbRGB", Some(b"P6\n2 1\n255\nRGBrgb"));
        check(b"P4\n3 2\n\x80\xc0", Some(b"P4\n3 2\n\x60\x20"));
        check(b"P4\n9 1\n\x01\x80", Some(b"P4\n9 1\n\xc0\x00"));
    }

    #[test]
    fn other_bytes_do_not() {
        for image in
            [b"\xff\xd8\xff".as_slice(), b"", b"P", b"P5", b"P5\n2 2\n255\nabc", b"P5\n0 0\n255\n"]
        {
            check(image, None);
        }
        check(b"P5\n99999999999 99999999999\n255\nx", None);
        check(b"P5\n2 2\n65535\nabcdabcd", None);
    }
}
