#!/bin/sh
# pgbench of PostgreSQL on five modelled disks, served live: one command, one table.
#
#   run.sh [-r REPEATS] [-t SECONDS] [-s SCALE] [-c CLIENTS] [-o DIR] [DISK...]
#
# DISK is a target of fathom's, as azure/P15; without any, the five of the README. Needs root, PostgreSQL, FUSE and jq.
# FATHOM names the program (fathom). Results: DIR/results.csv, a row a repeat; DIR/results.md, the table of the README; and a record of
# each disk in DIR/DISK.
set -eu

repeats=5 seconds=60 scale=10 clients=8 out=postgres-runs
while getopts r:t:s:c:o: flag; do
    case $flag in
        r) repeats=$OPTARG ;;
        t) seconds=$OPTARG ;;
        s) scale=$OPTARG ;;
        c) clients=$OPTARG ;;
        o) out=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
# Sustained rates: disks that burst begin without credit.
[ $# -gt 0 ] || set -- azure/P10,burst=empty azure/P15,burst=empty azure/P30 azure/PremiumV2:128GiB aws/gp3:128GiB

command -v jq >/dev/null || { echo "install jq" >&2; exit 2; }
. "$(dirname "$0")/../served.sh"

# modelled DISK OPTION...: what the model itself gives for ten seconds of 8 KiB writes, in virtual time.
modelled() {
    on=model:$1
    shift
    "$fathom" run --rw randwrite --bs 8k --direct 1 --size 1g --time_based --runtime 10s "$@" --on "$on" -o none -q --json 2>>"$out/model.log" |
        jq -r '.jobs[0].write.iops | round'
}

# Ends the interval of the server's lateness, begins the next, and prints what the one that ended was like.
mark() {
    "$fathom" disk status --of "$work/ctl" --mark |
        jq -r '.interval.lateness_ns | "\(.p99 / 1000),\(.valid)"'
}

echo "disk,repeat,tps,latency_ms,late_us_p99,valid" >"$out/results.csv"
echo "disk,commits,iops" >"$out/model.csv"
for disk in "$@"; do
    name=$(printf %s "$disk" | tr -c 'A-Za-z0-9.\n-' _)
    called=$(echo "$disk" | sed 's/,burst=empty/ without credit/')
    commits=$(modelled "$disk" --ioengine sync --fsync 1)
    echo "$called,$commits,$(modelled "$disk" --ioengine libaio --iodepth 64)" >>"$out/model.csv"
    serve "$disk" --size 8GiB -o "$out/$name" -q
    start_postgres "$name"
    as_postgres pgbench -q -i -s "$scale" postgres 2>"$out/$name.load"
    repeat=1
    while [ "$repeat" -le "$repeats" ]; do
        as_postgres psql -q -c CHECKPOINT postgres
        # Loading the data and the repeat before are no part of this one.
        mark >/dev/null
        as_postgres pgbench -c "$clients" -j 2 -T "$seconds" postgres >"$out/$name.$repeat" 2>&1
        late=$(mark)
        tps=$(awk '/^tps = /{print $3}' "$out/$name.$repeat")
        latency=$(awk '/^latency average = /{print $4}' "$out/$name.$repeat")
        [ -n "$tps" ] || { echo "$called: pgbench did not end: $out/$name.$repeat" >&2; exit 1; }
        echo "$called,$repeat,$tps,$latency,$late" | tee -a "$out/results.csv"
        repeat=$((repeat + 1))
    done
    stop
done

{
    echo "\`$0 -r $repeats -t $seconds -s $scale -c $clients\` on $(uname -sr), $(nproc) CPUs, $(date -u +%Y-%m-%d); the load average was $(cut -d ' ' -f 2 /proc/loadavg) at its end."
    echo
    echo "| disk | transactions a second: mean (lowest to highest) | latency, ms | valid repeats | server late by p99, at most, µs | the model alone: 8 KiB writes with a flush each, a second | 8 KiB writes at depth 64, a second |"
    echo "|---|---|---|---|---|---|---|"
    awk -F, 'FNR == 1 {next}
        FILENAME ~ /model.csv$/ {order[++disks] = $1; commits[$1] = $2; iops[$1] = $3; next}
        {n[$1]++; sum[$1] += $3; lat[$1] += $4; if (!($1 in lo) || $3 < lo[$1]) lo[$1] = $3; if ($3 > hi[$1]) hi[$1] = $3
            if ($5 > late[$1]) late[$1] = $5; if ($6 == "true") valid[$1]++}
        END {for (i = 1; i <= disks; i++) {d = order[i]; printf "| %s | %.1f (%.1f to %.1f) | %.2f | %d of %d | %.0f | %d | %d |\n",
            d, sum[d] / n[d], lo[d], hi[d], lat[d] / n[d], valid[d], n[d], late[d], commits[d], iops[d]}}' \
        "$out/model.csv" "$out/results.csv"
} >"$out/results.md"
cat "$out/results.md"
