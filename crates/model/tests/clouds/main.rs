//! The catalogues of the three clouds: that each row loads, that rows drawn at random do what their source says, and that each
//! rule which the model keeps is kept.

mod aws;
mod drawn;
mod gcp;
mod own;
mod rig;
