//! Published experiments on the disk model.

use crate::harness::Place;
use serde_json::Value;

#[test]
fn an_experiment_is_reproduced_within_its_bounds() {
    let place = Place::new();
    let outcome = place
        .fathom("reproduce aks-2019 --check --markdown table.md")
        .expect(0);
    assert!(outcome.stdout.contains("IOPS"), "{}", outcome.stdout);
    let markdown = std::fs::read_to_string(place.path("table.md")).expect("the Markdown");
    assert!(markdown.contains("| `test4` | IOPS |"), "{markdown}");
    assert!(markdown.contains("Known misses:"), "{markdown}");
    assert_eq!(place.names(), ["table.md"]);
}

#[test]
fn two_runs_give_the_same_to_the_letter() {
    let place = Place::new();
    let first = place.fathom("reproduce raid0-2019 --json -q").expect(0).stdout;
    let second = place.fathom("reproduce raid0-2019 --json -q").expect(0).stdout;
    assert_eq!(first, second);
    let value: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!(value["experiments"][0]["name"], "raid0-2019");
    assert_eq!(value["tally"]["wrong"], 0);
}

/// An experiment of one's own: a P15 writes 1122 I/Os a second, of which the first line knows and the second does not.
#[test]
fn an_experiment_of_one_s_own_is_held_to_its_figures() {
    let place = Place::new();
    std::fs::create_dir(place.path("mine")).expect("a directory");
    place.write(
        "mine/experiment.toml",
        "title = \"t\"\npost = \"p\"\nauthor = \"a\"\ndate = \"d\"\n\n[[runs]]\nname = \"r\"\nabout = \"writes\"\n\
         job = \"jobs.fio\"\nmodel = \"azure/P15,burst=empty\"\n",
    );
    place.write(
        "mine/jobs.fio",
        "[job]\nioengine=libaio\niodepth=64\ndirect=1\nrw=randwrite\nbs=4k\nsize=1g\ntime_based\nruntime=20\nfilename=/x\n",
    );
    let header = "run,what,measure,published,unit,source,bound_percent,fitted,mechanism,known_miss";
    place.write(
        "mine/figures.csv",
        format!("{header}\nr,IOPS,write.iops,1122,IOPS,post,1,,limit,\n"),
    );
    place.fathom("reproduce mine --check").expect(0);
    place.write(
        "mine/figures.csv",
        format!("{header}\nr,IOPS,write.iops,1200,IOPS,post,1,,limit,\n"),
    );
    place
        .fathom("reproduce mine --check")
        .expect(1)
        .saying("mine r: IOPS: off by -6.5 % (1 %): beyond its bound");
    place.fathom("reproduce mine").expect(0);
}

#[test]
fn names_that_nobody_knows_are_refused() {
    let place = Place::new();
    place
        .fathom("reproduce aks-2018")
        .expect(2)
        .saying("no experiment is called `aks-2018`: there are aks-2019, ");
}
