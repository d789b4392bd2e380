//! What is done many times by `cargo xtask soak k8s`, and a few times by a check.

use super::{CLASS, JOB, MISSING, Namespace, apply, cluster, cutting, eventually, kubectl, run};
use crate::harness::{Place, at, finish, number, signal, skipped, start};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Runs that are ended, where nothing else is said.
const ABORTS: u64 = 2;
/// What is fetched over a connection that is cut.
const RECORD_MIB: u64 = 24;
const CUTS: u32 = 10;

fn asked(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

/// The finalizer of splitmix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Killed and interrupted at random moments: what they leave, `cleanup` removes.
#[test]
fn whatever_a_run_was_ended_by_cleanup_leaves_nothing() {
    let Some(cluster) = cluster() else {
        return skipped("whatever_a_run_was_ended_by_cleanup_leaves_nothing", MISSING);
    };
    let (place, namespace) = (Place::new(), Namespace::new("aborted"));
    place.write("mixed.fio", JOB);
    let aborts = asked("FATHOM_K8S_ABORTS", ABORTS);
    let seed = fathom_testkit::seed();
    let mut left_behind = 0;
    for number in 0..aborts {
        let draw = mix(seed ^ mix(number));
        // A whole run takes about so long.
        let after = Duration::from_millis(draw % 9_000);
        let (killed, twice) = ((draw >> 32).is_multiple_of(2), (draw >> 33).is_multiple_of(4));
        let members = if (draw >> 40).is_multiple_of(3) {
            " --parallel 2"
        } else {
            ""
        };
        let more = format!("--repeat 1 -q -o d{number}{members}");
        let running = start(&mut place.command_of(run(&cluster, &namespace, "mixed.fio", &more).split(' ')));
        std::thread::sleep(after);
        signal(&running, if killed { "KILL" } else { "INT" });
        if twice && !killed {
            // Impatient: the second one does not wait for what is removed.
            std::thread::sleep(Duration::from_millis(draw % 400));
            let _ended_already = Command::new("kill")
                .args(["-INT", &running.id().to_string()])
                .status();
        }
        drop(finish(running));
        left_behind += namespace.left().lines().count();
        // Those of several are removed together, too.
        if number % 5 == 4 || number + 1 == aborts {
            let cleaned = place.fathom(&format!("k8s cleanup -n {}", namespace.0));
            assert_eq!(
                cleaned.code,
                Some(0),
                "abort {number} of seed {seed}: {}",
                cleaned.stderr
            );
            assert_eq!(namespace.left(), "", "abort {number} of seed {seed}");
        }
    }
    println!(
        "{aborts} runs ended (seed {seed}), {left_behind} objects were there after them, 0 after cleanup"
    );
}

/// The digests of what a pod has, as its own agent lists it.
fn in_pod(namespace: &Namespace, pod: &str) -> BTreeMap<String, String> {
    let list = format!(
        "exec -n {} {pod} -c fathom -- /fathom-bin/fathom k8s agent list /fathom-out",
        namespace.0
    );
    let listed: Value = serde_json::from_str(&kubectl(&list)).expect("a list");
    let each = listed.as_array().expect("a list").iter();
    each.map(|one| {
        let of = |key: &str| one[key].as_str().expect("text").to_owned();
        (of("path"), of("sha256"))
    })
    .collect()
}

fn here(path: &Path) -> String {
    let output = Command::new("sha256sum")
        .arg(path)
        .output()
        .expect("sha256sum runs");
    let text = String::from_utf8(output.stdout).expect("text");
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// A large record comes whole, byte for byte, whatever becomes of the connection.
#[test]
fn a_large_record_comes_byte_for_byte_over_a_connection_that_is_cut() {
    let Some(cluster) = cluster() else {
        return skipped(
            "a_large_record_comes_byte_for_byte_over_a_connection_that_is_cut",
            MISSING,
        );
    };
    let (place, namespace) = (Place::new(), Namespace::new("large"));
    let mib = asked("FATHOM_K8S_RECORD_MIB", RECORD_MIB);
    let cuts = Arc::new(AtomicU32::new(CUTS));
    // So often, evenly over all of it.
    let port = cutting((mib << 20) as usize / 12, &cuts);
    let config = std::fs::read_to_string(cluster.dir.join("pki/admin.kubeconfig")).expect("a kubeconfig");
    let config = place.write("kubeconfig", config.replace(":6443", &format!(":{port}")));
    let line = format!(
        "k8s run --class {CLASS} --size 64Mi --image {} --pull Never -n {} --repeat 1 --privileged -o d -q --command-image {} --command",
        cluster.image, namespace.0, cluster.tools
    );
    let words = line.split(' ').map(str::to_owned);
    let command = format!("head -c {} /dev/urandom > /fathom-out/large && sync", mib << 20);
    let mut program = place.command_of(words.chain([command]));
    program.env("KUBECONFIG", &config);
    let running = start(&mut program);
    let large = place.path(format!("d/{CLASS}/1/large.part"));
    let whole = place.path(format!("d/{CLASS}/1/large"));
    eventually("the first of it", || large.exists() || whole.exists());
    let name = format!(
        "get pod -n {} -l fathom/run -o jsonpath={{.items[0].metadata.name}}",
        namespace.0
    );
    let theirs = in_pod(&namespace, kubectl(&name).trim());
    finish(running).expect(0);
    assert_eq!(cuts.load(Ordering::SeqCst), 0, "not cut often enough");
    assert!(theirs.contains_key("large"), "{theirs:?}");
    for (path, digest) in &theirs {
        assert_eq!(
            &here(&place.path(format!("d/{CLASS}/1/{path}"))),
            digest,
            "{path}"
        );
    }
    println!(
        "{} files, {mib} MiB, equal to those in the pod; cut {CUTS} times",
        theirs.len()
    );
    assert_eq!(namespace.left(), "");
}

/// A modelled disk that is served, with a file system on it.
struct Served {
    server: Child,
    mount: PathBuf,
}

impl Served {
    fn new(place: &Place, name: &str, model: &str) -> Self {
        let (at, mount) = (
            place.path(format!("{name}-at")),
            place.path(format!("{name}-mnt")),
        );
        for dir in [&at, &mount] {
            std::fs::create_dir(dir).expect("made");
        }
        let line = format!(
            "disk serve model:{}/../../experiments/acs-2024/{model} --size 8GiB --at {} --loop --mkfs ext4 --mount {} -q",
            env!("CARGO_MANIFEST_DIR"),
            at.display(),
            mount.display()
        );
        let said = place.path(format!("{name}-said"));
        let out = std::fs::File::create(&said).expect("made");
        let mut server = start(place.command(&line).stdout(out));
        eventually("a disk that is served", || {
            let ended = server.try_wait().expect("waited for");
            assert!(ended.is_none(), "{name}: not served: {ended:?}");
            std::fs::read_to_string(&said).is_ok_and(|said| said.contains("ready"))
        });
        Self { server, mount }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        signal(&self.server, "TERM");
        let _status = self.server.wait();
    }
}

/// The report of acs-2024 on two classes that are modelled disks, live: mixed reads and writes are sixty times slower on a disk
/// whose burst is spent.
#[test]
fn the_ratio_of_a_report_shows_on_classes_of_modelled_disks() {
    const NAME: &str = "the_ratio_of_a_report_shows_on_classes_of_modelled_disks";
    let Some(cluster) = cluster() else {
        return skipped(NAME, MISSING);
    };
    if std::env::var_os("FATHOM_K8S_ABORTS").is_none() {
        return skipped(NAME, "the time of a soak (cargo xtask soak k8s)");
    }
    let (place, namespace) = (Place::new(), Namespace::new("report"));
    let classes = [
        ("acstor-azuredisk", "acs.toml"),
        ("managed-csi-premium", "p2-empty.toml"),
    ];
    let _served = classes.map(|(class, model)| {
        let served = Served::new(&place, class, model);
        apply(&format!(
            "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {class}}}\nprovisioner: kubernetes.io/no-provisioner\n\
             volumeBindingMode: WaitForFirstConsumer\n---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {class}}}\n\
             spec: {{capacity: {{storage: 8Gi}}, accessModes: [ReadWriteOnce], storageClassName: {class}, \
             persistentVolumeReclaimPolicy: Retain, local: {{path: {}}}, nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: \
             [{{key: kubernetes.io/hostname, operator: In, values: [node-a]}}]}}]}}}}}}\n",
            served.mount.display()
        ));
        served
    });
    // The experiment as it is shipped; of its runs the one with fio, shorter, on a node of these.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/acs-2024");
    let text = std::fs::read_to_string(format!("{root}/cluster.toml")).expect("shipped");
    let fio = text.split("[[run]]").take(2).collect::<Vec<_>>().join("[[run]]");
    place.write("cluster.toml", fio);
    for job in [
        "warm-acstor",
        "acstor-randread",
        "acstor-randwrite",
        "acstor-randrw",
    ] {
        std::fs::copy(format!("{root}/{job}.fio"), place.path(format!("{job}.fio"))).expect("copied");
    }
    let line = format!(
        "k8s run cluster.toml --node-selector=kubernetes.io/os=linux --image={} --pull=Never --namespace={} --option=--size=64m \
         --option=--runtime=8s -o d",
        cluster.image, namespace.0
    );
    let found = place.fathom(&line);
    let iops = |class: &str, job: &str, op: &str| {
        let path = place.path(format!("d/fio/{class}/1/acstor-{job}/run.json"));
        let text = std::fs::read(path).unwrap_or_else(|error| panic!("{error}: {}", found.stderr));
        let run: Value = serde_json::from_slice(&text).expect("JSON");
        number(at(&run, "summary"), &format!("jobs.0.{op}.iops"))
    };
    for (job, op) in [
        ("randread", "read"),
        ("randwrite", "write"),
        ("randrw", "read"),
        ("randrw", "write"),
    ] {
        let [acs, disk] = classes.map(|(class, _)| iops(class, job, op));
        println!("{job} {op}: {acs:.0} and {disk:.0} IOPS, {:.1} times", acs / disk);
    }
    let ratio = iops(classes[0].0, "randrw", "read") / iops(classes[1].0, "randrw", "read");
    assert!((40.0..90.0).contains(&ratio), "{ratio}: the report has 63");
    for (class, _) in classes {
        kubectl(&format!("delete pv,storageclass {class} --wait=false"));
    }
}
