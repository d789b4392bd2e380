#!/bin/bash
# e2e.sh: everything from nothing, one Rust test, and away again
set -e; cd "$(dirname "$0")"; ms() { date +%s%3N; }; t0=$(ms); lap() { echo "[$(( $(ms) - t0 )) ms] $*"; }
export NODE_IP=$(ip -4 -o addr show scope global | awk '{split($4,a,"/"); print a[1]; exit}')
trap "bash down.sh; lap down" EXIT
rm -rf run pki; bash certs.sh $PWD/pki node-a node-b; lap certificates
bash up.sh; lap control plane
bash node.sh node-a a 1 topology.kubernetes.io/zone=z1 & bash node.sh node-b b 2 topology.kubernetes.io/zone=z2 & wait; lap two nodes
for l in a b; do (setsid nohup bin/tinycsi --node node-$l --data $PWD/run/csi-data --kubelet-dir $PWD/run/$l/kubelet $([ $l = a ] && echo --controller --kubeconfig pki/admin.kubeconfig) > run/$l/tinycsi.log 2>&1 & echo $! > run/$l/tinycsi.pid); done
export KUBECONFIG=$PWD/pki/admin.kubeconfig; export FATHOM_TEST_KUBECTL=$PWD/bin/kubectl
bin/kubectl apply -f manifests/class.yaml; lap class
until [ "$(bin/kubectl get csinode -o jsonpath='{.items[*].spec.drivers[*].name}' | wc -w)" = 2 ]; do sleep 0.1; done; lap csi registered
"${@:-true}"; lap test
