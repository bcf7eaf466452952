//! One WebSocket connection: reads messages, writes the events of its subscriptions, and checks that
//! the client is alive.
//!
//! It is one hand-written future: an idle subscriber costs this struct and its socket, and owns no
//! buffer. Bytes are read onto the stack and written from a buffer that all sessions of a thread
//! share; a session keeps only the bytes that its socket did not take.

use std::cell::Cell;
use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::codec::{CloseCode, Decoder, Incoming, put_close, put_ping, put_pong, put_text};
use super::message_handler::MessageHandler;
use super::message_rate::{MessageRate, RateVerdict};
use super::subscriptions::Subscriptions;
use super::{WsLimits, message};

const READ_BYTES: usize = 4096;
/// How many read-write rounds one poll may do.
const ROUNDS_MAX: usize = 8;
/// A client with this many unread bytes is not read from, so that answers cannot pile up.
const UNREAD_BYTES_MAX: usize = 16 * 1024;
/// A shared buffer that grew larger than this is freed.
const SCRATCH_BYTES_MAX: usize = 256 * 1024;

thread_local! {
    /// The write buffer of this thread. A session takes it out while it writes.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The connection ended; there is no one to report it to.
struct ConnectionOver;

pub(crate) struct Session<T> {
    io: T,
    handler: MessageHandler,
    limits: WsLimits,
    decoder: Decoder,
    rate: MessageRate,
    subscriptions: Subscriptions,
    /// Frames that the socket has not taken yet, and how much of them it has.
    held: Vec<u8>,
    held_from: usize,
    /// Bytes that came with the upgrade request.
    early: Bytes,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
    timer: Pin<Box<Sleep>>,
    /// When bytes last came from the client.
    last_received: Instant,
    /// Whether a ping was sent since.
    pinged: bool,
    /// Since when the socket takes no bytes.
    stalled: Option<Instant>,
    closing: Option<Closing>,
}

struct Closing {
    /// When to stop waiting for the client's close frame.
    until: Instant,
    /// Whether the client's close frame has come.
    answered: bool,
    /// Whether the client broke the protocol, so that further bytes have no meaning.
    ignore_input: bool,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Session<T> {
    pub(crate) fn new(
        io: T,
        early: Bytes,
        handler: MessageHandler,
        limits: WsLimits,
        stop: CancellationToken,
    ) -> Self {
        let now = Instant::now();
        Self {
            io,
            handler,
            limits,
            decoder: Decoder::new(limits.message_bytes_max),
            rate: MessageRate::new(limits.messages_per_second, limits.messages_burst, now),
            subscriptions: Subscriptions::default(),
            held: Vec::new(),
            held_from: 0,
            early,
            // A child token each, because waiting on one token makes every connection take one lock.
            stop: Box::pin(stop.child_token().cancelled_owned()),
            timer: Box::pin(sleep_until(now + limits.ping_every)),
            last_received: now,
            pinged: false,
            stalled: None,
            closing: None,
        }
    }

    fn poll_once(&mut self, context: &mut Context<'_>) -> Result<(), ConnectionOver> {
        if self.closing.is_none() && self.stop.as_mut().poll(context).is_ready() {
            self.close(CloseCode::GoingAway, "the server is stopping");
        }
        for _ in 0..ROUNDS_MAX {
            let unread = self.has_unread_output();
            let received = !unread && self.poll_read(context)?;
            let more = self.poll_write(context)?;
            self.poll_timers(context)?;
            // A socket that was not polled for reading does not wake the task.
            let again = unread && !self.has_unread_output();
            if !received && !more && !again {
                return Ok(());
            }
        }
        context.waker().wake_by_ref();
        Ok(())
    }

    /// Whether too many bytes wait for the client to read them.
    fn has_unread_output(&self) -> bool {
        self.held.len() - self.held_from > UNREAD_BYTES_MAX && self.closing.is_none()
    }

    /// Reads once; whether bytes came.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Result<bool, ConnectionOver> {
        if !self.early.is_empty() {
            let early = std::mem::take(&mut self.early);
            self.receive(&early);
            return Ok(true);
        }
        let mut space = [const { MaybeUninit::<u8>::uninit() }; READ_BYTES];
        let mut bytes = ReadBuf::uninit(&mut space);
        match Pin::new(&mut self.io).poll_read(context, &mut bytes) {
            Poll::Pending => Ok(false),
            Poll::Ready(Ok(())) if !bytes.filled().is_empty() => {
                self.receive(bytes.filled());
                Ok(true)
            }
            Poll::Ready(_) => Err(ConnectionOver),
        }
    }

    fn receive(&mut self, mut bytes: &[u8]) {
        self.last_received = Instant::now();
        self.pinged = false;
        loop {
            if self.closing.as_ref().is_some_and(|closing| closing.ignore_input || closing.answered)
            {
                return;
            }
            match self.decoder.next(&mut bytes) {
                Ok(None) => return,
                Ok(Some(incoming)) => self.handle_frame(incoming),
                Err(code) => {
                    self.close(code, "");
                    if let Some(closing) = &mut self.closing {
                        closing.ignore_input = true;
                    }
                }
            }
        }
    }

    fn handle_frame(&mut self, incoming: Incoming) {
        if let Incoming::Close(code) = incoming {
            return self.closed_by_client(code);
        }
        if self.closing.is_some() {
            return;
        }
        // Pongs are counted too: a client may answer each ping, and send one now and then unasked.
        let verdict = self.rate.take(self.last_received);
        match (incoming, verdict) {
            (_, RateVerdict::Disconnect) => self.close(CloseCode::Policy, "too many messages"),
            (Incoming::Ping(payload), _) => put_pong(&mut self.held, &payload),
            (Incoming::Text(text), RateVerdict::Wait(wait)) => {
                let error = self.handler.too_fast(&message::read(&text), wait);
                put_text(&mut self.held, ["", &error]);
            }
            (Incoming::Text(text), RateVerdict::Allow) => {
                let message = message::read(&text);
                let answer = self.handler.handle(message, &mut self.subscriptions, &self.limits);
                if let Some(answer) = answer {
                    put_text(&mut self.held, ["", &answer]);
                }
            }
            (Incoming::Pong | Incoming::Close(_), _) => {}
        }
    }

    fn close(&mut self, code: CloseCode, reason: &str) {
        if self.closing.is_none() {
            put_close(&mut self.held, code as u16, reason);
            self.begin_close(false);
        }
    }

    /// Ends the connection, or answers the client's close frame with the same code.
    fn closed_by_client(&mut self, code: Option<u16>) {
        match &mut self.closing {
            Some(closing) => closing.answered = true,
            None => {
                put_close(&mut self.held, code.unwrap_or(CloseCode::Normal as u16), "");
                self.begin_close(true);
            }
        }
    }

    fn begin_close(&mut self, answered: bool) {
        let until = Instant::now() + self.limits.close_timeout;
        self.subscriptions.clear();
        self.closing = Some(Closing { until, answered, ignore_input: false });
        self.timer.as_mut().reset(until);
    }

    /// Writes held frames, then events of the subscriptions; whether more events are ready.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Result<bool, ConnectionOver> {
        if !self.held.is_empty() && !self.flush(context)? {
            return Ok(false);
        }
        if let Some(closing) = &self.closing {
            if closing.answered || closing.ignore_input {
                // The close frame is with the socket. After a protocol error the socket is still
                // read, because closing it with unread bytes resets the connection.
                let _ended = Pin::new(&mut self.io).poll_shutdown(context);
            }
            return if closing.answered { Err(ConnectionOver) } else { Ok(false) };
        }
        let mut scratch = SCRATCH.take();
        scratch.clear();
        let more = self.subscriptions.gather(context, &mut scratch, self.limits.write_bytes);
        let written = self.write(context, &scratch);
        let rest = written.as_ref().map_or(0, |written| scratch.len() - written);
        if rest > 0 {
            self.held.extend_from_slice(&scratch[scratch.len() - rest..]);
        }
        if scratch.capacity() <= SCRATCH_BYTES_MAX {
            SCRATCH.set(scratch);
        }
        written?;
        if let Some(revoked) = self.subscriptions.take_revoked() {
            put_text(&mut self.held, ["", &self.handler.revoked(&revoked)]);
            self.close(CloseCode::Policy, revoked.fault.code());
            return Ok(true);
        }
        Ok(more && rest == 0)
    }

    /// Writes held frames; whether the socket took all of them, and then frees their memory.
    fn flush(&mut self, context: &mut Context<'_>) -> Result<bool, ConnectionOver> {
        let held = std::mem::take(&mut self.held);
        let written = self.write(context, held.get(self.held_from..).unwrap_or_default())?;
        self.held_from += written;
        if self.held_from < held.len() {
            self.held = held;
            return Ok(false);
        }
        self.held_from = 0;
        Ok(true)
    }

    /// How many bytes the socket took.
    fn write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Result<usize, ConnectionOver> {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.io).poll_write(context, rest) {
                Poll::Ready(Ok(0) | Err(_)) => return Err(ConnectionOver),
                Poll::Ready(Ok(taken)) => {
                    written += taken;
                    self.stalled = None;
                }
                Poll::Pending => {
                    self.mark_stalled();
                    break;
                }
            }
        }
        Ok(written)
    }

    fn mark_stalled(&mut self) {
        if self.stalled.is_some() {
            return;
        }
        let now = Instant::now();
        self.stalled = Some(now);
        let until = now + self.limits.stall_max;
        if until < self.timer.deadline() {
            self.timer.as_mut().reset(until);
        }
    }

    /// Checks the deadlines when the timer fires.
    fn poll_timers(&mut self, context: &mut Context<'_>) -> Result<(), ConnectionOver> {
        while self.timer.as_mut().poll(context).is_ready() {
            let now = Instant::now();
            let stalled = self.stalled.is_some_and(|since| since + self.limits.stall_max <= now);
            let closed = self.closing.as_ref().is_some_and(|closing| closing.until <= now);
            if stalled {
                self.handler.stalled();
            }
            if stalled || closed {
                return Err(ConnectionOver);
            }
            if self.closing.is_none() {
                if self.last_received + self.limits.silence_max <= now {
                    self.close(CloseCode::Policy, "nothing was heard for too long");
                } else if !self.pinged && self.last_received + self.limits.ping_every <= now {
                    self.pinged = true;
                    put_ping(&mut self.held);
                }
                // The next round writes the frame.
                context.waker().wake_by_ref();
            }
            let next = self.next_deadline(now);
            self.timer.as_mut().reset(next);
        }
        Ok(())
    }

    fn next_deadline(&self, now: Instant) -> Instant {
        let limits = &self.limits;
        let silent = match self.pinged {
            true => (self.last_received + limits.silence_max).min(now + limits.ping_every),
            false => self.last_received + limits.ping_every,
        };
        let deadline = self.closing.as_ref().map_or(silent, |closing| closing.until);
        self.stalled.map_or(deadline, |since| deadline.min(since + limits.stall_max))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Future for Session<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.get_mut().poll_once(context) {
            Ok(()) => Poll::Pending,
            Err(ConnectionOver) => Poll::Ready(()),
        }
    }
}
