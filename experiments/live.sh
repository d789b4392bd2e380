#!/bin/sh
# An experiment's loads on its disks served live, on ext4 on a loop device, against the same in virtual time.
#
#   live.sh [-t SECONDS] [-o DIR] aks-2019|raid0-2019 [RUN...]
#
# Needs root, FUSE and jq. FATHOM names the program (fathom). Prints a row a run: IOPS and latencies, and how far the live run is
# from the model's own. Bars: IOPS within 3 %, p50, p80 and p95 within 5 %, on a quiet machine.
set -eu

seconds=15 out=live-runs
while getopts t:o: flag; do
    case $flag in
        t) seconds=$OPTARG ;;
        o) out=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
here=$(cd "$(dirname "$0")" && pwd)
experiment=${1:-}
[ $# -gt 0 ] && shift
case $experiment in
    # test1 was on another disk; test2, 6, 7 and 8 are the page cache's, whose size is this machine's and not the model's.
    aks-2019) [ $# -gt 0 ] || set -- test3 test4 test5 test9 ;;
    # The post ran its array twice.
    raid0-2019) [ $# -gt 0 ] || set -- sdc sdd md0 md0-again ;;
    *) echo "live.sh aks-2019|raid0-2019" >&2; exit 2 ;;
esac

fathom=$(command -v "${FATHOM:-fathom}") || { echo "set FATHOM to the program" >&2; exit 2; }
command -v jq >/dev/null || { echo "install jq" >&2; exit 2; }
mkdir "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
mkdir "$work/at" "$work/mnt"
server=
stop() {
    if [ -n "$server" ]; then
        kill -TERM "$server" 2>/dev/null || true
        wait "$server" || true
    fi
    server=
}
end() {
    stop
    rm -rf "$work/at" "$work/mnt" "$work/said"
    rmdir "$work" 2>/dev/null || true
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# The disk of a run, and the job of it.
about() {
    case $experiment-$1 in
        aks-2019-*) disk=p15 ;;
        *-sdc) disk=p15 ;;
        *-sdd) disk=p40 ;;
        *) disk=md0 ;;
    esac
    disk=$here/$experiment/$disk.toml
    case $experiment in
        aks-2019) job="$here/$experiment/jobs.fio --section $1" ;;
        *) job="$here/$experiment/fiowrite-${1%-again}.ini --group_reporting 1" ;;
    esac
}
serve() {
    : >"$work/said"
    "$fathom" disk serve "model:$1" --size 16GiB --at "$work/at" --loop --mkfs ext4 --mount "$work/mnt" --control "$work/ctl" \
        >"$work/said" &
    server=$!
    until grep -q '^ready$' "$work/said"; do
        kill -0 "$server" 2>/dev/null || { server=; echo "not served" >&2; exit 1; }
        sleep 0.2
    done
}
figures='.jobs[0].write | [.iops, .lat_ns.p50 / 1e6, .lat_ns.p80 / 1e6, .lat_ns.p95 / 1e6] | @tsv'
served=
for name in "$@"; do
    about "$name"
    if [ "$served" != "$disk" ]; then
        stop
        serve "$disk"
        served=$disk
    fi
    for way in live model; do
        on=$work/mnt
        [ "$way" = live ] || on=model:$disk
        # A file system's first writes of a file are not a disk's: extents and a journal. 1 GiB is laid out before.
        # shellcheck disable=SC2086 # a job is several words
        "$fathom" run $job --runtime "${seconds}s" --time_based --size 1g --overwrite 1 --on "$on" -q \
            --percentile_list 50:80:95:99 -o "$out/$name-$way" --json | jq -r "$figures" >"$out/$name-$way.figures"
    done
    paste "$out/$name-live.figures" "$out/$name-model.figures" | awk -v name="$name" '{
        printf "%s: %.0f IOPS (%+.1f %%), p50 %.3f ms (%+.1f %%), p80 %.3f ms (%+.1f %%), p95 %.3f ms (%+.1f %%)\n", name,
            $1, ($1 / $5 - 1) * 100, $2, ($2 / $6 - 1) * 100, $3, ($3 / $7 - 1) * 100, $4, ($4 / $8 - 1) * 100}'
done
