/**
 * A JSON Schema of draft 4, 6, 7, 2019-09 or 2020-12, the default if it has no `$schema`. To pass an interface, such as
 * a schema of TypeBox, write `{ ...schema }`.
 */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** One of these words. Other strings are allowed because the text of a JSON file has the type `string`. */
type Word<W extends string> = W | (string & Record<never, never>);

/** The members of a contract other than its schema (`schemas/contract.schema.json` describes them). */
export interface ContractPolicy {
  readonly $schema?: string | undefined;
  readonly agent?: string | undefined;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly dialect?: string | undefined;
  /** Schemas that `schema` refers to, by URI. */
  readonly resources?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly formats?: Word<"assert" | "annotate"> | undefined;
  readonly extract?:
    | {
        readonly markers?: readonly string[] | undefined;
        readonly untagged?: boolean | undefined;
        readonly raw_json?: boolean | undefined;
        readonly embedded?: boolean | Word<"single"> | undefined;
        readonly ignore?: readonly (string | { readonly begin: string; readonly end: string })[] | undefined;
        readonly within?: string | undefined;
        readonly select?: Word<"first" | "last" | "only" | "first_valid" | "last_valid"> | undefined;
      }
    | undefined;
  readonly repair?: Word<"none" | "syntax"> | undefined;
  /** The units of work: one bad item costs one item. */
  readonly items?:
    | {
        readonly path: string;
        readonly max?: number | undefined;
        readonly key?: string | undefined;
        readonly schema?: JsonSchema | undefined;
      }
    | undefined;
  readonly caps?:
    | {
        readonly bytes?: number | undefined;
        readonly depth?: number | undefined;
        readonly string_bytes?: number | undefined;
        readonly array_items?: number | undefined;
        readonly object_members?: number | undefined;
      }
    | undefined;
  readonly allow?:
    | readonly {
        readonly path: string;
        readonly list?: string | undefined;
        readonly values?: readonly unknown[] | undefined;
        readonly optional?: boolean | undefined;
      }[]
    | undefined;
  readonly evidence?:
    | {
        readonly claims: string;
        readonly text?: string | undefined;
        readonly cites?: string | undefined;
        readonly quotes?: Word<"required" | "optional"> | undefined;
        readonly numbers?: Word<"cited" | "ignore"> | undefined;
        readonly confidence?: string | undefined;
        readonly limitations?: string | undefined;
        readonly absence?: string | undefined;
        readonly kinds?:
          | readonly {
              readonly kind: string;
              readonly min?: number | undefined;
              readonly or_explained?: string | undefined;
            }[]
          | undefined;
      }
    | undefined;
  readonly unknown_members?: Word<"reject" | "strip"> | undefined;
  readonly coerce?: Word<"none" | "lossless"> | undefined;
  readonly unwrap?: boolean | undefined;
  readonly patterns?: Word<"linear" | "backtracking"> | undefined;
  readonly keep_cut_off?: readonly string[] | undefined;
  readonly refusal?: string | undefined;
  readonly retry?: { readonly limit?: number | undefined } | undefined;
}
