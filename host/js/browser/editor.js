// A text field with marks: each problem is underlined, and described in a tooltip when the pointer or the caret reaches
// it, or the buttons step to it.
//
// The marks are in a sheet beneath the field, which has the same text in the same layout. The sheet determines the
// height, the field covers it, and the paper around both scrolls.

import { bytes, counted, cut, element, visible, whole } from "./text.js";

/** The most characters in the field. Browsers lay out longer texts too slowly. */
const SHOWN = 100_000;

/** The most marks that are shown. */
const MOST = 500;

/** The most marks that are described at one place. */
const AT_ONCE = 3;

export class Editor {
  #root;
  #paper;
  #sheet;
  #field;
  #tip = element("div", "tip");
  #told = element("p", "told");
  #cut = element("p", "cut");
  #count = element("span", "count");
  #clear = element("button", "clear", "Clear");
  #changed;
  #text = "";
  /** The end of the visible text, which is before the end of the text during a replay. */
  #until = 0;
  /** The offset at which the text in the field begins. */
  #from = 0;
  #marks = [];
  /** The marks that the buttons step through, in order. */
  #stops = [];
  #current = -1;
  /** The piece of the sheet that is described. */
  #said;
  /** The position of the caret after the last typing. */
  #typedAt;

  /** `changed` is called when a person has changed the text. */
  constructor(root, changed) {
    this.#root = root;
    this.#changed = changed;
    this.#paper = root.querySelector(".paper");
    this.#sheet = root.querySelector(".marks");
    this.#field = root.querySelector("textarea");
    this.#tip.role = "tooltip";
    this.#tip.id = `${root.id}-tip`;
    this.#told.role = "status";
    this.#field.setAttribute("aria-describedby", this.#tip.id);
    this.#clear.type = "button";
    this.#clear.addEventListener("click", () => this.#edited(""));
    this.#paper.after(this.#cut, this.#told, this.#tip);
    this.#steps();
    this.#hide();
    this.#listen();
  }

  get text() {
    return this.#text;
  }

  set text(text) {
    // A field has no other ends of lines; with others, places in it would be wrong.
    this.#text = text.replace(/\r\n?/g, "\n");
    this.#until = this.#text.length;
    this.#from = 0;
    this.#marks = [];
    this.#stopsAre([]);
    this.#show();
  }

  /** Shows only the text up to an offset, like a stream so far. */
  set until(at) {
    this.#until = at;
    this.#from = this.#isReplayed ? Math.max(0, at - SHOWN) : 0;
    this.#show();
    if (this.#isReplayed) {
      this.#paper.scrollTop = this.#paper.scrollHeight;
    }
  }

  /**
   * The marks: `{ from, to, level, code, text }`, where `from` and `to` are offsets in the string. Marks with the
   * levels `item` and `done` contain others and are tinted; the others are underlined.
   */
  set marks(marks) {
    this.#marks = marks.slice(0, MOST);
    this.#stopsAre(this.#marks.filter(({ isStop }) => isStop));
    this.#draw();
  }

  /** Scroll the text, and not the page, to the first problem. */
  reveal() {
    const piece = this.#pieceOf(this.#stops[0]);
    if (piece !== undefined) {
      this.#paper.scrollTop = piece.offsetTop - this.#paper.clientHeight / 3;
    }
  }

  /** Show a mark, and put the caret there. */
  go(mark) {
    this.#step(this.#stops.indexOf(mark));
    // On a touch screen, focusing would open a keyboard over half of the page.
    if (!matchMedia("(pointer: coarse)").matches) {
      this.#field.focus({ preventScroll: true });
    }
  }

  get #isReplayed() {
    return this.#until < this.#text.length;
  }

  get #to() {
    return Math.min(this.#until, this.#from + SHOWN);
  }

  #steps() {
    const button = (label, sign, by) => {
      const made = element("button", "step", sign);
      made.type = "button";
      made.ariaLabel = label;
      made.title = label;
      made.addEventListener("click", () => {
        const count = this.#stops.length;
        const before = this.#current === -1 && by < 0 ? count : this.#current;
        this.#step((before + by + count) % count);
      });
      return made;
    };
    this.#root
      .querySelector(".steps")
      .append(button("Previous problem", "‹", -1), this.#count, button("Next problem", "›", 1));
  }

  #listen() {
    const field = this.#field;
    field.addEventListener("input", () => this.#edited(field.value));
    // A long text never gets into the field whole.
    field.addEventListener("paste", (event) => {
      const pasted = event.clipboardData?.getData("text/plain") ?? "";
      const { selectionStart, selectionEnd, value } = field;
      if (!field.readOnly && pasted.length + value.length > SHOWN) {
        event.preventDefault();
        this.#edited(value.slice(0, selectionStart) + pasted + value.slice(selectionEnd));
      }
    });
    this.#root.addEventListener("pointermove", (event) => {
      if (!this.#tip.contains(event.target)) {
        const under = document.elementsFromPoint(event.clientX, event.clientY);
        this.#hover(under.includes(field) ? under.find((element) => this.#sheet.contains(element)) : undefined);
      }
    });
    this.#root.addEventListener("pointerleave", () => this.#hide());
    // Also where nothing in here has the focus, and the pointer shows it.
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.#hide());
    field.addEventListener("blur", () => this.#hide());
    this.#paper.addEventListener("scroll", () => this.#place());
    document.addEventListener("selectionchange", () => {
      // While the user types, nothing covers the text.
      if (document.activeElement === field && field.selectionStart !== this.#typedAt) {
        this.#typedAt = undefined;
        this.#caret(field.selectionStart);
      }
    });
  }

  #edited(text) {
    const before = this.#text;
    const marks = this.#marks;
    this.text = text;
    this.marks = moved(marks, before, this.#text);
    this.#typedAt = this.#field.selectionStart;
    this.#changed();
  }

  /** Put what is to be seen of the text into the field. */
  #show() {
    const shown = this.#text.slice(whole(this.#text, this.#from), whole(this.#text, this.#to));
    const isCut = this.#text.length > SHOWN;
    if (this.#field.value !== shown) {
      this.#field.value = shown;
    }
    this.#field.readOnly = isCut || this.#isReplayed;
    this.#root.querySelector(".size").textContent = counted(bytes(this.#text), "byte");
    this.#cut.hidden = !isCut;
    if (isCut) {
      const [from, to, all] = [this.#from + 1, this.#to, this.#text.length].map((n) => n.toLocaleString("en"));
      this.#cut.replaceChildren(
        `Characters ${from} to ${to} of ${all} are shown, and cannot be changed here. All of them are judged. `,
        this.#clear,
      );
    }
    this.#draw();
  }

  /** Write the sheet: the text in pieces, each with the marks that it is in. */
  #draw() {
    const [from, to] = [this.#from, this.#to];
    const marks = this.#marks.filter((mark) => mark.from < to && mark.to > from);
    const ends = marks.flatMap((mark) => [Math.max(mark.from, from), Math.min(mark.to, to)]);
    const borders = [...new Set([from, ...ends, to])].sort((a, b) => a - b);
    const pieces = borders.slice(0, -1).map((start, at) => {
      const end = borders[at + 1];
      const text = this.#text.slice(start, end);
      const here = marks.filter((mark) => mark.from <= start && mark.to >= end);
      if (here.length === 0) {
        return text;
      }
      const piece = element("mark", here.map(({ level }) => level).join(" "), text);
      // The innermost one first.
      piece.marks = here.sort((a, b) => a.to - a.from - (b.to - b.from));
      piece.classList.toggle("current", here.includes(this.#stops[this.#current]));
      return piece;
    });
    // An end of line that is the last character makes a line only with something behind it.
    this.#sheet.replaceChildren(...pieces, "\u200b");
  }

  #stopsAre(stops) {
    this.#stops = stops.toSorted((a, b) => a.from - b.from || a.to - b.to);
    this.#current = -1;
    this.#counted();
    this.#hide();
  }

  #counted() {
    const count = this.#stops.length;
    this.#root.querySelector(".steps").hidden = count === 0;
    const all = counted(count, "problem");
    this.#count.textContent = this.#current === -1 ? all : `${this.#current + 1} of ${count}`;
  }

  #step(to) {
    const mark = this.#stops[to];
    if (mark === undefined) {
      return;
    }
    this.#current = to;
    this.#counted();
    if (mark.from < this.#from || mark.to > this.#to) {
      this.#from = Math.max(0, Math.min(mark.from - SHOWN / 2, this.#until - SHOWN));
      this.#show();
    } else {
      this.#draw();
    }
    this.#field.setSelectionRange(mark.from - this.#from, mark.from - this.#from);
    const piece = this.#pieceOf(mark);
    piece?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.#say(piece, true);
  }

  #pieceOf(mark) {
    return [...this.#sheet.children].find(({ marks }) => marks.includes(mark));
  }

  #hover(piece) {
    if (piece !== undefined && piece !== this.#sheet) {
      this.#say(piece, false);
    } else if (document.activeElement !== this.#field) {
      this.#hide();
    }
  }

  #caret(at) {
    let start = 0;
    for (const node of this.#sheet.childNodes) {
      const end = start + node.textContent.length;
      if (node.marks !== undefined && at >= start && at <= end) {
        this.#say(node, true);
        return;
      }
      start = end;
    }
    this.#hide();
  }

  /** Show what is wrong at a piece; `isAloud` is for those who do not see where the pointer is. */
  #say(piece, isAloud) {
    const marks = piece?.marks?.filter(({ text }) => text !== undefined) ?? [];
    if (marks.length === 0) {
      this.#hide();
      return;
    }
    const lines = marks.slice(0, AT_ONCE).map(({ level, code, text }) => {
      const line = element("p", level, element("b", "", code), ` ${visible(cut(text, 400))}`);
      return line;
    });
    if (marks.length > AT_ONCE) {
      lines.push(element("p", "", `and ${marks.length - AT_ONCE} more here`));
    }
    this.#tip.replaceChildren(...lines);
    this.#tip.hidden = false;
    if (isAloud) {
      this.#told.textContent = this.#tip.textContent;
    }
    this.#said = piece;
    this.#place();
  }

  /** Put what is said beneath its piece; above it, where there is more room. Out of sight, it is not said. */
  #place() {
    if (this.#said === undefined) {
      return;
    }
    const [around, paper] = [this.#root, this.#paper].map((element) => element.getBoundingClientRect());
    const rects = [...this.#said.getClientRects()].filter(
      ({ top, bottom }) => bottom > paper.top && top < paper.bottom,
    );
    if (rects.length === 0) {
      this.#hide();
      return;
    }
    const [first] = rects;
    // Of a piece of many lines, beneath the first.
    const under = rects.length > 3 ? first : rects[rects.length - 1];
    const left = Math.min(first.left - around.left, around.width - this.#tip.offsetWidth - 8);
    const height = this.#tip.offsetHeight + 4;
    const isRoom = under.bottom + height <= innerHeight || first.top < height;
    this.#tip.style.left = `${Math.max(8, left)}px`;
    this.#tip.style.top = `${(isRoom ? under.bottom + 4 : first.top - height) - around.top}px`;
  }

  #hide() {
    this.#said = undefined;
    this.#tip.hidden = true;
    this.#tip.replaceChildren();
    this.#told.textContent = "";
  }
}

/** Marks of a text that was changed, until there is a verdict on the changed one: those outside the change stay. */
function moved(marks, before, after) {
  const most = Math.min(before.length, after.length);
  let [same, end] = [0, 0];
  while (same < most && before[same] === after[same]) {
    same += 1;
  }
  while (end < most - same && before[before.length - 1 - end] === after[after.length - 1 - end]) {
    end += 1;
  }
  const by = after.length - before.length;
  return marks.flatMap((mark) => {
    if (mark.to <= same) {
      return [mark];
    }
    return mark.from >= before.length - end ? [{ ...mark, from: mark.from + by, to: mark.to + by }] : [];
  });
}
