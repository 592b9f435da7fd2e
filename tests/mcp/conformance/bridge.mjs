// Carries messages between HTTP, which the conformance suite speaks, and a server over standard input and output. Each session has a
// server of its own: `bridge.mjs COMMAND ...`. No message is changed. It prints the port.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [command, ...args] = process.argv.slice(2);
const sessions = new Map();

/** Start a server, and give what belongs to its session. */
function start() {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  // Open answers by the id of the request, in order.
  const session = { child, open: new Map() };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    // What is no answer belongs to what was asked last.
    const key = method === undefined ? JSON.stringify(id) : [...session.open.keys()].at(-1);
    const response = session.open.get(key);
    if (!response) return;
    response.write(`event: message\ndata: ${line}\n\n`);
    if (method === undefined) {
      session.open.delete(key);
      response.end();
    }
  });
  return session;
}

const http = createServer(async (request, response) => {
  const known = request.headers["mcp-session-id"];
  if (request.method === "DELETE") {
    sessions.get(known)?.child.stdin.end();
    sessions.delete(known);
    return response.writeHead(200).end();
  }
  if (request.method !== "POST") return response.writeHead(405).end();
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const line = Buffer.concat(pieces).toString().replaceAll("\n", " ");
  const { id, method } = JSON.parse(line);
  const session = sessions.get(known) ?? start();
  const name = known ?? randomUUID();
  sessions.set(name, session);
  if (id !== undefined && method !== undefined) {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Mcp-Session-Id": name });
    session.open.set(JSON.stringify(id), response);
  } else {
    response.writeHead(202).end();
  }
  session.child.stdin.write(`${line}\n`);
});

http.listen(0, "127.0.0.1", () => console.log(http.address().port));
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    for (const { child } of sessions.values()) child.kill();
    process.exit(0);
  });
}
