// Producers' texts: finding positions in them, and showing them safely.

/** An element with a class and what is in it: elements, and texts, which stay texts. */
export function element(name, className, ...children) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
}

/** Escapes invisible characters and those that change the direction of text. */
export function visible(text, kept = "") {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (hidden) => {
    if (kept.includes(hidden)) {
      return hidden;
    }
    return hidden === "\t" ? "  " : `\\u{${hidden.codePointAt(0).toString(16)}}`;
  });
}

/** The beginning of a text, and how much more there is. */
export function cut(text, most) {
  if (text.length <= most) {
    return text;
  }
  const end = whole(text, most);
  return `${text.slice(0, end)} … (${counted(text.length - end, "more character")})`;
}

/** A place in a text that splits no surrogate pair: this one or the one before. */
export function whole(text, at) {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}

export function counted(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

/** How long a text is in UTF-8. */
export function bytes(text) {
  return locate(text, []).bytes;
}

/**
 * Where byte offsets into the UTF-8 of a text are, in one walk: the place in the string, the line, its beginning and the
 * column. Half a surrogate pair has three bytes, as what stands for it has.
 */
export function locate(text, offsets) {
  const wanted = [...new Set(offsets)].sort((a, b) => a - b);
  const places = new Map();
  let next = 0;
  let bytes = 0;
  let [line, begin, column] = [1, 0, 1];
  for (let at = 0; at <= text.length; at++) {
    while (wanted[next] <= bytes || (at === text.length && next < wanted.length)) {
      places.set(wanted[next], { at, line, begin, column });
      next += 1;
    }
    const unit = text.charCodeAt(at);
    if (unit < 0x80) {
      bytes += 1;
    } else if (unit < 0x800) {
      bytes += 2;
    } else if ((unit & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      bytes += 4;
      at += 1;
    } else if (at < text.length) {
      bytes += 3;
    }
    column += 1;
    if (unit === 10) {
      [line, begin, column] = [line + 1, at + 1, 1];
    }
  }
  return { places, bytes };
}

/** JSON text with white space put in and nothing else: numbers keep their digits. It may be cut off anywhere. */
export function indented(json) {
  let depth = 0;
  return json.replace(/"(?:[^"\\]|\\.)*"?|\{\}|\[\]|[{}[\],:]/g, (token) => {
    const line = () => `\n${"  ".repeat(depth)}`;
    switch (token) {
      case "{":
      case "[":
        depth += 1;
        return token + line();
      case "}":
      case "]":
        depth -= 1;
        return line() + token;
      case ",":
        return token + line();
      case ":":
        return ": ";
      default:
        return visible(token);
    }
  });
}
