// Shows the runs of a folder and the calls that wait, and signs decisions with a key of this browser. Everything that comes from a
// run is set as text, and never as HTML.

const byId = (id) => document.getElementById(id);
const REFRESH_MS = 2000;
const ALGORITHM = { name: "Ed25519" };

// The token stands behind #, which no browser sends. It leaves the address, so that it is in no history.
let token = location.hash.slice(1) || sessionStorage.getItem("token") || "";
if (location.hash) history.replaceState(null, "", location.pathname);
if (token) sessionStorage.setItem("token", token);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

// Sets a text only if it is another one: a screen reader tells changes.
function tell(id, text, className = "") {
  const place = byId(id);
  if (place.textContent !== text) place.textContent = text;
  place.className = className;
}

class Failed extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, body) {
  const headers = { Authorization: `Bearer ${token}` };
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, { ...options, cache: "no-store" });
  } catch {
    throw new Failed(0, "The server does not answer. Does seamgate serve still run?");
  }
  if (answer.ok) return answer;
  let why = answer.statusText;
  try {
    why = (await answer.json()).error;
  } catch {}
  throw new Failed(answer.status, why);
}

// ---- The key. IndexedDB keeps it; its private part cannot be exported.

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

function store(mode, act) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("seamgate", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const request = act(opening.result.transaction("keys", mode).objectStore("keys"));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    };
  });
}

let pair;
let publicKey = "";

async function useKey(found) {
  pair = found;
  publicKey = pair ? base64url(await crypto.subtle.exportKey("raw", pair.publicKey)) : "";
  byId("new-key").hidden = Boolean(pair);
  showKey();
}

function showKey() {
  const name = byId("principal").value || "YOUR NAME";
  const entry = JSON.stringify({ principal: name, key: publicKey });
  tell("key", pair ? `In the profile, among "approvers": ${entry}` : "There is no key yet.");
}

async function makeKey() {
  try {
    const made = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
    await store("readwrite", (keys) => keys.put(made, "approver"));
    await useKey(made);
  } catch (error) {
    tell(
      "key",
      `This browser cannot make a key (${error.name}). It needs Ed25519 in WebCrypto, and https or this machine.`,
      "bad",
    );
  }
}

// A JWS in its compact form (RFC 7515), signed with Ed25519 (RFC 8037): what `seamgate approve --token` takes.
async function sign(call, decision) {
  const encode = (value) => base64url(new TextEncoder().encode(JSON.stringify(value)));
  const claims = {
    run: call.run,
    key: call.ask.key,
    digest: call.ask.digest,
    decision,
    principal: byId("principal").value,
    exp: Math.ceil(call.ask.expires / 1000),
  };
  const signed = `${encode({ alg: "EdDSA" })}.${encode(claims)}`;
  return `${signed}.${base64url(await crypto.subtle.sign(ALGORITHM, pair.privateKey, new TextEncoder().encode(signed)))}`;
}

// ---- The calls that wait.

// The parts of the page for each call, by the call.
const shown = new Map();

// Says why this person cannot decide about a call here, or nothing if they can.
function obstacle(call) {
  const name = byId("principal").value;
  if (!name) return "Enter your name in the profile, below.";
  if (!call.ask.by.includes(name)) return `${name} may not decide: ${call.ask.by.join(", ")} may.`;
  const keys = call.ask.keys?.[name];
  if (!keys) return `${name} has no key in the profile. Decide with the command, or add the key below to the profile.`;
  if (!pair) return "Make a key below, and add it to the profile.";
  if (!keys.includes(publicKey))
    return `${name} has another key in the profile than this browser. Decide with the command.`;
  return "";
}

const quoted = (word) => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function card(call) {
  const made = element("article", undefined, "call");
  const title = element("h3", `${call.tool} in ${call.name}`);
  const about = element(
    "p",
    `Call ${call.ask.key} of the agent ${call.agent}. ${call.ask.by.join(", ")} may decide.`,
    "soft",
  );
  const view = element("pre", call.ask.view);
  view.tabIndex = 0;
  view.setAttribute("role", "region");
  view.setAttribute("aria-label", `What would be sent by ${call.tool}`);
  const left = element("p", "", "soft");
  const why = element("p", "", "wait");
  const yes = element("button", "Approve", "yes");
  const no = element("button", "Reject", "no");
  const buttons = element("div", undefined, "buttons");
  for (const [button, decision] of [
    [yes, "approved"],
    [no, "rejected"],
  ]) {
    button.type = "button";
    button.setAttribute("aria-label", `${button.textContent} the call ${call.ask.key} of ${call.tool}`);
    button.addEventListener("click", () => decide(call, decision));
    buttons.append(button);
  }
  const command = element("p", `Or: seamgate approve ${quoted(call.folder)} ${call.ask.key}`, "soft");
  made.append(title, about, view, left, why, buttons, command);
  return { call, made, left, why, buttons: [yes, no], isSending: false, told: "" };
}

function update(one) {
  const seconds = Math.floor((one.call.ask.expires - Date.now()) / 1000);
  const minutes = Math.floor(seconds / 60);
  const time = minutes > 1 ? `${minutes} minutes` : `${Math.max(seconds, 0)} seconds`;
  const isOver = seconds <= 0;
  one.left.textContent = isOver ? "Nobody decided in time." : `${time} are left.`;
  const why = one.told || (isOver ? "" : obstacle(one.call));
  if (one.why.textContent !== why) one.why.textContent = why;
  for (const button of one.buttons) button.disabled = isOver || one.isSending || Boolean(obstacle(one.call));
}

async function decide(call, decision) {
  const one = shown.get(identity(call));
  one.isSending = true;
  one.told = "";
  update(one);
  try {
    await ask("api/decisions", { name: call.name, token: await sign(call, decision) });
    one.told = `You ${decision} it.`;
  } catch (error) {
    one.isSending = false;
    one.told = error.message;
  }
  update(one);
  tell("state", one.told);
}

// ---- Notifications of the desktop, once a person has allowed them by a click.

const canNotify = "Notification" in window;
let isFirst = true;

function showNotify() {
  byId("notify").hidden = !canNotify || Notification.permission !== "default";
}

function notify(call) {
  // Calls that waited when the page was opened are on it.
  if (isFirst || !canNotify || Notification.permission !== "granted") return;
  const title = `${call.tool.slice(0, 100)} waits for approval`;
  try {
    const shown = new Notification(title, { body: `${call.agent} in ${call.name}`, tag: identity(call) });
    shown.addEventListener("click", () => window.focus());
  } catch {
    // Browsers of phones show notifications of service workers alone.
  }
}

const identity = (call) => JSON.stringify([call.name, call.ask.key, call.ask.digest]);

function showCalls(waiting) {
  const place = byId("calls");
  const now = new Set(waiting.map(identity));
  for (const [key, one] of shown) {
    if (now.has(key)) continue;
    one.made.remove();
    shown.delete(key);
  }
  for (const call of waiting) {
    const key = identity(call);
    if (shown.has(key)) continue;
    const one = card(call);
    shown.set(key, one);
    place.append(one.made);
    notify(call);
  }
  isFirst = false;
  let none = byId("none");
  if (shown.size > 0) none?.remove();
  else if (!none) {
    none = element("p", "No call waits.", "soft");
    none.id = "none";
    place.append(none);
  }
  shown.forEach(update);
}

// ---- The runs.

function row(run) {
  const made = element("tr");
  const name = element("td");
  const open = element("button", run.name, "link");
  open.type = "button";
  open.addEventListener("click", () => showTrace(run.name));
  name.append(open);
  const state = run.fault
    ? [run.fault, "bad"]
    : run.waiting
      ? [`${run.waiting} wait`, "wait"]
      : run.ended
        ? [run.ended, "soft"]
        : ["under way", "good"];
  const last = run.last ? new Date(run.last).toLocaleString() : "";
  made.append(
    name,
    element("td", run.agent),
    element("td", ...state),
    element("td", String(run.steps), "number"),
    element("td", String(run.calls), "number"),
    element("td", last),
  );
  return made;
}

let runsBefore = "";

function showRuns(runs) {
  const text = JSON.stringify(runs);
  // What has not changed keeps the focus of the keyboard.
  if (text === runsBefore) return;
  runsBefore = text;
  const place = byId("runs");
  const focused = place.contains(document.activeElement) ? document.activeElement.textContent : null;
  place.replaceChildren(...runs.map(row));
  if (focused !== null) [...place.querySelectorAll("button")].find((button) => button.textContent === focused)?.focus();
}

async function showTrace(name) {
  byId("trace").hidden = false;
  byId("trace-title").textContent = `Trace of ${name}`;
  byId("trace-text").textContent = "Loading";
  byId("trace-title").focus();
  try {
    byId("trace-text").textContent = await (await ask(`api/trace?run=${encodeURIComponent(name)}`)).text();
  } catch (error) {
    byId("trace-text").textContent = error.message;
  }
}

// ---- All of it, again and again.

async function refresh() {
  if (!token) return login("");
  try {
    const [waiting, runs] = await Promise.all(
      ["api/waiting", "api/runs"].map(async (path) => (await ask(path)).json()),
    );
    showCalls(waiting.all);
    showRuns(runs.all);
    const faults = waiting.faults ?? [];
    tell(
      "state",
      faults.length ? `Not shown: ${faults.join("; ")}` : `${waiting.all.length} waiting, ${count(runs.all.length, "run")}`,
      faults.length ? "bad" : "soft",
    );
  } catch (error) {
    if (error.status === 401) return login("This server has another token.");
    tell("state", error.message, "bad");
  }
  setTimeout(refresh, REFRESH_MS);
}

function login(why) {
  token = "";
  sessionStorage.removeItem("token");
  byId("login").hidden = false;
  tell("state", why || "A token is needed.", "wait");
  byId("token").focus();
}

byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  sessionStorage.setItem("token", token);
  byId("token").value = "";
  byId("login").hidden = true;
  refresh();
});
byId("new-key").addEventListener("click", makeKey);
byId("notify").addEventListener("click", async () => {
  await Notification.requestPermission();
  showNotify();
});
showNotify();
byId("close").addEventListener("click", () => {
  byId("trace").hidden = true;
  byId("waiting").focus();
});
byId("principal").value = localStorage.getItem("principal") ?? "";
byId("principal").addEventListener("input", () => {
  localStorage.setItem("principal", byId("principal").value);
  showKey();
  shown.forEach(update);
});
setInterval(() => shown.forEach(update), 1000);

store("readonly", (keys) => keys.get("approver")).then(useKey, () => useKey(undefined));
refresh();
