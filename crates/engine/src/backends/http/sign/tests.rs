use super::{Signed, Signer, date, escaped, hmac, sha256};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn check(method: &str, path: &str, query: &str, headers: &[(&str, &str)], payload: &str, signature: &str) {
    let mut signer = Signer::new("AKIAIOSFODNN7EXAMPLE", SECRET, "us-east-1");
    let request = Signed {
        method,
        path,
        query,
        headers,
        payload,
        date: "20130524T000000Z",
    };
    // The second time with the key of the day at hand.
    for _ in 0..2 {
        let mut out = Vec::new();
        signer.authorize(&request, &mut out);
        let out = String::from_utf8(out).expect("text");
        assert!(out.ends_with(&format!("Signature={signature}")), "{out}");
        let credential = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;";
        assert!(out.starts_with(credential) || headers[0].0 != "host", "{out}");
    }
}

/// The examples of AWS's documentation.
#[test]
fn signatures() {
    let host = ("host", "examplebucket.s3.amazonaws.com");
    let at = ("x-amz-date", "20130524T000000Z");
    check(
        "GET",
        "/test.txt",
        "",
        &[host, ("range", "bytes=0-9"), ("x-amz-content-sha256", EMPTY), at],
        EMPTY,
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
    let payload = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    check(
        "PUT",
        "/test%24file.text",
        "",
        &[
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            host,
            ("x-amz-content-sha256", payload),
            at,
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ],
        payload,
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    );
    check(
        "GET",
        "/",
        "lifecycle=",
        &[host, ("x-amz-content-sha256", EMPTY), at],
        EMPTY,
        "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    );
}

/// Of RFC 4231, 4.2, 4.3 and 4.7.
#[test]
fn hmacs() {
    let hex = |bytes: [u8; 32]| String::from_utf8(super::hex(&bytes).to_vec()).expect("text");
    assert_eq!(
        hex(hmac(&[0x0b; 20], b"Hi There")),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    );
    assert_eq!(
        hex(hmac(b"Jefe", b"what do ya want for nothing?")),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    assert_eq!(
        hex(hmac(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First"
        )),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    );
}

#[test]
fn dates_names_and_sums() {
    for (seconds, text) in [
        (0, "19700101T000000Z"),
        (951_782_399, "20000228T235959Z"),
        (951_782_400, "20000229T000000Z"),
        (951_868_800, "20000301T000000Z"),
        (1_369_353_600, "20130524T000000Z"),
        (4_102_444_799, "20991231T235959Z"),
        (4_107_542_400, "21000301T000000Z"),
    ] {
        assert_eq!(std::str::from_utf8(&date(seconds)), Ok(text));
    }
    assert_eq!(escaped("/a b/$ü~.x"), "/a%20b/%24%C3%BC~.x");
    assert_eq!(std::str::from_utf8(&sha256(b"")), Ok(EMPTY));
}
