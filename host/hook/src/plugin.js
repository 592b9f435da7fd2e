// Written by 'seamgate hook install opencode'. Each call of a tool, and its result, goes to seamgate.
import { spawnSync } from "node:child_process";

const command = COMMAND;

function ask(message) {
  const done = spawnSync(command[0], command.slice(1), { input: JSON.stringify(message), encoding: "utf8", timeout: 60000 });
  if (done.error || done.status !== 0) {
    throw new Error(`seamgate: ${done.error?.message ?? done.stderr.trim()}`);
  }
  return done.stdout.trim() === "" ? {} : JSON.parse(done.stdout);
}

export const Seamgate = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = ask({
      hook_event_name: "PreToolUse", session_id: input.sessionID, cwd: directory,
      tool_use_id: input.callID, tool_name: input.tool, tool_input: output.args,
    });
    if (answer.decision !== "allow") {
      throw new Error(`seamgate: ${answer.reason}`);
    }
  },
  "tool.execute.after": async (input, output) => {
    const answer = ask({
      hook_event_name: "PostToolUse", session_id: input.sessionID, cwd: directory,
      tool_use_id: input.callID, tool_name: input.tool, tool_input: input.args ?? {}, tool_response: output.output ?? "",
    });
    if (typeof answer.output === "string") {
      output.output = answer.output;
    }
  },
});
