use super::{Fields, encoded};

#[test]
fn fields_come_back_as_they_were() {
    let fields = Fields::of(b"a=1&b=x+y%20z&a=%C3%A4%26&empty=&bare&=&%zz=%4");
    assert_eq!(fields.all("a").collect::<Vec<_>>(), ["1", "ä&"]);
    assert_eq!(fields.first("b"), Some("x y z"));
    assert_eq!(fields.first("empty"), Some(""));
    assert_eq!(fields.first("bare"), Some(""));
    assert_eq!(fields.first("%zz"), Some("%4"));
    assert_eq!(fields.first("none"), None);
    assert_eq!(Fields::of(b"%ff=%fe").0.len(), 1);
    assert_eq!(Fields::of(b""), Fields::default());
}

#[test]
fn what_was_encoded_is_decoded() {
    let text = "a/b c%\"<é";
    let fields = Fields::of(format!("x={}", encoded(text.as_bytes())).as_bytes());
    assert_eq!(fields.first("x"), Some(text));
}
