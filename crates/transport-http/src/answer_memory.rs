//! Holds large answers within a memory budget while their clients read them. A client that reads
//! slowly holds its share; beyond it an answer is refused or, where it has begun, cut off.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::response::Response;
use bytes::{Buf as _, Bytes};
use fault::{Fault, Kind};
use http::StatusCode;
use http::header::CONTENT_DISPOSITION;
use http_body::{Body as _, Frame, SizeHint};
use limits::{BudgetExceeded, MemoryReservation};

use crate::refusal::Refusal;
use crate::request_memory::RETRY_AFTER;
use crate::socket_handoff::LongLived;

/// An answer of at most this size is not counted: the buffers of its connection hold as much.
pub(crate) const UNCOUNTED_BYTES: usize = 64 * 1024;
/// A large answer is copied to the connection in pieces of this size, so that the answer itself is
/// freed when its last piece is taken, even if that piece is never read.
const PIECE_BYTES: usize = 32 * 1024;

/// Counts an answer until its client has read it. Live streams have their own budget, and files are
/// read from the disk as they are sent; neither is counted here.
pub(crate) fn hold(
    response: Response,
    mut memory: MemoryReservation,
) -> Result<Response, BudgetExceeded> {
    let is_file = response.headers().contains_key(CONTENT_DISPOSITION);
    if is_file || response.extensions().get::<LongLived>().is_some() {
        return Ok(response);
    }
    // An answer whose size is not known, such as a stream of events, is counted as it comes.
    if let Some(bytes) = response.body().size_hint().exact() {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if bytes <= UNCOUNTED_BYTES {
            return Ok(response);
        }
        memory.grow_to(bytes)?;
    }
    Ok(response.map(|body| Body::new(HeldBody { body, rest: Bytes::new(), memory })))
}

/// The refusal of an answer for which the budget has no room.
pub(crate) fn answer_refused(exceeded: BudgetExceeded) -> Refusal {
    let why = match exceeded {
        BudgetExceeded::Client => "your address has not read the answers that it already has",
        BudgetExceeded::Total => "the memory for answers is taken",
    };
    let message = format!("{why}; try again in {} s", RETRY_AFTER.as_secs());
    let fault = Fault::new(Kind::Unavailable, "overloaded", message).retry_after(RETRY_AFTER);
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, fault)
}

/// The body of an answer, handed out in pieces.
struct HeldBody {
    body: Body,
    /// What is left of the frame that is being handed out.
    rest: Bytes,
    memory: MemoryReservation,
}

impl http_body::Body for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data() {
                Ok(data) if data.len() > PIECE_BYTES => {
                    if this.memory.grow_to(data.len()).is_err() {
                        let error = "the memory for answers is taken";
                        return Poll::Ready(Some(Err(axum::Error::new(error))));
                    }
                    this.rest = data;
                }
                Ok(data) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Err(frame) => return Poll::Ready(Some(Ok(frame))),
            }
        }
        let length = this.rest.len().min(PIECE_BYTES);
        let piece = Bytes::copy_from_slice(&this.rest[..length]);
        this.rest.advance(length);
        if this.rest.is_empty() {
            // An empty part of a frame would keep the whole frame.
            this.rest = Bytes::new();
            this.memory.shrink_to(0);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, of_body) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(of_body.lower().saturating_add(rest));
        if let Some(upper) = of_body.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use futures_util::stream;
    use http_body_util::BodyExt as _;
    use limits::MemoryBudget;

    use super::*;

    const MIB: usize = 1 << 20;

    fn answer(bytes: usize) -> Response {
        (0..bytes).map(|at| at as u8).collect::<Vec<u8>>().into_response()
    }

    /// An answer whose size is not known before its frames come.
    fn frames(frames: &[usize]) -> Response {
        let frames: Vec<_> = frames.iter().map(|it| Ok::<_, axum::Error>(vec![7; *it])).collect();
        Body::from_stream(stream::iter(frames)).into_response()
    }

    #[tokio::test]
    async fn an_answer_is_held_until_its_last_piece_is_taken() {
        let budget = MemoryBudget::new(2 * MIB, 2 * MIB);
        let length = MIB + 5;
        let mut held = hold(answer(length), budget.reservation(None)).unwrap();
        assert_eq!(budget.held(), length);
        let refusal = hold(answer(MIB), budget.reservation(None)).map(drop);
        assert_eq!(refusal, Err(BudgetExceeded::Client));
        assert_eq!(held.body().size_hint().exact(), Some(length as u64));
        let mut read = Vec::new();
        while read.len() < length {
            assert_eq!(budget.held(), length, "after {} bytes", read.len());
            let frame = held.body_mut().frame().await.unwrap().unwrap();
            let piece = frame.into_data().unwrap();
            assert!(piece.len() <= PIECE_BYTES);
            read.extend_from_slice(&piece);
        }
        assert_eq!(budget.held(), 0);
        assert_eq!(read, answer(length).into_body().collect().await.unwrap().to_bytes());
        assert!(held.body().is_end_stream());
    }

    #[tokio::test]
    async fn an_answer_that_is_not_read_gives_its_memory_back_when_it_is_dropped() {
        let budget = MemoryBudget::new(2 * MIB, 2 * MIB);
        drop(hold(answer(MIB), budget.reservation(None)).unwrap());
        assert_eq!(budget.held(), 0);
        let small = hold(answer(UNCOUNTED_BYTES), budget.reservation(None)).unwrap();
        assert_eq!((budget.held(), small.status()), (0, StatusCode::OK));
    }

    #[tokio::test]
    async fn an_answer_of_unknown_size_is_counted_as_it_comes_and_cut_off_beyond() {
        let budget = MemoryBudget::new(MIB, MIB);
        let length = 5 * PIECE_BYTES;
        let mut held = hold(frames(&[10, length, 10]), budget.reservation(None)).unwrap();
        for (piece, counted) in [(10, 0), (PIECE_BYTES, length), (PIECE_BYTES, length)] {
            let frame = held.body_mut().frame().await.unwrap().unwrap();
            assert_eq!((frame.into_data().unwrap().len(), budget.held()), (piece, counted));
        }
        let rest = held.into_body().collect().await.unwrap().to_bytes();
        assert_eq!((rest.len(), budget.held()), (3 * PIECE_BYTES + 10, 0));
        let large = hold(frames(&[10, MIB + 1]), budget.reservation(None)).unwrap();
        assert!(large.into_body().collect().await.is_err());
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn files_and_live_streams_are_left_as_they_are() {
        let budget = MemoryBudget::new(0, 0);
        let mut file = answer(MIB);
        let name = http::HeaderValue::from_static("attachment");
        file.headers_mut().insert(CONTENT_DISPOSITION, name);
        assert!(hold(file, budget.reservation(None)).is_ok());
        let mut events = answer(MIB);
        events.extensions_mut().insert(LongLived(std::sync::Arc::new(|| {})));
        assert!(hold(events, budget.reservation(None)).is_ok());
        assert!(hold(answer(MIB), budget.reservation(None)).is_err());
    }
}
