// Not run: `tsc --strict` reads it in ../package.test.mjs.

import { toPassContract } from "seamgate/vitest";
import { expect } from "vitest";
import { z } from "zod";

expect.extend({ toPassContract });
expect("{}").toPassContract({ agent: "a", schema: true });
expect("{}").not.toPassContract('{"agent":"a","schema":true}', { finish: "stop" });
expect("{}").toPassContract(z.object({}));
// @ts-expect-error It is no contract.
expect("{}").toPassContract(1);
// @ts-expect-error It has no such option.
expect("{}").toPassContract({ agent: "a", schema: true }, { finsh: "stop" });
