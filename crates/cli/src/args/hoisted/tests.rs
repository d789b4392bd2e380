use super::*;

fn hoisted(line: &str) -> String {
    let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let own = [("on", true), ("quiet", false)].map(|(name, takes)| (String::from(name), takes));
    let words = to_the_front(&words, &own.into_iter().collect());
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    words.join(" ")
}

#[test]
fn own_flags_come_first_wherever_they_stand() {
    assert_eq!(
        hoisted("fathom fio --name=a --on m --rw=read --quiet --on=n -b f"),
        "fathom fio --on m --quiet --on=n --name=a --rw=read -b f"
    );
}

#[test]
fn what_is_no_flag_of_fathoms_stays() {
    for line in [
        "fathom",
        "fathom fio",
        "fathom fio --onward x -- --on m",
        "fathom fio -on m",
    ] {
        assert_eq!(hoisted(line), line);
    }
}
