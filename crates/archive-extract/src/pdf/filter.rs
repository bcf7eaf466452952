//! Stream filters: what text streams use is decoded, what pictures use is named and left.

use super::file::PdfFile;
use super::object::{Dict, Object};
use crate::zip::inflate;

/// Decoded data, and the picture filter left over with its parameters, if there is one.
pub(super) struct Decoded {
    pub(super) data: Vec<u8>,
    pub(super) picture: Option<(String, Dict)>,
}

pub(super) fn decode(file: &PdfFile<'_>, dict: &Dict, data: &[u8], max: usize) -> Decoded {
    let mut data = data.to_vec();
    let filters = list(file, dict.get("Filter").or_else(|| dict.get("F")));
    let parameters = list(file, dict.get("DecodeParms").or_else(|| dict.get("DP")));
    for (at, filter) in filters.iter().take(8).enumerate() {
        let parameters = parameters.get(at).and_then(Object::dict).cloned().unwrap_or_default();
        let name = filter.name().unwrap_or_default();
        data = match name {
            "FlateDecode" | "Fl" => predict(file, inflate_any(&data, max), &parameters),
            "LZWDecode" | "LZW" => {
                let early = file.number(&parameters, "EarlyChange") != Some(0.0);
                predict(file, lzw(&data, early, max), &parameters)
            }
            "ASCIIHexDecode" | "AHx" => ascii_hex(&data),
            "ASCII85Decode" | "A85" => ascii_85(&data, max),
            "RunLengthDecode" | "RL" => run_length(&data, max),
            "Crypt" => data,
            other => return Decoded { data, picture: Some((other.to_owned(), parameters)) },
        };
    }
    Decoded { data, picture: None }
}

fn list(file: &PdfFile<'_>, object: Option<&Object>) -> Vec<Object> {
    match object.map(|it| file.resolve(it)).as_deref() {
        Some(Object::Array(items)) => {
            items.iter().take(8).map(|it| (*file.resolve(it)).clone()).collect()
        }
        Some(Object::Null) | None => Vec::new(),
        Some(one) => vec![one.clone()],
    }
}

/// Some writers damage the header of a stream whose body is sound.
fn inflate_any(data: &[u8], max: usize) -> Vec<u8> {
    let (out, _) = inflate(data, true, max);
    if out.is_empty() && data.len() > 2 { inflate(&data[2..], false, max).0 } else { out }
}

fn ascii_hex(data: &[u8]) -> Vec<u8> {
    let end = data.iter().position(|it| *it == b'>').unwrap_or(data.len());
    let digits: Vec<u8> = data[..end]
        .iter()
        .filter_map(|it| (*it as char).to_digit(16))
        .map(|it| (it & 0xf) as u8)
        .collect();
    digits.chunks(2).map(|it| it[0] << 4 | it.get(1).unwrap_or(&0)).collect()
}

fn ascii_85(data: &[u8], max: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut group: Vec<u8> = Vec::with_capacity(5);
    for byte in data.strip_prefix(b"<~").unwrap_or(data).iter().copied() {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => out.extend([0; 4]),
            b'!'..=b'u' => group.push(byte - b'!'),
            _ => {}
        }
        if group.len() == 5 {
            out.extend(four(&group));
            group.clear();
        }
        if out.len() >= max {
            break;
        }
    }
    if group.len() > 1 {
        let keep = group.len() - 1;
        group.resize(5, 84);
        out.extend(&four(&group)[..keep]);
    }
    out
}

fn four(group: &[u8]) -> [u8; 4] {
    let fold = |sum: u32, digit: &u8| sum.wrapping_mul(85).wrapping_add(u32::from(*digit));
    group.iter().fold(0_u32, fold).to_be_bytes()
}

fn run_length(data: &[u8], max: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(length) = data.get(at).copied() {
        at += 1;
        match length {
            0..=127 => {
                let end = (at + usize::from(length) + 1).min(data.len());
                out.extend(&data[at..end]);
                at = end;
            }
            128 => break,
            129.. => {
                let Some(byte) = data.get(at) else { break };
                out.extend(std::iter::repeat_n(*byte, 257 - usize::from(length)));
                at += 1;
            }
        }
        if out.len() >= max {
            break;
        }
    }
    out
}

fn lzw(data: &[u8], early: bool, max: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    // Each entry is where in `out` it was written, and how long it is.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let mut previous: Option<(usize, usize)> = None;
    let (mut width, mut buffer, mut bits) = (9_u32, 0_u32, 0_u32);
    for byte in data {
        buffer = buffer << 8 | u32::from(*byte);
        bits += 8;
        if bits < width {
            continue;
        }
        bits -= width;
        let code = (buffer >> bits & ((1 << width) - 1)) as usize;
        buffer &= (1 << bits) - 1;
        match code {
            256 => {
                table.clear();
                previous = None;
                width = 9;
                continue;
            }
            257 => break,
            _ => {}
        }
        let start = out.len();
        match (code, previous) {
            (0..=255, _) => out.push((code & 0xff) as u8),
            (_, Some((from, length))) if code - 258 == table.len() => {
                out.extend_from_within(from..from + length);
                out.push(out[start]);
            }
            _ => match table.get(code - 258).copied() {
                Some((from, length)) => out.extend_from_within(from..from + length),
                None => break,
            },
        }
        if let Some((from, length)) = previous {
            // The entry before this one, and the first byte written now, stand side by side.
            table.push((from, length + 1));
        }
        previous = Some((start, out.len() - start));
        width = match table.len() + 258 + usize::from(early) {
            0..=511 => 9,
            512..=1_023 => 10,
            1_024..=2_047 => 11,
            _ => 12,
        };
        if out.len() >= max || table.len() > 4_096 {
            break;
        }
    }
    out
}

fn predict(file: &PdfFile<'_>, data: Vec<u8>, parameters: &Dict) -> Vec<u8> {
    let value = |key: &str, default: usize| {
        let found = file.get(parameters, key).and_then(|it| it.count());
        found.unwrap_or(default).clamp(1, 1 << 20)
    };
    let predictor = value("Predictor", 1);
    let colors = value("Colors", 1).min(64);
    let depth = value("BitsPerComponent", 8).min(16);
    let row = (value("Columns", 1) * colors * depth).div_ceil(8);
    let pixel = (colors * depth).div_ceil(8);
    match predictor {
        1 => data,
        2 if depth == 8 => {
            let mut data = data;
            for line in data.chunks_mut(row) {
                for at in pixel..line.len() {
                    line[at] = line[at].wrapping_add(line[at - pixel]);
                }
            }
            data
        }
        2 => data,
        _ => png(&data, row, pixel),
    }
}

fn png(data: &[u8], row: usize, pixel: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(data.len());
    let mut above = vec![0_u8; row];
    for line in data.chunks(row + 1) {
        let Some((kind, line)) = line.split_first() else { break };
        let mut now = vec![0_u8; row];
        for (at, raw) in line.iter().enumerate() {
            let left = if at >= pixel { now[at - pixel] } else { 0 };
            let corner = if at >= pixel { above[at - pixel] } else { 0 };
            let up = above[at];
            let guess = match kind {
                1 => left,
                2 => up,
                3 => u16::midpoint(left.into(), up.into()).to_le_bytes()[0],
                4 => paeth(left, up, corner),
                _ => 0,
            };
            now[at] = raw.wrapping_add(guess);
        }
        out.extend(&now[..line.len()]);
        above = now;
    }
    out
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(up), i16::from(corner));
    let guess = a + b - c;
    let (to_a, to_b, to_c) = ((guess - a).abs(), (guess - b).abs(), (guess - c).abs());
    if to_a <= to_b && to_a <= to_c {
        left
    } else if to_b <= to_c {
        up
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_examples_decode() {
        assert_eq!(ascii_85(b"87cURD_*#TDfTZ)~>", 100), b"Hello, world");
        assert_eq!(ascii_hex(b"48 65 6c6C6f>"), b"Hello");
        assert_eq!(run_length(&[2, b'a', b'b', b'c', 254, b'x', 128], 100), b"abcxxx");
        // The example of the PDF reference.
        let packed = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
        assert_eq!(lzw(&packed, true, 100), [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
    }
}
