//! All tests of a plan, one after the other or the sides of a repeat together: made, waited for, fetched, removed.
//!
//! Data in: a plan, a cluster, a directory. Data out: a directory for each test with what its pod left, its log and `test.json`;
//! events meanwhile. It must not print, nor know what a result means.
//!
//! Whatever happens to one test (an image that cannot be had, a node that is gone, a claim that nobody binds) is that test's
//! failure, named by what the cluster says; the others go on. What was made is removed at the end, also where the user stops it.

mod failure;

use crate::agent::Said;
use crate::api::{Cluster, ClusterError, Kind, attachments_of};
use crate::attach::{AttachTimes, Look, Moment};
use crate::cleanup::{self, Named, Removal};
use crate::collect::{self, Source};
use crate::objects::{self, CONTAINER, CONTRIBUTION_OF, PROGRAM};
use crate::phases::Phases;
use crate::plan::{ALONE, Plan, Records, Side, Test, Work};
use crate::prefix::{ALONE_RUN, Prefix, RunKey};
use crate::start::{self, ClockOffset, Release};
use crate::state::{Grade, Hindrance, Seen, hindrances, is_started};
use anyhow::{Context as _, bail};
use fathom_door::own;
use futures_util::future::join_all;
use k8s_openapi::api::core::v1::{Event as ClusterEvent, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::VolumeAttachment;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore};

/// How often a pod that is to start is looked at: what was seen is late by up to that.
const LOOK: Duration = Duration::from_millis(250);
/// How often one that works is.
const LOOK_AT_WORK: Duration = Duration::from_millis(500);
/// So many of them take no longer turns than one.
const MEMBERS_AT_A_LOOK: u32 = 50;
/// So much is asked of the cluster at once.
const CALLS: usize = 32;
/// Every so many looks at one that works, its node is looked at, too.
const NODE_EVERY: u32 = 6;
/// A side that failed so often in a row is given up: its other tests would fail alike.
const FAILURES_MAX: u32 = 2;
/// The exit code of a recording that has all but some rows.
const INCOMPLETE: i32 = 1;
/// The plan, and what came of a test.
pub const PLAN_FILE: &str = "plan.json";
pub const TEST_FILE: &str = "test.json";
/// What the pod said.
const LOG_FILE: &str = "pod.log";

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestDone {
    pub test: Test,
    /// Of which side, as it is called.
    pub side: String,
    pub pod: String,
    pub node: Option<String>,
    /// When its pod was made, in milliseconds since the Unix epoch.
    pub started_unix_ms: i64,
    pub attach: AttachTimes,
    pub steps: Vec<StepDone>,
    /// Where its time went; `None`: it did not come to its end, or waited for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
    /// Why it did not come to its end.
    pub failed: Option<String>,
    /// How often a connection was cut while its results were fetched.
    pub cuts: u32,
    /// When it began, where all members of its side begin at one moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    /// Why what came of it is not where all records are put, and only here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstored: Option<String>,
}

/// What came of one command line in a pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepDone {
    pub name: String,
    /// `None`: ended by a signal, or never started.
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Why it could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstarted: Option<String>,
}

impl TestDone {
    /// Whether there is something to compare.
    pub fn is_whole(&self) -> bool {
        self.failed.is_none()
    }

    /// What carrying it out took beside its load and its volume's way to the pod and back, in milliseconds; `None`: not known.
    pub fn overhead_ms(&self) -> Option<u64> {
        let load = self
            .steps
            .iter()
            .filter(|step| !step.name.starts_with(CONTRIBUTION_OF));
        let steps_ms = load.map(|step| step.took_ms).sum::<Option<u64>>()?;
        Some(self.phases?.overhead_ms(steps_ms))
    }
}

/// What happens.
#[derive(Debug)]
pub enum Event<'a> {
    /// A test begins: the how manyth of how many.
    Begun {
        test: Test,
        number: usize,
        of: usize,
    },
    /// It waits for this; told whenever that changes.
    Waits {
        test: Test,
        hindrance: &'a Hindrance,
    },
    /// Its pod runs on this node.
    Runs {
        test: Test,
        node: &'a str,
    },
    Step {
        test: Test,
        said: &'a Said,
    },
    /// All members are prepared, and told to begin: their clocks are known to so many nanoseconds.
    Released {
        members: usize,
        uncertainty_ns: u64,
    },
    /// Bytes of its results that are here, and all of them.
    Fetched {
        test: Test,
        bytes: u64,
        of: u64,
    },
    Ended {
        done: &'a TestDone,
    },
    /// The rest of its side's tests is left out.
    GivenUp {
        side: &'a Side,
    },
    /// All is over: what was made is removed.
    Removing,
}

/// How it ended.
#[derive(Debug)]
pub struct Outcome {
    pub done: Vec<TestDone>,
    pub interrupted: bool,
    /// What could not be removed in time.
    pub left: Vec<Named>,
}

/// Where things are told to.
pub type Tell<'a> = &'a dyn Fn(&Event<'_>);

/// What all tests share.
struct Conduct<'a> {
    cluster: &'a Cluster,
    plan: &'a Plan,
    dir: &'a Path,
    tell: Tell<'a>,
    stop: &'a AtomicBool,
    /// What is asked of the cluster at once.
    calls: Semaphore,
    /// What many members look at together.
    seen: Mutex<Option<Arc<Snapshot>>>,
    /// Where runs are put as well.
    records: Option<&'a Prefix>,
}

/// All objects of a run at a moment: one look for all its members.
struct Snapshot {
    at: Instant,
    pods: HashMap<String, Pod>,
    claims: HashMap<String, PersistentVolumeClaim>,
    events: HashMap<String, Vec<ClusterEvent>>,
    attachments: Option<Vec<VolumeAttachment>>,
}

/// Where what came of a test is kept, below the directory of the whole.
pub fn test_dir(dir: &Path, plan: &Plan, test: Test) -> PathBuf {
    let dir = dir
        .join(plan.sides[test.side].name())
        .join(test.repeat.to_string());
    if plan.begins_together() {
        dir.join(test.member.to_string())
    } else {
        dir
    }
}

/// Under which key a run is put.
fn key_of(plan: &Plan, to: &Records, done: &TestDone, step: &str) -> RunKey {
    let alone = if plan.begins_together() && done.test.member == ALONE {
        ALONE_RUN
    } else {
        ""
    };
    let node = done.node.as_deref().unwrap_or_default();
    let class = to
        .classes
        .get(done.test.side)
        .map_or_else(|| done.side.as_str(), String::as_str);
    RunKey::new(
        &to.cluster,
        class,
        node,
        &format!("{}-{step}{alone}", plan.name_of(done.test)),
    )
}

/// Carries out all tests of `plan` that are not in `done`, into `dir`; puts their runs to `records` as well, if the plan says so.
///
/// # Errors
/// The directory cannot be written to, or the cluster refuses or does not answer while it is cleaned up.
pub async fn carry_out(
    cluster: &Cluster,
    plan: &Plan,
    dir: &Path,
    done: Vec<TestDone>,
    tell: Tell<'_>,
    stop: &AtomicBool,
    records: Option<&Prefix>,
) -> anyhow::Result<Outcome> {
    let conduct = Conduct {
        cluster,
        plan,
        dir,
        tell,
        stop,
        calls: Semaphore::new(CALLS),
        seen: Mutex::new(None),
        records,
    };
    let all = conduct.all(done).await;
    conduct.tell(&Event::Removing);
    let left = cleanup::remove(cluster, Some(&plan.id), plan.patience.removal, Removal::Graceful).await;
    let (done, interrupted) = all?;
    Ok(Outcome {
        done,
        interrupted,
        left: left?,
    })
}

impl Conduct<'_> {
    fn tell(&self, event: &Event<'_>) {
        (self.tell)(event);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Puts the runs of a test where all records are.
    async fn store(&self, done: &mut TestDone) {
        let (Some(prefix), Some(to)) = (self.records, &self.plan.records) else {
            return;
        };
        if !done.is_whole() {
            return;
        }
        let _permit = self.calls.acquire().await;
        let dir = test_dir(self.dir, self.plan, done.test);
        let stored = async {
            for step in &done.steps {
                let Some(of) = step.name.strip_prefix(CONTRIBUTION_OF) else {
                    continue;
                };
                prefix
                    .put(&key_of(self.plan, to, done, of), &dir.join(of))
                    .await?;
            }
            Ok::<(), anyhow::Error>(())
        };
        done.unstored = stored.await.err().map(|why| format!("{why:#}"));
    }

    /// All tests that are left; whether the user stopped it.
    async fn all(&self, mut done: Vec<TestDone>) -> anyhow::Result<(Vec<TestDone>, bool)> {
        // What was measured, and did not reach the place of all records when it was.
        for one in done.iter_mut().filter(|one| one.unstored.is_some()) {
            self.store(one).await;
            write_json(&test_dir(self.dir, self.plan, one.test).join(TEST_FILE), one)?;
        }
        let batches = self.plan.batches();
        let is_done = |done: &[TestDone], test: Test| done.iter().any(|one| one.test == test);
        let of = batches.iter().map(Vec::len).sum();
        let mut number = 0;
        let mut failures = vec![0_u32; self.plan.sides.len()];
        for batch in batches {
            let numbered = (number + 1..).zip(batch.iter().copied());
            number += batch.len();
            let left =
                numbered.filter(|(_, test)| !is_done(&done, *test) && failures[test.side] < FAILURES_MAX);
            let left: Vec<(usize, Test)> = left.collect();
            let ended = self.batch(&left, of).await?;
            let interrupted = ended.iter().any(Option::is_none);
            let ended: Vec<TestDone> = ended.into_iter().flatten().collect();
            for (number, side) in self.plan.sides.iter().enumerate() {
                let mut its = ended.iter().filter(|one| one.test.side == number).peekable();
                let Some(repeat) = its.peek().map(|one| one.test.repeat) else {
                    continue;
                };
                let failed = &mut failures[number];
                *failed = if its.any(TestDone::is_whole) {
                    0
                } else {
                    *failed + 1
                };
                if *failed == FAILURES_MAX && repeat != self.plan.repeat {
                    self.tell(&Event::GivenUp { side });
                }
            }
            done.extend(ended);
            if interrupted {
                return Ok((done, true));
            }
            if self.is_stopped() {
                return Ok((done, true));
            }
        }
        Ok((done, false))
    }

    /// The tests that go on at once; `None`: stopped by the user.
    async fn batch(&self, tests: &[(usize, Test)], of: usize) -> anyhow::Result<Vec<Option<TestDone>>> {
        let mut under_way = Vec::new();
        for &(number, test) in tests {
            self.tell(&Event::Begun { test, number, of });
            let dir = test_dir(self.dir, self.plan, test);
            own::make_directories(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
            under_way.push(Running::new(self, test, dir));
        }
        if self.plan.begins_together() {
            join_all(under_way.iter_mut().map(Running::prepare)).await;
            self.release(&mut under_way).await;
        }
        let ended = join_all(under_way.into_iter().map(Running::into_done)).await;
        ended.into_iter().collect()
    }

    /// Has all members that are prepared begin at one moment, as far as their clocks let that be said.
    async fn release(&self, members: &mut [Running<'_>]) {
        let mut ready: Vec<&mut Running<'_>> = members
            .iter_mut()
            .filter(|member| member.stopped.is_none())
            .collect();
        join_all(ready.iter_mut().map(|member| member.ask_for_time())).await;
        let uncertainty = ready
            .iter()
            .filter_map(|member| member.clock)
            .map(|clock| clock.uncertainty_ns);
        self.tell(&Event::Released {
            members: ready.len(),
            uncertainty_ns: uncertainty.max().unwrap_or_default(),
        });
        let moment = start::moment_for(ready.len());
        join_all(ready.into_iter().map(|member| member.release(moment))).await;
    }

    /// What there is of this run: as many look at it as there are members, and the cluster is asked once.
    /// It is younger than `since`: what was made before is in it.
    async fn snapshot(&self, since: Instant) -> Result<Arc<Snapshot>, ClusterError> {
        let mut seen = self.seen.lock().await;
        if let Some(seen) = seen
            .as_ref()
            .filter(|seen| seen.at >= since && seen.at.elapsed() < LOOK)
        {
            return Ok(Arc::clone(seen));
        }
        let at = Instant::now();
        let selector = cleanup::selector(Some(&self.plan.id));
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        let pods = self.cluster.pods(&selector).await?;
        let claims = self.cluster.claims(&selector).await?;
        let mut events: HashMap<String, Vec<ClusterEvent>> = HashMap::new();
        for event in self.cluster.all_events().await? {
            let of = name(&event.involved_object.name);
            events.entry(of).or_default().push(event);
        }
        let found = Arc::new(Snapshot {
            at,
            pods: pods
                .into_iter()
                .map(|pod| (name(&pod.metadata.name), pod))
                .collect(),
            claims: claims
                .into_iter()
                .map(|claim| (name(&claim.metadata.name), claim))
                .collect(),
            events,
            attachments: self.cluster.all_attachments().await?,
        });
        *seen = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Where the program lies in the pods.
    const fn program(&self) -> &'static str {
        match self.plan.work {
            Work::Load { .. } | Work::Watch { .. } => PROGRAM,
            Work::Command { .. } => objects::PROGRAM_BESIDE,
        }
    }

    /// How often pods at work are looked at: a thousand of them not as often as one.
    fn look_at_work(&self) -> Duration {
        LOOK_AT_WORK * (1 + self.plan.members / MEMBERS_AT_A_LOOK)
    }
}

/// Why a test did not come to its end.
enum Stopped {
    /// By the user.
    User,
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A test under way.
struct Running<'a> {
    conduct: &'a Conduct<'a>,
    test: Test,
    name: String,
    claim: String,
    begun: Instant,
    started_unix_ms: i64,
    node: Option<String>,
    attach: AttachTimes,
    steps: Vec<StepDone>,
    phases: Phases,
    cuts: u32,
    told: Option<Hindrance>,
    dir: PathBuf,
    clock: Option<ClockOffset>,
    released: Option<Release>,
    /// Why it does not go on.
    stopped: Option<Stopped>,
    /// Lines of the agent's that were heard.
    heard: usize,
    ready: bool,
    /// It was told to end.
    ending: Option<Instant>,
}

impl<'a> Running<'a> {
    fn new(conduct: &'a Conduct<'a>, test: Test, dir: PathBuf) -> Self {
        let name = conduct.plan.name_of(test);
        let claim = match &conduct.plan.sides[test.side] {
            Side::Class(_) => name.clone(),
            Side::Claim(claim) => claim.clone(),
        };
        Self {
            conduct,
            test,
            name,
            claim,
            begun: Instant::now(),
            started_unix_ms: jiff::Timestamp::now().as_millisecond(),
            node: None,
            attach: AttachTimes {
                looked_every_ms: LOOK.as_millis() as u64,
                ..AttachTimes::default()
            },
            steps: Vec::new(),
            phases: Phases::default(),
            cuts: 0,
            told: None,
            dir,
            clock: None,
            released: None,
            stopped: None,
            heard: 0,
            ready: false,
            ending: None,
        }
    }

    fn done(self, failed: Option<String>) -> TestDone {
        let waits_for_others = self.conduct.plan.begins_together();
        TestDone {
            phases: (failed.is_none() && !waits_for_others).then_some(self.phases),
            side: self.conduct.plan.sides[self.test.side].name().to_owned(),
            test: self.test,
            pod: self.name,
            node: self.node,
            started_unix_ms: self.started_unix_ms,
            attach: self.attach,
            steps: self.steps,
            failed,
            cuts: self.cuts,
            release: self.released,
            unstored: None,
        }
    }

    /// As far as the moment at which all members begin.
    async fn prepare(&mut self) {
        let prepared = async {
            self.begin().await?;
            self.wait_for_agent(Until::Ready).await
        };
        self.stopped = prepared.await.err();
    }

    async fn ask_for_time(&mut self) {
        let _permit = self.conduct.calls.acquire().await;
        let conduct = self.conduct;
        match start::clock_of(conduct.cluster, &self.name, conduct.program()).await {
            Ok(clock) => self.clock = Some(clock),
            Err(error) => self.stopped = Some(Stopped::Failed(error)),
        }
    }

    /// Has it begin at a moment of this machine's clock.
    async fn release(&mut self, moment_unix_ns: u64) {
        let Some(clock) = self.clock else { return };
        let _permit = self.conduct.calls.acquire().await;
        let conduct = self.conduct;
        let there = clock.there(moment_unix_ns);
        let told = start::release(conduct.cluster, &self.name, conduct.program(), there).await;
        self.stopped = told.err().map(Stopped::Failed);
    }

    /// What is left of it, whatever becomes of it. `None`: stopped by the user.
    async fn into_done(mut self) -> anyhow::Result<Option<TestDone>> {
        let begun = self.conduct.plan.begins_together();
        let ended = match self.stopped.take() {
            Some(stopped) => Err(stopped),
            None => {
                async {
                    if !begun {
                        self.begin().await?;
                    }
                    let begun = Instant::now();
                    self.wait_for_agent(Until::Done).await?;
                    self.phases.working_ms = ms_since(begun);
                    let begun = Instant::now();
                    let brought = self.bring().await;
                    self.phases.fetching_ms = ms_since(begun);
                    brought
                }
                .await
            }
        };
        let failed = match ended {
            Ok(()) => None,
            Err(Stopped::User) => return Ok(None),
            Err(Stopped::Failed(why)) => Some(format!("{why:#}")),
        };
        if failed.is_some() {
            self.keep_log().await?;
        }
        self.remove(failed.is_none()).await;
        let conduct = self.conduct;
        let path = self.dir.join(TEST_FILE);
        let mut done = self.done(failed);
        conduct.store(&mut done).await;
        write_json(&path, &done)?;
        conduct.tell(&Event::Ended { done: &done });
        Ok(Some(done))
    }

    /// Until its pod runs.
    async fn begin(&mut self) -> Result<(), Stopped> {
        let conduct = self.conduct;
        let begun = Instant::now();
        {
            let _permit = conduct.calls.acquire().await;
            for object in objects::all(conduct.plan, self.test) {
                conduct.cluster.create(&object).await?;
            }
        }
        self.phases.making_ms = ms_since(begun);
        self.begun = Instant::now();
        self.started_unix_ms = jiff::Timestamp::now().as_millisecond();
        self.wait_for_start().await?;
        self.phases.starting_ms = ms_since(self.begun);
        Ok(())
    }

    /// Brings what it left.
    async fn bring(&mut self) -> Result<(), Stopped> {
        let conduct = self.conduct;
        let log = self.keep_log().await?;
        let source = Source {
            cluster: conduct.cluster,
            pod: &self.name,
            program: conduct.program(),
        };
        let test = self.test;
        let mut progress = |bytes: u64, of: u64| conduct.tell(&Event::Fetched { test, bytes, of });
        let _permit = conduct.calls.acquire().await;
        self.cuts = collect::fetch(&source, &self.dir, &mut progress).await?;
        // A record that others' load made incomplete is one, and says so itself.
        let watches = matches!(conduct.plan.work, Work::Watch { .. });
        let is_well = |step: &&StepDone| step.exit == Some(0) || watches && step.exit == Some(INCOMPLETE);
        let wrong = self.steps.iter().find(|step| !is_well(step));
        if let Some(first) = wrong {
            let kept = self.dir.join(format!("{}.txt", first.name));
            let why = failure::why(conduct.plan, first, &log);
            return Err(Stopped::Failed(anyhow::anyhow!(
                "{why} (all that it said is in {} and {LOG_FILE} beside it)",
                kept.display()
            )));
        }
        Ok(())
    }

    async fn wait_for_start(&mut self) -> Result<(), Stopped> {
        let patience = self.conduct.plan.patience;
        let mut hindered_since: Option<Instant> = None;
        loop {
            if self.conduct.is_stopped() {
                return Err(Stopped::User);
            }
            let looked = self.look().await?;
            if let Some(pod) = &looked.pod
                && is_started(pod, CONTAINER)
            {
                self.node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
                let node = self.node.as_deref().unwrap_or_default();
                self.conduct.tell(&Event::Runs {
                    test: self.test,
                    node,
                });
                return Ok(());
            }
            let worst = looked.hindrances.into_iter().next();
            match worst.as_ref().map(|worst| worst.grade) {
                Some(Grade::Over) => return Err(because(worst)),
                Some(Grade::Hindered) => {
                    let since = hindered_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > patience.hindered {
                        return Err(because(worst));
                    }
                }
                Some(Grade::Underway) | None => hindered_since = None,
            }
            if self.begun.elapsed() > patience.start {
                let waited = format!("it has not started within {} s", patience.start.as_secs());
                return Err(Stopped::Failed(match &worst {
                    Some(worst) => anyhow::anyhow!("{waited}: {worst}"),
                    None => anyhow::anyhow!("{waited}, and the cluster does not say why"),
                }));
            }
            self.note(worst);
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Tells what it waits for, whenever that changes.
    fn note(&mut self, worst: Option<Hindrance>) {
        if let Some(hindrance) = &worst
            && self.told.as_ref() != Some(hindrance)
        {
            self.conduct.tell(&Event::Waits {
                test: self.test,
                hindrance,
            });
        }
        self.told = worst;
    }

    async fn look(&mut self) -> Result<Looked, ClusterError> {
        let conduct = self.conduct;
        let cluster = conduct.cluster;
        let shared = if conduct.plan.begins_together() {
            Some(conduct.snapshot(self.begun).await?)
        } else {
            None
        };
        let pod = match &shared {
            Some(shared) => shared.pods.get(&self.name).cloned(),
            None => cluster.pod(&self.name).await?,
        };
        let claim = match shared.as_ref().and_then(|shared| shared.claims.get(&self.claim)) {
            Some(claim) => Some(claim.clone()),
            None => cluster.claim(&self.claim).await?,
        };
        let mut events = match &shared {
            Some(shared) => shared.events.get(&self.name).cloned().unwrap_or_default(),
            None => cluster.events(&self.name).await?,
        };
        if self.claim != self.name {
            events.extend(cluster.events(&self.claim).await?);
        }
        let volume = claim
            .as_ref()
            .and_then(|claim| claim.spec.as_ref()?.volume_name.clone());
        let attachments = match (&volume, &shared) {
            (None, _) => None,
            _ if self.attach.attached.is_some() => None,
            (Some(volume), Some(shared)) => {
                let all = shared.attachments.clone();
                all.map(|all| attachments_of(all, volume))
            }
            (Some(volume), None) => cluster.attachments(volume).await?,
        };
        self.attach.look(&Look {
            at_ms: self.begun.elapsed().as_millis() as u64,
            pod: pod.as_ref(),
            claim: claim.as_ref(),
            attachments: attachments.as_deref(),
            events: &events,
            container: CONTAINER,
        });
        let mut hindrances = hindrances(&Seen {
            pod: pod.as_ref(),
            claim: claim.as_ref(),
            node: None,
            events: &events,
        });
        if pod.is_none() {
            hindrances.insert(0, gone(&self.name));
        }
        Ok(Looked { pod, hindrances })
    }

    /// Until the agent says so.
    async fn wait_for_agent(&mut self, until: Until) -> Result<(), Stopped> {
        let patience = self.conduct.plan.patience;
        let begun = Instant::now();
        let mut hindered_since: Option<Instant> = None;
        for looks in 0_u32.. {
            if self.conduct.is_stopped() {
                self.stop().await?;
            }
            if self.listen(until).await? {
                return Ok(());
            }
            if begun.elapsed() > patience.work {
                return Err(Stopped::Failed(anyhow::anyhow!(
                    "its work is not done after {} s",
                    patience.work.as_secs()
                )));
            }
            let worst = self.look_at_work(looks).await?;
            match worst.as_ref().map(|worst| worst.grade) {
                Some(Grade::Over) => return Err(because(worst)),
                Some(Grade::Hindered) => {
                    let since = hindered_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > patience.hindered {
                        return Err(because(worst));
                    }
                }
                // Not looked at, this time.
                None if !looks.is_multiple_of(NODE_EVERY) => {}
                Some(Grade::Underway) | None => hindered_since = None,
            }
            if worst.is_some() {
                self.note(worst);
            }
            tokio::time::sleep(self.conduct.look_at_work()).await;
        }
        Ok(())
    }

    /// The user wants no more: what only watches is ended and brought, all else is given up.
    async fn stop(&mut self) -> Result<(), Stopped> {
        let Work::Watch { .. } = self.conduct.plan.work else {
            return Err(Stopped::User);
        };
        match self.ending {
            None => {
                self.ending = Some(Instant::now());
                let conduct = self.conduct;
                Ok(start::end(conduct.cluster, &self.name, conduct.program()).await?)
            }
            Some(since) if since.elapsed() > self.conduct.plan.patience.removal => Err(Stopped::User),
            Some(_) => Ok(()),
        }
    }

    /// Hears what the agent says; whether it has come so far.
    async fn listen(&mut self, until: Until) -> Result<bool, Stopped> {
        let Some(log) = self.conduct.cluster.log(&self.name, CONTAINER).await? else {
            return Ok(false);
        };
        let said: Vec<Said> = log.lines().filter_map(Said::read).collect();
        for said in said.iter().skip(self.heard) {
            self.hear(said);
        }
        self.heard = self.heard.max(said.len());
        Ok(match until {
            Until::Ready if said.contains(&Said::Done) => {
                return Err(Stopped::Failed(anyhow::anyhow!(
                    "its agent ended before it was ready"
                )));
            }
            Until::Ready => self.ready,
            Until::Done => said.contains(&Said::Done),
        })
    }

    fn hear(&mut self, said: &Said) {
        match said {
            Said::Ended { step, exit, took_ms } => self.steps.push(StepDone {
                name: step.clone(),
                exit: *exit,
                took_ms: *took_ms,
                unstarted: None,
            }),
            Said::Failed { step, why } => self.steps.push(StepDone {
                name: step.clone(),
                exit: None,
                took_ms: None,
                unstarted: Some(why.clone()),
            }),
            Said::Ready => self.ready = true,
            Said::Released {
                due_unix_ns,
                at_unix_ns,
            } => {
                self.released = self.clock.map(|clock| Release {
                    clock,
                    due_unix_ns: clock.here(*due_unix_ns),
                    at_unix_ns: clock.here(*at_unix_ns),
                });
            }
            Said::Begun { .. } | Said::Done => {}
        }
        self.conduct.tell(&Event::Step {
            test: self.test,
            said,
        });
    }

    async fn look_at_work(&mut self, looks: u32) -> Result<Option<Hindrance>, ClusterError> {
        if !looks.is_multiple_of(NODE_EVERY) {
            return Ok(None);
        }
        let cluster = self.conduct.cluster;
        let pod = if self.conduct.plan.begins_together() {
            self.conduct
                .snapshot(self.begun)
                .await?
                .pods
                .get(&self.name)
                .cloned()
        } else {
            cluster.pod(&self.name).await?
        };
        let node = match &self.node {
            Some(node) => cluster.node(node).await?,
            None => None,
        };
        if pod.is_none() {
            return Ok(Some(gone(&self.name)));
        }
        let found = hindrances(&Seen {
            pod: pod.as_ref(),
            claim: None,
            node: node.as_ref(),
            events: &[],
        });
        Ok(found.into_iter().next())
    }

    /// Keeps what the pod said, and gives it with what its agent said. A pod that cannot be asked has said nothing.
    async fn keep_log(&self) -> anyhow::Result<String> {
        let Ok(Some(log)) = self.conduct.cluster.log(&self.name, CONTAINER).await else {
            return Ok(String::new());
        };
        let plain: String = log
            .lines()
            .filter(|line| Said::read(line).is_none())
            .flat_map(|line| [line, "\n"])
            .collect();
        write(&self.dir.join(LOG_FILE), plain.as_bytes())?;
        Ok(log)
    }

    /// Removes its objects; what is left is removed, and told, at the end of all. Of one that `went_well` it is waited for that its
    /// volume is detached.
    async fn remove(&mut self, went_well: bool) {
        let cluster = self.conduct.cluster;
        let volume = match cluster.claim(&self.claim).await {
            Ok(Some(claim)) => claim.spec.and_then(|spec| spec.volume_name),
            _ => None,
        };
        let begun = Instant::now();
        let deleted = cluster.delete(Kind::Pod, &self.name).await;
        let _removed_at_the_end = cluster.delete(Kind::ConfigMap, &self.name).await;
        // What others use stays attached.
        let ours = !matches!(self.conduct.plan.work, Work::Watch { .. });
        if deleted.is_ok() && ours && went_well {
            let waits = Instant::now();
            self.wait_for_detach(volume.as_deref(), begun).await;
            self.phases.detaching_ms = ms_since(waits);
        }
        if let Side::Class(_) = &self.conduct.plan.sides[self.test.side] {
            let _removed_at_the_end = cluster.delete(Kind::Claim, &self.claim).await;
        }
        self.phases.removing_ms = ms_since(begun).saturating_sub(self.phases.detaching_ms);
    }

    async fn wait_for_detach(&mut self, volume: Option<&str>, begun: Instant) {
        let cluster = self.conduct.cluster;
        let patience = self.conduct.plan.patience.removal;
        while begun.elapsed() < patience && !self.conduct.is_stopped() {
            let pod: Result<Option<Pod>, ClusterError> = cluster.pod(&self.name).await;
            let attached = match volume {
                None => return,
                Some(volume) => cluster.attachments(volume).await,
            };
            match (pod, attached) {
                (Ok(None), Ok(Some(attached))) if attached.is_empty() => {
                    self.attach.detached = self.attach.attached.map(|_| Moment {
                        seen_ms: begun.elapsed().as_millis() as u64,
                        stated_unix_ms: None,
                        stated_in_seconds: false,
                    });
                    return;
                }
                (Ok(None), Ok(None)) => {
                    let why = "detached: this user may not look at volume attachments";
                    return self.attach.missing.push(why.to_owned());
                }
                (Ok(_), Ok(_)) => {}
                (Err(error), _) | (_, Err(error)) => {
                    return self.attach.missing.push(format!("detached: {error}"));
                }
            }
            tokio::time::sleep(LOOK).await;
        }
        self.attach
            .missing
            .push(format!("detached: not within {} s", patience.as_secs()));
    }
}

fn ms_since(begun: Instant) -> u64 {
    begun.elapsed().as_millis() as u64
}

/// What of the agent is waited for.
#[derive(Debug, Clone, Copy)]
enum Until {
    Ready,
    Done,
}

/// What was looked at.
struct Looked {
    pod: Option<Pod>,
    hindrances: Vec<Hindrance>,
}

fn gone(name: &str) -> Hindrance {
    Hindrance {
        grade: Grade::Over,
        of: format!("pod {name}"),
        reason: String::from("Gone"),
        message: String::from("somebody deleted it"),
    }
}

fn because(hindrance: Option<Hindrance>) -> Stopped {
    Stopped::Failed(match hindrance {
        Some(hindrance) => anyhow::anyhow!("{hindrance}"),
        None => anyhow::anyhow!("it cannot go on"),
    })
}

/// The tests in `dir` that have come to their end.
///
/// # Errors
/// What is kept of them cannot be read.
pub fn read_done(dir: &Path, plan: &Plan) -> anyhow::Result<Vec<TestDone>> {
    let mut done = Vec::new();
    for test in plan.tests() {
        let path = test_dir(dir, plan, test).join(TEST_FILE);
        if !path.is_file() {
            continue;
        }
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let one: TestDone = serde_json::from_str(&text)
            .with_context(|| format!("{}: not what came of a test", path.display()))?;
        if one.is_whole() {
            done.push(one);
        }
    }
    Ok(done)
}

/// Reads the plan of a directory.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn read_plan(dir: &Path) -> anyhow::Result<Plan> {
    let path = dir.join(PLAN_FILE);
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!(
            "cannot read {}: is {} what fathom k8s run left?",
            path.display(),
            dir.display()
        )
    })?;
    serde_json::from_str(&text).with_context(|| format!("{}: not a plan of fathom's", path.display()))
}

/// Keeps the plan in its directory.
///
/// # Errors
/// It cannot be written.
pub fn write_plan(dir: &Path, plan: &Plan) -> anyhow::Result<()> {
    if dir.join(PLAN_FILE).exists() {
        bail!(
            "{}: there is a run in it already: --resume {0} goes on with it",
            dir.display()
        );
    }
    write_json(&dir.join(PLAN_FILE), plan)
}

fn write_json(path: &Path, document: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(document).context("a document becomes text")?;
    text.push('\n');
    write(path, text.as_bytes())
}

/// A file of this run's own, whole or not at all.
fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let writing = || format!("cannot write {}", path.display());
    let part = path.with_extension("part");
    let mut file = own::create_temporary(&part).with_context(writing)?;
    file.write_all(content).with_context(writing)?;
    own::rename(&part, path).with_context(writing)
}

#[cfg(test)]
mod tests;
