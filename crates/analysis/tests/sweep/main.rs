//! Sweeps of modelled disks: what is concluded from all points, and what an adaptive sweep finds with few.

mod adaptive;
mod agreement;
mod modelled;
mod unit;
