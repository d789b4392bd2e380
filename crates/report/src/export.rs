//! A record in the forms that other tools read: CSV, `blkparse`'s text, fio's logs and traces.
//!
//! Data in: rows of a stream, as many at a time as there are. Data out: text, written as it is made. Memory does not grow
//! with the record. It must not know where the rows come from or where the text goes.

pub mod blkparse;
pub mod csv;
pub mod fio_log;
pub mod iolog;
