// Finds positions in JSON text.

/**
 * The place that a JSON Pointer (RFC 6901) names in JSON text that parses: of the value, and of the member's name. Of
 * members with one name, the last. Where it leads nowhere, as far as it leads.
 */
export function placeOf(text, pointer) {
  let place = { name: undefined, value: valueAt(text, 0) };
  for (const escaped of pointer.split("/").slice(1)) {
    const token = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    const inside = children(text, place.value[0]).findLast(({ key }) => key === token);
    if (inside === undefined) {
      break;
    }
    place = inside;
  }
  return place;
}

/** Yields the values in an array or object that begins at an offset, each with its key. */
function children(text, start) {
  const isObject = text[start] === "{";
  const found = [];
  if (!isObject && text[start] !== "[") {
    return found;
  }
  let at = spaceEnd(text, start + 1);
  while (text[at] !== "}" && text[at] !== "]" && at < text.length) {
    let key = String(found.length);
    let name;
    if (isObject) {
      name = [at, stringEnd(text, at)];
      key = JSON.parse(text.slice(...name));
      at = spaceEnd(text, spaceEnd(text, name[1]) + 1);
    }
    const value = valueAt(text, at);
    found.push({ key, name, value });
    at = spaceEnd(text, value[1]);
    if (text[at] === ",") {
      at = spaceEnd(text, at + 1);
    }
  }
  return found;
}

/** The value that begins at a place, or after the white space there. */
function valueAt(text, from) {
  const start = spaceEnd(text, from);
  let at = start;
  let depth = 0;
  do {
    if (text[at] === '"') {
      at = stringEnd(text, at);
    } else if ("[{".includes(text[at])) {
      depth += 1;
      at += 1;
    } else if ("]}".includes(text[at])) {
      depth -= 1;
      at += 1;
    } else if (/[\s,:]/.test(text[at])) {
      at += 1;
    } else {
      while (at < text.length && !/[\s,:[\]{}"]/.test(text[at])) {
        at += 1;
      }
    }
  } while (depth > 0 && at < text.length);
  return [start, at];
}

function spaceEnd(text, from) {
  let at = from;
  while (at < text.length && /\s/.test(text[at])) {
    at += 1;
  }
  return at;
}

/** Behind the quote that ends the string that begins at a place. */
function stringEnd(text, start) {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') {
    at += text[at] === "\\" ? 2 : 1;
  }
  return at + 1;
}
