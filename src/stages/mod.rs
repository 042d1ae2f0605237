//! The steps of the builder one by one, for the command line: it reads the files itself, and says between two steps what there is to say.

#[cfg(feature = "batch")]
pub use crate::batch::ReportNeeds;
pub use crate::load;
pub use crate::rules::JudgeSettings;
pub mod params;
pub mod select;
pub mod units;
