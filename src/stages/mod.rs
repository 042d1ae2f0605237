//! The steps of the builder as separate functions. The command line needs them, because it reads files itself and prints messages between steps.

#[cfg(feature = "batch")]
pub use crate::batch::ReportNeeds;
pub use crate::load;
pub use crate::rules::JudgeSettings;
pub mod params;
pub mod select;
pub mod units;
