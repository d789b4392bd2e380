use super::{Subject, roles};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};

#[test]
fn roles_are_such_as_the_api_takes() {
    let objects = roles("bench", Some(&Subject::ServiceAccount(String::from("ci"))));
    let role: Role = serde_json::from_value(objects[0].clone()).expect("a role");
    assert_eq!(role.metadata.namespace.as_deref(), Some("bench"));
    let _cluster: ClusterRole = serde_json::from_value(objects[1].clone()).expect("a cluster role");
    let binding: RoleBinding = serde_json::from_value(objects[2].clone()).expect("a binding");
    assert_eq!(binding.subjects.expect("somebody")[0].name, "ci");
    let _all: ClusterRoleBinding = serde_json::from_value(objects[3].clone()).expect("a binding");
    assert_eq!(roles("bench", None).len(), 2);
}
