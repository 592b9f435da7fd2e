//! The findings in a text, by class and kind.

/// An enumeration whose words are stable, because observations and journals contain them.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$each])* $variant,)* }

        impl $name {
            /// All variants, in the order in which they are always listed.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// Returns its word in documents.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }

        impl Kind for $name {
            const ALL: &[Self] = Self::ALL;
            fn as_str(self) -> &'static str { self.as_str() }
            fn index(self) -> usize { self as usize }
        }
    };
}

/// A kind of finding that can be counted: an enumeration with a word for each variant.
pub trait Kind: Copy + 'static {
    /// All variants, in a fixed order.
    const ALL: &[Self];
    /// Returns its word in documents.
    fn as_str(self) -> &'static str;
    /// Returns its index among all.
    fn index(self) -> usize;
}

words! {
    /// A class of hidden characters.
    Hidden {
        /// Unicode tags, U+E0000 to U+E007F: an invisible copy of ASCII.
        Tag = "tags",
        /// Variation selectors with nothing to vary, or several in a row.
        VariationSelector = "variation_selectors",
        /// Characters without width: spaces, joiners outside of words and emoji, soft hyphens, fillers, byte order
        /// marks.
        ZeroWidth = "zero_width",
        /// Characters that change the direction of writing.
        Bidi = "bidi",
        /// C0 and C1, except for line ends and tabs.
        Control = "controls",
        /// Terminal sequences, each counted once.
        Ansi = "ansi",
        /// All others that a display may leave out, and line ends that only some readers know.
        Other = "other",
    }
}

words! {
    /// A kind of secret. A secret is replaced by `[redacted:KIND]`.
    Secret {
        /// PEM, from BEGIN to END, or to the point where it breaks off.
        PrivateKey = "private_key",
        /// After `Bearer`, or other credentials of an `Authorization` header.
        BearerToken = "bearer_token",
        /// A JSON Web Token.
        Jwt = "jwt",
        /// Amazon Web Services.
        AwsKey = "aws_key",
        /// Google Cloud.
        GcpKey = "gcp_key",
        /// Microsoft Azure.
        AzureKey = "azure_key",
        /// GitHub.
        GithubToken = "github_token",
        /// GitLab.
        GitlabToken = "gitlab_token",
        /// Slack: tokens and webhooks.
        SlackToken = "slack_token",
        /// Stripe.
        StripeKey = "stripe_key",
        /// OpenAI, and others whose keys begin with `sk-`.
        OpenaiKey = "openai_key",
        /// Anthropic.
        AnthropicKey = "anthropic_key",
        /// Another service whose tokens have a known form.
        ServiceToken = "service_token",
        /// In an address, or after `password=`.
        Password = "password",
        /// After `secret=`, `api_key=` or `token=`.
        Secret = "secret",
    }
}

words! {
    /// The kind of instruction that a piece of text reads like.
    Reads {
        /// A demand to ignore earlier instructions, or new instructions in their place.
        Override = "override",
        /// The mark of a role in a prompt: `<|im_start|>`, `[INST]`, `system: you …`.
        RoleMarker = "role_marker",
        /// Another role for the reader: "you are now an administrator".
        RoleChange = "role_change",
        /// A claim that somebody approved, or that approval is not needed.
        ApprovalClaim = "approval_claim",
        /// A demand to call a tool, or the markup of a call.
        ToolDemand = "tool_demand",
        /// A demand to disclose the prompt, the conversation or secrets.
        Disclosure = "disclosure",
        /// A demand to keep something from the user.
        Concealment = "concealment",
        /// Words addressed to a model as such: "if you are an AI".
        Address = "address",
        /// A run of hidden characters that is long enough to contain a message.
        HiddenText = "hidden_text",
    }
}

/// The number of findings of each kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Counts<const N: usize>([u32; N]);

impl<const N: usize> Default for Counts<N> {
    fn default() -> Self {
        Counts([0; N])
    }
}

impl<const N: usize> Counts<N> {
    /// Counts one finding.
    pub(super) fn add(&mut self, kind: impl Kind) {
        self.0[kind.index()] = self.0[kind.index()].saturating_add(1);
    }

    /// Adds the findings of another text.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }

    /// Returns the number of findings of all kinds.
    pub fn total(&self) -> u32 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// The number of escaped characters, by class.
pub type Escaped = Counts<{ Hidden::ALL.len() }>;
/// The number of redacted secrets, by kind.
pub type Redacted = Counts<{ Secret::ALL.len() }>;

macro_rules! counts_of {
    ($counts:ty, $kind:ty) => {
        impl $counts {
            /// Returns the number of findings of this kind.
            pub fn of(&self, kind: $kind) -> u32 {
                self.0[kind.index()]
            }

            /// Returns the words and counts of the kinds that were found, in the fixed order.
            pub fn found(&self) -> impl Iterator<Item = (&'static str, u32)> {
                <$kind>::ALL.iter().map(|kind| (kind.as_str(), self.of(*kind))).filter(|(_, count)| *count > 0)
            }
        }

        impl std::fmt::Debug for $counts {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.debug_map().entries(self.found()).finish()
            }
        }
    };
}

counts_of!(Escaped, Hidden);
counts_of!(Redacted, Secret);

/// A piece of text that reads like an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// The kind of instruction.
    pub kind: Reads,
    /// Its first byte in the text as given.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
}

/// The findings in the whole text, before truncation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The escaped characters, by class.
    pub escaped: Escaped,
    /// The number of images, links and addresses in tags that could carry data out.
    pub defanged: u32,
    /// The redacted secrets, by kind.
    pub redacted: Redacted,
    /// The texts that read like an instruction: the first [`super::MAX_INSTRUCTIONS`].
    pub instructions: Vec<Instruction>,
    /// The number of further ones.
    pub instructions_left_out: u32,
}

impl Found {
    /// Returns whether nothing was found.
    pub fn is_nothing(&self) -> bool {
        self.escaped.total() == 0 && self.defanged == 0 && self.redacted.total() == 0 && self.instructions.is_empty()
    }
}
