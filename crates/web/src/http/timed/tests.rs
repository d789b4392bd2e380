use super::{Patience, Timed};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::time::{Instant, Sleep, sleep};

/// Somebody who reads so many bytes at a time, with a pause behind each.
struct Reader {
    piece: usize,
    pause: Duration,
    next: Pin<Box<Sleep>>,
}

impl AsyncWrite for Reader {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.next.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        let next = Instant::now() + self.pause;
        self.next.as_mut().reset(next);
        Poll::Ready(Ok(buf.len().min(self.piece)))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Writes a megabyte.
fn write_to(patience: Patience, piece: usize, pause: Duration) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        let reader = Reader {
            piece,
            pause,
            next: Box::pin(sleep(Duration::ZERO)),
        };
        let mut timed = Timed::with(reader, patience);
        let whole = vec![0; 1 << 20];
        let mut written = 0;
        while written < whole.len() {
            written += poll_fn(|cx| Pin::new(&mut timed).poll_write(cx, &whole[written..])).await?;
        }
        Ok(())
    })
}

/// A piece now and then is no reading: at this rate all of it would take three minutes.
#[test]
fn who_trickles_is_cut_off() {
    let patience = Patience {
        most: Duration::from_millis(400),
        bytes_per_second: 1 << 20,
    };
    let told = write_to(patience, 64, Duration::from_millis(10)).expect_err("cut off");
    assert_eq!(told.kind(), io::ErrorKind::TimedOut);
}

/// In all it is waited for longer than at a time.
#[test]
fn who_reads_is_not_however_long_it_takes() {
    let patience = Patience {
        most: Duration::from_secs(5),
        bytes_per_second: 1 << 10,
    };
    write_to(patience, 16 << 10, Duration::from_millis(100)).expect("all of it");
}
