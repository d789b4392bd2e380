//! The rights that `fathom k8s` needs, as roles.

use crate::objects::{MANAGED_BY, MANAGED_LABEL};
use serde_json::{Value, json};

/// Who gets them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    User(String),
    /// Of the same namespace.
    ServiceAccount(String),
}

const NAME: &str = "fathom";
const API: &str = "rbac.authorization.k8s.io";

/// A role in `namespace`, one of the cluster for what can be done without (classes, attachments, nodes), and who has them.
pub fn roles(namespace: &str, subject: Option<&Subject>) -> Vec<Value> {
    let metadata = json!({"name": NAME, "labels": {MANAGED_LABEL: MANAGED_BY}});
    let mut within = metadata.clone();
    within["namespace"] = json!(namespace);
    let rule = |groups: &[&str], resources: &[&str], verbs: &[&str]| json!({"apiGroups": groups, "resources": resources, "verbs": verbs});
    let mut objects = vec![
        json!({"apiVersion": format!("{API}/v1"), "kind": "Role", "metadata": within, "rules": [
            rule(&[""], &["pods", "configmaps", "persistentvolumeclaims"], &["create", "get", "list", "delete"]),
            rule(&[""], &["pods/log"], &["get"]),
            // Who asks by WebSocket gets, who asks as before creates.
            rule(&[""], &["pods/exec"], &["create", "get"]),
            rule(&[""], &["events"], &["list"]),
        ]}),
        json!({"apiVersion": format!("{API}/v1"), "kind": "ClusterRole", "metadata": metadata, "rules": [
            rule(&["storage.k8s.io"], &["storageclasses", "volumeattachments"], &["list"]),
            rule(&[""], &["nodes"], &["get", "list"]),
        ]}),
    ];
    let Some(subject) = subject else { return objects };
    let who = match subject {
        Subject::User(name) => json!({"kind": "User", "name": name, "apiGroup": API}),
        Subject::ServiceAccount(name) => {
            json!({"kind": "ServiceAccount", "name": name, "namespace": namespace})
        }
    };
    for (kind, role, metadata) in [
        ("RoleBinding", "Role", within),
        ("ClusterRoleBinding", "ClusterRole", metadata),
    ] {
        objects.push(json!({
            "apiVersion": format!("{API}/v1"),
            "kind": kind,
            "metadata": metadata,
            "roleRef": {"apiGroup": API, "kind": role, "name": NAME},
            "subjects": [who],
        }));
    }
    objects
}

#[cfg(test)]
mod tests;
