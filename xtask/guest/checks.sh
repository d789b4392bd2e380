# The checks in the guest (cargo xtask guest): each function whose name begins with `check_`. It passes by ending well; the first
# command that fails ends it, and what it printed is shown then. Words name those that are wanted, by parts of their names.
#
# Disks: /dev/nvme0n1 (blocks of 512 bytes), n2 (4 KiB), n3 (metadata beside each block), n4 (zones), each with its /dev/ng0nX;
# /dev/sda with /dev/sg0; /dev/vda; /dev/vdb, which is a modelled P15 that the host serves by NBD. They are blank at first, and each check leaves them as it likes, but for signatures.

export FATHOM_ALLOW_OVERWRITE=/dev/ng0n1:/dev/ng0n2:/dev/nvme0n1:/dev/nvme0n2:/dev/nvme0n4:/dev/sg0:/dev/sda:/dev/vda:/dev/vdb

# The same load by fio and by fathom has as many I/Os and bytes, and no errors.
alike() {
    fio --output-format=json --output=fio.json --name=j "$@" < /dev/null
    fathom fio --output-format=json --output=fathom.json --name=j "$@" < /dev/null
    counts fio.json > fio.counts
    counts fathom.json > fathom.counts
    echo "alike: $*"
    diff fio.counts fathom.counts
}

# Errors; bytes and I/Os, of reads and writes together: each draws the split of a mix by itself.
counts() {
    tr -d ',' < "$1" | awk '/"(error|io_bytes|total_ios)" :/ { sum[$1] += $3 } END { for (key in sum) print key, sum[key] }' | sort
}

# It is refused, and says so much.
refused() {
    said=$1
    shift
    if "$@" > refused.txt 2>&1 < /dev/null; then
        echo "not refused: $*"
        return 1
    fi
    grep -qF -- "$said" refused.txt && return
    echo "not said: $said; but:"
    cat refused.txt
    return 1
}

nvme="--ioengine=io_uring_cmd --cmd_type=nvme"

check_nvme_commands_as_many_as_fios() {
    alike $nvme --filename=/dev/ng0n1 --rw=randrw --bs=4k --size=8m --iodepth=8 --verify=0
    alike $nvme --filename=/dev/ng0n1 --rw=write --bs=512 --size=512k
    alike $nvme --filename=/dev/ng0n2 --rw=randread --bs=64k --size=16m --iodepth=16
    alike $nvme --filename=/dev/ng0n1:/dev/ng0n2 --rw=randwrite --bs=8k --size=8m --iodepth=4
    # All of a namespace.
    alike $nvme --filename=/dev/ng0n2 --rw=read --bs=256k --iodepth=4
}

check_disk_served_live_keeps_data_and_its_limit() {
    common="--filename=/dev/vdb --ioengine=libaio --direct=1 --bs=4k --iodepth=16"
    fathom fio $common --rw=randwrite --size=4m --verify=crc32c --fsync=64 --name=v
    fio $common --rw=randwrite --size=4m --verify=crc32c --verify_only --name=v < /dev/null
    # Whatever the guest's processors do, 1,100 a second are all that there is, and 2 % more.
    fio $common --rw=randread --size=64m --number_ios=3000 --output-format=json --output=served.json --name=r < /dev/null
    took=$(tr -d ',' < served.json | awk '/"job_runtime" :/ { print $3 }')
    echo "3000 reads took $took ms"
    [ "$took" -ge 2600 ]
}

check_nvme_commands_in_each_way() {
    for way in --fixedbufs --registerfiles --hipri --sqthread_poll --nonvectored=0 --force_async=4 \
        "--fixedbufs --registerfiles --hipri" "--numjobs=3 --group_reporting"; do
        alike $nvme --filename=/dev/ng0n1 --rw=randrw --bs=4k --size=4m --iodepth=8 $way
    done
}

check_nvme_commands_write_what_fio_verifies() {
    common="--rw=randwrite --bs=4k --size=8m --verify=crc32c --iodepth=8 --name=v"
    for way in "" --fixedbufs --nonvectored=0; do
        fathom fio $nvme --filename=/dev/ng0n1 $way $common
        fio --ioengine=io_uring --direct=1 --filename=/dev/nvme0n1 $common --verify_only
        fio $nvme --filename=/dev/ng0n2 $common
        fathom fio $nvme --filename=/dev/ng0n2 $common --verify_only $way
    done
    # A block that is not as it was written is found.
    fathom fio $nvme --filename=/dev/ng0n1 $common
    dd if=/dev/urandom of=/dev/nvme0n1 bs=4096 count=1 seek=100 oflag=direct 2> /dev/null
    refused "verify" fathom fio $nvme --filename=/dev/ng0n1 $common --verify_only --verify_fatal=1
}

check_nvme_commands_flush_and_trim() {
    fathom fio $nvme --filename=/dev/ng0n1 --rw=write --bs=4k --size=1m --fsync=8 --name=f --output-format=json --output=f.json
    # None behind the last write.
    grep -q '"total_ios" : 31' f.json
    fathom fio $nvme --filename=/dev/ng0n1 --rw=write --bs=64k --size=1m --name=t
    fathom fio $nvme --filename=/dev/ng0n1 --rw=randtrim --bs=64k --size=1m --name=t
    dd if=/dev/nvme0n1 of=zeros bs=64k count=16 iflag=direct 2> /dev/null
    cmp -n 1048576 zeros /dev/zero
}

check_nvme_commands_that_fail_say_why() {
    refused "whole blocks of the device" fathom run $nvme --filename=/dev/ng0n2 --rw=read --bs=512 --size=1m --name=s
    refused "max_hw_sectors_kb" fathom run $nvme --filename=/dev/ng0n1 --rw=read --bs=16m --size=64m --name=s
}

check_only_generic_devices_are_sent_commands() {
    for path in /dev/nvme0n1 /dev/null /dev/sg0 /dev/nosuch /tmp/file; do
        refused "sends commands to a disk's generic device" fathom fio $nvme --filename=$path --rw=read --size=1m --name=r
    done
    for path in /dev/sda /dev/ng0n1 /dev/zero; do
        refused "sends commands to a disk's generic device" fathom fio --ioengine=sg --filename=$path --rw=read --size=1m --name=r
    done
    refused "beside each block" fathom fio $nvme --filename=/dev/ng0n3 --rw=read --size=1m --name=r
    for path in /dev/ng0n1 /dev/sg0; do
        refused "character device" fathom fio --ioengine=psync --filename=$path --rw=write --bs=4k --size=1m --name=r
    done
    refused "the same ioengine" fathom fio --name=r $nvme --filename=/dev/ng0n1 --rw=read --size=1m \
        --name=s --ioengine=psync --filename=/dev/ng0n1 --rw=read --bs=4k --size=1m
}

check_generic_devices_are_as_safe_as_their_disks() {
    for pair in "ng0n1 nvme0n1 io_uring_cmd" "sg0 sda sg"; do
        set -- $pair
        write="fathom fio --ioengine=$3 --filename=/dev/$1 --rw=write --bs=4k --size=1m --name=w"
        refused "--allow-overwrite /dev/$1" env FATHOM_ALLOW_OVERWRITE=/dev/$2 $write
        mkfs.ext4 -q -F /dev/$2
        refused "--allow-overwrite-signature /dev/$1" $write
        mkdir -p mnt
        mount -t ext4 /dev/$2 mnt
        refused "is mounted on" env FATHOM_ALLOW_OVERWRITE_SIGNATURE=/dev/$1 $write
        # To read is no danger.
        fathom fio --ioengine=$3 --filename=/dev/$1 --rw=read --bs=4k --size=1m --name=r
        umount mnt
        mkswap /dev/$2 > /dev/null
        swapon /dev/$2
        refused "is swap space" env FATHOM_ALLOW_OVERWRITE_SIGNATURE=/dev/$1 $write
        swapoff /dev/$2
        # Another who writes to the disk, and one who holds it.
        sleep 5 3> /dev/$2 &
        refused "is in use" env FATHOM_ALLOW_OVERWRITE_SIGNATURE=/dev/$1 $write
        kill $!
        wait $! || true
        sleep 5 3<> /dev/$1 &
        refused "is in use" env FATHOM_ALLOW_OVERWRITE_SIGNATURE=/dev/$1 $write
        kill $!
        wait $! || true
        env FATHOM_ALLOW_OVERWRITE_SIGNATURE=/dev/$1 $write
        dd if=/dev/zero of=/dev/$2 bs=1M count=8 oflag=direct 2> /dev/null
    done
}

check_scsi_commands_as_many_as_fios() {
    sg="--ioengine=sg --filename=/dev/sg0"
    alike $sg --rw=randrw --bs=4k --size=8m --iodepth=8
    alike $sg --rw=write --bs=512 --size=256k
    alike $sg --rw=read --bs=128k --iodepth=4
    alike $sg --rw=randwrite --bs=4k --size=4m --readfua=1 --writefua=1
    alike $sg --rw=randread --bs=4k --size=2m --iodepth=4 --sync=1 --sg_write_mode=write
    alike $sg --rw=randrw --bs=8k --size=4m --numjobs=2 --iodepth=3
    # More than the driver takes of one opener.
    fathom fio $sg --rw=randrw --bs=4k --size=8m --iodepth=64 --name=d
}

check_scsi_commands_write_what_fio_verifies() {
    sg="--ioengine=sg --filename=/dev/sg0"
    common="--rw=randwrite --bs=4k --size=8m --verify=crc32c --iodepth=4 --name=v"
    fathom fio $sg $common
    fio --ioengine=io_uring --direct=1 --filename=/dev/sda $common --verify_only
    fio $sg $common
    fathom fio $sg $common --verify_only
    fathom fio $sg --rw=write --bs=64k --size=1m --fsync=4 --name=t
    fathom fio $sg --rw=trim --bs=64k --size=1m --name=t
    dd if=/dev/sda of=zeros bs=64k count=16 iflag=direct 2> /dev/null
    cmp -n 1048576 zeros /dev/zero
}

# Zones of 16 MiB, 12 of which can be written; 4 open and 6 written in part at a time: 16 of them.
zoned=/dev/nvme0n4
zbd="--zonemode=zbd --filename=$zoned --direct=1"

# How far each zone is written, and what it is at: full whichever way, open or closed whichever.
zones() {
    blkzone report $zoned | sed 's/.*start: *0x\([0-9a-f]*\), .*wptr 0x\([0-9a-f]*\) .*zcond: *\([0-9]*\)(.*/\1 \2 \3/; s/ [234]$/ part/'
}

# So many zones are written in part, no more.
in_part() {
    parts=$(zones | grep -c part || true)
    [ "$parts" -le "$1" ] && return
    echo "$parts zones are written in part, not $1:"
    zones
    return 1
}

# The same load, each time on empty zones: as many I/Os and bytes, and no errors; `zones.fio` and `zones.fathom` are what it left.
alike_on_zones() {
    blkzone reset $zoned
    fio --output-format=json --output=fio.json --name=j $zbd "$@" < /dev/null
    zones > zones.fio
    blkzone reset $zoned
    fathom fio --force --output-format=json --output=fathom.json --name=j $zbd "$@" < /dev/null
    zones > zones.fathom
    counts fio.json > fio.counts
    counts fathom.json > fathom.counts
    echo "alike: $*"
    diff fio.counts fathom.counts
}

check_zones_in_sequence_are_left_as_fio_leaves_them() {
    for load in "--bs=256k --size=64m" "--bs=1m" "--bs=64k --size=20m" "--bs=64k --io_size=70m --size=64m" \
        "--bs=128k --offset=20m --size=60m" "--bs=256k --size=64m --numjobs=2 --offset_increment=64m" \
        "--bs=64k --size=32m --ioengine=io_uring --iodepth=16" "--bs=256k --size=48m --loops=2" \
        "--bs=64k --size=64m --number_ios=100" "--bs=64k --size=32m --ioengine=libaio --iodepth=4 --max_open_zones=1"; do
        alike_on_zones --rw=write $load
        diff zones.fio zones.fathom
    done
}

check_zones_at_random_as_many_as_fios() {
    errors=$(dmesg | grep -c "nvme0n4.*rror" || true)
    alike_on_zones --rw=randwrite --bs=64k --size=64m
    diff zones.fio zones.fathom
    alike_on_zones --rw=randwrite --bs=64k --io_size=128m --ioengine=io_uring --iodepth=8
    in_part 4
    alike_on_zones --rw=randwrite --bs=64k --io_size=40m --max_open_zones=2
    in_part 2
    alike_on_zones --rw=randwrite --bs=64k --io_size=32m --job_max_open_zones=1 --numjobs=3
    in_part 3
    alike_on_zones --rw=randrw --bs=64k --size=64m --ioengine=libaio --iodepth=4
    alike_on_zones --rw=randrw --bs=32k --io_size=48m --ioengine=io_uring --iodepth=8 --numjobs=4
    in_part 4
    alike_on_zones --rw=randwrite --bs=64k --size=64m --io_size=80m --zone_reset_threshold=0.3 --zone_reset_frequency=0.05
    # Less is left than without: zones were emptied.
    full=$(zones | grep -c " 14$" || true)
    [ "$full" -le 4 ]
    [ "$(dmesg | grep -c "nvme0n4.*rror" || true)" = "$errors" ]
}

check_zones_are_read_below_their_pointers() {
    alike_on_zones --rw=read --bs=64k
    alike_on_zones --rw=randread --bs=64k --size=64m
    blkzone reset $zoned
    fathom fio --name=w $zbd --rw=write --bs=64k --size=64m --number_ios=250
    alike $zbd --rw=read --bs=64k
    rm -f fathom.json
    alike $zbd --rw=randread --bs=64k --size=64m --ioengine=io_uring --iodepth=8
    rm -f fathom.json
    alike $zbd --rw=read --bs=64k --size=64m --read_beyond_wp=1
    rm -f fathom.json
    alike $zbd --rw=randread --bs=64k --offset=128m --size=64m
}

check_zones_go_on_where_they_were() {
    blkzone reset $zoned
    dd if=/dev/urandom of=$zoned bs=64k count=5 oflag=direct 2> /dev/null
    dd if=/dev/urandom of=$zoned bs=64k count=192 seek=256 oflag=direct 2> /dev/null
    # The rest of the first, the second anew.
    fathom fio --name=j $zbd --rw=write --bs=64k --size=32m --output-format=json --output=j.json
    counts j.json | grep -q "total_ios.* $((187 + 192))$"
    # What is left of a zone that no block fits into is made full.
    blkzone reset $zoned
    fathom fio --name=j $zbd --rw=write --bs=5m --size=32m
    [ "$(zones | grep -c " 14$")" = 2 ]
    # One zone may be open: where its worker has ended, it is made full for the next.
    blkzone reset $zoned
    fathom fio --max_open_zones=1 $zbd --rw=write --bs=64k --name=a --size=64m --io_size=1m \
        --name=b $zbd --rw=write --bs=64k --max_open_zones=1 --stonewall --offset=64m --size=64m --io_size=2m
    in_part 1
}

check_zones_are_emptied_with_leave_alone() {
    blkzone reset $zoned
    fathom fio --name=j $zbd --rw=write --bs=256k --size=64m
    zones > before
    refused "--allow-overwrite $zoned" env FATHOM_ALLOW_OVERWRITE= fathom fio --name=j $zbd --rw=write --bs=64k --size=64m
    refused "readonly" fathom fio --readonly --name=j $zbd --rw=write --bs=64k --size=64m
    fathom run --dry-run --allow-overwrite $zoned --name=j $zbd --rw=randwrite --bs=64k --size=64m > dry.txt
    grep -q "emptied when full" dry.txt
    env FATHOM_ALLOW_OVERWRITE= fathom fio --name=j $zbd --rw=randread --bs=64k --size=64m
    zones | diff before -
}

check_zones_that_cannot_be_used_are_refused() {
    blkzone reset $zoned
    for rw in randwrite randrw; do
        refused "give zonemode=zbd" fathom fio --name=j --filename=$zoned --direct=1 --rw=$rw --bs=64k --size=64m
    done
    refused "give direct=1" fathom fio --name=j $zbd --direct=0 --rw=write --bs=64k
    refused "leave it out" fathom fio --name=j $zbd --rw=write --bs=64k --zonesize=8m
    refused "does not fit a zone" fathom fio --name=j $zbd --rw=write --bs=13m
    refused "no whole zone" fathom fio --name=j $zbd --rw=write --bs=64k --offset=1m --size=16m
    refused "more than the 4" fathom fio --name=j $zbd --rw=randwrite --bs=64k --max_open_zones=5
    refused "cannot be verified" fathom fio --name=j $zbd --rw=write --bs=64k --verify=crc32c
    refused "by trims" fathom fio --name=j $zbd --rw=trim --bs=16m
    refused "give zonesize=" fathom fio --name=j $zbd --filename=/dev/nvme0n1 --rw=write --bs=64k
    for zone in 0 1 2 3 4 5; do
        dd if=/dev/zero of=$zoned bs=64k count=1 seek=$((zone * 256)) oflag=direct 2> /dev/null
    done
    refused "written in part" fathom fio --name=j $zbd --rw=randwrite --bs=64k
    refused "written in part" fathom fio --name=j $zbd --rw=randwrite --bs=64k --offset=128m
    # Of a device that has no zones they are made up, where their size is given.
    fathom fio --name=j --zonemode=zbd --filename=/dev/nvme0n1 --zonesize=1m --rw=randwrite --bs=64k --size=16m
    blkzone reset $zoned
}

# Everything once on this kernel.
check_run_record_and_explain() {
    mkfs.ext4 -q -F /dev/vda
    mkdir -p mnt
    mount -t ext4 /dev/vda mnt
    fathom run --name=a --filename=mnt/data --rw=randwrite --bs=4k --size=32m --direct=1 --ioengine=io_uring --iodepth=4 \
        --fsync=32 --runtime=3 --time_based --record -o run > run.txt
    cat run.txt
    fathom explain run > explain.txt
    cat explain.txt
    fathom record -o command -- dd if=/dev/zero of=mnt/more bs=64k count=512 oflag=direct > record.txt 2>&1
    cat record.txt
    fathom show command > show.txt
    umount mnt
    dd if=/dev/zero of=/dev/vda bs=1M count=8 oflag=direct 2> /dev/null
    if grep -i panicked run.txt explain.txt record.txt show.txt; then return 1; fi
}

if [ "$1" = one ]; then
    "$2"
    exit
fi

names=$(sed -n 's/^\(check_[a-z0-9_]*\)() {$/\1/p' /checks.sh)
for name in $names; do
    short=${name#check_}
    wanted=1
    if [ $# -gt 0 ]; then
        wanted=
        for word in "$@"; do
            case $short in *"$word"*) wanted=1 ;; esac
        done
    fi
    [ "$wanted" ] || continue
    mkdir -p "/tmp/$short"
    cd "/tmp/$short" || exit
    before=$(cut -d' ' -f1 /proc/uptime)
    if sh -e /checks.sh one "$name" > out.txt 2>&1; then
        echo "PASSED $short ($before s)"
    else
        tail -n 60 out.txt
        echo "FAILED $short"
    fi
done
cd /tmp || exit
