//! Matches step by step as ECMA-262 specifies. Used for patterns with look-around or back references, which no table
//! can represent.
//!
//! A match takes at most a given number of steps. If the pattern has no back references, an instruction that failed at
//! a position in the text is not tried there again.

use regex_syntax::hir::ClassUnicode;

use super::parse::{Assertion, Groups, Look, Node, Parsed, Repeat, contains, same_but_for_case, single};

/// A pattern compiled to instructions.
pub(super) struct Program {
    instructions: Vec<Instruction>,
    sets: Vec<Set>,
    /// The number of slots: two for each group, then those for loop counters.
    slots: usize,
    /// The number of memoized instructions.
    memos: u32,
    runs: u32,
    /// `true` if the pattern can match only at the beginning.
    anchored: bool,
}

/// A set of characters, with a separate bit set for ASCII, which is looked up most often.
struct Set {
    ascii: u128,
    all: ClassUnicode,
}

impl Set {
    fn has(&self, character: char) -> bool {
        match u32::from(character) {
            code @ 0..128 => self.ascii >> code & 1 == 1,
            _ => contains(&self.all, character),
        }
    }
}

type Address = u32;

/// Identifies an instruction whose failures are memoized.
#[derive(Clone, Copy)]
struct Memo {
    first: u32,
    /// The slot of the enclosing loop's counter. Its value is part of the memo's key.
    counted: Option<u32>,
}

/// The state that the failure of an instruction depends on, in addition to the position in the text.
#[derive(Clone, Copy)]
enum Around {
    Nothing,
    /// The count of a loop, up to a maximum.
    Count {
        slot: u32,
        most: u32,
    },
    /// More state than is memoized.
    More,
}

/// The highest loop count for which failures are memoized.
const MAX_COUNTED: u32 = 1024;

enum Instruction {
    Set {
        set: u32,
        behind: bool,
    },
    /// Matches as many characters of a set as possible, then fewer.
    Run {
        set: u32,
        behind: bool,
        min: u32,
        max: u32,
        /// The index of this run among all runs.
        number: u32,
        memo: Option<Memo>,
    },
    Assert(Assertion),
    /// Tries one address, and then the other if the first fails.
    Split {
        first: Address,
        second: Address,
        memo: Option<Memo>,
    },
    Jump(Address),
    /// Stores the position in the text in a slot.
    Keep(u32),
    /// Resets the positions of groups.
    Forget(Groups),
    /// Fails if the position in the text equals the stored one.
    Moved(u32),
    /// Starts a counting loop.
    Zero(u32),
    /// The head of a counting loop: starts another round, or continues at `end`.
    Count {
        count: u32,
        min: u32,
        max: u32,
        greedy: bool,
        end: Address,
        memo: Option<Memo>,
    },
    /// The tail of a counting loop. If the loop has no upper limit, counting stops at the minimum.
    Again {
        count: u32,
        min: u32,
        max: u32,
        head: Address,
        /// The slot of a position from which a round must advance once the minimum is reached.
        kept: Option<u32>,
    },
    /// Runs the instructions up to `Done` separately, then continues at `end`.
    Look {
        negative: bool,
        end: Address,
    },
    Atomic(Address),
    Back {
        group: u32,
        behind: bool,
        any_case: bool,
    },
    Done,
}

/// No position.
const NONE: u32 = u32::MAX;

/// The maximum memory for memoized failures, in bits.
const MEMO_BITS: usize = 1 << 22;

/// The step at which memoization begins. Most matches end earlier. Tests memoize from the first step.
const MEMO_STEPS: usize = if cfg!(test) { 0 } else { 50 };

/// The cost of one more character in a run, or of undoing one change, in eighths of a step.
const CHARACTER: usize = 3;

pub(super) struct OutOfSteps;

impl Program {
    pub(super) fn new(parsed: &Parsed) -> Self {
        let Parsed { node, groups, refers, .. } = parsed;
        let (refers, groups) = (*refers, *groups);
        let mut maker = Maker {
            program: Program {
                instructions: Vec::new(),
                sets: Vec::new(),
                slots: if refers { 2 * groups as usize } else { 0 },
                memos: 0,
                runs: 0,
                anchored: starts(node),
            },
            refers,
        };
        maker.node(node, false, Around::Nothing);
        maker.put(Instruction::Done);
        maker.program
    }

    /// Returns whether a text contains a match.
    pub(super) fn matches(&self, text: &str, steps: usize) -> Result<bool, OutOfSteps> {
        let mut matching = Matching {
            program: self,
            text,
            slots: vec![NONE; self.slots],
            stack: Vec::new(),
            steps: 8 * steps,
            memo_from: (8 * steps).saturating_sub(8 * MEMO_STEPS),
            failed: Vec::new(),
            gone_over: vec![(0, 0); self.runs as usize],
        };
        let mut start = 0;
        loop {
            if matching.run(0, start)?.is_some() {
                return Ok(true);
            }
            match text.get(start..).and_then(|rest| rest.chars().next()) {
                Some(character) if !self.anchored => start += character.len_utf8(),
                _ => return Ok(false),
            }
        }
    }
}

/// Returns whether a pattern can match only at the beginning of a text.
pub(super) fn starts(node: &Node) -> bool {
    match node {
        Node::Assert(Assertion::Start) => true,
        Node::Concat(nodes) => nodes.first().is_some_and(starts),
        Node::Alternate(nodes) => nodes.iter().all(starts),
        Node::Group(_, node) | Node::Atomic(node) => starts(node),
        _ => false,
    }
}

/// Returns whether a node can match the empty text.
fn is_nullable(node: &Node) -> bool {
    match node {
        Node::Character(_) | Node::Set(_) => false,
        Node::Concat(nodes) => nodes.iter().all(is_nullable),
        Node::Alternate(nodes) => nodes.iter().any(is_nullable),
        Node::Group(_, node) | Node::Atomic(node) => is_nullable(node),
        Node::Repeat(repeat) => repeat.min == 0 || is_nullable(&repeat.node),
        Node::Empty | Node::Assert(_) | Node::Look(_) | Node::Back(..) => true,
    }
}

struct Maker {
    program: Program,
    /// `true` if there are back references.
    refers: bool,
}

impl Maker {
    fn put(&mut self, instruction: Instruction) -> usize {
        self.program.instructions.push(instruction);
        self.program.instructions.len() - 1
    }

    fn here(&self) -> Address {
        self.program.instructions.len() as Address
    }

    fn slot(&mut self) -> u32 {
        self.program.slots += 1;
        (self.program.slots - 1) as u32
    }

    /// Reserves a memo for an instruction whose failures can be memoized.
    fn memo(&mut self, around: Around) -> Option<Memo> {
        let (counted, numbers) = match around {
            Around::Nothing => (None, 1),
            Around::Count { slot, most } => (Some(slot), most + 1),
            Around::More => return None,
        };
        let first = self.program.memos;
        let memos = first.checked_add(numbers).filter(|_| !self.refers)?;
        self.program.memos = memos;
        Some(Memo { first, counted })
    }

    fn set(&mut self, all: &ClassUnicode) -> u32 {
        if let Some(known) = self.program.sets.iter().rev().take(8).position(|set| set.all == *all) {
            return (self.program.sets.len() - 1 - known) as u32;
        }
        let ascii = (0..128_u8).filter(|code| contains(all, char::from(*code))).fold(0, |bits, code| bits | 1 << code);
        self.program.sets.push(Set { ascii, all: all.clone() });
        (self.program.sets.len() - 1) as u32
    }

    /// Compiles a node. If `behind` is set, the node matches from its end to its beginning.
    fn node(&mut self, node: &Node, behind: bool, memo: Around) {
        match node {
            Node::Empty => {}
            Node::Set(set) => {
                let set = self.set(set);
                self.put(Instruction::Set { set, behind });
            }
            Node::Character(character) => {
                let set = self.set(&single(u32::from(*character)));
                self.put(Instruction::Set { set, behind });
            }
            Node::Concat(nodes) if behind => nodes.iter().rev().for_each(|node| self.node(node, behind, memo)),
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.node(node, behind, memo)),
            Node::Alternate(nodes) => self.alternate(nodes, behind, memo),
            Node::Group(number, node) => {
                let (first, last) = (2 * (number - 1), 2 * (number - 1) + 1);
                if self.refers {
                    self.put(Instruction::Keep(if behind { last } else { first }));
                }
                self.node(node, behind, memo);
                if self.refers {
                    self.put(Instruction::Keep(if behind { first } else { last }));
                }
            }
            Node::Repeat(repeat) => self.repeat(repeat, behind, memo),
            Node::Assert(assertion) => drop(self.put(Instruction::Assert(*assertion))),
            Node::Look(look) => self.look(look),
            Node::Atomic(node) => {
                let at = self.put(Instruction::Atomic(0));
                self.node(node, behind, Around::Nothing);
                self.put(Instruction::Done);
                self.program.instructions[at] = Instruction::Atomic(self.here());
            }
            Node::Back(group, any_case) => {
                self.put(Instruction::Back { group: *group, behind, any_case: *any_case });
            }
        }
    }

    fn look(&mut self, look: &Look) {
        let at = self.put(Instruction::Done);
        self.node(&look.node, look.behind, Around::Nothing);
        self.put(Instruction::Done);
        self.program.instructions[at] = Instruction::Look { negative: look.negative, end: self.here() };
    }

    fn alternate(&mut self, nodes: &[Node], behind: bool, memo: Around) {
        let mut jumps = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node, behind, memo);
                break;
            }
            let memo_of_split = self.memo(memo);
            let split = self.put(Instruction::Done);
            self.node(node, behind, memo);
            jumps.push(self.put(Instruction::Done));
            self.program.instructions[split] =
                Instruction::Split { first: split as Address + 1, second: self.here(), memo: memo_of_split };
        }
        let end = self.here();
        jumps.into_iter().for_each(|jump| self.program.instructions[jump] = Instruction::Jump(end));
    }

    fn repeat(&mut self, repeat: &Repeat, behind: bool, memo: Around) {
        let (min, max) = (repeat.min, repeat.max.unwrap_or(u32::MAX));
        let nullable = is_nullable(&repeat.node);
        let mut inside = &repeat.node;
        // The positions of groups are unused without back references.
        while let (Node::Group(_, node), false) = (inside, self.refers) {
            inside = node;
        }
        match (inside, min, max) {
            (_, _, 0) => {}
            (Node::Set(_) | Node::Character(_), ..) if repeat.greedy => {
                let set = match inside {
                    Node::Character(character) => self.set(&single(u32::from(*character))),
                    Node::Set(set) => self.set(set),
                    _ => return,
                };
                let memo = self.memo(memo);
                let number = self.program.runs;
                self.program.runs += 1;
                self.put(Instruction::Run { set, behind, min, max, number, memo });
            }
            (_, 0, 1) => {
                let (split, memo_of_split) = (self.put(Instruction::Done), self.memo(memo));
                // A round that consumes no character is skipped.
                let kept = nullable.then(|| self.slot());
                self.round(repeat, behind, if nullable { Around::More } else { memo }, kept);
                kept.map(|kept| self.put(Instruction::Moved(kept)));
                self.split(split, split as Address + 1, repeat.greedy, memo_of_split);
            }
            (_, 0, u32::MAX) if !nullable => {
                let (split, memo_of_split) = (self.put(Instruction::Done), self.memo(memo));
                self.round(repeat, behind, memo, None);
                self.put(Instruction::Jump(split as Address));
                self.split(split, split as Address + 1, repeat.greedy, memo_of_split);
            }
            (_, 1, u32::MAX) if !nullable => {
                let head = self.here();
                self.round(repeat, behind, memo, None);
                let (split, memo_of_split) = (self.put(Instruction::Done), self.memo(memo));
                self.split(split, head, repeat.greedy, memo_of_split);
            }
            _ => {
                let count = self.slot();
                self.put(Instruction::Zero(count));
                let at = self.put(Instruction::Done);
                let kept = nullable.then(|| self.slot());
                let most = if max == u32::MAX { min } else { max };
                let inner = match memo {
                    Around::Nothing if !nullable && most <= MAX_COUNTED => Around::Count { slot: count, most },
                    _ => Around::More,
                };
                let memo = self.memo(inner);
                self.round(repeat, behind, inner, kept);
                self.put(Instruction::Again { count, min, max, head: at as Address, kept });
                self.program.instructions[at] =
                    Instruction::Count { count, min, max, greedy: repeat.greedy, end: self.here(), memo };
            }
        }
    }

    /// Compiles one round of a loop.
    fn round(&mut self, repeat: &Repeat, behind: bool, memo: Around, kept: Option<u32>) {
        if self.refers && repeat.groups.0 < repeat.groups.1 {
            self.put(Instruction::Forget(repeat.groups));
        }
        kept.map(|kept| self.put(Instruction::Keep(kept)));
        self.node(&repeat.node, behind, memo);
    }

    /// Compiles the choice between another round and the continuation.
    fn split(&mut self, at: usize, again: Address, greedy: bool, memo: Option<Memo>) {
        let on = self.here();
        let (first, second) = if greedy { (again, on) } else { (on, again) };
        self.program.instructions[at] = Instruction::Split { first, second, memo };
    }
}

/// An entry of the backtracking stack.
#[derive(Clone, Copy)]
enum Undo {
    /// Continue at an address and position.
    Try {
        to: Address,
        at: u32,
    },
    /// Continue after a run that is one character shorter, down to the minimum.
    Fewer {
        run: Address,
        at: u32,
        least: u32,
    },
    Restore {
        slot: u32,
        was: u32,
    },
    /// Everything tried after this instruction failed.
    Failed(u32),
}

struct Matching<'p, 't> {
    program: &'p Program,
    text: &'t str,
    slots: Vec<u32>,
    stack: Vec<Undo>,
    /// The remaining steps, in eighths.
    steps: usize,
    memo_from: usize,
    /// One bit for each memoized instruction and position in the text.
    failed: Vec<u64>,
    /// For each run, the last range of text that it matched. A run that begins inside this range ends at the same
    /// position.
    gone_over: Vec<(usize, usize)>,
}

impl Matching<'_, '_> {
    /// Runs instructions from an address and a position in the text. Returns the position at which `Done` was reached,
    /// or `None` if nothing matches.
    fn run(&mut self, mut pc: Address, mut at: usize) -> Result<Option<usize>, OutOfSteps> {
        let program = self.program;
        let base = self.stack.len();
        loop {
            self.spend(8)?;
            let done = match &program.instructions[pc as usize] {
                Instruction::Done => return Ok(Some(at)),
                instruction => self.step(instruction, pc, at)?,
            };
            if let Some(next) = done {
                (pc, at) = next;
                continue;
            }
            match self.back(base)? {
                Some(next) => (pc, at) = next,
                None => return Ok(None),
            }
        }
    }

    fn spend(&mut self, eighths: usize) -> Result<(), OutOfSteps> {
        self.steps = self.steps.checked_sub(eighths).ok_or(OutOfSteps)?;
        Ok(())
    }

    /// Executes one instruction. Returns the next address and position, or `None` if the instruction fails.
    fn step(
        &mut self,
        instruction: &Instruction,
        pc: Address,
        at: usize,
    ) -> Result<Option<(Address, usize)>, OutOfSteps> {
        let on = |is: bool| is.then_some((pc + 1, at));
        Ok(match instruction {
            Instruction::Done => None,
            Instruction::Set { set, behind } => {
                let set = &self.program.sets[*set as usize];
                self.past(set, at, *behind).map(|at| (pc + 1, at))
            }
            Instruction::Run { set, behind, min, max, number, memo } => {
                let set = &self.program.sets[*set as usize];
                let (mut end, mut least) = (at, at);
                let mut count = 0;
                let again = memo.filter(|_| !*behind && *min <= 1 && *max == u32::MAX).map(|_| *number as usize);
                if let Some((from, to)) = again.and_then(|run| self.gone_over.get(run)).copied()
                    && (from..to).contains(&at)
                {
                    if *min == 1 {
                        least = self.after(at).map_or(at, |(_, next)| next);
                    }
                    return Ok(self.after_run(pc, to, least, *memo));
                }
                while count < *max
                    && let Some(next) = self.past(set, end, *behind)
                {
                    end = next;
                    count += 1;
                    if count == *min {
                        least = end;
                    }
                }
                self.spend(CHARACTER * count as usize)?;
                if let Some(gone_over) = again.filter(|_| end != at).and_then(|run| self.gone_over.get_mut(run)) {
                    *gone_over = (at, end);
                }
                if count < *min {
                    return Ok(None);
                }
                self.after_run(pc, end, least, *memo)
            }
            Instruction::Assert(assertion) => on(self.holds(*assertion, at)),
            Instruction::Split { first, second, memo } => {
                if self.is_failed(*memo, at) {
                    return Ok(None);
                }
                self.stack.push(Undo::Try { to: *second, at: at as u32 });
                Some((*first, at))
            }
            Instruction::Jump(to) => Some((*to, at)),
            Instruction::Keep(slot) => {
                self.set(*slot, at as u32);
                on(true)
            }
            Instruction::Forget((first, end)) => {
                for slot in 2 * (first - 1)..2 * (end - 1) {
                    self.set(slot, NONE);
                }
                self.spend(8 * (end - first) as usize)?;
                on(true)
            }
            Instruction::Moved(slot) => on(self.slots[*slot as usize] != at as u32),
            Instruction::Zero(count) => {
                self.set(*count, 0);
                on(true)
            }
            Instruction::Count { count, min, max, greedy, end, memo } => {
                let count = self.slots[*count as usize];
                if self.is_failed(*memo, at) {
                    None
                } else if count < *min {
                    on(true)
                } else if count >= *max {
                    Some((*end, at))
                } else {
                    let (first, second) = if *greedy { (pc + 1, *end) } else { (*end, pc + 1) };
                    self.stack.push(Undo::Try { to: second, at: at as u32 });
                    Some((first, at))
                }
            }
            Instruction::Again { count, min, max, head, kept } => {
                let rounds = self.slots[*count as usize];
                let still = kept.is_some_and(|kept| self.slots[kept as usize] == at as u32);
                if still && rounds >= *min {
                    return Ok(None);
                }
                // Without an upper limit, rounds that match nothing can make up the minimum.
                let next = match *max {
                    u32::MAX if still => *min,
                    u32::MAX => (rounds + 1).min(*min),
                    _ => rounds + 1,
                };
                self.set(*count, next);
                Some((*head, at))
            }
            Instruction::Look { negative, end } => {
                let base = self.stack.len();
                let found = self.run(pc + 1, at)?.is_some();
                if found && *negative {
                    self.undo(base);
                } else if found {
                    self.settle(base);
                }
                (found != *negative).then_some((*end, at))
            }
            Instruction::Atomic(end) => {
                let base = self.stack.len();
                let found = self.run(pc + 1, at)?;
                if found.is_some() {
                    self.settle(base);
                }
                found.map(|at| (*end, at))
            }
            Instruction::Back { group, behind, any_case } => {
                let slot = 2 * (*group as usize - 1);
                let (first, last) = (self.slots[slot], self.slots[slot + 1]);
                if first == NONE || last == NONE {
                    return Ok(on(true));
                }
                let matched = self.text.get(first as usize..last as usize).unwrap_or_default();
                self.spend(matched.len())?;
                let end = if *any_case {
                    self.same_but_for_case(matched, at, *behind)
                } else if *behind {
                    let before = self.text.get(..at).is_some_and(|before| before.ends_with(matched));
                    before.then(|| at - matched.len())
                } else {
                    let after = self.text.get(at..).is_some_and(|after| after.starts_with(matched));
                    after.then(|| at + matched.len())
                };
                end.map(|at| (pc + 1, at))
            }
        })
    }

    /// Backtracks to the most recent alternative. Returns the address and position at which it continues, or `None` if
    /// no alternative is left.
    fn back(&mut self, base: usize) -> Result<Option<(Address, usize)>, OutOfSteps> {
        while self.stack.len() > base {
            self.spend(CHARACTER)?;
            match self.stack.pop() {
                Some(Undo::Try { to, at }) => return Ok(Some((to, at as usize))),
                Some(Undo::Fewer { run, at, least }) => {
                    if let Instruction::Run { behind, memo, .. } = &self.program.instructions[run as usize] {
                        let (mut at, least) = (at as usize, least as usize);
                        let row = memo.map_or(usize::MAX, |memo| self.row(memo));
                        let mut skipped = 0;
                        while at != least {
                            let fewer = if *behind { self.after(at) } else { self.before(at) };
                            let Some((_, fewer)) = fewer else { break };
                            at = fewer;
                            skipped += 1;
                            if !self.is_noted(row.saturating_add(at)) {
                                self.spend(CHARACTER * skipped)?;
                                return Ok(self.after_run(run, at, least, *memo));
                            }
                        }
                        self.spend(CHARACTER * skipped)?;
                    }
                }
                Some(Undo::Restore { slot, was }) => self.slots[slot as usize] = was,
                Some(Undo::Failed(bit)) => self.fail(bit),
                None => {}
            }
        }
        Ok(None)
    }

    /// Continues after a run, unless that failed before. Shorter runs are tried later.
    fn after_run(&mut self, pc: Address, end: usize, least: usize, memo: Option<Memo>) -> Option<(Address, usize)> {
        if end != least {
            self.stack.push(Undo::Fewer { run: pc, at: end as u32, least: least as u32 });
        }
        (!self.is_failed(memo, end)).then_some((pc + 1, end))
    }

    /// Returns whether a failure is memoized.
    #[inline]
    fn is_noted(&self, bit: usize) -> bool {
        self.failed.get(bit / 64).is_some_and(|bits| bits >> (bit % 64) & 1 == 1)
    }

    /// Returns whether the instruction already failed at this position. If not, a later failure will be memoized.
    fn is_failed(&mut self, memo: Option<Memo>, at: usize) -> bool {
        let Some(memo) = memo.filter(|_| self.steps < self.memo_from) else {
            return false;
        };
        let bit = self.row(memo).saturating_add(at);
        if bit >= MEMO_BITS {
            return false;
        }
        if self.is_noted(bit) {
            return true;
        }
        self.stack.push(Undo::Failed(bit as u32));
        false
    }

    /// Returns the offset of an instruction's bits.
    fn row(&self, memo: Memo) -> usize {
        let counted = memo.counted.map_or(0, |slot| self.slots[slot as usize]);
        (memo.first as usize + counted as usize).saturating_mul(self.text.len() + 1)
    }

    fn fail(&mut self, bit: u32) {
        let word = bit as usize / 64;
        if self.failed.len() <= word {
            self.failed.resize(word + 1, 0);
        }
        self.failed[word] |= 1 << (bit % 64);
    }

    fn set(&mut self, slot: u32, to: u32) {
        let was = std::mem::replace(&mut self.slots[slot as usize], to);
        self.stack.push(Undo::Restore { slot, was });
    }

    /// Undoes all changes since `base`.
    fn undo(&mut self, base: usize) {
        for undo in self.stack.drain(base..).rev() {
            if let Undo::Restore { slot, was } = undo {
                self.slots[slot as usize] = was;
            }
        }
    }

    /// Keeps the match since `base`, and drops its remaining alternatives.
    fn settle(&mut self, base: usize) {
        let mut kept = base;
        for at in base..self.stack.len() {
            if let undo @ Undo::Restore { .. } = self.stack[at] {
                self.stack[kept] = undo;
                kept += 1;
            }
        }
        self.stack.truncate(kept);
    }

    /// Returns the character that begins at a position, and the position of its end.
    #[inline]
    fn after(&self, at: usize) -> Option<(char, usize)> {
        match self.text.as_bytes().get(at)? {
            byte @ ..0x80 => Some((char::from(*byte), at + 1)),
            _ => self.text.get(at..)?.chars().next().map(|character| (character, at + character.len_utf8())),
        }
    }

    /// Returns the character that ends at a position, and the position of its beginning.
    #[inline]
    fn before(&self, at: usize) -> Option<(char, usize)> {
        match self.text.as_bytes().get(at.checked_sub(1)?)? {
            byte @ ..0x80 => Some((char::from(*byte), at - 1)),
            _ => {
                let character = self.text.get(..at)?.chars().next_back()?;
                Some((character, at - character.len_utf8()))
            }
        }
    }

    #[inline]
    fn past(&self, set: &Set, at: usize, behind: bool) -> Option<usize> {
        let next = if behind { self.before(at) } else { self.after(at) };
        next.filter(|(character, _)| set.has(*character)).map(|(_, at)| at)
    }

    fn same_but_for_case(&self, matched: &str, mut at: usize, behind: bool) -> Option<usize> {
        let mut characters = matched.chars();
        while let Some(one) = if behind { characters.next_back() } else { characters.next() } {
            let (other, next) = if behind { self.before(at) } else { self.after(at) }?;
            if !same_but_for_case(one, other) {
                return None;
            }
            at = next;
        }
        Some(at)
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        let byte = |at: Option<usize>| at.and_then(|at| self.text.as_bytes().get(at)).copied();
        let (before, after) = (byte(at.checked_sub(1)), byte(Some(at)));
        let word = |byte: Option<u8>| byte.is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        match assertion {
            Assertion::Start => at == 0,
            Assertion::End => at == self.text.len(),
            Assertion::StartOfLine => matches!(before, None | Some(b'\n')),
            Assertion::EndOfLine => matches!(after, None | Some(b'\n')),
            Assertion::Boundary => word(before) != word(after),
            Assertion::NoBoundary => word(before) == word(after),
        }
    }
}
