//! Compresses answers over 64 KiB in the CPU pool, because the worker that sends an answer could
//! serve no other request meanwhile. Smaller answers are compressed on their way out.

use std::io::Write as _;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use contract::{CpuPool, POOLED_VALUES_MIN};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, VARY,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::Body as _;

use crate::answer_memory::UNCOUNTED_BYTES;
use crate::socket_handoff::LongLived;

/// Marks a large answer that is sent uncompressed, because the CPU pool is full.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentUncompressed;

/// Whether the client reads gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|it| it.to_str().ok());
    let mut encodings = texts.flat_map(|text| text.split(',')).map(|encoding| {
        let (name, weight) = encoding.split_once(';').unwrap_or((encoding, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::trim);
        let is_refused = weight.is_some_and(|it| it.parse::<f32>().is_ok_and(|it| it <= 0.0));
        (name.trim(), !is_refused)
    });
    encodings.any(|(name, is_allowed)| name.eq_ignore_ascii_case("gzip") && is_allowed)
}

/// Compresses an answer over 64 KiB for a client that reads gzip. Files and live streams are left
/// as they are.
pub(crate) async fn compress(response: Response, accepts_gzip: bool, pool: &CpuPool) -> Response {
    let is_large =
        response.body().size_hint().exact().is_some_and(|it| it > UNCOUNTED_BYTES as u64);
    let headers = response.headers();
    let is_file =
        headers.contains_key(CONTENT_DISPOSITION) || headers.contains_key(CONTENT_ENCODING);
    let is_stream = response.extensions().get::<LongLived>().is_some();
    if !accepts_gzip || !is_large || is_file || is_stream {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        // The bytes are in memory, so they can be read; an error here has no cause to report.
        parts.status = StatusCode::INTERNAL_SERVER_ERROR;
        return Response::from_parts(parts, Body::empty());
    };
    let plain = bytes.clone();
    match pool.write(POOLED_VALUES_MIN, move || gzip(&bytes)).await.ok().flatten() {
        Some(compressed) => {
            let headers = &mut parts.headers;
            headers.remove(CONTENT_LENGTH);
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            if !headers.contains_key(ETAG) {
                headers.append(VARY, HeaderValue::from_static("accept-encoding"));
            }
            Response::from_parts(parts, Body::from(compressed))
        }
        None => {
            parts.extensions.insert(SentUncompressed);
            Response::from_parts(parts, Body::from(plain))
        }
    }
}

fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::response::IntoResponse as _;
    use futures_util::FutureExt as _;

    use super::*;

    const LARGE: usize = UNCOUNTED_BYTES + 1;

    fn answer(bytes: usize) -> Response {
        (0..bytes).map(|at| at as u8).collect::<Vec<u8>>().into_response()
    }

    async fn body(response: Response) -> Bytes {
        axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap()
    }

    #[track_caller]
    fn check(accept: &[&str], expected: bool) {
        let value = |it: &&str| (ACCEPT_ENCODING, it.parse().unwrap());
        let headers: HeaderMap = accept.iter().map(value).collect();
        assert_eq!(accepts_gzip(&headers), expected, "{accept:?}");
    }

    #[test]
    fn gzip_is_used_if_the_client_names_it() {
        check(&[], false);
        check(&["br, deflate"], false);
        check(&["gzip"], true);
        check(&["br;q=1.0, GZip;q=0.5"], true);
        check(&["gzip;q=0"], false);
        check(&["gzip; q=0.0, br"], false);
        check(&["br", "gzip"], true);
    }

    #[tokio::test]
    async fn a_large_answer_is_compressed_and_others_are_left() {
        let pool = CpuPool::new(1);
        let compressed = compress(answer(LARGE), true, &pool).await;
        assert_eq!(compressed.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(compressed.headers()[VARY], "accept-encoding");
        let bytes = body(compressed).await;
        assert!(bytes.len() < LARGE / 2, "{}", bytes.len());
        let mut read = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut read).unwrap();
        assert_eq!(read, body(answer(LARGE)).await);
        let mut file = answer(LARGE);
        file.headers_mut().insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
        let left = [(answer(LARGE - 1), true), (answer(LARGE), false), (file, true)];
        for (response, accepts) in left {
            let length = response.body().size_hint().exact();
            let same = compress(response, accepts, &pool).await;
            assert!(!same.headers().contains_key(CONTENT_ENCODING));
            assert_eq!(same.body().size_hint().exact(), length);
        }
    }

    #[tokio::test]
    async fn an_answer_is_sent_as_it_is_if_the_pool_is_full() {
        let pool = CpuPool::new(1);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let mut busy = Box::pin(pool.write(POOLED_VALUES_MIN, move || held.recv().is_ok()));
        assert!((&mut busy).now_or_never().is_none());
        let mut waiting: Vec<_> =
            (0..64).map(|_| Box::pin(compress(answer(LARGE), true, &pool))).collect();
        for one in &mut waiting {
            assert!(one.now_or_never().is_none());
        }
        let plain = compress(answer(LARGE), true, &pool).await;
        assert!(plain.extensions().get::<SentUncompressed>().is_some());
        assert_eq!(body(plain).await.len(), LARGE);
        release.send(()).unwrap();
        assert!(busy.await.unwrap());
        for one in waiting {
            assert_eq!(one.await.headers()[CONTENT_ENCODING], "gzip");
        }
    }
}
