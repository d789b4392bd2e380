//! Ten published times of restoring one database on two classes of storage, in seconds.

/// Azure Container Storage.
pub(crate) const ACS: [f64; 5] = [11456.505, 11517.523, 11651.333, 11949.945, 11696.491];
/// Azure Disk.
pub(crate) const DISK: [f64; 5] = [11038.631, 11140.838, 12327.441, 11313.670, 11879.949];
