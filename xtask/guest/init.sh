#!/bin/busybox sh
# The first program of the guest (cargo xtask guest): what a system needs to be one, then the checks, then off.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
mkdir -p /proc /sys /tmp /root /etc /run
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
mount -t tracefs tracefs /sys/kernel/tracing
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ln -s /proc/self/fd /dev/fd
echo 'root:x:0:0:root:/root:/bin/sh' > /etc/passwd
echo guest > /proc/sys/kernel/hostname
ifconfig lo 127.0.0.1 up
for module in /modules/*; do
    case $module in
        # One queue of each disk is polled.
        *-nvme.ko) insmod "$module" poll_queues=1 ;;
        # The disks that it makes are asked for one by one.
        *-null_blk.ko) insmod "$module" nr_devices=0 ;;
        *) insmod "$module" ;;
    esac || echo "guest: $module could not be loaded"
done
# Disks come when they come.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -b /dev/nvme0n2 ] && [ -b /dev/nvme0n4 ] && [ -c /dev/sg0 ] && [ -b /dev/sda ] && [ -b /dev/vda ] && [ -b /dev/vdb ] && break
    sleep 0.1
done
cd /tmp || exit
sh /checks.sh $(cat /words)
echo ENDED
poweroff -f
