//! Compiles a JSON Schema to [`Schemas`], and resolves all references once.

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    sync::Arc,
};

use referencing::{Draft, Error as ReferencingError, Registry, Resolver, Vocabulary, VocabularySet};
use serde_json::{Map, Value};

use super::{
    Dialect,
    format::{Content, Format},
    keywords::{self, EXCLUSIVE_MAXIMUM, EXCLUSIVE_MINIMUM, Inside, Keyword, MAXIMUM, MINIMUM},
    names::Names,
    pattern::Pattern,
    schema::{
        ANY, Allowed, Applied, ArrayRules, Bound, Contains, Dependent, Member, NumberRules, ObjectRules, Schema,
        SchemaId, SchemaLocation, Schemas, Sizes, StringRules, Types,
    },
    source::SchemaSource,
    tabulate::tabulate,
    value::{About, Divisor},
};
use crate::{
    location::{Location, Step, escaped},
    order::sort_by,
    text,
};

/// The length to which schema values are truncated in messages, in bytes.
pub(super) const MAX_VALUE: usize = 160;

/// The reason why a schema cannot be used.
pub(super) enum Unusable<'s> {
    /// An unresolved reference and, if known, its schema and keyword.
    Reference { error: ReferencingError, at: Option<(&'s Value, &'static str)> },
    /// A pattern that the engine rejects, and the schema that contains it.
    Pattern { keywords: &'s Value, keyword: &'static str, pattern: String },
    /// A keyword with an invalid value.
    Keyword { keywords: &'s Value, keyword: String },
}

/// Compiles the resource of the first URI in the registry, whose text is `source`. The other URIs name the contract's
/// resources.
pub(super) fn compile<'s>(
    registry: &'s Registry<'s>,
    uris: &[&str],
    source: &SchemaSource,
    dialect: Dialect,
) -> Result<Schemas, Unusable<'s>> {
    let compiled = match Compiler::new(registry, dialect, false).run(uris, source) {
        // If references depend on the dynamic scope, schemas are compiled separately for each scope.
        Err(Stopped::Dynamic) => Compiler::new(registry, dialect, true).run(uris, source),
        compiled => compiled,
    };
    compiled.map_err(|stopped| match stopped {
        Stopped::Unusable(unusable) => unusable,
        Stopped::Dynamic => unreachable!("ways are told apart"),
    })
}

enum Stopped<'s> {
    Unusable(Unusable<'s>),
    Dynamic,
}

impl<'s> Stopped<'s> {
    /// Returns whether the failed reference points outside the contract.
    fn leads_out(&self) -> bool {
        let Stopped::Unusable(Unusable::Reference { error, .. }) = self else {
            return false;
        };
        !matches!(error, ReferencingError::PointerToNowhere { .. } | ReferencingError::NoSuchAnchor { .. })
    }

    /// Adds the keyword that has the unresolved reference.
    fn at(self, keywords: &'s Value, keyword: &Keyword) -> Self {
        match self {
            Stopped::Unusable(Unusable::Reference { error, .. }) => {
                Stopped::Unusable(Unusable::Reference { error, at: Some((keywords, keyword.name)) })
            }
            stopped => stopped,
        }
    }
}

impl From<ReferencingError> for Stopped<'_> {
    fn from(error: ReferencingError) -> Self {
        Stopped::Unusable(Unusable::Reference { error, at: None })
    }
}

type Compiled<'s, T> = Result<T, Stopped<'s>>;

/// A schema's address, and the resources in its dynamic scope.
type Key = (*const Value, Vec<u32>);

/// The context of a schema.
#[derive(Clone)]
struct Context<'s> {
    /// Has the base URI but no dynamic scope, because this compiler resolves dynamic references itself.
    resolver: Resolver<'s>,
    /// The dynamic scope: the resources entered so far, outermost first, each at its first entry (2020-12 core, section
    /// 7.1). Leaves out resources that no dynamic reference can resolve to.
    way: Vec<u32>,
    draft: Draft,
    vocabularies: VocabularySet,
    location: SchemaLocation,
}

impl Context<'_> {
    fn has(&self, vocabulary: &Vocabulary) -> bool {
        self.until(Draft::Draft7) || self.vocabularies.contains(vocabulary)
    }

    fn since(&self, first: Draft) -> bool {
        self.draft == Draft::Unknown || self.draft >= first
    }

    fn until(&self, last: Draft) -> bool {
        self.draft != Draft::Unknown && self.draft <= last
    }
}

struct Compiler<'s> {
    registry: &'s Registry<'s>,
    dialect: Dialect,
    all: Vec<Schema>,
    /// The target of each schema that is only a reference.
    aliases: Vec<Option<SchemaId>>,
    /// The schemas that have an index in `all`, by address and, where it matters, by dynamic scope.
    known: HashMap<Key, SchemaId>,
    /// The schemas that are not compiled yet.
    queue: VecDeque<(SchemaId, &'s Map<String, Value>, &'s Value, Context<'s>)>,
    resources: Vec<String>,
    /// The schema of each resource, and its base.
    roots: Vec<Option<(&'s Value, Resolver<'s>)>>,
    /// The compiled patterns, because schemas often repeat a pattern.
    patterns: HashMap<&'s str, Arc<Pattern>>,
    /// The pointers of schemas, for the resources that needed them.
    pointers: HashMap<*const Value, HashMap<*const Value, String>>,
    dynamic: bool,
}

impl<'s> Compiler<'s> {
    fn new(registry: &'s Registry<'s>, dialect: Dialect, dynamic: bool) -> Self {
        Compiler {
            registry,
            dialect,
            all: vec![Schema::default()],
            aliases: vec![None],
            known: HashMap::new(),
            queue: VecDeque::new(),
            resources: Vec::new(),
            roots: Vec::new(),
            patterns: HashMap::new(),
            pointers: HashMap::new(),
            dynamic,
        }
    }

    fn run(mut self, uris: &[&str], source: &SchemaSource) -> Compiled<'s, Schemas> {
        let (contents, resolver, draft) = self.root(uris.first().copied().unwrap_or_default())?;
        let context = self.enter(contents, resolver, draft, String::new(), &[]);
        let root = self.schema(contents, context)?;
        while let Some((id, keywords, contents, context)) = self.queue.pop_front() {
            self.keywords(id, keywords, contents, context)?;
        }
        self.all_lead_somewhere(uris)?;
        self.find_positions(contents, source);
        Ok(self.finish(root))
    }

    /// Returns the schema that a URI names, with its base and its draft.
    fn root(&self, uri: &str) -> Compiled<'s, (&'s Value, Resolver<'s>, Draft)> {
        let base = referencing::uri::from_str(uri)?;
        let (contents, resolver, draft) = self.registry.resolver(base).lookup(uri)?.into_inner();
        // A relative `$id` is resolved against the given URI.
        let draft = detected(draft, contents);
        let resolver = resolver.in_subresource(draft.create_resource_ref(contents))?;
        Ok((contents, self.at(resolver.base_uri().as_str())?, draft))
    }

    /// Checks references in schemas that nothing refers to, such as unused definitions, because an unresolved reference
    /// is an error there as well. Resources are often third-party libraries, so in their definitions only references
    /// out of the contract are followed.
    fn all_lead_somewhere(&self, uris: &[&str]) -> Compiled<'s, ()> {
        let mut seen: HashSet<*const Value> = HashSet::new();
        let mut queue = VecDeque::new();
        for (index, uri) in uris.iter().enumerate() {
            queue.push_back((self.root(uri)?, index == 0));
        }
        // Compiled schemas are already resolved.
        let resolved: HashSet<*const Value> = self.known.keys().map(|(address, _)| *address).collect();
        while let Some(((contents, resolver, draft), is_own)) = queue.pop_front() {
            let Some(keywords) = contents.as_object().filter(|_| seen.insert(contents)) else {
                continue;
            };
            for keyword in [keywords::REF, keywords::DYNAMIC_REF] {
                let reference = keywords.get(keyword.name).and_then(Value::as_str);
                let reference =
                    reference.filter(|_| keyword.is_in(draft) && !resolved.contains(&std::ptr::from_ref(contents)));
                if let Some(reference) = reference {
                    match self.resolve(&resolver, reference) {
                        Err(stopped) if is_own || stopped.leads_out() => return Err(stopped.at(contents, keyword)),
                        _ => {}
                    }
                }
            }
            for (name, value) in keywords {
                let inside = keywords::named(name).filter(|keyword| keyword.is_in(draft)).map(|keyword| keyword.inside);
                let schemas: Vec<&'s Value> = match (inside.unwrap_or(Inside::Nothing), value) {
                    (Inside::List | Inside::SchemaOrList, Value::Array(schemas)) => schemas.iter().collect(),
                    (Inside::Named, Value::Object(schemas)) => schemas.values().collect(),
                    (Inside::Schema | Inside::SchemaOrList, schema) => vec![schema],
                    _ => continue,
                };
                for schema in schemas {
                    let draft = detected(draft, schema);
                    let resolver = match schema.get(draft.id_keyword()) {
                        Some(_) => resolver.in_subresource(draft.create_resource_ref(schema))?,
                        None => resolver.clone(),
                    };
                    queue.push_back(((schema, resolver, draft), is_own));
                }
            }
        }
        Ok(())
    }

    /// Records the positions of schemas and their keywords in the text, which determine the order of failures.
    fn find_positions(&mut self, root: &'s Value, source: &SchemaSource) {
        let document = source.document;
        let mut by_address: HashMap<*const Value, Vec<SchemaId>> = HashMap::new();
        for ((address, _), id) in &self.known {
            by_address.entry(*address).or_default().push(*id);
        }
        let mut open = vec![(source.at, root)];
        while let Some((at, value)) = open.pop() {
            for id in by_address.get(&std::ptr::from_ref(value)).into_iter().flatten() {
                let schema = &mut self.all[*id as usize];
                schema.position = at;
                let known = |(name, at)| Some((keywords::named(document.string(name))?.name, at));
                schema.keywords = document.members(at).filter_map(known).collect();
            }
            match value {
                Value::Object(members) => open.extend(
                    document.members(at).filter_map(|(name, at)| Some((at, members.get(document.string(name))?))),
                ),
                Value::Array(items) => open.extend(document.items(at).zip(items)),
                _ => {}
            }
        }
    }

    /// Returns a resolver for a base, without a dynamic scope.
    fn at(&self, uri: &str) -> Compiled<'s, Resolver<'s>> {
        Ok(self.registry.resolver(referencing::uri::from_str(uri)?))
    }

    /// Returns the context of a resource, or of a reference's target in it.
    fn enter(
        &mut self,
        contents: &Value,
        resolver: Resolver<'s>,
        draft: Draft,
        pointer: String,
        way: &[u32],
    ) -> Context<'s> {
        let base = resolver.base_uri();
        let uri = base.as_str().trim_end_matches('#');
        let resource = match self.resources.iter().position(|known| known == uri) {
            Some(resource) => resource,
            None => {
                self.resources.push(uri.to_owned());
                let root = resolver.lookup("#").ok();
                self.roots.push(root.map(|root| (root.contents(), resolver.clone())));
                self.resources.len() - 1
            }
        };
        let mut way = way.to_owned();
        if self.dynamic && !way.contains(&(resource as u32)) {
            way.push(resource as u32);
            let anchors = |number: &u32| {
                let root = self.roots[*number as usize].as_ref();
                root.map_or(Vec::new(), |(root, _)| dynamic_anchors(root))
            };
            let known: Vec<&str> = way[..way.len() - 1].iter().flat_map(anchors).collect();
            // If outer resources define all of its anchors, no dynamic reference can resolve to this resource. Scopes
            // that differ only in this resource are then equal.
            if anchors(&(resource as u32)).iter().all(|name| known.contains(name)) {
                way.pop();
            }
        }
        let vocabularies = resolver.find_vocabularies(draft, contents);
        Context { draft, vocabularies, location: SchemaLocation { resource: resource as u32, pointer }, resolver, way }
    }

    /// Resolves a reference regardless of the dynamic scope. Returns the target with a resolver for its base.
    fn resolve(&self, from: &Resolver<'s>, reference: &str) -> Compiled<'s, (&'s Value, Resolver<'s>, Draft)> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if uri.is_empty() { from.base_uri() } else { from.resolve_uri(&from.base_uri().borrow(), uri)? };
        // With a dynamic scope, the resolver would look up an anchor in the resources of that scope.
        let resolver = self.at(base.as_str())?;
        let (contents, found, draft) = resolver.lookup(&format!("#{fragment}"))?.into_inner();
        let is_anchor = !fragment.is_empty() && !fragment.starts_with('/');
        // The resource that the URI names contains the anchor, and the resource's own URI must not be resolved against
        // itself. A pointer may lead into another resource.
        let base = if is_anchor { base } else { found.base_uri() };
        Ok((contents, self.at(base.as_str())?, draft))
    }

    /// Resolves a dynamic reference (2020-12 core, section 8.2.3.2). If its target is a dynamic anchor, the reference
    /// resolves to the outermost anchor of that name in the dynamic scope.
    fn resolve_dynamic(
        &self,
        context: &Context<'s>,
        reference: &str,
    ) -> Compiled<'s, (&'s Value, Resolver<'s>, Draft)> {
        let initial = self.resolve(&context.resolver, reference)?;
        let name = reference.split_once('#').map_or("", |(_, fragment)| fragment);
        let has_anchor = |contents: &Value| contents.get("$dynamicAnchor").and_then(Value::as_str) == Some(name);
        if !has_anchor(initial.0) {
            return Ok(initial);
        }
        let roots = context.way.iter().filter_map(|number| self.roots[*number as usize].as_ref());
        for (_, resolver) in roots.filter(|(root, _)| dynamic_anchors(root).contains(&name)) {
            if let Ok(anchored) = self.resolve(resolver, &format!("#{name}"))
                && has_anchor(anchored.0)
            {
                return Ok(anchored);
            }
        }
        Ok(initial)
    }

    /// Resolves a recursive reference (2019-09 core, section 8.2.4.2) to the current resource. If that resource has a
    /// recursive anchor, resolves to the outermost resource in the dynamic scope that has one.
    fn resolve_recursive(&self, context: &Context<'s>) -> Compiled<'s, (&'s Value, Resolver<'s>, Draft)> {
        let initial = self.resolve(&context.resolver, "#")?;
        if !has_recursive_anchor(initial.0) {
            return Ok(initial);
        }
        let roots = context.way.iter().filter_map(|number| self.roots[*number as usize].as_ref());
        let outermost = roots.filter(|(root, _)| has_recursive_anchor(root)).map(|(_, resolver)| resolver).next();
        outermost.map_or(Ok(initial), |resolver| self.resolve(resolver, "#"))
    }

    /// Returns an index for a schema, and queues the schema for compiling.
    fn schema(&mut self, contents: &'s Value, context: Context<'s>) -> Compiled<'s, SchemaId> {
        let keywords = match contents {
            Value::Bool(true) => return Ok(ANY),
            Value::Object(keywords) if keywords.is_empty() => return Ok(ANY),
            Value::Bool(false) => {
                let never = Schema { types: Types::NONE, never: true, location: context.location, ..Schema::default() };
                return Ok(self.place(never));
            }
            Value::Object(keywords) => keywords,
            _ => {
                let keyword = context.location.pointer.rsplit('/').next().unwrap_or_default().to_owned();
                return Err(Stopped::Unusable(Unusable::Keyword { keywords: contents, keyword }));
            }
        };
        let key = self.key(contents, &context.way);
        if let Some(id) = self.known.get(&key) {
            return Ok(*id);
        }
        let id = self.place(Schema::default());
        self.known.insert(key, id);
        self.queue.push_back((id, keywords, contents, context));
        Ok(id)
    }

    /// Returns an index for the target of a reference.
    fn target(
        &mut self,
        (contents, resolver, draft): (&'s Value, Resolver<'s>, Draft),
        reference: &str,
        way: &[u32],
    ) -> Compiled<'s, SchemaId> {
        let mut context = self.enter(contents, resolver, draft, String::new(), way);
        if let Some(id) = self.known.get(&self.key(contents, &context.way)) {
            return Ok(*id);
        }
        let resource = context.resolver.lookup("#")?.contents();
        let fragment = reference.split_once('#').map_or("", |(_, fragment)| fragment);
        context.location.pointer = match resource.pointer(fragment) {
            Some(target) if std::ptr::eq(target, contents) => fragment.to_owned(),
            // An anchor, a pointer that passes through another resource, or a pointer with escapes.
            _ => {
                let pointers = self.pointers.entry(std::ptr::from_ref(resource)).or_insert_with(|| pointers(resource));
                pointers.get(&std::ptr::from_ref(contents)).cloned().unwrap_or_default()
            }
        };
        self.schema(contents, context)
    }

    fn key(&self, contents: &Value, way: &[u32]) -> Key {
        (std::ptr::from_ref(contents), way.to_owned())
    }

    fn place(&mut self, schema: Schema) -> SchemaId {
        self.all.push(schema);
        self.aliases.push(None);
        (self.all.len() - 1) as SchemaId
    }

    fn keywords(
        &mut self,
        id: SchemaId,
        keywords: &'s Map<String, Value>,
        contents: &'s Value,
        context: Context<'s>,
    ) -> Compiled<'s, ()> {
        let mut builder = Builder {
            compiler: self,
            keywords,
            contents,
            schema: Schema { location: context.location.clone(), ..Schema::default() },
            context,
        };
        builder.build()?;
        let schema = builder.schema;
        let target = match &schema.applied[..] {
            [Applied::Reference(target)] => Some(*target),
            [Applied::All(all)] if all.len() == 1 => all.first().copied(),
            _ => None,
        };
        match target.filter(|_| schema.is_only_applied()) {
            Some(target) => self.aliases[id as usize] = Some(target),
            None => self.all[id as usize] = schema,
        }
        Ok(())
    }

    /// Replaces schemas that are only references with their targets, and marks recursive schemas.
    fn finish(mut self, root: SchemaId) -> Schemas {
        let mut targets: Vec<Option<SchemaId>> = vec![None; self.all.len()];
        let mut way = Vec::new();
        for id in 0..self.all.len() as SchemaId {
            let mut at = id;
            let target = loop {
                match (targets[at as usize], self.aliases[at as usize].take()) {
                    (Some(target), _) => break target,
                    (None, Some(next)) => {
                        way.push(at);
                        at = next;
                    }
                    // References that refer only to each other accept everything.
                    (None, None) if way.contains(&at) => break ANY,
                    (None, None) => break at,
                }
            };
            targets[at as usize] = Some(target);
            way.drain(..).for_each(|passed| targets[passed as usize] = Some(target));
        }
        let targets: Vec<SchemaId> = targets.into_iter().map(Option::unwrap_or_default).collect();
        for schema in &mut self.all {
            schema.each_named(&mut |id| *id = targets[*id as usize]);
        }
        mark_recurring(&mut self.all);
        let mut schemas = Schemas::new(self.all, targets[root as usize], self.resources);
        tabulate(&mut schemas);
        schemas
    }
}

/// Marks one schema in each cycle of schemas that apply to the same value. A depth-first search reaches the marked
/// schema again.
fn mark_recurring(all: &mut [Schema]) {
    let next: Vec<Vec<SchemaId>> = all
        .iter_mut()
        .map(|schema| {
            let mut applied = Vec::new();
            schema.each_applied(&mut |id| applied.push(*id));
            applied
        })
        .collect();
    #[derive(Clone, Copy, PartialEq)]
    enum Walk {
        New,
        Open,
        Done,
    }
    let mut state = vec![Walk::New; all.len()];
    for start in 0..all.len() {
        let mut stack = vec![(start, 0)];
        while let Some((id, child)) = stack.pop() {
            if child == 0 {
                if state[id] != Walk::New {
                    continue;
                }
                state[id] = Walk::Open;
            }
            match next[id].get(child) {
                None => state[id] = Walk::Done,
                Some(target) => {
                    stack.push((id, child + 1));
                    match state[*target as usize] {
                        Walk::New => stack.push((*target as usize, 0)),
                        Walk::Open => all[*target as usize].recurs = true,
                        Walk::Done => {}
                    }
                }
            }
        }
    }
}

/// A schema that is being compiled.
struct Builder<'s, 'c> {
    compiler: &'c mut Compiler<'s>,
    keywords: &'s Map<String, Value>,
    contents: &'s Value,
    context: Context<'s>,
    schema: Schema,
}

impl<'s> Builder<'s, '_> {
    fn build(&mut self) -> Compiled<'s, ()> {
        if self.get(keywords::REF).is_some() && self.context.until(Draft::Draft7) {
            // The draft ignores siblings of a reference.
            return self.references();
        }
        if self.context.has(&Vocabulary::Validation) {
            self.any_kind()?;
            self.numbers()?;
        }
        self.strings()?;
        self.arrays()?;
        self.objects()?;
        if self.context.has(&Vocabulary::Applicator) {
            self.applicators()?;
        }
        self.unevaluated()?;
        self.references()
    }

    fn unusable<T>(&self, keyword: &str) -> Compiled<'s, T> {
        Err(Stopped::Unusable(Unusable::Keyword { keywords: self.contents, keyword: keyword.to_owned() }))
    }

    /// Returns the parsed value of a keyword, or an error if it is `None`.
    fn expect<T>(&self, keyword: &str, read: Option<T>) -> Compiled<'s, T> {
        match read {
            Some(read) => Ok(read),
            None => self.unusable(keyword),
        }
    }

    /// Returns a keyword's value, or `None` if it is missing or the draft does not have it.
    fn get(&self, keyword: &Keyword) -> Option<&'s Value> {
        self.keywords.get(keyword.name).filter(|_| keyword.is_in(self.context.draft))
    }

    /// Parses a keyword's value.
    fn read<T>(&self, keyword: &Keyword, read: impl FnOnce(&'s Value) -> Option<T>) -> Compiled<'s, Option<T>> {
        match self.get(keyword) {
            None => Ok(None),
            Some(value) => self.expect(keyword.name, read(value)).map(Some),
        }
    }

    fn strings_in(&self, keyword: &str, value: &'s Value) -> Compiled<'s, Vec<&'s str>> {
        let all = value.as_array().and_then(|names| names.iter().map(Value::as_str).collect());
        self.expect(keyword, all)
    }

    fn sizes(&self, min: &Keyword, max: &Keyword) -> Compiled<'s, Sizes> {
        let none = Sizes::default();
        Ok(Sizes { min: self.read(min, size)?.unwrap_or(none.min), max: self.read(max, size)?.unwrap_or(none.max) })
    }

    /// Returns the index of a subschema.
    fn child(&mut self, steps: &[&str], value: &'s Value) -> Compiled<'s, SchemaId> {
        let mut context = self.context.clone();
        for step in steps {
            context.location.pointer.push('/');
            context.location.pointer.push_str(&escaped(step));
        }
        let draft = detected(context.draft, value);
        if value.get("$schema").is_some() || value.get(draft.id_keyword()).is_some() {
            let resolver = context.resolver.in_subresource(draft.create_resource_ref(value))?;
            let same = resolver.base_uri() == context.resolver.base_uri();
            let pointer = if same { context.location.pointer } else { String::new() };
            context = self.compiler.enter(value, resolver, draft, pointer, &context.way);
        }
        self.compiler.schema(value, context)
    }

    /// Returns the index of the schema in a keyword's value.
    fn schema_at(&mut self, keyword: &Keyword) -> Compiled<'s, Option<SchemaId>> {
        self.get(keyword).map(|value| self.child(&[keyword.name], value)).transpose()
    }

    fn schemas_at(&mut self, keyword: &Keyword) -> Compiled<'s, Option<Vec<SchemaId>>> {
        let Some(list) = self.read(keyword, Value::as_array)? else {
            return Ok(None);
        };
        let schemas =
            list.iter().enumerate().map(|(index, value)| self.child(&[keyword.name, &index.to_string()], value));
        schemas.collect::<Compiled<'s, Vec<_>>>().map(Some)
    }

    /// Returns a schema as text, truncated for display. If the schema is only a reference, returns its target.
    fn shown(&self, value: &Value) -> String {
        let reference = value.as_object().filter(|keywords| keywords.len() == 1).and_then(|keywords| {
            let reference = keywords.get("$ref")?.as_str()?;
            let (contents, ..) = self.compiler.resolve(&self.context.resolver, reference).ok()?;
            Some(contents.to_string())
        });
        text::cut(&reference.unwrap_or_else(|| value.to_string()), MAX_VALUE)
    }

    fn members_of(&self, keyword: &Keyword) -> Compiled<'s, Option<&'s Map<String, Value>>> {
        self.read(keyword, Value::as_object)
    }

    fn pattern(&mut self, keyword: &'static str, pattern: &'s str) -> Compiled<'s, Arc<Pattern>> {
        if let Some(compiled) = self.compiler.patterns.get(pattern) {
            return Ok(compiled.clone());
        }
        let Some(compiled) = Pattern::compile(pattern, self.compiler.dialect.patterns) else {
            let pattern = pattern.to_owned();
            return Err(Stopped::Unusable(Unusable::Pattern { keywords: self.contents, keyword, pattern }));
        };
        Ok(self.compiler.patterns.entry(pattern).or_insert(Arc::new(compiled)).clone())
    }

    /// Compiles the rules for values of every kind.
    fn any_kind(&mut self) -> Compiled<'s, ()> {
        if let Some(value) = self.get(keywords::TYPE) {
            let names = match value {
                Value::String(name) => vec![name.as_str()],
                list => self.strings_in("type", list)?,
            };
            let mut types = Types::NONE;
            let exact = self.context.until(Draft::Draft4);
            let Some(names) = names.iter().map(|name| types.add(name, exact)).collect::<Option<Vec<_>>>() else {
                return self.unusable("type");
            };
            self.schema.types = types;
            self.schema.type_names = match names[..] {
                [name] => name.into(),
                _ => names.join(" or ").into(),
            };
        }
        self.schema.title = self.get(keywords::TITLE).and_then(Value::as_str).map(Box::from);
        if let Some(values) = self.read(keywords::ENUM, Value::as_array)? {
            self.schema.allowed.push(Allowed::new("enum", values.clone()));
        }
        if let Some(value) = self.get(keywords::CONST) {
            self.schema.allowed.push(Allowed::new("const", vec![value.clone()]));
        }
        Ok(())
    }

    fn numbers(&mut self) -> Compiled<'s, ()> {
        let mut rules = NumberRules::default();
        let number = |value: &'s Value| value.is_number().then_some(value);
        for (keyword, exclusive, sign, exclusive_sign) in
            [(MINIMUM, EXCLUSIVE_MINIMUM, ">=", ">"), (MAXIMUM, EXCLUSIVE_MAXIMUM, "<=", "<")]
        {
            let mut bound = |limit: Option<&Value>, keyword: &'static Keyword, sign| {
                if let Some(Value::Number(limit)) = limit {
                    let text = limit.to_string();
                    rules.bounds.push(Bound { keyword: keyword.name, sign, about: About::of(&text), text });
                }
            };
            let limit = self.read(keyword, number)?;
            if self.context.until(Draft::Draft4) {
                match self.read(exclusive, Value::as_bool)? {
                    Some(true) => bound(limit, exclusive, exclusive_sign),
                    _ => bound(limit, keyword, sign),
                }
            } else {
                bound(limit, keyword, sign);
                bound(self.read(exclusive, number)?, exclusive, exclusive_sign);
            }
        }
        if let Some(Value::Number(divisor)) = self.read(keywords::MULTIPLE_OF, number)? {
            let text = divisor.to_string();
            rules.multiple_of = Some((Divisor::of(&text), text));
        }
        if !rules.bounds.is_empty() || rules.multiple_of.is_some() {
            self.schema.number = Some(Box::new(rules));
        }
        Ok(())
    }

    fn strings(&mut self) -> Compiled<'s, ()> {
        let mut rules = StringRules::default();
        if self.context.has(&Vocabulary::Validation) {
            rules.length = self.sizes(keywords::MIN_LENGTH, keywords::MAX_LENGTH)?;
            if let Some(pattern) = self.read(keywords::PATTERN, Value::as_str)? {
                rules.pattern = Some(self.pattern("pattern", pattern)?);
            }
        }
        if self.compiler.dialect.assert_formats {
            let name = self.read(keywords::FORMAT, Value::as_str)?;
            rules.format = name.and_then(|name| Format::named(name, self.context.draft));
        }
        if self.compiler.dialect.assert_formats && self.context.draft == Draft::Draft7 {
            let text = |keyword| self.get(keyword).and_then(Value::as_str);
            rules.content = Content::named(text(keywords::CONTENT_ENCODING), text(keywords::CONTENT_MEDIA_TYPE));
        }
        if !rules.is_empty() {
            self.schema.string = Some(Box::new(rules));
        }
        Ok(())
    }

    fn arrays(&mut self) -> Compiled<'s, ()> {
        let mut rules = ArrayRules::default();
        let validation = self.context.has(&Vocabulary::Validation);
        if validation {
            rules.length = self.sizes(keywords::MIN_ITEMS, keywords::MAX_ITEMS)?;
            rules.unique = self.get(keywords::UNIQUE_ITEMS) == Some(&Value::Bool(true));
        }
        if self.context.has(&Vocabulary::Applicator) {
            let listed =
                self.context.until(Draft::Draft201909) && self.get(keywords::ITEMS).is_some_and(Value::is_array);
            if listed {
                rules.prefix = self.schemas_at(keywords::ITEMS)?.unwrap_or_default();
                match self.get(keywords::ADDITIONAL_ITEMS) {
                    Some(Value::Bool(false)) => rules.closed = true,
                    _ => rules.rest = self.schema_at(keywords::ADDITIONAL_ITEMS)?,
                }
            } else {
                rules.prefix = self.schemas_at(keywords::PREFIX_ITEMS)?.unwrap_or_default();
                rules.rest = self.schema_at(keywords::ITEMS)?;
            }
            if let Some(value) = self.get(keywords::CONTAINS) {
                let (schema, shown) = (self.child(&["contains"], value)?, self.shown(value));
                let count = if validation {
                    self.sizes(keywords::MIN_CONTAINS, keywords::MAX_CONTAINS)?
                } else {
                    Sizes::default()
                };
                let min = if validation && self.get(keywords::MIN_CONTAINS).is_some() { count.min } else { 1 };
                let evaluates = self.context.since(Draft::Draft202012);
                rules.contains = Some(Contains { schema, shown, count: Sizes { min, ..count }, evaluates });
            }
        }
        if !rules.is_empty() {
            self.schema.array = Some(Box::new(rules));
        }
        Ok(())
    }

    fn objects(&mut self) -> Compiled<'s, ()> {
        let mut rules = ObjectRules::default();
        // Required members come first, in the order of `required`.
        let mut named: Vec<(&'s str, Member)> = Vec::new();
        let mut numbers: HashMap<&'s str, usize> = HashMap::new();
        if self.context.has(&Vocabulary::Validation) {
            rules.count = self.sizes(keywords::MIN_PROPERTIES, keywords::MAX_PROPERTIES)?;
            if let Some(names) = self.get(keywords::REQUIRED) {
                for name in self.strings_in("required", names)? {
                    if let Entry::Vacant(number) = numbers.entry(name) {
                        number.insert(named.len());
                        named.push((name, Member { schema: None, required: true }));
                    }
                }
                rules.required = named.len();
            }
            if let Some(members) = self.members_of(keywords::DEPENDENT_REQUIRED)? {
                for (name, value) in members {
                    let required = self.strings_in("dependentRequired", value)?;
                    rules.dependent.push(Dependent::new(name, "dependentRequired", &required, None));
                }
            }
        }
        if self.context.has(&Vocabulary::Applicator) {
            for (name, value) in self.members_of(keywords::PROPERTIES)?.into_iter().flatten() {
                let schema = Some(self.child(&["properties", name], value)?);
                match numbers.get(name.as_str()) {
                    Some(number) => named[*number].1.schema = schema,
                    None => named.push((name, Member { schema, required: false })),
                }
            }
            for (pattern, value) in self.members_of(keywords::PATTERN_PROPERTIES)?.into_iter().flatten() {
                let schema = self.child(&["patternProperties", pattern], value)?;
                rules.patterns.push((self.pattern("patternProperties", pattern)?, schema));
            }
            rules.additional = self.schema_at(keywords::ADDITIONAL_PROPERTIES)?;
            rules.property_names = self.schema_at(keywords::PROPERTY_NAMES)?;
            for (name, value) in self.members_of(keywords::DEPENDENT_SCHEMAS)?.into_iter().flatten() {
                let schema = Some(self.child(&["dependentSchemas", name], value)?);
                rules.dependent.push(Dependent::new(name, "dependentSchemas", &[], schema));
            }
            for (name, value) in self.members_of(keywords::DEPENDENCIES)?.into_iter().flatten() {
                let dependent = if value.is_array() {
                    let required = self.strings_in("dependencies", value)?;
                    Dependent::new(name, "dependencies", &required, None)
                } else {
                    let schema = Some(self.child(&["dependencies", name], value)?);
                    Dependent::new(name, "dependencies", &[], schema)
                };
                rules.dependent.push(dependent);
            }
        }
        sort_by(&mut rules.dependent, |a, b| a.name.cmp(&b.name));
        rules.names = Names::new(named.iter().map(|(name, _)| *name));
        rules.members = named.into_iter().map(|(_, member)| member).collect();
        if !rules.is_empty() {
            self.schema.object = Some(Box::new(rules));
        }
        Ok(())
    }

    fn applicators(&mut self) -> Compiled<'s, ()> {
        if let Some(all) = self.schemas_at(keywords::ALL_OF)? {
            self.schema.applied.push(Applied::All(all));
        }
        if let Some(any) = self.schemas_at(keywords::ANY_OF)? {
            self.schema.applied.push(Applied::Any(any));
        }
        if let Some(one) = self.schemas_at(keywords::ONE_OF)? {
            self.schema.applied.push(Applied::One(one));
        }
        if let Some(value) = self.get(keywords::NOT) {
            let (schema, shown) = (self.child(&["not"], value)?, self.shown(value));
            self.schema.applied.push(Applied::Not(schema, shown));
        }
        if let Some(condition) = self.schema_at(keywords::IF)? {
            let (then, otherwise) = (self.schema_at(keywords::THEN)?, self.schema_at(keywords::ELSE)?);
            self.schema.applied.push(Applied::If { condition, then, otherwise });
        }
        Ok(())
    }

    fn unevaluated(&mut self) -> Compiled<'s, ()> {
        let vocabulary =
            if self.context.draft == Draft::Draft201909 { Vocabulary::Applicator } else { Vocabulary::Unevaluated };
        if self.context.has(&vocabulary) {
            self.schema.unevaluated_items = self.schema_at(keywords::UNEVALUATED_ITEMS)?;
            self.schema.unevaluated_members = self.schema_at(keywords::UNEVALUATED_PROPERTIES)?;
        }
        Ok(())
    }

    fn references(&mut self) -> Compiled<'s, ()> {
        if let Some(reference) = self.read(keywords::REF, Value::as_str)? {
            let target = self.compiler.resolve(&self.context.resolver, reference);
            self.refer(target, keywords::REF, reference)?;
        }
        if let Some(reference) = self.read(keywords::DYNAMIC_REF, Value::as_str)? {
            self.depend_on_the_way()?;
            let target = self.compiler.resolve_dynamic(&self.context, reference);
            self.refer(target, keywords::DYNAMIC_REF, reference)?;
        }
        if self.get(keywords::RECURSIVE_REF).is_some() {
            self.depend_on_the_way()?;
            let target = self.compiler.resolve_recursive(&self.context);
            self.refer(target, keywords::RECURSIVE_REF, "#")?;
        }
        Ok(())
    }

    fn depend_on_the_way(&self) -> Compiled<'s, ()> {
        if self.compiler.dynamic { Ok(()) } else { Err(Stopped::Dynamic) }
    }

    fn refer(
        &mut self,
        target: Compiled<'s, (&'s Value, Resolver<'s>, Draft)>,
        keyword: &Keyword,
        reference: &str,
    ) -> Compiled<'s, ()> {
        let target = target.map_err(|stopped| stopped.at(self.contents, keyword))?;
        let target = self.compiler.target(target, reference, &self.context.way)?;
        self.schema.applied.push(Applied::Reference(target));
        Ok(())
    }
}

/// Returns the names of a resource's dynamic anchors. A recursive anchor is returned as `#`, which cannot be the name
/// of an anchor. Excludes the anchors of nested resources.
fn dynamic_anchors(root: &Value) -> Vec<&str> {
    let mut names = Vec::new();
    if has_recursive_anchor(root) {
        names.push("#");
    }
    let mut open = vec![root];
    while let Some(at) = open.pop() {
        let inside: Vec<&Value> = match at {
            Value::Object(members) => {
                names.extend(members.get("$dynamicAnchor").and_then(Value::as_str));
                members.values().collect()
            }
            Value::Array(items) => items.iter().collect(),
            _ => continue,
        };
        open.extend(inside.into_iter().filter(|value| value.get("$id").is_none()));
    }
    names
}

fn has_recursive_anchor(schema: &Value) -> bool {
    schema.get("$recursiveAnchor") == Some(&Value::Bool(true))
}

/// Returns the draft that a schema declares. If it declares none, returns the draft of the enclosing schema. Handles
/// custom dialects.
fn detected(around: Draft, contents: &Value) -> Draft {
    match around.detect(contents) {
        Draft::Unknown => around,
        draft => draft,
    }
}

/// Returns the pointers of all nested values that can be schemas, by address.
fn pointers(root: &Value) -> HashMap<*const Value, String> {
    let mut pointers = HashMap::new();
    let mut open = vec![(root, Location::root())];
    while let Some((at, place)) = open.pop() {
        match at {
            Value::Object(members) => {
                open.extend(members.iter().map(|(name, value)| (value, place.clone().name(name))));
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(index, value)| {
                    let mut place = place.clone();
                    place.push(Step::Index(index));
                    (value, place)
                }));
            }
            Value::Bool(_) => {}
            _ => continue,
        }
        pointers.insert(std::ptr::from_ref(at), place.pointer());
    }
    pointers
}

/// Returns the location of a nested value, found by its address.
pub(super) fn find(root: &Value, target: &Value) -> Option<Location> {
    fn search(at: &Value, target: &Value, steps: &mut Vec<Step>) -> bool {
        if std::ptr::eq(at, target) {
            return true;
        }
        let inside: Vec<(Step, &Value)> = match at {
            Value::Object(members) => members.iter().map(|(name, value)| (Step::Name(name.clone()), value)).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect(),
            _ => Vec::new(),
        };
        inside.into_iter().any(|(step, value)| {
            steps.push(step);
            let found = search(value, target, steps);
            if !found {
                steps.pop();
            }
            found
        })
    }
    let mut steps = Vec::new();
    search(root, target, &mut steps).then(|| steps.into_iter().collect())
}

/// Parses a size, which may be written as `2.0`. Replaces a size that does not fit with the largest `u32`, so that
/// every machine gives the same result.
fn size(value: &Value) -> Option<usize> {
    let size = match (value.as_u64(), value.as_f64()) {
        (Some(size), _) => u32::try_from(size).unwrap_or(u32::MAX),
        // The conversion saturates.
        (None, Some(size)) if size >= 0.0 && size.fract() == 0.0 => size as u32,
        _ => return None,
    };
    Some(size as usize)
}
