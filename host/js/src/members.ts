/** Returns a member of a value that need not be an object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Returns the elements of a member that is a list, or an empty list. */
export function list(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name);
  return Array.isArray(found) ? found : [];
}

/** Returns the parts of a content that have a type. */
export function ofType(parts: readonly unknown[], type: string): readonly unknown[] {
  return parts.filter((part) => member(part, "type") === type);
}

/** Joins the texts that parts have in a member. */
export function joined(parts: readonly unknown[], name: string): string {
  const texts = parts.map((part) => member(part, name));
  return texts.filter((text) => typeof text === "string").join("");
}
