#!/bin/sh
# The restores of the report, on the two classes as modelled disks served live: five of a PostgreSQL dump on each, recorded and
# compared. The report restored a bacpac into SQL Server; a dump of pgbench's tables stands in its place.
#
#   restore.sh [-r REPEATS] [-s SCALE] [-o DIR]
#
# Needs root, PostgreSQL and FUSE. FATHOM names the program (fathom). Results: DIR/acs, DIR/azdisk, and what compares them.
set -eu

repeats=5 scale=50 out=restores
while getopts r:s:o: flag; do
    case $flag in
        r) repeats=$OPTARG ;;
        s) scale=$OPTARG ;;
        o) out=$OPTARG ;;
        *) exit 2 ;;
    esac
done
fathom=$(command -v "${FATHOM:-fathom}") || { echo "set FATHOM to the program" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "this takes root: a loop device and a mount" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
mkdir "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
chmod 711 "$work"
mkdir "$work/at" "$work/mnt" "$work/dump"
chown postgres "$work/dump"
server= database=
as="setpriv --reuid=postgres --regid=postgres --clear-groups env LC_ALL=C PGHOST=/tmp PGPORT=54330"

as_postgres() {
    (cd / && exec $as "$@")
}
stop() {
    [ -z "$database" ] || as_postgres "$bin/pg_ctl" -D "$work/mnt/pg" -m fast -w stop >/dev/null 2>&1 || true
    database=
    if [ -n "$server" ]; then
        kill -TERM "$server" 2>/dev/null || true
        wait "$server" || true
    fi
    server=
}
end() {
    stop
    rm -rf "$work/at" "$work/mnt" "$work/dump" "$work/log" "$work/said"
    rmdir "$work" 2>/dev/null || true
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# The P2's credit is as full as it was for the report's restores, which came before its loads.
for class in acs:acs.toml azdisk:p2-full.toml; do
    name=${class%%:*}
    : >"$work/said"
    "$fathom" disk serve "model:$here/${class#*:}" --size 8GiB --at "$work/at" --loop --mkfs ext4 --mount "$work/mnt" \
        --control "$work/ctl" -q >"$work/said" &
    server=$!
    until grep -q '^ready$' "$work/said"; do
        kill -0 "$server" 2>/dev/null || { server=; echo "$name: not served" >&2; exit 1; }
        sleep 0.2
    done
    mkdir "$work/mnt/pg"
    chown postgres:postgres "$work/mnt/pg"
    as_postgres "$bin/initdb" -D "$work/mnt/pg" -A trust --no-sync >"$out/$name.initdb"
    : >"$work/log"
    chown postgres "$work/log"
    as_postgres "$bin/pg_ctl" -D "$work/mnt/pg" -w -l "$work/log" \
        -o "-c listen_addresses= -c unix_socket_directories=/tmp -c port=54330" start >/dev/null
    database=yes
    if [ ! -f "$work/dump/pgbench" ]; then
        as_postgres "$bin/pgbench" -q -i -s "$scale" postgres 2>/dev/null
        as_postgres "$bin/pg_dump" -Fc -f "$work/dump/pgbench" postgres
    fi
    "$fathom" record --repeat "$repeats" --record=counters --device "$work/mnt" -o "$out/$name" -q \
        --prepare "cd / && $as $bin/dropdb --if-exists restored && $as $bin/createdb restored" \
        -- sh -c "cd / && exec $as $bin/pg_restore -d restored $work/dump/pgbench"
    stop
done
"$fathom" compare "$out/acs" --with "$out/azdisk"
