//! The literals and texts of a program, each once.

use super::to_number;
use crate::bytecode::ops::{Literal, Name};
use averment_checker::ir::Constant;
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(super) struct ConstantPool {
    constants: Vec<Constant>,
    constant_numbers: FxHashMap<String, u32>,
    names: Vec<String>,
    name_numbers: FxHashMap<String, u32>,
}

impl ConstantPool {
    pub(super) fn add_constant(&mut self, constant: Constant) -> Literal {
        // The debug form tells every two literals apart: it names the variant and quotes texts.
        let key = format!("{constant:?}");
        let next = to_number(self.constants.len());
        let found = *self.constant_numbers.entry(key).or_insert(next);
        if found == next {
            self.constants.push(constant);
        }
        Literal(found)
    }

    pub(super) fn add_name(&mut self, name: &str) -> Name {
        if let Some(&found) = self.name_numbers.get(name) {
            return Name(found);
        }
        let next = to_number(self.names.len());
        self.names.push(name.to_owned());
        self.name_numbers.insert(name.to_owned(), next);
        Name(next)
    }

    pub(super) fn into_tables(self) -> (Vec<Constant>, Vec<String>) {
        (self.constants, self.names)
    }
}
