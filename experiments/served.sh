# Read (`.`) by the experiments that run something on a disk served live; no program of its own.
#
# They set `out`, where results go, and nothing else. It sets `fathom`, `out` (absolute), `work` (a folder of its own), `mnt` (where the
# disk is mounted), `file` (the disk as a file), and takes everything down when the script ends, however it does.

fathom=$(command -v "${FATHOM:-fathom}") || { echo "set FATHOM to the program" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "this takes root: a loop device and a mount" >&2; exit 2; }
mkdir "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
chmod 711 "$work"
mnt=$work/mnt
file=$work/at/disk
mkdir "$work/at" "$mnt"
server= database=
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
postgres="setpriv --reuid=postgres --regid=postgres --clear-groups env LC_ALL=C PGHOST=/tmp PGPORT=54329"

# serve_file DISK [OPTION...]: a disk of the model's, as the file $file.
serve_file() {
    served=$1
    shift
    : >"$work/said"
    "$fathom" disk serve "model:$served" --at "$work/at" --control "$work/ctl" "$@" >"$work/said" &
    server=$!
    until grep -q '^ready$' "$work/said"; do
        kill -0 "$server" 2>/dev/null || { server=; echo "$served: not served" >&2; exit 1; }
        sleep 0.2
    done
}

# serve DISK [OPTION...]: the same with ext4 on it at $mnt.
serve() {
    serve_file "$@" --loop --mkfs ext4 --mount "$mnt"
}

# A program of PostgreSQL's as its user.
as_postgres() {
    (cd / && exec $postgres "$bin/$@")
}

# start_postgres NAME: on the disk that is served. What it said of that goes to $out/NAME.initdb.
start_postgres() {
    mkdir "$mnt/pg"
    chown postgres:postgres "$mnt/pg"
    as_postgres initdb -D "$mnt/pg" -A trust --no-sync >"$out/$1.initdb"
    : >"$work/log"
    chown postgres "$work/log"
    as_postgres pg_ctl -D "$mnt/pg" -w -l "$work/log" \
        -o "-c listen_addresses= -c unix_socket_directories=/tmp -c port=54329" start >/dev/null
    database=yes
}

# Takes down what runs, in order.
stop() {
    [ -z "$database" ] || as_postgres pg_ctl -D "$mnt/pg" -m fast -w stop >/dev/null 2>&1 || true
    database=
    if [ -n "$server" ]; then
        kill -TERM "$server" 2>/dev/null || true
        wait "$server" || true
    fi
    server=
}
trap 'stop; rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP
