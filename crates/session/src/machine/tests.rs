use super::without_output;

#[test]
fn the_place_of_the_record_is_not_part_of_the_command() {
    let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
    let kept = "fathom run j.fio --on model:azure/P15 --offset=1m --only";
    for place in ["-o x", "-ox", "--output x", "--output=x"] {
        assert_eq!(without_output(&words(&format!("{kept} {place}"))), words(kept));
    }
}
