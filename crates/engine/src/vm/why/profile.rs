//! What an evaluation costs, and where: the time and the fuel of each assertion, unique pattern, regular expression, function, `def`,
//! `let` and schema. The evaluator is the same as ever; it notes this only while somebody asks.
//!
//! Fuel is the same whenever the same is evaluated. Times are those of a clock that is given: nothing that is evaluated sees them.

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::time::Duration;

/// What costs are attributed to. Numbers are those of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CostCenter {
    /// An assertion, including the reason and evidence if it does not pass.
    Assertion(u32),
    /// Classifying the run's steps for the patterns of all assertions.
    Steps,
    /// A unique pattern of steps, by the number that the plan gives it.
    Pattern(u32),
    /// A regular expression in a test.
    Text(u32),
    /// A function, by the number of its name.
    Function(u32),
    /// A `def`.
    Definition(u32),
    /// A `let`.
    Value(u32),
    /// A schema that a value is checked against.
    Schema(u32),
}

impl CostCenter {
    /// True if the first use computes it for all: its cost is attributed to no user.
    fn is_shared(self) -> bool {
        matches!(self, Self::Steps | Self::Value(_))
    }
}

/// The cost of a part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartCost {
    /// How often it was evaluated.
    pub calls: u64,
    /// Nanoseconds.
    pub time: u64,
    /// Nanoseconds outside of the parts inside of it.
    pub own_time: u64,
    /// Fuel.
    pub fuel: u64,
    /// Fuel outside of the parts inside of it.
    pub own_fuel: u64,
    /// The most fuel of one evaluation.
    pub most_fuel: u64,
}

impl PartCost {
    /// Adds what the same has cost elsewhere.
    pub fn add_cost(&mut self, other: &Self) {
        self.calls += other.calls;
        self.time += other.time;
        self.own_time += other.own_time;
        self.fuel += other.fuel;
        self.own_fuel += other.own_fuel;
        self.most_fuel = self.most_fuel.max(other.most_fuel);
    }
}

/// The time since some moment that stays the same.
pub type ProfileClock = fn() -> Duration;

/// The costs of the parts of one program, whatever machines evaluate them.
#[derive(Debug)]
pub struct Profile {
    clock: ProfileClock,
    costs: FxHashMap<CostCenter, PartCost>,
    open: Vec<OpenPart>,
    /// Fuel that machines have reported.
    fuel: u64,
}

#[derive(Debug)]
struct OpenPart {
    center: CostCenter,
    since: Duration,
    fuel: u64,
    /// Nanoseconds and fuel of direct children.
    inside: (u64, u64),
    /// Nanoseconds and fuel of shared work at any depth.
    shared: (u64, u64),
}

impl Profile {
    /// An empty profile; `clock` tells the times.
    #[must_use]
    pub fn new(clock: ProfileClock) -> Self {
        Self { clock, costs: FxHashMap::default(), open: Vec::new(), fuel: 0 }
    }

    /// The cost of a part; `None` where it was never evaluated.
    #[must_use]
    pub fn part_cost(&self, center: CostCenter) -> Option<&PartCost> {
        self.costs.get(&center)
    }

    /// Everything noted so far. It is empty afterwards, and no part of it is in work.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.clock))
    }

    /// Takes over the costs of another profile of the same program.
    pub fn add_profile(&mut self, other: &Self) {
        for (center, cost) in &other.costs {
            self.costs.entry(*center).or_default().add_cost(cost);
        }
    }

    /// Counts what is done from here on as work of a part.
    pub fn begin(&mut self, center: CostCenter) {
        self.open.push(OpenPart { center, since: (self.clock)(), fuel: self.fuel, inside: (0, 0), shared: (0, 0) });
    }

    /// Ends the part that began last.
    pub fn end(&mut self) {
        let Some(done) = self.open.pop() else { return };
        let time = u64::try_from((self.clock)().saturating_sub(done.since).as_nanos()).unwrap_or(u64::MAX);
        let fuel = self.fuel.saturating_sub(done.fuel);
        // What calls itself counts once.
        let outermost = self.open.iter().all(|open| open.center != done.center);
        let cost = self.costs.entry(done.center).or_default();
        cost.calls += u64::from(outermost);
        cost.own_time += time.saturating_sub(done.inside.0);
        cost.own_fuel += fuel.saturating_sub(done.inside.1);
        let (own_time, own_fuel) = (time.saturating_sub(done.shared.0), fuel.saturating_sub(done.shared.1));
        if outermost {
            cost.time += own_time;
            cost.fuel += own_fuel;
            cost.most_fuel = cost.most_fuel.max(own_fuel);
        }
        if let Some(around) = self.open.last_mut() {
            let shared = if done.center.is_shared() { (time, fuel) } else { done.shared };
            around.inside = (around.inside.0 + time, around.inside.1 + fuel);
            around.shared = (around.shared.0 + shared.0, around.shared.1 + shared.1);
        }
    }
}

/// Where a machine notes its costs, while somebody asks.
#[derive(Debug, Default)]
pub(in crate::vm) struct CostNotes<'run> {
    profile: Option<&'run RefCell<Profile>>,
    /// Fuel of the machine that the profile knows of.
    reported: u64,
}

impl<'run> CostNotes<'run> {
    /// `spent` is all fuel that the machine has spent so far.
    pub(in crate::vm) fn new(profile: Option<&'run RefCell<Profile>>, spent: u64) -> Self {
        Self { profile, reported: spent }
    }

    pub(in crate::vm) fn is_kept(&self) -> bool {
        self.profile.is_some()
    }

    /// Reports the fuel that was used since the last report, then takes the note.
    pub(in crate::vm) fn note(&mut self, spent: u64, note: impl FnOnce(&mut Profile)) {
        // Nothing is noted while something is being noted.
        let Some(Ok(mut profile)) = self.profile.map(RefCell::try_borrow_mut) else { return };
        profile.fuel = profile.fuel.saturating_add(spent.saturating_sub(self.reported));
        self.reported = spent;
        note(&mut profile);
    }

    /// Fuel that was spent before and is only charged again is no cost.
    pub(in crate::vm) fn skip_fuel(&mut self, fuel: u64) {
        self.reported = self.reported.saturating_add(fuel);
    }
}
