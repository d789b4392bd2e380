//! What a device carries, by the magic numbers that file systems and volume managers leave at fixed places.
//!
//! Duty: name what would be destroyed. Data in: a device open for reading. Data out: [`Signature`]s. It must
//! not know whether they may be destroyed.
//!
//! It is a prober by magic alone: no checksum, no version. A stale or damaged superblock is named like a
//! sound one, for it is the owner who must say that nothing there is needed. What is not in its table is not
//! seen: an empty answer is no proof that a device is blank.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Something found on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// In words, with its article: `an ext2/ext3/ext4 file system`.
    pub what: &'static str,
    /// Where its magic number is, in bytes from the start of the device.
    pub offset_bytes: u64,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// Where a magic number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many bytes from the start.
    Start(u64),
    /// So many bytes before the end, the end rounded down to a multiple of `align`.
    End { align: u64, back: u64 },
}

use Place::{End, Start};

impl Place {
    /// In bytes from the start; `None` on a device too small for it.
    pub(crate) fn offset(self, size_bytes: u64) -> Option<u64> {
        match self {
            Start(offset) => Some(offset),
            End { align, back } => (size_bytes - size_bytes % align).checked_sub(back),
        }
    }
}

/// A kind of signature.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) what: &'static str,
    /// Any of these bytes …
    pub(crate) magics: &'static [&'static [u8]],
    /// … at any of these places.
    pub(crate) places: &'static [Place],
}

const FAT: &str = "a FAT file system";
const EXFAT: &str = "an exFAT file system";
const NTFS: &str = "an NTFS file system";
const BITLOCKER: &str = "a BitLocker volume";
const GPT: &str = "a GPT partition table";
const MBR: &str = "an MBR partition table or boot sector";

/// Boot sectors end like an MBR; a GPT has one in front of it for protection.
const WITH_BOOT_SECTOR: [&str; 5] = [FAT, EXFAT, NTFS, BITLOCKER, GPT];

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// All that is known. Sources, where not named otherwise, are headers of Linux 6.12; little-endian numbers
/// are written as their bytes.
pub(crate) const KNOWN: &[Known] = &[
    // Documentation/filesystems/ext4/super.rst: superblock at 1024, s_magic 0xEF53 at 0x38 in it.
    Known {
        what: "an ext2/ext3/ext4 file system",
        magics: &[&[0x53, 0xef]],
        places: &[Start(1024 + 0x38)],
    },
    // fs/xfs/libxfs/xfs_format.h: XFS_SB_MAGIC.
    Known {
        what: "an XFS file system",
        magics: &[b"XFSB"],
        places: &[Start(0)],
    },
    // drivers/block/drbd/drbd_int.h, drbd_actlog.c: the magic of meta-data version 8 (and its unclean form) and 9, 60 bytes
    // into the last 4 KiB.
    Known {
        what: "a DRBD volume",
        magics: &[
            &[0x83, 0x74, 0x02, 0x6b],
            &[0x83, 0x74, 0x02, 0x6c],
            &[0x83, 0x74, 0x02, 0x6d],
        ],
        places: &[End {
            align: 4 * KIB,
            back: 4 * KIB - 60,
        }],
    },
    // Microsoft, [MS-REFS] and libyal/libfsrefs, "Resilient File System": volume header, file system name at 3.
    Known {
        what: "a ReFS file system",
        magics: &[b"ReFS\0\0\0\0"],
        places: &[Start(3)],
    },
    // include/uapi/linux/btrfs_tree.h: BTRFS_MAGIC at 0x40 of the superblock; fs/btrfs/disk-io.h: first copy
    // at 64 KiB, the mirrors at 64 MiB and 256 GiB.
    Known {
        what: "a btrfs file system",
        magics: &[b"_BHRfS_M"],
        places: &[
            Start(64 * KIB + 0x40),
            Start(64 * MIB + 0x40),
            Start((256 << 30) + 0x40),
        ],
    },
    // include/uapi/linux/msdos_fs.h: fat_boot_sector.fat16.fs_type at 54, .fat32.fs_type at 82.
    Known {
        what: FAT,
        magics: &[b"FAT12   ", b"FAT16   ", b"FAT32   "],
        places: &[Start(54), Start(82)],
    },
    // fs/exfat/exfat_raw.h: boot_sector.fs_name at 3.
    Known {
        what: EXFAT,
        magics: &[b"EXFAT   "],
        places: &[Start(3)],
    },
    // fs/ntfs3/ntfs.h: NTFS_BOOT.system_id at 3.
    Known {
        what: NTFS,
        magics: &[b"NTFS    "],
        places: &[Start(3)],
    },
    // libyal/libbde, "BitLocker Drive Encryption format": volume header signature at 3.
    Known {
        what: BITLOCKER,
        magics: &[b"-FVE-FS-"],
        places: &[Start(3)],
    },
    // include/linux/swap.h: the last ten bytes of the first page; pages are 4 to 64 KiB.
    Known {
        what: "swap space",
        magics: &[b"SWAPSPACE2", b"SWAP-SPACE", b"S1SUSPEND\0", b"S2SUSPEND\0"],
        places: &[
            Start(4 * KIB - 10),
            Start(8 * KIB - 10),
            Start(16 * KIB - 10),
            Start(32 * KIB - 10),
            Start(64 * KIB - 10),
        ],
    },
    // lvm2, lib/label/label.h: LABEL_ID in one of the first four sectors.
    Known {
        what: "an LVM physical volume",
        magics: &[b"LABELONE"],
        places: &[Start(0), Start(512), Start(1024), Start(1536)],
    },
    // cryptsetup, lib/luks1/luks.h LUKS_MAGIC and lib/luks2/luks2.h LUKS2_MAGIC_1ST.
    Known {
        what: "a LUKS encrypted volume",
        magics: &[b"LUKS\xba\xbe"],
        places: &[Start(0)],
    },
    // cryptsetup, lib/luks2/luks2.h: LUKS2_MAGIC_2ND, the second header, at one of these places.
    Known {
        what: "a LUKS encrypted volume",
        magics: &[b"SKUL\xba\xbe"],
        places: &[
            Start(16 * KIB),
            Start(32 * KIB),
            Start(64 * KIB),
            Start(128 * KIB),
            Start(256 * KIB),
            Start(512 * KIB),
            Start(MIB),
            Start(2 * MIB),
            Start(4 * MIB),
        ],
    },
    // include/uapi/linux/raid/md_p.h: MD_SB_MAGIC 0xa92b4efc. drivers/md/md.c, super_1_load: version 1.0 8
    // KiB before the end in whole 4 KiB, 1.1 at the start, 1.2 at 4 KiB; super_90_load: in the last whole 64
    // KiB (in the machine's byte order).
    Known {
        what: "a Linux RAID (md) member",
        magics: &[&[0xfc, 0x4e, 0x2b, 0xa9]],
        places: &[
            Start(0),
            Start(4 * KIB),
            End {
                align: 4 * KIB,
                back: 8 * KIB,
            },
            End {
                align: 64 * KIB,
                back: 64 * KIB,
            },
        ],
    },
    // mdadm, super-intel.c: MPB_SIGNATURE in the last sector but one.
    Known {
        what: "an Intel RAID member",
        magics: &[b"Intel Raid ISM Cfg Sig. "],
        places: &[End {
            align: 512,
            back: 1024,
        }],
    },
    // OpenZFS, include/sys/vdev_impl.h and zio.h: four labels of 256 KiB, two at each end; in each the 112
    // KiB of vdev_phys end at 128 KiB with a zio_eck_t (40 bytes), which starts with ZEC_MAGIC
    // 0x210da7ab10c7a11 in the pool's byte order.
    Known {
        what: "a ZFS pool member",
        magics: &[
            b"\x11\x7a\x0c\xb1\x7a\xda\x10\x02",
            b"\x02\x10\xda\x7a\xb1\x0c\x7a\x11",
        ],
        places: &[
            Start(128 * KIB - 40),
            Start(384 * KIB - 40),
            End {
                align: 256 * KIB,
                back: 384 * KIB + 40,
            },
            End {
                align: 256 * KIB,
                back: 128 * KIB + 40,
            },
        ],
    },
    // drivers/md/bcache/bcache_ondisk.h: bcache_magic at 24 of the superblock (SB_SECTOR 8);
    // fs/bcachefs/bcachefs_format.h has both this one and its own, BCHFS_MAGIC, at the same place.
    Known {
        what: "a bcache device",
        magics: &[b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"],
        places: &[Start(4 * KIB + 24)],
    },
    Known {
        what: "a bcachefs file system",
        magics: &[b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"],
        places: &[Start(4 * KIB + 24)],
    },
    // fs/squashfs/squashfs_fs.h: SQUASHFS_MAGIC.
    Known {
        what: "a squashfs image",
        magics: &[b"hsqs"],
        places: &[Start(0)],
    },
    // include/uapi/linux/iso_fs.h: "CD001" at 1 of volume descriptor 16 (sectors of 2048); ECMA-167: "BEA01"
    // for UDF.
    Known {
        what: "an ISO 9660 or UDF image",
        magics: &[b"CD001", b"BEA01"],
        places: &[Start(32 * KIB + 1)],
    },
    // include/linux/f2fs_fs.h: F2FS_SUPER_OFFSET 1024, magic 0xF2F52010; a second copy in the next 4 KiB
    // block.
    Known {
        what: "an F2FS file system",
        magics: &[&[0x10, 0x20, 0xf5, 0xf2]],
        places: &[Start(1024), Start(4 * KIB + 1024)],
    },
    // fs/erofs/erofs_fs.h: EROFS_SUPER_OFFSET 1024, magic 0xE0F5E1E2.
    Known {
        what: "an EROFS image",
        magics: &[&[0xe2, 0xe1, 0xf5, 0xe0]],
        places: &[Start(1024)],
    },
    // fs/jfs/jfs_superblock.h: JFS_MAGIC; fs/jfs/jfs_filsys.h: SUPER1_OFF.
    Known {
        what: "a JFS file system",
        magics: &[b"JFS1"],
        places: &[Start(32 * KIB)],
    },
    // util-linux, libblkid/src/superblocks/reiserfs.c: at 52 of the superblock, at 64 KiB or 8 KiB.
    Known {
        what: "a ReiserFS file system",
        magics: &[b"ReIsEr"],
        places: &[Start(64 * KIB + 52), Start(8 * KIB + 52)],
    },
    // include/uapi/linux/nilfs2_ondisk.h: NILFS_SUPER_MAGIC 0x3434 at 6 of the superblock at 1024, after
    // s_rev_level 2.
    Known {
        what: "a NILFS2 file system",
        magics: &[&[2, 0, 0, 0, 0, 0, 0x34, 0x34]],
        places: &[Start(1024)],
    },
    // include/uapi/linux/gfs2_ondisk.h: GFS2_MAGIC 0x01161970, big-endian; superblock at sector 128.
    Known {
        what: "a GFS2 file system",
        magics: &[&[0x01, 0x16, 0x19, 0x70]],
        places: &[Start(64 * KIB)],
    },
    // fs/ocfs2/ocfs2_fs.h: OCFS2_SUPER_BLOCK_SIGNATURE in block 2 of 512 to 4096 bytes.
    Known {
        what: "an OCFS2 file system",
        magics: &[b"OCFSV2"],
        places: &[Start(1024), Start(2 * KIB), Start(4 * KIB), Start(8 * KIB)],
    },
    // util-linux, libblkid/src/superblocks/oracleasm.c: at 32.
    Known {
        what: "an Oracle ASM disk",
        magics: &[b"ORCLDISK"],
        places: &[Start(32)],
    },
    // util-linux, libblkid/src/superblocks/vmfs.c: volume at 1 MiB, magic 0xc001d00d.
    Known {
        what: "a VMFS volume",
        magics: &[&[0x0d, 0xd0, 0x01, 0xc0]],
        places: &[Start(MIB)],
    },
    // util-linux, libblkid/src/superblocks/bluestore.c: at the start.
    Known {
        what: "a Ceph BlueStore device",
        magics: &[b"bluestore block device"],
        places: &[Start(0)],
    },
    // util-linux, libblkid/src/superblocks/stratis.c: STRATIS_MAGIC at 4 of sectors 1 and 9.
    Known {
        what: "a Stratis pool member",
        magics: &[b"!Stra0tis\x86\xff\x02^\x41rh"],
        places: &[Start(512 + 4), Start(9 * 512 + 4)],
    },
    // drivers/md/dm-vdo: VDO_GEOMETRY_MAGIC_NUMBER; drivers/md/dm-integrity.c: SB_MAGIC; cryptsetup,
    // lib/verity: VERITY_SIGNATURE.
    Known {
        what: "a device-mapper volume (VDO, integrity or verity)",
        magics: &[b"dmvdo001", b"integrt\0", b"verity\0\0"],
        places: &[Start(0)],
    },
    // fs/hfsplus/hfsplus_raw.h: HFSPLUS_VOLHEAD_SIG and HFSPLUS_SUPER_SIGX, with the versions 4 and 5.
    Known {
        what: "an HFS+ file system",
        magics: &[b"H+\0\x04", b"HX\0\x05"],
        places: &[Start(1024)],
    },
    // Apple File System Reference: NX_MAGIC at 32 of the container superblock.
    Known {
        what: "an APFS container",
        magics: &[b"NXSB"],
        places: &[Start(32)],
    },
    // fs/ufs/ufs_fs.h: UFS_MAGIC 0x00011954, UFS2_MAGIC 0x19540119 at 1372 of the superblock at 8 or 64 KiB.
    Known {
        what: "a UFS file system",
        magics: &[&[0x54, 0x19, 0x01, 0x00], &[0x19, 0x01, 0x54, 0x19]],
        places: &[Start(8 * KIB + 1372), Start(64 * KIB + 1372)],
    },
    // block/partitions/efi.h: GPT_HEADER_SIGNATURE in sector 1 and in the last one; sectors are 512 or 4096
    // bytes.
    Known {
        what: GPT,
        magics: &[b"EFI PART"],
        places: &[
            Start(512),
            Start(4 * KIB),
            End {
                align: 512,
                back: 512,
            },
            End {
                align: 4 * KIB,
                back: 4 * KIB,
            },
        ],
    },
    // block/partitions/msdos.c: MSDOS_LABEL_MAGIC at 510. Last, so that what shares the boot sector comes
    // first.
    Known {
        what: MBR,
        magics: &[&[0x55, 0xaa]],
        places: &[Start(510)],
    },
];

/// What is on a device of `size_bytes`; each kind once, with the first place where it was seen.
///
/// # Errors
/// Some place could not be read: then nothing is known.
pub fn probe(device: &File, size_bytes: u64) -> io::Result<Vec<Signature>> {
    probe_by(size_bytes, &mut |bytes, offset| {
        device.read_exact_at(bytes, offset)
    })
}

/// Fills the bytes with what lies at the offset.
pub type ReadAt<'a> = dyn FnMut(&mut [u8], u64) -> io::Result<()> + 'a;

/// As [`probe`], of what is read by `read`.
///
/// # Errors
/// As of [`probe`].
pub fn probe_by(size_bytes: u64, read: &mut ReadAt<'_>) -> io::Result<Vec<Signature>> {
    let mut found: Vec<Signature> = Vec::new();
    for known in KNOWN {
        if found.iter().any(|signature| signature.what == known.what) {
            continue;
        }
        if known.what == MBR
            && found
                .iter()
                .any(|signature| WITH_BOOT_SECTOR.contains(&signature.what))
        {
            continue;
        }
        if let Some(offset_bytes) = find(read, size_bytes, known)? {
            found.push(Signature {
                what: known.what,
                offset_bytes,
            });
        }
    }
    Ok(found)
}

/// Where the first of its magic numbers is.
fn find(read: &mut ReadAt<'_>, size_bytes: u64, known: &Known) -> io::Result<Option<u64>> {
    let mut buffer = [0u8; 32];
    for place in known.places {
        let Some(offset) = place.offset(size_bytes) else {
            continue;
        };
        for magic in known.magics {
            let bytes = &mut buffer[..magic.len()];
            if offset.saturating_add(magic.len() as u64) > size_bytes {
                continue;
            }
            read(bytes, offset)?;
            if bytes == *magic {
                return Ok(Some(offset));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
