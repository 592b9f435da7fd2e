import type { Contract } from "./contract.js";
import { Gate, type OutputOptions } from "./node.js";
import { isStandard, type StandardSchema } from "./standard.js";

/** The result of a matcher, as `expect.extend` of Vitest, Jest and compatible libraries takes it. */
export interface MatcherResult {
  readonly pass: boolean;
  message(): string;
}

const gate = await Gate.load();

/**
 * Passes if the gate accepts an output by a contract. A partial output does not pass.
 *
 * @param received - The agent's output.
 * @param contract - A contract, as an object or as JSON text, whose schema may come from a library; or only such a
 *   schema.
 */
export function toPassContract(
  received: unknown,
  contract: Contract | StandardSchema,
  options: OutputOptions = {},
): MatcherResult {
  const whole = isStandard(contract) ? { agent: "schema", schema: contract } : contract;
  const { report } = gate.validate(whole, received as string, options);
  const by = whole === contract ? `the contract of ${JSON.stringify(report.agent)}` : "the schema";
  const wrong = report.violations.map(({ path, message, text }) => {
    const shown = text === null ? "" : `\n    ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
    return `  ${path} ${message}${shown}`;
  });
  return {
    pass: report.success,
    message: () =>
      report.success
        ? `expected the output not to pass ${by}, and it was accepted`
        : [`the output does not pass ${by}: ${report.disposition}`, ...wrong].join("\n"),
  };
}
