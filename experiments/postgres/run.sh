#!/bin/sh
# pgbench of PostgreSQL on five modelled disks, served live: one command, one table.
#
#   run.sh [-r REPEATS] [-t SECONDS] [-s SCALE] [-c CLIENTS] [-o DIR] [DISK...]
#
# DISK is a target of fathom's, as azure/P15; without any, the five of the README. Needs root, PostgreSQL and FUSE.
# FATHOM names the program (fathom). Results: DIR/results.csv, and a record of each disk in DIR/DISK.
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

. "$(dirname "$0")/../served.sh"

echo "disk,repeat,tps,latency_ms,late_us_p99,valid" >"$out/results.csv"
for disk in "$@"; do
    name=$(printf %s "$disk" | tr -c 'A-Za-z0-9.\n-' _)
    serve "$disk" --size 8GiB -o "$out/$name" -q
    start_postgres "$name"
    as_postgres pgbench -q -i -s "$scale" postgres 2>"$out/$name.load"
    repeat=1
    while [ "$repeat" -le "$repeats" ]; do
        as_postgres psql -q -c CHECKPOINT postgres
        as_postgres pgbench -c "$clients" -j 2 -T "$seconds" postgres >"$out/$name.$repeat" 2>&1
        tps=$(awk '/^tps = /{print $3}' "$out/$name.$repeat")
        latency=$(awk '/^latency average = /{print $4}' "$out/$name.$repeat")
        late=$("$fathom" disk status --of "$work/ctl" | awk '
            /"lateness_ns"/{inside = 1}
            inside && /"p99"/{gsub(/[^0-9]/, "", $2); p99 = $2 / 1000}
            inside && /"valid"/{gsub(/,/, "", $2); print p99 "," $2; exit}')
        echo "$disk,$repeat,$tps,$latency,$late" | sed 's/^\([^,]*\),burst=empty,/\1 without credit,/' | tee -a "$out/results.csv"
        repeat=$((repeat + 1))
    done
    stop
done
awk -F, 'NR > 1 {n[$1]++; sum[$1] += $3; sq[$1] += $3 * $3; if (!($1 in lo) || $3 < lo[$1]) lo[$1] = $3; if ($3 > hi[$1]) hi[$1] = $3;
    if ($6 != "true") bad[$1]++}
    END {for (disk in n) printf "%-32s %8.1f tps (%.1f to %.1f, %d repeats%s)\n", disk, sum[disk] / n[disk], lo[disk], hi[disk], n[disk],
        bad[disk] ? ", " bad[disk] " not valid" : ""}' "$out/results.csv" | sort
