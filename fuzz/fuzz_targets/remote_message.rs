//! Any bytes as a message of a client or a server, as a part of one, and as what comes on a connection before there is a key.
#![no_main]

use fathom_remote::{HistogramParts, Key, ToClient, ToServer, accept};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(message) = ToServer::from_bytes(data) {
        let again = message.to_bytes().expect("what was read can be said");
        assert_eq!(ToServer::from_bytes(&again).expect("and read"), message);
    }
    if let Ok(ToClient::Ended(results) | ToClient::Standing(results)) = ToClient::from_bytes(data) {
        for account in results.accounts {
            let _ = account.whole();
        }
    }
    if let Ok(parts) = serde_json::from_slice::<HistogramParts>(data)
        && let Ok(whole) = parts.whole()
    {
        assert_eq!(HistogramParts::from(&whole), parts);
        whole.summary(&[50.0, 99.0, 100.0]);
    }
    let key = Key::from_text(&"a".repeat(64)).expect("a key");
    let greeted = [b"fathom1\n", data].concat();
    assert!(accept(&greeted[..], std::io::sink(), &key).is_err(), "opened without the key");
});
