//! On a real cluster of two nodes: `cargo xtask cluster`.

mod soak;

use super::JOB;
use crate::harness::{Outcome, Place, at, count, finish, signal, skipped, start};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What the tests' cluster has.
const CLASS: &str = "csi-wait";
/// What is missing where there is none.
const MISSING: &str = "a cluster (cargo xtask cluster)";

/// The cluster of the tests.
struct Cluster {
    /// The image of the program in it.
    image: String,
    /// Somebody's own, with a shell.
    tools: String,
    /// Where its servers keep what they write.
    dir: PathBuf,
}

fn cluster() -> Option<Cluster> {
    Some(Cluster {
        image: std::env::var("FATHOM_TEST_CLUSTER").ok()?,
        tools: std::env::var("FATHOM_TEST_CLUSTER_TOOLS").ok()?,
        dir: std::env::var("FATHOM_TEST_CLUSTER_DIR").ok()?.into(),
    })
}

fn kubectl(words: &str) -> String {
    let output =
        Command::new(std::env::var("FATHOM_TEST_KUBECTL").unwrap_or_else(|_| String::from("kubectl")))
            .args(words.split_whitespace())
            .output()
            .expect("kubectl runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Gives objects to the cluster.
fn apply(yaml: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("objects.yaml");
    std::fs::write(&path, yaml).expect("written");
    let said = kubectl(&format!("apply -f {}", path.display()));
    assert!(!said.is_empty(), "kubectl took nothing of\n{yaml}");
}

/// A namespace of a test's own.
struct Namespace(String);

impl Namespace {
    fn new(name: &str) -> Self {
        kubectl(&format!("create namespace {name}"));
        // Pods need the account, which comes a moment later.
        eventually("its account", || {
            kubectl(&format!("get serviceaccount default -n {name} -o name")).contains("default")
        });
        Self(name.to_owned())
    }

    /// All that is fathom's in it.
    fn left(&self) -> String {
        kubectl(&format!(
            "get pod,pvc,configmap -n {} -l fathom/run -o name",
            self.0
        ))
    }
}

impl Namespace {
    /// Whether a pod of fathom's runs in it.
    fn has_running(&self) -> bool {
        let phase = format!(
            "get pod -n {} -l fathom/run -o jsonpath={{.items[*].status.phase}}",
            self.0
        );
        kubectl(&phase).contains("Running")
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        kubectl(&format!("delete namespace {} --wait=false", self.0));
    }
}

fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(
            begun.elapsed() < Duration::from_mins(2),
            "{what}: not within two minutes"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The command line of a run of `jobs` in `namespace`.
fn run(cluster: &Cluster, namespace: &Namespace, jobs: &str, more: &str) -> String {
    format!(
        "k8s run {jobs} --class {CLASS} --size 64Mi --image {} --pull Never -n {} {more}",
        cluster.image, namespace.0
    )
}

#[test]
fn classes_are_measured_compared_and_nothing_is_left() {
    let Some(cluster) = cluster() else {
        return skipped("classes_are_measured_compared_and_nothing_is_left", MISSING);
    };
    let (place, namespace) = (Place::new(), Namespace::new("measured"));
    // No privilege is asked for: that is all that such a namespace allows.
    kubectl("label namespace measured pod-security.kubernetes.io/enforce=restricted");
    apply(
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: csi-other}\nprovisioner: e2e.csi.local\n\
         volumeBindingMode: WaitForFirstConsumer\nreclaimPolicy: Delete\n",
    );
    place.write("mixed.fio", JOB);
    let line = run(
        &cluster,
        &namespace,
        "mixed.fio",
        "--class csi-other --repeat 2 -o d",
    );
    let found = place.fathom(&line).expect(0);
    assert!(
        found.stdout.contains("4 of 4 tests came to their end"),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains("attach times"), "{}", found.stdout);
    assert!(found.stdout.contains("pod made to started"), "{}", found.stdout);
    for part in ["csi-wait/1/mixed", "csi-other/2/mixed"] {
        place.fathom(&format!("show d/{part}")).expect(0);
    }
    let one: Value =
        serde_json::from_slice(&std::fs::read(place.path("d/csi-wait/1/test.json")).expect("kept"))
            .expect("JSON");
    for step in ["bound", "scheduled", "attached", "mounted", "started", "detached"] {
        assert!(
            at(&one, &format!("attach.{step}.seen_ms")).is_u64(),
            "{step}: {one}"
        );
    }
    assert_eq!(namespace.left(), "");
    let root = place.fathom(&run(
        &cluster,
        &namespace,
        "mixed.fio",
        "--repeat 1 --privileged -o e",
    ));
    assert_eq!(root.code, Some(1), "{}", root.stderr);
    assert!(root.stderr.contains("PodSecurity"), "{}", root.stderr);
    kubectl("delete storageclass csi-other");
}

#[test]
fn what_stands_in_the_way_is_named_in_seconds_and_the_rest_goes_on() {
    let Some(cluster) = cluster() else {
        return skipped(
            "what_stands_in_the_way_is_named_in_seconds_and_the_rest_goes_on",
            MISSING,
        );
    };
    let (place, namespace) = (Place::new(), Namespace::new("hindered"));
    place.write("mixed.fio", JOB);
    let fails = |line: &str, code, expected: &str| {
        let begun = Instant::now();
        let found = place.fathom(line);
        assert_eq!(found.code, Some(code), "{line}: {}", found.stderr);
        assert!(
            found.stderr.contains(expected),
            "{line}: {expected}: {}",
            found.stderr
        );
        assert!(
            begun.elapsed() < Duration::from_mins(1),
            "{line}: {:?}",
            begun.elapsed()
        );
        assert_eq!(namespace.left(), "", "{line}");
    };
    let without_image = run(&cluster, &namespace, "mixed.fio", "--repeat 1 -o d")
        .replace(&cluster.image, "e2e.local/nothing:1");
    fails(&without_image, 1, "ErrImageNeverPull");
    fails(
        &format!("k8s run mixed.fio --class nothing -n {} -o e", namespace.0),
        2,
        "no such storage class: it has csi-wait",
    );
    fails(
        &format!("k8s run mixed.fio --claim nothing -n {} -o e", namespace.0),
        2,
        "there is no such claim",
    );
    let nowhere = "--repeat 1 --node-selector disk=none --hindered-timeout 3s -o f";
    fails(
        &run(&cluster, &namespace, "mixed.fio", nowhere),
        1,
        "Unschedulable",
    );
    apply(
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: nobody}\nprovisioner: nobody.at.all\n\
         volumeBindingMode: Immediate\n",
    );
    // A claim that never binds, beside a class that works: the other side goes on.
    let line = run(
        &cluster,
        &namespace,
        "mixed.fio",
        "--class nobody --repeat 1 --start-timeout 8s -o g",
    );
    fails(&line, 1, "it has no volume yet");
    place.fathom("show g/csi-wait/1/mixed").expect(0);
    kubectl("delete storageclass nobody");
    kubectl(&format!(
        "create quota none -n {} --hard=persistentvolumeclaims=0",
        namespace.0
    ));
    let line = run(&cluster, &namespace, "mixed.fio", "--repeat 1 -o h");
    fails(&line, 1, "exceeded quota");
}

/// A kubeconfig of somebody without rights, and with those that are printed.
#[test]
fn who_has_no_rights_is_told_so_and_the_printed_ones_are_enough() {
    let Some(cluster) = cluster() else {
        return skipped(
            "who_has_no_rights_is_told_so_and_the_printed_ones_are_enough",
            MISSING,
        );
    };
    let (place, namespace) = (Place::new(), Namespace::new("rights"));
    place.write("mixed.fio", JOB);
    let token = kubectl(&format!("create token default -n {}", namespace.0));
    let authority = cluster.dir.join("pki/ca.crt");
    let config = format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: e2e, cluster: {{server: \"https://127.0.0.1:6443\", \
         certificate-authority: {}}}}}]\nusers: [{{name: who, user: {{token: {}}}}}]\n\
         contexts: [{{name: e2e, context: {{cluster: e2e, user: who}}}}]\ncurrent-context: e2e\n",
        authority.display(),
        token.trim()
    );
    let config = place.write("kubeconfig", config);
    let as_who = |line: &str| -> Outcome {
        let mut command = place.command_of(line.split(' '));
        command.env("KUBECONFIG", &config);
        finish(start(&mut command))
    };
    let line = run(&cluster, &namespace, "mixed.fio", "--repeat 1 -o d");
    let refused = as_who(&line);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("the cluster refuses"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("forbidden"), "{}", refused.stderr);
    assert_eq!(namespace.left(), "");
    let roles = place
        .fathom(&format!("k8s rbac -n {} --service-account default", namespace.0))
        .expect(0);
    apply(&roles.stdout);
    as_who(&line.replace("-o d", "-o e")).expect(0);
    assert_eq!(namespace.left(), "");
    kubectl("delete clusterrole,clusterrolebinding fathom");
}

#[test]
fn what_is_stopped_is_removed_and_taken_up_again() {
    let Some(cluster) = cluster() else {
        return skipped("what_is_stopped_is_removed_and_taken_up_again", MISSING);
    };
    let (place, namespace) = (Place::new(), Namespace::new("stopped"));
    place.write("mixed.fio", JOB);
    let line = run(&cluster, &namespace, "mixed.fio", "--repeat 2 -o d");
    let running = start(&mut place.command_of(line.split(' ')));
    let first = place.path("d/csi-wait/1/test.json");
    eventually("the first test", || first.exists());
    signal(&running, "INT");
    let found = finish(running);
    assert_eq!(found.code, Some(130), "{}", found.stderr);
    assert_eq!(namespace.left(), "");
    let resumed = place.fathom("k8s run --resume d").expect(0);
    assert!(
        resumed.stderr.contains("1 of 2 tests are done"),
        "{}",
        resumed.stderr
    );
    assert!(place.path("d/csi-wait/2/test.json").exists());
    // What a killed one left goes by its labels.
    let killed = start(&mut place.command_of(line.replace("-o d", "-o e").split(' ')));
    eventually("its objects", || !namespace.left().is_empty());
    signal(&killed, "KILL");
    drop(finish(killed));
    place.fathom(&format!("k8s cleanup -n {}", namespace.0)).expect(0);
    assert_eq!(namespace.left(), "");
}

#[test]
fn all_nodes_begin_at_one_moment_and_are_put_together() {
    let Some(cluster) = cluster() else {
        return skipped("all_nodes_begin_at_one_moment_and_are_put_together", MISSING);
    };
    let (place, namespace) = (Place::new(), Namespace::new("fleet"));
    place.write("mixed.fio", JOB);
    let line = run(
        &cluster,
        &namespace,
        "mixed.fio",
        "--repeat 1 --nodes all --alone -o d",
    );
    let json = place.json(&line);
    let fleet = at(&json, "fleet.0");
    let members = at(fleet, "members").as_array().expect("members");
    let mut nodes: Vec<&str> = members.iter().filter_map(|one| one["node"].as_str()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["node-a", "node-b"]);
    // Put together is the sum of each.
    let ios = |member: u32| {
        let text = std::fs::read(place.path(format!("d/csi-wait/1/{member}/mixed/run.json"))).expect("kept");
        let run: Value = serde_json::from_slice(&text).expect("JSON");
        ["read", "write"].map(|op| count(&run, &format!("summary.jobs.0.{op}.ios")))
    };
    let (one, other) = (ios(1), ios(2));
    for (place, total) in at(fleet, "total").as_array().expect("totals").iter().enumerate() {
        assert_eq!(count(total, "ios"), one[place] + other[place]);
        assert_eq!(count(total, "lat_ns.n"), one[place] + other[place]);
    }
    println!(
        "start skew {} ns, give or take {} ns",
        count(fleet, "start_skew_ns"),
        count(fleet, "start_skew_uncertainty_ns")
    );
    assert!(count(fleet, "start_skew_ns") < 2_000_000_000, "{fleet}");
    assert_eq!(namespace.left(), "");
}

#[test]
fn a_volume_in_use_is_watched_from_its_node_until_ctrl_c() {
    let Some(cluster) = cluster() else {
        return skipped("a_volume_in_use_is_watched_from_its_node_until_ctrl_c", MISSING);
    };
    let (place, namespace) = (Place::new(), Namespace::new("watched"));
    let unused = format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: unused, namespace: {}}}\nspec: {{accessModes: [ReadWriteOnce], \
         storageClassName: {CLASS}, resources: {{requests: {{storage: 1Mi}}}}}}\n",
        namespace.0
    );
    apply(&unused);
    let record = |claim: &str, more: &str| {
        format!(
            "k8s record {claim} --privileged --image {} --pull Never -n {} {more}",
            cluster.image, namespace.0
        )
    };
    let none = place.fathom(&record("unused", "-o e"));
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    assert!(
        none.stderr
            .contains("unused: the claim is bound to no volume yet"),
        "{}",
        none.stderr
    );
    place.write(
        "steady.fio",
        "[job]\nrw=randwrite\nbs=4k\nsize=8m\nioengine=psync\ndirect=1\nruntime=60\ntime_based\nrate_iops=200\n",
    );
    let load =
        start(&mut place.command_of(run(&cluster, &namespace, "steady.fio", "--repeat 1 -o d").split(' ')));
    eventually("the load", || namespace.has_running());
    let claim = kubectl(&format!(
        "get pvc -n {} -l fathom/run -o jsonpath={{.items[0].metadata.name}}",
        namespace.0
    ));
    let recording = start(&mut place.command_of(record(&claim, "-o w").split(' ')));
    std::thread::sleep(Duration::from_secs(8));
    signal(&recording, "INT");
    let ended = finish(recording).expect(0);
    assert!(
        ended.stdout.contains("1 of 1 tests came to their end"),
        "{}",
        ended.stdout
    );
    let explained = place.fathom(&format!("explain w/{claim}/1/record"));
    let on = format!("claim {}/{claim} of pod {claim} on node node-", namespace.0);
    assert!(
        explained.stdout.replace("\n  ", " ").contains(&on),
        "{on}: {}",
        explained.stdout
    );
    signal(&load, "INT");
    assert_eq!(finish(load).code, Some(130));
    assert_eq!(namespace.left(), "");
}

#[test]
fn a_pod_that_goes_away_and_a_kubelet_that_dies_are_named() {
    let Some(cluster) = cluster() else {
        return skipped("a_pod_that_goes_away_and_a_kubelet_that_dies_are_named", MISSING);
    };
    let (place, namespace) = (Place::new(), Namespace::new("gone"));
    place.write("long.fio", JOB.replace("runtime=1", "runtime=60"));
    let begin = |more: &str| {
        let line = run(&cluster, &namespace, "long.fio", more);
        let running = start(&mut place.command_of(line.split(' ')));
        eventually("the load", || namespace.has_running());
        running
    };
    let running = begin("--repeat 1 -o d");
    let begun = Instant::now();
    kubectl(&format!(
        "delete pod -n {} -l fathom/run --wait=false",
        namespace.0
    ));
    let found = finish(running);
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    assert!(found.stderr.contains("failed: pod fathom-"), "{}", found.stderr);
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    assert_eq!(namespace.left(), "");
    let running = begin(
        "--repeat 1 --node-selector kubernetes.io/hostname=node-b --hindered-timeout 2s --removal-timeout 3s -o e",
    );
    let kubelet = Server::of(&cluster.dir.join("run/b/kubelet.pid"));
    kubelet.kill();
    let found = finish(running);
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    assert!(
        found.stderr.contains("node node-b: NodeStatusUnknown"),
        "{}",
        found.stderr
    );
    // Nobody is there who could end its pod: that is said, and how to do without.
    assert!(
        found.stderr.contains("is still being removed"),
        "{}",
        found.stderr
    );
    place
        .fathom(&format!("k8s cleanup --force -n {}", namespace.0))
        .expect(0);
    assert_eq!(namespace.left(), "");
    kubelet.begin_again();
    eventually("its node", || {
        let ready = kubectl("get node node-b -o jsonpath={.status.conditions[?(@.type==\"Ready\")].status}");
        ready.contains("True")
    });
}

#[test]
fn an_api_server_that_begins_again_disturbs_nothing() {
    let Some(cluster) = cluster() else {
        return skipped("an_api_server_that_begins_again_disturbs_nothing", MISSING);
    };
    let (place, namespace) = (Place::new(), Namespace::new("restarted"));
    place.write("mixed.fio", JOB.replace("runtime=1", "runtime=8"));
    let line = run(&cluster, &namespace, "mixed.fio", "--repeat 1 -o d");
    let running = start(&mut place.command_of(line.split(' ')));
    eventually("the load", || namespace.has_running());
    let server = Server::of(&cluster.dir.join("run/cp/kube-apiserver.pid"));
    server.kill();
    std::thread::sleep(Duration::from_secs(2));
    server.begin_again();
    finish(running).expect(0);
    place.fathom("show d/csi-wait/1/mixed").expect(0);
    assert_eq!(namespace.left(), "");
}

/// A server of the cluster, by the file with its process number.
struct Server {
    pid_file: PathBuf,
    pid: String,
    argv: Vec<String>,
}

impl Server {
    fn of(pid_file: &Path) -> Self {
        let pid = std::fs::read_to_string(pid_file)
            .expect("a process number")
            .trim()
            .to_owned();
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).expect("a process");
        Self {
            pid_file: pid_file.to_owned(),
            argv: line.split_terminator('\0').map(str::to_owned).collect(),
            pid,
        }
    }

    fn kill(&self) {
        let killed = Command::new("kill").args(["-9", &self.pid]).status();
        assert!(killed.expect("kill runs").success());
        eventually("its end", || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        });
    }

    /// Starts it again as it was started; whoever takes the cluster down finds it by its file.
    fn begin_again(&self) {
        let started = Command::new("sh")
            .args([
                "-c",
                "log=$1 pid=$2; shift 2; setsid nohup \"$@\" >> \"$log\" 2>&1 < /dev/null & echo $! > \"$pid\"",
                "sh",
            ])
            .args([&self.pid_file.with_extension("log"), &self.pid_file])
            .args(&self.argv)
            .status();
        assert!(started.expect("a shell runs").success());
    }
}

/// Passes connections on to the API server, and cuts each of the first `cuts` after so many bytes from there.
fn cutting(after_bytes: usize, cuts: &Arc<AtomicU32>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let cuts = Arc::clone(cuts);
    std::thread::spawn(move || {
        for here in listener.incoming().flatten() {
            let Ok(there) = TcpStream::connect("127.0.0.1:6443") else {
                continue;
            };
            let (mut from_here, mut to_there) =
                (here.try_clone().expect("one"), there.try_clone().expect("one"));
            std::thread::spawn(move || {
                drop(std::io::copy(&mut from_here, &mut to_there));
                drop(to_there.shutdown(std::net::Shutdown::Write));
            });
            let cuts = Arc::clone(&cuts);
            std::thread::spawn(move || pass(there, here, after_bytes, &cuts));
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream, after_bytes: usize, cuts: &AtomicU32) {
    let mut buffer = vec![0; 64 << 10];
    let mut passed = 0;
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
        passed += read;
        let left = |left: u32| left.checked_sub(1);
        if passed > after_bytes
            && cuts
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
                .is_ok()
        {
            break;
        }
    }
    drop(from.shutdown(std::net::Shutdown::Both));
    drop(to.shutdown(std::net::Shutdown::Both));
}

#[test]
fn results_come_whole_over_a_connection_that_is_cut_ten_times() {
    let Some(cluster) = cluster() else {
        return skipped(
            "results_come_whole_over_a_connection_that_is_cut_ten_times",
            MISSING,
        );
    };
    let (place, namespace) = (Place::new(), Namespace::new("cut"));
    place.write(
        "many.fio",
        "[job]\nrw=randread\nbs=4k\nsize=8m\nioengine=psync\nruntime=5\ntime_based\nrate_iops=100000\n",
    );
    let cuts = Arc::new(AtomicU32::new(10));
    let port = cutting(128 << 10, &cuts);
    let config = std::fs::read_to_string(cluster.dir.join("pki/admin.kubeconfig")).expect("a kubeconfig");
    let config = place.write("kubeconfig", config.replace(":6443", &format!(":{port}")));
    let line = run(
        &cluster,
        &namespace,
        "many.fio",
        "--repeat 1 --option=--record=io -o d --json -q",
    );
    let mut command = place.command_of(line.split(' '));
    command.env("KUBECONFIG", &config);
    let found = finish(start(&mut command)).expect(0);
    assert_eq!(
        cuts.load(Ordering::SeqCst),
        0,
        "not cut often enough: {}",
        found.stdout
    );
    // Each file was compared by its digest; that it reads as a record shows that it is one.
    place.fathom("show d/csi-wait/1/many").expect(0);
    place.fathom("explain d/csi-wait/1/many");
    assert_eq!(namespace.left(), "");
}

#[test]
fn a_pod_that_the_kubelet_evicts_is_named() {
    let Some(cluster) = cluster() else {
        return skipped("a_pod_that_the_kubelet_evicts_is_named", MISSING);
    };
    let (place, namespace) = (Place::new(), Namespace::new("evicted"));
    // What is recorded is more than a pod may keep on its node.
    apply(&format!(
        "apiVersion: v1\nkind: LimitRange\nmetadata: {{name: small, namespace: {}}}\nspec: {{limits: [{{type: Container, \
         default: {{ephemeral-storage: 1Mi}}, defaultRequest: {{ephemeral-storage: 1Mi}}}}]}}\n",
        namespace.0
    ));
    place.write(
        "many.fio",
        "[job]\nrw=randread\nbs=4k\nsize=8m\nioengine=psync\nruntime=90\ntime_based\nrate_iops=50000\n",
    );
    let line = run(
        &cluster,
        &namespace,
        "many.fio",
        "--repeat 1 --option=--record=io -o d",
    );
    let begun = Instant::now();
    let found = place.fathom(&line);
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    assert!(
        found.stderr.contains("Evicted") && found.stderr.contains("ephemeral"),
        "{}",
        found.stderr
    );
    println!("evicted and named after {} s", begun.elapsed().as_secs());
    assert!(begun.elapsed() < Duration::from_secs(80), "{:?}", begun.elapsed());
    assert_eq!(namespace.left(), "");
}

#[test]
fn an_experiment_in_one_file_runs_loads_and_commands_and_puts_their_records_together() {
    let Some(cluster) = cluster() else {
        return skipped(
            "an_experiment_in_one_file_runs_loads_and_commands_and_puts_their_records_together",
            MISSING,
        );
    };
    let (place, namespace) = (Place::new(), Namespace::new("experiment"));
    place.write("mixed.fio", JOB);
    place.write(
        "cluster.toml",
        format!(
            "class = [\"{CLASS}\"]\nsize = \"64Mi\"\nimage = \"{}\"\npull = \"Never\"\nrecords = \"{}\"\ncluster-name = \"e2e\"\n\
             [[run]]\nname = \"load\"\njobs = [\"mixed.fio\"]\nrepeat = 1\nnodes = [\"all\"]\n\
             [[run]]\nname = \"copy\"\nrepeat = 2\ncommand-image = \"{}\"\nprivileged = true\n\
             prepare = \"head -c 4000000 /dev/urandom > /data/from\"\ncommand = \"dd if=/data/from of=/data/to bs=64k conv=fsync\"\n",
            cluster.image,
            place.path("fleet").display(),
            cluster.tools
        ),
    );
    let line = format!("k8s run cluster.toml -n {} -o d", namespace.0);
    let found = place.fathom(&line).expect(0);
    assert!(
        found.stdout.contains("2 pods at once on class"),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains("took "), "{}", found.stdout);
    assert_eq!(namespace.left(), "");
    // What each contributes was computed in its pod; the prefix says what the directories do.
    let explained = place.fathom("explain fleet --json").expect(0).json();
    let fleets = at(&explained, "fleets").as_array().expect("fleets");
    assert_eq!(fleets.len(), 2, "{explained:#}");
    let of_load = fleets
        .iter()
        .find(|one| at(one, "on").as_str().is_some_and(|on| on.ends_with(": job")));
    let of_load = of_load.expect("the load");
    let ios = |member: u32, op: &str| {
        let path = place.path(format!("d/load/{CLASS}/1/{member}/mixed/run.json"));
        let run: Value = serde_json::from_slice(&std::fs::read(path).expect("kept")).expect("JSON");
        count(&run, &format!("summary.jobs.0.{op}.ios"))
    };
    for (number, op) in ["read", "write"].into_iter().enumerate() {
        let total = at(of_load, &format!("total.{number}"));
        assert_eq!(count(total, "ios"), ios(1, op) + ios(2, op), "{op}");
    }
    let nodes = place.listing(&format!("fleet/series/cluster=e2e/class={CLASS}"));
    assert_eq!(nodes, ["node=node-a", "node=node-b"]);
    // It was done: taken up again, nothing is left to do.
    let again = place.fathom(&line).expect(0);
    assert!(again.stderr.contains("2 of 2 tests are done"), "{}", again.stderr);
}
