// Writes a decoder's result in the notation of `canonical.py`. Every number is a float.

export function noted(value) {
  if (typeof value === "number") return ["f", String(value)];
  if (Array.isArray(value)) return ["a", ...value.map(noted)];
  if (value !== null && typeof value === "object") {
    return ["o", ...Object.entries(value).flatMap(([name, item]) => [name, noted(item)])];
  }
  return value;
}
