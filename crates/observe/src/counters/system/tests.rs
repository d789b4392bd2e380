use super::*;
use fathom_core::record::CounterRow;
use proptest::prelude::*;

fn parse(table: usize, text: &[u8], state: &mut State) -> Vec<CounterRow> {
    let mut out = Vec::new();
    (TABLES[table].parse)(
        text,
        state,
        &mut Rows {
            at_ns: 0,
            out: &mut out,
        },
    );
    out
}

fn state() -> State {
    State {
        ticks_per_second: 100.0,
        ..State::default()
    }
}

#[test]
fn the_line_of_all_cpus_is_left_out_and_iowait_waits_when_it_goes_back() {
    let mut state = state();
    let first = parse(0, b"cpu  9 9 9 9\ncpu3 100 0 0 50 30", &mut state);
    assert_eq!(first.len(), 5);
    assert_eq!(first[4].labels, "cpu=\"3\",mode=\"iowait\"");
    let second = parse(0, b"cpu3 101 0 0 50 29", &mut state);
    assert_eq!((second[0].value, second[4].value), (1.01, 0.3));
}

#[test]
fn the_exporter_has_no_full_pressure_of_cpus() {
    let text = b"some avg10=0 avg60=0 avg300=0 total=2\nfull avg10=0 avg60=0 avg300=0 total=1\n";
    let names = |table| -> Vec<String> {
        let rows = parse(table, text, &mut state());
        rows.iter().map(|row| row.metric.to_string()).collect()
    };
    assert_eq!(names(4), ["node_pressure_cpu_waiting_seconds_total"]);
    assert_eq!(names(5).len(), 2);
}

#[test]
fn a_load_average_that_is_none_gives_no_row() {
    for text in ["", "inf 1 2", "-1.0", "x", "NaN"] {
        assert!(parse(3, text.as_bytes(), &mut state()).is_empty(), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_or_left(table in 0..TABLES.len(), text in "(cpu|intr|ctxt|Dirty:|some|total=|[0-9 .\n]|\\PC){0,80}") {
        for row in parse(table, text.as_bytes(), &mut state()) {
            prop_assert!(row.value.is_finite() && row.value >= 0.0);
        }
    }

    #[test]
    fn any_bytes_are_taken_or_left(table in 0..TABLES.len(), text in prop::collection::vec(any::<u8>(), 0..300)) {
        parse(table, &text, &mut state());
    }
}
