//! Results against a reader of diskspd's formats that shares no code with their writers.

mod filled;
mod fixtures;
mod layout;
mod made;
mod parts;
mod read_text;
mod read_xml;
mod round_trip;
