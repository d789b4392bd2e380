//! A cluster as this crate uses it: few calls, tried again while it does not answer, its refusals in words.
//!
//! Data in: names and objects. Data out: what the cluster says. It must not know tests.

use k8s_openapi::api::core::v1::{ConfigMap, Event, Node, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::{StorageClass, VolumeAttachment};
use kube::api::{Api, AttachParams, AttachedProcess, DeleteParams, ListParams, LogParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;
use std::future::Future;
use std::time::{Duration, Instant};

/// How long a cluster that does not answer is asked again.
const ANSWER_PATIENCE: Duration = Duration::from_mins(2);
const AGAIN_FIRST: Duration = Duration::from_millis(200);
const AGAIN_MOST: Duration = Duration::from_secs(3);
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);

/// What the cluster did not do.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("there is no way to a cluster: {0}. Set KUBECONFIG, or give --context")]
    NoWay(String),
    /// It answered, and said no.
    #[error("{what}: the cluster refuses: {message}")]
    Refused {
        what: String,
        /// As `Forbidden`, `Invalid`, `AlreadyExists`.
        reason: String,
        message: String,
    },
    #[error("{what}: the API server did not answer for {for_s} s: {cause}")]
    Silent { what: String, for_s: u64, cause: String },
}

impl ClusterError {
    /// Whether the user may not do it, or the cluster does not take such an object: trying again changes nothing.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    fn is_reason(&self, wanted: &str) -> bool {
        matches!(self, Self::Refused { reason, .. } if reason == wanted)
    }
}

/// A namespace of a cluster.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    namespace: String,
    server: String,
}

impl Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster")
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// The cluster of `context`, or of the current one, or the one that this runs in.
    ///
    /// # Errors
    /// There is none, or what describes it is wrong.
    pub async fn connect(context: Option<&str>, namespace: Option<&str>) -> Result<Self, ClusterError> {
        let no_way = |error: &dyn std::error::Error| ClusterError::NoWay(with_causes(error));
        let mut config = match context {
            None => Config::infer().await.map_err(|error| no_way(&error))?,
            Some(context) => {
                let options = KubeConfigOptions {
                    context: Some(context.to_owned()),
                    ..KubeConfigOptions::default()
                };
                Config::from_kubeconfig(&options)
                    .await
                    .map_err(|error| no_way(&error))?
            }
        };
        config.connect_timeout = Some(CONNECT);
        config.read_timeout = Some(ANSWER);
        config.write_timeout = Some(ANSWER);
        let server = config.cluster_url.to_string();
        let namespace = namespace.map_or_else(|| config.default_namespace.clone(), str::to_owned);
        let client = Client::try_from(config).map_err(|error| no_way(&error))?;
        Ok(Self {
            client,
            namespace,
            server,
        })
    }

    /// The context that a kubeconfig makes the current one.
    pub fn current_context() -> Option<String> {
        let current = Kubeconfig::read().ok()?.current_context;
        current.filter(|name| !name.is_empty())
    }

    /// What the cluster of `context` is called in the kubeconfig; `cluster` where there is none.
    pub fn name_of(context: Option<&str>) -> String {
        let config = Kubeconfig::read().unwrap_or_default();
        let wanted = context.or(config.current_context.as_deref());
        let mut contexts = config.contexts.iter();
        let found = contexts.find(|one| Some(one.name.as_str()) == wanted);
        let named = found.and_then(|one| Some(one.context.as_ref()?.cluster.clone()));
        named.unwrap_or_else(|| String::from("cluster"))
    }

    /// Where it is.
    pub fn server(&self) -> &str {
        &self.server
    }

    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its version, which also says whether it answers.
    ///
    /// # Errors
    /// It does not.
    pub async fn version(&self) -> Result<String, ClusterError> {
        let what = format!("asking {} for its version", self.server);
        let info = self.ask(&what, || self.client.apiserver_version()).await?;
        Ok(info.git_version)
    }

    /// Tries a call again while there is no answer. An answer, whatever it is, ends that.
    async fn ask<T, F>(&self, what: &str, call: impl Fn() -> F) -> Result<T, ClusterError>
    where
        F: Future<Output = kube::Result<T>>,
    {
        let begun = Instant::now();
        let mut pause = AGAIN_FIRST;
        loop {
            match call().await {
                Ok(answer) => return Ok(answer),
                Err(kube::Error::Api(status)) if !is_passing(status.code) => {
                    return Err(ClusterError::Refused {
                        what: what.to_owned(),
                        reason: status.reason.clone(),
                        message: status.message.clone(),
                    });
                }
                Err(error) if begun.elapsed() > ANSWER_PATIENCE => {
                    return Err(ClusterError::Silent {
                        what: what.to_owned(),
                        for_s: begun.elapsed().as_secs(),
                        cause: with_causes(&error),
                    });
                }
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(AGAIN_MOST);
        }
    }

    fn within<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Makes an object of kind `ConfigMap`, `PersistentVolumeClaim` or `Pod`. One of that name that an unanswered try has made is
    /// taken for it: names are this run's own.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn create(&self, object: &Value) -> Result<(), ClusterError> {
        match object["kind"].as_str() {
            Some("ConfigMap") => self.create_as::<ConfigMap>(object).await,
            Some("PersistentVolumeClaim") => self.create_as::<PersistentVolumeClaim>(object).await,
            _ => self.create_as::<Pod>(object).await,
        }
    }

    async fn create_as<K>(&self, object: &Value) -> Result<(), ClusterError>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope>
            + Clone
            + Debug
            + DeserializeOwned
            + Serialize,
        K::DynamicType: Default,
    {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let kind = object["kind"].as_str().unwrap_or_default();
        let what = format!("making {kind} {name}");
        let typed: K = serde_json::from_value(object.clone()).map_err(|error| ClusterError::Refused {
            what: what.clone(),
            reason: String::from("Invalid"),
            message: error.to_string(),
        })?;
        let api = self.within::<K>();
        let params = PostParams::default();
        let made = self.ask(&what, || api.create(&params, &typed)).await;
        match made {
            Err(error) if error.is_reason("AlreadyExists") => Ok(()),
            other => other.map(drop),
        }
    }

    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn pod(&self, name: &str) -> Result<Option<Pod>, ClusterError> {
        let api = self.within::<Pod>();
        self.ask(&format!("looking at pod {name}"), || api.get_opt(name))
            .await
    }

    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn claim(&self, name: &str) -> Result<Option<PersistentVolumeClaim>, ClusterError> {
        let api = self.within::<PersistentVolumeClaim>();
        self.ask(&format!("looking at claim {name}"), || api.get_opt(name))
            .await
    }

    /// The events about objects of that name.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn events(&self, name: &str) -> Result<Vec<Event>, ClusterError> {
        let api = self.within::<Event>();
        let list = ListParams::default().fields(&format!("involvedObject.name={name}"));
        let found = self
            .ask(&format!("looking at the events of {name}"), || api.list(&list))
            .await?;
        Ok(found.items)
    }

    /// The attachments of a volume; `None`: this user may not look at them.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub async fn attachments(&self, volume: &str) -> Result<Option<Vec<VolumeAttachment>>, ClusterError> {
        let found = self.all_attachments().await?;
        Ok(found.map(|found| attachments_of(found, volume)))
    }

    /// The attachments of all volumes; `None`: this user may not look at them.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub async fn all_attachments(&self) -> Result<Option<Vec<VolumeAttachment>>, ClusterError> {
        let api: Api<VolumeAttachment> = Api::all(self.client.clone());
        let list = ListParams::default();
        let found = self
            .ask("looking at volume attachments", || api.list(&list))
            .await;
        match found {
            Ok(found) => Ok(Some(found.items)),
            Err(error) if error.is_refusal() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All pods with this label selector.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn pods(&self, selector: &str) -> Result<Vec<Pod>, ClusterError> {
        self.all("pods", &ListParams::default().labels(selector)).await
    }

    /// All claims with this label selector.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn claims(&self, selector: &str) -> Result<Vec<PersistentVolumeClaim>, ClusterError> {
        self.all("claims", &ListParams::default().labels(selector)).await
    }

    /// All events of the namespace.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn all_events(&self) -> Result<Vec<Event>, ClusterError> {
        self.all("events", &ListParams::default()).await
    }

    async fn all<K>(&self, what: &str, list: &ListParams) -> Result<Vec<K>, ClusterError>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        let api = self.within::<K>();
        let found = self.ask(&format!("looking at {what}"), || api.list(list)).await?;
        Ok(found.items)
    }

    /// The pods of the namespace that use a claim, and are not over.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn users_of(&self, claim: &str) -> Result<Vec<Pod>, ClusterError> {
        let uses = |pod: &Pod| {
            let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
            let mut claims = volumes.filter_map(|volume| volume.persistent_volume_claim.as_ref());
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
            claims.any(|used| used.claim_name == claim) && !matches!(phase, Some("Succeeded" | "Failed"))
        };
        let pods: Vec<Pod> = self.all("pods", &ListParams::default()).await?;
        Ok(pods.into_iter().filter(uses).collect())
    }

    /// All nodes with these labels that take pods.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn nodes(&self, selector: &str) -> Result<Vec<String>, ClusterError> {
        let api: Api<Node> = Api::all(self.client.clone());
        let list = ListParams::default().labels(selector);
        let found = self.ask("looking at nodes", || api.list(&list)).await?;
        let takes_pods = |node: &Node| {
            let spec = node.spec.as_ref();
            let closed = spec.and_then(|spec| spec.unschedulable).unwrap_or_default();
            let taints = spec.iter().flat_map(|spec| spec.taints.iter().flatten());
            let mut hard = taints.filter(|taint| taint.effect != "PreferNoSchedule");
            !closed && hard.next().is_none()
        };
        let open = found.items.into_iter().filter(takes_pods);
        Ok(open.filter_map(|node| node.metadata.name).collect())
    }

    /// The storage classes by name; `None`: this user may not look at them.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub async fn classes(&self) -> Result<Option<Vec<StorageClass>>, ClusterError> {
        let api: Api<StorageClass> = Api::all(self.client.clone());
        let list = ListParams::default();
        match self.ask("looking at storage classes", || api.list(&list)).await {
            Ok(found) => Ok(Some(found.items)),
            Err(error) if error.is_refusal() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A node; `None`: it is not there, or this user may not look at it.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub async fn node(&self, name: &str) -> Result<Option<Node>, ClusterError> {
        let api: Api<Node> = Api::all(self.client.clone());
        match self
            .ask(&format!("looking at node {name}"), || api.get_opt(name))
            .await
        {
            Err(error) if error.is_refusal() => Ok(None),
            other => other,
        }
    }

    /// What a container has written so far, empty while it has not begun; `None`: its node, which has it, does not answer now.
    ///
    /// # Errors
    /// The cluster refuses.
    pub async fn log(&self, pod: &str, container: &str) -> Result<Option<String>, ClusterError> {
        let params = LogParams {
            container: Some(container.to_owned()),
            ..LogParams::default()
        };
        match self.within::<Pod>().logs(pod, &params).await {
            Ok(log) => Ok(Some(log)),
            Err(kube::Error::Api(status)) if is_passing(status.code) => Ok(None),
            Err(kube::Error::Api(status)) if matches!(status.reason.as_str(), "BadRequest" | "NotFound") => {
                Ok(Some(String::new()))
            }
            Err(kube::Error::Api(status)) => Err(ClusterError::Refused {
                what: format!("reading the log of pod {pod}"),
                reason: status.reason.clone(),
                message: status.message.clone(),
            }),
            // Whether it is the cluster that does not answer, the next question shows.
            Err(_) => Ok(None),
        }
    }

    /// Runs a command in a container, once: a stream that is cut is its caller's matter.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn exec(&self, pod: &str, container: &str, words: &[&str]) -> kube::Result<AttachedProcess> {
        self.exec_as(pod, container, words, false).await
    }

    /// The same with a way to feed it.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn exec_fed(
        &self,
        pod: &str,
        container: &str,
        words: &[&str],
    ) -> kube::Result<AttachedProcess> {
        self.exec_as(pod, container, words, true).await
    }

    async fn exec_as(
        &self,
        pod: &str,
        container: &str,
        words: &[&str],
        fed: bool,
    ) -> kube::Result<AttachedProcess> {
        let params = AttachParams::default()
            .container(container)
            .stdin(fed)
            .stdout(true)
            .stderr(true)
            .max_stdout_buf_size(1 << 20);
        self.within::<Pod>()
            .exec(pod, words.iter().copied(), &params)
            .await
    }

    /// Deletes an object of this name; one that is not there is deleted.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn delete(&self, kind: Kind, name: &str) -> Result<(), ClusterError> {
        self.delete_with(kind, name, &DeleteParams::default()).await
    }

    /// The same without waiting for a node that may never answer again: what ran there may go on.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn delete_by_force(&self, kind: Kind, name: &str) -> Result<(), ClusterError> {
        self.delete_with(kind, name, &DeleteParams::default().grace_period(0))
            .await
    }

    async fn delete_with(&self, kind: Kind, name: &str, params: &DeleteParams) -> Result<(), ClusterError> {
        let what = format!("deleting {} {name}", kind.name());
        let deleted = match kind {
            Kind::Pod => {
                let api = self.within::<Pod>();
                self.ask(&what, || api.delete(name, params)).await.map(drop)
            }
            Kind::Claim => {
                let api = self.within::<PersistentVolumeClaim>();
                self.ask(&what, || api.delete(name, params)).await.map(drop)
            }
            Kind::ConfigMap => {
                let api = self.within::<ConfigMap>();
                self.ask(&what, || api.delete(name, params)).await.map(drop)
            }
        };
        match deleted {
            Err(error) if error.is_reason("NotFound") => Ok(()),
            other => other,
        }
    }

    /// The names of all objects of `kind` with this label selector.
    ///
    /// # Errors
    /// The cluster refuses, or does not answer.
    pub async fn names(&self, kind: Kind, selector: &str) -> Result<Vec<String>, ClusterError> {
        match kind {
            Kind::Pod => self.names_of::<Pod>(kind, selector).await,
            Kind::Claim => self.names_of::<PersistentVolumeClaim>(kind, selector).await,
            Kind::ConfigMap => self.names_of::<ConfigMap>(kind, selector).await,
        }
    }

    async fn names_of<K>(&self, kind: Kind, selector: &str) -> Result<Vec<String>, ClusterError>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        let api = self.within::<K>();
        let list = ListParams::default().labels(selector);
        let found = self
            .ask(&format!("looking for {}s", kind.name()), || {
                api.list_metadata(&list)
            })
            .await?;
        let names = found.items.into_iter().filter_map(|object| object.metadata.name);
        Ok(names.collect())
    }
}

/// What a run makes, in the order in which it is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Pod,
    ConfigMap,
    Claim,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Pod, Self::ConfigMap, Self::Claim];

    /// As `kubectl` calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pod => "pod",
            Self::ConfigMap => "configmap",
            Self::Claim => "persistentvolumeclaim",
        }
    }
}

/// Those of one volume.
pub(crate) fn attachments_of(
    all: impl IntoIterator<Item = VolumeAttachment>,
    volume: &str,
) -> Vec<VolumeAttachment> {
    let is_its = |one: &VolumeAttachment| one.spec.source.persistent_volume_name.as_deref() == Some(volume);
    all.into_iter().filter(is_its).collect()
}

/// Whether an answer says no more than "not now".
const fn is_passing(code: u16) -> bool {
    matches!(code, 429 | 500 | 502 | 503 | 504)
}

/// An error with what caused it.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = next.source();
    }
    text
}
