//! A set of characters.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CharSet {
    pub(super) ranges: Box<[(char, char)]>,
    ascii: u128,
}

impl CharSet {
    pub(super) fn new(ranges: &[(char, char)]) -> Self {
        let holds = |letter: char| ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter));
        let ascii = (0_u8..128).filter(|byte| holds(char::from(*byte)));
        Self { ranges: ranges.into(), ascii: ascii.fold(0, |bits, byte| bits | 1 << byte) }
    }

    #[inline]
    pub(super) fn contains(&self, letter: char) -> bool {
        if letter.is_ascii() {
            return self.ascii >> u32::from(letter) & 1 == 1;
        }
        let after = self.ranges.partition_point(|(low, _)| *low <= letter);
        let before = after.checked_sub(1).and_then(|before| self.ranges.get(before));
        before.is_some_and(|(_, high)| letter <= *high)
    }
}
