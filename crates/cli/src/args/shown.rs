//! What is shown at the terminal: colours, and whether anything goes to stderr.
//!
//! Data in: what clap matched. Data out: [`ShownArgs`]. It must not print.

use crate::terminal::Colour;
use clap::Args;

/// The same for all commands that print a report at their end.
#[derive(Debug, Clone, Copy, Args)]
#[group(skip)]
pub(crate) struct ShownArgs {
    /// Colours in the report [default: auto]
    #[arg(
        long = "color",
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    pub colour: Colour,
    /// No progress and no notes on stderr
    #[arg(short, long)]
    pub quiet: bool,
}
