//! Engines that are about no file of this machine: programs, and objects of a server. Exports: `disk/nbd.rs`.

use crate::harness::Place;
use fathom_testkit::objects::store;

#[test]
fn a_program_runs_beside_a_load() {
    let place = Place::new();
    place.write(
        "j.fio",
        "[watch]\nioengine=exec\nprogram=sh\narguments=script %n\nruntime=1\ntime_based\n\
         [load]\nioengine=null\nsize=1m\n",
    );
    place.write("script", "echo said $1; echo wrong >&2; sleep 300");
    let refused = place.fathom("fio j.fio").expect(1);
    assert!(
        refused.stderr.contains("only with --allow-exec"),
        "{}",
        refused.stderr
    );
    assert_eq!(place.names(), ["j.fio", "script"]);
    // The second time over what the first left.
    for _ in 0..2 {
        let outcome = place
            .fathom("fio --allow-exec --output-format=json j.fio")
            .expect(0);
        let told = outcome.json();
        assert_eq!(told["jobs"][0]["read"]["total_ios"], 0);
        assert_eq!(told["jobs"][1]["read"]["total_ios"], 256);
        let read = |name: &str| std::fs::read_to_string(place.path(name)).expect("what it said");
        assert_eq!(
            (read("watch.stdout"), read("watch.stderr")),
            ("said watch\n".into(), "wrong\n".into())
        );
    }
    // What is not fathom's is left alone, and nothing is run.
    place.write("watch.stdout", "thesis");
    let refused = place.fathom("fio --allow-exec j.fio").expect(1);
    assert!(refused.stderr.contains("watch.stdout"), "{}", refused.stderr);
    assert_eq!(
        std::fs::read_to_string(place.path("watch.stdout")).expect("it"),
        "thesis"
    );
    let report = place.fathom("run --allow-exec -o none --dry-run j.fio").expect(3);
    assert!(report.stderr.contains("watch.stdout"), "{}", report.stderr);
}

#[test]
fn a_program_that_fails_fails_its_job() {
    let place = Place::new();
    place.write("j.fio", "[bad]\nioengine=exec\nprogram=false\nstd_redirect=0\n");
    let outcome = place.fathom("fio --allow-exec j.fio").expect(1);
    assert!(outcome.stdout.contains("err= "), "{}", outcome.stdout);
    let outcome = place.fathom("run --allow-exec -o none j.fio").expect(1);
    assert!(
        outcome.stdout.contains("ended by itself with exit status: 1"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn objects_are_put_got_and_deleted() {
    let place = Place::new();
    let host = store(|asked| {
        asked
            .headers
            .get("authorization")
            .is_some_and(|value| value.starts_with("Basic "))
    });
    let base = format!(
        "--ioengine=http --http_host={host} --http_user=me --http_pass=hidden --filename=/bucket/o --bs=64k --size=1m"
    );
    let put = format!("fio --name=put {base} --rw=write --verify=crc32c --output-format=json");
    let refused = place.fathom(&put).expect(1);
    let url = format!("http://{host}/bucket/o");
    assert!(
        refused.stderr.contains(&format!("--allow-overwrite '{url}'")),
        "{}",
        refused.stderr
    );
    let allowed = format!("--allow-overwrite {url}");
    let told = place.fathom(&format!("{put} {allowed}")).expect(0).json();
    assert_eq!(
        (
            &told["jobs"][0]["write"]["total_ios"],
            &told["jobs"][0]["read"]["total_ios"]
        ),
        (&16.into(), &16.into())
    );
    // A record says of the load what is not secret.
    let line = format!("run {base} --rw randread --name get -o record -q");
    place.fathom(&line).expect(0);
    let record = std::fs::read_to_string(place.path("record/run.json")).expect("the record");
    assert!(record.contains(&url) && !record.contains("hidden"), "{record}");
    place
        .fathom(&format!("run {base} --rw trim --name gone -o none -q {allowed}"))
        .expect(0);
    let outcome = place
        .fathom(&format!("run {base} --rw read --name none -o none"))
        .expect(1);
    let said: Vec<&str> = outcome.stdout.split_whitespace().collect();
    assert!(
        said.join(" ").contains("nobody has put such an object"),
        "{}",
        outcome.stdout
    );
}
