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
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../served.sh"
mkdir "$work/dump"
chown postgres "$work/dump"

# The P2's credit is as full as it was for the report's restores, which came before its loads.
for class in acs:acs.toml azdisk:p2-full.toml; do
    name=${class%%:*}
    serve "$here/${class#*:}" --size 8GiB -q
    start_postgres "$name"
    if [ ! -f "$work/dump/pgbench" ]; then
        as_postgres pgbench -q -i -s "$scale" postgres 2>/dev/null
        as_postgres pg_dump -Fc -f "$work/dump/pgbench" postgres
    fi
    "$fathom" record --repeat "$repeats" --record=counters --device "$mnt" -o "$out/$name" -q \
        --prepare "cd / && $postgres $bin/dropdb --if-exists restored && $postgres $bin/createdb restored" \
        -- sh -c "cd / && exec $postgres $bin/pg_restore -d restored $work/dump/pgbench"
    stop
done
"$fathom" compare "$out/acs" --with "$out/azdisk"
