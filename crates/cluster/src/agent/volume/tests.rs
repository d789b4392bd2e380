use super::mounted_at;

#[test]
fn volumes_are_found_by_their_mounts_for_pods() {
    let mounts = "\
        22 1 254:0 / / rw shared:1 - ext4 /dev/root rw\n\
        90 22 254:0 /csi/pvc-1 /var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount rw - ext4 /dev/root rw\n\
        91 22 7:1 / /var/lib/kubelet/pods/u2/volumes/kubernetes.io~local-volume/l\\040fs rw - ext4 /dev/loop1 rw\n\
        92 22 0:6 /loop2 /k/plugins/kubernetes.io~local-volume/volumeDevices/l-raw/u3 rw - devtmpfs devtmpfs rw\n";
    let at = |volume| mounted_at(mounts, volume);
    assert_eq!(
        at("pvc-1").as_deref(),
        Some("/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount")
    );
    assert_eq!(
        at("l fs").as_deref(),
        Some("/var/lib/kubelet/pods/u2/volumes/kubernetes.io~local-volume/l fs")
    );
    assert_eq!(
        at("l-raw").as_deref(),
        Some("/k/plugins/kubernetes.io~local-volume/volumeDevices/l-raw/u3")
    );
    assert_eq!(at("pvc"), None);
}
