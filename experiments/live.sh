#!/bin/sh
# An experiment's loads on its disks served live, against the same in virtual time.
#
#   live.sh [-t SECONDS] [-o DIR] aks-2019|raid0-2019 [RUN...]
#
# Needs root, FUSE and jq. FATHOM names the program (fathom). Prints a row a run: IOPS and latencies, and how far the live run is
# from the model's own. Bars: IOPS within 3 %, p50, p80 and p95 within 5 %, on a quiet machine. Runs are on ext4 on a loop device, but for
# two: raid0-2019 has 1,024 in flight, of which a loop device takes 128, and test1's I/Os take less than a tenth of a millisecond, in which
# every layer shows. These are on the served file itself.
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
    # test2, 6, 7 and 8 go through the page cache: docs/disk.md says why they are not run live.
    aks-2019) [ $# -gt 0 ] || set -- test1 test3 test4 test5 test9 ;;
    # The post ran its array twice.
    raid0-2019) [ $# -gt 0 ] || set -- sdc sdd md0 md0-again ;;
    *) echo "live.sh aks-2019|raid0-2019" >&2; exit 2 ;;
esac

command -v jq >/dev/null || { echo "install jq" >&2; exit 2; }
. "$here/served.sh"

# The disk of a run, what it is served as, and the job of it.
about() {
    case $experiment-$1 in
        aks-2019-test1) disk=os-disk ;;
        aks-2019-*) disk=p15 ;;
        *-sdc) disk=p15 ;;
        *-sdd) disk=p40 ;;
        *) disk=md0 ;;
    esac
    disk=$here/$experiment/$disk.toml
    case $1 in
        test[2-9]) as=serve ;;
        *) as=serve_file ;;
    esac
    case $experiment in
        aks-2019) job="$here/$experiment/jobs.fio --section $1" ;;
        # Each of the four writers has a part of its own.
        *) job="$here/$experiment/fiowrite-${1%-again}.ini --group_reporting 1 --offset_increment 1g" ;;
    esac
}
# Writers that are reported together are one line.
figures='(.groups[0] // .jobs[0]).write | [.iops, .lat_ns.p50 / 1e6, .lat_ns.p80 / 1e6, .lat_ns.p95 / 1e6] | @tsv'
on_disk=
for name in "$@"; do
    about "$name"
    if [ "$on_disk" != "$disk" ]; then
        stop
        "$as" "$disk" --size 16GiB
        on_disk=$disk
    fi
    for way in live model; do
        case $way-$as in
            # A file system's first writes of a file are not a disk's: extents and a journal. 1 GiB is laid out before.
            live-serve) on="$mnt --overwrite 1" ;;
            live-*) on="$file --allow-overwrite $file" ;;
            *) on=model:$disk ;;
        esac
        # shellcheck disable=SC2086 # a job and a place are several words
        "$fathom" run $job --runtime "${seconds}s" --time_based --size 1g --on $on -q \
            --percentile_list 50:80:95:99 -o "$out/$name-$way" --json | jq -r "$figures" >"$out/$name-$way.figures"
    done
    paste "$out/$name-live.figures" "$out/$name-model.figures" | awk -v name="$name" '{
        printf "%s: %.0f IOPS (%+.1f %%), p50 %.3f ms (%+.1f %%), p80 %.3f ms (%+.1f %%), p95 %.3f ms (%+.1f %%)\n", name,
            $1, ($1 / $5 - 1) * 100, $2, ($2 / $6 - 1) * 100, $3, ($3 / $7 - 1) * 100, $4, ($4 / $8 - 1) * 100}'
done
