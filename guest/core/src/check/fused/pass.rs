//! Parses a text by a plan, in one pass that stores nothing of the text.

use super::{
    super::{
        judge,
        schema::{SchemaId, Schemas},
    },
    Stop,
    ahead::member_ahead,
    plan::{ACCEPT, Act, Array, BITS, JUDGE, Node, Object, Plan, Presence, REJECT},
    scalar,
};
use crate::{
    caps::Caps,
    order::sort_by,
    parse::{Kind, MAX_LEVELS, Parts, Shape, decode, end_of_string, scan_number},
    scan::{hash, plain, same, white_space},
};

/// The maximum number of names that are compared pairwise if their hashes do not decide. Longer lists are sorted.
const FEW_NAMES: usize = 24;

/// An open container.
struct Frame<'p> {
    is_object: bool,
    /// `true` if a name, or an item that must be unique, may be a duplicate.
    repeats: bool,
    object: &'p Object,
    array: &'p Array,
    count: usize,
    /// The number of required members so far.
    required: u32,
    /// The index of the member that is likely to come next.
    next: usize,
    /// The index in [`Order`] of the likely first member. An entry for the successor of each member follows, by member
    /// index.
    order: usize,
    /// The index in `Pass::names` of the container's first name or item.
    names: usize,
    /// The members seen so far, one bit each.
    seen: u64,
    /// The hash classes of the container's names and items: one of 64 bits for each half of a hash.
    kinds: [u64; 2],
}

impl<'p> Frame<'p> {
    #[inline(always)]
    fn object(object: &'p Object, array: &'p Array, names: usize) -> Self {
        Frame {
            is_object: true,
            repeats: false,
            object,
            array,
            count: 0,
            required: 0,
            next: 0,
            order: 0,
            names,
            seen: 0,
            kinds: [0; 2],
        }
    }

    #[inline(always)]
    fn array(object: &'p Object, array: &'p Array, names: usize) -> Self {
        Frame { is_object: false, ..Frame::object(object, array, names) }
    }
}

/// The number of entries in [`Order`]: a power of two.
const PLACES: usize = 128;

/// The order in which members arrived, as a prediction for the next object of the same kind. Different members may
/// share an entry, because a wrong prediction only costs time.
struct Order([u8; PLACES]);

impl Order {
    /// Returns the index of the entry for the first member of an object with these rules. The entries for later members
    /// follow.
    #[inline(always)]
    fn first(act: Act) -> usize {
        act as usize * 29
    }

    /// Returns the index of the member that came last at an entry, if any.
    #[inline(always)]
    fn at(&self, place: usize) -> Option<usize> {
        usize::from(self.0[place % PLACES]).checked_sub(1)
    }

    fn learn(&mut self, place: usize, number: usize) {
        // Does not learn members whose index does not fit a byte.
        self.0[place % PLACES] = u8::try_from(number + 1).unwrap_or_default();
    }
}

/// An open container without rules.
struct Level {
    is_object: bool,
    repeats: bool,
    /// The number of members, or of commas between items.
    count: usize,
    /// See [`Frame`].
    names: usize,
    kinds: [u64; 2],
}

/// A piece of the text without escapes, and its hash.
#[derive(Clone, Copy)]
struct Piece {
    hash: u32,
    start: u32,
    end: u32,
}

pub(super) struct Pass<'t, 'p> {
    pub(super) schemas: &'p Schemas,
    pub(super) plan: &'p Plan,
    pub(super) text: &'t str,
    /// The text up to the end of the document.
    pub(super) bytes: &'t [u8],
    pub(super) caps: &'p Caps,
    stack: Vec<Frame<'p>>,
    order: Order,
    /// A buffer for decoded strings.
    decoded: String,
    skipped: Vec<Level>,
    /// Names that their object's rules do not list, and strings of arrays whose items must be unique.
    names: Vec<Piece>,
    parts: Option<Parts<'t, 'p>>,
}

impl<'t, 'p> Pass<'t, 'p> {
    pub(super) fn new(schemas: &'p Schemas, plan: &'p Plan, (text, end): (&'t str, usize), caps: &'p Caps) -> Self {
        Pass {
            schemas,
            plan,
            text,
            bytes: &text.as_bytes()[..end],
            caps,
            stack: Vec::with_capacity(16),
            order: Order([0; PLACES]),
            decoded: String::new(),
            skipped: Vec::new(),
            names: Vec::new(),
            parts: None,
        }
    }

    /// Reads the value at an offset. Returns the offset of its end.
    pub(super) fn run(&mut self, mut at: usize) -> Result<usize, Stop> {
        let (bytes, plan, caps) = (self.bytes, self.plan, self.caps);
        let (free_object, free_array) = (&plan.objects[0], &plan.arrays[0]);
        let depth = caps.depth.min(MAX_LEVELS);
        let mut frame = Frame::array(free_object, &plan.document, 0);
        loop {
            let node = if frame.is_object {
                self.name(&mut at, &mut frame)?
            } else {
                let index = frame.count;
                frame.count += 1;
                if index < frame.array.prefix.len() { frame.array.prefix[index] } else { frame.array.rest }
            };
            at += white_space(bytes.get(at..).unwrap_or_default());
            let acts = &plan.nodes[node as usize];
            match bytes.get(at) {
                Some(b'"') => {
                    let act = acts[Kind::String as usize];
                    let start = at + 1;
                    let end = start + plain(bytes.get(start..).unwrap_or_default());
                    if act >= JUDGE {
                        at = self.other(act, node, at)?;
                    } else if bytes.get(end) != Some(&b'"') {
                        at = self.escaped(act, &frame, start, end)?;
                    } else {
                        if end - start > caps.string_bytes {
                            return Err(Stop::Unknown);
                        }
                        if act != ACCEPT {
                            self.string(act, start, end)?;
                        }
                        if frame.array.unique {
                            self.note(&mut frame, start, end);
                        }
                        at = end + 1;
                    }
                }
                Some(bracket @ (b'{' | b'[')) => {
                    let is_object = *bracket == b'{';
                    let mut act = acts[if is_object { Kind::Object } else { Kind::Array } as usize];
                    if is_object && act < JUDGE && plan.objects[act as usize].union.is_some() {
                        act = self.tell(act, at + 1);
                    }
                    if act >= JUDGE {
                        at = self.other(act, node, at)?;
                    } else if act == ACCEPT && !self.stack.is_empty() {
                        at = self.skip(at)?;
                    } else {
                        if self.stack.len() >= depth {
                            return Err(Stop::Unknown);
                        }
                        let names = self.names.len();
                        let next = if is_object {
                            let frame = Frame::object(&plan.objects[act as usize], free_array, names);
                            Frame { order: Order::first(act), ..frame }
                        } else {
                            Frame::array(free_object, &plan.arrays[act as usize], names)
                        };
                        self.stack.push(std::mem::replace(&mut frame, next));
                        at += 1;
                        at += white_space(bytes.get(at..).unwrap_or_default());
                        if bytes.get(at) != Some(if is_object { &b'}' } else { &b']' }) {
                            continue;
                        }
                    }
                }
                Some(b'-' | b'0'..=b'9') => {
                    let act = acts[Kind::Number as usize];
                    if act >= JUDGE {
                        at = self.other(act, node, at)?;
                    } else {
                        let start = at;
                        let shape = scan_number(bytes, &mut at).map_err(|_| Stop::Unknown)?;
                        if act != ACCEPT || !shape.short {
                            self.number(act, (start, at), shape)?;
                        }
                    }
                }
                Some(b't') => at = self.literal(acts[Kind::True as usize], node, at, b"true")?,
                Some(b'f') => at = self.literal(acts[Kind::False as usize], node, at, b"false")?,
                Some(b'n') => at = self.literal(acts[Kind::Null as usize], node, at, b"null")?,
                _ => return Err(Stop::Unknown),
            }
            // A value or an empty container has ended. Continues with the enclosing container.
            loop {
                if self.stack.is_empty() {
                    return Ok(at);
                }
                at += white_space(bytes.get(at..).unwrap_or_default());
                match (frame.is_object, bytes.get(at)) {
                    (_, Some(b',')) => {
                        at += 1;
                        break;
                    }
                    (true, Some(b'}')) => self.close_object(&frame)?,
                    (false, Some(b']')) => self.close_array(&frame)?,
                    _ => return Err(Stop::Unknown),
                }
                at += 1;
                frame = self.stack.pop().ok_or(Stop::Unknown)?;
            }
        }
    }

    /// Reads a container without rules. Returns the offset after it.
    #[inline(never)]
    fn skip(&mut self, mut at: usize) -> Result<usize, Stop> {
        let (bytes, caps, outer) = (self.bytes, self.caps, self.names.len());
        let depth = caps.depth.min(MAX_LEVELS).saturating_sub(self.stack.len());
        self.skipped.clear();
        let mut level = Level { is_object: false, repeats: false, count: 0, names: outer, kinds: [0; 2] };
        'value: loop {
            at += white_space(bytes.get(at..).unwrap_or_default());
            let byte = bytes.get(at).copied().unwrap_or_default();
            match byte {
                b'"' => at = self.skip_string(at + 1)?.1 + 1,
                b'{' | b'[' => {
                    if self.skipped.len() >= depth {
                        return Err(Stop::Unknown);
                    }
                    let is_object = byte == b'{';
                    let next = Level { is_object, repeats: false, count: 0, names: self.names.len(), kinds: [0; 2] };
                    self.skipped.push(std::mem::replace(&mut level, next));
                    at += 1;
                    at += white_space(bytes.get(at..).unwrap_or_default());
                    // In ASCII, the code of a closing bracket is its opening bracket's code plus two.
                    if bytes.get(at) != Some(&(byte + 2)) {
                        if is_object {
                            at = self.skip_name(&mut level, at)?;
                        }
                        continue 'value;
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let start = at;
                    let shape = scan_number(bytes, &mut at).map_err(|_| Stop::Unknown)?;
                    if !shape.short && !self.text.get(start..at).is_some_and(|text| shape.fits(text)) {
                        return Err(Stop::Unknown);
                    }
                }
                b't' => at = self.literal(ACCEPT, 0, at, b"true")?,
                b'f' => at = self.literal(ACCEPT, 0, at, b"false")?,
                b'n' => at = self.literal(ACCEPT, 0, at, b"null")?,
                _ => return Err(Stop::Unknown),
            }
            // A value or an empty container has ended. Continues with the enclosing container.
            while !self.skipped.is_empty() {
                at += white_space(bytes.get(at..).unwrap_or_default());
                match (level.is_object, bytes.get(at)) {
                    (true, Some(b',')) => {
                        at += 1;
                        at += white_space(bytes.get(at..).unwrap_or_default());
                        at = self.skip_name(&mut level, at)?;
                        continue 'value;
                    }
                    (false, Some(b',')) => {
                        level.count += 1;
                        at += 1;
                        continue 'value;
                    }
                    (true, Some(b'}')) => {
                        if level.count > caps.object_members || (level.repeats && self.has_repeated(level.names)) {
                            return Err(Stop::Unknown);
                        }
                        self.names.truncate(level.names);
                    }
                    // The last item has no comma. An empty array exceeds only a cap of zero, and the parser handles
                    // that case.
                    (false, Some(b']')) if level.count < caps.array_items => {}
                    _ => return Err(Stop::Unknown),
                }
                at += 1;
                level = self.skipped.pop().ok_or(Stop::Unknown)?;
            }
            return Ok(at);
        }
    }

    /// Reads a string from after its opening quote. Returns whether it has escapes, and the position of its closing
    /// quote.
    #[inline(always)]
    fn skip_string(&self, start: usize) -> Result<(bool, usize), Stop> {
        let bytes = self.bytes;
        let end = start + plain(bytes.get(start..).unwrap_or_default());
        let (has_escapes, end) = if bytes.get(end) == Some(&b'"') {
            (false, end)
        } else {
            (true, end_of_string(bytes, end).ok_or(Stop::Unknown)?)
        };
        // Decoding never makes a string longer.
        if end - start > self.caps.string_bytes { Err(Stop::Unknown) } else { Ok((has_escapes, end)) }
    }

    /// Reads a name and its colon in a container without rules. Returns the offset after the colon.
    #[inline(always)]
    fn skip_name(&mut self, level: &mut Level, mut at: usize) -> Result<usize, Stop> {
        let bytes = self.bytes;
        if bytes.get(at) != Some(&b'"') {
            return Err(Stop::Unknown);
        }
        let start = at + 1;
        let (false, end) = self.skip_string(start)? else { return Err(Stop::Unknown) };
        let hash = hash(&bytes[start..end]);
        let [a, b] = [1_u64 << (hash % 64), 1 << ((hash >> 16) % 64)];
        level.repeats |= level.kinds[0] & a != 0 && level.kinds[1] & b != 0;
        level.kinds = [level.kinds[0] | a, level.kinds[1] | b];
        level.count += 1;
        self.names.push(Piece { hash, start: start as u32, end: end as u32 });
        at = end + 1;
        at += white_space(bytes.get(at..).unwrap_or_default());
        if bytes.get(at) == Some(&b':') { Ok(at + 1) } else { Err(Stop::Unknown) }
    }

    /// Reads a name and its colon. Returns the node of its value.
    #[inline(always)]
    fn name(&mut self, at: &mut usize, frame: &mut Frame<'p>) -> Result<Node, Stop> {
        let bytes = self.bytes;
        *at += white_space(bytes.get(*at..).unwrap_or_default());
        if bytes.get(*at) != Some(&b'"') {
            return Err(Stop::Unknown);
        }
        let start = *at + 1;
        let object = frame.object;
        frame.count += 1;
        let text = bytes.get(start..).unwrap_or_default();
        let is_next = |number: &usize| {
            object.members.get(*number).is_some_and(|member| {
                text.first_chunk().is_some_and(|first| member.name.begins(first))
                    && (member.name.length < 16 || self.goes_on(object, *number, text))
            })
        };
        let learned = || self.order.at(frame.order + frame.next).filter(is_next);
        let node = match Some(frame.next).filter(is_next).or_else(learned) {
            Some(number) => {
                let member = &object.members[number];
                *at = start + member.name.length + 1;
                self.known(frame, number, start, *at - 1)?;
                member.node
            }
            None => self.other_name(at, frame)?,
        };
        *at += white_space(bytes.get(*at..).unwrap_or_default());
        if bytes.get(*at) != Some(&b':') {
            return Err(Stop::Unknown);
        }
        *at += 1;
        Ok(node)
    }

    /// Returns whether a long name continues as expected.
    fn goes_on(&self, object: &Object, number: usize, text: &[u8]) -> bool {
        let name = object.names.get(number).as_bytes();
        text.get(..name.len()).is_some_and(|text| same(text, name)) && text.get(name.len()) == Some(&b'"')
    }

    /// Records a member that the rules list.
    #[inline(always)]
    fn known(&mut self, frame: &mut Frame<'p>, number: usize, start: usize, end: usize) -> Result<(), Stop> {
        frame.required += u32::from(frame.object.members[number].required);
        frame.next = number + 1;
        if number < BITS {
            let bit = 1 << number;
            if frame.seen & bit != 0 {
                return Err(Stop::Unknown);
            }
            frame.seen |= bit;
        } else {
            self.note(frame, start, end);
        }
        Ok(())
    }

    /// Reads a name that differs from the expected one.
    #[inline(never)]
    fn other_name(&mut self, at: &mut usize, frame: &mut Frame<'p>) -> Result<Node, Stop> {
        let (bytes, object) = (self.bytes, frame.object);
        let start = *at + 1;
        let end = start + plain(&bytes[start..]);
        if bytes.get(end) != Some(&b'"') || end - start > self.caps.string_bytes {
            return Err(Stop::Unknown);
        }
        *at = end + 1;
        let name = &bytes[start..end];
        if object.name != 0 {
            match self.plan.nodes[object.name as usize][Kind::String as usize] {
                ACCEPT => {}
                REJECT => return Err(Stop::Wrong),
                JUDGE => return Err(Stop::Unknown),
                act => self.string(act, start, end)?,
            }
        }
        if object.members.is_empty() {
            self.note(frame, start, end);
        } else if let Some(number) = object.names.find(name, hash(name)) {
            self.order.learn(frame.order + frame.next, number);
            self.known(frame, number, start, end)?;
            return Ok(object.members[number].node);
        } else {
            self.note(frame, start, end);
        }
        if object.patterns.is_empty() { Ok(object.rest) } else { self.patterned(object, start, end) }
    }

    /// Returns the node of a member whose name may match patterns.
    #[inline(never)]
    fn patterned(&self, object: &Object, start: usize, end: usize) -> Result<Node, Stop> {
        let name = self.text.get(start..end).ok_or(Stop::Unknown)?;
        let mut found = None;
        for (schema, number, node) in &object.patterns {
            let rules = self.schemas.get(*schema).object.as_ref().ok_or(Stop::Unknown)?;
            if rules.patterns[*number].0.matches(name).map_err(|_| Stop::Unknown)? {
                match found {
                    None => found = Some(*node),
                    Some(other) if other == *node => {}
                    Some(_) => return Err(Stop::Unknown),
                }
            }
        }
        Ok(found.unwrap_or(object.rest))
    }

    /// Records a name or an item, to compare it with the others.
    #[inline(always)]
    fn note(&mut self, frame: &mut Frame<'p>, start: usize, end: usize) {
        let hash = hash(&self.bytes[start..end]);
        let [a, b] = [1_u64 << (hash % 64), 1 << ((hash >> 16) % 64)];
        frame.repeats |= frame.kinds[0] & a != 0 && frame.kinds[1] & b != 0;
        frame.kinds = [frame.kinds[0] | a, frame.kinds[1] | b];
        self.names.push(Piece { hash, start: start as u32, end: end as u32 });
    }

    #[inline(always)]
    fn close_object(&mut self, frame: &Frame<'p>) -> Result<(), Stop> {
        let (count, object) = (frame.count, frame.object);
        if count > self.caps.object_members {
            return Err(Stop::Unknown);
        }
        // The pass counted a duplicate member twice. The parser reports it.
        if frame.repeats && self.has_repeated(frame.names) {
            return Err(Stop::Unknown);
        }
        self.names.truncate(frame.names);
        let has_others = |presence: &Presence| {
            let there = presence.sets.iter().filter(|set| frame.seen & **set == **set).count();
            there < presence.least || there > presence.most
        };
        let lacks = |(some, all): &(u64, u64)| frame.seen & some != 0 && frame.seen & all != *all;
        if count < object.min
            || count > object.max
            || frame.required < object.required
            || object.dependent.iter().any(lacks)
            || object.presence.iter().any(has_others)
        {
            return Err(Stop::Wrong);
        }
        Ok(())
    }

    #[inline(always)]
    fn close_array(&mut self, frame: &Frame<'p>) -> Result<(), Stop> {
        let (count, array) = (frame.count, frame.array);
        if count > self.caps.array_items {
            return Err(Stop::Unknown);
        }
        if count < array.min || count > array.max || (frame.repeats && self.has_repeated(frame.names)) {
            return Err(Stop::Wrong);
        }
        self.names.truncate(frame.names);
        Ok(())
    }

    /// Returns whether `names` contains two equal names from an index on.
    #[inline(never)]
    fn has_repeated(&self, from: usize) -> bool {
        let text = |piece: &Piece| &self.bytes[piece.start as usize..piece.end as usize];
        let is_same = |a: &Piece, b: &Piece| a.hash == b.hash && text(a) == text(b);
        let mut names = self.names[from..].to_vec();
        if names.len() <= FEW_NAMES {
            return names.iter().enumerate().any(|(index, a)| names[..index].iter().any(|b| is_same(a, b)));
        }
        sort_by(&mut names, |a, b| a.hash.cmp(&b.hash).then_with(|| text(a).cmp(text(b))));
        names.windows(2).any(|pair| is_same(&pair[0], &pair[1]))
    }

    #[inline(always)]
    fn literal(&mut self, act: Act, node: Node, at: usize, word: &[u8]) -> Result<usize, Stop> {
        if act >= JUDGE {
            return self.other(act, node, at);
        }
        match self.bytes.get(at..at + word.len()) {
            Some(text) if text == word => Ok(at + word.len()),
            _ => Err(Stop::Unknown),
        }
    }

    /// Reads a string from its first escape.
    #[inline(never)]
    fn escaped(&mut self, act: Act, frame: &Frame, start: usize, at: usize) -> Result<usize, Stop> {
        if frame.array.unique {
            return Err(Stop::Unknown);
        }
        let end = end_of_string(self.bytes, at).ok_or(Stop::Unknown)?;
        // Decoding never makes a string longer.
        if end - start > self.caps.string_bytes {
            return Err(Stop::Unknown);
        }
        if act != ACCEPT {
            let text = self.text.get(start..end).ok_or(Stop::Unknown)?;
            self.decoded.clear();
            decode(text, &mut self.decoded).ok_or(Stop::Unknown)?;
            self.check(act, &self.decoded)?;
        }
        Ok(end + 1)
    }

    /// Checks a string against the rules of some schemas.
    #[inline(never)]
    fn string(&self, act: Act, start: usize, end: usize) -> Result<(), Stop> {
        self.check(act, self.text.get(start..end).ok_or(Stop::Unknown)?)
    }

    #[inline(always)]
    fn check(&self, act: Act, text: &str) -> Result<(), Stop> {
        self.plan.scalars[act as usize].iter().try_for_each(|id| scalar::string(self.schemas.get(*id), text))
    }

    /// Checks a number against the rules of some schemas.
    #[inline(never)]
    fn number(&self, act: Act, (start, end): (usize, usize), shape: Shape) -> Result<(), Stop> {
        let text = self.text.get(start..end).ok_or(Stop::Unknown)?;
        if !shape.fits(text) {
            return Err(Stop::Unknown);
        }
        let all = &self.plan.scalars[act as usize];
        all.iter().try_for_each(|id| scalar::number(self.schemas.get(*id), text, shape.integer))
    }

    /// Parses and judges a value, unless the plan already rejects it.
    #[inline(never)]
    fn other(&mut self, act: Act, node: Node, at: usize) -> Result<usize, Stop> {
        if act == REJECT {
            return Err(Stop::Wrong);
        }
        if self.stack.is_empty() {
            // For the whole document, a nested pass would save nothing.
            return Err(Stop::Unknown);
        }
        let (text, end, caps) = (self.text, self.bytes.len(), self.caps);
        let parts = self.parts.get_or_insert_with(|| Parts::new(text, end, caps));
        let end = parts.read(at, self.stack.len()).ok_or(Stop::Unknown)?;
        let all: &[SchemaId] = &self.plan.schemas[node as usize];
        if judge::is_valid_by(self.schemas, parts.document(), all) { Ok(end) } else { Err(Stop::Wrong) }
    }

    /// Returns the act for an object whose alternatives have a discriminator. Returns `JUDGE` if the discriminator is
    /// not among the first members.
    #[inline(never)]
    fn tell(&self, mut act: Act, start: usize) -> Act {
        while act < JUDGE
            && let Some(told) = &self.plan.objects[act as usize].union
        {
            let table = self.schemas.get(told.union.schema).tables[told.union.number].as_deref();
            let row = table.and_then(|table| Some(table.row_of(member_ahead(self.bytes, table.name(), start)?)));
            act = row.map_or(JUDGE, |row| told.rows[row]);
        }
        act
    }
}
