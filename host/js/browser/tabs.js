// Tabs, as the authoring practices of ARIA have them: one of them is in the order of Tab, arrows go to the others.

export class Tabs {
  #list;
  #panel;
  #chosen;
  #tabs = [];

  /** `chosen` is called with the key of the tab that a person chooses. */
  constructor(list, panel, chosen) {
    this.#list = list;
    this.#panel = panel;
    this.#chosen = chosen;
    list.addEventListener("keydown", (event) => this.#pressed(event));
  }

  get selected() {
    return this.#tabs.find((tab) => tab.ariaSelected === "true")?.dataset.key;
  }

  add(key, title) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.role = "tab";
    tab.id = `${this.#list.id}-${key}`;
    tab.dataset.key = key;
    tab.textContent = title;
    tab.ariaSelected = "false";
    tab.tabIndex = -1;
    tab.setAttribute("aria-controls", this.#panel.id);
    tab.addEventListener("click", () => this.#choose(tab));
    this.#list.append(tab);
    this.#tabs.push(tab);
  }

  has(key) {
    return this.#tabs.some((tab) => tab.dataset.key === key);
  }

  /** Show a tab as the chosen one. */
  select(key) {
    for (const tab of this.#tabs) {
      const isSelected = tab.dataset.key === key;
      tab.ariaSelected = String(isSelected);
      tab.tabIndex = isSelected ? 0 : -1;
      if (isSelected) {
        this.#panel.setAttribute("aria-labelledby", tab.id);
        // The list scrolls by itself where it is too narrow; the page stays where it is.
        const left = tab.offsetLeft - this.#list.offsetLeft;
        if (left < this.#list.scrollLeft || left + tab.offsetWidth > this.#list.scrollLeft + this.#list.clientWidth) {
          this.#list.scrollLeft = left;
        }
      }
    }
  }

  #choose(tab) {
    this.select(tab.dataset.key);
    this.#chosen(tab.dataset.key);
  }

  #pressed(event) {
    const last = this.#tabs.length - 1;
    const at = this.#tabs.indexOf(event.target);
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    if (at !== -1 && to !== undefined) {
      event.preventDefault();
      this.#tabs[to].focus();
      this.#choose(this.#tabs[to]);
    }
  }
}
