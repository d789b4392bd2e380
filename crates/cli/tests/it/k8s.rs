//! `fathom k8s`: what needs no cluster, and on a real one (`cargo xtask cluster`) all of it.

use crate::harness::{Place, finish, start};

mod cluster;
mod queries;
mod resumed;
mod stand_in;
mod stored;

/// A job of a second.
const JOB: &str = "[job]\nrw=randrw\nbs=4k\nsize=8m\nioengine=psync\nruntime=1\ntime_based\n";

#[test]
fn what_would_be_made_is_printed_without_a_cluster() {
    let place = Place::new();
    place.write("randread.fio", JOB);
    let text = place
        .fathom("k8s manifest randread.fio --class fast --size 1Gi")
        .expect(0)
        .stdout;
    for part in [
        "kind: PersistentVolumeClaim",
        "storageClassName: fast",
        "kind: ConfigMap",
        "randread.fio:",
        "kind: Pod",
        "runAsNonRoot: true",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_flag_before_a_cluster_is_asked() {
    let place = Place::new();
    place.write("a.fio", JOB);
    for (words, expected) in [
        ("k8s run a.fio", "--class NAME or --claim NAME"),
        ("k8s run --class a", "give job files"),
        ("k8s run a.fio --class A_b", "--class A_b: no name"),
        ("k8s run a.fio --class a --class a", "given twice"),
        ("k8s run a.fio --class a --size 8GB", "--size 8GB: no quantity"),
        ("k8s run nowhere.fio --class a", "nowhere.fio"),
        ("k8s run --resume nowhere", "what fathom k8s run left"),
        ("k8s run --resume nowhere --size 1Gi", "--size"),
        ("k8s run --resume nowhere --pull Never", "--pull"),
        ("k8s run --resume nowhere --namespace bench", "--namespace"),
        ("k8s run --resume nowhere a.fio", "cannot be used with"),
    ] {
        let found = place.fathom(words);
        assert_eq!(found.code, Some(2), "{words}: {}", found.stderr);
        assert!(found.stderr.contains(expected), "{words}: {}", found.stderr);
    }
    for (words, expected) in [
        ("k8s run a.fio --class a --alone", "--alone: it is one of several"),
        (
            "k8s run a.fio b.fio --class a --parallel 2",
            "take one job file each",
        ),
        ("k8s record pgdata", "give --privileged"),
    ] {
        place.write("b.fio", JOB);
        let found = place.fathom(words);
        assert_eq!(found.code, Some(2), "{words}: {}", found.stderr);
        assert!(found.stderr.contains(expected), "{words}: {}", found.stderr);
    }
    let mut nowhere = place.command_of("k8s run a.fio --class a -o d".split(' '));
    nowhere
        .env("KUBECONFIG", "/nowhere")
        .env_remove("KUBERNETES_SERVICE_HOST");
    let found = finish(start(&mut nowhere));
    assert_eq!(found.code, Some(2), "{}", found.stderr);
    assert!(found.stderr.contains("no way to a cluster"), "{}", found.stderr);
    assert!(!place.path("d").exists(), "nothing is made");
}

#[test]
fn the_experiments_on_clusters_are_such() {
    let place = Place::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    for (file, more, parts) in [
        (
            "acs-2024/cluster.toml",
            "",
            [
                "storageClassName: acstor-azuredisk",
                "acstor-randrw.fio:",
                "pg_restore",
            ],
        ),
        (
            "acs-2024/mssql.toml",
            "",
            ["sqlpackage", "managed-csi-premium", "CREATE DATABASE"],
        ),
        (
            "postgres/cluster.toml",
            "--class fast --class slow --size 1Gi",
            ["storageClassName: slow", "storage: 1Gi", "pg_restore"],
        ),
    ] {
        let line = format!("k8s run {root}/{file} --dry-run {more}");
        let text = place.fathom(&line).expect(0).stdout;
        for part in parts {
            assert!(text.contains(part), "{file}: {part}: {text}");
        }
    }
    place.write(
        "a.toml",
        "class = \"a\"\nspeed = 3\n[[run]]\nname = \"one\"\njobs = [\"a.fio\"]\n",
    );
    let found = place.fathom("k8s run a.toml");
    assert_eq!(found.code, Some(2), "{}", found.stderr);
    assert!(
        found.stderr.contains("--speed") && found.stderr.contains("that is in run one of a.toml"),
        "{}",
        found.stderr
    );
}

#[test]
fn the_rights_that_it_needs_are_printed() {
    let place = Place::new();
    let text = place.fathom("k8s rbac -n bench --user jane").expect(0).stdout;
    for part in [
        "kind: Role\n",
        "kind: ClusterRoleBinding",
        "namespace: bench",
        "name: jane",
        "- pods/exec",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
