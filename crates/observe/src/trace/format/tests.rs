use super::*;
use proptest::prelude::*;

const COMPLETE: &str = "name: block_rq_complete
ID: 2107
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:44;\tsize:4;\tsigned:0;

print fmt: \"%d,%d %s (%s) %llu + %u [%d]\", ((unsigned int) ((REC->dev) >> 20)), REC->rwbs
";

#[test]
fn a_format_says_where_fields_are() {
    let format = EventFormat::parse(COMPLETE).expect("a format");
    assert_eq!((format.name.as_str(), format.id), ("block_rq_complete", 2107));
    assert_eq!(format.fields.len(), 10);
    let field = |name| format.field(name).expect("a field");
    let place = |name| (field(name).offset, field(name).size);
    assert_eq!((place("sector"), place("rwbs")), ((16, 8), (34, 10)));
    assert!(field("error").signed && !field("sector").signed);
    assert!(field("cmd").data_loc && !field("rwbs").data_loc);
    assert_eq!(format.field("rwbs[10]"), None);
}

#[test]
fn what_is_not_understood_is_refused_with_its_line() {
    let refused = |from: &str, to: &str| {
        let text = COMPLETE.replace(from, to);
        EventFormat::parse(&text).expect_err("refused").to_string()
    };
    assert_eq!(refused("ID: 2107", "ID: 70000"), FormatError::Id.to_string());
    assert_eq!(refused("name: ", "nom: "), FormatError::Name.to_string());
    let line = "10: `field:sector_t sector;\toffset:x;\tsize:8;\tsigned:0;` does not describe a field: this kernel \
                writes them in a way that is not known";
    assert_eq!(refused("offset:16", "offset:x"), line);
    assert!(refused("offset:16", "offset:9999999").starts_with("10: "));
    assert!(refused("\tsize:8;", "").starts_with("10: "));
}

proptest! {
    #[test]
    fn any_text_is_judged(text in "(field:|ID: |name: |[a-z ;:\\[\\]0-9\t\n]){0,40}") {
        let _ = EventFormat::parse(&text);
        for field in fields(&text).unwrap_or_default() {
            prop_assert!(field.end() <= END_MAX);
        }
    }
}
