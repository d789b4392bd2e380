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

fathom=$(command -v "${FATHOM:-fathom}") || { echo "set FATHOM to the program" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "this takes root: a loop device and a mount" >&2; exit 2; }
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
mkdir "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
chmod 711 "$work"
mkdir "$work/at" "$work/mnt"
server= database=

as_postgres() {
    program=$1
    shift
    (cd / && exec setpriv --reuid=postgres --regid=postgres --clear-groups env LC_ALL=C "$bin/$program" "$@")
}
stop() {
    [ -z "$database" ] || as_postgres pg_ctl -D "$work/mnt/pg" -m fast -w stop >/dev/null 2>&1 || true
    database=
    if [ -n "$server" ]; then
        kill -TERM "$server" 2>/dev/null || true
        wait "$server" || true
    fi
    server=
}
end() {
    stop
    rm -rf "$work/at" "$work/mnt" "$work/log" "$work/said"
    rmdir "$work" 2>/dev/null || true
}
trap end EXIT
trap 'exit 130' INT TERM HUP

echo "disk,repeat,tps,latency_ms,late_us_p99,valid" >"$out/results.csv"
for disk in "$@"; do
    name=$(printf %s "$disk" | tr -c 'A-Za-z0-9.\n-' _)
    : >"$work/said"
    "$fathom" disk serve "model:$disk" --size 8GiB --at "$work/at" --loop --mkfs ext4 --mount "$work/mnt" \
        --control "$work/ctl" -o "$out/$name" -q >"$work/said" &
    server=$!
    until grep -q '^ready$' "$work/said"; do
        kill -0 "$server" 2>/dev/null || { server=; echo "$disk: not served" >&2; exit 1; }
        sleep 0.2
    done
    mkdir "$work/mnt/pg"
    chown postgres:postgres "$work/mnt/pg"
    as_postgres initdb -D "$work/mnt/pg" -A trust --no-sync >"$out/$name.initdb"
    : >"$work/log"
    chown postgres "$work/log"
    as_postgres pg_ctl -D "$work/mnt/pg" -w -l "$work/log" \
        -o "-c listen_addresses= -c unix_socket_directories=/tmp -c port=54329" start >/dev/null
    database=yes
    as_postgres pgbench -h /tmp -p 54329 -q -i -s "$scale" postgres 2>"$out/$name.load"
    repeat=1
    while [ "$repeat" -le "$repeats" ]; do
        as_postgres psql -h /tmp -p 54329 -q -c CHECKPOINT postgres
        as_postgres pgbench -h /tmp -p 54329 -c "$clients" -j 2 -T "$seconds" postgres >"$out/$name.$repeat" 2>&1
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
