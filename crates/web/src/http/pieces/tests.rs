use super::{PIECE_BYTES, ROOM_KIB, Room};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;

#[test]
fn all_of_a_body_comes_in_pieces() {
    let whole: Vec<u8> = (0..PIECE_BYTES * 3 + 5).map(|at| at as u8).collect();
    let mut body = Room::default().hold(whole.clone()).expect("room");
    assert_eq!(body.size_hint().exact(), Some(whole.len() as u64));
    let mut seen = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(async {
        while let Some(frame) = body.frame().await {
            let piece = frame.expect("no error").into_data().expect("data");
            assert!(piece.len() <= PIECE_BYTES);
            seen.extend_from_slice(&piece);
        }
    });
    assert!(body.is_end_stream() && seen == whole);
}

#[test]
fn there_is_room_for_so_much_and_it_comes_back() {
    let room = Room::default();
    let half = || vec![0; ROOM_KIB << 9];
    let (one, two) = (room.hold(half()), room.hold(half()));
    assert!(one.is_some() && two.is_some());
    assert!(room.hold(half()).is_none());
    assert!(room.hold(vec![0; 1000]).is_some(), "what is small always goes");
    drop(one);
    assert!(room.hold(half()).is_some());
    drop(two);
    assert!(
        room.hold(vec![0; (ROOM_KIB << 10) + 1]).is_some(),
        "one of any size"
    );
}
