//! Makes the screen of a program: which form each assertion has, and what the forms look at.

use super::atom::Base;
use super::course::{self, Statement};
use super::formula::{self, Formula};
use super::standing::Standing;
use super::texts::Search;
use super::{Form, Group, Item, Place, Screen};
use averment_base::truth::Truth;
use averment_engine::bytecode::program::{Assertion, Check, CodeId, CourseId, PatternId, Program};
use averment_engine::ir::{Course, RuleRole};
use averment_engine::vm::course::plan::Plan;
use averment_engine::vm::prepare::Prepared;
use averment_engine::vm::select::Selection;
use averment_traces::facts::{Demand, Field};

/// So many tests of one text are made together.
const TOGETHER: usize = 4;

/// The screen of the selected assertions of a program.
pub(super) fn screen(program: &Program, prepared: &Prepared, selection: &Selection, demand: &mut Demand) -> Screen {
    let plan = prepared.plan(program);
    let builder = Builder { program, plan, reader: formula::Reader::new(program), searched: Default::default() };
    let mut screen = builder.build(selection, demand);
    for item in &mut screen.items {
        if let Form::Course(Statement::Count(_, number)) = &mut item.check {
            number.learn(&screen.atoms, prepared);
        }
    }
    screen.standing = Standing::new(&screen, plan.count());
    screen
}

/// Makes a screen.
struct Builder<'p> {
    program: &'p Program,
    plan: &'p Plan,
    reader: formula::Reader<'p>,
    searched: [Vec<u32>; 2],
}

impl Builder<'_> {
    fn build(mut self, selection: &Selection, demand: &mut Demand) -> Screen {
        let mut items = Vec::new();
        for (number, assertion) in (0_u32..).zip(&self.program.assertions) {
            if selection.selects(self.program, assertion) {
                items.push(self.item(number, assertion));
            }
        }
        let mut screen = Screen {
            open: items.iter().filter(|item| matches!(item.check, Form::Open)).count(),
            items,
            atoms: self.reader.atoms,
            places: Vec::new(),
            place_of: Vec::new(),
            groups: Vec::new(),
            group_of: Vec::new(),
            searches: [None, None],
            searched: self.searched,
            standing: Standing::default(),
        };
        screen.find_places(demand);
        screen.find_groups(self.program);
        for ((search, searched), texts) in screen.searches.iter_mut().zip(&screen.searched).zip(&mut demand.texts) {
            if !searched.is_empty() {
                let wanted = searched.iter().filter_map(|atom| screen.atoms.get(*atom as usize)?.searched());
                *search = Some(Search::new(self.program, wanted));
                *texts = true;
            }
        }
        screen
    }

    fn item(&mut self, number: u32, assertion: &Assertion) -> Item {
        let open = Item { assertion: number, when: Vec::new(), check: Form::Open };
        let rule = assertion.rule.and_then(|rule| self.program.rules.get(rule as usize));
        let special = rule.is_some_and(|rule| matches!(rule.role, RuleRole::Case { .. } | RuleRole::Invariant));
        if special || assertion.settings.threshold.is_some() {
            return open;
        }
        let when: Option<Vec<Formula>> =
            assertion.settings.when.iter().map(|code| self.reader.formula(*code, None)).collect();
        match (when, self.form(&assertion.check)) {
            (Some(when), Some(check)) => Item { assertion: number, when, check },
            _ => open,
        }
    }

    fn form(&mut self, check: &Check) -> Option<Form> {
        match check {
            Check::Expression(code) => Some(Form::Expression(self.reader.formula(*code, None)?)),
            Check::Course(CourseId(number)) => {
                let program = self.program;
                match &program.courses.get(*number as usize)?.course {
                    Course::NoneIn { values, predicate } => self.none_in(*values, *predicate),
                    course => self.course(course).map(Form::Course),
                }
            }
            _ => None,
        }
    }

    fn course(&mut self, course: &Course<PatternId, CodeId>) -> Option<Statement> {
        let reader = std::cell::RefCell::new(&mut self.reader);
        let mut condition = |code| reader.borrow_mut().formula(code, None);
        let mut number = |code| reader.borrow_mut().formula(code, Some(Base::Value));
        course::of(course, self.plan, &mut condition, &mut number)
    }

    fn none_in(&mut self, values: CodeId, predicate: CodeId) -> Option<Form> {
        let subject = self.reader.subject(values)?;
        let field = match (&subject.base, subject.way.as_slice()) {
            (Base::Calls, [field]) => Field::parse(field)?,
            _ => return None,
        };
        let mut atoms = Vec::new();
        self.reader.formula(predicate, Some(Base::Value))?.alternatives(&mut atoms)?;
        let searched = self.searched.get_mut(field as usize)?;
        let mut targets = Vec::new();
        for atom in atoms {
            let known = self.reader.atoms.get(atom as usize)?;
            let plain = known.subject.base == Base::Value && known.subject.way.is_empty() && !known.negated;
            known.searched().filter(|_| plain)?;
            let at = searched.iter().position(|other| *other == atom).unwrap_or_else(|| {
                searched.push(atom);
                searched.len() - 1
            });
            targets.push(u32::try_from(at).ok()?);
        }
        Some(Form::NoneIn(field, targets))
    }
}

impl Screen {
    /// Puts tests together that look for something in the same value.
    fn find_groups(&mut self, program: &Program) {
        let mut by_place: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
        for ((number, atom), place) in (0_u32..).zip(&self.atoms).zip(&self.place_of) {
            if let (Some(place), Some(_)) = (place, atom.searched()) {
                by_place.entry(*place).or_default().push(number);
            }
        }
        self.group_of.resize(self.atoms.len(), None);
        for atoms in by_place.into_values().filter(|atoms| atoms.len() >= TOGETHER) {
            let group = u32::try_from(self.groups.len()).ok();
            for atom in &atoms {
                if let Some(place) = self.group_of.get_mut(*atom as usize) {
                    *place = group;
                }
            }
            let wanted = atoms.iter().filter_map(|atom| self.atoms.get(*atom as usize)?.searched());
            let search = Search::new(program, wanted);
            let negated = atoms.iter().map(|atom| self.atoms.get(*atom as usize).is_some_and(|atom| atom.negated));
            let without = negated.map(Truth::from_bool).collect();
            self.groups.push(Group { atoms, without, search });
        }
    }

    /// Finds out what every test looks at.
    fn find_places(&mut self, demand: &mut Demand) {
        for atom in &self.atoms {
            let place = match &atom.subject.base {
                Base::Root(name) => {
                    let known = demand.roots.iter().position(|root| root == name);
                    let root = known.unwrap_or_else(|| {
                        demand.roots.push(name.clone());
                        demand.roots.len() - 1
                    });
                    let place = Place { root, way: atom.subject.way.clone() };
                    let known = self.places.iter().position(|other| *other == place);
                    Some(known.unwrap_or_else(|| {
                        self.places.push(place);
                        self.places.len() - 1
                    }))
                }
                Base::Field(field) => {
                    if let Some(asked) = demand.fields.get_mut(*field as usize) {
                        *asked = true;
                    }
                    None
                }
                _ => None,
            };
            self.place_of.push(place.and_then(|place| u32::try_from(place).ok()));
        }
    }
}
