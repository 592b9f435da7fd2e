import type { Contract } from "./contract.js";
import { Gate, type OutputOptions } from "./node.js";

/** What `expect.extend` takes: of Vitest, Jest, and whatever speaks as they do. */
export interface MatcherResult {
  readonly pass: boolean;
  message(): string;
}

const gate = await Gate.load();

/**
 * Passes where the gate accepts an output by a contract. A partial output does not pass.
 *
 * @param received - What the agent produced.
 * @param contract - A contract, as an object or as JSON text; its schema may be one of a library.
 */
export function toPassContract(received: unknown, contract: Contract, options: OutputOptions = {}): MatcherResult {
  const { report } = gate.validate(contract, received as string, options);
  const wrong = report.violations.map(({ path, message, text }) => {
    const shown = text === null ? "" : `\n    ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
    return `  ${path} ${message}${shown}`;
  });
  return {
    pass: report.success,
    message: () =>
      report.success
        ? `expected the output not to pass the contract of ${JSON.stringify(report.agent)}, and it was accepted`
        : [
            `the output does not pass the contract of ${JSON.stringify(report.agent)}: ${report.disposition}`,
            ...wrong,
          ].join("\n"),
  };
}
